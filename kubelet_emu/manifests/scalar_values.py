"""Single values: what a scalar of a manifest becomes in a field of a given type, or why it doesn't fit.

Source: Go's JSON decoding into the v1.36 API types; resource.Quantity, metav1.Time and intstr read their own texts.
"""

from __future__ import annotations

import base64
import binascii
import math
import re
from typing import TYPE_CHECKING

from kubelet_emu.api.codec import parse_time
from kubelet_emu.api.quantity import parse_quantity
from kubelet_emu.api.schema import Scalar
from kubelet_emu.manifests.scalars import PlainValue, json_number

if TYPE_CHECKING:
    from datetime import datetime

_QUANTITY_SHAPE = r"([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)"
QUANTITY_RULE = "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"
_QUANTITY_SUFFIX_RULE = "unable to parse quantity's suffix"
_QUANTITY_NUMBER_RULE = "unable to parse numeric part of quantity"
_LARGEST = {Scalar.INT: 2**31 - 1, Scalar.LONG: 2**63 - 1}
_WORDS = {
    Scalar.STRING: "text",
    Scalar.INT: "a whole number",
    Scalar.LONG: "a whole number",
    Scalar.BOOL: "true or false",
    Scalar.FLOAT: "a number",
    Scalar.QUANTITY: "a quantity such as 250m or 64Mi",
    Scalar.INT_OR_STRING: "a whole number or text",
    Scalar.BYTES: "base64 text",
    Scalar.TIME: "a time such as 2026-01-31T12:00:00Z",
    Scalar.ANY: "a value",
}
_ZEROS: dict[Scalar, object] = {
    Scalar.STRING: "",
    Scalar.INT: 0,
    Scalar.LONG: 0,
    Scalar.BOOL: False,
    Scalar.FLOAT: 0.0,
    Scalar.QUANTITY: "0",
    Scalar.INT_OR_STRING: 0,
    Scalar.BYTES: b"",
}


class UnfitError(Exception):
    """A value doesn't fit its field; {shown}, {value}, {field}, {type} are filled in by the caller."""

    def __init__(self, text: str, server_text: str) -> None:
        """Keep both texts: ours, and the API server's."""
        super().__init__(text)
        self.text = text
        self.server_text = server_text


def words(item: Scalar) -> str:
    """Name what a field of this type takes."""
    return _WORDS[item]


def go_kind(value: PlainValue) -> str:
    """Name a value as Go's JSON decoder does."""
    if isinstance(value, bool):
        return "bool"
    return "string" if isinstance(value, str) else "null" if value is None else "number"


def convert(item: Scalar, value: PlainValue) -> object:
    """Return the field's value; UnfitError if it doesn't fit. Nothing (null) in a list or map is the zero value."""
    if value is None:
        return _ZEROS.get(item)
    if isinstance(value, str):
        return _convert_text(item, value)
    if not isinstance(value, bool):
        return _convert_number(item, value)
    if item is not Scalar.BOOL:
        raise _unfit(item, value)
    return value


def _convert_text(item: Scalar, value: str) -> object:
    match item:
        case Scalar.STRING | Scalar.INT_OR_STRING:
            return value
        case Scalar.QUANTITY:
            return _quantity(value)
        case Scalar.BYTES:
            return _bytes(value)
        case Scalar.TIME:
            return _time(value)
        case _:
            raise _unfit(item, value)


def _convert_number(item: Scalar, value: float) -> object:
    match item:
        case Scalar.INT | Scalar.LONG:
            return _whole(item, value)
        case Scalar.INT_OR_STRING:
            return _whole(Scalar.INT, value)
        case Scalar.QUANTITY:
            return _quantity(_number_text(value))
        case Scalar.FLOAT:
            return value
        case _:
            raise _unfit(item, value)


def _unfit(item: Scalar, value: PlainValue) -> UnfitError:
    return UnfitError(f"{{shown}}, but {words(item)} is needed", _mismatch(go_kind(value)))


def _mismatch(given: str) -> str:
    return f"json: cannot unmarshal {given} into Go struct field {{field}} of type {{type}}"


def _number_text(value: float) -> str:
    if not math.isfinite(value):
        raise UnfitError("{shown}, which JSON does not have", f"json: unsupported value: {value}")
    return json_number(value)


def _whole(item: Scalar, value: float) -> int:
    text = _number_text(value)
    number = int(text) if text.lstrip("-").isdigit() else None
    if number is None:
        raise UnfitError("{shown}, but a whole number is needed", _mismatch(f"number {text}"))
    if not -_LARGEST[item] - 1 <= number <= _LARGEST[item]:
        raise UnfitError(
            f"{{shown}} is outside of the field's range (at most {_LARGEST[item]})", _mismatch(f"number {text}")
        )
    return number


def _quantity(text: str) -> str:
    try:
        parse_quantity(text)
    except ValueError as error:
        raise UnfitError('"{value}" is not a quantity such as 250m, 1.5, 64Mi or 2G', _quantity_rule(text)) from error
    return text


def _quantity_rule(text: str) -> str:
    if not (found := re.fullmatch(_QUANTITY_SHAPE, text)):
        return QUANTITY_RULE
    is_numeric = re.fullmatch(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)", found[1])
    return _QUANTITY_SUFFIX_RULE if is_numeric else _QUANTITY_NUMBER_RULE


def _bytes(text: str) -> bytes:
    try:
        return base64.b64decode("".join(text.split()), validate=True)
    except (binascii.Error, ValueError) as error:
        raise UnfitError("this value is not base64", "illegal base64 data at input byte 0") from error


def _time(text: str) -> datetime:
    try:
        return parse_time(text)
    except ValueError as error:
        server = f'parsing time "{text}" as "2006-01-02T15:04:05Z07:00"'
        raise UnfitError('"{value}" is not a time such as 2026-01-31T12:00:00Z', server) from error
