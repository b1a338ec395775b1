"""What a user reads: of expectations that can't be read, and of those that don't hold."""

from __future__ import annotations

import pytest

from kubelet_emu.lifecycle.trace import Trace
from kubelet_emu.scenarios.checks import check
from kubelet_emu.scenarios.expectations import JOB_VERBS, ExpectationError, parse_expectation, parse_moment
from kubelet_emu.scenarios.words import enumerated, history, shown

UNREADABLE = [
    ("", 1, "the expectation is empty"),
    ("phase = Failed", 7, 'a comparison is written "=="'),
    ("a started > b started", 11, 'an order is written "A < B": the earlier moment first'),
    ("a exited(0) and b exited(0)", 13, "one expectation says one thing: write two"),
    ("exitcod(a) == 3", 8, "there is no \"exitcod(...)\"; did you mean 'exitcode'?"),
    ("xyz(a) == 3", 4, 'there is no "xyz(...)"'),
    ("a started", 10, 'a single moment is written "some A" or "never A", an order "A < B"'),
    ("a started <", 12, "a container, pod, job or step is expected here"),
    ("exitcode(a) ==", 15, "what to compare with is expected here"),
    ("gap(a started, b started)", 26, "a comparison (== != < <= > >= in ~ contains lacks matches) is expected here"),
    ("never a started befor b started", 17, 'the end or "after" or "before" is expected here'),
    ("a strted < b started", 3, "a container has no moment 'strted'; did you mean 'started'?"),
    (
        "job started < b started",
        5,
        f"a job has no moment 'started'; it has {', '.join(sorted(JOB_VERBS))}",
    ),
    ("step foo < b started", 6, "a step has no moment 'foo'; it has done"),
    ("a waiting < b started", 3, "waiting needs an argument, as in waiting(X)"),
    (
        "(a started)",
        1,
        'an expectation is an order "A < B", "never A", "some A", or a value with a comparison, "phase == X"',
    ),
]


@pytest.mark.parametrize(("text", "column", "why"), UNREADABLE, ids=[row[0] or "nothing" for row in UNREADABLE])
def test_what_cant_be_read_is_explained(text: str, column: int, why: str) -> None:
    with pytest.raises(ExpectationError) as caught:
        parse_expectation(text)
    assert (caught.value.column, caught.value.why) == (column, why)


@pytest.mark.parametrize(
    ("text", "column"),
    [("a strted", 3), ("a", 2), ("a started after b started", 1)],
    ids=["verb", "end", "two moments"],
)
def test_a_moment_is_pointed_into_by_itself(text: str, column: int) -> None:
    with pytest.raises(ExpectationError) as caught:
        parse_moment(text)
    assert caught.value.column == column
    assert caught.value.text == text


def status(at: float, phase: str, ready: str, state: str, *, is_ready: bool) -> dict[str, object]:
    container = {"state": state, "ready": is_ready, "started": is_ready, "restartCount": 0}
    body = {"phase": phase, "conditions": {"Ready": ready}, "containers": {"a": container}}
    return {"t": at, "kind": "status", "pod": "p", **body}


def of_container(at: float, kind: str, **fields: object) -> dict[str, object]:
    return {"t": at, "kind": kind, "pod": "p", "container": "a", "run": 1, **fields}


