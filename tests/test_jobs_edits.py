"""What a Job does when somebody changes it, or its pods, while it lives."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from attrs import evolve
from jobs_rig import Rig, Run, a_job, always, in_turn

from kubelet_emu.api.meta import LabelSelector
from kubelet_emu.api.v1 import Container, ResourceRequirements
from kubelet_emu.config.features import FeatureGates
from kubelet_emu.manifests.validation import update_faults

if TYPE_CHECKING:
    from collections.abc import Callable

    from trio.testing import MockClock

    from kubelet_emu.api.batch_v1 import Job

FOREVER = Run()
UNLIMITED = 2**31 - 1


def patch(rig: Rig, **spec: object) -> Callable[[], object]:
    return lambda: rig.api.patch("Job", "default", "job", {"spec": spec})


def times_of(rig: Rig, word: str) -> list[float]:
    return [float(line.split(" ", 1)[0]) for line in rig.events if word in line]


async def test_more_parallelism_makes_the_missing_pods_at_once(autojump_clock: MockClock) -> None:
    rig = Rig(always(FOREVER))
    await rig.run(a_job(completions=3), 20, (4, patch(rig, parallelism=3)))
    assert times_of(rig, "Created pod") == [0, 4, 4]
    assert rig.status.active == 3


async def test_parallelism_zero_pauses_a_job(autojump_clock: MockClock) -> None:
    rig = Rig(always(Run(10)))
    await rig.run(a_job(), 40, (4, patch(rig, parallelism=0)), (20, patch(rig, parallelism=1)))
    assert times_of(rig, "Deleted pod") == [4]
    assert times_of(rig, "Created pod") == [0, 20]
    assert (rig.status.succeeded, rig.status.failed) == (1, None)


async def test_an_indexed_job_grows(autojump_clock: MockClock) -> None:
    rig = Rig(always(Run(5)))
    job = a_job(completion_mode="Indexed", parallelism=2, completions=2)
    await rig.run(job, 30, (3, patch(rig, parallelism=3, completions=3)))
    assert rig.events[2] == "3 SuccessfulCreate: Created pod: job-2-00003"
    assert (rig.status.succeeded, rig.status.completed_indexes) == (3, "0-2")


async def test_an_indexed_job_shrinks_and_the_indexes_beyond_never_count(autojump_clock: MockClock) -> None:
    rig = Rig(in_turn(Run(5), FOREVER, Run(2)))
    job = a_job(completion_mode="Indexed", parallelism=3, completions=3)
    await rig.run(job, 30, (4, patch(rig, parallelism=1, completions=1)))
    assert rig.events[3:] == [
        "4 SuccessfulDelete: Deleted pod: job-1-00002",
        "5 Completed: Job completed",
    ]
    assert (rig.status.succeeded, rig.status.failed, rig.status.completed_indexes) == (1, None, "0")


async def test_a_lower_backoff_limit_fails_the_job_at_once(autojump_clock: MockClock) -> None:
    rig = Rig(always(Run(2, 1)))
    await rig.run(a_job(), 60, (20, patch(rig, backoffLimit=0)))
    assert times_of(rig, "BackoffLimitExceeded") == [20]
    assert rig.status.failed == 2


async def test_a_longer_deadline_counts_from_the_same_start(autojump_clock: MockClock) -> None:
    rig = Rig(always(FOREVER))
    await rig.run(a_job(active_deadline_seconds=10), 60, (5, patch(rig, activeDeadlineSeconds=30)))
    assert times_of(rig, "Deleted pod") == [30]


async def test_a_ttl_given_afterwards_counts_from_the_end(autojump_clock: MockClock) -> None:
    rig = Rig(always(Run(5)))
    await rig.run(a_job(), 60, (20, patch(rig, ttlSecondsAfterFinished=30)))
    assert [(at, record.deleted) for at, record in rig.records][-1] == (36, True)


async def test_a_pod_whose_labels_no_longer_match_is_let_go_and_replaced(autojump_clock: MockClock) -> None:
    rig = Rig(always(FOREVER))
    job = a_job()
    selector = LabelSelector(match_labels={"batch.kubernetes.io/controller-uid": "the-job"})
    job = evolve(job, metadata=evolve(job.metadata, uid="the-job"), spec=evolve(job.spec, selector=selector))
    label = {"metadata": {"labels": {"batch.kubernetes.io/controller-uid": "nobody"}}}
    await rig.run(job, 20, (4, lambda: rig.api.patch("Pod", "default", "job-00001", label)))
    first, second = rig.api.list("Pod")
    assert (first.metadata.owner_references, first.metadata.finalizers) == ((), ())
    assert first.metadata.deletion_timestamp is None
    assert second.metadata.owner_references[0].uid == "the-job"
    assert times_of(rig, "Created pod") == [0, 5]
    assert rig.status.failed is None


async def test_a_pod_that_is_relabelled_and_removed_at_once_is_forgotten(autojump_clock: MockClock) -> None:
    rig = Rig(always(Run(stops_after=0)))
    job = a_job()
    selector = LabelSelector(match_labels={"batch.kubernetes.io/controller-uid": "the-job"})
    job = evolve(job, metadata=evolve(job.metadata, uid="the-job"), spec=evolve(job.spec, selector=selector))
    label = {"metadata": {"labels": {"batch.kubernetes.io/controller-uid": "nobody"}}}

    def relabel_and_delete() -> None:
        rig.api.patch("Pod", "default", "job-00001", label)
        rig.api.delete("Pod", "default", "job-00001", grace_period_seconds=0)

    await rig.run(job, 20, (4, relabel_and_delete))
    (pod,) = rig.api.list("Pod")
    assert pod.metadata.name == "job-00002"


async def test_a_failed_index_is_counted_when_its_replacement_is_there(autojump_clock: MockClock) -> None:
    rig = Rig(in_turn(Run(2, 1), FOREVER))
    job = a_job(
        completion_mode="Indexed", parallelism=1, completions=1, backoff_limit=UNLIMITED, backoff_limit_per_index=3
    )
    await rig.run(job, 30)
    assert times_of(rig, "Created pod") == [0, 12]
    assert next(at for at, status in rig.statuses if status.failed) == 13


async def test_ignored_failures_of_an_index_lengthen_its_delay_and_use_up_nothing(autojump_clock: MockClock) -> None:
    from test_jobs_controller import on_exit  # noqa: PLC0415 - the one maker of such a policy

    rig = Rig(in_turn(Run(2, 7), Run(2, 7), Run(2)))
    job = a_job(
        completion_mode="Indexed",
        parallelism=1,
        completions=1,
        backoff_limit=UNLIMITED,
        backoff_limit_per_index=0,
        pod_failure_policy=on_exit("Ignore", 7),
    )
    await rig.run(job, 60)
    assert times_of(rig, "Created pod") == [0, 12, 34]
    assert (rig.status.succeeded, rig.status.failed, rig.status.failed_indexes) == (1, None, "")


def suspended(**changes: object) -> Job:
    job = a_job(suspend=True)
    return evolve(job, **changes)  # type: ignore[arg-type]


def with_limit(job: Job, *names: str) -> Job:
    template = job.spec.template
    containers = tuple(
        Container(name=name, image="a", resources=ResourceRequirements(limits={"memory": "64Mi"})) for name in names
    )
    spec = evolve(template.spec, containers=containers)
    return evolve(job, spec=evolve(job.spec, template=evolve(template, spec=spec)))


RESOURCES = [
    ("a suspended Job takes other resources", suspended(), ("main",), []),
    ("a Job that isn't suspended takes none", a_job(), ("main",), ["spec.template"]),
    ("another number of containers is another template", suspended(), ("main", "more"), ["spec.template"]),
    ("nor one whose pods still stop", suspended(status=evolve(a_job().status, active=1)), ("main",), ["spec.template"]),
]


@pytest.mark.parametrize(("why", "job", "names", "faults"), RESOURCES, ids=[row[0] for row in RESOURCES])
def test_resources_change_while_a_job_is_suspended(why: str, job: Job, names: tuple[str, ...], faults: list) -> None:
    wanted = with_limit(job, *names)
    assert [fault.path for fault in update_faults(wanted, job, FeatureGates())] == faults
