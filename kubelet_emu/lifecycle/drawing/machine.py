"""Timelines as JSON."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kubelet_emu.lifecycle.drawing.timeline import Bar, Mark, Timeline


def as_json(timelines: Sequence[Timeline]) -> str:
    """Return timelines as a JSON list; times are seconds on the log's time line."""
    return json.dumps([_timeline(timeline) for timeline in timelines], indent=2)


def _timeline(timeline: Timeline) -> dict[str, object]:
    rows = [
        {
            "name": row.name,
            "kind": row.kind,
            "bars": [_bar(bar) for bar in row.bars],
            "marks": [_mark(mark) for mark in row.marks],
        }
        for row in timeline.rows
    ]
    return {"pod": timeline.title, "start": round(timeline.start, 3), "end": round(timeline.end, 3), "rows": rows}


def _bar(bar: Bar) -> dict[str, object]:
    start, end = round(bar.start, 3), round(bar.end, 3)
    return {"kind": bar.kind.value, "start": start, "end": end, "label": bar.label, "isOpen": bar.is_open}


def _mark(mark: Mark) -> dict[str, object]:
    return {"kind": mark.kind.value, "at": round(mark.at, 3), "label": mark.label}