RECORDS = [
    status(0.0, "Pending", "False", "waiting:ContainerCreating", is_ready=False),
    of_container(1.0, "run", what="start"),
    of_container(1.2, "log", line="up"),
    of_container(1.3, "event", type="Normal", reason="Started", message="m", count=1),
    status(1.5, "Running", "True", "running", is_ready=True),
    of_container(2.0, "cri", what="signal", signal="SIGTERM"),
    of_container(3.0, "run", what="exit", code=3, reason="Error"),
    status(3.5, "Failed", "False", "terminated:Error:3", is_ready=False),
    {"t": 3.6, "kind": "job", "failed": 1, "conditions": {"Failed": "True"}, "conditionReasons": {}},
    {"t": 3.7, "kind": "step", "n": 1},
]
READY = "between 0.50 and 1.50 s"
BECAUSE = [
    ("a exited < a started", ["a#1 exited(3) at 3.00 s", "a#1 started at 1.00 s, 2.00 s too early"]),
    ("a exited <= a started", ["a#1 exited(3) at 3.00 s", "a#1 started at 1.00 s, 2.00 s too early"]),
    ("gap(a started, a exited) < 1", ["a#1 started at 1.00 s", "a#1 exited(3) at 3.00 s, 2.00 s later"]),
    ("gap(a ready, a exited) < 1", [f"a ready {READY}", "a#1 exited(3) at 3.00 s, 1.50 to 2.50 s later"]),
    ("a exited(0) < pod deleted", ["a exited(0) did not happen", "a#1 started at 1.00 s, a#1 exited(3) at 3.00 s"]),
    ("b started < a started", ["b started did not happen", "there is no container 'b'; there are a"]),
    ("a started[2] < a exited", ["a started[2] happened only once", "it happened at 1.00 s"]),
    ('some a line:"down"', ['a line:"down" did not happen', 'lines: "up" at 1.20 s']),
    (
        'some a line:"up" before a started',
        ['a line:"up" did not happen before a#1 started at 1.00 s', "it happened at 1.20 s"],
    ),
    ("never a sigterm", ["a sigterm at 2.00 s"]),
    ("never a sigterm after a started", ["a sigterm at 2.00 s", "after a#1 started at 1.00 s"]),
    ("a sigkill < a exited", ["a sigkill did not happen", "signals sent: SIGTERM at 2.00 s"]),
    ("a event(BackOff) < a exited", ["a event(BackOff) did not happen", "events: Started at 1.30 s"]),
    ("pod event(BackOff) < a exited", ["pod event(BackOff) did not happen", "events: Started at 1.30 s"]),
    (
        "a waiting(CrashLoopBackOff) < a exited",
        [
            "a waiting(CrashLoopBackOff) did not happen",
            "a#1 started at 1.00 s, a#1 exited(3) at 3.00 s",
            "states of a: waiting:ContainerCreating at 0.00 s, running at 1.50 s, terminated:Error:3 at 3.50 s",
        ],
    ),
    (
        "* waiting(X) < a exited",
        [
            "* waiting(X) did not happen",
            "a#1 started at 1.00 s, a#1 exited(3) at 3.00 s",
            "states of a: waiting:ContainerCreating at 0.00 s, running at 1.50 s, terminated:Error:3 at 3.50 s",
        ],
    ),
    (
        "a#2 ready < a exited",
        [
            "a#2 ready did not happen",
            "a#1 started at 1.00 s, a#1 exited(3) at 3.00 s",
            "ready of a: false at 0.00 s, true at 1.50 s, false at 3.50 s",
        ],
    ),
    (
        "pod phase(Succeeded) < a exited",
        [
            "pod phase(Succeeded) did not happen",
            "phase: Pending at 0.00 s, Running at 1.50 s, Failed at 3.50 s",
        ],
    ),
    (
        "pod condition(Ready=Unknown) < a exited",
        [
            "pod condition(Ready=Unknown) did not happen",
            "condition Ready: False at 0.00 s, True at 1.50 s, False at 3.50 s",
        ],
    ),
    (
        "pod deleted < a exited",
        ["pod deleted did not happen", "phase: Pending at 0.00 s, Running at 1.50 s, Failed at 3.50 s"],
    ),
    ("@2/pod deleted < a exited", ["there is no pod @2"]),
    ("step#2 done < a exited", ["step#2 done did not happen", "steps done: 1"]),
    ("job failed(2) < a exited", ["job failed(2) did not happen", "failed: 1 at 3.60 s"]),
    (
        "job condition(Complete=True) < a exited",
        ["job condition(Complete=True) did not happen", "condition Complete: none at 3.60 s"],
    ),
    ("job event(X) < a exited", ["job event(X) did not happen", "events: Started at 1.30 s"]),
    ("job deleted < a exited", ["job deleted did not happen"]),
    ("phase == Running", ["phase is Failed", "phase: Pending at 0.00 s, Running at 1.50 s, Failed at 3.50 s"]),
    ("restarts(a) == 1", ["restarts(a) is 0"]),
    ("exitcode(a) == 0", ["exitcode(a) is 3"]),
    ('log(a) contains "down"', ["log(a) has 1 line", "| up"]),
    ("at(a started, ready(a)) == true", ["a#1 started at 1.00 s: ready(a) was false"]),
    (
        "during(a sigterm, a exited, ready(a)) == false",
        ["ready(a) was true at 1.50 s", "ready(a): true at 1.50 s"],
    ),
    ("ever(ready(b)) == true", ["no status has ready(b)"]),
    ("ever(phase) == X", ["phase: Pending at 0.00 s, Running at 1.50 s, Failed at 3.50 s"]),
    ("phases == Pending", ["phases: Pending at 0.00 s, Running at 1.50 s, Failed at 3.50 s"]),
    (
        "states(a) has running, waiting:X",
        [
            "waiting:X did not come after running",
            "states: waiting:ContainerCreating at 0.00 s, running at 1.50 s, terminated:Error:3 at 3.50 s",
        ],
    ),
    ("states(b) has running", ["running did not come", "states: none"]),
    ("overlap(a#2, a)", ["a#1 ran from 1.00 s to 3.00 s"]),
    ("overlap(b, c)", ["neither ran"]),
]


