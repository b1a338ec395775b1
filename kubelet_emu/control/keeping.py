"""A run's records in its state folder: for `why`, and for all questions once the run has ended.

A sink of the journal. Lines that containers wrote may be many: beyond `MOST_LOG_BYTES` no more of them are kept.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from attrs import define, field

from kubelet_emu.control.places import RECORDS
from kubelet_emu.journal.encode import Entry, to_line
from kubelet_emu.journal.outlet import open_outlet
from kubelet_emu.journal.records import HeaderRecord, LogRecord, NoteRecord

if TYPE_CHECKING:
    from datetime import datetime
    from pathlib import Path

    from kubelet_emu.journal.outlet import Outlet

MOST_LOG_BYTES = 64 << 20


@define(eq=False)
class RecordKeeper:
    """Writes records into the folder once there is one; those from before wait for it."""

    epoch: datetime
    most_log_bytes: int = MOST_LOG_BYTES
    _early: list[Entry] = field(factory=list, init=False)
    _outlet: Outlet | None = field(default=None, init=False)
    _log_bytes: int = field(default=0, init=False)

    def open(self, folder: Path) -> None:
        """Make the file, mode 0600, and write what has waited; OSError."""
        self._outlet = open_outlet(folder / RECORDS, str(folder / RECORDS))
        early, self._early = self._early, []
        for entry in early:
            self(entry)

    def __call__(self, entry: Entry) -> None:
        """Take an entry."""
        if self._outlet is None:
            self._early.append(entry)
            return
        if isinstance(entry.record, HeaderRecord) and entry.record.epoch is not None:
            self.epoch = entry.record.epoch
        line = to_line(entry, self.epoch)
        if isinstance(entry.record, LogRecord):
            if self._log_bytes > self.most_log_bytes:
                return
            self._log_bytes += len(line)
            if self._log_bytes > self.most_log_bytes:
                text = f"more than {self.most_log_bytes} bytes of container logs: no more of them are kept"
                line = to_line(
                    Entry(n=entry.n, record=NoteRecord(ref=entry.record.ref, text=text), at=entry.at), self.epoch
                )
        self._outlet.write(line)

    def close(self) -> str:
        """Close the file and return why it is incomplete, empty when it is whole."""
        outlet, self._outlet = self._outlet, None
        if outlet is None:
            return ""
        outlet.close()
        return outlet.failure()
