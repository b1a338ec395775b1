"""awk's values: numbers, strings, and strings from outside that look like a number."""

from __future__ import annotations

import re

from attrs import frozen

_NUMBER = re.compile(r"\s*([-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)")


@frozen
class Seen:
    """A text from outside (a field, a variable of the command line) that is a number, too; "" is one as well."""

    text: str
    number: float


Value = float | str | Seen
UNSET = Seen("", 0.0)


def seen(text: str) -> Value:
    """Return a text from outside as what it is."""
    match = _NUMBER.match(text)
    return Seen(text, float(match[1])) if match and not text[match.end() :].strip() else text


def number(value: Value) -> float:
    """Return a value as a number: a string's beginning counts."""
    if isinstance(value, str):
        match = _NUMBER.match(value)
        return float(match[1]) if match else 0.0
    return value.number if isinstance(value, Seen) else value


def text(value: Value, form: str = "%.6g") -> str:
    """Return a value as a string; `form` is CONVFMT or OFMT."""
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() and abs(value) < 1e16 else form % value
    return value.text if isinstance(value, Seen) else value


def truth(value: Value) -> bool:
    """Tell whether a value counts as true."""
    return value != "" if isinstance(value, str) else number(value) != 0


def compare(left: Value, right: Value) -> int:
    """Return how two values stand: below, at or above 0; as numbers unless one is a string."""
    if isinstance(left, str) or isinstance(right, str):
        first, second = text(left), text(right)
        return (first > second) - (first < second)
    return (number(left) > number(right)) - (number(left) < number(right))
