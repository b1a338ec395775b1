"""Files of one run to one LifecycleLog: read each, put them on one time line, let them tell each other what they know.

Wall time is the common clock. A trace counts seconds from a moment that it seldom names: alone it is used as it is, and
beside others it is refused rather than guessed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, BinaryIO

from kubelet_emu.lifecycle.log import LifecycleLog, LogFault, SourceFormat
from kubelet_emu.lifecycle.raw_records import time_of
from kubelet_emu.lifecycle.reading.files import UnrecognisedError, files_of, read_file
from kubelet_emu.lifecycle.reading.filling import (
    MomentFinder,
    assumed_exits,
    fill_pod,
    fill_runs,
)
from kubelet_emu.lifecycle.reading.found import TEXT_FORMATS, Found, ReadError
from kubelet_emu.lifecycle.reading.moments import MomentWords
from kubelet_emu.lifecycle.reading.objects import objects_of
from kubelet_emu.lifecycle.reading.our_formats import take_entries
from kubelet_emu.lifecycle.reading.times import NANO, to_datetime
from kubelet_emu.lifecycle.trace import Trace

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from kubelet_emu.apiserver.objects import APIObject
    from kubelet_emu.journal.encode import Entry
    from kubelet_emu.lifecycle.raw_records import RawRecord
    from kubelet_emu.lifecycle.reading.naming import GivenName

_NO_WORDS = MomentWords()


def read_logs(
    paths: Iterable[str | Path | BinaryIO],
    moments: MomentWords = _NO_WORDS,
    manifests: Iterable[APIObject] = (),
    names: Iterable[GivenName] = (),
) -> LifecycleLog:
    """Read the logs of one run: files, folders, `-` for standard input, or streams of bytes.

    What can't be read is among the faults, with its line. ReadError when a file can't be opened or is in no format that
    is read, when nothing is left, or when the sources have no common clock.
    """
    founds, faults = _read_all(paths, tuple(names))
    if not founds:
        raise ReadError("\n".join(fault.text for fault in faults) or "no log is named")
    return _joined(founds, faults, moments, objects_of(manifests))


def log_of_entries(entries: Iterable[Entry], file: str) -> LifecycleLog:
    """Return the records of a run of our own, as if they had been read from `file`."""
    found = Found(file=file, format=SourceFormat.LIFECYCLE_LOG)
    take_entries(found, tuple(entries))
    return _joined([found], [], _NO_WORDS, {})


def _joined(
    founds: list[Found],
    faults: Iterable[LogFault],
    moments: MomentWords,
    objects: dict[tuple[str, str], APIObject],
) -> LifecycleLog:
    epoch = _align(founds)
    records = _together(founds, moments)
    trace = Trace.of(records)
    for found in founds:
        objects |= found.objects
    return LifecycleLog(
        trace=trace,
        epoch=None if epoch is None else to_datetime(epoch),
        objects=objects,
        sources=tuple(found.source() for found in founds),
        faults=(*faults, *(fault for found in founds for fault in found.all_faults())),
        entries=tuple(entry for found in founds for entry in found.entries),
        kubernetes=next((found.kubernetes for found in founds if found.kubernetes), ""),
        is_torn=any(found.is_torn for found in founds),
        places=tuple(place for found in founds for place in found.places()),
    )


def _read_all(
    paths: Iterable[str | Path | BinaryIO], names: tuple[GivenName, ...]
) -> tuple[list[Found], list[LogFault]]:
    """Return what each file holds; a file that is no log is a fault only where others are beside it in a folder."""
    founds: list[Found] = []
    faults: list[LogFault] = []
    for path, is_of_folder in files_of(paths):
        try:
            founds.append(read_file(path, names))
        except UnrecognisedError as error:
            if not is_of_folder:
                raise
            faults.append(LogFault(file=str(path), line=0, text=str(error).splitlines()[0].partition(": ")[2]))
    return founds, faults


def _align(founds: list[Found]) -> int | None:
    """Put the records of all files on one time line; return its beginning in nanoseconds, None without wall time."""
    without = [found.file for found in founds if found.base is None and found.records]
    if without and len(founds) > 1:
        raise ReadError(
            f"{', '.join(without)}: a trace counts seconds from a moment that it doesn't name, so it can't be put "
            'beside other logs; read it alone, or give its first record "epoch": "2026-01-01T00:00:00Z"'
        )
    based = [(found, found.base) for found in founds if found.base is not None]
    firsts = [base + round(min(map(time_of, found.records)) * NANO) for found, base in based if found.records]
    if not firsts:
        return min((base for _, base in based), default=None)
    epoch = min(firsts)
    for found, base in based:
        shift = (base - epoch) / NANO
        if shift:
            for record in found.records:
                record["t"] = round(time_of(record) + shift, 9)
    return epoch


def _together(founds: list[Found], moments: MomentWords) -> list[RawRecord]:
    """Return the records of all files, with runs and moments."""
    texts = [found for found in founds if found.format in TEXT_FORMATS]
    others = [record for found in founds if found.format not in TEXT_FORMATS for record in found.records]
    lines = _lines_of(texts)
    pods = dict.fromkeys(str(record["pod"]) for record in (*others, *lines) if record.get("pod"))
    fill_pod(lines, pods)
    fill_runs(lines, others, moments)
    said = MomentFinder(moments, with_defaults=True).find(lines)
    theirs = [record for record in others if record.get("kind") == "log"] if moments.given else []
    said += MomentFinder(moments, with_defaults=False).find(theirs)
    return [*others, *lines, *said, *assumed_exits(lines, [*others, *said])]


def _lines_of(texts: list[Found]) -> list[RawRecord]:
    """Return the container lines of all files in order of time; a line that two files have is one."""
    lines = [record for found in texts for record in found.records]
    if len(texts) > 1:
        lines = list({_identity(record): record for record in lines}.values())
    return sorted(lines, key=time_of)


def _identity(record: RawRecord) -> tuple[object, ...]:
    return record["t"], record.get("pod"), record.get("container"), record["line"]
