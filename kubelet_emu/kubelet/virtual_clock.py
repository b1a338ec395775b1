"""The clock of a program in virtual time: nobody sleeps, time goes on when nobody can run.

Trio asks its clock how long to sleep when no task can run. This one never lets it sleep: it lets the next ticket of a
referee go on or, when nobody waits for a turn any more, moves time to what is due next. A program without I/O of its
own, as a simulated run is, needs no more; `trio.testing.MockClock` does the same for tests with a task of the referee.
"""

from __future__ import annotations

import math
from contextlib import contextmanager
from typing import TYPE_CHECKING

import trio
from attrs import define, field

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kubelet_emu.kubelet.turns import Referee


@define(eq=False)
class VirtualClock(trio.abc.Clock):
    """Virtual time from 0 on; use a new one for each `trio.run`."""

    _now: float = field(default=0.0, init=False)
    _referees: list[Referee] = field(factory=list, init=False)

    @contextmanager
    def serving(self, referee: Referee) -> Iterator[None]:
        """Let a referee's tickets go on while the block runs."""
        self._referees.append(referee)
        try:
            yield
        finally:
            self._referees.remove(referee)

    def start_clock(self) -> None:
        """Begin."""

    def current_time(self) -> float:
        """Return the virtual time in seconds."""
        return self._now

    def deadline_to_sleep_time(self, deadline: float) -> float:
        """Have something happen and return 0; math.inf, as all wait for what is outside of the program.

        Called by Trio's loop when no task can run; `deadline` is the first that a task waits for.
        """
        while deadline > self._now:
            if any(referee.release_first(self._now) for referee in self._referees):
                return 0.0
            due = min((deadline, *(referee.next_at() for referee in self._referees)))
            if due == math.inf:
                return due
            self._now = due
        return 0.0
