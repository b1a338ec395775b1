"""RFC 3339 times to nanoseconds since the Unix epoch, with the step of the clock that wrote them.

Container runtimes write nine digits; a datetime keeps six. Whole seconds are cut, never rounded, so what is known of
such a time is [t, t + 1).
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta, timezone
from functools import lru_cache
from typing import NamedTuple

NANO = 1_000_000_000
TIME = r"(?P<second>\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:[.,](?P<fraction>\d{1,9}))?(?P<zone>Z|[+-]\d\d:?\d\d)"
"""A time within a larger pattern; `time_of_match` reads it."""
_PARTS = re.compile(TIME + "$")


class WallTime(NamedTuple):
    """A time and the step of its clock in seconds: 1 without a fraction, else 0."""

    nanoseconds: int
    step_seconds: float


def parse_wall_time(text: str) -> WallTime:
    """Read an RFC 3339 time with a zone; ValueError for anything else."""
    found = _PARTS.match(text)
    if found is None:
        raise ValueError(f"{text!r} is no RFC 3339 time")
    return time_of_match(found)


def time_of_match(found: re.Match[str]) -> WallTime:
    """Return the time that a pattern with `TIME` has found; ValueError for a day or an hour that there isn't."""
    second, fraction, zone = found["second"], found["fraction"], found["zone"]
    whole = _seconds(second, zone) * NANO
    if fraction is None:
        return WallTime(whole, 1.0)
    return WallTime(whole + int(fraction.ljust(9, "0")), 0.0)


@lru_cache(maxsize=64)
def _seconds(text: str, zone: str) -> int:
    """Return the whole seconds since the Unix epoch; lines of one second come together, hence the cache."""
    at = datetime.fromisoformat(text)
    if zone == "Z":
        return int(at.replace(tzinfo=UTC).timestamp())
    sign = -1 if zone[0] == "-" else 1
    digits = zone[1:].replace(":", "")
    offset = timedelta(hours=int(digits[:2]), minutes=int(digits[2:])) * sign
    return int(at.replace(tzinfo=timezone(offset)).timestamp())


def to_datetime(nanoseconds: int) -> datetime:
    """Return a time as a datetime, cut to microseconds."""
    return datetime.fromtimestamp(nanoseconds // NANO, UTC) + timedelta(microseconds=nanoseconds % NANO // 1000)


def to_nanoseconds(at: datetime) -> int:
    """Return a datetime as nanoseconds since the Unix epoch, exact to its microsecond."""
    since = at - datetime(1970, 1, 1, tzinfo=UTC)
    return (since.days * 86400 + since.seconds) * NANO + since.microseconds * 1000
