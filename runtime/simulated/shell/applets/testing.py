"""test, [ and expr."""

from __future__ import annotations

import operator
import re
from typing import TYPE_CHECKING

from attrs import define

from runtime.simulated import access
from runtime.simulated.procfs import is_process
from runtime.simulated.shell import patterns
from runtime.simulated.shell.applets.base import AppletError, put
from runtime.simulated.shell.applets.regex import basic, extended
from runtime.simulated.tree import Directory, Fifo, File, Special, Symlink, size_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from runtime.simulated.process import Process
    from runtime.simulated.tree import Entry

_UNARY = frozenset("-" + letter for letter in "bcdefghkLnpGOrsStuwxz")
_KINDS = {"-f": File, "-d": Directory, "-p": Fifo, "-c": Special}
_BINARY = frozenset({"=", "==", "!=", "<", ">", "-eq", "-ne", "-gt", "-ge", "-lt", "-le", "-nt", "-ot", "-ef"})

_COMPARED: dict[str, Callable[[int, int], bool]] = {
    "-eq": operator.eq,
    "-ne": operator.ne,
    "-gt": operator.gt,
    "-ge": operator.ge,
    "-lt": operator.lt,
    "-le": operator.le,
}


async def test(process: Process, name: str, arguments: list[str]) -> int:
    """Evaluate a condition: 0 true, 1 false."""
    return _evaluate(process, arguments)


async def bracket(process: Process, name: str, arguments: list[str]) -> int:
    """Evaluate a condition up to the closing bracket."""
    if not arguments or arguments[-1] != "]":
        raise AppletError("missing ]", 2)
    return _evaluate(process, arguments[:-1])


async def double_bracket(process: Process, name: str, arguments: list[str]) -> int:
    """Evaluate a condition in which the right side of = is a pattern."""
    if not arguments or arguments[-1] != "]]":
        raise AppletError("missing ]]", 2)
    names = {"&&": "-a", "||": "-o"}
    return _evaluate(process, [names.get(word, word) for word in arguments[:-1]], matches_patterns=True)


def _evaluate(process: Process, words: list[str], *, matches_patterns: bool = False) -> int:
    if not words:
        return 1
    parser = _Condition(process, words, matches_patterns)
    short = parser.by_count()
    if short is not None:
        return int(not short)
    result = parser.any()
    if parser.at < len(words):
        raise AppletError(f"{words[parser.at]}: unknown operand", 2)
    return int(not result)


@define
class _Condition:
    process: Process
    words: list[str]
    matches_patterns: bool
    at: int = 0

    @property
    def operators(self) -> frozenset[str]:
        """Return the operators between two words."""
        return _BINARY | {"=~"} if self.matches_patterns else _BINARY

    def by_count(self) -> bool | None:
        """Decide by POSIX's rules for up to four arguments, None when these leave it open."""
        words = self.words
        if len(words) == 1:
            return bool(words[0])
        if len(words) == 2 and words[0] == "!":
            return not words[1]
        if len(words) == 3 and words[1] in self.operators:
            return self.binary(words[0], words[1], words[2])
        return None

    def any(self) -> bool:
        result = self.all()
        while self.peek() == "-o":
            self.at += 1
            result = self.all() or result
        return result

    def all(self) -> bool:
        result = self.negated()
        while self.peek() == "-a":
            self.at += 1
            result = self.negated() and result
        return result

    def negated(self) -> bool:
        if self.peek() == "!" and self.at + 1 < len(self.words):
            self.at += 1
            return not self.negated()
        return self.primary()

    def peek(self, offset: int = 0) -> str:
        place = self.at + offset
        return self.words[place] if place < len(self.words) else ""

    def primary(self) -> bool:
        if self.at >= len(self.words):
            raise AppletError("argument expected", 2)
        word, operator_ = self.peek(), self.peek(1)
        if operator_ in self.operators and self.at + 2 < len(self.words):
            self.at += 3
            return self.binary(word, operator_, self.words[self.at - 1])
        if word == "(":
            self.at += 1
            result = self.any()
            if self.peek() != ")":
                raise AppletError("closing paren expected", 2)
            self.at += 1
            return result
        if word in _UNARY and self.at + 1 < len(self.words):
            self.at += 2
            return self.unary(word, operator_)
        if operator_ in self.operators:
            raise AppletError(f"{operator_}: argument expected", 2)
        self.at += 1
        return bool(word)

    def binary(self, left: str, operator_: str, right: str) -> bool:
        if operator_ == "=~":
            return extended(right).search(left) is not None
        if operator_ in {"=", "=="}:
            return patterns.matches(right, left) if self.matches_patterns else left == right
        if operator_ == "!=":
            return not self.binary(left, "=", right)
        if operator_ in {"<", ">"}:
            return left < right if operator_ == "<" else left > right
        if operator_ in {"-nt", "-ot", "-ef"}:
            return self.files(left, operator_, right)
        first, second = _number(left), _number(right)
        return _COMPARED[operator_](first, second)

    def files(self, left: str, operator_: str, right: str) -> bool:
        first, second = access.get(self.process, left), access.get(self.process, right)
        if operator_ == "-ef":
            return first is not None and first is second
        if first is None or second is None:
            return False
        return first.mtime > second.mtime if operator_ == "-nt" else first.mtime < second.mtime

    def unary(self, operator_: str, word: str) -> bool:
        if operator_ in {"-n", "-z"}:
            return bool(word) == (operator_ == "-n")
        if operator_ == "-t":
            return word.isdecimal() and self.process.is_terminal(int(word))
        if operator_ in {"-L", "-h"}:
            return isinstance(access.get(self.process, word, follow=False), Symlink)
        node = access.get(self.process, word) if word else None
        if node is None:
            return self.is_special(operator_, word)
        return self.has(operator_, node)

    def has(self, operator_: str, node: Entry) -> bool:
        """Tell whether a node is what a test asks for."""
        container = self.process.container
        match operator_:
            case "-f" | "-d" | "-p" | "-c":
                return isinstance(node, _KINDS[operator_])
            case "-s":
                return size_of(node) > 0
            case "-r" | "-w":
                return access.may(self.process, node, access.READ if operator_ == "-r" else access.WRITE)
            case "-x":
                return bool(node.mode & 0o111) and access.may(self.process, node, access.EXECUTE)
            case "-O":
                return node.uid == container.ids.uid
            case "-G":
                return node.gid == container.ids.gid
            case "-u" | "-g" | "-k":
                return bool(node.mode & {"-u": 0o4000, "-g": 0o2000, "-k": 0o1000}[operator_])
        return operator_ == "-e"

    def is_special(self, operator_: str, word: str) -> bool:
        """Tell whether a path that isn't in the tree exists: /proc and a process's own descriptors."""
        if operator_ == "-d" or re.fullmatch(r"/proc/\d+/?", word):
            return operator_ in {"-d", "-e", "-r", "-x"} and is_process(self.process, word)
        return operator_ in {"-e", "-r", "-f"} and access.exists(self.process, word)


