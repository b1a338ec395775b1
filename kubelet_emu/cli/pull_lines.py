"""How pulls look: a bar with bytes and speed in a live view, a sentence elsewhere. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from attrs import frozen

if TYPE_CHECKING:
    from kubelet_emu.images.outcome import PullState
    from runtime.api import PullProgress

BAR_CELLS = 20
_UNITS = ("B", "kB", "MB", "GB", "TB")


@frozen(kw_only=True)
class PullView:
    """One pull as it stands; `running` counts all pulls, `bytes_per_second` is None until two looks can be compared."""

    who: str
    image: str
    state: PullState
    progress: PullProgress | None = None
    bytes_per_second: float | None = None
    limit: int | None = None
    running: int = 0


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


def sentence(view: PullView) -> str:
    """Return how far a pull has come, for where nothing can be drawn."""
    progress = view.progress
    if progress is None or not progress.total_bytes:
        return f"{view.who} is still pulling {view.image}"
    said = f"{amount(progress.done_bytes)} of {amount(progress.total_bytes)}"
    return ", ".join(part for part in (f"{view.who} is pulling {view.image}: {said}", speed(view)) if part)


def measure(view: PullView) -> str:
    """Return how far a pull has come: a bar with bytes and speed."""
    progress = view.progress
    if progress is None or not progress.total_bytes:
        return "pulling"
    filled = min(BAR_CELLS, BAR_CELLS * progress.done_bytes // progress.total_bytes)
    bar = "█" * filled + "░" * (BAR_CELLS - filled)
    if progress.done_bytes >= progress.total_bytes:
        return f"{bar} {amount(progress.total_bytes)} unpacking"
    said = f"{bar} {amount(progress.done_bytes)}/{amount(progress.total_bytes)}"
    return f"{said} {speed(view)}".rstrip()
