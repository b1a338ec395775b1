"""Records as the trace of scenarios."""

from __future__ import annotations

import io
import json

import pytest
from journal_makers import (
    EPOCH,
    POD,
    accepted,
    at,
    container,
    end,
    entries,
    running,
    sent,
    start,
    startup_ok,
    status,
    stop_call,
    terminated,
    waiting,
)

from kubelet_emu.api.batch_v1 import JobCondition, JobStatus
from kubelet_emu.api.v1_status import ContainerState, ContainerStatus, PodCondition, PodStatus
from kubelet_emu.journal.records import (
    DeletedRecord,
    EndRecord,
    EventRecord,
    HeaderRecord,
    JobRecord,
    LogRecord,
    ManifestRecord,
    NoteRecord,
    ObjectRef,
    Record,
    StatusRecord,
    StepRecord,
    StopRecord,
)
from kubelet_emu.journal.trace import TraceWriter, project

JOB = ObjectRef(namespace="default", name="migrate", uid="job-1", kind="Job")
CREATED = accepted(containers=[container("main")])


def trace(*records: Record) -> list[dict[str, object]]:
    return list(project(entries(records)))


CASES: dict[str, tuple[Record, dict[str, object]]] = {
    "an event of a container": (
        EventRecord(
            at=at(2), ref=POD, type="Normal", reason="Killing", message="Stopping container main", container="main"
        ),
        {
            "t": 2.0,
            "kind": "event",
            "pod": "web",
            "type": "Normal",
            "reason": "Killing",
            "container": "main",
            "message": "Stopping container main",
            "count": 1,
        },
    ),
    "an event of a Job carries no pod": (
        EventRecord(at=at(2), ref=JOB, type="Normal", reason="Completed", message="Job completed"),
        {
            "t": 2.0,
            "kind": "event",
            "job": "migrate",
            "type": "Normal",
            "reason": "Completed",
            "container": None,
            "message": "Job completed",
            "count": 1,
        },
    ),
    "a log line": (
        LogRecord(at=at(2.123456), ref=POD, container="main", run=2, line="hello"),
        {"t": 2.123456, "kind": "log", "pod": "web", "container": "main", "run": 2, "line": "hello"},
    ),
    "a start": (
        start(2, "main"),
        {"t": 2.0, "kind": "run", "pod": "web", "container": "main", "run": 1, "what": "start"},
    ),
    "an exit": (
        end(2, "main", 3),
        {
            "t": 2.0,
            "kind": "run",
            "pod": "web",
            "container": "main",
            "run": 1,
            "what": "exit",
            "code": 3,
            "reason": "Error",
        },
    ),
    "a stop call": (
        stop_call(2, "main", 29),
        {"t": 2.0, "kind": "cri", "pod": "web", "container": "main", "run": 1, "what": "StopContainer", "timeout": 29},
    ),
    "a signal of ours": (
        sent(2, "main"),
        {"t": 2.0, "kind": "cri", "pod": "web", "container": "main", "run": 1, "what": "signal", "signal": "SIGTERM"},
    ),
    "a sandbox's stop": (
        StopRecord(at=at(2), ref=POD, what="StopPodSandbox"),
        {"t": 2.0, "kind": "cri", "pod": "web", "container": "POD", "run": 1, "what": "StopPodSandbox"},
    ),
    "a deleted pod": (DeletedRecord(at=at(2), ref=POD), {"t": 2.0, "kind": "deleted", "pod": "web"}),
    "a deleted Job": (DeletedRecord(at=at(2), ref=JOB), {"t": 2.0, "kind": "job", "job": "migrate", "deleted": True}),
    "a step": (StepRecord(at=at(2), n=1), {"t": 2.0, "kind": "step", "n": 1}),
    "a step with what it did": (
        StepRecord(at=at(2), n=1, what="delete"),
        {"t": 2.0, "kind": "step", "n": 1, "what": "delete"},
    ),
    "the end": (EndRecord(at=at(2)), {"t": 2.0, "kind": "end"}),
    "the clock of an engine that lags": (
        LogRecord(at=at(-0.5), ref=POD, container="main", run=1, line="early"),
        {"t": 0.0, "kind": "log", "pod": "web", "container": "main", "run": 1, "line": "early"},
    ),
    "a Job's status": (
        JobRecord(
            at=at(2),
            ref=JOB,
            status=JobStatus(
                succeeded=1,
                completed_indexes="0",
                conditions=(JobCondition(type="Complete", status="True", reason="CompletionsReached"),),
            ),
        ),
        {
            "t": 2.0,
            "kind": "job",
            "job": "migrate",
            "active": 0,
            "succeeded": 1,
            "failed": 0,
            "ready": 0,
            "terminating": 0,
            "completedIndexes": "0",
            "conditions": {"Complete": "True"},
            "conditionReasons": {"Complete": "CompletionsReached"},
        },
    ),
}


@pytest.mark.parametrize(("record", "expected"), CASES.values(), ids=CASES.keys())
def test_projection(record: Record, expected: dict[str, object]) -> None:
    assert trace(CREATED, record) == [expected]


