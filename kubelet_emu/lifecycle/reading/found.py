"""What one file gave: records on its own time line, and all that couldn't be read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from attrs import define, field

from kubelet_emu.journal.short_names import ShortNames
from kubelet_emu.lifecycle.log import LogFault, Place, Source, SourceFormat
from kubelet_emu.lifecycle.raw_records import time_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from kubelet_emu.apiserver.objects import APIObject
    from kubelet_emu.journal.encode import Entry
    from kubelet_emu.lifecycle.raw_records import RawRecord
    from kubelet_emu.lifecycle.reading.times import WallTime

MOST_FAULTS = 100
TEXT_FORMATS = frozenset({SourceFormat.PREFIXED_LINES, SourceFormat.CRI_LOG, SourceFormat.DOCKER_LOG})


class ReadError(Exception):
    """Nothing of what was named can be used; the text says what was tried and what would do."""


@define(eq=False)
class Found:
    """One file's records while it is read.

    `base` is what `t` of the records counts from, in nanoseconds since the Unix epoch; None for a source that has no
    wall time. A record of a container line has no `run` where the file doesn't tell it. `line` is being read,
    `lines` are those that the records are from, 0 for none.
    """

    file: str
    format: SourceFormat
    base: int | None = None
    records: list[RawRecord] = field(factory=list)
    lines: list[int] = field(factory=list)
    line: int = 0
    faults: list[LogFault] = field(factory=list)
    objects: dict[tuple[str, str], APIObject] = field(factory=dict)
    entries: tuple[Entry, ...] = ()
    kubernetes: str = ""
    is_torn: bool = False
    step_seconds: float = 0.0
    names: ShortNames = field(factory=ShortNames)
    _more_faults: int = field(default=0, init=False)

    def fault(self, line: int, text: str) -> None:
        """Note what can't be read; beyond a hundred they are only counted."""
        if len(self.faults) < MOST_FAULTS:
            self.faults.append(LogFault(file=self.file, line=line, text=text))
        else:
            self._more_faults += 1

    def add(self, at: WallTime, record: Mapping[str, object]) -> RawRecord:
        """Add a record that happened at a wall time; the first one sets what this source counts from."""
        if self.base is None:
            self.base = at.nanoseconds
        new: RawRecord = {"t": (at.nanoseconds - self.base) / 1_000_000_000, **record}
        if at.step_seconds:
            new["resolution"] = at.step_seconds
            self.step_seconds = max(self.step_seconds, at.step_seconds)
        self.keep(new)
        return new

    def keep(self, record: RawRecord) -> None:
        """Add a record as it is, from the line that is being read."""
        self.records.append(record)
        self.lines.append(self.line)

    def places(self) -> Iterator[Place]:
        """Yield where each record with a line is, at the time it has by now."""
        for record, line in zip(self.records, self.lines, strict=True):
            if line:
                pod, container = str(record.get("pod") or ""), str(record.get("container") or "")
                yield Place(time_of(record), pod, container, self.file, line)

    def all_faults(self) -> tuple[LogFault, ...]:
        """Return the faults, with a last one that counts those left out."""
        if not self._more_faults:
            return tuple(self.faults)
        return (*self.faults, LogFault(file=self.file, line=0, text=f"{self._more_faults} more lines can't be read"))

    def source(self) -> Source:
        """Return what is told of this file."""
        return Source(
            file=self.file,
            format=self.format,
            records=len(self.records),
            resolution_seconds=self.step_seconds,
        )
