"""From seconds to places on a line, with long stretches in which nothing happens pressed together. Pure."""

from __future__ import annotations

import itertools
from bisect import bisect_right
from typing import TYPE_CHECKING

from attrs import frozen

if TYPE_CHECKING:
    from kubelet_emu.lifecycle.drawing.timeline import Timeline

QUIET_SECONDS = 20.0
"""A stretch longer than this, and than a quarter of the rest, is pressed together to this length."""


@frozen
class Scale:
    """A line of `length` places. `breaks` are the places where a stretch is pressed together."""

    times: tuple[float, ...]
    places: tuple[float, ...]
    breaks: tuple[tuple[float, float], ...] = ()

    @classmethod
    def of(cls, timeline: Timeline, length: float) -> Scale:
        """Return the scale of a timeline on a line of so many places."""
        times = tuple(sorted({timeline.start, timeline.end, *timeline.times()}))
        gaps = [after - before for before, after in itertools.pairwise(times)]
        busy = sum(min(gap, QUIET_SECONDS) for gap in gaps)
        limit = max(QUIET_SECONDS, busy / 4)
        shown = [min(gap, limit) for gap in gaps]
        total = sum(shown) or 1.0
        places = [0.0]
        for width in shown:
            places.append(places[-1] + width / total * length)
        breaks = tuple((places[i], places[i + 1]) for i, gap in enumerate(gaps) if gap > limit)
        return cls(times, tuple(places), breaks)

    def place(self, at: float) -> float:
        """Return the place of a time, between the ends of the line."""
        if at <= self.times[0]:
            return self.places[0]
        if at >= self.times[-1]:
            return self.places[-1]
        i = bisect_right(self.times, at) - 1
        part = (at - self.times[i]) / (self.times[i + 1] - self.times[i])
        return self.places[i] + part * (self.places[i + 1] - self.places[i])
