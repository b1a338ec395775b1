"""A drill as a matrix for people."""

from __future__ import annotations

from typing import TYPE_CHECKING

from attrs import frozen

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from kubelet_emu.drill.driving import Drill
    from kubelet_emu.drill.outcome import Shutdown

GOOD, BAD = "✓", "✗"
_BAR = 10
_BARS = " ▏▎▍▌▋▊▉█"


@frozen
class Column:
    """A column: its heading, and what it says of a shutdown."""

    heading: str
    cell: Callable[[Shutdown], str]


def _deleted(shutdown: Shutdown) -> str:
    return "" if shutdown.deleted_at is None else f"+{shutdown.deleted_at:.1f}s"


def _bar(shutdown: Shutdown) -> str:
    if shutdown.used is None:
        return ""
    part = 1.0 if not shutdown.grace else min(1.0, shutdown.used / shutdown.grace)
    eighths = round(part * _BAR * 8)
    return "█" * (eighths // 8) + (_BARS[eighths % 8] if eighths % 8 else "")


def _used(shutdown: Shutdown) -> str:
    return "" if shutdown.used is None else f"{shutdown.used:.1f}/{shutdown.grace:g} s"


def _codes(shutdown: Shutdown) -> str:
    """Return the codes that are not 0: those are what is looked for."""
    if shutdown.unreached:
        return "not reached"
    if not shutdown.codes:
        return "nothing ran"
    marked = ((name, code, "*" if name in _marked(shutdown) else "") for name, code in shutdown.codes if code)
    return " ".join(f"{name}={code}{mark}" for name, code, mark in marked) or "all 0"


def _marked(shutdown: Shutdown) -> frozenset[str]:
    """Return the containers that the drill killed and that have a code that is shown."""
    return frozenset(name for name, code in shutdown.codes if code and name in shutdown.by_drill)


_BAR_COLUMN = Column("", _bar)
COLUMNS = (
    Column("deleted", lambda s: s.phase),
    Column("at", _deleted),
    _BAR_COLUMN,
    Column("grace", _used),
    Column("killed", lambda s: ", ".join(s.killed) or "-"),
    Column("order", lambda s: "-" if s.unreached else GOOD if s.is_in_order else BAD),
    Column("hooks cut", lambda s: ", ".join(s.cut_short) or "-"),
    Column("exit codes", _codes),
)


def format_drill(drill: Drill, width: int, paint: Callable[[str, bool], str] = lambda text, _: text) -> str:
    """Return the matrix, then each fault as a sentence with its phases, then the verdict.

    `paint` colours a line, told whether it is good. Where `width` columns are not enough the bars go first.
    """
    if not drill.shutdowns:
        return _verdict(drill) + "\n"
    table = _Table.of(drill.shutdowns, COLUMNS)
    if table.width > width:
        table = _Table.of(drill.shutdowns, tuple(column for column in COLUMNS if column is not _BAR_COLUMN))
    rows = zip(table.rows, drill.shutdowns, strict=True)
    lines = [table.line(table.headings, width)]
    lines += [paint(table.line(row, width), not shutdown.faults) for row, shutdown in rows]
    return "\n".join([*lines, *_faults(drill.shutdowns, paint), _verdict(drill)]) + "\n"


@frozen
class _Table:
    headings: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    spaces: tuple[int, ...]

    @classmethod
    def of(cls, shutdowns: Sequence[Shutdown], columns: Sequence[Column]) -> _Table:
        headings = tuple(column.heading for column in columns)
        rows = tuple(tuple(column.cell(shutdown) for column in columns) for shutdown in shutdowns)
        return cls(headings, rows, tuple(max(map(len, cells)) for cells in zip(headings, *rows, strict=True)))

    @property
    def width(self) -> int:
        return sum(self.spaces) + 2 * (len(self.spaces) - 1)

    def line(self, cells: Sequence[str], width: int) -> str:
        text = "  ".join(f"{cell:<{space}}" for cell, space in zip(cells, self.spaces, strict=True)).rstrip()
        return text if len(text) <= width else text[: width - 1] + "…"


def _faults(shutdowns: Sequence[Shutdown], paint: Callable[[str, bool], str]) -> list[str]:
    """Return each fault once, with the phases that have it."""
    phases: dict[str, list[str]] = {}
    for shutdown in shutdowns:
        for fault in shutdown.faults:
            phases.setdefault(fault, []).append(shutdown.phase)
    lines = [
        paint(f"{BAD} {fault}: {'in every phase' if len(where) == len(shutdowns) > 1 else ', '.join(where)}", False)
        for fault, where in phases.items()
    ]
    return ["", *lines] if lines else []


def _verdict(drill: Drill) -> str:
    judged = [shutdown for shutdown in drill.shutdowns if not shutdown.unreached]
    if not drill.shutdowns:
        why = f"no container of it ever started: {drill.waits_for}" if drill.waits_for else "no phase has this name"
        return f"{drill.pod}: nothing to drill: {why}"
    bad, number = sum(bool(shutdown.faults) for shutdown in judged), len(judged)
    killed = "\n* killed by the drill on its way there" if any(map(_marked, judged)) else ""
    missed = len(drill.shutdowns) - number
    rest = f", {bad} did not" if bad else ""
    unreached = f"; {missed} not reached: the pod was over before" if missed else ""
    return f"{killed}\n{drill.pod}: {number - bad} of {number} shutdowns went well{rest}{unreached}"
