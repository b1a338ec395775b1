"""Rows as a table: columns as wide as their widest cell, three blanks between them.

Source: kubectl v1.36, cli-runtime printers (tabwriter with minwidth 6, padding 3).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from attrs import define, field

from kubelet_emu.journal.text import harmless

if TYPE_CHECKING:
    from collections.abc import Sequence

GAP = 3
LEAST = 6


_BREAK = re.compile(r"[\f\n\r]")


def _first_line(cell: str) -> str:
    """Return a cell of several lines as kubectl cuts it."""
    line, *more = _BREAK.split(cell, maxsplit=1)
    return f"{line}..." if more else line


@define
class Table:
    """Widths of columns, which never shrink: a watch goes on with those of the lines before."""

    _widths: list[int] = field(factory=list, init=False)

    def lines(self, rows: Sequence[Sequence[str]]) -> list[str]:
        """Return rows as lines, each cell but the last one padded."""
        shown = [tuple(harmless(_first_line(cell)) for cell in row) for row in rows]
        for row in shown:
            self._widths += [LEAST - GAP] * (len(row) - len(self._widths))
            for column, cell in enumerate(row):
                self._widths[column] = max(self._widths[column], len(cell))
        return ["".join(self._padded(row)) for row in shown]

    def text(self, rows: Sequence[Sequence[str]]) -> str:
        """Return rows as a text."""
        return "".join(f"{line}\n" for line in self.lines(rows))

    def _padded(self, row: Sequence[str]) -> list[str]:
        *cells, last = row
        return [*(cell.ljust(self._widths[column] + GAP) for column, cell in enumerate(cells)), last]
