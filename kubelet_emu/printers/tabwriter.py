"""Aligns cells as Go's text/tabwriter does with minwidth 0, padding 2 and blanks.

A cell ends with a tab; what follows a line's last tab is no cell and never padded. Consecutive lines that have a cell
in a column form a block, and each block has a width of its own.
"""

from __future__ import annotations

PADDING = 2


def align(text: str) -> str:
    """Return `text` with its tabs replaced by blanks. Source: Go text/tabwriter Writer.format."""
    rows = [line.split("\t") for line in text.split("\n")]
    widths: list[list[int]] = [[] for _ in rows]
    deepest = max(len(row) for row in rows) - 1
    for column in range(deepest):
        start = 0
        while start < len(rows):
            end = start
            while end < len(rows) and column < len(rows[end]) - 1:
                end += 1
            width = max((len(row[column]) for row in rows[start:end]), default=0) + PADDING
            for row_widths in widths[start:end]:
                row_widths.append(width)
            start = end + 1
    return "\n".join(
        "".join(cell.ljust(width) for cell, width in zip(row, row_widths, strict=False)) + row[-1]
        for row, row_widths in zip(rows, widths, strict=True)
    )
