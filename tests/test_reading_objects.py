"""What kubectl prints as JSON is read: events, Pods, Jobs, lists and watches."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import TYPE_CHECKING, cast

import pytest

from kubelet_emu.lifecycle.log import LifecycleLog, SourceFormat
from kubelet_emu.lifecycle.reading import ReadError, read_logs

if TYPE_CHECKING:
    from kubelet_emu.api.v1 import Pod

CLUSTER = Path(__file__).parent.parent / "fixtures" / "cluster" / "sidecar-life"

Json = dict[str, object]


def read(*objects: object, indent: int | None = 4) -> LifecycleLog:
    text = "\n".join(each if isinstance(each, str) else json.dumps(each, indent=indent) for each in objects)
    return read_logs([io.BytesIO(text.encode() + b"\n")])


def at(second: float) -> str:
    whole = f"2026-01-01T00:00:{int(second):02}"
    return f"{whole}Z" if second == int(second) else f"{whole}.{round(second % 1 * 1e6):06}Z"


def event(reason: str, uid: str = "e1", **fields: object) -> Json:
    return {
        "apiVersion": "v1",
        "kind": "Event",
        "metadata": {"name": f"web.{uid}", "uid": uid},
        "involvedObject": {"kind": "Pod", "name": "web", "fieldPath": "spec.containers{main}"},
        "reason": reason,
        "message": f"about {reason}",
        "type": "Normal",
        "source": {"component": "kubelet"},
        **fields,
    }


def once(second: float, reason: str, uid: str = "e1") -> Json:
    return event(reason, uid, firstTimestamp=at(second), lastTimestamp=at(second), count=1)


def records(log: LifecycleLog, kind: str, *keys: str) -> list[tuple[object, ...]]:
    return [tuple(record.get(key) for key in keys) for record in log.trace.of_kind(kind)]


def test_an_event_of_the_core_group_counts_whole_seconds() -> None:
    log = read(once(5, "Started"))
    assert log.sources[0].format is SourceFormat.EVENTS
    assert dict(log.trace.records[0]) == {
        "t": 0.0,
        "kind": "event",
        "pod": "web",
        "type": "Normal",
        "reason": "Started",
        "message": "about Started",
        "source": "kubelet",
        "container": "main",
        "count": 1,
        "resolution": 1.0,
    }


def test_an_event_of_the_new_group_has_microseconds() -> None:
    new = {
        "apiVersion": "events.k8s.io/v1",
        "kind": "Event",
        "metadata": {"uid": "1"},
        "regarding": {"kind": "Pod", "name": "web"},
        "note": "n",
        "reason": "Scheduled",
        "reportingController": "default-scheduler",
        "eventTime": at(1.5),
        "series": {"count": 3, "lastObservedTime": at(4.25)},
    }
    log = read({"kind": "EventList", "apiVersion": "events.k8s.io/v1", "items": [new]})
    assert records(log, "event", "t", "reason", "message", "source", "container", "count", "resolution") == [
        (0.0, "Scheduled", "n", "default-scheduler", None, 1, None),
        (2.75, "Scheduled", "n", "default-scheduler", None, 3, None),
    ]


def test_an_event_that_came_again_is_its_first_and_its_last() -> None:
    again = event("BackOff", firstTimestamp=at(1), lastTimestamp=at(9), count=4)
    assert records(read(again), "event", "t", "count") == [(0.0, 1), (8.0, 4)]


def test_a_watch_of_events_tells_what_is_new_of_each() -> None:
    seen = [event("BackOff", firstTimestamp=at(1), lastTimestamp=at(n), count=n) for n in (1, 2, 2, 4)]
    log = read(*({"type": "MODIFIED", "object": each} for each in seen), {"type": "DELETED", "object": seen[0]})
    assert records(log, "event", "t", "count") == [(0.0, 1), (1.0, 2), (3.0, 4)]


def test_an_event_of_a_job_is_no_pods() -> None:
    log = read(event("Completed", involvedObject={"kind": "Job", "name": "batch"}, firstTimestamp=at(1)))
    assert records(log, "event", "job", "pod") == [("batch", None)]


@pytest.mark.parametrize(
    ("fields", "because"),
    [
        ({}, "it has no time"),
        ({"firstTimestamp": at(1), "involvedObject": {}}, "it doesn't say of which object"),
        ({"firstTimestamp": "soon"}, "'soon' is no RFC 3339 time"),
    ],
)
def test_an_event_that_cant_be_read_is_named(fields: Json, because: str) -> None:
    log = read(once(1, "Pulled", "other"), event("Started", **fields), indent=None)
    assert [(fault.line, fault.text) for fault in log.faults] == [(2, f"an Event that can't be read: {because}")]


def pod(*containers: Json, deleted: tuple[float, int] | None = None, **status: object) -> Json:
    metadata: Json = {"name": "web", "namespace": "default", "uid": "p1", "creationTimestamp": at(0), "generation": 1}
    if deleted:
        metadata |= {"deletionTimestamp": at(deleted[0]), "deletionGracePeriodSeconds": deleted[1]}
    spec = {"containers": [{"name": "main", "image": "a", "resources": {}}], "aFieldOfTomorrow": {"x": 1}}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": metadata,
        "spec": spec,
        "status": {"phase": "Running", "containerStatuses": list(containers), **status},
    }


def running(second: float, *, restarts: int = 0, ready: bool = False, last: Json | None = None) -> Json:
    return {
        "name": "main",
        "restartCount": restarts,
        "ready": ready,
        "started": True,
        "image": "a",
        "state": {"running": {"startedAt": at(second)}},
        "lastState": {"terminated": last} if last else {},
    }


def ended(start: float, end: float, code: int = 0) -> Json:
    reason = "Completed" if code == 0 else "Error"
    return {"startedAt": at(start), "finishedAt": at(end), "exitCode": code, "reason": reason, "message": "bye"}


def condition(second: float, status: str = "True") -> Json:
    return {"type": "Ready", "status": status, "lastTransitionTime": at(second), "reason": "R", "message": "M"}


def watch(*objects: Json, last: str = "MODIFIED") -> list[Json]:
    kinds = ["ADDED", *("MODIFIED" for _ in objects[2:]), last][: len(objects)]
    return [{"type": kind, "object": obj} for kind, obj in zip(kinds, objects, strict=True)]


def test_a_watch_tells_a_pods_life() -> None:
    log = read(
        *watch(
            pod(phase="Pending"),
            pod(running(2)),
            pod(running(2, ready=True), conditions=[condition(3)]),
            pod(running(5, restarts=1, last=ended(2, 4, 1)), conditions=[condition(4, "False")]),
            pod(running(5, restarts=1, last=ended(2, 4, 1)), deleted=(17, 7), conditions=[condition(4, "False")]),
            pod(
                {**running(5, restarts=1), "state": {"terminated": ended(5, 12, 143)}},
                deleted=(17, 7),
                phase="Failed",
            ),
            last="DELETED",
        )
    )
    assert log.sources[0].format is SourceFormat.WATCH
    assert log.sources[0].resolution_seconds == 1.0
    assert records(log, "status", "t", "phase", "deletionTimestamp", "deletionGracePeriodSeconds") == [
        (0.0, "Pending", None, None),
        (2.0, "Running", None, None),
        (3.0, "Running", None, None),
        (5.0, "Running", None, None),
        (10.0, "Running", True, 7),
        (12.0, "Failed", True, 7),
    ]
    assert records(log, "run", "t", "what", "run", "code", "resolution") == [
        (2.0, "start", 1, None, 1.0),
        (4.0, "exit", 1, 1, 1.0),
        (5.0, "start", 2, None, 1.0),
        (12.0, "exit", 2, 143, 1.0),
    ]
    assert records(log, "terminating", "t", "gracePeriodSeconds") == [(10.0, 7)]
    assert records(log, "deleted", "t") == [(12.0,)]
    assert records(log, "object", "t", "what") == [(0.0, "created")]
    kept = cast("Pod", log.objects["Pod", "web"])
    assert kept.spec.containers[0].name == "main"


def test_what_a_container_shows_is_as_a_trace_has_it() -> None:
    log = read(pod({**running(2), "state": {"terminated": ended(2, 4, 3)}, "lastState": {"terminated": ended(1, 1)}}))
    (status,) = log.trace.of_kind("status")
    assert status["containers"] == {
        "main": {
            "state": "terminated:Error:3",
            "ready": False,
            "started": True,
            "restartCount": 0,
            "image": "a",
            "lastState": "terminated:Completed:0",
            "message": "bye",
            "type": "regular",
        }
    }


def test_a_status_without_a_moment_of_its_own_lies_before_the_next_one() -> None:
    waiting = {**running(2), "state": {"waiting": {"reason": "CrashLoopBackOff"}}, "lastState": {}}
    log = read(*watch(pod(running(2)), pod(waiting), pod(running(9, restarts=1))))
    assert records(log, "status", "t", "resolution") == [(0.0 + 2, 1.0), (2.0, 8.0), (9.0, 1.0)]


def test_a_shorter_grace_is_asked_for_later() -> None:
    log = read(*watch(pod(running(2)), pod(running(2), deleted=(40, 30)), pod(running(2), deleted=(15, 5))))
    assert records(log, "terminating", "t", "gracePeriodSeconds") == [(10.0, 30), (10.0, 5)]


def test_a_state_that_the_kubelet_made_up_is_no_run() -> None:
    made_up = {"exitCode": 137, "reason": "ContainerStatusUnknown", "startedAt": None, "finishedAt": None}
    never_ran = {"exitCode": 128, "reason": "StartError", "startedAt": "1970-01-01T00:00:00Z", "finishedAt": at(2)}
    for state in (made_up, never_ran):
        assert records(read(pod({**running(2), "state": {"terminated": state}})), "run", "t") == []


def test_a_job_is_read_with_its_pods() -> None:
    job: Json = {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": "batch", "uid": "j1", "creationTimestamp": at(0)},
        "spec": {"template": {"spec": {"containers": [{"name": "main", "image": "a"}], "restartPolicy": "Never"}}},
        "status": {"startTime": at(0), "active": 1},
    }
    complete = {"type": "Complete", "status": "True", "lastTransitionTime": at(7), "reason": "Done"}
    done = {**job, "status": {"startTime": at(0), "succeeded": 1, "completionTime": at(7), "conditions": [complete]}}
    log = read(*watch(job, done), {"type": "DELETED", "object": done})
    assert records(log, "job", "t", "active", "succeeded", "conditions", "deleted") == [
        (0.0, 1, 0, {}, None),
        (7.0, 0, 1, {"Complete": "True"}, None),
        (7.0, None, None, None, True),
    ]
    assert ("Job", "batch") in log.objects


def test_objects_alone_and_in_lists_are_read_too() -> None:
    listed: Json = {"apiVersion": "v1", "kind": "List", "items": [pod(running(2)), once(3, "Started")]}
    assert [record["kind"] for record in read(listed).trace.records] == ["object", "run", "status", "event"]
    typed = {
        "apiVersion": "v1",
        "kind": "PodList",
        "items": [{k: v for k, v in pod(running(2)).items() if k != "kind"}],
    }
    assert records(read(typed), "status", "phase") == [("Running",)]


def test_a_bookmark_says_nothing_and_an_error_is_named() -> None:
    log = read(
        {"type": "BOOKMARK", "object": {"apiVersion": "v1", "kind": "Pod", "metadata": {}}},
        *watch(pod(running(2))),
        {"type": "ERROR", "object": {"apiVersion": "v1", "kind": "Status", "message": "too old"}},
        {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n"}},
        {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "x"}},
        indent=None,
    )
    assert [(fault.line, fault.text) for fault in log.faults] == [
        (3, "the watch ended with an error: too old"),
        (4, "a Node is no Pod, Job or Event"),
        (5, "a Pod that can't be read: it tells no time"),
    ]


def test_what_is_no_json_is_named_and_reading_goes_on() -> None:
    text = json.dumps(pod(running(2)), indent=4)
    cut = text[: text.index('"spec"')]
    log = read("warning: deprecated", text, cut, text, "}", '{"a": }', text + json.dumps(once(9, "Killing")))
    assert records(log, "event", "reason") == [("Killing",)]
    assert [fault.text.partition(":")[0] for fault in log.faults] == ["no JSON object begins here", "no JSON"] * 2
    assert not log.is_torn


def test_a_stream_that_was_cut_is_torn() -> None:
    text = json.dumps(pod(running(2)), indent=4)
    log = read(text, text[:-30])
    assert log.is_torn
    assert log.faults == ()


def test_output_of_a_real_cluster_makes_one_log() -> None:
    log = read_logs([CLUSTER / "events.json", CLUSTER / "pod.json", CLUSTER / "logs.txt"])
    assert (log.faults, log.trace.pods, str(log.epoch)) == ((), ("ferry",), "2026-12-02 03:36:21+00:00")
    assert {name: str(log.trace.runs(name, "ferry")[1].started) for name in ("plan", "radio", "crew")} == {
        "plan": "plan#1 started @1.00..1.29",
        "radio": "radio#1 started @4.00..4.49",
        "crew": "crew#1 started @7.00..7.02",
    }
    assert str(log.trace.runs("radio", "ferry")[1].exited) == "radio#1 exited @12.51..13.00"


def test_a_folder_is_read_as_one_run() -> None:
    log = read_logs([CLUSTER])
    assert sorted(source.format.name for source in log.sources) == ["EVENTS", "PREFIXED_LINES", "WATCH"]


def test_a_file_that_is_no_log_is_only_named_in_a_folder(tmp_path: Path) -> None:
    (tmp_path / "a.log").write_text(f"web main {at(1)} x\n")
    (tmp_path / "notes").write_text("nothing\n")
    log = read_logs([tmp_path])
    assert [(Path(fault.file).name, fault.line) for fault in log.faults] == [("notes", 0)]
    with pytest.raises(ReadError, match="none of the logs"):
        read_logs([tmp_path / "a.log", tmp_path / "notes"])


def test_lines_without_a_run_are_of_the_run_that_a_status_saw_begin() -> None:
    life = pod(running(5, restarts=1, last=ended(2, 4, 1)))
    lines = f"[pod/web/main] {at(2.5)} first\n[pod/web/main] {at(5.5)} second\n"
    log = read_logs([io.BytesIO(json.dumps(life).encode()), io.BytesIO(lines.encode())])
    assert records(log, "log", "line", "run") == [("first", 1), ("second", 2)]
    assert records(log, "moment", "what") == []


def test_a_line_in_two_files_is_one() -> None:
    line = f"[pod/web/main] {at(2.5)} first\n".encode()
    assert len(list(read_logs([io.BytesIO(line), io.BytesIO(line)]).trace.of_kind("log"))) == 1


TRACE = b'{"t": 1.0, "kind": "run", "pod": "web", "container": "main", "run": 1, "what": "start"}\n'


def test_a_trace_is_read_alone_but_not_beside_what_has_wall_time() -> None:
    assert read_logs([io.BytesIO(TRACE)]).epoch is None
    lines = f"[pod/web/main] {at(2.5)} first\n".encode()
    with pytest.raises(ReadError, match="a trace counts seconds from a moment that it doesn't name"):
        read_logs([io.BytesIO(TRACE), io.BytesIO(lines)])
    with pytest.raises(ReadError, match="read it alone"):
        read_logs([io.BytesIO(TRACE), io.BytesIO(TRACE)])


def test_a_trace_that_tells_its_epoch_stands_beside_others() -> None:
    told = f'{{"t": 0.0, "kind": "epoch", "epoch": "{at(1)}"}}\n'.encode() + TRACE
    lines = f"[pod/web/main] {at(2.5)} first\n".encode()
    log = read_logs([io.BytesIO(told), io.BytesIO(lines)])
    assert [(record["kind"], record["t"]) for record in log.trace.records] == [
        ("epoch", 0.0),
        ("run", 1.0),
        ("log", 1.5),
    ]


def test_a_line_of_a_trace_that_cant_be_read_is_named() -> None:
    log = read_logs([io.BytesIO(TRACE + b'nonsense\n{"t": "x", "kind": "run"}\n{"t": 2.0, "ki')])
    assert [(fault.line, fault.text) for fault in log.faults] == [
        (2, "no record of a trace: Expecting value: line 1 column 1 (char 0)"),
        (3, 'no record of a trace: "t" is no number'),
    ]
    assert log.is_torn


def test_what_cant_be_opened_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(ReadError, match="No such file"):
        read_logs([tmp_path / "absent"])
    with pytest.raises(ReadError, match="the folder holds no logs"):
        read_logs([tmp_path])
    with pytest.raises(ReadError, match="no log is named"):
        read_logs([])
