"""A part of a record that is made only when somebody writes it down.

What it is made from must not change any more, for nobody knows when that is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from attrs import frozen

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


@frozen
class Deferred:
    """Plain data that `make` returns."""

    make: Callable[[], Mapping[str, object]]
