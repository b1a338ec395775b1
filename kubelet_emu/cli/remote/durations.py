"""Durations as kubectl shows them: one or two units, cut off and never rounded. Pure.

Source: apimachinery v1.36 util/duration HumanDuration.
"""

from __future__ import annotations

MINUTE, HOUR, DAY = 60, 3600, 86400
YEAR = 365 * DAY


def human_duration(seconds: float) -> str:
    """Return a duration of so many seconds as text."""
    whole = int(seconds)
    if whole < -1:
        return "<invalid>"
    if whole < 2 * MINUTE:
        return f"{max(0, whole)}s"
    if whole < 10 * MINUTE:
        return _two(whole, MINUTE, "m", 1, "s")
    if whole < 3 * HOUR:
        return f"{whole // MINUTE}m"
    if whole < 8 * HOUR:
        return _two(whole, HOUR, "h", MINUTE, "m")
    if whole < 2 * DAY:
        return f"{whole // HOUR}h"
    if whole < 8 * DAY:
        return _two(whole, DAY, "d", HOUR, "h")
    if whole < 2 * YEAR:
        return f"{whole // DAY}d"
    if whole < 8 * YEAR:
        return _two(whole, YEAR, "y", DAY, "d")
    return f"{whole // YEAR}y"


def _two(whole: int, unit: int, name: str, small: int, small_name: str) -> str:
    """Return two units, the smaller one only where there is something of it."""
    rest = whole % unit // small
    return f"{whole // unit}{name}" + (f"{rest}{small_name}" if rest else "")
