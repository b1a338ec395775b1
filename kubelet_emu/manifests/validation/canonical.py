"""Quantities as a server stores them, so that `1000m` and `1` are the same."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from attrs import evolve, has

from kubelet_emu.api.quantity import canonical_quantity
from kubelet_emu.api.schema import Many, Scalar, fields_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from attrs import AttrsInstance

T = TypeVar("T", bound="AttrsInstance")


def canonical(obj: T) -> T:
    """Return an API object with each quantity in its canonical form (resource.Quantity)."""
    changes: dict[str, object] = {}
    for shape in fields_of(type(obj)).values():
        value = getattr(obj, shape.attribute)
        kept = _quantities(value, shape.many) if shape.item is Scalar.QUANTITY else _nested(value)
        if kept is not value:
            changes[shape.attribute] = kept
    return evolve(obj, **changes) if changes else obj  # type: ignore[misc]


def _quantities(value: object, many: Many) -> object:
    if many is Many.MAP:
        amounts: Mapping[str, str] = value  # type: ignore[assignment]
        return {name: canonical_quantity(amount) for name, amount in amounts.items()}
    return canonical_quantity(value) if isinstance(value, str) else value


def _nested(value: object) -> object:
    if isinstance(value, tuple) and value and has(type(value[0])):
        return tuple(canonical(each) for each in value)
    return canonical(value) if has(type(value)) else value  # type: ignore[type-var]
