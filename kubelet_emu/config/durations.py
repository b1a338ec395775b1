"""Go durations as configuration files have them: "1m30s", "500ms", "1.5h"."""

from __future__ import annotations

import re
from decimal import Decimal

_UNITS = {
    "ns": Decimal("1e-9"),
    "us": Decimal("1e-6"),
    "µs": Decimal("1e-6"),
    "μs": Decimal("1e-6"),
    "ms": Decimal("1e-3"),
    "s": Decimal(1),
    "m": Decimal(60),
    "h": Decimal(3600),
}
_PART = re.compile(r"(\d+\.?\d*|\.\d+)(ns|us|µs|μs|ms|s|m|h)")
_DURATION = re.compile(rf"[-+]?(?:0|(?:{_PART.pattern})+)")


def parse_duration(text: str) -> float:
    """Return a duration in seconds (Go time.ParseDuration); ValueError for text that isn't one."""
    if not _DURATION.fullmatch(text):
        raise ValueError(f"{text!r} is not a duration such as 1m30s")
    seconds = sum((Decimal(number) * _UNITS[unit] for number, unit in _PART.findall(text)), Decimal(0))
    return float(-seconds if text.startswith("-") else seconds)
