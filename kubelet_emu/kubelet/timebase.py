"""The one clock of the actors, and the order of what happens at one instant.

`Timebase.now` is wall time: an epoch plus Trio's time since the start, so that a virtual clock and a fixed epoch make
every timestamp reproducible. On a machine it follows the steps of the machine's clock, in which the engine tells its
times, also after a suspend; waits go on by Trio's clock, which never steps. `turn` is called before an actor reads
shared state because time came: on a real clock it is a checkpoint; in simulation a referee lets everything that happens
now happen first, then releases one waiter after another by (lane, key, number).
"""

from __future__ import annotations

import enum
import math
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import trio
from attrs import define, field

from kubelet_emu.kubelet.turns import Referee, Ticket
from kubelet_emu.kubelet.virtual_clock import VirtualClock

if TYPE_CHECKING:
    from collections.abc import Callable

    from kubelet_emu.kubelet.turns import PutOff

STEP = timedelta(seconds=1)
"""Less than this is no step: two readings are never of one moment, and a clock that is slewed gets there slowly."""


class Lane(enum.IntEnum):
    """Who goes first at one instant."""

    PROGRAM = -1
    RELIST = 0
    PROBE = 1
    WORKER = 2
    CONTROLLER = 3


@define(eq=False)
class Timebase:
    """Wall time from Trio time, and turns. `wall` is the clock whose steps it follows; its first use is the epoch."""

    epoch: datetime
    is_virtual: bool = False
    wall: Callable[[], datetime] | None = None
    _ahead: timedelta = field(factory=timedelta, init=False)
    _started_at: float | None = field(default=None, init=False)
    _told_at: float = field(default=math.nan, init=False)
    _told: datetime = field(init=False)
    _referee: Referee = field(factory=Referee, init=False)

    @classmethod
    def real(cls) -> Timebase:
        """Return the timebase of the machine's clock; its epoch is the first use inside Trio."""
        return cls(epoch=_machine_time(), wall=_machine_time)

    def seconds(self) -> float:
        """Return the Trio time since the first use, in seconds."""
        now = trio.current_time()
        if self._started_at is None:
            self._started_at = now
            if self.wall is not None:
                self.epoch = self.wall()
        return now - self._started_at

    def now(self) -> datetime:
        """Return the wall time, aware UTC."""
        seconds = self.seconds()
        if self.wall is not None:
            return self._follow(self.wall(), self.epoch + timedelta(seconds=seconds))
        if seconds != self._told_at:
            self._told_at, self._told = seconds, self.epoch + timedelta(seconds=seconds)
        return self._told

    def _follow(self, wall: datetime, steady: datetime) -> datetime:
        """Return the steady time, moved by what the clock has stepped since the start."""
        if abs(wall - steady - self._ahead) >= STEP:
            self._ahead = wall - steady
        return steady + self._ahead

    def trio_time(self, seconds: float) -> float:
        """Return a time of this timebase as Trio time, for deadlines that are never computed anew."""
        if self._started_at is None:
            self.seconds()
        return (self._started_at or 0.0) + seconds

    def seconds_of(self, at: datetime) -> float:
        """Return when it is a wall time, in seconds since the first use, if the clock steps no more."""
        return (at - self.epoch - self._ahead).total_seconds()

    async def turn(self, lane: Lane, key: str, at: float = -math.inf) -> None:
        """Wait until `at` (Trio time), then until it is this caller's turn at that instant.

        Cancellation leaves the queue unharmed.
        """
        if self.is_virtual:
            await self._referee.wait(self._referee.take(lane, key, at))
        elif at > trio.current_time():
            await trio.sleep_until(at)
        else:
            await trio.lowlevel.checkpoint()

    def appointment(self, lane: Lane, key: str) -> Appointment:
        """Return what one actor waits with that may be told to go on before its time."""
        return Appointment(self._referee if self.is_virtual else None, lane, key)

    async def referee(self) -> None:
        """Release waiters one at a time, each after everything else has come to rest; runs until cancelled."""
        clock = trio.lowlevel.current_clock()
        if isinstance(clock, VirtualClock):
            with clock.serving(self._referee):
                await trio.sleep_forever()
        await self._referee.run()


@define(eq=False)
class Appointment:
    """One actor's waits for a time, of which each may be ended early; without a referee on a real clock."""

    referee: Referee | None
    lane: Lane
    key: str
    _ticket: Ticket | None = field(default=None, init=False)
    _woken: trio.Event = field(factory=trio.Event, init=False)
    _is_hastened: bool = field(default=False, init=False)

    async def keep(self, at: float, put_off: PutOff | None = None) -> bool:
        """Wait until `at` (Trio time) or `hasten`, then for the actor's turn; tell whether it was hastened.

        When the turn has come `put_off` may give a later time to wait for. Cancellation leaves the queue unharmed.
        """
        if self.referee is None:
            was_hastened = await self._wait(at, put_off)
        else:
            was_hastened = await self._take_turn(self.referee, at, put_off)
        if was_hastened:
            self._is_hastened = False
        return was_hastened

    async def _take_turn(self, referee: Referee, at: float, put_off: PutOff | None) -> bool:
        """Wait in virtual time."""
        if self._is_hastened:
            ticket = referee.take(self.lane, self.key, -math.inf)
            ticket.is_hastened = True
        else:
            ticket = self._ticket = referee.take(self.lane, self.key, at, put_off)
        await referee.wait(ticket)
        self._ticket = None
        return ticket.is_hastened

    async def _wait(self, at: float, put_off: PutOff | None) -> bool:
        """Wait on a real clock."""
        self._woken = trio.Event()
        if self._is_hastened:
            self._woken.set()
        while True:
            with trio.move_on_at(at):
                await self._woken.wait()
            later = put_off() if put_off is not None and not self._is_hastened else None
            if later is None:
                return self._is_hastened
            at = later

    def hasten(self) -> None:
        """End the wait, or the next one when its time has come already."""
        self._is_hastened = True
        self._woken.set()
        if self.referee is not None and self._ticket is not None:
            self.referee.hasten(self._ticket)

    def catch_up(self) -> None:
        """Let what hastened it until now count as seen."""
        self._is_hastened = False


def _machine_time() -> datetime:
    return datetime.now(UTC)  # noqa: TID251 - the one place that reads the machine's clock
