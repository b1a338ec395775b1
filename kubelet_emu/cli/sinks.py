"""Sinks around other sinks: what ends with the run, and what puts entries into the order of their times."""

from __future__ import annotations

import heapq
from datetime import timedelta
from typing import TYPE_CHECKING

from attrs import define, field

from kubelet_emu.journal.records import EndRecord, NoteRecord

if TYPE_CHECKING:
    from datetime import datetime

    from kubelet_emu.journal.encode import Entry
    from kubelet_emu.journal.journal import Sink

TOLD_LATE = timedelta(seconds=2)
"""How long after it happened a kubelet's relist may tell of a start or an exit, with some room."""


@define(eq=False)
class AfterEnd:
    """Passes entries on until the run's end; of the clean-up behind it only notes."""

    sink: Sink
    _has_ended: bool = field(default=False, init=False)

    def __call__(self, entry: Entry) -> None:
        """Pass an entry on, or not."""
        is_note = isinstance(entry.record, NoteRecord)
        if not self._has_ended or is_note:
            self.sink(entry)
        self._has_ended = self._has_ended or isinstance(entry.record, EndRecord)


@define(eq=False)
class InOrder:
    """Passes entries on in the order of their times; each is held until nothing earlier can come any more.

    In virtual time that costs nobody any waiting.
    """

    sink: Sink
    _held: list[tuple[datetime, int, Entry]] = field(factory=list, init=False)
    _count: int = field(default=0, init=False)
    _latest: datetime | None = field(default=None, init=False)
    _has_ended: bool = field(default=False, init=False)

    def __call__(self, entry: Entry) -> None:
        """Take an entry, and pass on what can't be overtaken."""
        self._count += 1
        heapq.heappush(self._held, (entry.at, self._count, entry))
        self._latest = entry.at if self._latest is None else max(self._latest, entry.at)
        self._has_ended = self._has_ended or isinstance(entry.record, EndRecord)
        while self._held and (self._has_ended or self._held[0][0] < self._latest - TOLD_LATE):
            self.sink(heapq.heappop(self._held)[2])

    def flush(self) -> None:
        """Pass on what is held: nothing more comes."""
        while self._held:
            self.sink(heapq.heappop(self._held)[2])
