"""Our own lifecycle log, and traces of docs/SCENARIOS.md in our spelling or that of a recorder on a real node."""

from __future__ import annotations

import json
from itertools import chain, repeat
from typing import TYPE_CHECKING

from attrs import evolve

from kubelet_emu.journal.read import LogReader
from kubelet_emu.journal.records import HeaderRecord, ManifestRecord
from kubelet_emu.journal.short_names import ShortNames
from kubelet_emu.journal.trace import Projection
from kubelet_emu.lifecycle.reading.objects import decode_object
from kubelet_emu.lifecycle.reading.times import parse_wall_time, to_nanoseconds

if TYPE_CHECKING:
    from collections.abc import Iterable

    from kubelet_emu.journal.encode import Entry
    from kubelet_emu.lifecycle.reading.found import Found
    from kubelet_emu.lifecycle.reading.streams import Line


MOST_SECONDS = 1e10
_WHOLE = frozenset({"run", "code", "exitCode", "count"})


def read_own_log(found: Found, lines: Iterable[Line]) -> None:
    """Read a lifecycle log of any schema up to ours; a torn last line is no fault."""
    reader = LogReader()
    for line in lines:
        if line.data.strip():
            reader.read(line.number, line.data + (b"\n" if line.is_complete else b""))
    log = reader.result()
    for problem in log.problems:
        found.fault(problem.line, problem.text)
    found.is_torn = log.is_torn
    take_entries(found, log.entries, log.lines)


def take_entries(found: Found, entries: tuple[Entry, ...], lines: Iterable[int] = ()) -> None:
    """Take over the entries of a log of ours; `lines` are where they are, if they are in a file."""
    names, projection = ShortNames(), Projection()
    found.entries = tuple(_told(entry, names) for entry in entries)
    for entry, line in zip(found.entries, chain(lines, repeat(0)), strict=False):
        found.line = line
        if isinstance(entry.record, HeaderRecord):
            found.kubernetes = entry.record.kubernetes.removeprefix("v")
        if isinstance(entry.record, ManifestRecord):
            _keep_object(found, entry.record)
        if (record := projection.feed(entry)) is not None:
            found.keep(record)
    if projection.origin is not None:
        found.base = to_nanoseconds(projection.origin)


def _told(entry: Entry, names: ShortNames) -> Entry:
    record = names.told(entry.record)
    return entry if record is entry.record else evolve(entry, record=record)


def _keep_object(found: Found, record: ManifestRecord) -> None:
    decoded = decode_object(record.manifest)
    if decoded is not None:
        found.objects[record.ref.kind, record.ref.name] = decoded


def read_trace(found: Found, lines: Iterable[Line]) -> None:
    """Read a trace; a record with `epoch` says which wall time its seconds count from."""
    for line in lines:
        if not line.data.strip():
            continue
        try:
            record = json.loads(line.data)
            seconds = _seconds(record)
        except (ValueError, RecursionError) as error:
            if line.is_complete:
                found.fault(line.number, f"no record of a trace: {error}")
            else:
                found.is_torn = True
            continue
        if "epoch" in record:
            found.base = parse_wall_time(str(record["epoch"])).nanoseconds - int(seconds * 1e9)
        found.keep(record)


def _seconds(record: object) -> float:
    """Return the time of a record; ValueError when it isn't one."""
    if not isinstance(record, dict) or not isinstance(record.get("kind"), str):
        raise ValueError('a JSON object with "t" and "kind" is expected')  # noqa: TRY004 - bad input, not a bug
    seconds = record.get("t")
    if not isinstance(seconds, int | float) or isinstance(seconds, bool):
        raise ValueError('"t" is no number')  # noqa: TRY004 - bad input, not a bug
    if not abs(seconds) < MOST_SECONDS:
        raise ValueError(f'"t" is {seconds}, beyond all calendars')
    for key in _WHOLE & record.keys():
        if record[key] is not None and (not isinstance(record[key], int) or isinstance(record[key], bool)):
            raise ValueError(f'"{key}" is no whole number')
    return float(seconds)
