"""Which rows a screen has room for: those that want to be seen most stay, the rest is counted. Pure."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from attrs import frozen

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kubelet_emu.cli.live.rows import Row


@frozen
class Page:
    """The rows that are shown, in their order, and what is said of the others."""

    rows: tuple[Row, ...]
    rest: str = ""


def fit(rows: Sequence[Row], most: int) -> Page:
    """Return what fits into so many lines; one line says what doesn't."""
    if len(rows) <= most:
        return Page(tuple(rows))
    ranked = sorted(range(len(rows)), key=lambda index: (rows[index].rank, index))
    kept = set(ranked[: max(0, most - 1)])
    rest = [row for index, row in enumerate(rows) if index not in kept]
    counts = Counter(row.state for row in rest)
    told = ", ".join(f"{count} {state}" for state, count in counts.most_common())
    return Page(tuple(rows[index] for index in sorted(kept)), f"{len(rest)} more: {told}")
