"""Rows to lines for a terminal, with rich. Nothing else knows it.

The columns are laid out here: rich's own tables measure each cell several times, which a view that is drawn again and
again would feel.
"""

from __future__ import annotations

from io import StringIO
from typing import TYPE_CHECKING

from attrs import frozen
from rich.cells import cell_len, set_cell_size
from rich.console import Console
from rich.text import Text

from kubelet_emu.cli.live.rows import Tone

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kubelet_emu.cli.live.fitting import Page
    from kubelet_emu.cli.live.rows import Row

GAP = 2
LEAST_NAME = 12
MOST_NOTE = 32
_STYLES = {Tone.BAD: "red", Tone.BUSY: "yellow", Tone.GOOD: "green", Tone.QUIET: "dim"}
# below so many columns a column is left out
_COLUMNS = (("POD", 0), ("CONTAINER", 0), ("STATE", 0), ("AGE", 50), ("RESTARTS", 80), ("PROBES", 100), ("", 50))
_NAMES = 2  # how many columns, from the first, give way when there is little room


@frozen
class _Cell:
    """One cell: pieces of text, each with its style."""

    pieces: tuple[tuple[str, str], ...]

    @property
    def width(self) -> int:
        return sum(cell_len(text) for text, _ in self.pieces)


def draw(page: Page, width: int, *, has_colour: bool) -> tuple[str, ...]:
    """Return the lines of a page, each narrower than the terminal; none for an empty page."""
    lines = lay_out(page, width)
    if not lines:
        return ()
    console = Console(
        file=StringIO(),
        width=max(1, width - 1),
        force_terminal=True,
        color_system="standard" if has_colour else None,
        legacy_windows=False,
        _environ={},
    )
    with console.capture() as captured:
        show(console, lines)
    return tuple(captured.get().split("\n")[:-1])


def show(console: Console, lines: Sequence[Text]) -> None:
    """Print lines on a console, cut to its width."""
    console.print(*lines, sep="\n", no_wrap=True, overflow="ellipsis", crop=True, markup=False, highlight=False)


def lay_out(page: Page, width: int) -> list[Text]:
    """Return a page as lines of text: a head, a line for each row, and what is said of the rest."""
    shown = [index for index, (_, least) in enumerate(_COLUMNS) if width >= least]
    lines: list[list[_Cell]] = [[_Cell(((_COLUMNS[index][0], "bold"),)) for index in shown]] if page.rows else []
    before = ""
    for row in page.rows:
        cells = _cells(row, is_new=row.pod != before)
        lines.append([cells[index] for index in shown])
        before = row.pod
    widths = _widths(lines, width)
    rest = [Text(page.rest, style="dim")] if page.rest else []
    return [*(_line(cells, widths) for cells in lines), *rest]


def _widths(lines: Sequence[Sequence[_Cell]], width: int) -> list[int]:
    """Return the width of each column: that of its widest cell, but names give way to the first part of notes."""
    widths = [max(cell.width for cell in column) for column in zip(*lines, strict=True)]
    for index in range(min(_NAMES, len(widths))):
        over = sum(widths[:-1]) + min(widths[-1], MOST_NOTE) + GAP * (len(widths) - 1) - (width - 1)
        widths[index] = max(min(widths[index], LEAST_NAME), widths[index] - max(0, over))
    return widths


def _line(cells: Sequence[_Cell], widths: Sequence[int]) -> Text:
    line = Text()
    for cell, width in zip(cells, widths, strict=True):
        if cell.width > width:
            line.append(_shortened("".join(text for text, _ in cell.pieces), width), cell.pieces[0][1])
        else:
            for text, style in cell.pieces:
                line.append(text, style)
        line.append(" " * (width - min(cell.width, width) + GAP))
    line.rstrip()
    return line


def _shortened(text: str, width: int) -> str:
    """Return a name without its middle: its end tells it from others of the same workload."""
    end = (width - 1) // 2
    return set_cell_size(text, width - 1 - end) + "…" + (text[len(text) - end :] if end else "")


def _cells(row: Row, *, is_new: bool) -> tuple[_Cell, ...]:
    probes = [piece for text, tone in row.probes for piece in (("  ", ""), (text, _STYLES[tone]))]
    return (
        _Cell(((row.pod if is_new else "", ""),)),
        _Cell(((row.container, ""),)),
        _Cell(((row.state, _STYLES[row.tone]),)),
        _Cell(((row.age, ""),)),
        _Cell(((str(row.restarts), ""),)),
        _Cell(tuple(probes[1:])),
        _Cell(((row.note.text, "bold" if row.note.counts_down else ""),)),
    )
