"""test, [ and expr."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from attrs import define

from runtime.simulated import access
from runtime.simulated.shell import patterns
from runtime.simulated.shell.applets.base import AppletError, put
from runtime.simulated.tree import Directory, Fifo, File, Special, Symlink, size_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from runtime.simulated.process import Process

_UNARY = frozenset("-" + letter for letter in "bcdefghkLnpGOrsStuwxz")
_BINARY = frozenset({"=", "==", "!=", "<", ">", "-eq", "-ne", "-gt", "-ge", "-lt", "-le", "-nt", "-ot", "-ef"})


async def test(process: Process, name: str, arguments: list[str]) -> int:  # noqa: ARG001 - the signature of all applets
    """Evaluate a condition: 0 true, 1 false."""
    return _evaluate(process, arguments)


async def bracket(process: Process, name: str, arguments: list[str]) -> int:  # noqa: ARG001
    """Evaluate a condition up to the closing bracket."""
    if not arguments or arguments[-1] != "]":
        raise AppletError("missing ]", 2)
    return _evaluate(process, arguments[:-1])


async def double_bracket(process: Process, name: str, arguments: list[str]) -> int:  # noqa: ARG001
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

    def by_count(self) -> bool | None:
        """Decide by POSIX's rules for up to four arguments, None when these leave it open."""
        words = self.words
        if len(words) == 1:
            return bool(words[0])
        if len(words) == 2 and words[0] == "!":  # noqa: PLR2004 - POSIX counts
            return not words[1]
        if len(words) == 3 and words[1] in _BINARY:  # noqa: PLR2004 - POSIX counts
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
        word, operator = self.peek(), self.peek(1)
        if operator in _BINARY and self.at + 2 < len(self.words):
            self.at += 3
            return self.binary(word, operator, self.words[self.at - 1])
        if word == "(":
            self.at += 1
            result = self.any()
            if self.peek() != ")":
                raise AppletError("closing paren expected", 2)
            self.at += 1
            return result
        if word in _UNARY and self.at + 1 < len(self.words):
            self.at += 2
            return self.unary(word, operator)
        if operator in _BINARY:
            raise AppletError(f"{operator}: argument expected", 2)
        self.at += 1
        return bool(word)

    def binary(self, left: str, operator: str, right: str) -> bool:
        if operator in {"=", "=="}:
            return patterns.matches(right, left) if self.matches_patterns else left == right
        if operator == "!=":
            return not self.binary(left, "=", right)
        if operator in {"<", ">"}:
            return left < right if operator == "<" else left > right
        if operator in {"-nt", "-ot", "-ef"}:
            return self.files(left, operator, right)
        first, second = _number(left), _number(right)
        compared: dict[str, Callable[[int, int], bool]] = {
            "-eq": int.__eq__, "-ne": int.__ne__, "-gt": int.__gt__, "-ge": int.__ge__, "-lt": int.__lt__, "-le": int.__le__,
        }  # fmt: skip
        return compared[operator](first, second)

    def files(self, left: str, operator: str, right: str) -> bool:
        first, second = access.get(self.process, left), access.get(self.process, right)
        if operator == "-ef":
            return first is not None and first is second
        if first is None or second is None:
            return (first is not None) == (operator == "-nt") and first is not second
        return first.mtime > second.mtime if operator == "-nt" else first.mtime < second.mtime

    def unary(self, operator: str, word: str) -> bool:
        if operator in {"-n", "-z"}:
            return bool(word) == (operator == "-n")
        if operator == "-t":
            return False
        if operator in {"-L", "-h"}:
            return isinstance(access.get(self.process, word, follow=False), Symlink)
        node = access.get(self.process, word) if word else None
        if node is None:
            return self.is_special(operator, word)
        match operator:
            case "-e":
                return True
            case "-f":
                return isinstance(node, File)
            case "-d":
                return isinstance(node, Directory)
            case "-p":
                return isinstance(node, Fifo)
            case "-c":
                return isinstance(node, Special)
            case "-s":
                return size_of(node) > 0
            case "-r" | "-w":
                return access.may(self.process, node, access.READ if operator == "-r" else access.WRITE)
            case "-x":
                return bool(node.mode & 0o111) and access.may(self.process, node, access.EXECUTE)
            case "-O" | "-G":
                return node.uid == self.process.container.uid
        return False

    def is_special(self, operator: str, word: str) -> bool:
        """Tell whether a path that isn't in the tree exists: /proc and a process's own descriptors."""
        return operator in {"-e", "-r", "-f"} and access.exists(self.process, word)


def _number(text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise AppletError(f"{text}: bad number", 2) from None


async def expr(process: Process, name: str, arguments: list[str]) -> int:  # noqa: ARG001 - the signature of all applets
    """Evaluate an expression of words; 1 when the result is empty or 0."""
    if not arguments:
        raise AppletError("syntax error", 2)
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
            operator = self.words[self.at]
            self.at += 1
            value = self.apply(operator, value, self.level(number + 1))
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

    def apply(self, operator: str, left: str, right: str) -> str:
        if operator == "|":
            return left if left not in {"", "0"} else right
        if operator == "&":
            return "0" if left in {"", "0"} or right in {"", "0"} else left
        if operator == ":":
            return _expr_match(left, right)
        if operator in _EXPR_LEVELS[2]:
            return str(int(_compare(operator, left, right)))
        first, second = _expr_number(left), _expr_number(right)
        if operator in {"/", "%"} and second == 0:
            raise AppletError("division by zero", 2)
        match operator:
            case "+":
                return str(first + second)
            case "-":
                return str(first - second)
            case "*":
                return str(first * second)
        quotient = abs(first) // abs(second) * (1 if (first < 0) == (second < 0) else -1)
        return str(quotient if operator == "/" else first - quotient * second)


def _expr_number(text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise AppletError("non-numeric argument", 2) from None


def _compare(operator: str, left: str, right: str) -> bool:
    pair: tuple[int, int] | tuple[str, str] = (left, right)
    if re.fullmatch(r"-?\d+", left) and re.fullmatch(r"-?\d+", right):
        pair = (int(left), int(right))
    first, second = pair
    if operator in {"=", "=="}:
        return first == second
    if operator == "!=":
        return first != second
    order = (first > second) - (first < second)  # type: ignore[operator]
    return {"<": order < 0, "<=": order <= 0, ">": order > 0, ">=": order >= 0}[operator]


def _expr_match(text: str, pattern: str) -> str:
    from runtime.simulated.shell.applets.regex import basic

    match = basic(pattern).match(text)
    if match is None:
        return "" if r"\(" in pattern else "0"
    return (match[1] or "") if match.re.groups else str(match.end())
