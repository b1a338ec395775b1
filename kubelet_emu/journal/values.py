"""attrs values as JSON and back, without loss.

Serves every type that a record may hold: API types, observed state, the runtime's words. Fields carry the API's
spelling (`startedAt`), times keep their microseconds, and a field that equals its default is left out. Unknown keys
are ignored when reading, so that a log of a newer schema can still be read. API timestamps in manifests are whole
seconds; that is not this module's business.
"""

from __future__ import annotations

import builtins
import enum
import re
import types
import typing
from collections.abc import Hashable, Mapping
from datetime import UTC, datetime
from functools import cache
from importlib import import_module
from typing import TypeVar, cast

import attrs

from kubelet_emu.api.kinds import MODULE_OF_TYPE, api_type, json_name
from kubelet_emu.journal.deferred import Deferred

T = TypeVar("T")

_MODULES = ("runtime.api", "kubelet_emu.rules.observed", "kubelet_emu.journal.records", "kubelet_emu.api.quantity")
_STANDARD: Mapping[str, object] = {"datetime": datetime, "Mapping": Mapping, "ClassVar": typing.ClassVar}
_PLAIN = frozenset({str, int, float, bool, types.NoneType})
"""JSON has these as they are, which most values of a record are."""


def encode(value: object) -> object:
    """Return a value as what `json.dumps` takes; TypeError for a type that no record may hold."""
    if type(value) in _PLAIN:
        return value
    match value:
        case enum.Enum():
            return value.value
        case None | bool() | int() | float() | str():
            return value
        case datetime():
            return value.astimezone(UTC).isoformat().replace("+00:00", "Z")
        case Deferred():
            return encode(value.make())
        case Mapping():
            return {str(key): encode(item) for key, item in value.items()}
        case tuple() | list():
            return [encode(item) for item in value]
    if attrs.has(type(value)):
        return encode_fields(value)
    raise TypeError(f"a record can't hold {type(value).__name__}")


def encode_fields(value: object, without: frozenset[str] = frozenset()) -> dict[str, object]:
    """Return an attrs value as a mapping of API names to JSON values, defaults and some fields left out."""
    result: dict[str, object] = {}
    for name, key, default in _encode_plan(cast("Hashable", type(value))):
        item = getattr(value, name)
        if item != default and name not in without:
            result[key] = encode(item)
    return result


@cache
def _encode_plan(cls: Hashable) -> tuple[tuple[str, str, object], ...]:
    return tuple((a.name, json_name(a), _default(a.default)) for a in _fields(cls))


def _fields(cls: Hashable) -> tuple[attrs.Attribute[object], ...]:
    return tuple(attrs.fields(cast("type[attrs.AttrsInstance]", cls)))


def _default(default: object) -> object:
    """Return a default; a factory, which attrs keeps as an object with the callable, is called."""
    factory = getattr(default, "factory", None)
    return default if factory is None else factory()


def decode(cls: type[T], data: object) -> T:
    """Return the value of type `cls` that `encode_fields` turned into `data`.

    ValueError names the field when it is missing or has another type.
    """
    if not isinstance(data, Mapping):
        raise ValueError(f"expected an object for {cls.__name__}, got {data!r}")  # noqa: TRY004 - bad input, not a bug
    values: dict[str, object] = {}
    for name, key, hint, is_required in wire_fields(cast("Hashable", cls)):
        if key in data:
            try:
                values[name] = _convert(hint, data[key])
            except ValueError as error:
                raise ValueError(f"{key}: {error}") from error
        elif is_required:
            raise ValueError(f"{key} is missing")
    return cls(**values)


@cache
def wire_fields(cls: Hashable) -> tuple[tuple[str, str, object, bool], ...]:
    """Return name, key, type and whether it is required of each field of an attrs class that a record may hold."""
    fields = _fields(cls)
    words = {w for text in cast("type", cls).__annotations__.values() for w in re.findall(r"[A-Za-z_]\w*", str(text))}
    hints = typing.get_type_hints(cls, localns={word: _lookup(word, cast("type", cls)) for word in words})
    return tuple((a.name, json_name(a), hints[a.name], a.default is attrs.NOTHING) for a in fields)


def _lookup(name: str, cls: type) -> object:
    """Return what a name in an annotation of `cls` means, wherever its module imports it from.

    The API and the runtime both have a ContainerStatus; each means its own.
    """
    if name in _STANDARD:
        return _STANDARD[name]
    if hasattr(builtins, name):
        return getattr(builtins, name)
    if name in MODULE_OF_TYPE and cls.__module__.startswith("kubelet_emu.api."):
        return api_type(name)
    for module in _MODULES:
        if hasattr(found := import_module(module), name):
            return getattr(found, name)
    return api_type(name) if name in MODULE_OF_TYPE else None


def _convert(hint: object, data: object) -> object:
    """Return `data` as the type `hint` says."""
    hint = getattr(hint, "__supertype__", hint)
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if origin in {typing.Union, types.UnionType}:
        return _convert_union(arguments, data)
    if origin is tuple:
        if not isinstance(data, list):
            raise ValueError(f"expected a list, got {data!r}")
        return tuple(_convert(arguments[0], item) for item in data)
    if origin is Mapping:
        if not isinstance(data, Mapping):
            raise ValueError(f"expected an object, got {data!r}")
        return {str(key): _convert(arguments[1], item) for key, item in data.items()}
    return _convert_plain(cast("type", hint), data)


def _convert_union(arguments: tuple[object, ...], data: object) -> object:
    if data is None and types.NoneType in arguments:
        return None
    rest = [a for a in arguments if a is not types.NoneType]
    return _convert(rest[0], data) if len(rest) == 1 else data


def _convert_plain(hint: type, data: object) -> object:
    if hint is object:
        return data
    if hint is datetime:
        return datetime.fromisoformat(str(data))
    if issubclass(hint, enum.Enum):
        return hint(data)
    if attrs.has(hint):
        return decode(hint, data)
    accepted = (int, float) if hint is float else hint
    if not isinstance(data, accepted) or (isinstance(data, bool) and hint is not bool):
        raise ValueError(f"expected {hint.__name__}, got {data!r}")
    return data
