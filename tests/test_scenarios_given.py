"""Every scenario holds in virtual time, and every recording of a real node holds by our checks."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from scenario_files import given, has_no_steps
from verification_makers import terms_of

from kubelet_emu.cli.worlds import SimulatedWorld, run_simulated
from kubelet_emu.journal.encode import Entry, to_line
from kubelet_emu.journal.read import read_lines
from kubelet_emu.journal.records import HeaderRecord
from kubelet_emu.lifecycle.reading.logs import log_of_entries
from kubelet_emu.lifecycle.replaying import Replay, replay
from kubelet_emu.lifecycle.trace import Trace
from kubelet_emu.lifecycle.verification import Outcome, verify
from kubelet_emu.scenarios.checks import check_all
from kubelet_emu.scenarios.comparison import compare
from kubelet_emu.scenarios.exclusions import read_exclusions
from kubelet_emu.scenarios.expectations import ExpectationError, parse_expectation, parse_moment
from kubelet_emu.scenarios.needs import read_needs
from kubelet_emu.scenarios.recordings import read_recordings
from kubelet_emu.scenarios.scenario_file import ScenarioError, find_scenarios, load_scenario
from kubelet_emu.simulator.opening import EPOCH

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kubelet_emu.lifecycle.raw_records import RawRecord
    from kubelet_emu.scenarios.scenario_file import Scenario

FOLDER = Path(__file__).parent.parent / "fixtures" / "scenarios"
SCENARIOS = find_scenarios(FOLDER)
TRACES = sorted(FOLDER.glob("*/trace*.jsonl"))


EXCLUDED = read_exclusions(FOLDER, "simulated")
UNLIKE = read_exclusions(FOLDER, "compare")


def replay_of(lines: list[str], path: Path) -> Replay:
    """Read a scenario's log back and take its decisions again."""
    features = read_needs(given(path).needs).features
    header = HeaderRecord(at=EPOCH, epoch=EPOCH, features=features.overrides)
    log = read_lines(line.encode() for line in [to_line(Entry(n=1, record=header), EPOCH), *lines])
    assert log.problems == ()
    return replay(log.entries)


def broken_by(entries: Sequence[Entry], path: Path) -> list[tuple[str, str]]:
    """Return the rules that the log of a run breaks, and how."""
    report = verify(log_of_entries(entries, "run"), terms_of(path))
    return [(found.rule.code, verdict.text) for found in report.findings for verdict in found.of(Outcome.VIOLATION)]


def unlike(scenario: Scenario, records: Sequence[RawRecord]) -> list[str]:
    """Return how a scenario goes another way than on a real node, where it was recorded."""
    recordings = read_recordings(scenario.path)
    found = compare(records, recordings, scenario).differences if recordings else ()
    return [line for difference in found for line in difference.lines()]


@pytest.mark.parametrize("path", SCENARIOS, ids=[path.parent.name for path in SCENARIOS])
def test_a_scenario_holds_and_goes_as_recorded_and_its_log_replays_and_breaks_no_rule(path: Path) -> None:
    entries: list[Entry] = []
    world = SimulatedWorld(sinks=(entries.append,))
    scenario = given(path)
    outcome = run_simulated(scenario, world)
    failed = [f"{verdict.expectation}: {verdict.because}" for verdict in outcome.verdicts if not verdict.holds]
    if path.parent.name in EXCLUDED:
        assert failed or outcome.error, "this scenario holds: take it out of EXCLUDED.yaml"
    else:
        assert (outcome.error, failed) == ("", [])
        differences = unlike(scenario, outcome.records)
        assert bool(differences) == (path.parent.name in UNLIKE), differences
    assert broken_by(entries, path) == []
    again = replay_of([to_line(entry, EPOCH) for entry in entries], path)
    assert (again.differences, again.skipped) == ((), ())
    assert has_no_steps(path) is not bool(scenario.steps)


@pytest.mark.parametrize("path", TRACES, ids=[f"{path.parent.name}/{path.stem}" for path in TRACES])
def test_a_recording_of_a_real_node_fulfils_its_expectations(path: Path) -> None:
    scenario = given(path.parent / "scenario.yaml")
    trace = Trace.of(json.loads(line) for line in path.read_text().splitlines() if line.strip())
    assert [verdict for verdict in check_all(trace, scenario.expect) if not verdict.holds] == []


