"""Kubernetes quantities: "250m", "64Mi", "1e3" as exact numbers.

A quantity stays text in the API types, as the user wrote it; rules parse it where they need a number.
Source: k8s.io/apimachinery v1.36 pkg/api/resource.
"""

from __future__ import annotations

import enum
import re
from decimal import ROUND_CEILING, Context, Decimal
from typing import NewType

Quantity = NewType("Quantity", str)
IntOrString = int | str

_PATTERN = re.compile(r"([+-]?(?:\d+\.?\d*|\.\d+))([numkMGTPE]?|[KMGTPE]i|[eE][+-]?\d+)", re.ASCII)
_EXACT = Context(prec=100)
_NANO = Decimal("1e-9")
_MAX = Decimal(2**63 - 1)
_DECIMAL_SUFFIXES = {"n": -9, "u": -6, "m": -3, "": 0, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}
_BINARY_SUFFIXES = {"Ki": 1, "Mi": 2, "Gi": 3, "Ti": 4, "Pi": 5, "Ei": 6}
_DECIMAL_NAMES = {exponent: suffix for suffix, exponent in _DECIMAL_SUFFIXES.items()}
_BINARY_NAMES = {exponent: suffix for suffix, exponent in _BINARY_SUFFIXES.items()}


class QuantityFormat(enum.Enum):
    """The three families of suffixes; a quantity is printed in the one it was written in."""

    DECIMAL_SI = "DecimalSI"
    BINARY_SI = "BinarySI"
    DECIMAL_EXPONENT = "DecimalExponent"


def parse_quantity(text: str) -> Decimal:
    """Return the exact value; ValueError when `text` is no quantity.

    As in Kubernetes, what is finer than a nano-unit is rounded away from zero, and what is above 2^63-1 is cut to it.
    """
    number, suffix = _split(text)
    if suffix in _BINARY_SUFFIXES:
        value = _EXACT.multiply(Decimal(number), Decimal(1024 ** _BINARY_SUFFIXES[suffix]))
    else:
        exponent = _DECIMAL_SUFFIXES[suffix] if suffix in _DECIMAL_SUFFIXES else int(suffix[1:])
        value = Decimal(number).scaleb(max(-99, min(exponent, 99)), _EXACT)
    bounded = max(-_MAX, min(value, _MAX))
    return -_ceil_nano(-bounded) if bounded < 0 else _ceil_nano(bounded)


def quantity_value(text: str) -> int:
    """Return the value in whole units, rounded up (Quantity.Value): bytes of memory, counts."""
    return _ceil(parse_quantity(text))


def milli_value(text: str) -> int:
    """Return the value in thousandths, rounded up (Quantity.MilliValue): the usual unit of cpu."""
    return _ceil(parse_quantity(text).scaleb(3, _EXACT))


def quantity_format(text: str) -> QuantityFormat:
    """Return the family of suffixes that `text` is written in; ValueError when it is no quantity."""
    _, suffix = _split(text)
    if suffix in _BINARY_SUFFIXES:
        return QuantityFormat.BINARY_SI
    return QuantityFormat.DECIMAL_SI if suffix in _DECIMAL_SUFFIXES else QuantityFormat.DECIMAL_EXPONENT


def format_quantity(value: Decimal | int, form: QuantityFormat = QuantityFormat.DECIMAL_SI) -> Quantity:
    """Return the canonical text: the largest suffix that leaves no fraction (Quantity.String)."""
    amount = Decimal(value)
    if amount == 0:
        return Quantity("0")
    if form is QuantityFormat.BINARY_SI and abs(amount) >= 1024 and amount == amount.to_integral_value():
        return _format_binary(int(amount))
    mantissa, exponent = _mantissa(amount)
    if form is QuantityFormat.DECIMAL_EXPONENT:
        return Quantity(f"{mantissa}e{exponent}" if exponent else str(mantissa))
    return Quantity(f"{mantissa}{_DECIMAL_NAMES[exponent]}")


def canonical_quantity(text: str) -> Quantity:
    """Return `text` as the API server writes it back: 1000m is 1, 1024Ki is 1Mi, 0.5 is 500m."""
    return format_quantity(parse_quantity(text), quantity_format(text))


def _split(text: str) -> tuple[str, str]:
    found = _PATTERN.fullmatch(text)
    if found is None:
        raise ValueError(f"{text!r} is not a quantity")
    return found[1], found[2]


def _ceil(value: Decimal) -> int:
    return int(value.to_integral_value(ROUND_CEILING))


def _ceil_nano(value: Decimal) -> Decimal:
    return value.quantize(_NANO, ROUND_CEILING, _EXACT)


def _mantissa(amount: Decimal) -> tuple[int, int]:
    exponent = 18
    while amount.scaleb(-exponent, _EXACT) != amount.scaleb(-exponent, _EXACT).to_integral_value():
        exponent -= 3
    return int(amount.scaleb(-exponent, _EXACT)), exponent


def _format_binary(amount: int) -> Quantity:
    power = 0
    while power < 6 and amount % 1024 == 0:
        amount, power = amount // 1024, power + 1
    return Quantity(f"{amount}{_BINARY_NAMES.get(power, '')}")