def _number(text: str) -> int:
    if not re.fullmatch(r"\s*[-+]?\d+\s*", text):
        raise AppletError(f"{text}: bad number" if text else "bad number", 2)
    if not -(1 << 63) <= int(text) < 1 << 63:
        raise AppletError(f"{text}: out of range", 2)
    return int(text)


async def expr(process: Process, name: str, arguments: list[str]) -> int:
    """Evaluate an expression of words; 1 when the result is empty or 0."""
    if not arguments:
        raise AppletError("too few arguments", 2)
    parser = _Expr(arguments)
    value = parser.level(0)
    if parser.at < len(arguments):
        raise AppletError("syntax error", 2)
    await put(process, f"{value}\n")
    return int(value in {"", "0"})


_EXPR_LEVELS = (("|",), ("&",), ("<", "<=", "=", "==", "!=", ">=", ">"), ("+", "-"), ("*", "/", "%"), (":",))


@define
class _Expr:
    words: list[str]
    at: int = 0

    def level(self, number: int) -> str:
        if number == len(_EXPR_LEVELS):
            return self.primary()
        value = self.level(number + 1)
        while self.at < len(self.words) and self.words[self.at] in _EXPR_LEVELS[number]:
            operator_ = self.words[self.at]
            self.at += 1
            value = self.apply(operator_, value, self.level(number + 1))
        return value

    def take(self) -> str:
        if self.at >= len(self.words):
            raise AppletError("syntax error", 2)
        self.at += 1
        return self.words[self.at - 1]

    def primary(self) -> str:
        word = self.take()
        if word == "(":
            value = self.level(0)
            if self.take() != ")":
                raise AppletError("syntax error", 2)
            return value
        if word == "length" and self.at < len(self.words):
            return str(len(self.take()))
        if word == "match" and self.at + 1 < len(self.words):
            text = self.take()
            return _expr_match(text, self.take())
        if word == "substr" and self.at + 2 < len(self.words):
            text, start, length = self.take(), _expr_number(self.take()), _expr_number(self.take())
            return text[start - 1 : start - 1 + length] if start > 0 and length > 0 else ""
        if word == "index" and self.at + 1 < len(self.words):
            text, wanted = self.take(), self.take()
            return str(next((place for place, char in enumerate(text, start=1) if char in wanted), 0))
        return word

    def apply(self, operator_: str, left: str, right: str) -> str:
        if operator_ == "|":
            return left if left not in {"", "0"} else right
        if operator_ == "&":
            return "0" if left in {"", "0"} or right in {"", "0"} else left
        if operator_ == ":":
            return _expr_match(left, right)
        if operator_ in _EXPR_LEVELS[2]:
            return str(int(_compare(operator_, left, right)))
        first, second = _expr_number(left), _expr_number(right)
        if operator_ in {"/", "%"} and second == 0:
            raise AppletError("division by zero", 2)
        match operator_:
            case "+":
                return str(first + second)
            case "-":
                return str(first - second)
            case "*":
                return str(first * second)
        quotient = abs(first) // abs(second) * (1 if (first < 0) == (second < 0) else -1)
        return str(quotient if operator_ == "/" else first - quotient * second)


def _expr_number(text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise AppletError("non-numeric argument", 2) from None


def _compare(operator_: str, left: str, right: str) -> bool:
    """Compare two words, as numbers when both are."""
    if re.fullmatch(r"-?\d+", left) and re.fullmatch(r"-?\d+", right):
        order = (int(left) > int(right)) - (int(left) < int(right))
    else:
        order = (left > right) - (left < right)
    if operator_ in {"=", "=="}:
        return order == 0
    return {"!=": order != 0, "<": order < 0, "<=": order <= 0, ">": order > 0, ">=": order >= 0}[operator_]


def _expr_match(text: str, pattern: str) -> str:
    match = basic(pattern).match(text)
    if match is None:
        return "" if r"\(" in pattern else "0"
    return (match[1] or "") if match.re.groups else str(match.end())
