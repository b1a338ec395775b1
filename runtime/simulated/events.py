"""Runtime events: who subscribes, and what reaches them."""

from __future__ import annotations

import math
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import trio
from attrs import define, field

from runtime.api import RuntimeEvent

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable


@define(eq=False)
class EventHub:
    """Hands each event to every subscriber, unless `is_lost` says that it gets lost on the way."""

    is_lost: Callable[[RuntimeEvent], bool]
    changes: int = field(default=0, init=False)
    """How often something may have changed of which somebody is told, or nobody."""
    _subscribers: list[trio.MemorySendChannel[RuntimeEvent]] = field(factory=list, init=False)

    def publish(self, event: RuntimeEvent) -> None:
        """Hand out one event."""
        self.changes += 1
        if self.is_lost(event):
            return
        for subscriber in self._subscribers:
            subscriber.send_nowait(event)

    @asynccontextmanager
    async def subscribe(self) -> AsyncIterator[AsyncIterator[RuntimeEvent]]:
        """Open a stream of what happens from now on."""
        send, receive = trio.open_memory_channel[RuntimeEvent](math.inf)
        self._subscribers.append(send)
        try:
            await trio.lowlevel.checkpoint()
            yield receive
        finally:
            self._subscribers.remove(send)
            send.close()
            receive.close()
