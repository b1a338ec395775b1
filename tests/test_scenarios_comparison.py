"""Our trace beside recordings of a real node: what counts as a difference, and what a node leaves open."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from kubelet_emu.scenarios.comparison import Difference, compare
from kubelet_emu.scenarios.exclusions import read_exclusions
from kubelet_emu.scenarios.expectations import parse_moment
from kubelet_emu.scenarios.recordings import read_recordings
from kubelet_emu.scenarios.scenario_file import End, Scenario, ScenarioError
from kubelet_emu.scenarios.sequences import Entry, Thread, ThreadKey, masked, sequences

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kubelet_emu.lifecycle.raw_records import RawRecord

ROOT = Path(__file__).parent.parent


def run(at: float, container: str, what: str, code: int | None = None, n: int = 1) -> RawRecord:
    body = {} if code is None else {"code": code}
    return {"t": at, "kind": "run", "pod": "p", "container": container, "run": n, "what": what, **body}


def signal(at: float, container: str, name: str = "SIGTERM") -> RawRecord:
    return {"t": at, "kind": "cri", "pod": "p", "container": container, "run": 1, "what": "signal", "signal": name}


def event(at: float, reason: str, container: str | None = "a", message: str = "") -> RawRecord:
    return {"t": at, "kind": "event", "pod": "p", "reason": reason, "container": container, "message": message}


def status(at: float, phase: str, state: str = "running", restarts: int = 0, pod: str = "p") -> RawRecord:
    container = {"state": state, "ready": False, "started": False, "restartCount": restarts}
    body = {"phase": phase, "conditions": {"Ready": "False"}, "containers": {"a": container}}
    return {"t": at, "kind": "status", "pod": pod, **body}


def gone(at: float) -> RawRecord:
    return {"t": at, "kind": "deleted", "pod": "p"}


DELETED = End(condition="pod deleted")
TERMINAL = End(condition="pod terminal")
STOPPED = End(seconds=20)
AFTER = End(after=parse_moment("a started"), plus=20)
KILLING = "Stopping container "


def differences(
    ours: Sequence[RawRecord], *recordings: Sequence[RawRecord], end: End = STOPPED, **more: object
) -> list[str]:
    scenario = Scenario(name="s", path=Path("s"), end=end, **more)  # type: ignore[arg-type]
    found = compare(ours, recordings, scenario).differences
    return [line.strip() for difference in found for line in difference.lines()]


EQUAL = [
    ("nothing", [], []),
    ("the same", [run(1, "a", "start")], [run(2, "a", "start")]),
    (
        "a real node's own spelling",
        [run(1, "a", "start"), signal(2, "a"), run(3, "a", "exit", 0)],
        [
            {"t": 0.5, "kind": "runtime", "pod": "p", "container": "POD", "run": 1, "what": "started"},
            {"t": 1, "kind": "runtime", "pod": "p", "container": "a", "run": 1, "what": "started"},
            {"t": 2, "kind": "cri", "pod": "p", "container": "a", "run": 1, "what": "signal", "signal": "terminated"},
            {"t": 3, "kind": "runtime", "pod": "p", "container": "a", "run": 1, "what": "exited", "exitCode": 0},
            {"t": 4, "kind": "cri", "pod": "p", "container": "POD", "run": 1, "what": "StopPodSandbox"},
        ],
    ),
    (
        "two kills at once in any order",
        [event(1.0, "Killing", "a", KILLING + "a"), event(1.1, "Killing", "b", KILLING + "b")],
        [event(1.0, "Killing", "b", KILLING + "b"), event(1.1, "Killing", "a", KILLING + "a")],
    ),
    (
        "a state that lasts less than a relist on the node",
        [status(1, "Pending"), status(5, "Running")],
        [status(1, "Pending"), status(3, "Pending", "waiting:X"), status(3.5, "Running")],
    ),
    (
        "a state that lasts less than a relist here",
        [status(1, "Pending"), status(3, "Pending", "waiting:X"), status(3.5, "Running")],
        [status(1, "Pending"), status(5, "Running")],
    ),
    (
        "a repeated event",
        [event(1, "BackOff", message="x")],
        [event(1, "BackOff", message="x"), event(2, "BackOff", message="x"), event(3, "BackOff", message="x")],
    ),
    (
        "the order of what repeats",
        [event(1, "BackOff"), event(2, "Created"), event(3, "BackOff")],
        [event(1, "BackOff"), event(2, "BackOff"), event(3, "Created")],
    ),
    (
        "a probe that finds the container dying",
        [],
        [event(1, "Unhealthy", message="Readiness probe errored and resulted in unknown state: gone")],
    ),
    ("what is just before the end", [], [event(19, "Created")]),
    (
        "being ahead",
        [status(1, "Running", restarts=0), status(9, "Running", restarts=1)],
        [status(1, "Running", restarts=0)],
    ),
    (
        "a run more than recorded",
        [run(1, "a", "start"), run(5, "a", "exit", 0), run(9, "a", "start", n=2)],
        [run(1, "a", "start"), run(5, "a", "exit", 0)],
    ),
    ("the taint manager", [], [event(1, "TaintManagerEviction", None, "Cancelling deletion of Pod x/y")]),
    ("the volume of a token", [], [event(1, "FailedMount", None, 'volume "kube-api-access-x" : not registered')]),
    (
        "another signal than TERM and KILL",
        [signal(1, "a", "SIGUSR1"), run(1, "POD", "start")],
        [],
    ),
]


@pytest.mark.parametrize(("ours", "recorded"), [row[1:] for row in EQUAL], ids=[row[0] for row in EQUAL])
def test_what_is_no_difference(ours: list[RawRecord], recorded: list[RawRecord]) -> None:
    assert differences(ours, recorded) == []


DIFFERENT = [
    ("what is missing", [], [event(1, "Created")], ["pod @1: events", "- event(Created) a"]),
    ("what is extra", [event(1, "Created")], [], ["pod @1: events", "+ event(Created) a"]),
    (
        "another order",
        [run(1, "b", "start"), run(2, "a", "start")],
        [run(1, "a", "start"), run(2, "b", "start")],
        ["pod @1: runs", "~ b#1 started  before  a#1 started"],
    ),
    (
        "two kills in another order, far from each other",
        [event(1.0, "Killing", "a", KILLING + "a"), event(1.9, "Killing", "b", KILLING + "b")],
        [event(1.0, "Killing", "b", KILLING + "b"), event(1.1, "Killing", "a", KILLING + "a")],
        ["pod @1: events", "~ event(Killing) a Stopping container a  before  event(Killing) b Stopping container b"],
    ),
    (
        "a sidecar's TERM before the end of what it serves (KEP-753)",
        [run(0, "a", "start"), run(0, "b", "start"), signal(1.0, "b"), signal(1.1, "a"), run(1.2, "a", "exit", 0)],
        [run(0, "a", "start"), run(0, "b", "start"), signal(1.0, "a"), run(1.1, "a", "exit", 0), signal(1.2, "b")],
        [
            "pod @1: runs",
            "~ b#1 signal SIGTERM  before  a#1 signal SIGTERM",
            "~ b#1 signal SIGTERM  before  a#1 exited(0)",
        ],
    ),
    (
        "another short state in the same place",
        [status(1, "Pending"), status(3, "Pending", "waiting:Y"), status(3.2, "Running")],
        [status(1, "Pending"), status(3, "Pending", "waiting:X"), status(3.5, "Running")],
        [
            "pod @1: states of a",
            "- a waiting:X ready=False started=False restarts=0",
            "+ a waiting:Y ready=False started=False restarts=0",
        ],
    ),
    (
        "a state that lasts",
        [status(1, "Pending"), status(5, "Running")],
        [status(1, "Pending"), status(3, "Unknown"), status(4.5, "Running")],
        ["pod @1: phase and conditions", "- pod Unknown Ready=False"],
    ),
    (
        "another exit code",
        [run(0, "a", "start"), run(1, "a", "exit", 0)],
        [run(0, "a", "start"), run(1, "a", "exit", 137)],
        ["pod @1: runs", "- a#1 exited(137)", "+ a#1 exited(0)"],
    ),
    (
        "another message",
        [event(1, "Created", message="made in 3s")],
        [event(1, "Created", message="made for you")],
        ["pod @1: events", "- event(Created) a: made for you", "+ event(Created) a: made in *"],
    ),
    (
        "something new at the end",
        [status(1, "Running"), status(9, "Running", "terminated:Error:1")],
        [status(1, "Running")],
        ["pod @1: states of a", "+ a terminated:Error:1 ready=False started=False restarts=0"],
    ),
    (
        "a pod more",
        [status(1, "Running"), status(2, "Running", pod="q")],
        [status(1, "Running")],
        [
            "pod @2: phase and conditions",
            "+ pod Running Ready=False",
            "pod @2: states of a",
            "+ a running ready=False started=False restarts=0",
        ],
    ),
]


@pytest.mark.parametrize(
    ("ours", "recorded", "lines"), [row[1:] for row in DIFFERENT], ids=[row[0] for row in DIFFERENT]
)
def test_what_is_a_difference(ours: list[RawRecord], recorded: list[RawRecord], lines: list[str]) -> None:
    assert differences(ours, recorded) == lines


def test_what_is_known_at_the_end_is_no_repetition_when_the_end_was_not_a_matter_of_time() -> None:
    ours = [run(1, "a", "start"), run(5, "a", "exit", 0), run(6, "a", "start", n=2), gone(9)]
    assert differences(ours, [run(1, "a", "start"), run(5, "a", "exit", 0), gone(7)], end=DELETED) == [
        "pod @1: runs",
        "+ a#2 started",
    ]


ENDS = [
    ("after the pod is terminal", TERMINAL, [status(5, "Failed"), event(6, "Created")], []),
    ("before it is", TERMINAL, [event(4, "Created"), status(5, "Failed")], ["pod @1: events", "- event(Created) a"]),
    ("a pod that is gone is terminal", TERMINAL, [status(1, "Failed"), gone(5), event(6, "Created")], []),
    ("after it is gone", DELETED, [status(1, "Failed"), gone(5), event(6, "Created")], []),
    ("before it is gone", DELETED, [status(1, "Failed"), event(4, "Created"), gone(5)], ["pod @1: events"]),
    ("just before a moment's time is over", AFTER, [run(1, "a", "start"), event(20, "Created")], []),
    ("long before it", AFTER, [run(1, "a", "start"), event(18, "Created")], ["pod @1: events"]),
    ("the moment did not come", AFTER, [event(99, "Created")], ["pod @1: events"]),
]


@pytest.mark.parametrize(("end", "recorded", "lines"), [row[1:] for row in ENDS], ids=[row[0] for row in ENDS])
def test_where_a_recording_may_stop(end: End, recorded: list[RawRecord], lines: list[str]) -> None:
    ours = [record for record in recorded if record["kind"] != "event"]
    assert differences(ours, recorded, end=end)[: len(lines)] == lines
    assert bool(differences(ours, recorded, end=end)) == bool(lines)


def test_what_two_recordings_do_not_agree_on_is_open() -> None:
    one, two = run(1, "a", "start"), run(2, "b", "start")
    other = [run(1, "b", "start"), run(2, "a", "start")]
    assert differences(other, [one, two], other) == []
    assert differences(other, [one, two], [one, two]) == ["pod @1: runs", "~ b#1 started  before  a#1 started"]
    assert differences([], [event(1, "Created")], []) == []
    assert differences([event(1, "Created")], [], [event(1, "Created")]) == []


def test_what_a_scenario_leaves_open() -> None:
    ours = [event(1, "Created"), event(2, "Pulled", message="x")]
    recorded = [event(1, "Pulled", message="x"), event(2, "Created"), event(3, "Started")]
    more = {"unordered": (("event(Created) a", "event(Pulled) a"),), "only_in_one_run": ("run 1: event(Started) a",)}
    assert differences(ours, recorded, **more) == []


def test_how_many_moments_are_the_same() -> None:
    recorded = [run(1, "a", "start"), run(2, "b", "start"), event(3, "Created"), event(4, "Started")]
    ours = [run(1, "b", "start"), run(2, "a", "start"), event(4, "Started")]
    found = compare(ours, [recorded], Scenario(name="s", path=Path("s"), end=STOPPED))
    assert (found.moments, found.same) == (4, 2)
    assert Difference(where="w").lines() == ("w",)


MASKED = [
    ("Successfully assigned ns-1/p to node2", "Successfully assigned *"),
    ("Back-off restarting failed container a in pod p_ns(12345678-1234-1234-1234-123456789abc)", "in pod *"),
    ("dial tcp 10.231.0.134:8080: connect: connection refused", "dial tcp *: connect: connection refused"),
    ('Successfully pulled image "x" in 87ms (87ms including waiting). Image size: 1070225 bytes.', "size: * bytes."),
    ('sandbox container "0123456789abcdef" is not running', 'sandbox container "*" is not running'),
    ("Error: failed to create containerd task: oops", "Error: *"),
    ("Error: couldn't find key k in Secret ns/s", "Error: couldn't find key k in Secret */s"),
    ("requested: 3, used: 0, capacity: 2000", "requested: 3, used: 0, capacity: *"),
    ("Readiness probe failed: rpc error: code = Unknown desc = x", "Readiness probe failed"),
]


@pytest.mark.parametrize(("message", "kept"), MASKED, ids=[row[0] for row in MASKED])
def test_what_belongs_to_a_cluster_is_masked(message: str, kept: str) -> None:
    assert masked(message).endswith(kept)


def test_entries_are_spelled_with_their_occurrence() -> None:
    found = sequences([event(2, "Created", None), event(1, "Created", None), {"t": 0.0, "kind": "end"}])
    assert [entry.name for entry in found[ThreadKey(1, Thread.EVENTS)]] == [
        "event(Created) pod",
        "event(Created) pod (2)",
    ]
    assert Entry(text="x", at=0).name == "x"


@pytest.mark.parametrize(("name", "prefix"), [("scenario.yaml", ""), ("one.scenario.yaml", "one.")])
def test_recordings_lie_beside_the_scenario(tmp_path: Path, name: str, prefix: str) -> None:
    assert read_recordings(tmp_path / name) == ()
    (tmp_path / f"{prefix}trace.jsonl").write_text(json.dumps(gone(1)) + "\n\n")
    (tmp_path / f"{prefix}trace-2.jsonl").write_text(json.dumps(gone(2)) + "\n")
    assert read_recordings(tmp_path / name) == ((gone(1),), (gone(2),))


@pytest.mark.parametrize(("text", "why"), [("{", "Expecting"), ("[]", "a record is an object with t and kind")])
def test_a_recording_that_cant_be_read(tmp_path: Path, text: str, why: str) -> None:
    (tmp_path / "trace.jsonl").write_text(f"{json.dumps(gone(1))}\n{text}\n")
    with pytest.raises(ScenarioError, match=why) as caught:
        read_recordings(tmp_path / "scenario.yaml")
    assert caught.value.problems[0].line == 2


def test_the_document_names_the_scenarios_that_go_another_way() -> None:
    text = (ROOT / "docs" / "DIFFERENCES.md").read_text().partition("## Recordings")[2]
    rows = [line.split("|")[1] for line in text.splitlines() if line.startswith("| `")]
    named = {name for row in rows for name in re.findall(r"`([\w-]+)`", row)}
    assert named == set(read_exclusions(ROOT / "fixtures" / "scenarios", "compare"))
