"""Signals that end a program whose containers are on an engine: it leaves nothing behind first."""

from __future__ import annotations

import signal
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import trio

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@asynccontextmanager
async def ended_by_signals() -> AsyncIterator[None]:
    """Cancel the body at SIGINT, SIGTERM or SIGHUP, and raise KeyboardInterrupt once it has cleaned up.

    It comes in a group. To be used in the main thread only.
    """
    async with trio.open_nursery() as nursery:
        await nursery.start(_watch_signals)
        yield
        nursery.cancel_scope.cancel()


async def _watch_signals(*, task_status: trio.TaskStatus[None]) -> None:
    with trio.open_signal_receiver(*SIGNALS) as received:
        task_status.started()
        async for _ in received:
            raise KeyboardInterrupt
