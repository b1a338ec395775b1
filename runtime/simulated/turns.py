"""Who goes first at one virtual instant, when nobody outside decides it."""

from __future__ import annotations

import heapq
import math
from typing import TYPE_CHECKING, Protocol

import trio
import trio.testing
from attrs import define, field

if TYPE_CHECKING:

    class Turn(Protocol):
        """Orders what happens at one instant."""

        async def __call__(self, key: str, at: float = -math.inf, /) -> None:
            """Wait until `at` (Trio time), then until it is the turn of a key at that instant."""


@define(eq=False)
class Referee:
    """Releases waiters one at a time, in the order of their keys, each after everything else has come to rest.

    The runtime's own, for use without a kubelet. With one, the kubelet's referee orders programs and workers together.
    """

    _waiting: list[tuple[str, int, trio.Event]] = field(factory=list, init=False)
    _tickets: int = field(default=0, init=False)
    _arrived: trio.Event = field(factory=trio.Event, init=False)

    async def turn(self, key: str, at: float = -math.inf, /) -> None:
        """Wait until `at`, then for this caller's turn. Cancellation leaves the queue unharmed."""
        if at > trio.current_time():
            await trio.sleep_until(at)
        released = trio.Event()
        self._tickets += 1
        heapq.heappush(self._waiting, (key, self._tickets, released))
        self._arrived.set()
        await released.wait()

    async def run(self) -> None:
        """Release waiters until cancelled."""
        while True:
            await self._arrived.wait()
            while self._waiting:
                await trio.testing.wait_all_tasks_blocked()
                heapq.heappop(self._waiting)[2].set()
            self._arrived = trio.Event()
