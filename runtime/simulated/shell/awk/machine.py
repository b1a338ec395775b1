"""Runs an awk program: its variables, its statements, its expressions."""

from __future__ import annotations

import math
import operator
from typing import TYPE_CHECKING

import trio
from attrs import define

from runtime.simulated.shell.applets.base import AppletError
from runtime.simulated.shell.applets.regex import extended
from runtime.simulated.shell.applets.sed import replace
from runtime.simulated.shell.awk.functions import PURE, formatted
from runtime.simulated.shell.awk.nodes import (
    Assign,
    Binary,
    Block,
    Call,
    Choice,
    Constant,
    Delete,
    Element,
    Evaluate,
    Field,
    ForIn,
    Getline,
    Group,
    If,
    Leave,
    Loop,
    Membership,
    Pattern,
    Print,
    Step,
    Unary,
    Variable,
)
from runtime.simulated.shell.awk.record import matches, split
from runtime.simulated.shell.awk.values import UNSET, Value, compare, number, seen, text, truth

if TYPE_CHECKING:
    from collections.abc import Callable

    from runtime.simulated.process import Process
    from runtime.simulated.shell.awk.input import Input
    from runtime.simulated.shell.awk.nodes import Expression, Program, Statement, Target
    from runtime.simulated.shell.awk.record import Record
    from runtime.simulated.shell.awk.streams import Streams
    from runtime.simulated.shell.awk.variables import Scope, Variables

_MAX_DEPTH = 100
_COMPARED: dict[str, Callable[[int, int], bool]] = {
    "<": operator.lt, "<=": operator.le, "==": operator.eq, "!=": operator.ne, ">": operator.gt, ">=": operator.ge,
}  # fmt: skip


class Left(Exception):  # noqa: N818 - control flow or an outcome, not an error of ours
    """`break`, `continue`, `next`, `exit` or `return`, with the value of the last two."""

    def __init__(self, word: str, value: Value | None = None) -> None:
        """Keep what it is."""
        super().__init__(word)
        self.word = word
        self.value = value


