"""The end summary from records alone."""

from __future__ import annotations

import pytest
from attrs import evolve
from journal_makers import (
    POD,
    accepted,
    at,
    container,
    end,
    entries,
    hook,
    sent,
    start,
    startup_ok,
    status,
    stop_call,
    terminated,
    waiting,
)

from kubelet_emu.api.batch_v1 import JobCondition, JobStatus
from kubelet_emu.journal.fold import facts_of
from kubelet_emu.journal.records import JobRecord, LogRecord, ManifestRecord, ObjectRef
from kubelet_emu.journal.summary import summarize
from kubelet_emu.journal.summary_json import summary_object
from kubelet_emu.journal.summary_text import format_summary

SIDECARS = accepted(
    init=[
        container("init-1"),
        container("sidecar-1", sidecar=True),
        container("init-2"),
        container("sidecar-2", sidecar=True),
    ],
    containers=[container("regular-1")],
)
DELETED_POD = [
    SIDECARS,
    start(1, "init-1"),
    end(6, "init-1"),
    start(6.5, "sidecar-1"),
    start(7, "init-2"),
    end(12, "init-2"),
    start(12.5, "sidecar-2"),
    start(13, "regular-1"),
    status(13.5, "Running", ready=True),
    status(18.2, "Running", ready=True, deleting=True, grace=30),
    sent(18.2, "regular-1"),
    end(18.8, "regular-1"),
    sent(18.8, "sidecar-2"),
    end(18.9, "sidecar-2"),
    hook(23.2, "sidecar-1", "preStop", 5.0),
    sent(23.2, "sidecar-1"),
    end(23.3, "sidecar-1"),
    status(23.5, "Succeeded", deleting=True, grace=30),
]


def text_of(*records: object, width: int = 100) -> str:
    return format_summary(summarize(facts_of(entries(records))), width)  # type: ignore[arg-type]


def test_summary_of_a_pod_with_sidecars_that_was_deleted() -> None:
    assert text_of(*DELETED_POD) == (
        "web  Succeeded    stop: 5.1 s of 30 s grace, nobody killed\n"
        "start  init-1 ok 5.0s -> sidecar-1 (no gate) -> init-2 ok 5.0s -> sidecar-2 -> regular-1\n"
        "stop   regular-1 TERM +0.6s ok -> sidecar-2 ok -> sidecar-1 (preStop 5.0s) ok      order: KEP-753\n"
    )


def test_long_lines_break_before_an_arrow() -> None:
    assert text_of(*DELETED_POD, width=55) == (
        "web  Succeeded    stop: 5.1 s of 30 s grace, nobody killed\n"
        "start  init-1 ok 5.0s -> sidecar-1 (no gate)\n"
        "       -> init-2 ok 5.0s -> sidecar-2 -> regular-1\n"
        "stop   regular-1 TERM +0.6s ok -> sidecar-2 ok\n"
        "       -> sidecar-1 (preStop 5.0s) ok\n"
        "       order: KEP-753\n"
    )


def test_a_finished_job_stops_its_sidecar() -> None:
    ref = ObjectRef(namespace="default", name="migrate", uid="job-1", kind="Job")
    complete = JobStatus(succeeded=1, conditions=(JobCondition(type="Complete", status="True"),))
    text = text_of(
        accepted(init=[container("sidecar-1", sidecar=True)], containers=[container("main")]),
        JobRecord(at=at(0), ref=ref, status=JobStatus(active=1)),
        start(1, "sidecar-1"),
        start(2, "main"),
        end(7, "main"),
        sent(7.1, "sidecar-1"),
        end(7.2, "sidecar-1", 143),
        status(7.5, "Succeeded"),
        JobRecord(at=at(8), ref=ref, status=complete),
    )
    assert text == (
        "job/migrate  Complete    1 succeeded, 0 failed\n"
        "web  Succeeded    stop: 0.2 s of 30 s grace, nobody killed\n"
        "start  sidecar-1 -> main ok 5.0s\n"
        "stop   sidecar-1 exit 143      order: KEP-753\n"
        "ended  sidecar-1 exit 143: SIGTERM by kubelet-emu, not caught\n"
    )


