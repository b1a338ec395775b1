"""Pulls while they run: as they stand for a live view, a line now and then where there is none."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

import trio
from attrs import define, field

from kubelet_emu.cli.pull_lines import PullView, sentence, waiting
from kubelet_emu.images.outcome import PullState

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from kubelet_emu.images.outcome import PullUpdate

FIRST_LINE_SECONDS = 10.0
NEXT_LINE_SECONDS = 30.0
SPEED_SECONDS = 3.0
_GOING = (PullState.QUEUED, PullState.RUNNING)


@define(eq=False)
class _Pull:
    """One pull that hasn't ended, and its bytes of the last seconds."""

    update: PullUpdate
    told_at: float
    was_told: bool = False
    _samples: deque[tuple[float, int]] = field(factory=deque, init=False)

    def take(self, update: PullUpdate, now: float) -> None:
        """Note how far it has come."""
        if update.state is PullState.RUNNING and self.update.state is PullState.QUEUED:
            self.told_at = now
        if update.progress is not None or update.state is not self.update.state:
            self.update = update
        if update.progress is not None:
            self._samples.append((now, update.progress.done_bytes))

    def due_at(self) -> float:
        """Return when a line should tell of it."""
        return self.told_at + (NEXT_LINE_SECONDS if self.was_told else FIRST_LINE_SECONDS)

    def view(self, now: float, running: int = 0) -> PullView:
        """Return it as it stands."""
        while len(self._samples) > 1 and self._samples[1][0] <= now - SPEED_SECONDS:
            self._samples.popleft()
        update = self.update
        return PullView(
            who=f"{update.pod.metadata.name}/{update.container}",
            image=update.image,
            state=update.state,
            progress=update.progress,
            bytes_per_second=self._speed(now),
            limit=update.limit,
            running=running,
        )

    def _speed(self, now: float) -> float | None:
        if not self._samples or now <= self._samples[0][0]:
            return None
        began, first = self._samples[0]
        return max(0, self._samples[-1][1] - first) / (now - began)


@define(eq=False)
class PullWatch:
    """Takes updates of pulls; `tell` gets lines, None where a live view shows them. Times are those of Trio's clock."""

    tell: Callable[[str], None] | None
    _pulls: dict[tuple[str, str], _Pull] = field(factory=dict, init=False)
    _changed: trio.Event = field(factory=trio.Event, init=False)

    def __call__(self, update: PullUpdate) -> None:
        """Take an update."""
        now, key = trio.current_time(), (update.pod.metadata.uid or "", update.container)
        if update.state not in _GOING:
            self._pulls.pop(key, None)
        else:
            self._pulls.setdefault(key, _Pull(update, now)).take(update, now)
            if update.state is PullState.QUEUED and self.tell is not None:
                who = f"{update.pod.metadata.name}/{update.container}"
                self.tell(f"{who} wants {update.image}: {waiting(update.running, update.limit)}")
        self._changed.set()

    def views(self) -> Mapping[tuple[str, str], PullView]:
        """Return the pulls that have not ended, by the uid of the pod and the name of the container."""
        now = trio.current_time()
        running = sum(pull.update.state is PullState.RUNNING for pull in self._pulls.values())
        return {key: pull.view(now, running) for key, pull in self._pulls.items()}

    async def run(self) -> None:
        """Tell of what takes long, until cancelled."""
        while self.tell is not None:
            await self._changed.wait()
            self._changed = trio.Event()
            while self._pulls:
                with trio.move_on_at(self._tell_due(self.tell, trio.current_time())):
                    await self._changed.wait()
                self._changed = trio.Event()

    def _tell_due(self, tell: Callable[[str], None], now: float) -> float:
        """Tell of pulls that have run for long since they were told of; return when to look again."""
        due = float("inf")
        for pull in self._pulls.values():
            if pull.update.state is not PullState.RUNNING:
                continue
            view = pull.view(now)
            if pull.due_at() <= now:
                tell(sentence(view))
                pull.told_at, pull.was_told = now, True
            due = min(due, pull.due_at())
        return due