@define
class Machine:
    """One run of a program."""

    process: Process
    program: Program
    input: Input
    streams: Streams
    variables: Variables

    @property
    def record(self) -> Record:
        """Return the present record."""
        return self.variables.record

    def string(self, name: str) -> str:
        """Return a variable as a text."""
        return self.variables.string(name)

    # -- statements

    async def run(self, statement: Statement) -> None:  # noqa: C901, PLR0912 - one arm a kind
        """Run a statement; Left, AppletError."""
        self.process.step()
        match statement:
            case Evaluate():
                await self.evaluate(statement.expression)
            case Print():
                await self._print(statement)
            case Block():
                for each in statement.statements:
                    await self.run(each)
            case If():
                if truth(await self.evaluate(statement.condition)):
                    await self.run(statement.then)
                elif statement.otherwise is not None:
                    await self.run(statement.otherwise)
            case Loop():
                await self._loop(statement)
            case ForIn():
                for key in list(self.variables.array(statement.array)):
                    self.variables.put(statement.name, seen(key))
                    if not await self._once(statement.body):
                        break
            case Delete():
                self._delete(statement, None if statement.index is None else await self._key(statement.index))
            case Leave():
                raise Left(statement.word, None if statement.value is None else await self.evaluate(statement.value))

    def _delete(self, statement: Delete, key: str | None) -> None:
        if key is None:
            self.variables.array(statement.array).clear()
        else:
            self.variables.array(statement.array).pop(key, None)

    async def _loop(self, loop: Loop) -> None:
        if loop.begin is not None:
            await self.run(loop.begin)
        is_first = loop.is_late
        while is_first or loop.condition is None or truth(await self.evaluate(loop.condition)):
            is_first = False
            if not await self._once(loop.body):
                return
            if loop.step is not None:
                await self.run(loop.step)

    async def _once(self, body: Statement) -> bool:
        """Run a loop's body once; False when the loop ends here."""
        try:
            await self.run(body)
        except Left as left:
            if left.word not in {"break", "continue"}:
                raise
            return left.word == "continue"
        return True

    async def _print(self, statement: Print) -> None:
        values = [await self.evaluate(each) for each in statement.arguments]
        name = "" if statement.target is None else text(await self.evaluate(statement.target))
        if statement.is_formatted:
            data = formatted(text(values[0]), values[1:]) if values else ""
        else:
            shown = [text(value, self.string("OFMT")) for value in values] or [self.record.line]
            data = self.string("OFS").join(shown) + self.string("ORS")
        await self.streams.write(data, statement.redirect, name)

    # -- expressions

    async def evaluate(self, expression: Expression) -> Value:  # noqa: C901, PLR0912 - one arm a kind
        """Return the value of an expression; AppletError."""
        match expression:
            case Constant():
                return expression.value
            case Variable():
                return self.variables.get(expression.name)
            case Field():
                return self.record.get(await self._place(expression))
            case Element():
                return self.variables.array(expression.array).setdefault(await self._key(expression.index), UNSET)
            case Group():
                return await self.evaluate(expression.items[-1])
            case Pattern():
                return float(matches(expression.text, self.record.line) is not None)
            case Binary():
                return await self._binary(expression)
            case Unary():
                value = await self.evaluate(expression.operand)
                return (
                    float(not truth(value))
                    if expression.op == "!"
                    else number(value) * (-1 if expression.op == "-" else 1)
                )
            case Assign():
                return await self._assign(expression)
            case Step():
                before = number(await self.evaluate(expression.target))
                await self._store(expression.target, before + expression.change)
                return before + expression.change if expression.is_prefix else before
            case Choice():
                chosen = expression.one if truth(await self.evaluate(expression.condition)) else expression.other
                return await self.evaluate(chosen)
            case Membership():
                return float(await self._key(expression.index) in self.variables.array(expression.array))
            case Call():
                return await (self._builtin if expression.is_builtin else self._call)(expression)
            case Getline():
                return await self._getline(expression)

    async def _place(self, target: Field) -> int:
        return int(number(await self.evaluate(target.index)))

    async def _key(self, index: tuple[Expression, ...]) -> str:
        parts = [text(await self.evaluate(each), self.string("CONVFMT")) for each in index]
        return self.string("SUBSEP").join(parts)

    async def _store(self, target: Target, value: Value) -> None:
        match target:
            case Variable():
                self.variables.put(target.name, value)
            case Field():
                self.record.put(await self._place(target), value)
            case Element():
                self.variables.array(target.array)[await self._key(target.index)] = value

    async def _assign(self, node: Assign) -> Value:
        value = await self.evaluate(node.value)
        if node.op:
            value = arithmetic(node.op, number(await self.evaluate(node.target)), number(value))
        await self._store(node.target, value)
        return value

    async def _binary(self, node: Binary) -> Value:
        left = await self.evaluate(node.left)
        if node.op in {"&&", "||"}:
            if truth(left) == (node.op == "||"):
                return float(node.op == "||")
            return float(truth(await self.evaluate(node.right)))
        if node.op in {"~", "!~"}:
            found = matches(await self._pattern(node.right), text(left))
            return float((found is not None) == (node.op == "~"))
        right = await self.evaluate(node.right)
        if node.op == " ":
            form = self.string("CONVFMT")
            return text(left, form) + text(right, form)
        if node.op in _COMPARED:
            return float(_COMPARED[node.op](compare(left, right), 0))
        return arithmetic(node.op, number(left), number(right))

    async def _pattern(self, expression: Expression) -> str:
        """Return the text of a pattern, which may be one or any expression."""
        while isinstance(expression, Group) and len(expression.items) == 1:
            expression = expression.items[0]
        return expression.text if isinstance(expression, Pattern) else text(await self.evaluate(expression))

    # -- functions

    async def _call(self, node: Call) -> Value:
        function = self.program.functions.get(node.name)
        if function is None or len(node.arguments) > len(function.parameters):
            raise AppletError("cmd. line:1: Call to undefined function")
        if len(self.variables.locals) > _MAX_DEPTH:
            raise AppletError("too many nested function calls")
        scope: Scope = dict.fromkeys(function.parameters, UNSET)
        for name, argument in zip(function.parameters, node.arguments, strict=False):
            scope[name] = await self._argument(argument)
        self.variables.locals.append(scope)
        try:
            await self.run(function.body)
        except Left as left:
            if left.word != "return":
                raise
            return UNSET if left.value is None else left.value
        finally:
            self.variables.locals.pop()
            self._give_arrays_back(node, function.parameters, scope)
        return UNSET

    def _give_arrays_back(self, node: Call, parameters: tuple[str, ...], scope: Scope) -> None:
        """Let variables that a function was the first to use as arrays be these arrays."""
        for name, argument in zip(parameters, node.arguments, strict=False):
            value = scope[name]
            if isinstance(argument, Variable) and isinstance(value, dict):
                self.variables.scope(argument.name)[argument.name] = value

    async def _argument(self, argument: Expression) -> Value | dict[str, Value]:
        """Return what a function gets: an array itself, of anything else the value."""
        if isinstance(argument, Variable):
            value = self.variables.scope(argument.name).get(argument.name)
            if isinstance(value, dict):
                return value
        return await self.evaluate(argument)

    async def _builtin(self, node: Call) -> Value:
        """Call a built-in function; those that change or read something come first."""
        match node.name:
            case "sub" | "gsub":
                return await self._substitute(node)
            case "match":
                found = matches(await self._pattern(node.arguments[1]), text(await self.evaluate(node.arguments[0])))
                self.variables.put("RSTART", float(found.start() + 1 if found else 0))
                self.variables.put("RLENGTH", float(found.end() - found.start() if found else -1))
                return self.variables.get("RSTART")
            case "split":
                return await self._split(node)
            case "length":
                return await self._length(node)
        values = [await self.evaluate(each) for each in node.arguments]
        match node.name:
            case "system":
                return float(await self.streams.run(text(values[0])))
            case "close":
                return float(await self.streams.close(text(values[0])))
            case "srand" | "rand" | "fflush":
                return 0.0
            case "systime":
                return float(int(self.process.container.machine.now().timestamp()))
        if node.name not in PURE:
            raise AppletError("cmd. line:1: Call to undefined function")
        try:
            return PURE[node.name](values)
        except IndexError:
            raise AppletError("cmd. line:1: Too few arguments") from None

    async def _length(self, node: Call) -> Value:
        if not node.arguments:
            return float(len(self.record.line))
        value = await self._argument(node.arguments[0])
        return float(len(value) if isinstance(value, dict) else len(text(value)))

    async def _split(self, node: Call) -> Value:
        line = text(await self.evaluate(node.arguments[0]))
        separator = await self._pattern(node.arguments[2]) if len(node.arguments) > 2 else self.string("FS")
        target = node.arguments[1]
        if not isinstance(target, Variable):
            raise AppletError("cmd. line:1: Unexpected token")
        array = self.variables.array(target.name)
        parts = split(line, separator)
        array.clear()
        array.update({str(place): seen(part) for place, part in enumerate(parts, start=1)})
        return float(len(parts))

    async def _substitute(self, node: Call) -> Value:
        """Replace matches in a target, `$0` without one, and return how many."""
        pattern = extended(await self._pattern(node.arguments[0]))
        by = text(await self.evaluate(node.arguments[1]))
        target: Expression = node.arguments[2] if len(node.arguments) > 2 else Field(Constant(0.0))
        line = text(await self.evaluate(target))
        limit = None if node.name == "gsub" else 1
        result, changed = replace(line, pattern, by, first=1, everywhere=limit is None)
        if changed and isinstance(target, Variable | Field | Element):
            await self._store(target, result)
        matched = sum(1 for _ in pattern.finditer(line)) if limit is None else 1
        return float(matched if changed else 0)

    async def _getline(self, node: Getline) -> Value:
        """Read one line more: 1, 0 at the end, -1 when it can't be read."""
        if not node.kind or node.source is None:
            line = await self.input.line(self.variables)
        else:
            lines = await self.streams.lines(node.kind, text(await self.evaluate(node.source)))
            if lines is None:
                return -1.0
            raw = await anext(lines, None)
            line = None if raw is None else raw.decode(errors="surrogateescape").removesuffix("\n")
        if line is None:
            return 0.0
        if node.target is None:
            self.record.set_line(line)
        else:
            await self._store(node.target, seen(line))
        if not node.kind or (node.kind == "|" and node.target is None):
            self.variables.count("NR")
        await trio.lowlevel.checkpoint_if_cancelled()
        return 1.0


def arithmetic(op: str, left: float, right: float) -> float:
    """Return the value of an operation; AppletError."""
    match op:
        case "+":
            return left + right
        case "-":
            return left - right
        case "*":
            return left * right
        case "^":
            return float(math.pow(left, right))
    if right == 0:
        raise AppletError("cmd. line:1: Division by zero")
    return left / right if op == "/" else math.fmod(left, right)
