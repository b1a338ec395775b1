"""The one clock of the actors, and the order of what happens at one instant.

`Timebase.now` is wall time: an epoch plus Trio's time since the start, so that a virtual clock and a fixed epoch make
every timestamp
reproducible. `turn` is called before an actor reads shared state because time came: on a real clock it is a
checkpoint; in
simulation a referee lets everything that happens now happen first, then releases one waiter after another by (lane,
key, number).
"""

from __future__ import annotations

import enum
import heapq
from datetime import UTC, datetime, timedelta

import trio
import trio.testing
from attrs import define, field


class Lane(enum.IntEnum):
    """Who goes first at one instant."""

    PROGRAM = -1
    RELIST = 0
    PROBE = 1
    WORKER = 2
    CONTROLLER = 3


@define(eq=False)
class Timebase:
    """Wall time from Trio time, and turns."""

    epoch: datetime
    is_virtual: bool = False
    is_machine: bool = False
    _started_at: float | None = field(default=None, init=False)
    _waiting: list[tuple[int, str, int, trio.Event]] = field(factory=list, init=False)
    _tickets: int = field(default=0, init=False)
    _arrived: trio.Event = field(factory=trio.Event, init=False)

    @classmethod
    def real(cls) -> Timebase:
        """Return the timebase of the machine's clock; its epoch is the first use inside Trio."""
        return cls(epoch=_machine_time(), is_machine=True)

    def seconds(self) -> float:
        """Return the Trio time since the first use, in seconds."""
        now = trio.current_time()
        if self._started_at is None:
            self._started_at = now
            if self.is_machine:
                self.epoch = _machine_time()
        return now - self._started_at

    def now(self) -> datetime:
        """Return the wall time, aware UTC."""
        return self.epoch + timedelta(seconds=self.seconds())

    def trio_time(self, seconds: float) -> float:
        """Return a time of this timebase as Trio time, for deadlines that are never computed anew."""
        if self._started_at is None:
            self.seconds()
        return (self._started_at or 0.0) + seconds

    def seconds_of(self, at: datetime) -> float:
        """Return a wall time as seconds since the epoch of this run."""
        return (at - self.epoch).total_seconds()

    async def turn(self, lane: Lane, key: str) -> None:
        """Wait until it is this caller's turn at the present instant. Cancellation leaves the queue unharmed."""
        if not self.is_virtual:
            await trio.lowlevel.checkpoint()
            return
        released = trio.Event()
        self._tickets += 1
        heapq.heappush(self._waiting, (lane, key, self._tickets, released))
        self._arrived.set()
        await released.wait()

    async def referee(self) -> None:
        """Release waiters one at a time, each after everything else has come to rest; runs until cancelled."""
        while True:
            await self._arrived.wait()
            while self._waiting:
                await trio.testing.wait_all_tasks_blocked()
                heapq.heappop(self._waiting)[3].set()
            self._arrived = trio.Event()


def _machine_time() -> datetime:
    return datetime.now(UTC)  # noqa: TID251 - the one place that reads the machine's clock
