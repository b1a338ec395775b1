"""Results of scenarios: how each went, the exit status, and what is shown as text, JSON and JUnit's XML."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from attrs import evolve

from kubelet_emu.manifests.problems import Problem
from kubelet_emu.scenarios.checks import Verdict
from kubelet_emu.scenarios.comparison import Comparison, Difference
from kubelet_emu.scenarios.results import Check, Known, Result, Status, exit_status, result_of, unreadable
from kubelet_emu.scenarios.results_json import as_json
from kubelet_emu.scenarios.results_junit import as_junit
from kubelet_emu.scenarios.results_text import as_text, length, report, summary
from kubelet_emu.scenarios.runner import Outcome
from kubelet_emu.scenarios.scenario_file import Scenario

HOLDS = Check(expectation="a < b", line=3, holds=True, because="a at 1.00 s\nb at 2.00 s")
BROKEN = Check(expectation="b < a", line=4, holds=False, because="b at 2.00 s\na at 1.00 s, 1.00 s too early")
DIFFERENT = Comparison(
    moments=5,
    differences=(Difference(where="pod @1: events", missing=("x",), extra=("y",), swapped=(("a", "b"),)),),
)
GOOD = Result(name="good", file="good/scenario.yaml", checks=(HOLDS,), seconds=0.1, pod_seconds=31.2)
FAILED = Result(
    name="bad", file="bad/scenario.yaml", checks=(HOLDS, BROKEN), note="its end did not come", pod_seconds=2
)
ERROR = Result(name="stuck", file="stuck/scenario.yaml", error="step 1 (delete): no pod\nmore", error_line=7)
NO_LINE = Result(name="crash", file="crash/scenario.yaml", error="a bug")
EXCLUDED = evolve(FAILED, name="known", excluded="waits for x: y")
UNEXPECTED = evolve(GOOD, name="holds", excluded="waits for x: y")
SKIPPED = Result(name="skip", file="skip/scenario.yaml", skipped="needs cgroup-v2")
PROBLEM = Problem(file="f.yaml", line=2, column=3, path="end", type="Invalid", text="no such key")
INVALID = unreadable("broken", Path("f.yaml"), (PROBLEM,), {"f.yaml": "a: 1\n  end: 2\n"})
OTHER = evolve(GOOD, name="other", comparison=DIFFERENT)
UNLIKE = evolve(OTHER, name="unlike", unlike="it rains")
ALIKE = evolve(GOOD, name="alike", unlike="it rains", comparison=Comparison(moments=3))
ALL = (GOOD, FAILED, ERROR, NO_LINE, EXCLUDED, UNEXPECTED, SKIPPED, INVALID, OTHER)

STATUSES = [
    (GOOD, Status.PASSED, 0),
    (FAILED, Status.FAILED, 1),
    (ERROR, Status.FAILED, 1),
    (OTHER, Status.FAILED, 1),
    (EXCLUDED, Status.EXCLUDED, 0),
    (UNLIKE, Status.PASSED, 0),
    (ALIKE, Status.UNEXPECTED, 1),
    (evolve(GOOD, name="not compared", unlike="it rains"), Status.PASSED, 0),
    (UNEXPECTED, Status.UNEXPECTED, 1),
    (SKIPPED, Status.SKIPPED, 0),
    (INVALID, Status.INVALID, 2),
]


@pytest.mark.parametrize(("result", "status", "code"), STATUSES, ids=[row[0].name for row in STATUSES])
def test_how_a_scenario_went(result: Result, status: Status, code: int) -> None:
    assert result.status is status
    assert exit_status((GOOD, result)) == code


TEXTS = [
    (GOOD, ["ok    good  1 check, 31.2 s of pod life"]),
    (evolve(GOOD, note="slow"), ["ok    good  1 check, 31.2 s of pod life", "  note: slow"]),
    (
        FAILED,
        [
            "FAIL  bad  1 of 2 checks",
            "  bad/scenario.yaml:4: b < a",
            "      b at 2.00 s",
            "      a at 1.00 s, 1.00 s too early",
            "  note: its end did not come",
        ],
    ),
    (ERROR, ["FAIL  stuck", "  stuck/scenario.yaml:7: step 1 (delete): no pod", "      more"]),
    (NO_LINE, ["FAIL  crash", "  crash/scenario.yaml: a bug"]),
    (EXCLUDED, ["excluded known: waits for x: y"]),
    (UNEXPECTED, ["HOLDS holds", "  it is excluded, but nothing fails: waits for x: y"]),
    (UNLIKE, ["ok    unlike  1 check, 31.2 s of pod life", "  note: not as recorded, it rains"]),
    (ALIKE, ["HOLDS alike", "  it is known not to go as recorded, but it does: it rains"]),
    (SKIPPED, ["skipped skip: needs cgroup-v2"]),
    (INVALID, ["BAD   broken", "  f.yaml:2:3: error: end: Invalid: no such key", "    2 |   end: 2", "          ^"]),
    (
        OTHER,
        [
            "FAIL  other",
            "  good/scenario.yaml: not as recorded (- only the node, + only here, ~ the other way round)",
            "      pod @1: events",
            "        - x",
            "        + y",
            "        ~ b  before  a",
        ],
    ),
]


@pytest.mark.parametrize(("result", "lines"), TEXTS, ids=[f"{row[0].name} {row[0].note}" for row in TEXTS])
def test_text(result: Result, lines: list[str]) -> None:
    assert list(as_text(result)) == lines


def test_of_many_scenarios_those_that_passed_are_only_counted() -> None:
    many = [evolve(GOOD, name=f"good-{n}") for n in range(30)]
    assert list(report(many)) == []
    assert list(report([*many, SKIPPED])) == ["skipped skip: needs cgroup-v2"]
    assert len(list(report(many[:20]))) == 20


def test_summary() -> None:
    assert summary((), 0.1) == ("0 scenarios: none ran (0 s of pod life in 0.1 s)",)
    assert summary(ALL, 1.25)[0] == (
        "9 scenarios: 1 passed, 4 failed, 1 unexpected, 1 invalid, 1 excluded, 1 skipped "
        "(1 min 38 s of pod life in 1.2 s)"
    )
    same = evolve(GOOD, comparison=Comparison(moments=12))
    assert summary((same, OTHER), 1)[1:] == ("real v1.36.2 node, recorded: 15 of 17 moments in the same order",)
    assert summary((same, GOOD, INVALID), 1, is_compared=True)[1:] == (
        "1 scenario without a recording (trace.jsonl): good",
        "real v1.36.2 node, recorded: 12 of 12 moments in the same order",
    )


@pytest.mark.parametrize(
    ("seconds", "text"), [(0.4, "0 s"), (59.4, "59 s"), (61, "1 min 1 s"), (3600, "1 h 0 min"), (7325, "2 h 2 min")]
)
def test_length(seconds: float, text: str) -> None:
    assert length(seconds) == text


def test_json() -> None:
    body = json.loads(as_json(ALL, 1.2345))
    assert body["seconds"] == 1.234
    assert body["counts"] == {
        "passed": 1,
        "failed": 4,
        "unexpected": 1,
        "invalid": 1,
        "excluded": 1,
        "skipped": 1,
    }
    by_name = {each["name"]: each for each in body["scenarios"]}
    assert by_name["good"] == {
        "name": "good",
        "file": "good/scenario.yaml",
        "status": "passed",
        "seconds": 0.1,
        "podSeconds": 31.2,
        "checks": [{"expectation": "a < b", "line": 3, "holds": True, "because": ["a at 1.00 s", "b at 2.00 s"]}],
    }
    assert (by_name["stuck"]["error"], by_name["stuck"]["errorLine"]) == ("step 1 (delete): no pod\nmore", 7)
    assert by_name["known"]["excluded"] == "waits for x: y"
    assert by_name["skip"]["skipped"] == "needs cgroup-v2"
    assert by_name["broken"]["problems"] == [
        {"file": "f.yaml", "line": 2, "column": 3, "path": "end", "text": "no such key"}
    ]
    assert by_name["other"]["comparison"] == {
        "moments": 5,
        "same": 3,
        "differences": [{"where": "pod @1: events", "missing": ["x"], "extra": ["y"], "swapped": [["a", "b"]]}],
    }


def test_junit() -> None:
    suite = ET.fromstring(as_junit(ALL, 1.5))[0]  # noqa: S314 - our own
    assert suite.attrib == {
        "name": "kubelet-emu",
        "tests": "9",
        "failures": "5",
        "errors": "1",
        "skipped": "2",
        "time": "1.500",
    }
    cases = {case.get("name"): case for case in suite}
    assert len(cases["good"]) == 0
    failure = cases["bad"][0]
    assert (failure.tag, failure.get("message"), failure.get("type")) == (
        "failure",
        "bad/scenario.yaml:4: b < a",
        "failed",
    )
    assert (failure.text or "").splitlines() == list(as_text(FAILED))
    assert [cases[name][0].tag for name in ("broken", "known", "skip", "holds")] == [
        "error",
        "skipped",
        "skipped",
        "failure",
    ]


def test_a_name_that_xml_cant_hold_is_escaped() -> None:
    case = ET.fromstring(as_junit((evolve(FAILED, name="\x07"),), 1))[0][0]  # noqa: S314 - our own
    assert case.get("name") == "\\x07"


def test_the_result_of_a_run() -> None:
    scenario = Scenario(name="s", path=Path("s/scenario.yaml"), expect=("a < b",), expect_lines=(9,))
    outcome = Outcome(
        name="s",
        verdicts=(Verdict("a < b", holds=True, because="so"),),
        note="n",
        seconds=0.5,
        virtual_seconds=9.0,
    )
    assert result_of(scenario, outcome, Known(excluded="why", unlike="so"), None) == Result(
        name="s",
        file="s/scenario.yaml",
        checks=(Check(expectation="a < b", line=9, holds=True, because="so"),),
        note="n",
        excluded="why",
        unlike="so",
        seconds=0.5,
        pod_seconds=9.0,
    )
