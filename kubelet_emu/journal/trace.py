"""Records as the trace that scenarios are checked against.

A projection: nothing is added that no record says. `t` counts seconds from the creation of the first object. Signals
from outside and the sandbox's own runs are left out, for a trace tells what the runtime was asked to do.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING

from attrs import define, field

from kubelet_emu.journal.records import (
    DeletedRecord,
    EndRecord,
    EventRecord,
    JobRecord,
    LogRecord,
    ManifestRecord,
    RunRecord,
    StatusRecord,
    StepRecord,
    StopRecord,
)
from kubelet_emu.journal.short_names import ShortNames

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from datetime import datetime

    from kubelet_emu.api.batch_v1 import JobStatus
    from kubelet_emu.api.v1_status import ContainerState, ContainerStatus, PodStatus
    from kubelet_emu.journal.encode import Entry
    from kubelet_emu.journal.outlet import Writable
    from kubelet_emu.journal.records import ObjectRef, Record

SANDBOX = "POD"

JsonObject = dict[str, object]


@define
class Projection:
    """Turns entries into trace records one by one; remembers when the first object was created, and names."""

    _origin: datetime | None = field(default=None, init=False)
    _deleted_jobs: set[str] = field(factory=set, init=False)
    _names: ShortNames = field(factory=ShortNames, init=False)

    @property
    def origin(self) -> datetime | None:
        """Return what the records' seconds count from; None before the first record."""
        return self._origin

    def feed(self, entry: Entry) -> JsonObject | None:
        """Return the trace record of an entry, None when it has none."""
        if self._origin is None and isinstance(entry.record, ManifestRecord):
            self._origin = entry.at
        body = self._project(self._names.told(entry.record))
        if body is None:
            return None
        if self._origin is None:
            self._origin = entry.at
        return {"t": max(0.0, round((entry.at - self._origin).total_seconds(), 6)), **body}

    def _project(self, record: Record) -> JsonObject | None:
        match record:
            case StatusRecord():
                return {"kind": "status", **_whose(record.ref), **status_fields(record)}
            case EventRecord():
                return {"kind": "event", **_whose(record.ref), **_event_fields(record)}
            case LogRecord(ref=ref):
                body = {"container": record.container, "run": record.run, "line": record.line}
                return {"kind": "log", **_whose(ref), **body}
            case RunRecord() if record.container != SANDBOX:
                return {"kind": "run", **_whose(record.ref), **_run_fields(record)}
            case StopRecord(own=True):
                return {"kind": "cri", **_whose(record.ref), **_stop_fields(record)}
            case ManifestRecord():
                return _accepted(record)
            case StepRecord():
                return {"kind": "step", "n": record.n, **({"what": record.what} if record.what else {})}
            case EndRecord():
                return {"kind": "end"}
            case JobRecord(status=status) if status is not None and not record.deleted:
                return {"kind": "job", **_whose(record.ref), **job_fields(status)}
            case JobRecord() | DeletedRecord():
                return self._gone(record.ref)
        return None

    def _gone(self, ref: ObjectRef) -> JsonObject | None:
        if ref.kind == "Pod":
            return {"kind": "deleted", **_whose(ref)}
        if ref.kind != "Job" or ref.uid in self._deleted_jobs:
            return None
        self._deleted_jobs.add(ref.uid)
        return {"kind": "job", **_whose(ref), "deleted": True}


def project(entries: Iterable[Entry]) -> Iterator[JsonObject]:
    """Yield the trace records of a log."""
    projection = Projection()
    for entry in entries:
        if (record := projection.feed(entry)) is not None:
            yield record


@define(eq=False)
class TraceWriter:
    """A sink that writes the trace as JSON lines, one `write` each."""

    out: Writable
    _projection: Projection = field(factory=Projection, init=False)

    def __call__(self, entry: Entry) -> None:
        """Write the trace record of an entry, if it has one."""
        if (record := self._projection.feed(entry)) is not None:
            self.out.write(to_line(record))


def to_line(record: JsonObject) -> str:
    """Return a trace record as a line of text."""
    return json.dumps(record) + "\n"


