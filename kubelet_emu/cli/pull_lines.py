"""How pulls look: a bar with bytes and speed on a terminal, a sentence elsewhere. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from attrs import frozen

from kubelet_emu.images.outcome import PullState
from kubelet_emu.journal.text import harmless

if TYPE_CHECKING:
    from collections.abc import Sequence

    from runtime.api import PullProgress

BAR_CELLS = 20
MOST_LINES = 8
_UNITS = ("B", "kB", "MB", "GB", "TB")


@frozen(kw_only=True)
class PullView:
    """One pull as it stands; `bytes_per_second` is None before two looks could be compared."""

    who: str
    image: str
    state: PullState
    progress: PullProgress | None = None
    bytes_per_second: float | None = None
    limit: int | None = None


def amount(count: float) -> str:
    """Return bytes as Docker writes them: 12.3MB."""
    for unit in _UNITS[:-1]:
        if count < 1000:
            return f"{count:.3g}{unit}" if unit == "B" or count >= 100 else f"{count:.1f}{unit}"
        count /= 1000
    return f"{count:.1f}{_UNITS[-1]}"


def waiting(running: int, limit: int | None) -> str:
    """Return why a pull doesn't begin yet."""
    return f"waiting ({running} of {limit} pulls running)"


def speed(view: PullView) -> str:
    """Return `4.2MB/s`, empty while it isn't known."""
    return "" if view.bytes_per_second is None else f"{amount(view.bytes_per_second)}/s"


def bars(views: Sequence[PullView], width: int, height: int) -> tuple[str, ...]:
    """Return a line for each pull, running ones first, cut to the terminal; of too many the rest is counted."""
    running = sum(view.state is PullState.RUNNING for view in views)
    ordered = sorted(views, key=lambda view: view.state is not PullState.RUNNING)
    room = max(1, min(MOST_LINES, height - 2))
    shown = ordered if len(ordered) <= room else ordered[: room - 1]
    lines = [_line(view, running, width) for view in shown]
    if len(shown) < len(ordered):
        lines.append(f"  and {len(ordered) - len(shown)} more pulls")
    return tuple(line[: max(1, width - 1)] for line in lines)


def sentence(view: PullView) -> str:
    """Return how far a pull has come, for where nothing can be drawn."""
    progress = view.progress
    if progress is None or not progress.total_bytes:
        return f"{view.who} is still pulling {view.image}"
    said = f"{amount(progress.done_bytes)} of {amount(progress.total_bytes)}"
    return ", ".join(part for part in (f"{view.who} is pulling {view.image}: {said}", speed(view)) if part)


def _line(view: PullView, running: int, width: int) -> str:
    said = waiting(running, view.limit) if view.state is PullState.QUEUED else _measure(view)
    head = harmless(f"{view.who} {view.image}")
    room = max(8, width - len(said) - 3)
    if len(head) > room:
        head = f"{head[: room // 2 - 1]}…{head[len(head) - (room - room // 2) :]}"
    return f"{head}  {said}"


def _measure(view: PullView) -> str:
    progress = view.progress
    if progress is None or not progress.total_bytes:
        return "pulling"
    filled = min(BAR_CELLS, BAR_CELLS * progress.done_bytes // progress.total_bytes)
    bar = "█" * filled + "░" * (BAR_CELLS - filled)
    if progress.done_bytes >= progress.total_bytes:
        return f"{bar} {amount(progress.total_bytes)} unpacking"
    said = f"{bar} {amount(progress.done_bytes)}/{amount(progress.total_bytes)}"
    return f"{said} {speed(view)}".rstrip()
