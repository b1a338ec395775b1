"""What must hold on a node at any moment, checked as things happen, with nothing kept of a pod that is gone.

The oracle is the runtime: its own events, those that the kubelet never gets too, say what ran; the API's changes say
what users saw; and a pod's records are judged by the rules of `verify` when the pod is gone.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from attrs import define, field

from kubelet_emu.api.reasons import FAILED_KILL_POD
from kubelet_emu.api.v1 import Pod
from kubelet_emu.apiserver.watches import WatchEventType
from kubelet_emu.journal.encode import ref_of
from kubelet_emu.journal.records import EventRecord, ObservedRecord, ProbeRecord, SyncRecord
from kubelet_emu.lifecycle.reading.logs import log_of_entries
from kubelet_emu.lifecycle.verification import Outcome, verify
from runtime.api import RuntimeEventType

if TYPE_CHECKING:
    from collections.abc import Callable

    from kubelet_emu.apiserver.watches import WatchEvent
    from kubelet_emu.journal.encode import Entry
    from runtime.api import RuntimeEvent, SandboxID

NOT_FOR_RULES = (ProbeRecord, SyncRecord, ObservedRecord)
"""Most of what is recorded; the rules read none of it."""
ENGINE_ERROR = "the engine is busy"
FINAL = frozenset({"Succeeded", "Failed"})


@define(eq=False, kw_only=True)
class _Life:
    """One pod: what it is made of, and what was seen of it."""

    name: str
    inits: frozenset[str]
    sidecars: frozenset[str]
    mains: frozenset[str]
    phase: str = ""
    restarts: dict[str, int] = field(factory=dict)
    running: dict[str, str] = field(factory=dict)
    done: dict[SandboxID, set[str]] = field(factory=dict)
    begun: set[tuple[SandboxID, str]] = field(factory=set)
    deletion_asked_at: float | None = None
    is_terminating: bool = False
    is_disturbed: bool = False
    entries: list[Entry] = field(factory=list)

    @classmethod
    def of(cls, pod: Pod) -> _Life:
        """Return that of a new pod."""
        init, spec = pod.spec.init_containers, pod.spec
        return cls(
            name=f"{pod.metadata.namespace}/{pod.metadata.name}",
            inits=frozenset(each.name for each in init if each.restart_policy != "Always"),
            sidecars=frozenset(each.name for each in init if each.restart_policy == "Always"),
            mains=frozenset(each.name for each in spec.containers),
        )


@define(eq=False, kw_only=True)
class Invariants:
    """Notes what is broken; `seconds` is the virtual time, `most_seconds` how long a deletion may take."""

    seconds: Callable[[], float]
    most_seconds: float
    broken: list[str] = field(factory=list)
    seen: Counter[str] = field(factory=Counter)
    _lives: dict[str, _Life] = field(factory=dict, init=False)
    _gone: dict[str, _Life] = field(factory=dict, init=False)

    @property
    def known(self) -> int:
        """Return how many pods something is kept of."""
        return len(self._lives) + len(self._gone)

    def disturb(self, uid: str) -> None:
        """Say that somebody lays hands on a pod's things in the runtime: the rules know nothing of such."""
        life = self._lives.get(uid)
        if life is not None:
            life.is_disturbed = True

    def disturb_all(self) -> None:
        """Say the same of every pod: the node itself fails."""
        for life in (*self._lives.values(), *self._gone.values()):
            life.is_disturbed = True

    def _break(self, life: _Life, text: str) -> None:
        self.broken.append(f"{self.seconds():.3f} {life.name}: {text}")

    # -- the API

    def on_change(self, event: WatchEvent) -> None:
        """Take a change of the API."""
        pod = event.object
        if not isinstance(pod, Pod):
            return
        uid = pod.metadata.uid or ""
        if event.type is WatchEventType.ADDED:
            self._lives[uid] = _Life.of(pod)
            self.seen["pods"] += 1
        life = self._lives[uid]
        self._see_status(life, pod)
        if pod.metadata.deletion_timestamp is not None and life.deletion_asked_at is None:
            life.deletion_asked_at = self.seconds()
        if event.type is WatchEventType.DELETED:
            self._gone[uid] = self._lives.pop(uid)

    def _see_status(self, life: _Life, pod: Pod) -> None:
        phase = pod.status.phase or ""
        if life.phase in FINAL and phase != life.phase:
            self._break(life, f"phase {phase} after {life.phase}")
        life.phase = phase
        for status in (*pod.status.init_container_statuses, *pod.status.container_statuses):
            before = life.restarts.get(status.name, 0)
            if status.restart_count < before:
                self._break(life, f"restartCount of {status.name} fell from {before} to {status.restart_count}")
            life.restarts[status.name] = status.restart_count

    # -- the runtime

    def on_event(self, event: RuntimeEvent) -> None:
        """Take an event of the runtime."""
        life = self._lives.get(event.pod_uid) or self._gone.get(event.pod_uid)
        name = event.container_name
        if life is None or not name:
            return
        self.seen[event.type.value] += 1
        match event.type:
            case RuntimeEventType.CONTAINER_STARTED:
                self._started(life, event)
            case RuntimeEventType.CONTAINER_EXITED | RuntimeEventType.CONTAINER_REMOVED:
                if life.running.get(name) == event.container_id:
                    del life.running[name]
                if event.exit_code == 0 and name in life.inits:
                    life.done.setdefault(event.sandbox_id, set()).add(name)

    def _started(self, life: _Life, event: RuntimeEvent) -> None:
        name, sandbox = event.container_name, event.sandbox_id
        if name in life.running:
            self._break(life, f"{name} runs twice")
        life.running[name] = event.container_id
        if life.is_terminating:
            self._break(life, f"{name} started once the pod was terminating")
        done = life.done.setdefault(sandbox, set())
        if name in life.sidecars:
            done.add(name)
        elif name in life.mains and (sandbox, name) not in life.begun:
            life.begun.add((sandbox, name))
            missing = (life.inits | life.sidecars) - done
            if missing and not life.is_disturbed:
                self._break(life, f"{name} started before {sorted(missing)}")

    # -- the records

    def on_entry(self, entry: Entry) -> None:
        """Take a record."""
        ref = ref_of(entry.record)
        life = None if ref is None else self._lives.get(ref.uid) or self._gone.get(ref.uid)
        if life is None:
            return
        if isinstance(entry.record, SyncRecord) and entry.record.step in {"terminating", "terminated"}:
            life.is_terminating = True
        if isinstance(entry.record, EventRecord) and _tells_a_failing_engine(entry.record):
            life.is_disturbed = True
        if life.is_disturbed:
            life.entries.clear()
        elif not isinstance(entry.record, NOT_FOR_RULES):
            life.entries.append(entry)

    # -- now and then

    def look(self, left: frozenset[str]) -> None:
        """Judge pods that are gone; `left` are the uids of which the runtime still has something."""
        for uid in [uid for uid in self._gone if uid not in left]:
            life = self._gone.pop(uid)
            if life.running:
                self._break(life, f"gone, but {sorted(life.running)} never ended")
            self._judge(life)
        now = self.seconds()
        for life in self._lives.values():
            if life.deletion_asked_at is not None and now - life.deletion_asked_at > self.most_seconds:
                self._break(life, f"deleted at {life.deletion_asked_at:.3f}, and still there")
                life.deletion_asked_at = now

    def _judge(self, life: _Life) -> None:
        """Ask the rules of `verify`."""
        if life.is_disturbed:
            self.seen["pods not judged"] += 1
            return
        self.seen["pods judged"] += 1
        report = verify(log_of_entries(life.entries, "soak"))
        for finding in report.findings:
            self.seen[f"{finding.rule.code} {finding.outcome.value}"] += 1
            for verdict in finding.of(Outcome.VIOLATION):
                self._break(life, f"{finding.rule.code} {verdict.subject}: {verdict.text}; {verdict.rule}")


def _tells_a_failing_engine(record: EventRecord) -> bool:
    """Tell whether a call of the kubelet failed: what comes of it is no matter of the rules of a log."""
    return record.reason == FAILED_KILL_POD or ENGINE_ERROR in record.message
