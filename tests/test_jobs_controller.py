"""The Job controller in virtual time, with a kubelet that only sets statuses."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
import trio
import trio.testing
from attrs import evolve
from jobs_rig import FakeKubelet, Rig, Run, a_job, always, in_turn

from kubelet_emu.api.batch_v1 import (
    PodFailurePolicy,
    PodFailurePolicyOnExitCodesRequirement,
    PodFailurePolicyOnPodConditionsPattern,
    PodFailurePolicyRule,
    SuccessPolicy,
    SuccessPolicyRule,
    UncountedTerminatedPods,
)
from kubelet_emu.api.meta import ObjectMeta
from kubelet_emu.api.v1 import ConfigMap, Pod
from kubelet_emu.apiserver import AlreadyExistsError

if TYPE_CHECKING:
    from collections.abc import Callable

    from kubelet_emu.jobs.rules.manage import PodToCreate

FOREVER = Run()
IGNORE_DISRUPTION = PodFailurePolicy(
    rules=(
        PodFailurePolicyRule(
            action="Ignore", on_pod_conditions=(PodFailurePolicyOnPodConditionsPattern(type="DisruptionTarget"),)
        ),
    )
)


def on_exit(action: str, code: int) -> PodFailurePolicy:
    requirement = PodFailurePolicyOnExitCodesRequirement(operator="In", values=(code,))
    return PodFailurePolicy(rules=(PodFailurePolicyRule(action=action, on_exit_codes=requirement),))


def created(rig: Rig) -> list[float]:
    return [float(line.split(" ", 1)[0]) for line in rig.events if "SuccessfulCreate" in line]


def patch_job(rig: Rig, body: dict[str, object]) -> Callable[[], object]:
    return lambda: rig.api.patch("Job", "default", "job", body)


def suspend(rig: Rig, *, value: bool) -> Callable[[], object]:
    return patch_job(rig, {"spec": {"suspend": value}})


async def test_a_job_completes_one_batch_after_its_pod(autojump_clock: trio.testing.MockClock) -> None:
    rig = Rig(always(Run(5)))
    await rig.run(a_job(), 20)
    assert rig.events == ["0 SuccessfulCreate: Created pod: job-00001", "6 Completed: Job completed"]
    assert rig.condition_times() == [
        "6 SuccessCriteriaMet=True CompletionsReached",
        "6 Complete=True CompletionsReached",
    ]
    status = rig.status
    assert (status.active, status.ready, status.terminating, status.succeeded, status.failed) == (None, 0, 0, 1, None)
    assert status.completion_time == status.conditions[-1].last_transition_time
    assert rig.warnings == []


async def test_each_step_of_a_job_is_one_status(autojump_clock: trio.testing.MockClock) -> None:
    rig = Rig(always(Run(5)))
    await rig.run(a_job(), 20)
    none, one = UncountedTerminatedPods(), UncountedTerminatedPods(succeeded=("uid-2",))
    assert [
        (at, status.active, status.ready, status.succeeded, status.uncounted_terminated_pods, len(status.conditions))
        for at, status in rig.statuses
    ] == [
        (0, None, None, None, None, 0),
        (0, 1, 0, None, none, 0),
        (1, 1, 1, None, none, 0),
        (6, None, 0, None, one, 1),
        (6, None, 0, 1, none, 2),
    ]


async def test_without_batches_a_job_completes_with_its_pod(autojump_clock: trio.testing.MockClock) -> None:
    rig = Rig(always(Run(5)), batch_seconds=0)
    await rig.run(a_job(), 20)
    assert rig.events[-1] == "5 Completed: Job completed"


async def test_failed_pods_are_replaced_after_growing_delays(autojump_clock: trio.testing.MockClock) -> None:
    rig = Rig(always(Run(2, 1)))
    await rig.run(a_job(), 3000)
    # each delay counts from the end of the pod before: 10, 20, 40, 80, 160, 320 s
    assert created(rig) == [0, 12, 34, 76, 158, 320, 642]
    assert rig.events[-1] == "644 BackoffLimitExceeded: Job has reached the specified backoff limit"
    assert rig.warnings == ["BackoffLimitExceeded"]
    assert rig.status.failed == 7
    assert rig.condition_times() == [
        "644 FailureTarget=True BackoffLimitExceeded",
        "644 Failed=True BackoffLimitExceeded",
    ]


async def test_the_delay_stops_growing_at_ten_minutes(autojump_clock: trio.testing.MockClock) -> None:
    rig = Rig(always(Run(2, 1)))
    await rig.run(a_job(backoff_limit=9), 10000)
    assert [later - earlier for earlier, later in zip(created(rig)[5:], created(rig)[6:], strict=False)] == [
        322,
        602,
        602,
        602,
    ]


async def test_a_new_controller_forgets_the_delay(autojump_clock: trio.testing.MockClock) -> None:
    rig = Rig(always(Run(2, 1)))
    async with trio.open_nursery() as nursery:
        nursery.start_soon(rig.timebase.referee)
        rig.api.subscribe(FakeKubelet(rig.api, rig.timebase, rig.run_of, nursery))
        async with trio.open_nursery() as first:
            await first.start(rig.controller.run)
            rig.api.create(a_job())
            await trio.sleep(5)
            first.cancel_scope.cancel()
        assert created(rig) == [0]
        await nursery.start(rig.a_controller().run)
        await trio.sleep(1)
        nursery.cancel_scope.cancel()
    assert created(rig) == [0, 5]


async def test_parallel_failures_at_once_count_together(autojump_clock: trio.testing.MockClock) -> None:
    rig = Rig(in_turn(Run(3, 1), Run(3, 1), FOREVER))
    await rig.run(a_job(parallelism=2, completions=2), 60)
    assert created(rig) == [0, 0, 23, 23]


async def test_a_failure_is_counted_late_while_another_pod_is_ready(autojump_clock: trio.testing.MockClock) -> None:
    # While the replacement waits, 0 active pods are reported; with a ready pod such a status is refused until then.
    rig = Rig(in_turn(Run(3, 1), FOREVER))
    await rig.run(a_job(parallelism=2, completions=2), 60)
    assert created(rig) == [0, 0, 13]
    assert next((at, status.failed) for at, status in rig.statuses if status.failed) == (13, 1)
    assert all((status.ready or 0) <= (status.active or 0) for _, status in rig.statuses)


async def test_completions_run_in_parallel(autojump_clock: trio.testing.MockClock) -> None:
    rig = Rig(always(Run(5)))
    await rig.run(a_job(parallelism=2, completions=3), 30)
    assert created(rig) == [0, 0, 6]
    assert (rig.status.succeeded, rig.events[-1]) == (3, "12 Completed: Job completed")


async def test_a_work_queue_waits_for_the_rest_after_one_success(autojump_clock: trio.testing.MockClock) -> None:
    rig = Rig(in_turn(Run(3), Run(8, 1)))
    await rig.run(a_job(parallelism=2, completions=None), 30)
    assert created(rig) == [0, 0]
    assert (rig.status.succeeded, rig.status.failed) == (1, 1)
    assert rig.events[-1] == "9 Completed: Job completed"


async def test_less_parallelism_deletes_pods_that_never_count(autojump_clock: trio.testing.MockClock) -> None:
    rig = Rig(always(FOREVER))
    await rig.run(a_job(parallelism=2, completions=2), 20, (3, patch_job(rig, {"spec": {"parallelism": 1}})))
    assert [line for line in rig.events if "Deleted" in line] == ["3 SuccessfulDelete: Deleted pod: job-00002"]
    assert (rig.status.active, rig.status.failed, rig.status.terminating) == (1, None, 0)
    assert len(rig.api.list("Pod")) == 1


async def test_a_failing_job_deletes_its_pods_and_waits_for_them(autojump_clock: trio.testing.MockClock) -> None:
    rig = Rig(always(Run(stops_after=7)))
    await rig.run(a_job(active_deadline_seconds=4), 30)
    assert rig.events == [
        "0 SuccessfulCreate: Created pod: job-00001",
        "4 SuccessfulDelete: Deleted pod: job-00001",
        "12 DeadlineExceeded: Job was active longer than specified deadline",
    ]
    assert rig.condition_times() == ["4 FailureTarget=True DeadlineExceeded", "12 Failed=True DeadlineExceeded"]
    assert [(at, status.terminating, status.failed) for at, status in rig.statuses if status.conditions] == [
        (4, 1, None),
        (4, 1, 1),
        (12, 0, 1),
        (12, 0, 1),
    ]


async def test_restarts_in_place_use_up_the_limit(autojump_clock: trio.testing.MockClock) -> None:
    rig = Rig(always(Run(restarts=2)))
    await rig.run(a_job(restart_policy="OnFailure", backoff_limit=2), 30)
    assert "1 SuccessfulDelete: Deleted pod: job-00001" in rig.events
    assert rig.status.failed == 1
    assert rig.warnings == ["BackoffLimitExceeded"]


async def test_a_suspended_job_keeps_no_pods_and_no_start(autojump_clock: trio.testing.MockClock) -> None:
    rig = Rig(always(Run(20)))
    await rig.run(
        a_job(suspend=True, active_deadline_seconds=30),
        100,
        (3, suspend(rig, value=False)),
        (8, suspend(rig, value=True)),
        (50, suspend(rig, value=False)),
    )
    assert rig.events == [
        "0 Suspended: Job suspended",
        "3 SuccessfulCreate: Created pod: job-00001",
        "3 Resumed: Job resumed",
        "8 SuccessfulDelete: Deleted pod: job-00001",
        "8 Suspended: Job suspended",
        "50 SuccessfulCreate: Created pod: job-00002",
        "50 Resumed: Job resumed",
        "71 Completed: Job completed",
    ]
    starts = dict.fromkeys(
        (status.start_time - rig.timebase.epoch).total_seconds() if status.start_time else None
        for _, status in rig.statuses
    )
    assert list(starts) == [None, 3, 50]
    assert rig.status.failed is None
    assert [c.type for c in rig.status.conditions] == ["Suspended", "SuccessCriteriaMet", "Complete"]


async def test_a_pod_deleted_by_hand_fails_at_once(autojump_clock: trio.testing.MockClock) -> None:
    rig = Rig(in_turn(Run(stops_after=5), Run(3)))
    await rig.run(a_job(), 60, (4, lambda: rig.api.delete("Pod", "default", "job-00001")))
    assert next((at, status.failed) for at, status in rig.statuses if status.failed) == (5, 1)
    assert created(rig) == [0, 14]
    assert rig.status.succeeded == 1


async def test_with_replacement_policy_failed_a_pod_fails_when_it_is_gone(
    autojump_clock: trio.testing.MockClock,
) -> None:
    rig = Rig(in_turn(Run(stops_after=5), Run(3)))
    job = a_job(pod_replacement_policy="Failed")
    await rig.run(job, 60, (4, lambda: rig.api.delete("Pod", "default", "job-00001")))
    assert next((at, status.failed) for at, status in rig.statuses if status.failed) == (10, 1)
    assert created(rig) == [0, 19]


async def test_an_ignored_failure_still_delays(autojump_clock: trio.testing.MockClock) -> None:
    rig = Rig(in_turn(FOREVER, Run(3)))
    job = a_job(backoff_limit=0, pod_failure_policy=IGNORE_DISRUPTION)
    await rig.run(job, 60, (4, lambda: rig.api.evict("default", "job-00001")))
    assert created(rig) == [0, 14]
    assert (rig.status.failed, rig.status.succeeded) == (None, 1)


async def test_a_failure_policy_fails_the_job(autojump_clock: trio.testing.MockClock) -> None:
    rig = Rig(always(Run(3, 42)))
    await rig.run(a_job(pod_failure_policy=on_exit("FailJob", 42)), 30)
    message = "Container main for pod default/job-00001 failed with exit code 42 matching FailJob rule at index 0"
    assert rig.events[-1] == f"4 PodFailurePolicy: {message}"
    assert {condition.message for condition in rig.status.conditions} == {message}


async def test_indexed_pods_have_names_hosts_and_an_index(autojump_clock: trio.testing.MockClock) -> None:
    rig = Rig(always(Run(3)))
    pods: list[Pod] = []
    rig.api.subscribe(lambda event: pods.append(event.object) if isinstance(event.object, Pod) else None)
    await rig.run(a_job(completion_mode="Indexed", parallelism=2, completions=2), 30)
    assert rig.status.completed_indexes == "0,1"
    assert {pod.metadata.name: pod.spec.hostname for pod in pods} == {
        "job-0-00001": "job-0",
        "job-1-00002": "job-1",
    }
    assert {pod.metadata.name or "": pod.metadata.finalizers for pod in rig.api.list("Pod")} == {
        "job-0-00001": (),
        "job-1-00002": (),
    }, "finished pods stay, counted"


async def test_each_index_has_its_own_limit_and_delay(autojump_clock: trio.testing.MockClock) -> None:
    rig = Rig(lambda pod, _: Run(3, 1 if (pod.spec.hostname or "").endswith(("1", "3")) else 0))
    job = a_job(
        completion_mode="Indexed", parallelism=2, completions=4, backoff_limit=2**31 - 1, backoff_limit_per_index=1
    )
    await rig.run(job, 200)
    assert rig.events == [
        "0 SuccessfulCreate: Created pod: job-0-00001",
        "0 SuccessfulCreate: Created pod: job-1-00002",
        "4 SuccessfulCreate: Created pod: job-2-00003",
        "8 SuccessfulCreate: Created pod: job-3-00004",
        "13 SuccessfulCreate: Created pod: job-1-00005",
        "21 SuccessfulCreate: Created pod: job-3-00006",
        "25 FailedIndexes: Job has failed indexes",
    ]
    status = rig.status
    assert (status.completed_indexes, status.failed_indexes, status.failed) == ("0,2", "1,3", 4)


async def test_a_refused_status_is_tried_again(autojump_clock: trio.testing.MockClock) -> None:
    rig = Rig(in_turn(Run(3, 1), FOREVER))
    job = a_job(
        completion_mode="Indexed", parallelism=2, completions=2, backoff_limit=2**31 - 1, backoff_limit_per_index=1
    )
    await rig.run(job, 12)
    assert rig.statuses[-1][0] == 1, "ready would change while 0 active pods are reported"


async def test_too_many_failed_indexes_end_the_job(autojump_clock: trio.testing.MockClock) -> None:
    rig = Rig(in_turn(Run(3, 1), FOREVER))
    job = a_job(
        completion_mode="Indexed",
        parallelism=3,
        completions=3,
        backoff_limit=2**31 - 1,
        backoff_limit_per_index=0,
        max_failed_indexes=0,
    )
    await rig.run(job, 30)
    assert rig.warnings == ["MaxFailedIndexesExceeded"]
    assert (rig.status.failed, rig.status.failed_indexes) == (3, "0")


async def test_a_success_policy_ends_the_job_and_the_rest_does_not_fail(
    autojump_clock: trio.testing.MockClock,
) -> None:
    rig = Rig(in_turn(Run(3), FOREVER))
    policy = SuccessPolicy(rules=(SuccessPolicyRule(succeeded_indexes="0"),))
    await rig.run(a_job(completion_mode="Indexed", parallelism=3, completions=3, success_policy=policy), 30)
    assert rig.condition_times() == ["4 SuccessCriteriaMet=True SuccessPolicy", "5 Complete=True SuccessPolicy"]
    assert (rig.status.succeeded, rig.status.failed) == (1, None)
    assert rig.status.conditions[0].message == "Matched rules at index 0"


@pytest.mark.parametrize(("ttl", "at"), [(0, 6), (10, 16)])
async def test_a_finished_job_is_deleted_after_its_ttl(autojump_clock: object, ttl: int, at: float) -> None:
    rig = Rig(always(Run(5)))
    await rig.run(a_job(ttl_seconds_after_finished=ttl), 30)
    assert [(when, record.deleted) for when, record in rig.records][-1] == (at, True)
    assert rig.api.list("Pod") == ()


async def test_a_background_deletion_ends_the_pods_without_counting(autojump_clock: trio.testing.MockClock) -> None:
    rig = Rig(always(FOREVER))
    await rig.run(a_job(parallelism=2, completions=2), 20, (5, lambda: rig.api.delete("Job", "default", "job")))
    assert [(at, record.deleted) for at, record in rig.records][-1] == (5, True)
    assert rig.api.list("Pod") == ()
    assert len(rig.events) == 2


async def test_a_foreground_deletion_waits_for_the_pods(autojump_clock: trio.testing.MockClock) -> None:
    rig = Rig(always(Run(stops_after=3)))
    step = (5, lambda: rig.api.delete("Job", "default", "job", propagation="Foreground"))
    await rig.run(a_job(), 20, step)
    assert [(at, record.deleted) for at, record in rig.records][-1] == (8, True)
    assert created(rig) == [0]


async def test_orphaned_pods_are_let_go(autojump_clock: trio.testing.MockClock) -> None:
    rig = Rig(always(FOREVER))
    step = (5, lambda: rig.api.delete("Job", "default", "job", propagation="Orphan"))
    await rig.run(a_job(), 20, step)
    (pod,) = rig.api.list("Pod")
    assert (pod.metadata.finalizers, pod.metadata.deletion_timestamp) == ((), None)


async def test_a_job_of_another_controller_is_left_alone(autojump_clock: trio.testing.MockClock) -> None:
    rig = Rig(always(FOREVER))
    await rig.run(a_job(managed_by="example.com/x"), 20)
    assert (rig.events, len(rig.records), rig.api.list("Pod")) == ([], 1, ())


async def test_an_unknown_completion_mode_is_told(autojump_clock: trio.testing.MockClock) -> None:
    rig = Rig(always(FOREVER))
    await rig.run(a_job(completion_mode="Other"), 20)
    assert rig.events == ["0 UnknownCompletionMode: Skipped Job sync because completion mode is unknown"]


async def test_refused_pods_are_tried_again_and_end_the_growing_batches(autojump_clock: trio.testing.MockClock) -> None:
    rig = Rig(always(FOREVER))
    make, calls = rig.controller.make_pod, []

    def refused_at_first(job: object, wanted: PodToCreate) -> Pod:
        calls.append(wanted)
        if len(calls) in (2, 3):
            raise AlreadyExistsError("Pod", "default", "x")
        return make(job, wanted)  # type: ignore[arg-type]

    rig.controller.make_pod = refused_at_first
    await rig.run(a_job(parallelism=5, completions=5), 20)
    error = 'FailedCreate: Error creating: pods "x" already exists'
    # batches of 1 and 2; after the second, in which one or more were refused, no more is tried for a second
    assert rig.events == [
        "0 SuccessfulCreate: Created pod: job-00001",
        f"0 {error}",
        f"0 {error}",
        "1 SuccessfulCreate: Created pod: job-00002",
        "1 SuccessfulCreate: Created pod: job-00003",
        "1 SuccessfulCreate: Created pod: job-00004",
        "1 SuccessfulCreate: Created pod: job-00005",
    ]
    assert [(at, status.active) for at, status in rig.statuses][1] == (0, 1)
    assert rig.status.active == 5


async def test_a_job_that_was_there_before_is_taken_up(autojump_clock: trio.testing.MockClock) -> None:
    rig = Rig(always(Run(3)))
    rig.timebase.seconds()
    rig.api.create(a_job("earlier"))
    await rig.run(a_job(), 20)
    assert sum("Job completed" in line for line in rig.events) == 2


async def test_other_kinds_are_no_business_of_the_controller(autojump_clock: trio.testing.MockClock) -> None:
    rig = Rig(always(Run(3)))
    await rig.run(a_job(), 20, (1, lambda: rig.api.create(ConfigMap(metadata=ObjectMeta(name="c")))))
    assert rig.events[-1] == "4 Completed: Job completed"


async def test_a_status_write_from_outside_is_shown(autojump_clock: trio.testing.MockClock) -> None:
    rig = Rig(always(FOREVER))
    job = a_job(managed_by="example.com/x")

    def write() -> None:
        stored = rig.api.get("Job", "default", "job")
        assert stored is not None
        status = evolve(stored.status, active=7)
        rig.api.update_status("Job", "default", "job", status, uid=stored.metadata.uid or "")

    await rig.run(job, 10, (2, write))
    assert [(at, status.active) for at, status in rig.statuses] == [(0, None), (2, 7)]


async def test_a_delay_that_is_almost_over_lasts_a_batch(autojump_clock: trio.testing.MockClock) -> None:
    # the look at 11.4 s finds 0.6 s left and comes back after a whole batch (seen in a recording of a real node)
    rig = Rig(in_turn(Run(2, 1), Run(3)))
    label = {"metadata": {"labels": {"a": "b"}}}
    await rig.run(a_job(), 30, (10.4, lambda: rig.api.patch("Pod", "default", "job-00001", label)))
    assert created(rig) == [0, 12.4]


@pytest.mark.parametrize("every", [0.7, 1.0, 1.3, 2.9])
async def test_a_restarted_controller_counts_each_pod_once(
    autojump_clock: trio.testing.MockClock, every: float
) -> None:
    rig = Rig(in_turn(Run(3), Run(3, 1), Run(3), Run(3, 1), Run(3)))
    async with trio.open_nursery() as nursery:
        nursery.start_soon(rig.timebase.referee)
        rig.api.subscribe(FakeKubelet(rig.api, rig.timebase, rig.run_of, nursery))
        rig.api.create(a_job(parallelism=2, completions=3))
        while not any("Completed" in line for line in rig.events):
            async with trio.open_nursery() as life:
                await life.start(rig.controller.run)
                await trio.sleep(every)
                life.cancel_scope.cancel()
            rig.controller = rig.a_controller()
        nursery.cancel_scope.cancel()
    assert (rig.status.succeeded, rig.status.failed) == (3, 2)
    assert len(created(rig)) == 5