def _whose(ref: ObjectRef) -> JsonObject:
    return {"pod" if ref.kind == "Pod" else ref.kind.lower(): ref.name}


def _accepted(record: ManifestRecord) -> JsonObject | None:
    """Return the status that a pod is created with, if its manifest says one; one that was changed has none."""
    status = record.manifest.get("status")
    if record.ref.kind != "Pod" or not isinstance(status, Mapping) or "phase" not in status:
        return None
    body: JsonObject = {"phase": status["phase"], "conditions": {}, "containers": {}}
    if "qosClass" in status:
        body["qosClass"] = status["qosClass"]
    return {"kind": "status", **_whose(record.ref), **body}


def _event_fields(record: EventRecord) -> JsonObject:
    return {
        "type": record.type,
        "reason": record.reason,
        "container": record.container,
        "message": record.message,
        "count": record.count,
    }


def _run_fields(record: RunRecord) -> JsonObject:
    body: JsonObject = {"container": record.container, "run": record.run, "what": record.what}
    if record.code is not None:
        body["code"] = record.code
    return {**body, "reason": record.reason} if record.reason else body


def _stop_fields(record: StopRecord) -> JsonObject:
    body: JsonObject = {"container": record.container, "run": record.run, "what": record.what}
    if record.timeout is not None:
        body["timeout"] = record.timeout
    return {**body, "signal": record.signal} if record.signal else body


def status_fields(record: StatusRecord) -> JsonObject:
    """Return the fields of a status record."""
    status = record.status
    body: JsonObject = {
        "phase": status.phase,
        "conditions": {c.type: c.status for c in status.conditions},
        "conditionReasons": {c.type: c.reason for c in status.conditions if c.reason},
        "conditionMessages": {c.type: c.message for c in status.conditions if c.message},
        "containers": _containers(status),
        "generation": record.generation,
    }
    optional = {
        "reason": status.reason,
        "message": status.message,
        "qosClass": status.qos_class,
        "podIP": status.pod_ip,
        "observedGeneration": status.observed_generation,
        "deletionTimestamp": record.deleting or None,
        "deletionGracePeriodSeconds": record.deletion_grace_period_seconds,
    }
    return body | {key: value for key, value in optional.items() if value is not None}


def _containers(status: PodStatus) -> JsonObject:
    every = (*status.init_container_statuses, *status.container_statuses, *status.ephemeral_container_statuses)
    return {c.name: _container(c) for c in every}


def _container(status: ContainerStatus) -> JsonObject:
    body: JsonObject = {
        "state": state_word(status.state) or "waiting:",
        "ready": status.ready,
        "started": bool(status.started),
        "restartCount": status.restart_count,
        "image": status.image,
    }
    if last := state_word(status.last_state):
        body["lastState"] = last
    if message := _message(status.state):
        body["message"] = message
    return body


def state_word(state: ContainerState) -> str:
    """Return a container state as `running`, `waiting:REASON` or `terminated:REASON:CODE`; empty when it has none."""
    if state.running is not None:
        return "running"
    if (terminated := state.terminated) is not None:
        return f"terminated:{terminated.reason or ''}:{terminated.exit_code}"
    return f"waiting:{state.waiting.reason or ''}" if state.waiting is not None else ""


def _message(state: ContainerState) -> str | None:
    if state.terminated is not None:
        return state.terminated.message
    return state.waiting.message if state.waiting is not None else None


def job_fields(status: JobStatus) -> JsonObject:
    """Return the fields of a job record."""
    indexes = {"completedIndexes": status.completed_indexes, "failedIndexes": status.failed_indexes}
    return {key: value for key, value in indexes.items() if value is not None} | {
        "active": status.active or 0,
        "succeeded": status.succeeded or 0,
        "failed": status.failed or 0,
        "ready": status.ready or 0,
        "terminating": status.terminating or 0,
        "conditions": {c.type: c.status for c in status.conditions},
        "conditionReasons": {c.type: c.reason for c in status.conditions if c.reason},
    }