LEFT_OUT: dict[str, Record] = {
    "a signal from outside": sent(2, "main", own=False),
    "the sandbox's own run": start(2, "POD"),
    "a note": NoteRecord(at=at(2), text="hello"),
    "a probe": startup_ok(2, "main"),
    "the header": HeaderRecord(at=at(2)),
    "a deleted ConfigMap": DeletedRecord(at=at(2), ref=ObjectRef(namespace="a", name="b", uid="c", kind="ConfigMap")),
    "an empty Job record": JobRecord(at=at(2), ref=ObjectRef(namespace="a", name="b", uid="c", kind="CronJob")),
}


@pytest.mark.parametrize("record", LEFT_OUT.values(), ids=LEFT_OUT.keys())
def test_what_a_trace_leaves_out(record: Record) -> None:
    assert trace(CREATED, record) == []


def test_a_status_whole() -> None:
    value = PodStatus(
        phase="Running",
        reason="Evicted",
        message="low on memory",
        qos_class="Burstable",
        pod_ip="10.0.0.2",
        observed_generation=2,
        conditions=(
            PodCondition(type="Ready", status="False", reason="ContainersNotReady", message="unready: [b]"),
            PodCondition(type="PodScheduled", status="True"),
        ),
        init_container_statuses=(terminated("init"),),
        container_statuses=(
            ContainerStatus(
                name="a",
                image="busybox:1",
                state=running("a").state,
                last_state=terminated("a", 1, "Error").state,
                ready=True,
                started=True,
                restart_count=1,
            ),
            waiting("b", "CrashLoopBackOff", "back-off 10s"),
            ContainerStatus(name="c", state=ContainerState()),
        ),
        ephemeral_container_statuses=(terminated("debug", 137, "Error", "bye"),),
    )
    record = StatusRecord(at=at(3), ref=POD, status=value, deleting=True, generation=2)
    assert trace(CREATED, record) == [
        {
            "t": 3.0,
            "kind": "status",
            "pod": "web",
            "phase": "Running",
            "conditions": {"Ready": "False", "PodScheduled": "True"},
            "conditionReasons": {"Ready": "ContainersNotReady"},
            "conditionMessages": {"Ready": "unready: [b]"},
            "containers": {
                "init": {
                    "state": "terminated:Completed:0",
                    "ready": False,
                    "started": False,
                    "restartCount": 0,
                    "image": "busybox:1",
                },
                "a": {
                    "state": "running",
                    "ready": True,
                    "started": True,
                    "restartCount": 1,
                    "image": "busybox:1",
                    "lastState": "terminated:Error:1",
                },
                "b": {
                    "state": "waiting:CrashLoopBackOff",
                    "ready": False,
                    "started": False,
                    "restartCount": 0,
                    "image": "busybox:1",
                    "message": "back-off 10s",
                },
                "c": {"state": "waiting:", "ready": False, "started": False, "restartCount": 0, "image": ""},
                "debug": {
                    "state": "terminated:Error:137",
                    "ready": False,
                    "started": False,
                    "restartCount": 0,
                    "image": "busybox:1",
                    "message": "bye",
                },
            },
            "generation": 2,
            "reason": "Evicted",
            "message": "low on memory",
            "qosClass": "Burstable",
            "podIP": "10.0.0.2",
            "observedGeneration": 2,
            "deletionTimestamp": True,
        }
    ]


def test_a_pod_begins_with_the_status_it_was_accepted_with() -> None:
    manifest = {"kind": "Pod", "status": {"phase": "Pending", "qosClass": "BestEffort"}}
    assert trace(ManifestRecord(at=EPOCH, ref=POD, manifest=manifest)) == [
        {
            "t": 0.0,
            "kind": "status",
            "pod": "web",
            "phase": "Pending",
            "conditions": {},
            "containers": {},
            "qosClass": "BestEffort",
        }
    ]
    assert "qosClass" not in trace(ManifestRecord(at=EPOCH, ref=POD, manifest={"status": {"phase": "Pending"}}))[0]


def test_a_job_is_deleted_once() -> None:
    records = (JobRecord(at=at(2), ref=JOB, deleted=True), DeletedRecord(at=at(2), ref=JOB))
    assert len(trace(*records)) == 1


def test_time_counts_from_the_first_object() -> None:
    other = ObjectRef(namespace="default", name="other", uid="uid-2")
    records = (
        HeaderRecord(at=at(-5)),
        ManifestRecord(at=at(1), ref=POD),
        ManifestRecord(at=at(3), ref=other),
        start(4, "main"),
        start(4, "main", ref=other),
    )
    assert [(r["pod"], r["t"]) for r in trace(*records)] == [("web", 3.0), ("other", 3.0)]


def test_time_counts_from_the_first_record_where_no_creation_is_told() -> None:
    assert [r["t"] for r in trace(status(7, "Pending"), status(9, "Running"))] == [0.0, 2.0]


def test_the_writer_writes_each_record_as_a_line() -> None:
    out = io.StringIO()
    write = TraceWriter(out)
    for entry in entries([CREATED, start(1, "main"), NoteRecord(at=at(2), text="no")]):
        write(entry)
    assert [json.loads(line)["t"] for line in out.getvalue().splitlines()] == [1.0]
