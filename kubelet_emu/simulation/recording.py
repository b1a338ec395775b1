"""A run on real containers, gathered for its simulate.yaml: per container the runs, per image the pulls.

`RunRecording` is a sink of the journal. What it keeps of a run is what the run showed from outside; nothing is guessed.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, cast

from attrs import define, field

from kubelet_emu.config.durations import parse_duration
from kubelet_emu.journal.records import (
    EffectRecord,
    EndRecord,
    EventRecord,
    LogRecord,
    ManifestRecord,
    ProbeRecord,
    RunRecord,
    StatusRecord,
    StopRecord,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from datetime import datetime

    from kubelet_emu.api.v1_status import PodStatus
    from kubelet_emu.journal.encode import Entry

_PULLED = re.compile(r'Successfully pulled image "([^"]+)" in (\S+) \(.*\)\. Image size: (\d+) bytes\.')
_PRESENT = re.compile(r'Container image "([^"]+)" already present on machine')
_PULL_FAILED = re.compile(r'Failed to pull image "([^"]+)": (.*)', re.DOTALL)
_FAULTS = (
    ("hangs", re.compile("no progress for")),
    ("breaksOff", re.compile("failed to copy: ")),
    ("badSignature", re.compile("SignatureValidationFailed")),
    ("denied", re.compile("denied|unauthorized|authorization|authentication", re.IGNORECASE)),
    ("notFound", re.compile("not found|manifest unknown", re.IGNORECASE)),
)
_ROOT_USER = "runAsNonRoot and image will run as root"
_USER = re.compile(r"runAsNonRoot and image has (?:non-numeric user|an invalid user id) \(([^)]*)\)")
_ARMOUR_ANNOTATION = "container.apparmor.security.beta.kubernetes.io/"
_NO_START = frozenset({"StartError", "ContainerCannotRun"})


@define
class SeenRun:
    """What was seen of one run of a container. Times are the engine's."""

    number: int
    started_at: datetime | None = None
    exited_at: datetime | None = None
    code: int = 0
    reason: str = ""
    start_error: str | None = None
    asked_at: datetime | None = None
    killed_at: datetime | None = None
    lines: list[tuple[datetime, LogRecord]] = field(factory=list)
    probes: list[tuple[datetime, ProbeRecord]] = field(factory=list)
    hooks: dict[str, tuple[datetime, EffectRecord]] = field(factory=dict)


@define
class SeenContainer:
    """A container of one pod: its part of the manifest, and its runs by number."""

    pod: str
    workload: str
    name: str
    manifest: Mapping[str, object]
    is_ending: bool
    runs: dict[int, SeenRun] = field(factory=dict)

    def run(self, number: int) -> SeenRun:
        """Return a run, a new one when it was not heard of before."""
        return self.runs.setdefault(number, SeenRun(number))

    def run_at(self, at: datetime) -> SeenRun | None:
        """Return the run that was going on at a time."""
        begun = [run for run in self.runs.values() if run.started_at is not None and run.started_at <= at]
        return max(begun, key=lambda run: run.number) if begun else None


@define
class SeenImage:
    """Pulls of an image: how each ended, and the size and seconds of the last good one."""

    pulls: list[str] = field(factory=list)
    was_present: bool = False
    size: int = 0
    seconds: float = 0.0
    user: int | str | None = None


