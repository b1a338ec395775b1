"""The live view on its terminal: drawn when something has changed, at most five times a second, and as time goes by.

Nothing waits for the terminal: a frame that it isn't ready for is left out (see `kubelet_emu.cli.live_lines`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import trio
from attrs import define, field

from kubelet_emu.cli.live.fitting import Page, fit
from kubelet_emu.cli.live.rows import rows_of
from kubelet_emu.journal.records import EndRecord

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from datetime import datetime
    from os import terminal_size

    from kubelet_emu.cli.live.facts import LiveFacts
    from kubelet_emu.cli.live.rows import Row
    from kubelet_emu.cli.live_lines import LiveLines
    from kubelet_emu.cli.pull_lines import PullView
    from kubelet_emu.journal.encode import Entry
    from kubelet_emu.journal.facts import PodFacts

FRAME_SECONDS = 0.2
TICK_SECONDS = 1.0


@define(eq=False, kw_only=True)
class Screen:
    """A sink of the journal that draws. `now` is the run's time, `pulls` what is being pulled.

    `share` is the part of the terminal's height that it takes at most: text above it must stay readable. `pace` is how
    much faster than real time Trio's clock goes. `stays` leaves the last picture there; `empty` is said where there is
    nothing to show.
    """

    live: LiveFacts
    lines: LiveLines
    now: Callable[[], datetime]
    size: Callable[[], terminal_size]
    pulls: Callable[[], Mapping[tuple[str, str], PullView]] = dict
    wanted: Callable[[PodFacts], bool] = lambda _pod: True
    has_colour: bool = True
    share: float = 0.5
    pace: float = 1.0
    stays: bool = False
    empty: str = ""
    _changed: trio.Event = field(factory=trio.Event, init=False)
    _drawn: tuple[object, ...] = field(default=(), init=False)
    _is_over: bool = field(default=False, init=False)

    def __attrs_post_init__(self) -> None:
        """Look whenever text waits to be written above."""
        self.lines.on_text = self.wake

    def __call__(self, entry: Entry) -> None:
        """Take an entry that the facts of the run have taken already."""
        self.live(entry)
        self._is_over = self._is_over or (not self.stays and isinstance(entry.record, EndRecord))
        self.wake()

    def wake(self) -> None:
        """Have it look: something has changed."""
        self._changed.set()

    async def run(self) -> None:
        """Draw until cancelled, and then take the view away, if it isn't to stay."""
        try:
            while True:
                self._changed = trio.Event()
                self.draw()
                tick_at = trio.current_time() + TICK_SECONDS * self.pace
                await trio.sleep(FRAME_SECONDS * self.pace)
                with trio.move_on_at(tick_at):
                    await self._changed.wait()
        finally:
            if not self.stays:
                self.lines.show(())

    def draw(self) -> None:
        """Draw what there is now, unless the terminal shows it already."""
        size = self.size()
        rows = () if self._is_over else rows_of(self.live, self.pulls(), self.now(), self.wanted)
        if (rows, size, self.empty) == self._drawn:
            self.lines.refresh()
        else:
            self._drawn = (rows, size, self.empty)
            self.lines.show(self._lines(rows, size))

    def _lines(self, rows: tuple[Row, ...], size: terminal_size) -> tuple[str, ...]:
        from kubelet_emu.cli.live.drawing import draw

        head = 1
        page = fit(rows, max(1, int(size.lines * self.share) - head)) if rows else Page((), self.empty)
        return draw(page, size.columns, has_colour=self.has_colour)
