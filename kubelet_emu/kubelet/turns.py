"""Who goes first at one instant of virtual time, and who waits for which time.

Everybody who waits has a `Ticket`. The referee lets everything that happens at an instant happen, then releases the
first ticket by (lane, key, number), lets everything that follows from it happen, releases the next one, and so on. It
keeps those who wait for a time, too, so that there is one deadline instead of one for each. Who finds that there is
nothing to do yet puts the ticket off: that wakes no task.
"""

from __future__ import annotations

import heapq
import math
from typing import TYPE_CHECKING

import outcome
import trio
import trio.testing
from attrs import define, field

if TYPE_CHECKING:
    from collections.abc import Callable

    PutOff = Callable[[], float | None]
    """Return a later time when there is nothing to do yet, None when there is; called when a turn has come."""

_NOT_PUT_OFF = outcome.Value[float | None](None)


@define(eq=False)
class Ticket:
    """A place in the queue and when its time comes; `task` is None once its owner has given up."""

    lane: int
    key: str
    number: int
    at: float
    task: trio.lowlevel.Task | None
    put_off: PutOff | None = None
    is_hastened: bool = False


@define(eq=False)
class Referee:
    """Releases tickets one at a time: when nobody can run, a `VirtualClock` asks it to, or its own task does."""

    _later: list[tuple[float, int, Ticket]] = field(factory=list, init=False)
    _waiting: list[tuple[int, str, int, Ticket]] = field(factory=list, init=False)
    _tickets: int = field(default=0, init=False)
    _arrived: trio.Event | None = field(default=None, init=False)
    _alarm: trio.CancelScope | None = field(default=None, init=False)

    def take(self, lane: int, key: str, at: float, put_off: PutOff | None = None) -> Ticket:
        """Queue the running task and return its ticket, for `wait`."""
        self._tickets += 1
        ticket = Ticket(lane, key, self._tickets, at, trio.lowlevel.current_task(), put_off)
        if at > -math.inf and at > trio.current_time():
            self._keep_for_later(ticket)
        else:
            self._let_in(ticket)
        return ticket

    def hasten(self, ticket: Ticket) -> None:
        """Let a ticket's time come now, unless it has; it is not put off any more."""
        ticket.put_off = None
        now = trio.current_time()
        if ticket.at > now:
            ticket.at, ticket.is_hastened = now, True
            self._let_in(ticket)
            self._set_alarm()

    def _keep_for_later(self, ticket: Ticket) -> None:
        heapq.heappush(self._later, (ticket.at, ticket.number, ticket))
        self._set_alarm()

    def _let_in(self, ticket: Ticket) -> None:
        heapq.heappush(self._waiting, (ticket.lane, ticket.key, ticket.number, ticket))
        if self._arrived is not None:
            self._arrived.set()

    async def wait(self, ticket: Ticket) -> None:
        """Wait until the running task's ticket is released. Cancellation leaves the queue unharmed."""

        def give_up(_: object) -> trio.lowlevel.Abort:
            ticket.task = None
            self._set_alarm()
            return trio.lowlevel.Abort.SUCCEEDED

        await trio.lowlevel.wait_task_rescheduled(give_up)

    def release_first(self, now: float) -> bool:
        """Release the first of the tickets whose time has come and tell whether there was one.

        Must be called when no task can run. A ticket that was given up or is put off is none; an error of who is asked
        for it is raised in the task that waits.
        """
        self._let_in_due(now)
        while self._waiting:
            ticket = heapq.heappop(self._waiting)[-1]
            if ticket.task is None:
                continue
            asked = outcome.capture(ticket.put_off) if ticket.put_off is not None else _NOT_PUT_OFF
            if isinstance(asked, outcome.Error):
                trio.lowlevel.reschedule(ticket.task, asked)
                return True
            if asked.value is None:
                trio.lowlevel.reschedule(ticket.task)
                return True
            ticket.at = asked.value
            self._keep_for_later(ticket)
        return False

    def _let_in_due(self, now: float) -> None:
        while self.next_at() <= now:
            self._let_in(heapq.heappop(self._later)[-1])

    def next_at(self) -> float:
        """Return the first time that somebody waits for, math.inf when there is none."""
        while self._later and not _stands(self._later[0][-1], self._later[0][0]):
            heapq.heappop(self._later)
        return self._later[0][0] if self._later else math.inf

    async def run(self) -> None:
        """Release tickets, each after everything else has come to rest; runs until cancelled."""
        while True:
            self._let_in_due(trio.current_time())
            with trio.CancelScope(deadline=self.next_at()) as self._alarm:
                await self._release_all()

    async def _release_all(self) -> None:
        """Release whoever waits, until the alarm goes off."""
        while True:
            self._arrived = trio.Event()
            await trio.testing.wait_all_tasks_blocked()
            if not self.release_first(trio.current_time()):
                await self._arrived.wait()

    def _set_alarm(self) -> None:
        """Have `run` go on when the first of those who wait for a time is due."""
        if self._alarm is not None and (due := self.next_at()) != self._alarm.deadline:
            self._alarm.deadline = due


def _stands(ticket: Ticket, at: float) -> bool:
    """Tell whether a ticket still waits for a time: not given up, not let in before it."""
    return ticket.task is not None and ticket.at == at