@pytest.mark.parametrize(("text", "lines"), BECAUSE, ids=[row[0] for row in BECAUSE])
def test_a_failed_check_tells_what_decided_it(text: str, lines: list[str]) -> None:
    verdict = check(Trace.of(RECORDS), text)
    assert not verdict.holds
    assert verdict.because.splitlines() == lines


NOTHING = [
    ("some a started", ["a started did not happen", "there is no container 'a'; there are none"]),
    ("some job failed(1)", ["job failed(1) did not happen", "there is no Job"]),
    ("some * event(X)", ["* event(X) did not happen", "it has no events"]),
    ('some * line:"x"', ['* line:"x" did not happen', "it wrote no line"]),
    ("some * started", ["* started did not happen", "* never started"]),
]


@pytest.mark.parametrize(("text", "lines"), NOTHING, ids=[row[0] for row in NOTHING])
def test_a_failed_check_on_an_empty_trace(text: str, lines: list[str]) -> None:
    assert check(Trace.of([]), text).because.splitlines() == lines


def test_a_container_that_only_a_status_shows_never_started() -> None:
    verdict = check(Trace.of([RECORDS[0], RECORDS[-1]]), "some a started")
    assert verdict.because.splitlines() == [
        "a started did not happen",
        "a never started",
        "states of a: waiting:ContainerCreating at 0.00 s",
    ]


def test_no_signal() -> None:
    verdict = check(Trace.of([*RECORDS[:2], of_container(2.0, "cri", what="stop")]), "some a sigterm")
    assert verdict.because.splitlines() == ["a sigterm did not happen", "no signal was sent to it"]


def test_of_many_a_few_are_told() -> None:
    assert enumerated("abcdefgh") == "a, b, c, d, e, f, and 2 more"


def test_a_history_leaves_repeats_out() -> None:
    assert history([(0.0, None), (1.0, None), (2.0, True)]) == "none at 0.00 s, true at 2.00 s"


@pytest.mark.parametrize(
    ("value", "text"), [(None, "none"), (True, "true"), (3, "3"), ("", "''"), (" a", "' a'"), ("a\nb", "'a\\nb'")]
)
def test_a_value_is_shown_as_expectations_spell_it(value: object, text: str) -> None:
    assert shown(value) == text


TWO_PODS = [
    {**status(0.0, "Running", "True", "running", is_ready=True), "pod": "p"},
    {**status(0.5, "Failed", "False", "terminated:Error:3", is_ready=False), "pod": "q"},
    {**of_container(1.0, "run", what="start"), "pod": "p"},
    {**of_container(1.5, "run", what="start"), "pod": "q"},
    {**of_container(2.0, "run", what="exit"), "pod": "p"},
    {**of_container(2.5, "log", line="one"), "pod": "p"},
    {**of_container(3.0, "log", line="two"), "pod": "q"},
]
ASKED = [
    ("ready(a) == true", "a is in 2 pods: name one, as in @1/a"),
    ("ready(b) == true", "no status of b"),
    ("exitcode(@1/a) == 0", "the trace does not tell the exitcode of a#1"),
    ("reason(@1/a#2) == Error", "a#2 never exited"),
    ("job(failed) == 1", "no job record"),
    ("gap(@1/a started, @1/a exited) == soon", "a length is compared with 'soon'"),
    ('gap(@1/a started, @1/a exited) contains "1"', "a length is compared with '1'"),
    ("@1/phase < 3", "cannot compare 'Running' < 3"),
]


@pytest.mark.parametrize(("text", "why"), ASKED, ids=[row[0] for row in ASKED])
def test_what_a_trace_of_two_pods_does_not_tell(text: str, why: str) -> None:
    verdict = check(Trace.of(TWO_PODS), text)
    assert (verdict.holds, verdict.because) == (False, why)


def test_what_a_trace_of_two_pods_tells_of_both() -> None:
    trace = Trace.of(TWO_PODS)
    for text in ("runs(a) == 2", 'log(a) == "one\ntwo"', "pods == 2", "pods(Failed) == 1", "@2/phase == Failed"):
        assert check(trace, text).holds, text


def test_a_trace_without_a_status_has_no_phase() -> None:
    assert check(Trace.of([]), "phase == Running").because == "no status record"