def test_an_excluded_scenario_exists() -> None:
    assert {path.parent.name for path in SCENARIOS} >= EXCLUDED.keys() | UNLIKE.keys()


@pytest.mark.parametrize(
    ("text", "column"),
    [
        ("pod foo", 8),
        ("a started <", 12),
        ("phase = X", 7),
        ("gap(a started, b exited) in [1,", 32),
        ("a waiting < b started", 3),
        ("step foo < a started", 6),
        ("exitcode(a) ==", 15),
    ],
)
def test_what_cant_be_read_is_pointed_at(text: str, column: int) -> None:
    with pytest.raises(ExpectationError) as caught:
        parse_expectation(text)
    assert caught.value.column == column


def test_a_moment_is_one_moment() -> None:
    with pytest.raises(ExpectationError, match="single moment"):
        parse_moment("a started after b started")


RECORDS = [
    {"t": 0.0, "kind": "status", "pod": "p", "phase": "Pending", "conditions": {}, "containers": {}},
    {"t": 1.0, "kind": "run", "pod": "p", "container": "a", "run": 1, "what": "start"},
    {"t": 1.2, "kind": "log", "pod": "p", "container": "a", "run": 1, "line": "up"},
    {
        "t": 1.3,
        "kind": "event",
        "pod": "p",
        "container": "a",
        "type": "Normal",
        "reason": "Started",
        "message": "m",
        "count": 2,
    },
    {
        "t": 1.5,
        "kind": "status",
        "pod": "p",
        "phase": "Running",
        "conditions": {"Ready": "True"},
        "qosClass": "Burstable",
        "conditionReasons": {"Ready": "Why"},
        "conditionMessages": {"Ready": "because"},
        "containers": {"a": {"state": "running", "ready": True, "started": True, "restartCount": 0, "image": "i"}},
    },
    {"t": 2.0, "kind": "cri", "pod": "p", "container": "a", "run": 1, "what": "signal", "signal": "SIGTERM"},
    {"t": 3.0, "kind": "run", "pod": "p", "container": "a", "run": 1, "what": "exit", "code": 3, "reason": "Error"},
    {
        "t": 3.5,
        "kind": "status",
        "pod": "p",
        "phase": "Failed",
        "reason": "R",
        "message": "M",
        "conditions": {"Ready": "False"},
        "deletionTimestamp": True,
        "containers": {
            "a": {"state": "terminated:Error:3", "ready": False, "started": False, "restartCount": 0, "message": "bye"}
        },
    },
    {
        "t": 3.6,
        "kind": "job",
        "active": 0,
        "failed": 1,
        "conditions": {"Failed": "True"},
        "conditionReasons": {"Failed": "Limit"},
    },
    {"t": 3.7, "kind": "step", "n": 1},
    {"t": 4.0, "kind": "deleted", "pod": "p"},
]


