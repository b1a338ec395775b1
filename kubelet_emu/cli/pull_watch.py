"""What a user sees of pulls while they run: bars where there are live lines, else a line now and then."""

from __future__ import annotations

import shutil
from collections import deque
from typing import TYPE_CHECKING

import trio
from attrs import define, field

from kubelet_emu.cli.pull_lines import PullView, bars, sentence, waiting
from kubelet_emu.images.outcome import PullState

if TYPE_CHECKING:
    from collections.abc import Callable

    from kubelet_emu.cli.live_lines import LiveLines
    from kubelet_emu.images.outcome import PullUpdate

FRAME_SECONDS = 0.1
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

    def view(self, now: float) -> PullView:
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
        )

    def _speed(self, now: float) -> float | None:
        if not self._samples or now <= self._samples[0][0]:
            return None
        began, first = self._samples[0]
        return max(0, self._samples[-1][1] - first) / (now - began)


@define(eq=False)
class PullWatch:
    """Takes updates of pulls; `tell` gets lines, or `live` is drawn on. Times are those of Trio's clock."""

    tell: Callable[[str], None]
    live: LiveLines | None = None
    _pulls: dict[tuple[str, str], _Pull] = field(factory=dict, init=False)
    _changed: trio.Event = field(factory=trio.Event, init=False)

    def __call__(self, update: PullUpdate) -> None:
        """Take an update."""
        now, key = trio.current_time(), (update.pod.metadata.uid or "", update.container)
        if update.state not in _GOING:
            self._pulls.pop(key, None)
        else:
            self._pulls.setdefault(key, _Pull(update, now)).take(update, now)
            if update.state is PullState.QUEUED and self.live is None:
                who = f"{update.pod.metadata.name}/{update.container}"
                self.tell(f"{who} wants {update.image}: {waiting(update.running, update.limit)}")
        self._changed.set()

    async def run(self) -> None:
        """Draw, or tell of what takes long, until cancelled; the bars are taken away then."""
        try:
            while True:
                await self._changed.wait()
                self._changed = trio.Event()
                await self._follow()
        finally:
            if self.live is not None:
                self.live.show(())

    async def _follow(self) -> None:
        """Go on while there are pulls."""
        while self._pulls:
            now = trio.current_time()
            if self.live is not None:
                self._draw(now)
                await trio.sleep(FRAME_SECONDS)
            else:
                due = self._tell_due(now)
                with trio.move_on_at(due):
                    await self._changed.wait()
                self._changed = trio.Event()
        if self.live is not None:
            self.live.show(())

    def _draw(self, now: float) -> None:
        if self.live is not None:
            size = shutil.get_terminal_size((80, 24))
            views = [pull.view(now) for pull in self._pulls.values()]
            self.live.show(bars(views, size.columns, size.lines))

    def _tell_due(self, now: float) -> float:
        """Tell of pulls that have run for long since they were told of; return when to look again."""
        due = float("inf")
        for pull in self._pulls.values():
            if pull.update.state is not PullState.RUNNING:
                continue
            view = pull.view(now)
            if pull.due_at() <= now:
                self.tell(sentence(view))
                pull.told_at, pull.was_told = now, True
            due = min(due, pull.due_at())
        return due
