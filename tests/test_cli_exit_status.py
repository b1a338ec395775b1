"""Exit statuses, as a table."""

from __future__ import annotations

import pytest
from journal_makers import POD, accepted, at, container, end, entries, running, sent, start, status

from kubelet_emu.api.batch_v1 import JobCondition, JobStatus
from kubelet_emu.cli.exit_status import FailOn, PodOutcome, RunOutcome, Why, exit_status, outcome_of
from kubelet_emu.journal.fold import facts_of
from kubelet_emu.journal.records import EventRecord, JobRecord, ManifestRecord, ObjectRef, Record

SUCCEEDED = PodOutcome(has_succeeded=True)
READY = PodOutcome(has_succeeded=False, was_ready=True)
FAILED = PodOutcome(has_succeeded=False)
BROKEN_INIT = PodOutcome(has_succeeded=False, was_ready=True, has_failed_init=True)
ANY = frozenset(FailOn)

TABLE: dict[str, tuple[RunOutcome, frozenset[FailOn], int]] = {
    "everything succeeded": (RunOutcome(why=Why.FINISHED, pods=(SUCCEEDED,)), frozenset(), 0),
    "one pod failed": (RunOutcome(why=Why.FINISHED, pods=(SUCCEEDED, FAILED)), frozenset(), 1),
    "having been ready is not enough for a pod that ended by itself": (
        RunOutcome(why=Why.FINISHED, pods=(READY,)),
        frozenset(),
        1,
    ),
    "a Job completed": (RunOutcome(why=Why.FINISHED, jobs_succeeded=(True,)), frozenset(), 0),
    "a Job failed": (RunOutcome(why=Why.FINISHED, pods=(SUCCEEDED,), jobs_succeeded=(False,)), frozenset(), 1),
    "a stop of pods that had been ready": (RunOutcome(why=Why.REQUESTED, pods=(READY, SUCCEEDED)), frozenset(), 0),
    "a stop before one was ready": (RunOutcome(why=Why.REQUESTED, pods=(READY, FAILED)), frozenset(), 1),
    "a stop after a failed init": (RunOutcome(why=Why.REQUESTED, pods=(BROKEN_INIT,)), frozenset(), 1),
    "a stop after a Job failed": (
        RunOutcome(why=Why.REQUESTED, pods=(READY,), jobs_succeeded=(False,)),
        frozenset(),
        1,
    ),
    "a stop of a Job before its end": (
        RunOutcome(why=Why.REQUESTED, pods=(READY,), has_unfinished_job=True),
        frozenset(),
        1,
    ),
    "a stop of a Job at the moment that was named": (
        RunOutcome(why=Why.MOMENT, pods=(READY,), has_unfinished_job=True),
        frozenset(),
        0,
    ),
    "that moment before the pod was ready": (RunOutcome(why=Why.MOMENT, pods=(FAILED,)), frozenset(), 1),
    "an end with a Job that makes no pods": (
        RunOutcome(why=Why.FINISHED, pods=(SUCCEEDED,), has_idle_job=True),
        frozenset(),
        1,
    ),
    "a stop with one": (RunOutcome(why=Why.REQUESTED, pods=(READY,), has_idle_job=True), frozenset(), 0),
    "a stop before anything began": (RunOutcome(why=Why.REQUESTED), frozenset(), 1),
    "the time was over": (RunOutcome(why=Why.TIMEOUT, pods=(READY,), happened=ANY), ANY, 124),
    "interrupted twice": (RunOutcome(why=Why.FORCED, pods=(READY,), happened=ANY), ANY, 130),
    "what must not happen has happened": (
        RunOutcome(why=Why.FINISHED, pods=(SUCCEEDED,), happened=frozenset({FailOn.KILLED})),
        frozenset({FailOn.KILLED, FailOn.WARNING}),
        1,
    ),
    "something asked for could not be written": (
        RunOutcome(why=Why.FINISHED, pods=(SUCCEEDED,), has_lost_records=True),
        frozenset(),
        1,
    ),
    "what happened is allowed": (
        RunOutcome(why=Why.REQUESTED, pods=(READY,), happened=frozenset({FailOn.RESTARTED})),
        frozenset({FailOn.KILLED}),
        0,
    ),
}


@pytest.mark.parametrize(("outcome", "fail_on", "expected"), TABLE.values(), ids=TABLE.keys())
def test_exit_status(outcome: RunOutcome, fail_on: frozenset[FailOn], expected: int) -> None:
    assert exit_status(outcome, fail_on) == expected


JOB = ObjectRef(namespace="default", name="migrate", uid="job-1", kind="Job")
OWNED = {
    "kind": "Pod",
    "metadata": {"ownerReferences": [{"uid": "other"}, {"uid": "job-1", "controller": True}]},
    "spec": {"containers": [{"name": "main"}]},
}


