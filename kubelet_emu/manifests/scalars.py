"""YAML 1.1 scalars as Kubernetes' Go reader understands them.

Kubernetes turns YAML into JSON with a fork of goyaml v2, whose rules differ from PyYAML's: `22:22` and dates are text,
`1e3` and `0o17` are numbers, `08` is 8, `y` and `on` are booleans. Source: sigs.k8s.io/yaml, goyaml.v2 resolve.
"""

from __future__ import annotations

import base64
import re
import struct
from decimal import Decimal

PlainValue = str | int | float | bool | None

_WORDS: dict[str, PlainValue] = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL"), None),
    **dict.fromkeys(("y", "Y", "yes", "Yes", "YES", "true", "True", "TRUE", "on", "On", "ON"), True),
    **dict.fromkeys(("n", "N", "no", "No", "NO", "false", "False", "FALSE", "off", "Off", "OFF"), False),
    **dict.fromkeys((".nan", ".NaN", ".NAN"), float("nan")),
    **dict.fromkeys((".inf", ".Inf", ".INF", "+.inf", "+.Inf", "+.INF"), float("inf")),
    **dict.fromkeys(("-.inf", "-.Inf", "-.INF"), float("-inf")),
}
_INTEGER = re.compile(
    r"(?P<sign>[-+]?)(?:0[xX](?P<hex>[0-9a-fA-F]+)|0[bB](?P<bin>[01]+)|0[oO]?(?P<oct>[0-7]+)|(?P<dec>0|[1-9][0-9]*))"
)
_BASES = {"hex": 16, "bin": 2, "oct": 8, "dec": 10}
_FLOAT = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?")
_DOTTED_FLOAT = re.compile(r"\.[0-9]+(?:[eE][-+]?[0-9]+)?")
_MOST_DIGITS = 400
_SMALL_EXPONENT, _LARGE_EXPONENT = 4, 6
_SMALLEST_INT64 = -(2**63)
_LARGEST_UINT64 = 2**64 - 1
_LARGEST_INT64 = 2**63 - 1


def resolve_plain(text: str) -> PlainValue:
    """Return what an unquoted scalar means: text, a number, a boolean or nothing."""
    if text in _WORDS:
        return _WORDS[text]
    first = text[0]
    if first == ".":
        return _finite(text, text) if len(text) < _MOST_DIGITS and _DOTTED_FLOAT.fullmatch(text) else text
    if first in "+-0123456789":
        return _resolve_number(text)
    return text


def _resolve_number(text: str) -> PlainValue:
    plain = text.replace("_", "")
    if len(plain) > _MOST_DIGITS:
        return text
    whole = _resolve_integer(plain)
    if whole is not None:
        return whole
    return _finite(plain, text) if _FLOAT.fullmatch(plain) else text


def _finite(plain: str, text: str) -> float | str:
    """Return a number, or the text where it has no room in a float64."""
    number = float(plain)
    return text if number in (float("inf"), float("-inf")) else number


def _resolve_integer(plain: str) -> int | None:
    found = _INTEGER.fullmatch(plain)
    if found is None:
        return None
    base = next(name for name in _BASES if found[name] is not None)
    value = int(found[base], _BASES[base]) * (-1 if found["sign"] == "-" else 1)
    largest = _LARGEST_INT64 if found["sign"] else _LARGEST_UINT64
    return value if _SMALLEST_INT64 <= value <= largest else None


def json_number(value: float) -> str:
    """Write a number as Go's JSON encoder does: 1.0 is `1`, 5e10 is `50000000000`, 1e21 is `1e+21`."""
    if isinstance(value, int):
        return str(value)
    magnitude = abs(value)
    if magnitude and not 1e-6 <= magnitude < 1e21:
        mantissa, exponent = repr(value).split("e")
        return f"{mantissa.removesuffix('.0')}e{exponent[0]}{exponent[1:].lstrip('0')}"
    text = format(Decimal(repr(value)), "f")
    return text.rstrip("0").removesuffix(".") if "." in text else text


def binary_text(text: str) -> str:
    """Return what a `!!binary` scalar holds; the text itself where that isn't base64."""
    try:
        return base64.b64decode("".join(text.split()), validate=True).decode("utf-8", "replace")
    except ValueError:
        return text


def float_key(value: float) -> str:
    """Write a number that is a key as sigs.k8s.io/yaml does: as a float32 with no more digits than it needs (%g)."""
    if value != value or value in (float("inf"), float("-inf")):  # noqa: PLR0124 - not a number
        return {float("inf"): ".inf", float("-inf"): "-.inf"}.get(value, ".nan")
    try:
        (single,) = struct.unpack("<f", struct.pack("<f", value))
    except OverflowError:
        return ".inf" if value > 0 else "-.inf"
    written = next(text for digits in range(9) if _as_single(text := f"{single:.{digits}e}") == single)
    mantissa, exponent = written.split("e")
    if -_SMALL_EXPONENT <= int(exponent) < _LARGE_EXPONENT:
        text = format(Decimal(written), "f")
        return text.rstrip("0").removesuffix(".") if "." in text else text
    return f"{mantissa}e{exponent}"


def _as_single(text: str) -> float:
    single: float = struct.unpack("<f", struct.pack("<f", float(text)))[0]
    return single
