"""What became of each pod, container and run, gathered from records.

A fold: `Facts.feed` takes entries in order and the summary, the exit status and the waiting of a session read the
result. Nothing here looks at a clock or a runtime, so a log read from a file gives the same facts.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import TYPE_CHECKING

from attrs import define, field

from kubelet_emu.api.reasons import FAILED, START_ERROR, WARNING
from kubelet_emu.api.reasons_images import PULLED, PULLING
from kubelet_emu.journal.facts import (
    DEFAULT_GRACE_SECONDS,
    ContainerFacts,
    ContainerKind,
    JobFacts,
    PodFacts,
    RunFacts,
    WorkloadFacts,
)
from kubelet_emu.journal.records import (
    DeletedRecord,
    EffectRecord,
    EventRecord,
    JobRecord,
    LogRecord,
    ManifestRecord,
    ProbeRecord,
    RunRecord,
    StatusRecord,
    StopRecord,
)
from kubelet_emu.journal.short_names import ShortNames

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime

    from kubelet_emu.api.v1_status import ContainerStatus, PodStatus
    from kubelet_emu.journal.encode import Entry
    from kubelet_emu.journal.records import ObjectRef

_OF_PULLS = frozenset({PULLING, PULLED, FAILED})
_KEEPING = frozenset({"Deployment", "ReplicaSet", "StatefulSet", "DaemonSet"})


@define
class Facts:
    """Everything known of a run so far, pods, Jobs and other workloads by uid in the order of their creation."""

    pods: dict[str, PodFacts] = field(factory=dict)
    jobs: dict[str, JobFacts] = field(factory=dict)
    workloads: dict[str, WorkloadFacts] = field(factory=dict)
    warnings: list[EventRecord] = field(factory=list)
    _open_pods: set[str] = field(factory=set, init=False)
    _names: ShortNames = field(factory=ShortNames, init=False)

    @property
    def all_pods_ended(self) -> bool:
        """Tell whether nothing more will happen to any pod; asked for after each record, so it is no search."""
        return not self._open_pods

    @property
    def keeps_running(self) -> bool:
        """Tell whether a workload would replace a pod that ends."""
        return any(workload.replicas > 0 for workload in self.workloads.values())

    @property
    def is_ready(self) -> bool:
        """Tell whether every workload has its pods, and every pod is Ready or has done its work."""
        made = Counter(pod.owner for pod in self.pods.values() if not pod.is_terminal)
        made.update(workload.owner for workload in self.workloads.values() if workload.owner)
        has_all = all(
            made[uid] >= (1 if workload.ref.kind == "Deployment" else workload.replicas)
            for uid, workload in self.workloads.items()
        )
        there = [pod for pod in self.pods.values() if not pod.is_deleted]
        return has_all and bool(there) and all(pod.is_ready or pod.phase == "Succeeded" for pod in there)

    def owners_of(self, pod: PodFacts) -> tuple[str, ...]:
        """Return the names of the workloads that made a pod, such as its ReplicaSet and its Deployment."""
        names, uid = [], pod.owner
        while (owner := self.jobs.get(uid) or self.workloads.get(uid)) is not None:
            names.append(owner.ref.name)
            uid = owner.owner if isinstance(owner, WorkloadFacts) else ""
        return tuple(names)

    def feed(self, entry: Entry) -> None:
        """Take one entry."""
        match record := self._names.told(entry.record):
            case ManifestRecord():
                self._accepted(record, entry.at)
            case StatusRecord():
                pod = self._pod(record.ref, entry.at)
                _see_status(pod, record, entry.at)
                self._close(pod)
            case RunRecord():
                _see_run(self._run(record, entry.at), record, entry.at)
            case StopRecord():
                _see_stop(self._run(record, entry.at), record, entry.at)
            case ProbeRecord(probe="startup", stored="success", changed=True):
                self._run(record, entry.at).startup_ok_at = entry.at
            case EffectRecord(seconds=float() | int()):
                _see_hook(self._run(record, entry.at), record)
            case LogRecord():
                _see_line(self._run(record, entry.at), record.line, entry.at)
            case EventRecord():
                self._see_event(record, entry.at)
            case JobRecord():
                self._see_job(record, entry.at)
            case DeletedRecord():
                self._gone(record.ref, entry.at)

    def _see_event(self, record: EventRecord, at: datetime) -> None:
        if record.type == WARNING:
            self.warnings.append(record)
        if record.container and record.ref.kind == "Pod" and record.reason in _OF_PULLS:
            self._pod(record.ref, at).container(record.container).is_pulling = record.reason == PULLING

    def _pod(self, ref: ObjectRef, at: datetime) -> PodFacts:
        if ref.uid not in self.pods:
            self.pods[ref.uid] = PodFacts(ref=ref, created_at=at)
            self._open_pods.add(ref.uid)
        return self.pods[ref.uid]

    def _close(self, pod: PodFacts) -> None:
        if pod.is_terminal:
            self._open_pods.discard(pod.ref.uid)

    def _run(self, record: RunRecord | StopRecord | ProbeRecord | EffectRecord | LogRecord, at: datetime) -> RunFacts:
        if record.container in {"POD", ""}:
            return RunFacts(run=record.run)  # the sandbox's own process is nobody's run
        return self._pod(record.ref, at).container(record.container).run(record.run)

    def _accepted(self, record: ManifestRecord, at: datetime) -> None:
        if record.ref.kind == "Job":
            job = self.jobs.setdefault(record.ref.uid, JobFacts(ref=record.ref, created_at=at))
            spec = _mapping(record.manifest.get("spec"))
            job.is_idle = bool(spec.get("suspend")) or spec.get("parallelism") == 0
        if record.ref.kind == "Pod":
            _read_manifest(self._pod(record.ref, at), record.manifest)
        if record.ref.kind in _KEEPING:
            spec = _mapping(record.manifest.get("spec"))
            replicas = 0 if spec.get("paused") else spec.get("replicas", 1)
            self.workloads[record.ref.uid] = WorkloadFacts(
                ref=record.ref,
                replicas=replicas if isinstance(replicas, int) else 1,
                owner=_controller(record.manifest),
            )

    def _see_job(self, record: JobRecord, at: datetime) -> None:
        job = self.jobs.setdefault(record.ref.uid, JobFacts(ref=record.ref))
        job.status = record.status or job.status
        if job.has_verdict:
            job.finished_at = job.finished_at or at
        job.is_deleted = job.is_deleted or record.deleted

    def _gone(self, ref: ObjectRef, at: datetime) -> None:
        if ref.kind == "Pod":
            pod = self._pod(ref, at)
            pod.is_deleted = True
            self._close(pod)
        elif ref.uid in self.jobs:
            self.jobs[ref.uid].is_deleted = True
        self.workloads.pop(ref.uid, None)


def facts_of(entries: Iterable[Entry]) -> Facts:
    """Return the facts of a whole log."""
    facts = Facts()
    for entry in entries:
        facts.feed(entry)
    return facts


def _see_run(run: RunFacts, record: RunRecord, at: datetime) -> None:
    if record.what == "start":
        run.started_at = at
    else:
        run.exited_at, run.code = at, record.code
        run.reason = record.reason or run.reason


def _see_stop(run: RunFacts, record: StopRecord, at: datetime) -> None:
    if record.what == "StopContainer":
        run.stop_timeout = record.timeout
    elif record.what == "signal" and not record.own:
        run.outside_signal = record.signal
    elif record.what == "signal" and record.signal == "SIGKILL":
        run.killed_at = run.killed_at or at
    elif record.what == "signal":
        run.signalled_at = run.signalled_at or at


def _see_line(run: RunFacts, line: str, at: datetime) -> None:
    """Take a run that writes as started, also where its own record comes later."""
    run.last_lines.append(line)
    if run.started_at is None:
        run.started_at = at


def _see_hook(run: RunFacts, record: EffectRecord) -> None:
    match record.call.lower().replace("_", ""):
        case "prestop":
            run.pre_stop_seconds = record.seconds
        case "poststart":
            run.post_start_seconds = record.seconds


def _see_status(pod: PodFacts, record: StatusRecord, at: datetime) -> None:
    pod.status = status = record.status
    pod.phase, pod.reason = status.phase or pod.phase, status.reason or ""
    pod.is_ready = any(c.type == "Ready" and c.status == "True" for c in status.conditions)
    pod.was_ready = pod.was_ready or pod.is_ready
    if record.deleting and pod.stop_requested_at is None:
        pod.stop_requested_at = at
    if record.deletion_grace_period_seconds is not None and not pod.is_terminal:
        # of a pod that has ended the kubelet deletes the object with grace 0: that is not how it was stopped
        pod.stop_grace_seconds = record.deletion_grace_period_seconds
    for container in _statuses(status):
        _see_container(pod.container(container.name), container)


def _statuses(status: PodStatus) -> tuple[ContainerStatus, ...]:
    return (*status.init_container_statuses, *status.container_statuses, *status.ephemeral_container_statuses)


def _see_container(container: ContainerFacts, status: ContainerStatus) -> None:
    container.restarts = status.restart_count
    container.is_ready = status.ready
    container.was_ready = container.was_ready or status.ready
    waiting = status.state.waiting
    container.waiting_reason = "" if waiting is None else waiting.reason or ""
    container.waiting_message = "" if waiting is None else waiting.message or ""
    for state, run in ((status.state, status.restart_count + 1), (status.last_state, status.restart_count)):
        # of a start that the runtime refuses nobody hears but by the status
        if (ended := state.terminated) is not None and (run in container.runs or ended.reason == START_ERROR):
            facts = container.run(run)
            facts.reason, facts.message = ended.reason or facts.reason, ended.message or facts.message
            facts.code = ended.exit_code if facts.code is None else facts.code


def _read_manifest(pod: PodFacts, manifest: Mapping[str, object]) -> None:
    spec = _mapping(manifest.get("spec"))
    grace = spec.get("terminationGracePeriodSeconds")
    pod.grace_seconds = grace if isinstance(grace, int) else DEFAULT_GRACE_SECONDS
    pod.owner = _controller(manifest)
    pod.restart_policy = str(spec.get("restartPolicy") or "Always")
    for item in _list(spec.get("initContainers")):
        is_sidecar = _mapping(item).get("restartPolicy") == "Always"
        _read_container(pod, _mapping(item), ContainerKind.SIDECAR if is_sidecar else ContainerKind.INIT)
    for item in _list(spec.get("containers")):
        _read_container(pod, _mapping(item), ContainerKind.MAIN)
    for item in _list(spec.get("ephemeralContainers")):
        _read_container(pod, _mapping(item), ContainerKind.EPHEMERAL)
    if of_pod := _memory_limit(spec):
        for container in pod.containers.values():
            container.memory_limit = f"{container.memory_limit and container.memory_limit + ', '}{of_pod} of the pod"


def _controller(manifest: Mapping[str, object]) -> str:
    """Return the uid of what controls an object, empty for one by itself."""
    owners = [_mapping(owner) for owner in _list(_mapping(manifest.get("metadata")).get("ownerReferences"))]
    return next((str(owner.get("uid", "")) for owner in owners if owner.get("controller")), "")


def _read_container(pod: PodFacts, item: Mapping[str, object], kind: ContainerKind) -> None:
    container = pod.container(str(item.get("name", "")))
    container.kind = kind
    container.has_startup_probe = "startupProbe" in item
    container.has_post_start = "postStart" in _mapping(item.get("lifecycle"))
    container.memory_limit = _memory_limit(item)


def _memory_limit(holder: Mapping[str, object]) -> str:
    """Return the memory limit of a container or of a pod's spec, empty for none."""
    return str(_mapping(_mapping(holder.get("resources")).get("limits")).get("memory", ""))


def _mapping(value: object) -> Mapping[str, object]:
    return value if isinstance(value, Mapping) else {}


def _list(value: object) -> list[object] | tuple[object, ...]:
    return value if isinstance(value, list | tuple) else []