GATED = accepted(
    init=[
        container("sidecar-1", sidecar=True, startupProbe={}, lifecycle={"postStart": {}}),
        container("sidecar-2", sidecar=True, startupProbe={}),
    ],
    containers=[container("main", lifecycle={"postStart": {}})],
)


def test_gates_say_how_long_they_held() -> None:
    text = text_of(
        GATED,
        start(1, "sidecar-1"),
        hook(1.2, "sidecar-1", "post_start", 0.2),
        startup_ok(6.1, "sidecar-1"),
        start(6.2, "sidecar-2"),
        status(9, "Pending"),
    )
    assert text.splitlines()[1:] == [
        "start  sidecar-1 (postStart 0.2s, startup probe 5.1s) -> sidecar-2 (startup probe not passed)",
        "       -> main (not started)",
    ]


ONE = accepted(containers=[container("main", resources={"limits": {"memory": "64Mi"}})], grace=3)
ENDINGS = {
    "our SIGKILL after the grace": (
        [
            status(5, "Running", deleting=True, grace=3),
            sent(5, "main"),
            sent(8, "main", "SIGKILL"),
            end(8, "main", 137),
        ],
        "main exit 137: SIGKILL by kubelet-emu, grace of 3 s was over",
    ),
    "a kill outside the pod's stop names the stop call's time": (
        [stop_call(5, "main", 7), sent(5, "main"), sent(12, "main", "SIGKILL"), end(12, "main", 137)],
        "main exit 137: SIGKILL by kubelet-emu, grace of 7 s was over",
    ),
    "the memory limit": (
        [end(5, "main", 137, reason="OOMKilled")],
        "main exit 137: out of memory (limit 64Mi)",
    ),
    "a signal from outside": (
        [sent(5, "main", "SIGKILL", own=False), end(5, "main", 137)],
        "main exit 137: killed by something outside",
    ),
    "137 that nobody here asked for": ([end(5, "main", 137)], "main exit 137: killed by something outside"),
    "its own error": ([end(5, "main", 1)], "main exited by itself with 1"),
    "its own crash": ([end(5, "main", 139)], "main exited by itself with 139 (SIGSEGV)"),
    "a code that is no signal": ([end(5, "main", 161)], "main exited by itself with 161"),
    "our signal, answered by an error": ([sent(5, "main"), end(6, "main", 3)], "main exit 3 after our stop signal"),
    "a start that failed": (
        [
            end(5, "main", 128, reason="StartError"),
            status(6, "Failed", terminated("main", 128, "StartError", "no such file")),
        ],
        "main could not be started: no such file",
    ),
    "a start that failed without a text": (
        [end(5, "main", 128, reason="StartError")],
        "main could not be started",
    ),
}


@pytest.mark.parametrize(("records", "expected"), ENDINGS.values(), ids=ENDINGS.keys())
def test_who_ended_a_run(records: list[object], expected: str) -> None:
    assert text_of(ONE, start(1, "main"), *records).splitlines()[-1] == f"ended  {expected}"


def lines_of(container: str, *lines: str, run: int = 1) -> list[LogRecord]:
    """Return what a run wrote, two seconds after the beginning."""
    return [LogRecord(at=at(2), ref=POD, container=container, run=run, line=line) for line in lines]


@pytest.mark.parametrize("code", [1, 137])
def test_the_last_lines_of_what_failed_of_itself_are_shown(code: int) -> None:
    written = lines_of("main", *(f"line {n}" for n in range(1, 8)), "\x1b[31mred")
    text = text_of(ONE, start(1, "main"), *written, end(5, "main", code))
    assert text.splitlines()[-6:] == [
        f"ended  main {'exited by itself with 1' if code == 1 else 'exit 137: killed by something outside'}",
        "       | line 4",
        "       | line 5",
        "       | line 6",
        "       | line 7",
        "       | \\e[31mred",
    ]


def test_only_the_newest_run_of_what_failed_shows_its_lines() -> None:
    first, second = lines_of("main", "first"), lines_of("main", "second", run=2)
    ends = end(3, "main", 1), end(13, "main", 2, run=2)
    text = text_of(ONE, start(1, "main"), *first, ends[0], start(12, "main", run=2), *second, ends[1])
    assert text.splitlines()[-3:] == [
        "ended  main#1 exited by itself with 1",
        "ended  main#2 exited by itself with 2",
        "       | second",
    ]


