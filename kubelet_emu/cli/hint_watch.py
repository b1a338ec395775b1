"""When a hint is due: once a pod has been in a state for ten seconds, and then more and more rarely."""

from __future__ import annotations

from typing import TYPE_CHECKING

import trio
from attrs import define, field

from kubelet_emu.cli.hints import hints_of
from kubelet_emu.journal.records import EventRecord, ProbeRecord, RunRecord, StatusRecord

if TYPE_CHECKING:
    from collections.abc import Callable

    from kubelet_emu.cli.hints import Hint
    from kubelet_emu.journal.encode import Entry
    from kubelet_emu.journal.fold import Facts

FIRST_SECONDS = 10.0
SECOND_SECONDS = 60.0
RARER = 6.0


@define
class _Told:
    """When the same may be told again, and how long the silence after that is."""

    not_before: float
    silence: float


@define(eq=False)
class HintWatch:
    """A sink behind the one that feeds `facts`; `tell` gets each hint that is due. Times are those of Trio's clock."""

    facts: Facts
    tell: Callable[[str], None]
    _hints: dict[str, Hint] = field(factory=dict, init=False)
    _since: dict[str, float] = field(factory=dict, init=False)
    _told: dict[str, _Told] = field(factory=dict, init=False)
    _messages: dict[str, dict[tuple[str, str], str]] = field(factory=dict, init=False)
    _changed: trio.Event = field(factory=trio.Event, init=False)

    def __call__(self, entry: Entry) -> None:
        """Take an entry that may change what a pod waits for."""
        match record := entry.record:
            case EventRecord(type="Warning"):
                messages = self._messages.setdefault(record.ref.uid, {})
                messages[record.reason, record.container or ""] = record.message
            case StatusRecord() | RunRecord() | ProbeRecord(probe="startup"):
                pass
            case _:
                return
        self._look(record.ref.uid)

    def _look(self, uid: str) -> None:
        """Compare what a pod waits for with what it waited for before."""
        pod = self.facts.pods.get(uid)
        if pod is None:
            return
        found = hints_of(pod, self._messages.get(uid, {}), is_of_job=pod.owner in self.facts.jobs)
        now = {hint.key: hint for hint in found}
        for key in [key for key in self._hints if key.startswith(f"{uid}/") and key not in now]:
            del self._hints[key], self._since[key]
        if now.keys() - self._hints.keys():
            self._changed.set()
        for key, hint in now.items():
            self._hints[key] = hint
            self._since.setdefault(key, trio.current_time())

    async def run(self) -> None:
        """Tell what is due until cancelled."""
        while True:
            with trio.move_on_at(min(map(self._due, self._hints), default=float("inf"))):
                await self._changed.wait()
            self._changed = trio.Event()
            for key in [key for key in self._hints if self._due(key) <= trio.current_time()]:
                self._tell(key)

    def _due(self, key: str) -> float:
        told = self._told.get(key)
        due = self._since[key] + FIRST_SECONDS
        return due if told is None else max(due, told.not_before)

    def _tell(self, key: str) -> None:
        told = self._told.get(key)
        silence = SECOND_SECONDS - FIRST_SECONDS if told is None else told.silence
        self._told[key] = _Told(trio.current_time() + silence, silence * RARER)
        self.tell(self._hints[key].text)
