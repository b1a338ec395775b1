"""What a measurement says, and the table of ratios. Pure."""

from __future__ import annotations

from statistics import median
from typing import TYPE_CHECKING

from attrs import field, frozen

from kubelet_emu.journal.records import EndRecord, EventRecord, RunRecord

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from datetime import datetime

    from kubelet_emu.journal.encode import Entry

Run = tuple[str, str]  # pod and container


@frozen(kw_only=True)
class Measured:
    """One life of some pods. Times are seconds; `gaps` are those from an init container's exit to the next start."""

    start: float
    stop: float
    clean_up: float
    cpu: float
    gaps: tuple[float, ...] = ()


@frozen(kw_only=True)
class Marks:
    """The moments of a lifecycle log that are measured."""

    all_started_at: datetime | None
    ended_at: datetime | None
    gaps: tuple[float, ...]


@frozen
class Row:
    """One line of the table: the program's seconds over those of what it is compared to."""

    what: str
    ours: tuple[float, ...] = field(converter=tuple)
    theirs: tuple[float, ...] = field(converter=tuple)

    @property
    def ratio(self) -> float | None:
        """Return the ratio of the medians; None when a side has no value, or one that is too small to divide by."""
        if not self.ours or not self.theirs or median(self.theirs) < 1e-4:
            return None
        return median(self.ours) / median(self.theirs)


def read_marks(entries: Iterable[Entry], starts: int) -> Marks:
    """Read the marks of a log in which `starts` containers are started."""
    started: list[datetime] = []
    runs: list[tuple[datetime, str, RunRecord]] = []
    ended_at = None
    for entry in entries:
        match entry.record:
            case EventRecord(reason="Started"):
                started.append(entry.at)
            case RunRecord() as record:
                runs.append((entry.at, record.ref.uid, record))
            case EndRecord():
                ended_at = entry.at
    return Marks(
        all_started_at=started[starts - 1] if len(started) >= starts else None, ended_at=ended_at, gaps=_gaps(runs)
    )


def _gaps(runs: Sequence[tuple[datetime, str, RunRecord]]) -> tuple[float, ...]:
    """Return the times from each init container's exit to the next start in its pod, by the runtime's clock."""
    exits = [(at, uid) for at, uid, run in runs if run.what == "exit" and run.container.startswith("init-")]
    starts = sorted((at, uid) for at, uid, run in runs if run.what == "start")
    nexts = [(exit_at, next((at for at, of in starts if of == uid and at > exit_at), None)) for exit_at, uid in exits]
    return tuple((at - exit_at).total_seconds() for exit_at, at in nexts if at is not None)


def rows_of(name: str, pods: int, ours: Sequence[Measured], theirs: Sequence[Measured]) -> tuple[Row, ...]:
    """Return the rows that one shape gives."""
    rows = [
        Row(f"{name}: to all containers started", [m.start for m in ours], [m.start for m in theirs]),
        Row(f"{name}: Ctrl-C to prompt", [m.stop for m in ours], [m.stop for m in theirs]),
        Row(f"{name}: clean-up", [m.clean_up for m in ours], [m.clean_up for m in theirs]),
        Row(f"{name}: CPU of the process a pod", [m.cpu / pods for m in ours], [m.cpu / pods for m in theirs]),
    ]
    gaps = Row(
        f"{name}: init exit to next start", [g for m in ours for g in m.gaps], [g for m in theirs for g in m.gaps]
    )
    return (*rows, gaps) if gaps.ours or gaps.theirs else tuple(rows)


def format_table(rows: Sequence[Row]) -> str:
    """Return the rows as text, ratios last; `-` where there is none."""
    head = ("what", "ours", "bare", "ratio")
    body = [(row.what, _seconds(row.ours), _seconds(row.theirs), _ratio(row.ratio)) for row in rows]
    widths = [max(len(line[column]) for line in (head, *body)) for column in range(4)]
    lines = [_line(line, widths) for line in (head, *body)]
    return "\n".join([lines[0], "-" * len(lines[0]), *lines[1:]]) + "\n"


def _line(cells: tuple[str, str, str, str], widths: Sequence[int]) -> str:
    numbers = "  ".join(cell.rjust(width) for cell, width in zip(cells[1:], widths[1:], strict=True))
    return f"{cells[0].ljust(widths[0])}  {numbers}"


def _seconds(values: Sequence[float]) -> str:
    return f"{median(values):.3f} s" if values else "-"


def _ratio(ratio: float | None) -> str:
    return "-" if ratio is None else f"{ratio:.2f}"