@pytest.mark.parametrize(
    ("own", "told"), [({}, "1Gi of the pod"), ({"memory": "64Mi"}, "64Mi, 1Gi of the pod")], ids=["none", "one"]
)
def test_who_runs_out_of_memory_below_its_pods_limit(own: dict[str, str], told: str) -> None:
    main = container("main", resources={"limits": own})
    pod = accepted(containers=[main], resources={"limits": {"memory": "1Gi"}})
    text = text_of(pod, start(1, "main"), end(5, "main", 137, reason="OOMKilled"))
    assert text.splitlines()[-1] == f"ended  main exit 137: out of memory (limit {told})"


@pytest.mark.parametrize("name", ["our SIGKILL after the grace", "our signal, answered by an error"])
def test_what_was_stopped_shows_no_lines(name: str) -> None:
    text = text_of(ONE, start(1, "main"), *lines_of("main", "working"), *ENDINGS[name][0])
    assert "working" not in text


def test_killed_containers_are_named_first() -> None:
    records = ENDINGS["our SIGKILL after the grace"][0]
    assert text_of(ONE, start(1, "main"), *records).splitlines()[0] == (
        "web  Running    stop: 3.0 s of 3 s grace, killed: main"
    )


def test_runs_are_told_apart_when_there_were_several() -> None:
    text = text_of(ONE, start(1, "main"), end(2, "main", 1), start(12, "main", run=2), end(13, "main", run=2))
    assert text.splitlines() == [
        "web  Pending",
        "start  main (1 restart) ok 1.0s",
        "ended  main#1 exited by itself with 1",
    ]


def test_a_container_that_never_started_says_why() -> None:
    text = text_of(ONE, status(3, "Pending", waiting("main", "ErrImageNeverPull", "not present")))
    assert text.splitlines()[-1] == "ended  main never started: ErrImageNeverPull: not present"


def test_a_pod_that_was_refused_gives_its_reason() -> None:
    refused = status(0.1, "Failed")
    refused = type(refused)(at=refused.at, ref=POD, status=type(refused.status)(phase="Failed", reason="OutOfmemory"))
    assert text_of(ONE, refused).splitlines()[0] == "web  Failed (OutOfmemory)"


ORDERS = {
    "a sidecar before its main": (2.0, 30, "sidecar-1 was stopped before main had ended"),
    "the grace was over": (30.0, 30, "grace spent"),
}


@pytest.mark.parametrize(("signalled", "grace", "expected"), ORDERS.values(), ids=ORDERS.keys())
def test_order_of_the_stop_is_judged(signalled: float, grace: int, expected: str) -> None:
    text = text_of(
        accepted(init=[container("sidecar-1", sidecar=True)], containers=[container("main")]),
        start(1, "sidecar-1"),
        start(1, "main"),
        status(10, "Running", deleting=True, grace=grace),
        sent(10, "main"),
        sent(10 + signalled, "sidecar-1"),
        end(10 + signalled + 0.1, "sidecar-1"),
        end(10 + signalled + 0.2, "main"),
    )
    assert text.splitlines()[-1].endswith(f"order: {expected}")


def test_a_run_without_pods_has_no_summary() -> None:
    assert text_of() == ""


def test_a_suspended_job_is_named() -> None:
    ref = ObjectRef(namespace="default", name="migrate", uid="job-1", kind="Job")
    suspended = JobStatus(conditions=(JobCondition(type="Suspended", status="True"),))
    assert (
        text_of(JobRecord(at=at(0), ref=ref, status=suspended)) == "job/migrate  Suspended    0 succeeded, 0 failed\n"
    )


def test_the_grace_is_the_one_the_pod_was_stopped_with() -> None:
    text = text_of(
        ONE,
        start(1, "main"),
        status(5, "Running", deleting=True, grace=3),
        sent(5, "main"),
        end(6, "main"),
        status(6, "Succeeded", deleting=True, grace=3),
        status(6, "Succeeded", deleting=True, grace=0),
    )
    assert text.splitlines()[0] == "web  Succeeded    stop: 1.0 s of 3 s grace, nobody killed"


