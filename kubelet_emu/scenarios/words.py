"""How failed checks tell times: seconds since the objects were created. Values only."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from kubelet_emu.lifecycle.raw_records import Interval

EXACT_SECONDS = 0.005
_MOST_TOLD = 6


def when(low: float, high: float) -> str:
    """Return when something happened, as exactly as the trace tells."""
    if high - low < EXACT_SECONDS:
        return f"at {high:.2f} s"
    return f"between {low:.2f} and {high:.2f} s"


def told(interval: Interval) -> str:
    """Return what happened and when."""
    return f"{interval.label} {when(interval.low, interval.high)}"


def in_order(moments: Sequence[Interval], operators: Sequence[str]) -> str:
    """Tell moments in the order that is wanted; one that came before its predecessor is marked."""
    lines = [told(moments[0])]
    for before, sign, after in zip(moments, operators, moments[1:], strict=False):
        early = before.low - after.high
        is_wrong = early >= 0 if sign == "<" else early > 0
        lines.append(f"{told(after)}{f', {early:.2f} s too early' if is_wrong else ''}")
    return "\n".join(lines)


def apart(first: Interval, second: Interval) -> str:
    """Tell two moments and the seconds between them."""
    low, high = second.low - first.high, second.high - first.low
    length = f"{low:.2f}" if high - low <= EXACT_SECONDS else f"{low:.2f} to {high:.2f}"
    return f"{told(first)}\n{told(second)}, {length} s later"


def enumerated(parts: Iterable[str]) -> str:
    """Return a few of many parts in a line."""
    words = list(parts)
    more = f", and {len(words) - _MOST_TOLD} more" if len(words) > _MOST_TOLD else ""
    return ", ".join(words[:_MOST_TOLD]) + more


def history(changes: Iterable[tuple[float, object]]) -> str:
    """Tell how a value changed: each new one with its time."""
    kept: list[tuple[float, str]] = []
    for at, value in changes:
        if not kept or kept[-1][1] != shown(value):
            kept.append((at, shown(value)))
    return enumerated(f"{value} {when(at, at)}" for at, value in kept)


def shown(value: object) -> str:
    """Return a value as expectations spell it."""
    if value is None:
        return "none"
    if isinstance(value, bool):
        return str(value).lower()
    text = str(value)
    return repr(text) if not text or "\n" in text or text != text.strip() else text
