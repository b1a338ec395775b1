"""What a second terminal prints: rows, durations, tables and YAML, against what kubectl v1.36 printed of a node."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from kubelet_emu.cli.remote.containers import all_containers, default_container, told_containers
from kubelet_emu.cli.remote.event_cells import cells_of as event_cells_of
from kubelet_emu.cli.remote.kinds import KINDS, kind_of
from kubelet_emu.cli.remote.pod_cells import cells_of
from kubelet_emu.cli.remote.table import Table
from kubelet_emu.cli.remote.yaml_text import to_yaml

RECORDED = Path(__file__).resolve().parent.parent / "fixtures" / "kubectl"
NOW = datetime(2026, 12, 2, 4, 0, 0, tzinfo=UTC)


def rows(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (RECORDED / name).read_text().splitlines()]


PODS = rows("get-pods.jsonl")


@pytest.mark.parametrize("row", PODS, ids=[f"{row['state']}/{row['pod']['metadata']['name']}" for row in PODS])
def test_a_pod_has_the_row_that_a_server_gave_it(row: dict[str, Any]) -> None:
    _, ready, status, restarts, _ = cells_of(row["pod"], NOW)
    assert [ready, status, restarts.split(" ")[0]] == row["cells"]


OBJECTS = rows("objects.jsonl")


@pytest.mark.parametrize("row", OBJECTS, ids=[row["state"] for row in OBJECTS])
def test_an_object_has_the_text_that_kubectl_wrote(row: dict[str, Any]) -> None:
    assert to_yaml(row["object"]) == row["yaml"]


ODD = st.text(max_size=120) | st.sampled_from(
    ["~", "no", "1e3", "0x1f", "2026-01-01", "a: b", "a #b", "- a", "1:30", ""]
)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | ODD,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)


@given(st.dictionaries(ODD, VALUES, max_size=4))
def test_what_is_written_reads_back_as_it_was(obj: dict[str, object]) -> None:
    assert yaml.safe_load(to_yaml(obj)) == obj


def a_pod(**status: object) -> dict[str, Any]:
    metadata = {"name": "web", "creationTimestamp": "2026-12-02T03:59:00Z"}
    return {"metadata": metadata, "spec": {"containers": [{"name": "a"}]}, "status": status}


def test_wide_cells_say_where_a_pod_is() -> None:
    pod = a_pod(phase="Running", podIPs=[{"ip": "10.0.0.2"}], conditions=[{"type": "door", "status": "True"}])
    assert cells_of(pod, NOW, is_wide=True)[4:] == ("60s", "10.0.0.2", "<none>", "<none>", "<none>")
    pod["spec"] |= {"readinessGates": [{"conditionType": "door"}, {"conditionType": "x"}], "nodeName": "node1"}
    assert cells_of(pod, NOW, is_wide=True)[5:] == ("10.0.0.2", "node1", "<none>", "1/2")


def test_restarts_count_from_the_end_of_the_run_before() -> None:
    last = {"terminated": {"finishedAt": "2026-12-02T03:58:00Z", "exitCode": 1}}
    status = {"name": "a", "restartCount": 3, "state": {"running": {}}, "lastState": last, "ready": True}
    assert cells_of(a_pod(phase="Running", containerStatuses=[status]), NOW)[1:4] == ("1/1", "Running", "3 (2m ago)")


def test_a_lost_node_makes_a_deleted_pod_unknown() -> None:
    pod = a_pod(phase="Running", reason="NodeLost")
    pod["metadata"]["deletionTimestamp"] = "2026-12-02T03:59:30Z"
    assert cells_of(pod, NOW)[2] == "Unknown"


def test_a_signal_and_a_code_stand_for_a_reason_that_is_missing() -> None:
    for ended, text in (({"exitCode": 137, "signal": 9}, "Signal:9"), ({"exitCode": 2}, "ExitCode:2")):
        status = {"name": "a", "restartCount": 0, "state": {"terminated": ended}}
        assert cells_of(a_pod(phase="Failed", containerStatuses=[status]), NOW)[2] == text


def test_a_table_is_as_wide_as_its_widest_cell_and_stays_so() -> None:
    table = Table()
    assert table.lines([("NAME", "READY", "AGE"), ("web", "1/1", "5s")]) == [
        "NAME   READY   AGE",
        "web    1/1     5s",
    ]
    assert table.lines([("a-long-name", "1/1", "6s")]) == ["a-long-name   1/1     6s"]
    assert table.lines([("a", "0", "\x1b[2J")]) == ["a             0       \\e[2J"]


EVENT = {
    "metadata": {"name": "web.1"},
    "involvedObject": {"kind": "Pod", "name": "web", "fieldPath": "spec.containers{a}"},
    "type": "Warning",
    "reason": "BackOff",
    "message": "Back-off \n",
    "count": 3,
    "firstTimestamp": "2026-12-02T03:59:00Z",
    "lastTimestamp": "2026-12-02T03:59:50Z",
    "source": {"component": "kubelet", "host": "node1"},
}


def test_events_have_the_columns_of_a_server() -> None:
    assert event_cells_of(EVENT, NOW) == ("10s", "Warning", "BackOff", "pod/web", "Back-off")
    assert event_cells_of(EVENT, NOW, is_wide=True) == (
        "10s",
        "Warning",
        "BackOff",
        "pod/web",
        "spec.containers{a}",
        "kubelet, node1",
        "Back-off",
        "60s",
        "3",
        "web.1",
    )
    new = {
        **EVENT,
        "firstTimestamp": None,
        "lastTimestamp": None,
        "eventTime": "2026-12-02T03:59:58.5Z",
        "source": {},
        "reportingComponent": "default-scheduler",
        "reportingInstance": "default-scheduler-node1",
        "count": None,
    }
    wide = event_cells_of(new, NOW, is_wide=True)
    assert (wide[0], wide[5], wide[7:9]) == ("1s", "default-scheduler, default-scheduler-node1", ("1s", "1"))


JOBS = [
    ("one that runs", {}, {"startTime": "2026-12-02T03:58:00Z"}, ("Running", "0/1", "2m")),
    ("one not begun", {"completions": 3}, {}, ("Running", "0/3", "")),
    ("a work queue", {"parallelism": 2}, {"succeeded": 1}, ("Running", "1/1 of 2", "")),
    (
        "complete",
        {"completions": 1},
        {
            "succeeded": 1,
            "startTime": "2026-12-02T03:50:00Z",
            "completionTime": "2026-12-02T03:50:07Z",
            "conditions": [{"type": "Complete", "status": "True"}],
        },
        ("Complete", "1/1", "7s"),
    ),
    ("suspended", {}, {"conditions": [{"type": "Suspended", "status": "True"}]}, ("Suspended", "0/1", "")),
]


@pytest.mark.parametrize(("why", "spec", "status", "expected"), JOBS, ids=[row[0] for row in JOBS])
def test_a_job_has_its_row(
    why: str, spec: dict[str, Any], status: dict[str, Any], expected: tuple[str, str, str]
) -> None:
    kind = kind_of("jobs")
    assert kind is not None
    template = {"spec": {"containers": [{"name": "a", "image": "b:1"}]}}
    job = {"metadata": {"name": "j"}, "spec": {**spec, "template": template}, "status": status}
    assert kind.cells(job, NOW, is_wide=False) == ("j", *expected, "<unknown>")
    assert kind.cells(job, NOW, is_wide=True)[5:] == ("a", "b:1", "<none>")
    job["metadata"]["deletionTimestamp"] = (NOW + timedelta(seconds=1)).isoformat()
    assert kind.cells(job, NOW, is_wide=False)[1] in {"Terminating", "Complete"}


def test_each_kind_has_words_of_its_own() -> None:
    words = [word for kind in KINDS for word in kind.words]
    assert len(words) == len(set(words))
    assert kind_of("PODS") is kind_of("po")
    assert kind_of("nodes") is None
    assert [kind.singular for kind in KINDS][:4] == ["pod", "event", "job.batch", "cronjob.batch"]


THREE = {
    "metadata": {"name": "p"},
    "spec": {
        "initContainers": [{"name": "i"}],
        "containers": [{"name": "a"}, {"name": "b"}],
        "ephemeralContainers": [{"name": "e"}],
    },
}


def test_containers_are_told_as_kubectl_tells_them() -> None:
    assert all_containers(THREE) == ("i", "a", "b", "e")
    assert told_containers(THREE) == "a, b, e (ephem), i (init)"
    assert default_container(THREE) == ("a", 'Defaulted container "a" out of: a, b, e (ephem), i (init)')
    named = {**THREE, "metadata": {"annotations": {"kubectl.kubernetes.io/default-container": "b"}}}
    assert default_container(named) == ("b", "")
    assert default_container(a_pod()) == ("a", "")