def test_a_hook_that_took_no_time_has_no_length() -> None:
    text = text_of(GATED, start(1, "main"), hook(1, "main", "postStart", 0.01))
    assert text.splitlines()[-1].endswith("-> main (postStart)")


JOB = ObjectRef(namespace="default", name="migrate", uid="job-1", kind="Job")
OF_JOB = [{"uid": "job-1", "controller": True}]


def of_job(*, init: tuple[dict[str, object], ...] = (), containers: tuple[dict[str, object], ...]) -> ManifestRecord:
    made = accepted(init=init, containers=containers)
    return evolve(made, manifest={**made.manifest, "metadata": {"name": "web", "ownerReferences": OF_JOB}})


def verdict(seconds: float, kind: str, reason: str = "", message: str = "") -> JobRecord:
    condition = JobCondition(type=kind, status="True", reason=reason or None, message=message or None)
    return JobRecord(at=at(seconds), ref=JOB, status=JobStatus(conditions=(condition,)))


MADE = ManifestRecord(at=at(0), ref=JOB)


def job_lines(*records: object) -> list[str]:
    lines = text_of(*records).splitlines()
    return lines[1 : next(n for n, line in enumerate(lines) if line.startswith("web ") or n == len(lines) - 1)]


def test_a_job_tells_its_time_and_that_of_its_sidecars() -> None:
    pod = of_job(init=(container("proxy", sidecar=True),), containers=(container("main"),))
    ends = (start(1, "proxy"), start(2, "main"), end(7, "main"), sent(7.1, "proxy"), end(9.5, "proxy"))
    assert job_lines(MADE, pod, *ends, status(10, "Succeeded"), verdict(11, "Complete"), verdict(12, "Complete")) == [
        "time   11.0 s, 2.5 s of them for sidecars"
    ]


def test_a_job_without_sidecars_waits_for_none() -> None:
    pod = of_job(containers=(container("main"),))
    lines = (start(2, "main"), end(7, "main"), status(8, "Succeeded"), verdict(9, "Complete", "CompletionsReached"))
    assert job_lines(MADE, pod, *lines) == ["time   9.0 s"]


def test_a_sidecar_that_ended_first_took_no_time() -> None:
    pod = of_job(init=(container("proxy", sidecar=True),), containers=(container("main"),))
    ends = (start(1, "proxy"), start(2, "main"), end(3, "proxy"), end(7, "main"), status(8, "Succeeded"))
    assert job_lines(MADE, pod, *ends, verdict(9, "Complete")) == ["time   9.0 s"]


def test_a_job_that_failed_says_why() -> None:
    pod = of_job(containers=(container("main"),))
    text = "Job has reached the specified backoff limit"
    assert job_lines(MADE, pod, verdict(9, "Failed", "BackoffLimitExceeded", text)) == [
        f"why    BackoffLimitExceeded: {text}",
        "time   9.0 s",
    ]


def test_a_job_that_a_plain_helper_kept_alive_says_so() -> None:
    pod = of_job(containers=(container("main"), container("helper"), container("late")))
    ends = (start(1, "main"), start(1, "helper"), end(3, "main"), status(50, "Running", deleting=True, grace=5))
    assert job_lines(MADE, pod, *ends, sent(51, "helper"), end(55, "helper", 137), status(56, "Failed")) == [
        (
            "why    main was done, helper ran on, and a Job waits for all; "
            "a helper belongs into initContainers, with restartPolicy: Always"
        )
    ]


def test_a_job_whose_containers_all_run_says_nothing() -> None:
    pod = of_job(containers=(container("main"), container("helper")))
    assert job_lines(MADE, pod, start(1, "main"), start(1, "helper"), status(2, "Running")) == []


def test_a_job_two_of_whose_containers_are_done() -> None:
    pod = of_job(containers=(container("a"), container("b"), container("c")))
    ends = (start(1, "a"), start(1, "b"), start(1, "c"), end(2, "a"), end(2, "b"), status(3, "Running"))
    (line,) = job_lines(MADE, pod, *ends)
    assert line.startswith("why    a and b were done, c ran on, and")


