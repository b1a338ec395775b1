"""awk's built-in functions that neither read nor write anything."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING

from runtime.simulated.shell.awk.values import Value, number, text

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

_DIRECTIVE = re.compile(r"%([-+ #0]*)(\*|\d+)?(?:\.(\*|\d+)?)?[hlL]*([diouxXcsfFeEgG%])")
_MASK = (1 << 64) - 1


def formatted(form: str, values: list[Value]) -> str:
    """Return a text made as by sprintf; a directive without a value has 0 or ""."""
    waiting = list(values)

    def take() -> Value:
        return waiting.pop(0) if waiting else ""

    def one(match: re.Match[str]) -> str:
        flags, width, kind = match[1], match[2] or "", match[4]
        if kind == "%":
            return "%"
        width = str(int(number(take()))) if width == "*" else width
        precision = str(int(number(take()))) if match[3] == "*" else match[3]
        point = "" if precision is None and "." not in match[0] else f".{precision or 0}"
        value = take()
        if kind == "c":
            shown = chr(int(value)) if isinstance(value, float) else text(value)[:1]
            return str(f"%{flags}{width}s" % shown)
        if kind == "s":
            return str(f"%{flags}{width}{point}s" % text(value))
        if kind in "diouxX":
            return str(f"%{flags}{width}{point}{'d' if kind in 'iu' else kind}" % int(number(value)))
        return str(f"%{flags}{width}{point}{kind}" % number(value))

    return _DIRECTIVE.sub(one, form)


def substring(value: Value, start: Value, length: Value | None) -> str:
    """Return a part of a text; places count from 1, and one before it is 1, as in busybox."""
    whole = text(value)[max(0, round(number(start)) - 1) :]
    return whole if length is None else whole[: max(0, round(number(length)))]


def _logarithm(value: Value) -> float:
    operand = number(value)
    return math.log(operand) if operand > 0 else (-math.inf if operand == 0 else math.nan)


def _bits(operation: Callable[[int, int], int]) -> Callable[[list[Value]], Value]:
    return lambda values: float(operation(int(number(values[0])), int(number(values[1]))) & _MASK)


PURE: Mapping[str, Callable[[list[Value]], Value]] = {
    "substr": lambda values: substring(values[0], values[1], values[2] if len(values) > 2 else None),
    "index": lambda values: float(text(values[0]).find(text(values[1])) + 1),
    "sprintf": lambda values: formatted(text(values[0]), values[1:]),
    "tolower": lambda values: text(values[0]).lower(),
    "toupper": lambda values: text(values[0]).upper(),
    "int": lambda values: float(int(number(values[0]))),
    "sqrt": lambda values: math.sqrt(max(0.0, number(values[0]))),
    "exp": lambda values: math.exp(number(values[0])),
    "log": lambda values: _logarithm(values[0]),
    "sin": lambda values: math.sin(number(values[0])),
    "cos": lambda values: math.cos(number(values[0])),
    "atan2": lambda values: math.atan2(number(values[0]), number(values[1])),
    "and": _bits(lambda left, right: left & right),
    "or": _bits(lambda left, right: left | right),
    "xor": _bits(lambda left, right: left ^ right),
    "lshift": _bits(lambda left, right: left << right),
    "rshift": _bits(lambda left, right: left >> right),
    "compl": lambda values: float(~int(number(values[0])) & _MASK),
}
"""Built-in functions by name, from the values of their arguments."""
