"""A changed copy of a value whose class only the caller knows."""

from __future__ import annotations

from typing import TypeVar

from attrs import evolve

T = TypeVar("T")


def changed(value: T, **fields: object) -> T:
    """Return a copy of an attrs value with some fields changed."""
    return evolve(value, **fields)  # type: ignore[misc]