def test_programs_read_the_summary_as_an_object() -> None:
    pod = of_job(init=(container("proxy", sidecar=True),), containers=(container("main"),))
    runs = (start(1, "proxy"), start(2, "main"), end(4, "main", 3), start(5, "main", run=2), end(7, "main", run=2))
    stops = (sent(7, "proxy"), sent(9, "proxy", "SIGKILL"), end(9, "proxy", 137), status(10, "Succeeded"))
    facts = facts_of(entries([MADE, pod, *runs, *stops, verdict(11, "Complete", "CompletionsReached")]))
    found = summary_object(facts, "everything has ended", at(12))
    assert (found["t"], found["kind"], found["why"]) == (12.0, "summary", "everything has ended")
    assert found["jobs"] == [
        {
            "name": "migrate",
            "namespace": "default",
            "verdict": "Complete",
            "because": "",
            "succeeded": 0,
            "failed": 0,
            "seconds": 11.0,
            "sidecar_seconds": 2.0,
        }
    ]
    (web,) = found["pods"]  # type: ignore[misc]
    proxy, main = web.pop("containers")  # type: ignore[has-type]
    assert web == {  # type: ignore[has-type]
        "name": "web",
        "namespace": "default",
        "owners": ["migrate"],
        "phase": "Succeeded",
        "reason": "",
        "was_ready": False,
        "stop_seconds": 2.0,
        "grace_seconds": 30.0,
        "order": "KEP-753",
        "because": "",
    }
    assert main == {
        "name": "main",
        "part": "main",
        "restarts": 1,
        "waiting": "",
        "runs": [
            {"run": 1, "seconds": 2.0, "exit": 3, "ended_by": "itself", "because": "exited by itself with 3"},
            {"run": 2, "seconds": 2.0, "exit": 0, "ended_by": "itself", "because": ""},
        ],
    }
    assert [(run["exit"], run["ended_by"]) for run in proxy["runs"]] == [(137, "our SIGKILL")]
    assert proxy["runs"][0]["because"] == "exit 137: SIGKILL by kubelet-emu, grace of 30 s was over"


def test_of_what_still_runs_a_program_reads_nulls() -> None:
    found = summary_object(facts_of(entries([ONE, start(1, "main")])), "", at(2))
    (pod,) = found["pods"]  # type: ignore[misc]
    assert pod["stop_seconds"] is None  # type: ignore[has-type]
    assert pod["containers"][0]["runs"] == [  # type: ignore[has-type]
        {"run": 1, "seconds": None, "exit": None, "ended_by": "", "because": ""}
    ]


def with_target(seconds: float, verdict_type: str = "", target: str = "FailureTarget") -> JobRecord:
    conditions = (JobCondition(type=target, status="True", reason="DeadlineExceeded"),)
    if verdict_type:
        conditions += (JobCondition(type=verdict_type, status="True", reason="DeadlineExceeded"),)
    return JobRecord(at=at(seconds), ref=JOB, status=JobStatus(conditions=conditions))


GOES = status(6, "Running", deleting=True, grace=30)
DELETED: dict[str, tuple[tuple[JobRecord, ...], bool]] = {
    "by its Job, which has failed": ((with_target(6), with_target(9, "Failed")), True),
    "by its Job, which will fail": ((with_target(6),), True),
    "by its Job, which had enough successes": ((with_target(6, target="SuccessCriteriaMet"),), True),
    "by somebody else, after the verdict": ((with_target(4, "Failed"),), False),
    "by somebody else, of a Job that goes on": ((verdict(5, "Suspended", "JobSuspended"),), False),
}


@pytest.mark.parametrize(("jobs", "is_told"), DELETED.values(), ids=DELETED.keys())
def test_a_pod_says_why_its_job_deleted_it(jobs: tuple[JobRecord, ...], *, is_told: bool) -> None:
    text = text_of(MADE, of_job(containers=(container("main"),)), start(2, "main"), jobs[0], GOES, *jobs[1:])
    assert ("why    deleted by its Job: DeadlineExceeded" in text) is is_told
