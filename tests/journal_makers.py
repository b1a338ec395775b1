"""Makers of records for the tests of the journal and the command line."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import attrs

from kubelet_emu.api.v1_status import (
    ContainerState,
    ContainerStateRunning,
    ContainerStateTerminated,
    ContainerStateWaiting,
    ContainerStatus,
    PodCondition,
    PodStatus,
)
from kubelet_emu.journal.encode import Entry, ref_of
from kubelet_emu.journal.records import (
    EffectRecord,
    ManifestRecord,
    ObjectRef,
    ProbeRecord,
    RunRecord,
    StatusRecord,
    StopRecord,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

    from kubelet_emu.journal.records import Record

EPOCH = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
POD = ObjectRef(namespace="default", name="web", uid="uid-1")


def at(seconds: float) -> datetime:
    """Return a time of the run."""
    return EPOCH + timedelta(seconds=seconds)


def entries(records: Iterable[Record]) -> tuple[Entry, ...]:
    """Return records with the numbers that a journal gives them."""
    numbers: dict[str, int] = {}
    result = []
    for record in records:
        uid = getattr(ref_of(record), "uid", "")
        numbers[uid] = numbers.get(uid, 0) + 1
        result.append(Entry(n=numbers[uid], record=record if record.at else attrs.evolve(record, at=EPOCH)))
    return tuple(result)


def accepted(
    *,
    init: Iterable[dict[str, object]] = (),
    containers: Iterable[dict[str, object]] = (),
    ref: ObjectRef = POD,
    grace: int | None = None,
    **more: object,
) -> ManifestRecord:
    """Return the record of a pod with these containers, created at 0."""
    spec: dict[str, object] = {"initContainers": list(init), "containers": list(containers), **more}
    if grace is not None:
        spec["terminationGracePeriodSeconds"] = grace
    return ManifestRecord(at=at(0), ref=ref, manifest={"kind": "Pod", "metadata": {"name": ref.name}, "spec": spec})


def container(name: str, *, sidecar: bool = False, **more: object) -> dict[str, object]:
    """Return a container of a manifest."""
    return {"name": name, **({"restartPolicy": "Always"} if sidecar else {}), **more}


def start(seconds: float, name: str, run: int = 1, ref: ObjectRef = POD) -> RunRecord:
    """Return the start of a run."""
    return RunRecord(at=at(seconds), ref=ref, container=name, run=run, what="start")


def end(seconds: float, name: str, code: int = 0, run: int = 1, reason: str = "") -> RunRecord:
    """Return the end of a run."""
    reason = reason or ("Error" if code else "Completed")
    return RunRecord(at=at(seconds), ref=POD, container=name, run=run, what="exit", code=code, reason=reason)


def sent(seconds: float, name: str, signal: str = "SIGTERM", *, own: bool = True, run: int = 1) -> StopRecord:
    """Return a signal."""
    return StopRecord(at=at(seconds), ref=POD, what="signal", container=name, run=run, signal=signal, own=own)


def stop_call(seconds: float, name: str, timeout: float, run: int = 1) -> StopRecord:
    """Return a StopContainer call."""
    return StopRecord(at=at(seconds), ref=POD, what="StopContainer", container=name, run=run, timeout=timeout)


def hook(seconds: float, name: str, call: str, took: float) -> EffectRecord:
    """Return a hook that ended."""
    return EffectRecord(at=at(seconds), ref=POD, call=call, what="finished", container=name, run=1, seconds=took)


def startup_ok(seconds: float, name: str) -> ProbeRecord:
    """Return the startup probe's success."""
    return ProbeRecord(
        at=at(seconds),
        ref=POD,
        container=name,
        run=1,
        probe="startup",
        outcome="success",
        stored="success",
        changed=True,
    )


def running(name: str, *, ready: bool = True, restarts: int = 0) -> ContainerStatus:
    """Return the status of a container that runs."""
    state = ContainerState(running=ContainerStateRunning(started_at=EPOCH))
    return ContainerStatus(name=name, state=state, ready=ready, started=True, restart_count=restarts, image="busybox:1")


def waiting(name: str, reason: str, message: str | None = None) -> ContainerStatus:
    """Return the status of a container that waits."""
    state = ContainerState(waiting=ContainerStateWaiting(reason=reason, message=message))
    return ContainerStatus(name=name, state=state, image="busybox:1")


def terminated(name: str, code: int = 0, reason: str = "Completed", message: str | None = None) -> ContainerStatus:
    """Return the status of a container that ended."""
    ended = ContainerStateTerminated(exit_code=code, reason=reason, message=message)
    return ContainerStatus(name=name, state=ContainerState(terminated=ended), image="busybox:1")


def status(
    seconds: float,
    phase: str,
    *containers: ContainerStatus,
    ready: bool = False,
    deleting: bool = False,
    grace: int | None = None,
    ref: ObjectRef = POD,
) -> StatusRecord:
    """Return a pod status."""
    condition = PodCondition(type="Ready", status="True" if ready else "False", reason=None if ready else "NotReady")
    value = PodStatus(phase=phase, conditions=(condition,), container_statuses=containers)
    return StatusRecord(
        at=at(seconds), ref=ref, status=value, deleting=deleting, deletion_grace_period_seconds=grace, generation=1
    )
