"""Which pods a Job takes for its own, and which it lets go; each row's name is the rule."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest
from attrs import evolve
from jobs_rig import Rig, Run, a_job, always

from kubelet_emu.api.controller_ref import new_controller_ref
from kubelet_emu.api.meta import LabelSelector, ObjectMeta, OwnerReference
from kubelet_emu.api.v1 import ConfigMap, Pod
from kubelet_emu.api.v1_status import PodStatus
from kubelet_emu.jobs.rules import words
from kubelet_emu.jobs.rules.claims import Claim, adopted, claim_of, disowned
from kubelet_emu.jobs.rules.conditions import new_condition

if TYPE_CHECKING:
    from collections.abc import Callable

    from trio.testing import MockClock

    from kubelet_emu.api.batch_v1 import Job

NOW = datetime(2026, 1, 1, 12, tzinfo=UTC)
FOREVER = Run()
JOB = evolve(a_job(), metadata=ObjectMeta(name="job", namespace="default", uid="u1"))
DELETED = evolve(JOB, metadata=evolve(JOB.metadata, deletion_timestamp=NOW))
OURS = {words.CONTROLLER_UID_LABEL: "u1"}
OTHER_JOB = OwnerReference(api_version="batch/v1", kind="Job", name="other", uid="u2", controller=True)
NO_CONTROLLER = OwnerReference(api_version="v1", kind="ConfigMap", name="c", uid="u3")
APP = {"app": "x"}


def a_manual_job(selector: LabelSelector | None) -> Job:
    job = a_job(manual_selector=True, selector=selector)
    template = evolve(job.spec.template, metadata=ObjectMeta(labels=APP))
    return evolve(
        job,
        metadata=ObjectMeta(name="job", namespace="default", uid="u1"),
        spec=evolve(job.spec, template=template),
    )


def a_pod(labels: dict[str, str], *owners: OwnerReference, **metadata: object) -> Pod:
    defaults: dict[str, object] = {"name": "p", "namespace": "default", "uid": "p"}
    return Pod(metadata=ObjectMeta(labels=labels, owner_references=owners, **{**defaults, **metadata}))  # type: ignore[arg-type]


MANUAL = a_manual_job(LabelSelector(match_labels=APP))
CLAIMS = [
    ("a pod of its own", JOB, a_pod(OURS, new_controller_ref(JOB)), Claim.OWN),
    ("its own while it is deleted", DELETED, a_pod(OURS, new_controller_ref(JOB)), Claim.OWN),
    ("its own in deletion", JOB, a_pod(OURS, new_controller_ref(JOB), deletion_timestamp=NOW), Claim.OWN),
    ("one whose labels were changed", JOB, a_pod(APP, new_controller_ref(JOB)), Claim.DISOWN),
    ("a deleted Job disowns none", DELETED, a_pod(APP, new_controller_ref(JOB)), Claim.NONE),
    ("another Job's, whatever its labels", JOB, a_pod(OURS, OTHER_JOB), Claim.NONE),
    ("nobody's that fits", JOB, a_pod(OURS), Claim.ADOPT),
    ("one with an owner that doesn't control it", JOB, a_pod(OURS, NO_CONTROLLER), Claim.ADOPT),
    ("nobody's with other labels", JOB, a_pod(APP), Claim.NONE),
    ("nobody's in deletion", JOB, a_pod(OURS, deletion_timestamp=NOW), Claim.NONE),
    ("nobody's of another namespace", JOB, a_pod(OURS, namespace="other"), Claim.NONE),
    ("a deleted Job adopts none", DELETED, a_pod(OURS), Claim.NONE),
    ("a manual selector decides alone", MANUAL, a_pod(APP), Claim.ADOPT),
    ("no label of the Job's own is asked for then", MANUAL, a_pod(OURS), Claim.NONE),
    ("an empty manual selector fits every pod", a_manual_job(None), a_pod({}), Claim.ADOPT),
]


@pytest.mark.parametrize(("why", "job", "pod", "expected"), CLAIMS, ids=[row[0] for row in CLAIMS])
def test_what_a_pod_is_to_a_job(why: str, job: Job, pod: Pod, expected: Claim) -> None:
    assert claim_of(job, pod) is expected


def test_an_adopted_pod_is_counted_and_a_disowned_one_is_not() -> None:
    mine = adopted(JOB, a_pod(OURS, NO_CONTROLLER, finalizers=("x",)))
    assert mine.metadata.finalizers == ("x", words.TRACKING_FINALIZER)
    assert mine.metadata.owner_references == (NO_CONTROLLER, new_controller_ref(JOB))
    assert adopted(JOB, mine).metadata.finalizers == mine.metadata.finalizers
    gone = disowned(JOB, mine)
    assert (gone.metadata.finalizers, gone.metadata.owner_references) == (("x",), (NO_CONTROLLER,))


def times_of(rig: Rig, word: str) -> list[float]:
    return [float(line.split(" ", 1)[0]) for line in rig.events if word in line]


def a_stray_pod(rig: Rig, **metadata: object) -> Callable[[], object]:
    return lambda: rig.api.create(a_pod(APP, **{"uid": None, "name": "stray", **metadata}))


@pytest.mark.parametrize("batch_seconds", [1.0, 0.0])
async def test_a_job_with_a_manual_selector_takes_over_orphaned_pods(
    autojump_clock: MockClock, batch_seconds: float
) -> None:
    rig = Rig(always(Run(20)), batch_seconds=batch_seconds)
    a_stray_pod(rig, name="orphan", finalizers=(words.TRACKING_FINALIZER,))()
    await rig.run(MANUAL, 60)
    (pod,) = rig.api.list("Pod")
    assert [owner.uid for owner in pod.metadata.owner_references] == ["u1"]
    # The rig has no task for a pod that was there before: nobody ends it, and the Job is content with it.
    assert (rig.status.active, pod.metadata.finalizers) == (1, (words.TRACKING_FINALIZER,))
    assert times_of(rig, "Created pod") == []


async def test_a_pod_that_comes_later_is_adopted_and_the_surplus_deleted(autojump_clock: MockClock) -> None:
    rig = Rig(always(FOREVER))
    await rig.run(MANUAL, 20, (4, a_stray_pod(rig)))
    assert times_of(rig, "Deleted pod") == [5]
    (pod,) = rig.api.list("Pod")
    assert (rig.status.active, rig.status.failed) == (1, None)
    assert [owner.uid for owner in pod.metadata.owner_references] == ["u1"]


async def test_an_adopted_pod_that_had_succeeded_counts(autojump_clock: MockClock) -> None:
    rig = Rig(always(FOREVER))
    pod = evolve(a_pod(APP, uid=None), status=PodStatus(phase="Succeeded"))
    await rig.run(MANUAL, 20, (4, lambda: rig.api.create(pod)))
    # counted at 5; the Job's own pod is one too many then, and deleted without counting
    assert times_of(rig, "Deleted pod") == [5]
    assert (rig.status.succeeded, rig.status.failed) == (1, None)
    assert times_of(rig, "Job completed") == [6]


async def test_what_a_job_owns_besides_pods_is_no_pod(autojump_clock: MockClock) -> None:
    rig = Rig(always(Run(8)))
    notes = ConfigMap(
        metadata=ObjectMeta(name="notes", namespace="default", owner_references=(new_controller_ref(JOB),))
    )
    await rig.run(JOB, 20, (4, lambda: rig.api.create(notes)))
    assert rig.events[-1] == "9 Completed: Job completed"


async def test_what_fits_no_job_is_left_alone(autojump_clock: MockClock) -> None:
    rig = Rig(always(FOREVER))
    await rig.run(JOB, 20, (4, a_stray_pod(rig)), (6, lambda: rig.api.delete("Pod", "default", "stray")))
    assert [pod.metadata.name for pod in rig.api.list("Pod")] == ["job-00001"]
    assert times_of(rig, "pod") == [0]


async def test_a_finalizer_that_a_pod_gets_after_its_jobs_end_is_taken_off(autojump_clock: MockClock) -> None:
    rig = Rig(always(Run(2)))
    finalizers = {"metadata": {"finalizers": [words.TRACKING_FINALIZER]}}
    await rig.run(JOB, 20, (10, lambda: rig.api.patch("Pod", "default", "job-00001", finalizers)))
    (pod,) = rig.api.list("Pod")
    assert (pod.metadata.finalizers, rig.status.succeeded) == ((), 1)


async def test_the_pods_of_another_controllers_finished_job_keep_the_finalizer(autojump_clock: MockClock) -> None:
    rig = Rig(always(FOREVER))
    job = evolve(JOB, spec=evolve(JOB.spec, managed_by="example.com/x"))
    pod = a_pod(OURS, new_controller_ref(job), uid=None, finalizers=(words.TRACKING_FINALIZER,))

    def finish() -> None:
        done = evolve(job.status, conditions=(new_condition(words.COMPLETE, "Done", "", NOW),))
        rig.api.update_status("Job", "default", "job", done, uid="u1")
        rig.api.create(pod)

    await rig.run(job, 20, (4, finish))
    (stored,) = rig.api.list("Pod")
    assert stored.metadata.finalizers == (words.TRACKING_FINALIZER,)
