"""A nursery for calls to the engine side by side."""

from __future__ import annotations

from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import trio

from runtime.api import CRIError

if TYPE_CHECKING:
    from collections.abc import AsyncIterator


@asynccontextmanager
async def calls_side_by_side() -> AsyncIterator[trio.Nursery]:
    """Open a nursery that raises the first CRIError of its tasks as it is: in a group nobody would look for it.

    Whatever else its tasks raise, also a cancellation, comes before that and stays a group.
    """
    try:
        async with trio.open_nursery() as nursery:
            yield nursery
    except BaseExceptionGroup as group:
        failed, others = group.split(CRIError)
        if failed is None:
            raise
        if others is not None:
            raise others from None
        raise _first(failed) from None


def _first(group: BaseExceptionGroup[CRIError]) -> CRIError:
    first = group.exceptions[0]
    return _first(first) if isinstance(first, BaseExceptionGroup) else first
