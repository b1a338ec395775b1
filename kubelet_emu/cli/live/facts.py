"""What a live view shows beyond the facts of a run: probes as they stand, hooks that run, deadlines that are awaited.

A sink of the journal, behind the one that feeds the facts. It looks at no clock.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import TYPE_CHECKING

from attrs import define, evolve, field

from kubelet_emu.api.reasons import CRASH_LOOP_BACK_OFF
from kubelet_emu.api.reasons_images import ERR_IMAGE_PULL
from kubelet_emu.journal.records import (
    DeletedRecord,
    EffectRecord,
    ManifestRecord,
    ProbeRecord,
    RunRecord,
    StatusRecord,
    StopRecord,
    SyncRecord,
)
from kubelet_emu.rules.backoff import Backoff

if TYPE_CHECKING:
    from datetime import datetime

    from kubelet_emu.journal.encode import Entry
    from kubelet_emu.journal.facts import ContainerFacts, PodFacts
    from kubelet_emu.journal.fold import Facts
    from kubelet_emu.journal.records import ObjectRef

PROBES = ("startup", "liveness", "readiness")
_DEFAULT_THRESHOLD = 3
_START = "StartContainer "


@define
class ProbeFacts:
    """One probe of a container, and how its attempts on the run that there is have gone."""

    initial_delay_seconds: int = 0
    failure_threshold: int = _DEFAULT_THRESHOLD
    is_first: bool = True
    is_success: bool = False
    failures: int = 0

    def begin(self) -> None:
        """Forget the run before."""
        self.is_first, self.is_success, self.failures = True, False, 0

    def take(self, record: ProbeRecord) -> None:
        """Take an attempt: `stored` is what counts, failures in a row may change it."""
        self.is_first = False
        self.is_success = record.stored == "success"
        self.failures = 0 if record.outcome in {"success", "warning"} else self.failures + 1


@define
class ContainerProgress:
    """What is under way with one container. `kill_at` is when its stop turns into a kill."""

    probes: dict[str, ProbeFacts] = field(factory=dict)
    hook: str = ""
    kill_at: datetime | None = None
    is_signalled: bool = False
    starts_again_at: datetime | None = None
    pulls_again_at: datetime | None = None


@define
class PodProgress:
    """What the manifest of a pod says beyond its facts, and when its status was published last."""

    status_at: datetime | None = None
    labels: Mapping[str, object] = field(factory=dict)
    active_deadline_seconds: int | None = None


@define(eq=False)
class LiveFacts:
    """Facts of a run with what is under way. `crash_loop` is the node's back-off."""

    facts: Facts
    crash_loop: Backoff = field(factory=Backoff)
    _image_pulls: Backoff = field(factory=Backoff, init=False)
    _containers: dict[tuple[str, str], ContainerProgress] = field(factory=dict, init=False)
    _pods: dict[str, PodProgress] = field(factory=dict, init=False)

    def container(self, pod: PodFacts, container: ContainerFacts) -> ContainerProgress:
        """Return what is under way with a container."""
        return self._of(pod.ref, container.name)

    def pod(self, pod: PodFacts) -> PodProgress:
        """Return what is known of a pod beyond its facts."""
        return self._pods.setdefault(pod.ref.uid, PodProgress())

    def __call__(self, entry: Entry) -> None:
        """Take an entry that the facts have taken already."""
        match record := entry.record:
            case ManifestRecord():
                if record.ref.kind == "Pod":
                    self._read(record.ref, record.manifest)
            case StatusRecord():
                self._pods.setdefault(record.ref.uid, PodProgress()).status_at = entry.at
            case ProbeRecord():
                probes = self._of(record.ref, record.container).probes
                probes.setdefault(record.probe, ProbeFacts()).take(record)
            case RunRecord():
                self._see_run(record, entry.at)
            case EffectRecord():
                self._of(record.ref, record.container).hook = record.call if record.what == "started" else ""
            case StopRecord():
                self._see_stop(record, entry.at)
            case SyncRecord():
                for result in record.results:
                    self._see_result(record.ref, result, entry.at)
            case DeletedRecord():
                self._forget(record.ref.uid)
            case _:
                pass

    def _forget(self, uid: str) -> None:
        """Drop what is known of a pod that is gone: a run may have thousands, one after the other."""
        self._pods.pop(uid, None)
        for name in [name for of, name in self._containers if of == uid]:
            del self._containers[(uid, name)]
        self.crash_loop, self._image_pulls = _without(self.crash_loop, uid), _without(self._image_pulls, uid)

    def _of(self, ref: ObjectRef, name: str) -> ContainerProgress:
        return self._containers.setdefault((ref.uid, name), ContainerProgress())

    def _read(self, ref: ObjectRef, manifest: Mapping[str, object]) -> None:
        metadata, spec = _mapping(manifest.get("metadata")), _mapping(manifest.get("spec"))
        deadline = spec.get("activeDeadlineSeconds")
        pod = self._pods.setdefault(ref.uid, PodProgress())
        pod.labels = _mapping(metadata.get("labels"))
        pod.active_deadline_seconds = deadline if isinstance(deadline, int) else None
        for section in ("initContainers", "containers", "ephemeralContainers"):
            items = spec.get(section)
            for item in map(_mapping, items if isinstance(items, list | tuple) else ()):
                probes = self._of(ref, str(item.get("name", ""))).probes
                for kind in PROBES:
                    if (given := item.get(f"{kind}Probe")) is not None:
                        _read_probe(probes.setdefault(kind, ProbeFacts()), _mapping(given))

    def _see_run(self, record: RunRecord, at: datetime) -> None:
        progress = self._of(record.ref, record.container)
        progress.hook, progress.kill_at, progress.is_signalled = "", None, False
        if record.what == "start":
            progress.starts_again_at = progress.pulls_again_at = None
            for probe in progress.probes.values():
                probe.begin()
            if (ended_at := self._ended_at(record.ref, record.container, record.run - 1)) is not None:
                self.crash_loop = self.crash_loop.next(_key(record.ref, record.container), ended_at, at)

    def _see_stop(self, record: StopRecord, at: datetime) -> None:
        progress = self._of(record.ref, record.container)
        if record.what == "StopContainer" and record.timeout is not None:
            progress.kill_at = at + timedelta(seconds=record.timeout)
        elif record.what == "signal" and record.own:
            progress.is_signalled = True

    def _see_result(self, ref: ObjectRef, result: str, at: datetime) -> None:
        """Take the result of an action: what was refused is tried again when its back-off is over."""
        name, _, word = result.removeprefix(_START).partition(": ")
        if not result.startswith(_START):
            return
        if word == CRASH_LOOP_BACK_OFF:
            run = self._last_run(ref, name)
            if (ended_at := self._ended_at(ref, name, run)) is not None:
                delay = self.crash_loop.delay(_key(ref, name))
                self._of(ref, name).starts_again_at = ended_at + timedelta(seconds=delay)
        elif word == ERR_IMAGE_PULL:
            key = _key(ref, name)
            self._image_pulls = self._image_pulls.next(key, at, at)
            self._of(ref, name).pulls_again_at = at + timedelta(seconds=self._image_pulls.delay(key))

    def _last_run(self, ref: ObjectRef, name: str) -> int:
        pod = self.facts.pods.get(ref.uid)
        run = None if pod is None else pod.container(name).last_run
        return 0 if run is None else run.run

    def _ended_at(self, ref: ObjectRef, name: str, run: int) -> datetime | None:
        pod = self.facts.pods.get(ref.uid)
        facts = None if pod is None else pod.container(name).runs.get(run)
        return None if facts is None else facts.exited_at


def _read_probe(probe: ProbeFacts, given: Mapping[str, object]) -> None:
    delay, threshold = given.get("initialDelaySeconds"), given.get("failureThreshold")
    probe.initial_delay_seconds = delay if isinstance(delay, int) else 0
    probe.failure_threshold = threshold if isinstance(threshold, int) else _DEFAULT_THRESHOLD


def _without(backoff: Backoff, uid: str) -> Backoff:
    kept = {key: entry for key, entry in backoff.entries.items() if not key.startswith(f"{uid}/")}
    return evolve(backoff, entries=kept)


def _key(ref: ObjectRef, name: str) -> str:
    return f"{ref.uid}/{name}"


def _mapping(value: object) -> Mapping[str, object]:
    return value if isinstance(value, Mapping) else {}
