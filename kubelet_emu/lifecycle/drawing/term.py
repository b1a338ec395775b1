"""A timeline for terminals: one line a container, told apart by shape and not by colour alone. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubelet_emu.journal.text import harmless
from kubelet_emu.lifecycle.drawing.scale import Scale
from kubelet_emu.lifecycle.drawing.timeline import BarKind, MarkKind

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from kubelet_emu.lifecycle.drawing.timeline import Row, Timeline

SHAPES = {
    BarKind.PHASE: " ",
    BarKind.PULL: "░",
    BarKind.BACK_OFF: "·",
    BarKind.RUN: "─",
    BarKind.READY: "━",
    BarKind.STOPPING: "╌",
    BarKind.POST_START: "▒",
    BarKind.PRE_STOP: "▒",
    BarKind.GRACE: "▔",
}
MARKS = {
    MarkKind.DELETED: "D",
    MarkKind.TERM: "T",
    MarkKind.KILL: "K",
    MarkKind.EXIT: "●",
    MarkKind.BAD_EXIT: "✗",
    MarkKind.PROBE_OK: "'",
    MarkKind.PROBE_FAILED: "!",
}
_ORDER = (
    BarKind.PULL,
    BarKind.BACK_OFF,
    BarKind.RUN,
    BarKind.READY,
    BarKind.STOPPING,
    BarKind.POST_START,
    BarKind.PRE_STOP,
)
COLOURS = {"━": "blue", "╌": "yellow", "▒": "cyan", "·": "bright_black", "░": "bright_black", "K": "red", "✗": "red"}
LEGEND = "─ runs  ━ ready  ╌ is stopped  ▒ hook  · back-off  ░ pull  T TERM  K KILL  ● exit 0  ✗ bad exit  ≈ cut"
MOST_NAME = 24
LEAST_TRACK = 20
TICK_SPACE = 10


def plain(text: str, _colour: str) -> str:
    """Return a text without colour."""
    return text


def format_timeline(timeline: Timeline, width: int, paint: Callable[[str, str], str] = plain) -> str:
    """Return a timeline in at most `width` columns: the pod's phases, a line a container, the axis, and a legend."""
    names = [_cut(harmless(f"{row.name} {row.kind}" if row.kind != "pod" else row.name)) for row in timeline.rows]
    space = max(map(len, names), default=0)
    ends = [_end(row) for row in timeline.rows]
    tail = max(map(len, ends), default=0)
    track = max(LEAST_TRACK, width - space - tail - 4)
    scale = Scale.of(timeline, track - 1)
    lines = []
    for row, name, end in zip(timeline.rows, names, ends, strict=True):
        cells = _pod_cells(row, scale, track) if row.kind == "pod" else _cells(row, scale, track)
        lines.append(f"{name:<{space}}  {_painted(cells, paint)}  {end}".rstrip())
    lines.append(f"{'':<{space}}  {_axis(timeline, scale, track)}".rstrip())
    lines += _wrapped(LEGEND, width)
    return "\n".join(line[:width] if paint is plain else line for line in lines) + "\n"


def _cut(name: str) -> str:
    return name if len(name) <= MOST_NAME else f"{name[: MOST_NAME - 1]}…"


def _end(row: Row) -> str:
    """Return how the row ended: a phase, or the exit codes, the last three of many."""
    if row.kind == "pod":
        return next((harmless(bar.label) for bar in reversed(row.bars) if bar.kind is BarKind.PHASE), "")
    codes = [mark.label.removeprefix("exit ") for mark in row.marks if mark.kind in {MarkKind.EXIT, MarkKind.BAD_EXIT}]
    shown = ["…", *codes[-3:]] if len(codes) > 3 else codes
    return harmless(" ".join(shown))


def _cells(row: Row, scale: Scale, track: int) -> list[str]:
    cells = [" "] * track
    for kind in _ORDER:
        for bar in row.bars:
            if bar.kind is kind:
                first, last = round(scale.place(bar.start)), round(scale.place(bar.end))
                cells[first : last + 1] = [SHAPES[kind]] * (last + 1 - first)
    _cut_out(cells, scale)
    for mark in row.marks:
        _put(cells, round(scale.place(mark.at)), MARKS[mark.kind])
    return cells


def _put(cells: list[str], place: int, sign: str) -> None:
    """Put a sign in its place; where another one is, left of it: what comes first stands first."""
    taken = set(MARKS.values())
    while place < len(cells) - 1 and cells[place] in taken:
        place += 1
    if cells[place] not in taken or sign in {"✗", "K"}:
        cells[place] = sign


def _cut_out(cells: list[str], scale: Scale) -> None:
    for first, last in scale.breaks:
        cells[round((first + last) / 2)] = "≈"


def _pod_cells(row: Row, scale: Scale, track: int) -> list[str]:
    """Return the phases as words where each begins, as far as they have room, and the deletion."""
    cells = ["─"] * track
    for bar in row.bars:
        if bar.kind is BarKind.READY:
            first, last = round(scale.place(bar.start)), round(scale.place(bar.end))
            cells[first : last + 1] = ["━"] * (last + 1 - first)
    _cut_out(cells, scale)
    for bar in row.bars:
        if bar.kind is BarKind.PHASE:
            first, last = round(scale.place(bar.start)), round(scale.place(bar.end))
            marks = [place for mark in row.marks if (place := round(scale.place(mark.at))) > first]
            if len(bar.label) < min([last, *marks]) - first:
                cells[first : first + len(bar.label)] = list(bar.label)
    for mark in row.marks:
        cells[min(track - 1, round(scale.place(mark.at)))] = MARKS[mark.kind]
    return cells


def _painted(cells: Iterable[str], paint: Callable[[str, str], str]) -> str:
    if paint is plain:
        return "".join(cells)
    return "".join(paint(cell, COLOURS[cell]) if cell in COLOURS else cell for cell in cells)


def _axis(timeline: Timeline, scale: Scale, track: int) -> str:
    """Return times below the line, none of which touches another."""
    cells = [" "] * track
    free = 0
    for at in sorted({timeline.start, *timeline.times()}):
        place, text = round(scale.place(at)), f"{at - timeline.start:.0f}s"
        if place >= free and place + len(text) <= track:
            cells[place : place + len(text)] = list(text)
            free = place + max(len(text) + 2, TICK_SPACE)
    return "".join(cells)


def _wrapped(text: str, width: int) -> list[str]:
    lines = [""]
    for word in text.split("  "):
        if lines[-1] and len(lines[-1]) + 2 + len(word) > width:
            lines.append("")
        lines[-1] = f"{lines[-1]}  {word}" if lines[-1] else word
    return lines
