"""What is gathered from records for the summary, the exit status and the end of a run."""

from __future__ import annotations

from journal_makers import POD, accepted, at, container, end, entries, sent, start, status, terminated

from kubelet_emu.api.batch_v1 import JobCondition, JobStatus
from kubelet_emu.api.v1_status import ContainerState, ContainerStateTerminated, ContainerStatus
from kubelet_emu.journal.facts import ContainerKind, RunFacts
from kubelet_emu.journal.fold import Facts, facts_of
from kubelet_emu.journal.records import DeletedRecord, EffectRecord, JobRecord, ManifestRecord, ObjectRef, Record

JOB = ObjectRef(namespace="default", name="migrate", uid="job-1", kind="Job")


def facts(*records: Record) -> Facts:
    return facts_of(entries(records))


def test_a_run_that_did_not_start_has_no_length() -> None:
    assert RunFacts(run=1, exited_at=at(3)).seconds is None
    assert RunFacts(run=1, started_at=at(1), exited_at=at(3)).seconds == 2


def test_a_job_ends_with_its_verdict_or_its_deletion() -> None:
    assert not facts(ManifestRecord(at=at(0), ref=JOB)).jobs["job-1"].is_finished
    failed = JobStatus(conditions=(JobCondition(type="Failed", status="True"),))
    assert facts(JobRecord(at=at(1), ref=JOB, status=failed)).jobs["job-1"].is_finished
    assert facts(ManifestRecord(at=at(0), ref=JOB), DeletedRecord(at=at(1), ref=JOB)).jobs["job-1"].is_finished
    assert not facts(DeletedRecord(at=at(1), ref=JOB)).jobs


def test_a_pod_ends_with_its_phase_or_its_deletion() -> None:
    created = accepted(containers=[container("main")])
    assert not facts(created, status(1, "Running")).pods[POD.uid].is_terminal
    assert facts(created, status(1, "Failed")).pods[POD.uid].is_terminal
    assert facts(created, DeletedRecord(at=at(1), ref=POD)).pods[POD.uid].is_terminal


def test_the_sandbox_is_nobodys_container() -> None:
    found = facts(accepted(containers=[container("main")]), start(1, "POD"), sent(2, "POD"))
    assert list(found.pods[POD.uid].containers) == ["main"]


def test_kinds_come_from_the_manifest() -> None:
    spec = {
        "initContainers": [container("init"), container("sidecar", sidecar=True)],
        "containers": [container("main")],
        "ephemeralContainers": [container("debug")],
        "terminationGracePeriodSeconds": 5,
    }
    pod = facts(ManifestRecord(at=at(0), ref=POD, manifest={"spec": spec, "metadata": None})).pods[POD.uid]
    assert [(c.name, c.kind) for c in pod.containers.values()] == [
        ("init", ContainerKind.INIT),
        ("sidecar", ContainerKind.SIDECAR),
        ("main", ContainerKind.MAIN),
        ("debug", ContainerKind.EPHEMERAL),
    ]
    assert pod.grace_seconds == 5


def test_reasons_and_messages_come_from_the_status() -> None:
    last = ContainerState(terminated=ContainerStateTerminated(exit_code=137, reason="OOMKilled", message="big"))
    status_now = ContainerStatus(name="main", restart_count=1, state=terminated("main", 2).state, last_state=last)
    created = accepted(containers=[container("main")])
    records = (start(1, "main"), end(2, "main", 137), start(3, "main", run=2), status(4, "Running", status_now))
    runs = facts(created, *records).pods[POD.uid].containers["main"].runs
    assert (runs[1].reason, runs[1].message, runs[1].code) == ("OOMKilled", "big", 137)
    assert runs[2].code == 2


def test_other_effects_are_no_hooks() -> None:
    effect = EffectRecord(
        at=at(1), ref=POD, call="create_container", what="finished", container="main", run=1, seconds=2
    )
    found = facts(accepted(containers=[container("main")]), effect)
    run = found.pods[POD.uid].containers["main"].runs[1]
    assert (run.pre_stop_seconds, run.post_start_seconds) == (None, None)


def test_a_stop_call_for_a_sandbox_is_no_signal() -> None:
    found = facts(accepted(containers=[container("main")]), sent(1, "main", ""), sent(2, "main"), sent(3, "main"))
    assert found.pods[POD.uid].containers["main"].runs[1].signalled_at == at(1)
