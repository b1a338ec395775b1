"""Who goes first at one instant of virtual time, and who waits for which time.

Everybody who waits has a `Ticket`. The referee lets everything that happens at an instant happen, then releases the
first ticket by (lane, key, number), lets everything that follows from it happen, releases the next one, and so on. It
keeps those who wait for a time, too, so that there is one deadline instead of one for each.
"""

from __future__ import annotations

import heapq
import math

import trio
import trio.testing
from attrs import define, field


@define(eq=False)
class Ticket:
    """A place in the queue and when its time comes; `task` is None once its owner has given up."""

    lane: int
    key: str
    number: int
    at: float
    task: trio.lowlevel.Task | None


@define(eq=False)
class Referee:
    """Releases tickets one at a time."""

    _later: list[tuple[float, int, Ticket]] = field(factory=list, init=False)
    _waiting: list[tuple[int, str, int, Ticket]] = field(factory=list, init=False)
    _tickets: int = field(default=0, init=False)
    _arrived: trio.Event = field(factory=trio.Event, init=False)
    _alarm: trio.CancelScope = field(factory=trio.CancelScope, init=False)

    def take(self, lane: int, key: str, at: float) -> Ticket:
        """Queue the running task and return its ticket, for `wait`."""
        self._tickets += 1
        ticket = Ticket(lane, key, self._tickets, at, trio.lowlevel.current_task())
        if at > trio.current_time():
            heapq.heappush(self._later, (at, ticket.number, ticket))
            self._set_alarm()
        else:
            self._let_in(ticket)
        return ticket

    def hasten(self, ticket: Ticket) -> None:
        """Let a ticket's time come now, unless it has."""
        if ticket.at > trio.current_time():
            ticket.at = trio.current_time()
            self._let_in(ticket)
            self._set_alarm()

    def _let_in(self, ticket: Ticket) -> None:
        heapq.heappush(self._waiting, (ticket.lane, ticket.key, ticket.number, ticket))
        self._arrived.set()

    async def wait(self, ticket: Ticket) -> None:
        """Wait until the running task's ticket is released. Cancellation leaves the queue unharmed."""

        def give_up(_: object) -> trio.lowlevel.Abort:
            ticket.task = None
            self._set_alarm()
            return trio.lowlevel.Abort.SUCCEEDED

        await trio.lowlevel.wait_task_rescheduled(give_up)

    async def run(self) -> None:
        """Release tickets, each after everything else has come to rest; runs until cancelled."""
        while True:
            self._let_in_due()
            with trio.CancelScope() as self._alarm:
                self._set_alarm()
                await self._release_all()

    async def _release_all(self) -> None:
        """Release whoever waits, until the alarm goes off."""
        while True:
            while self._waiting:
                await trio.testing.wait_all_tasks_blocked()
                task = heapq.heappop(self._waiting)[-1].task
                if task is not None:
                    trio.lowlevel.reschedule(task)
            self._arrived = trio.Event()
            await self._arrived.wait()

    def _let_in_due(self) -> None:
        now = trio.current_time()
        while self._later and self._later[0][0] <= now:
            at, _, ticket = heapq.heappop(self._later)
            if _stands(ticket, at):
                self._let_in(ticket)

    def _set_alarm(self) -> None:
        """Have `run` go on when the first of those who wait for a time is due."""
        while self._later and not _stands(self._later[0][-1], self._later[0][0]):
            heapq.heappop(self._later)
        due = self._later[0][0] if self._later else math.inf
        if due != self._alarm.deadline:
            self._alarm.deadline = due


def _stands(ticket: Ticket, at: float) -> bool:
    """Tell whether a ticket still waits for a time: not given up, not let in before it."""
    return ticket.task is not None and ticket.at == at
