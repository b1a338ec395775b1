"""Arithmetic expansion: C's integer expressions on 64-bit numbers, as busybox reads them.

Both sides of `&&`, `||` and `?:` are evaluated, as in busybox up to 1.36: an assignment in either one counts.
"""

from __future__ import annotations

import operator
import re
from typing import TYPE_CHECKING

from attrs import define

if TYPE_CHECKING:
    from collections.abc import Callable

_TOKEN = re.compile(
    r"\s*(\d+#\w+|0[xX][0-9a-fA-F]+|\d+|[A-Za-z_]\w*|<<=|>>=|\*\*|\+\+|--|<<|>>|<=|>=|==|!=|&&|\|\||[-+*/%&|^]=|[-+*/%&|^~!<>=?:(),])"
)
_ASSIGNING = frozenset({"=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>="})
_LEVELS: tuple[frozenset[str], ...] = (
    frozenset({"||"}),
    frozenset({"&&"}),
    frozenset({"|"}),
    frozenset({"^"}),
    frozenset({"&"}),
    frozenset({"==", "!="}),
    frozenset({"<", ">", "<=", ">="}),
    frozenset({"<<", ">>"}),
    frozenset({"+", "-"}),
    frozenset({"*", "/", "%"}),
)
_MAX_DEPTH = 30
_SYNTAX, _MALFORMED = "arithmetic syntax error", "malformed ?: operator"


class ArithmeticFault(Exception):  # noqa: N818 - control flow or an outcome, not an error of ours
    """An expression that has no value."""


def evaluate(text: str, get: Callable[[str], str], put: Callable[[str, str], None], depth: int = 0) -> int:
    """Return the value of an expression; `get` and `put` reach the shell's variables. ArithmeticFault."""
    stripped = text.strip()
    if stripped.isdecimal() and not stripped.startswith("0"):
        return int(stripped)
    if not stripped:
        return 0
    if depth > _MAX_DEPTH:
        raise ArithmeticFault("expression recursion loop detected")
    parser = _Parser(_tokens(text), get, put, depth)
    value = parser.comma()
    if parser.tokens[parser.at]:
        raise ArithmeticFault(_MALFORMED if parser.tokens[parser.at] == ":" else _SYNTAX)
    return value


def _tokens(text: str) -> list[str]:
    found: list[str] = []
    at, end = 0, len(text.rstrip())
    while at < end:
        match = _TOKEN.match(text, at)
        if match is None:
            raise ArithmeticFault(_SYNTAX)
        found.append(match[1])
        at = match.end()
    return [*found, ""]


def _wrap(value: int) -> int:
    return (value + (1 << 63)) % (1 << 64) - (1 << 63)


def _divide(left: int, right: int) -> int:
    if right == 0:
        raise ArithmeticFault("divide by zero")
    quotient = abs(left) // abs(right)
    return quotient if (left < 0) == (right < 0) else -quotient


def _power(base: int, exponent: int) -> int:
    if exponent < 0:
        raise ArithmeticFault("exponent less than 0")
    return int(pow(base, min(exponent, 1 << 10)))


_BINARY: dict[str, Callable[[int, int], int]] = {
    "||": lambda left, right: bool(left) or bool(right),
    "&&": lambda left, right: bool(left) and bool(right),
    "|": operator.or_,
    "^": operator.xor,
    "&": operator.and_,
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    ">": operator.gt,
    "<=": operator.le,
    ">=": operator.ge,
    "<<": lambda left, right: left << (right & 63),
    ">>": lambda left, right: left >> (right & 63),
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": _divide,
    "%": lambda left, right: left - right * _divide(left, right),
    "**": _power,
}


@define
class _Parser:
    tokens: list[str]
    get: Callable[[str], str]
    put: Callable[[str, str], None]
    depth: int
    at: int = 0

    def take(self, *wanted: str) -> str:
        token = self.tokens[self.at]
        if token and token in wanted:
            self.at += 1
            return token
        return ""

    def need(self, wanted: str) -> None:
        if not self.take(wanted):
            raise ArithmeticFault(_SYNTAX)

    def comma(self) -> int:
        value = self.assignment()
        while self.take(","):
            value = self.assignment()
        return value

    def assignment(self) -> int:
        name, op = self.tokens[self.at], self.tokens[self.at + 1] if self.at + 1 < len(self.tokens) else ""
        if op in _ASSIGNING and _is_name(name):
            self.at += 2
            value = self.assignment()
            if op != "=":
                value = self.combine(op[:-1], self.value_of(name), value)
            return self.store(name, value)
        return self.ternary()

    def store(self, name: str, value: int) -> int:
        self.put(name, str(value))
        return value

    def ternary(self) -> int:
        condition = self.binary(0)
        if not self.take("?"):
            return condition
        chosen = self.binary(0)
        if not self.take(":"):
            raise ArithmeticFault(_MALFORMED)
        other = self.ternary()
        return chosen if condition else other

    def binary(self, level: int) -> int:
        if level == len(_LEVELS):
            return self.power()
        value = self.binary(level + 1)
        while op := self.take(*_LEVELS[level]):
            value = self.combine(op, value, self.binary(level + 1))
        return value

    def power(self) -> int:
        base = self.unary()
        return self.combine("**", base, self.power()) if self.take("**") else base

    def combine(self, op: str, left: int, right: int) -> int:
        return _wrap(int(_BINARY[op](left, right)))

    def unary(self) -> int:
        op = self.take("-", "+", "!", "~", "++", "--")
        if not op:
            return self.postfix()
        if op in {"++", "--"} and _is_name(self.tokens[self.at]):
            name = self.tokens[self.at]
            self.at += 1
            return self.store(name, _wrap(self.value_of(name) + (1 if op == "++" else -1)))
        value = self.unary()
        return {"-": -value, "--": value, "+": value, "++": value, "!": int(not value), "~": ~value}[op]

    def postfix(self) -> int:
        token = self.tokens[self.at]
        if self.take("("):
            value = self.comma()
            self.need(")")
            return value
        if _is_name(token):
            self.at += 1
            value = self.value_of(token)
            if op := self.take("++", "--"):
                self.store(token, _wrap(value + (1 if op == "++" else -1)))
            return value
        if token[:1].isdigit():
            self.at += 1
            return _number(token)
        raise ArithmeticFault(_SYNTAX)

    def value_of(self, name: str) -> int:
        return evaluate(self.get(name), self.get, self.put, self.depth + 1)


def _is_name(token: str) -> bool:
    return token[:1] == "_" or token[:1].isalpha()


def _number(token: str) -> int:
    try:
        if "#" in token:
            base, _, digits = token.partition("#")
            return _wrap(int(digits, int(base)))
        if token[:2] in {"0x", "0X"}:
            return _wrap(int(token, 16))
        return _wrap(int(token, 8) if token.startswith("0") and len(token) > 1 else int(token))
    except ValueError:
        raise ArithmeticFault(_SYNTAX) from None
