"""When it is told what a run waits for: once that has been the same for two seconds, and then more and more rarely."""

from __future__ import annotations

from typing import TYPE_CHECKING

import trio
from attrs import define, field

from kubelet_emu.cli.waits import told, waits_of
from kubelet_emu.journal.records import (
    DeletedRecord,
    EffectRecord,
    ManifestRecord,
    ProbeRecord,
    RunRecord,
    StatusRecord,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from kubelet_emu.journal.encode import Entry
    from kubelet_emu.journal.fold import Facts

SETTLED_SECONDS = 2.0
AGAIN_SECONDS = 30.0
RARER = 6.0
TELLING = (DeletedRecord, EffectRecord, ManifestRecord, ProbeRecord, RunRecord, StatusRecord)


@define
class _Told:
    """When a line may be told again, and how long the silence after that is."""

    not_before: float
    silence: float


@define(eq=False)
class WaitWatch:
    """A sink behind the one that feeds `facts`; `tell` gets a line that is due. Times are those of Trio's clock."""

    facts: Facts
    tell: Callable[[str], None]
    _told: dict[str, _Told] = field(factory=dict, init=False)
    _changed: trio.Event = field(factory=trio.Event, init=False)

    def __call__(self, entry: Entry) -> None:
        """Take an entry after which something else may be waited for."""
        if isinstance(entry.record, TELLING):
            self._changed.set()

    async def run(self) -> None:
        """Look every two seconds while something happens, and tell what waits, until cancelled."""
        before, due_at = "", float("inf")
        while True:
            with trio.move_on_at(due_at):
                await self._changed.wait()
            self._changed = trio.Event()
            await trio.sleep(SETTLED_SECONDS)
            line = told(waits_of(self.facts))
            due_at = trio.current_time() if line else float("inf")
            if line and line == before:
                due_at = self._tell(line)
            before = line

    def _tell(self, line: str) -> float:
        """Tell a line unless it was told lately; return when it may be told again."""
        now, last = trio.current_time(), self._told.get(line)
        if last is None or last.not_before <= now:
            silence = AGAIN_SECONDS if last is None else last.silence * RARER
            last = self._told[line] = _Told(now + silence, silence)
            self.tell(line)
        return last.not_before