@pytest.mark.parametrize(
    ("text", "holds"),
    [
        ("a started < a exited(3)", True),
        ("a exited(!0) < a started", False),
        ("a exited(0) < pod deleted", False),
        ("never b started", True),
        ('some a line:"up" before a sigterm', True),
        ('some a line:"up" after a sigterm', False),
        ("gap(a started, a exited) == 2", True),
        ("gap(a started, a exited) != 2", False),
        ("gap(a started, a exited) ~ 2 +- 0.1", True),
        ("gap(a started, a exited) in [3, 4]", False),
        ("gap(a started, a exited) >= 2", True),
        ('gap(a started, a exited) contains "x"', False),
        ("gap(a started, a exited) < high", False),
        ("overlap(a, a)", True),
        ("overlap(a, b)", False),
        ("phases == Pending, Running, Failed", True),
        ("states(a) has running, terminated:Error:3", True),
        ("states(a) has terminated:Error:3, running", False),
        ("at(a sigterm, phase) == Running", True),
        ("at(pod created, ready(a)) == true", False),
        ("during(a started, a exited, phase) == Running", False),
        ("during(a sigterm, a exited, ready(a)) == true", True),
        ("ever(ready(a)) == true", True),
        ("ever(ready(a)) == maybe", False),
        ("always(restarts(a)) == 0", True),
        ("always(state(a)) == running", False),
        ("always(state(b)) == running", False),
        ("restarts(a) < 1", True),
        ("runs(a) == 1", True),
        ("exitcode(a) == 3", True),
        ("exitcode(a#2) == 3", False),
        ("exitcode(b) == 3", False),
        ("reason(a) == Error", True),
        ("message(a) == bye", True),
        ("started(a) == false", True),
        ("image(a) == none", True),
        ('log(a) contains "up"', True),
        ('log(a#1) lacks "down"', True),
        ("log(a#last) matches /^u/", True),
        ("count(a event(Started)) == 2", True),
        ('count(a line:"up") == 1', True),
        ("phase != Running", True),
        ("podreason == R", True),
        ("podmessage == M", True),
        ("p/phase == Failed", True),
        ("qos == none", True),
        ("condition(Ready) == False", True),
        ("conditionreason(Ready) == none", True),
        ("pods == 1", True),
        ("pods(Failed) == 1", True),
        ("job(failed) == 1", True),
        ("job(succeeded) == 0", True),
        ("job(condition Failed) == True", True),
        ("job(conditionreason Failed) == Limit", True),
        ("phase < 3", False),
        ("@2/pod phase(Failed) < pod deleted", False),
        ("job condition(Failed=True) < step done", True),
        ("job failed(1) < pod deleted", True),
        ("step#last done < pod deleted", True),
        ("pod terminating < pod deleted", True),
        ("pod ready < pod unready", True),
        ("pod reason(R) <= pod phase(Failed)", True),
        ('pod event(Started,"m") < pod deleted', True),
        ("a ready < a unready", True),
        ("a terminated(Error) < pod deleted", True),
        ("a startup-probe-ok < a exited", True),
        ("a#last started < a#last exited", True),
        ("a sigkill < pod deleted", False),
        ("* started < pod deleted", True),
        ("a started[2] < pod deleted", False),
        ("same-order(a, a; exited)", False),
    ],
)
def test_an_expectation_on_a_small_trace(text: str, holds: bool) -> None:  # noqa: FBT001 - a table's column
    (verdict,) = check_all(Trace.of(RECORDS), (text,))
    assert verdict.holds is holds, verdict.because


FAULTY = """
about: x
stps: []
steps:
- {at: 1, after: "a started", do: {delte: {}}}
- {do: [1, 2]}
- {at: soon, do: wait, plus: later}
- nothing
end: {sooner: 1}
timeout: long
unordered: [[a], b]
images: {fresh: [1]}
expect: ["a strted <"]
"""


def test_all_faults_of_a_scenario_are_told_at_once(tmp_path: Path) -> None:
    path = tmp_path / "bad.scenario.yaml"
    path.write_text(FAULTY)
    with pytest.raises(ScenarioError) as caught:
        load_scenario(path)
    paths = {problem.path for problem in caught.value.problems}
    wanted = {
        "stps",
        "steps[0]",
        "steps[0].do.delte",
        "steps[1]",
        "steps[1].do",
        "steps[2].at",
        "steps[2].plus",
        "steps[3]",
        "end",
        "timeout",
        "unordered[0]",
        "unordered[1]",
        "images.fresh",
        "expect[0]",
        "manifest",
    }
    assert paths >= wanted
    assert "did you mean 'delete'" in str(caught.value)


@pytest.mark.parametrize("text", ["[]", "", "a: [", "a: 1\n---\nb: 2"])
def test_a_file_that_is_no_single_mapping_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "scenario.yaml"
    path.write_text(text)
    with pytest.raises(ScenarioError):
        load_scenario(path)


def test_a_scenario_file_may_hold_its_manifest(tmp_path: Path) -> None:
    path = tmp_path / "one.scenario.yaml"
    path.write_text("""
manifest: |
  apiVersion: v1
  kind: Pod
  metadata: {name: p}
  spec: {restartPolicy: Never, containers: [{name: a, image: "127.0.0.1:5000/kemu/busybox:1", command: ["true"]}]}
end: pod terminal
expect: [phase == Succeeded]
""")
    assert find_scenarios(tmp_path) == (path,)
    assert run_simulated(load_scenario(path), SimulatedWorld()).passed
