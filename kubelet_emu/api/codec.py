"""API objects to and from plain mappings (the API's JSON form), without YAML.

The store, the journal and patches need it; manifests have their own reader, which knows lines and columns.
Invariant: `decode_mapping(type(obj), encode(obj)) == obj`, whole seconds of times aside.
"""

from __future__ import annotations

import base64
import binascii
from datetime import UTC, datetime
from typing import TYPE_CHECKING, TypeVar, cast

from kubelet_emu.api.kinds import api_type
from kubelet_emu.api.schema import FieldShape, Many, Scalar, fields_of

if TYPE_CHECKING:
    from collections.abc import Mapping

T = TypeVar("T")


class DecodeError(ValueError):
    """A mapping doesn't have the shape of its API type."""


def format_time(moment: datetime) -> str:
    """Write a time as the API does: RFC 3339, UTC, whole seconds; one without a zone is UTC."""
    aware = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return aware.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def parse_time(text: str) -> datetime:
    """Read an RFC 3339 time with a zone; ValueError for anything else."""
    if len(text) < len("2026-01-01T00:00:00Z") or text[10] != "T":
        message = f"{text!r} is not an RFC 3339 time"
        raise ValueError(message)
    moment = datetime.fromisoformat(text)
    if moment.tzinfo is None:
        message = f"{text!r} has no time zone"
        raise ValueError(message)
    return moment.astimezone(UTC)


def encode(obj: object) -> dict[str, object]:
    """Return the API's JSON form of an API object.

    None and empty lists and maps are left out; an object that is present but empty stays (`emptyDir: {}`).
    Source: the `omitempty` tags of the v1.36 API types.
    """
    result: dict[str, object] = {}
    for shape in fields_of(type(obj)).values():
        value = getattr(obj, shape.attribute)
        if value is None or (shape.many is not Many.ONE and not value and not shape.is_optional):
            continue
        result[shape.json] = _encode_field(shape, value)
    return result


def _encode_field(shape: FieldShape, value: object) -> object:
    match shape.many:
        case Many.ONE:
            return _encode_item(shape.item, value)
        case Many.LIST:
            return [_encode_item(shape.item, each) for each in cast("tuple[object, ...]", value)]
        case Many.MAP:
            return {key: _encode_item(shape.item, each) for key, each in cast("Mapping[str, object]", value).items()}


def _encode_item(item: Scalar | str, value: object) -> object:
    if isinstance(item, str):
        return encode(value)
    if isinstance(value, datetime):
        return format_time(value)
    if isinstance(value, bytes):
        return base64.b64encode(value).decode("ascii")
    return value


def decode_mapping(
    api_class: type[T], mapping: Mapping[str, object], path: str = "", *, ignore_unknown: bool = False
) -> T:
    """Build an API object from its JSON form; DecodeError names the path of the first fault.

    With `ignore_unknown` fields that the types don't have are left out, as in objects of another server.
    """
    shapes = fields_of(api_class)
    arguments: dict[str, object] = {}
    for key, value in mapping.items():
        where = f"{path}.{key}" if path else key
        shape = shapes.get(key)
        if shape is None and ignore_unknown:
            continue
        if shape is None:
            message = f'unknown field "{where}"'
            raise DecodeError(message)
        if value is not None:
            arguments[shape.attribute] = _decode_field(shape, value, where, ignore_unknown=ignore_unknown)
    return api_class(**arguments)


def _decode_field(shape: FieldShape, value: object, path: str, *, ignore_unknown: bool) -> object:
    match shape.many:
        case Many.ONE:
            return _decode_item(shape.item, value, path, ignore_unknown=ignore_unknown)
        case Many.LIST:
            if not isinstance(value, list | tuple):
                raise _wrong(path, value, "a list")
            return tuple(
                _decode_item(shape.item, each, f"{path}[{index}]", ignore_unknown=ignore_unknown)
                for index, each in enumerate(value)
            )
        case Many.MAP:
            if not isinstance(value, dict):
                raise _wrong(path, value, "a mapping")
            return {
                key: _decode_item(shape.item, each, f"{path}[{key}]", ignore_unknown=ignore_unknown)
                for key, each in value.items()
            }


def _decode_item(item: Scalar | str, value: object, path: str, *, ignore_unknown: bool) -> object:
    if isinstance(item, str):
        if not isinstance(value, dict):
            raise _wrong(path, value, f"a {item}")
        return decode_mapping(api_type(item), value, path, ignore_unknown=ignore_unknown)
    return _decode_scalar(item, value, path)


def _decode_scalar(item: Scalar, value: object, path: str) -> object:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    match item:
        case Scalar.ANY:
            return value
        case Scalar.STRING if isinstance(value, str):
            return value
        case Scalar.BOOL if isinstance(value, bool):
            return value
        case Scalar.INT | Scalar.LONG if is_number and float(cast("float", value)).is_integer():
            return int(cast("float", value))
        case Scalar.FLOAT if is_number:
            return float(cast("float", value))
        case Scalar.QUANTITY if is_number or isinstance(value, str):
            return str(value)
        case Scalar.INT_OR_STRING if isinstance(value, int | str) and not isinstance(value, bool):
            return value
        case Scalar.BYTES if isinstance(value, str):
            return _decode_bytes(value, path)
        case Scalar.TIME if isinstance(value, str):
            return _decode_time(value, path)
        case _:
            raise _wrong(path, value, item.value)


def _decode_bytes(value: str, path: str) -> bytes:
    try:
        return base64.b64decode(value, validate=True)
    except (binascii.Error, ValueError) as error:
        raise _wrong(path, value, "base64") from error


def _decode_time(value: str, path: str) -> datetime:
    try:
        return parse_time(value)
    except ValueError as error:
        raise _wrong(path, value, "an RFC 3339 time") from error


def _wrong(path: str, value: object, wanted: str) -> DecodeError:
    return DecodeError(f"{path}: {value!r} is not {wanted}")
