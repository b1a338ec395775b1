"""Who hears of a change: subscribers called at once, and watches that read at their own pace.

Every change is one `WatchEvent`; each reader gets every event in order. A callback may change the store: its events
come after the one that it is being told of.
"""

from __future__ import annotations

import enum
import math
from collections import deque
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import trio
from attrs import define, field, frozen

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterable

    from kubelet_emu.apiserver.objects import APIObject


class WatchEventType(enum.Enum):
    """What happened to an object."""

    ADDED = "ADDED"
    MODIFIED = "MODIFIED"
    DELETED = "DELETED"


@frozen
class WatchEvent:
    """One change; `object` is the state after it (for DELETED the last one)."""

    type: WatchEventType
    object: APIObject


@define(eq=False)
class Broadcaster:
    """Hands each event to all who listen."""

    _callbacks: list[Callable[[WatchEvent], None]] = field(factory=list, init=False)
    _channels: list[tuple[str, trio.MemorySendChannel[WatchEvent]]] = field(factory=list, init=False)
    _pending: deque[WatchEvent] = field(factory=deque, init=False)
    _is_publishing: bool = field(default=False, init=False)

    def publish(self, event: WatchEvent) -> None:
        """Tell everybody; an exception of a callback passes to whoever made the change."""
        self._pending.append(event)
        if self._is_publishing:
            return
        self._is_publishing = True
        try:
            while self._pending:
                self._deliver(self._pending.popleft())
        finally:
            self._is_publishing = False

    def subscribe(self, callback: Callable[[WatchEvent], None]) -> Callable[[], None]:
        """Have `callback` called with each event of any kind; the returned function ends that."""
        self._callbacks.append(callback)
        return lambda: self._callbacks.remove(callback)

    @asynccontextmanager
    async def open(
        self, kind: str, existing: Callable[[], Iterable[APIObject]]
    ) -> AsyncIterator[AsyncIterator[WatchEvent]]:
        """Yield the events of one kind, first an ADDED for each object that exists on entering the block.

        Leaving it ends the watch. What the reader has taken is kept no longer: a watch may last for days.
        """
        send, receive = trio.open_memory_channel[WatchEvent](math.inf)
        _send_added(send, existing())
        entry = (kind, send)
        self._channels.append(entry)
        try:
            yield receive
        finally:
            self._channels.remove(entry)
            send.close()
            receive.close()

    def _deliver(self, event: WatchEvent) -> None:
        """Tell callbacks in the order they came, then the watches of this kind."""
        for callback in tuple(self._callbacks):
            callback(event)
        for kind, channel in self._channels:
            if kind == event.object.kind:
                channel.send_nowait(event)


def _send_added(send: trio.MemorySendChannel[WatchEvent], objects: Iterable[APIObject]) -> None:
    """Send what exists; a function of its own, so that no variable of the watch goes on having it."""
    for obj in objects:
        send.send_nowait(WatchEvent(WatchEventType.ADDED, obj))
