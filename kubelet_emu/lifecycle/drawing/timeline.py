"""A timeline as a value: rows of bars and marks, in seconds on the log's time line."""

from __future__ import annotations

import enum
from typing import TYPE_CHECKING

from attrs import frozen

if TYPE_CHECKING:
    from collections.abc import Iterator


class BarKind(enum.Enum):
    """What goes on between two times."""

    PULL = "pull"
    RUN = "run"
    READY = "ready"
    STOPPING = "stopping"
    BACK_OFF = "back-off"
    PRE_STOP = "preStop"
    POST_START = "postStart"
    GRACE = "grace"
    PHASE = "phase"


class MarkKind(enum.Enum):
    """What happens at one time."""

    DELETED = "deleted"
    TERM = "TERM"
    KILL = "KILL"
    EXIT = "exit"
    BAD_EXIT = "bad exit"
    PROBE_OK = "probe ok"
    PROBE_FAILED = "probe failed"


@frozen(kw_only=True)
class Bar:
    """Something that lasts; `is_open` when the log ends before it does."""

    kind: BarKind
    start: float
    end: float
    label: str = ""
    is_open: bool = False


@frozen(kw_only=True)
class Mark:
    """Something that happens at a time."""

    kind: MarkKind
    at: float
    label: str = ""


@frozen(kw_only=True)
class Row:
    """One container, or the pod itself: `kind` is pod, init, sidecar, main, ephemeral or unknown."""

    name: str
    kind: str
    bars: tuple[Bar, ...] = ()
    marks: tuple[Mark, ...] = ()


@frozen(kw_only=True)
class Timeline:
    """One pod: its rows from `start` to `end`."""

    title: str
    rows: tuple[Row, ...]
    start: float
    end: float

    def times(self) -> Iterator[float]:
        """Yield every time at which something begins, ends or happens."""
        yield self.start
        yield self.end
        for row in self.rows:
            for bar in row.bars:
                yield bar.start
                yield bar.end
            for mark in row.marks:
                yield mark.at
