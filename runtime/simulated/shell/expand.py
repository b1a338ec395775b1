"""Expansion of words: parameters, substitutions, arithmetic, field splitting, file names.

POSIX's order: everything with a dollar, then splitting by IFS, then file names; quoted parts take no part in the last
two.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from attrs import define

from runtime.simulated.shell import patterns
from runtime.simulated.shell.arithmetic import ArithmeticFault, evaluate
from runtime.simulated.shell.faults import ShellFault
from runtime.simulated.shell.nodes import Arithmetic, Literal, Parameter, Part, Substitution, Word
from runtime.simulated.shell.variables import ReadonlyFault

if TYPE_CHECKING:
    from runtime.simulated.shell.interpreter import Shell

    Field = list[tuple[str, bool]]
    """Pieces of one field: text, and whether it is quoted."""

_BLANK = " \t\n"


@define
class _Fields:
    """Collects fields: a split value ends one and begins the next."""

    ifs: str
    done: list[Field]
    current: Field | None = None

    def add(self, text: str, *, is_quoted: bool) -> None:
        if self.current is None:
            self.current = []
        self.current.append((text, is_quoted))

    def end(self) -> None:
        if self.current is not None:
            self.done.append(self.current)
            self.current = None

    def split(self, value: str) -> None:
        """Add an unquoted value, split by IFS."""
        piece = ""
        after_blank = False
        for char in value:
            if char not in self.ifs:
                piece += char
                after_blank = False
                continue
            if piece:
                self.add(piece, is_quoted=False)
                piece = ""
            if char in _BLANK:
                after_blank = after_blank or self.current is not None
                self.end()
            elif self.current is not None or not after_blank:
                self.current = self.current or []
                self.end()
                after_blank = False
            else:
                after_blank = False
        if piece:
            self.add(piece, is_quoted=False)


async def expand_words(shell: Shell, words: tuple[Word, ...]) -> list[str]:
    """Return the fields that words expand to; ShellFault."""
    result: list[str] = []
    for word in words:
        if word.plain is not None:
            result.append(word.plain)
            continue
        fields = _Fields(shell.variables.values.get("IFS", _BLANK), [])
        for part in word.parts:
            await _expand_part(shell, part, fields)
        fields.end()
        for each in fields.done:
            result.extend(_file_names(shell, each))
    return result


async def expand_text(shell: Shell, word: Word) -> str:
    """Return a word as one text, neither split nor a pattern: assignments, redirections; ShellFault."""
    if word.plain is not None:
        return word.plain
    return "".join([text for text, _ in await _pieces(shell, word)])


async def expand_pattern(shell: Shell, word: Word) -> str:
    """Return a word as a pattern in which quoted characters stand for themselves; ShellFault."""
    return "".join([patterns.quote(text) if is_quoted else text for text, is_quoted in await _pieces(shell, word)])


async def _pieces(shell: Shell, word: Word) -> Field:
    fields = _Fields("", [])
    for part in word.parts:
        await _expand_part(shell, part, fields)
    fields.end()
    pieces: Field = []
    for each in fields.done:
        if pieces:
            pieces.append((" ", True))
        pieces.extend(each)
    return pieces


async def _expand_part(shell: Shell, part: Part, fields: _Fields) -> None:
    match part:
        case Literal():
            fields.add(part.text, is_quoted=part.is_quoted)
        case Parameter(name="@" | "*", op=""):
            _positional(shell, part, fields)
        case Parameter():
            await _parameter(shell, part, fields)
        case Substitution():
            _value(await shell.substitute(part.script), fields, is_quoted=part.is_quoted)
        case Arithmetic():
            _value(str(await expand_arithmetic(shell, part.expression)), fields, is_quoted=part.is_quoted)


def _value(value: str, fields: _Fields, *, is_quoted: bool) -> None:
    if is_quoted:
        fields.add(value, is_quoted=True)
    else:
        fields.split(value)


def _positional(shell: Shell, part: Parameter, fields: _Fields) -> None:
    if part.is_quoted and part.name == "*":
        fields.add(shell.variables.values.get("IFS", " ")[:1].join(shell.positional), is_quoted=True)
        return
    if part.is_quoted and not shell.positional and fields.current == [("", True)]:
        fields.current = None
    for number, value in enumerate(shell.positional):
        if number:
            fields.end()
        _value(value, fields, is_quoted=part.is_quoted)


async def expand_arithmetic(shell: Shell, expression: Word) -> int:
    """Return the value of an arithmetic expression; ShellFault."""
    text = await expand_text(shell, expression)
    try:
        return evaluate(text, lambda name: shell.parameter(name) or "", shell.variables.put)
    except (ArithmeticFault, ReadonlyFault) as fault:
        raise ShellFault(str(fault)) from fault


async def _parameter(shell: Shell, part: Parameter, fields: _Fields) -> None:
    if part.name in {"@", "*"}:
        value: str | None = " ".join(shell.positional)
    else:
        value = shell.parameter(part.name)
    op = part.op
    if value is None and shell.has_option("u") and op not in _DEFAULTING:
        raise ShellFault(f"{part.name}: parameter not set")
    if op == "len":
        text = str(len(value or ""))
        _value(text, fields, is_quoted=part.is_quoted)
    elif op in _DEFAULTING:
        await _default(shell, part, value, fields)
    elif not op:
        _value(value or "", fields, is_quoted=part.is_quoted)
    else:
        _value(await _edit(shell, part, value or ""), fields, is_quoted=part.is_quoted)


_DEFAULTING = frozenset({"-", ":-", "=", ":=", "?", ":?", "+", ":+"})


async def _default(shell: Shell, part: Parameter, value: str | None, fields: _Fields) -> None:
    argument = part.argument or Word((), "")
    is_set = value is not None and (bool(value) or not part.op.startswith(":"))
    op = part.op[-1]
    if op == "+":
        if is_set:
            await _expand_argument(shell, argument, fields)
        elif part.is_quoted:
            fields.add("", is_quoted=True)
    elif is_set and part.name in {"@", "*"} and shell.positional:
        _positional(shell, part, fields)
    elif is_set:
        _value(value or "", fields, is_quoted=part.is_quoted)
    elif op == "-":
        await _expand_argument(shell, argument, fields)
    elif op == "=":
        value = await expand_text(shell, argument)
        _put(shell, part.name, value)
        _value(value, fields, is_quoted=part.is_quoted)
    else:
        unset = "parameter not set or null" if part.op == ":?" else "parameter not set"
        raise ShellFault(f"{part.name}: {await expand_text(shell, argument) if argument.parts else unset}")


def _put(shell: Shell, name: str, value: str) -> None:
    if not name.isidentifier():
        raise ShellFault(f"{name}: bad variable name")
    try:
        shell.variables.put(name, value)
    except ReadonlyFault as fault:
        raise ShellFault(str(fault)) from fault


async def _expand_argument(shell: Shell, argument: Word, fields: _Fields) -> None:
    for part in argument.parts:
        if isinstance(part, Literal) and not part.is_quoted:
            fields.split(part.text)
        else:
            await _expand_part(shell, part, fields)


async def _edit(shell: Shell, part: Parameter, value: str) -> str:
    argument = part.argument or Word((), "")
    if part.op == ":":
        return await _substring(shell, argument, value)
    pattern = await expand_pattern(shell, argument)
    if part.op in {"/", "//"}:
        replacement = await expand_text(shell, part.replacement or Word((), ""))
        return patterns.replace(value, pattern, replacement, everywhere=part.op == "//")
    return patterns.strip(value, pattern, part.op)


async def _substring(shell: Shell, argument: Word, value: str) -> str:
    text = await expand_text(shell, argument)
    offset_text, has_length, length_text = text.partition(":")
    numbers = []
    for each in (offset_text, length_text):
        try:
            numbers.append(evaluate(each, lambda name: shell.parameter(name) or "", shell.variables.put))
        except ArithmeticFault as fault:
            raise ShellFault(str(fault)) from fault
    offset, length = numbers
    offset = max(0, offset + len(value)) if offset < 0 else offset
    if not has_length:
        return value[offset:]
    return value[offset : offset + length] if length >= 0 else value[offset:length]


def _file_names(shell: Shell, pieces: Field) -> list[str]:
    """Return the paths that a field matches, or its text when it matches none."""
    text = "".join([text for text, _ in pieces])
    if shell.has_option("f") or not any(not is_quoted and _has_special(piece) for piece, is_quoted in pieces):
        return [text]
    pattern = "".join(patterns.quote(text) if is_quoted else text.replace("\\", "\\\\") for text, is_quoted in pieces)
    return shell.glob(pattern) or [text]


def _has_special(text: str) -> bool:
    return "*" in text or "?" in text or "[" in text