def outcome(*records: Record) -> RunOutcome:
    return outcome_of(facts_of(entries(records)), Why.FINISHED)


def test_a_finished_job_answers_for_its_pods() -> None:
    verdict = JobStatus(failed=1, succeeded=1, conditions=(JobCondition(type="Complete", status="True"),))
    records = (
        ManifestRecord(at=at(0), ref=JOB),
        ManifestRecord(at=at(0), ref=POD, manifest=OWNED),
        status(5, "Failed"),
    )
    found = outcome(*records, JobRecord(at=at(9), ref=JOB, status=verdict))
    assert (found.pods, found.jobs_succeeded) == ((), (True,))


def test_a_job_without_a_verdict_leaves_it_to_its_pods() -> None:
    records = (ManifestRecord(at=at(0), ref=JOB), ManifestRecord(at=at(0), ref=POD, manifest=OWNED))
    found = outcome(*records, status(5, "Succeeded"))
    assert (found.pods, found.jobs_succeeded) == ((SUCCEEDED,), ())


def test_a_job_that_was_deleted_unfinished_leaves_it_to_its_pods() -> None:
    records = (ManifestRecord(at=at(0), ref=JOB), ManifestRecord(at=at(0), ref=POD, manifest=OWNED))
    found = outcome(*records, JobRecord(at=at(1), ref=JOB, status=JobStatus(active=1), deleted=True))
    assert (len(found.pods), found.jobs_succeeded) == (1, ())


UNFINISHED = [
    ("one that runs", JobStatus(active=1), True),
    ("one of which nothing is known", None, True),
    ("one with a verdict", JobStatus(conditions=(JobCondition(type="Failed", status="True"),)), False),
]


@pytest.mark.parametrize(("why", "job_status", "expected"), UNFINISHED, ids=[row[0] for row in UNFINISHED])
def test_a_job_without_a_verdict_is_unfinished(why: str, job_status: JobStatus | None, *, expected: bool) -> None:
    found = outcome(ManifestRecord(at=at(0), ref=JOB), JobRecord(at=at(1), ref=JOB, status=job_status))
    assert found.has_unfinished_job is expected


IDLE = [("suspended", {"suspend": True}), ("without parallelism", {"parallelism": 0})]


@pytest.mark.parametrize(("why", "spec"), IDLE, ids=[row[0] for row in IDLE])
def test_a_job_that_makes_no_pods_is_idle(why: str, spec: dict[str, object]) -> None:
    made = ManifestRecord(at=at(0), ref=JOB, manifest={"kind": "Job", "spec": spec})
    found = outcome(made, JobRecord(at=at(1), ref=JOB, status=JobStatus()))
    assert (found.has_unfinished_job, found.has_idle_job) == (False, True)


INIT = accepted(init=[container("init")], containers=[container("main")])
ENDS = {
    "no run at all": ((), False),
    "an init that runs": ((start(1, "init"),), False),
    "an init that ended well at last": (
        (start(1, "init"), end(2, "init", 1), start(3, "init", run=2), end(4, "init", run=2)),
        False,
    ),
    "an init that failed": ((start(1, "init"), end(2, "init", 1)), True),
}


@pytest.mark.parametrize(("records", "expected"), ENDS.values(), ids=ENDS.keys())
def test_whether_an_init_failed(records: tuple[Record, ...], expected: bool) -> None:  # noqa: FBT001 - a table's column
    assert outcome(INIT, *records).pods[0].has_failed_init is expected


HAPPENED: dict[str, tuple[tuple[Record, ...], set[FailOn]]] = {
    "nothing": ((start(1, "main"), end(2, "main", 1)), set()),
    "a SIGKILL of ours": ((start(1, "main"), sent(2, "main", "SIGKILL"), end(2, "main", 137)), {FailOn.KILLED}),
    "a SIGKILL from outside": ((start(1, "main"), sent(2, "main", "SIGKILL", own=False)), set()),
    "a second run": ((start(1, "main"), end(2, "main"), start(3, "main", run=2)), {FailOn.RESTARTED}),
    "a restart that only the status tells": ((status(3, "Running", running("main", restarts=1)),), {FailOn.RESTARTED}),
    "a warning": (
        (EventRecord(at=at(1), ref=POD, type="Warning", reason="BackOff", message="back-off"),),
        {FailOn.WARNING},
    ),
}


@pytest.mark.parametrize(("records", "expected"), HAPPENED.values(), ids=HAPPENED.keys())
def test_what_happened(records: tuple[Record, ...], expected: set[FailOn]) -> None:
    assert outcome(accepted(containers=[container("main")]), *records).happened == expected
