"""Ages and times as kubectl shows them.

Source: apimachinery v1.36 util/duration HumanDuration; kubectl v1.36 describe (RFC 1123 with a numeric zone).
"""

from __future__ import annotations

from datetime import UTC, datetime

UNKNOWN = "<unknown>"
_MINUTE, _HOUR, _DAY = 60, 3600, 86400
_YEAR = 365 * _DAY
_ZERO = datetime(1, 1, 1, tzinfo=UTC)
# below so many seconds: the large unit, the small one (None: not shown)
_RANGES = (
    (2 * _MINUTE, (1, "s"), None),
    (10 * _MINUTE, (_MINUTE, "m"), (1, "s")),
    (3 * _HOUR, (_MINUTE, "m"), None),
    (8 * _HOUR, (_HOUR, "h"), (_MINUTE, "m")),
    (2 * _DAY, (_HOUR, "h"), None),
    (8 * _DAY, (_DAY, "d"), (_HOUR, "h")),
    (2 * _YEAR, (_DAY, "d"), None),
    (8 * _YEAR, (_YEAR, "y"), (_DAY, "d")),
)


def human_duration(seconds: float) -> str:
    """Return a duration in one or two units, cut off and never rounded (HumanDuration)."""
    whole = int(seconds)
    if whole < -1:
        return "<invalid>"
    whole = max(0, whole)
    for below, (unit, name), small in _RANGES:
        if whole < below:
            rest = whole % unit // small[0] if small else 0
            return f"{whole // unit}{name}" + (f"{rest}{small[1]}" if small and rest else "")
    return f"{whole // _YEAR}y"


def age(moment: datetime | None, now: datetime) -> str:
    """Return how long ago a time was; `<unknown>` without one."""
    return UNKNOWN if moment is None else human_duration((now - moment).total_seconds())


def rfc1123(moment: datetime | None) -> str:
    """Return a time as describe prints it, in its own zone; Go's zero time without one."""
    at = moment or _ZERO
    day, month = _DAYS[at.weekday()], _MONTHS[at.month - 1]
    return f"{day}, {at.day:02d} {month} {at.year:04d} {at:%H:%M:%S %z}"


_DAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