@define(eq=False)
class RunRecording:
    """Gathers the records of a run; `armoured` are the pods that ask for AppArmor."""

    containers: dict[tuple[str, str], SeenContainer] = field(factory=dict)
    images: dict[str, SeenImage] = field(factory=dict)
    armoured: set[str] = field(factory=set)
    has_ended: bool = False

    def __call__(self, entry: Entry) -> None:
        """Take an entry."""
        match record := entry.record:
            case ManifestRecord() if record.ref.kind == "Pod":
                self._accept(record)
            case RunRecord() if (container := self._of(record)) is not None:
                _see_run(container.run(record.run), record, entry.at)
            case StopRecord(what="signal") if (container := self._of(record)) is not None:
                _see_signal(container.run(record.run), record, entry.at)
            case LogRecord() if (container := self._of(record)) is not None:
                container.run(record.run).lines.append((entry.at, record))
            case EffectRecord() if (container := self._of(record)) is not None:
                container.run(record.run).hooks[record.call] = (entry.at, record)
            case ProbeRecord() if (container := self._of(record)) is not None:
                run = container.run_at(entry.at)
                (run or container.run(record.run)).probes.append((entry.at, record))
            case EventRecord():
                self._see_event(record.message)
            case StatusRecord():
                self._see_status(record.ref.uid, record.status)
            case EndRecord():
                self.has_ended = True

    def _of(self, record: RunRecord | StopRecord | LogRecord | EffectRecord | ProbeRecord) -> SeenContainer | None:
        return self.containers.get((record.ref.uid, record.container))

    def _accept(self, record: ManifestRecord) -> None:
        spec, metadata = mapping_of(record.manifest.get("spec")), mapping_of(record.manifest.get("metadata"))
        workload, is_of_job = _workload(metadata, record.ref.name)
        if _asks_for_armour(record.manifest):
            self.armoured.add(record.ref.uid)
        for section, is_init in (("initContainers", True), ("containers", False)):
            for item in list_of(spec.get(section)):
                manifest = mapping_of(item)
                is_ending = manifest.get("restartPolicy") != "Always" if is_init else is_of_job
                name = str(manifest.get("name"))
                self.containers[record.ref.uid, name] = SeenContainer(
                    pod=record.ref.name, workload=workload, name=name, manifest=manifest, is_ending=is_ending
                )

    def _see_event(self, message: str) -> None:
        if found := _PULLED.match(message):
            image = self.images.setdefault(found[1], SeenImage())
            image.pulls.append("ok")
            image.size, image.seconds = int(found[3]), parse_duration(found[2])
        elif found := _PRESENT.match(message):
            image = self.images.setdefault(found[1], SeenImage())
            image.was_present = image.was_present or not image.pulls
        elif found := _PULL_FAILED.match(message):
            fault = next((name for name, pattern in _FAULTS if pattern.search(found[2])), "unavailable")
            self.images.setdefault(found[1], SeenImage()).pulls.append(fault)

    def _see_status(self, uid: str, status: PodStatus) -> None:
        """Take what only a status tells: runs that could not be started, users that may not run a container."""
        for each in (*status.init_container_statuses, *status.container_statuses):
            container = self.containers.get((uid, each.name))
            if container is not None and each.state.waiting is not None:
                self._see_waiting(container, each.state.waiting.message or "")
            for state, number in ((each.state, each.restart_count + 1), (each.last_state, each.restart_count)):
                ended = state.terminated
                if container is not None and ended is not None and ended.reason in _NO_START:
                    container.run(number).start_error = ended.message or ""

    def _see_waiting(self, container: SeenContainer, message: str) -> None:
        user = "0" if _ROOT_USER in message else next((found[1] for found in _USER.finditer(message)), "")
        if user:
            image = self.images.setdefault(str(container.manifest.get("image")), SeenImage())
            image.user = int(user) if user.isdecimal() else user


def _asks_for_armour(value: object) -> bool:
    """Tell whether a manifest has a profile of AppArmor anywhere."""
    if isinstance(value, list | tuple):
        return any(map(_asks_for_armour, value))
    if not isinstance(value, dict):
        return False
    profile = value.get("appArmorProfile")
    has_profile = isinstance(profile, dict) and profile.get("type") != "Unconfined"
    return has_profile or any(
        (str(key).startswith(_ARMOUR_ANNOTATION) and each != "unconfined") or _asks_for_armour(each)
        for key, each in value.items()
    )


def _see_run(run: SeenRun, record: RunRecord, at: datetime) -> None:
    if record.what == "start":
        run.started_at = at
    else:
        run.exited_at, run.code, run.reason = at, record.code or 0, record.reason


def _see_signal(run: SeenRun, record: StopRecord, at: datetime) -> None:
    if record.signal == "SIGKILL":
        run.killed_at = run.killed_at or at
    else:
        run.asked_at = run.asked_at or at


def _workload(metadata: Mapping[str, object], name: str) -> tuple[str, bool]:
    """Return what made a pod (the pod's own name if nothing did), and whether it is a Job."""
    owners = [mapping_of(owner) for owner in list_of(metadata.get("ownerReferences"))]
    job = next((str(owner.get("name")) for owner in owners if owner.get("kind") == "Job"), None)
    if job is not None:
        return job, True
    stem = str(metadata.get("generateName") or "").rstrip("-")
    digest = str(mapping_of(metadata.get("labels")).get("pod-template-hash", ""))
    return (stem.removesuffix(f"-{digest}") or name), False


def mapping_of(value: object) -> Mapping[str, object]:
    """Return a value that is a mapping, else an empty one."""
    return cast("Mapping[str, object]", value) if isinstance(value, dict) else {}


def list_of(value: object) -> Iterator[object]:
    """Yield the items of a list or tuple, nothing of anything else."""
    return iter(value if isinstance(value, list | tuple) else ())
