"""What each field of an API type holds, read from the attrs classes once and kept.

The annotations are text (`tuple[EnvVar, ...]`, `Mapping[str, Quantity]`, `int | None`); a small grammar reads them,
so that no module is imported before a document needs its types.
"""

from __future__ import annotations

from enum import Enum
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from attrs import fields

from kubelet_emu.api.kinds import json_name

if TYPE_CHECKING:
    from collections.abc import Mapping


class Scalar(Enum):
    """A value that is no API type of its own; the value is Go's word for it."""

    STRING = "string"
    INT = "int32"
    LONG = "int64"
    BOOL = "bool"
    FLOAT = "float64"
    QUANTITY = "resource.Quantity"
    INT_OR_STRING = "intstr.IntOrString"
    BYTES = "[]uint8"
    TIME = "v1.Time"
    ANY = "object"


class Many(Enum):
    """How many values a field holds."""

    ONE = "one"
    LIST = "list"
    MAP = "map"


class FieldShape(NamedTuple):
    """One field: its two names, what it holds (a scalar or the name of an API type), how many, may it be None."""

    attribute: str
    json: str
    item: Scalar | str
    many: Many
    is_optional: bool


_SCALARS = {
    "str": Scalar.STRING,
    "int": Scalar.INT,
    "bool": Scalar.BOOL,
    "float": Scalar.FLOAT,
    "Quantity": Scalar.QUANTITY,
    "IntOrString": Scalar.INT_OR_STRING,
    "bytes": Scalar.BYTES,
    "datetime": Scalar.TIME,
    "object": Scalar.ANY,
}

# Every other whole number of these types is an int32.
_LONG_FIELDS = frozenset(
    {
        "active_deadline_seconds",
        "deletion_grace_period_seconds",
        "expiration_seconds",
        "fs_group",
        "generation",
        "gid",
        "observed_generation",
        "run_as_group",
        "run_as_user",
        "seconds",
        "starting_deadline_seconds",
        "supplemental_groups",
        "termination_grace_period_seconds",
        "toleration_seconds",
        "uid",
    }
)

_LIST, _MAP = ("tuple[", ", ...]"), ("Mapping[str, ", "]")


def _shape(attribute: str, annotation: str, spelling: str) -> FieldShape:
    name, many = annotation.removesuffix(" | None"), Many.ONE
    is_optional = name != annotation
    if name.startswith(_LIST[0]) and name.endswith(_LIST[1]):
        name, many = name[len(_LIST[0]) : -len(_LIST[1])], Many.LIST
    elif name.startswith(_MAP[0]) and name.endswith(_MAP[1]):
        name, many = name[len(_MAP[0]) : -len(_MAP[1])], Many.MAP
    if not name.isidentifier():
        message = f"field {attribute!r} has an annotation that is not read: {annotation!r}"
        raise TypeError(message)
    item: Scalar | str = _SCALARS.get(name, name)
    if item is Scalar.INT and attribute in _LONG_FIELDS:
        item = Scalar.LONG
    return FieldShape(attribute, spelling, item, many, is_optional)


def fields_of(api_class: type) -> Mapping[str, FieldShape]:
    """Return the fields of an API class by the API's spelling; TypeError for an annotation that isn't read."""
    return _read_fields(api_class)


@cache
def _read_fields(api_class: type) -> Mapping[str, FieldShape]:
    shapes = (_shape(each.name, str(each.type), json_name(each)) for each in fields(api_class))
    return {shape.json: shape for shape in shapes}
