"""Schedules of CronJobs: what is wrong with one, in the words of the server's parser.

Source: kubernetes v1.36 validateScheduleFormat, whose parser is cron.ParseStandard.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from kubelet_emu.api.gotext import quote, quote_list

_MONTH_NAMES = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_MONTHS = {name: number for number, name in enumerate(_MONTH_NAMES, 1)}
_DAYS = {name: number for number, name in enumerate(["sun", "mon", "tue", "wed", "thu", "fri", "sat"])}
_DESCRIPTORS = ("@yearly", "@annually", "@monthly", "@weekly", "@daily", "@midnight", "@hourly")
_DURATION = r"[-+]?(?:(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:ns|us|µs|μs|ms|s|m|h))+|[-+]?0"


class _Bounds(NamedTuple):
    """The numbers that a field may have, and the names of some."""

    low: int
    high: int
    names: dict[str, int]


_FIELDS = (_Bounds(0, 59, {}), _Bounds(0, 23, {}), _Bounds(1, 31, {}), _Bounds(1, 12, _MONTHS), _Bounds(0, 6, _DAYS))


class _ScheduleError(ValueError):
    """A schedule that isn't one."""


def schedule_error(schedule: str) -> str:
    """Return what is wrong with a schedule; nothing if it is fine."""
    try:
        _parse(schedule)
    except _ScheduleError as error:
        return str(error)
    return ""


def _parse(schedule: str) -> None:
    rest = schedule
    if schedule.startswith(("TZ=", "CRON_TZ=")):
        _zone, _space, rest = schedule.partition(" ")
        rest = rest.strip()
    if rest.startswith("@"):
        _parse_descriptor(rest)
        return
    fields = rest.split()
    if len(fields) != len(_FIELDS):
        listed = quote_list(tuple(fields))
        raise _ScheduleError(f"expected exactly {len(_FIELDS)} fields, found {len(fields)}: {listed}")
    for text, bounds in zip(fields, _FIELDS, strict=True):
        for part in filter(None, text.split(",")):
            _parse_range(part, bounds)


def _parse_descriptor(text: str) -> None:
    if text in _DESCRIPTORS:
        return
    if not text.startswith("@every "):
        raise _ScheduleError(f"unrecognized descriptor: {text}")
    duration = text.removeprefix("@every ")
    if not re.fullmatch(_DURATION, duration):
        raise _ScheduleError(f"failed to parse duration {text}: time: invalid duration {quote(duration)}")


def _parse_range(text: str, bounds: _Bounds) -> None:
    """Check `number | number-number | *`, each with an optional `/step`."""
    span, *steps = text.split("/")
    limits = span.split("-")
    if limits[0] in ("*", "?"):
        start, end = bounds.low, bounds.high
    else:
        start = _number(limits[0], bounds.names)
        if len(limits) > 2:
            raise _ScheduleError(f"too many hyphens: {text}")
        end = _number(limits[1], bounds.names) if len(limits) == 2 else start
    if len(steps) > 1:
        raise _ScheduleError(f"too many slashes: {text}")
    step = _number(steps[0], {}) if steps else 1
    if steps and len(limits) == 1:
        end = bounds.high
    if start < bounds.low:
        raise _ScheduleError(f"beginning of range ({start}) below minimum ({bounds.low}): {text}")
    if end > bounds.high:
        raise _ScheduleError(f"end of range ({end}) above maximum ({bounds.high}): {text}")
    if start > end:
        raise _ScheduleError(f"beginning of range ({start}) beyond end of range ({end}): {text}")
    if step == 0:
        raise _ScheduleError(f"step of range should be a positive number: {text}")


def _number(text: str, names: dict[str, int]) -> int:
    if (named := names.get(text.lower())) is not None:
        return named
    if not re.fullmatch("[-+]?[0-9]+", text):
        raise _ScheduleError(f"failed to parse int from {text}: strconv.Atoi: parsing {quote(text)}: invalid syntax")
    if len(text) > 19:
        raise _ScheduleError(
            f"failed to parse int from {text}: strconv.Atoi: parsing {quote(text)}: value out of range"
        )
    if (number := int(text)) < 0:
        raise _ScheduleError(f"negative number ({number}) not allowed: {text}")
    return number
