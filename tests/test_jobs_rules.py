"""Rules of Jobs beyond the decision tables; each test's name is the rule."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from attrs import evolve

from kubelet_emu.api.batch_v1 import (
    Job,
    JobCondition,
    JobSpec,
    JobStatus,
    SuccessPolicy,
    SuccessPolicyRule,
    UncountedTerminatedPods,
)
from kubelet_emu.api.meta import ObjectMeta
from kubelet_emu.api.v1 import Container, Pod, PodSpec, PodTemplateSpec, ResourceRequirements
from kubelet_emu.api.v1_environment import EnvVar
from kubelet_emu.api.v1_status import (
    ContainerState,
    ContainerStateTerminated,
    ContainerStatus,
    PodCondition,
    PodStatus,
)
from kubelet_emu.jobs.rules import words
from kubelet_emu.jobs.rules.backoff import BackoffRecord, get_finished_time
from kubelet_emu.jobs.rules.conditions import ensure_condition, new_condition
from kubelet_emu.jobs.rules.finish import ttl_expires_at
from kubelet_emu.jobs.rules.indexes import completion_index, format_indexes, parse_indexes
from kubelet_emu.jobs.rules.manage import PodToCreate, slow_start_batches
from kubelet_emu.jobs.rules.per_index import creatable_indexes, index_failure_count, pods_with_delayed_deletion
from kubelet_emu.jobs.rules.pods import active_pods_for_removal
from kubelet_emu.jobs.rules.success_policy import match_success_policy
from kubelet_emu.jobs.rules.sync import SyncPlan, is_left_alone, refuses_status, sync_job
from kubelet_emu.jobs.rules.template import make_pod, with_generated_selector

NOW = datetime(2026, 1, 1, 12, tzinfo=UTC)


def a_job(status: JobStatus | None = None, **spec: object) -> Job:
    defaults: dict[str, object] = {"parallelism": 1, "completions": 1, "backoff_limit": 6}
    template = PodTemplateSpec(
        metadata=ObjectMeta(labels={"app": "x"}, annotations={"note": "y"}),
        spec=PodSpec(
            restart_policy="Never",
            init_containers=(Container(name="sidecar", restart_policy="Always"),),
            containers=(
                Container(name="main"),
                Container(name="own", env=(EnvVar(name="JOB_COMPLETION_INDEX", value="7"),)),
            ),
        ),
    )
    return Job(
        metadata=ObjectMeta(name="job", namespace="default", uid="u1"),
        spec=JobSpec(template=template, **{**defaults, **spec}),  # type: ignore[arg-type]
        status=status or JobStatus(),
    )


def a_pod(name: str, phase: str = "Running", *, index: int | None = None, **metadata: object) -> Pod:
    annotations = {} if index is None else {words.COMPLETION_INDEX: str(index)}
    state = ContainerState()
    if phase in ("Succeeded", "Failed"):
        ended = NOW - timedelta(hours=1)
        state = ContainerState(terminated=ContainerStateTerminated(exit_code=phase == "Failed", finished_at=ended))
    defaults: dict[str, object] = {
        "annotations": annotations,
        "finalizers": (words.TRACKING_FINALIZER,),
        "creation_timestamp": NOW - timedelta(hours=2),
    }
    return Pod(
        metadata=ObjectMeta(name=name, uid=name, **{**defaults, **metadata}),  # type: ignore[arg-type]
        spec=PodSpec(node_name="node1"),
        status=PodStatus(phase=phase, container_statuses=(ContainerStatus(name="main", state=state),)),
    )


def ready_since(pod: Pod, at: datetime | None) -> Pod:
    ready = PodCondition(type="Ready", status="True", last_transition_time=at)
    return evolve(pod, status=evolve(pod.status, conditions=(ready,)))


def planned(job: Job, *pods: Pod, now: datetime = NOW) -> SyncPlan:
    return sync_job(job, pods, now, BackoffRecord())


# --- indexes


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("", [], id="empty"),
        pytest.param("0,2,4-6", [0, 2, 4, 5, 6], id="intervals"),
        pytest.param("8-12", [8, 9], id="cut at the completions"),
        pytest.param("12-14", [], id="beyond the completions"),
        pytest.param("x,1,2-y,z-3", [1], id="what can't be read is left out"),
        pytest.param("1, 2,3 -4,\u0663", [1], id="spaces and other digits can't be read"),
        pytest.param("+1,2-+3,-0", [1, 2, 3], id="signs can, as Go reads them"),
        pytest.param("1-2-9", [1, 2], id="a third number is not looked at"),
        pytest.param("3,12,4", [3], id="what begins too high ends the text"),
        pytest.param("5-3", [], id="an interval the wrong way round is empty"),
    ],
)
def test_index_texts_are_read(text: str, expected: list[int]) -> None:
    assert sorted(parse_indexes(text, 10)) == expected


def test_index_texts_are_written() -> None:
    assert format_indexes([5, 0, 4, 2, 6, 9, 10]) == "0,2,4-6,9,10"
    assert format_indexes([]) == ""


@pytest.mark.parametrize("text", ["", "-1", "x", " 1", "1 ", "0x1", "1_0", "\u0661"])
def test_an_unusable_index_is_none(text: str) -> None:
    assert completion_index(a_pod("p", annotations={words.COMPLETION_INDEX: text})) is None


# --- policies


@pytest.mark.parametrize(
    ("rule", "expected"),
    [
        pytest.param(SuccessPolicyRule(succeeded_count=2), "Matched rules at index 0", id="enough"),
        pytest.param(SuccessPolicyRule(succeeded_count=3), None, id="too few"),
        pytest.param(SuccessPolicyRule(), None, id="an empty rule"),
    ],
)
def test_a_success_policy_by_count(rule: SuccessPolicyRule, expected: str | None) -> None:
    assert match_success_policy(SuccessPolicy(rules=(rule,)), 5, frozenset({1, 2})) == expected


# --- finish time


def test_a_pod_that_was_never_created_has_no_finish_time() -> None:
    with pytest.raises(ValueError, match="pod 'p' was never created"):
        get_finished_time(a_pod("p", creation_timestamp=None))


# --- removal


def names(pods: tuple[Pod, ...]) -> list[str]:
    return [pod.metadata.name or "" for pod in pods]


def test_the_least_valuable_pods_are_removed_first() -> None:
    older = ready_since(a_pod("ready-long"), NOW - timedelta(seconds=60))
    restarted = ContainerStatus(name="main", restart_count=3)
    with_proxy = PodSpec(node_name="node1", init_containers=(Container(name="proxy", restart_policy="Always"),))
    pods = (
        older,
        evolve(
            older,
            metadata=evolve(older.metadata, name="restarted-sidecar"),
            spec=with_proxy,
            status=evolve(older.status, init_container_statuses=(evolve(restarted, name="proxy"),)),
        ),
        evolve(older, metadata=evolve(older.metadata, name="young", creation_timestamp=NOW)),
        evolve(
            older,
            metadata=evolve(older.metadata, name="restarted"),
            status=evolve(older.status, container_statuses=(restarted,)),
        ),
        ready_since(a_pod("ready-short"), NOW),
        ready_since(a_pod("ready-unknown"), None),
        a_pod("unready"),
        a_pod("pending", "Pending"),
        evolve(a_pod("unscheduled", "Pending"), spec=PodSpec()),
    )
    assert names(active_pods_for_removal(a_job(), pods, 8)) == [
        "unscheduled",
        "pending",
        "unready",
        "ready-unknown",
        "ready-short",
        "restarted",
        "restarted-sidecar",
        "young",
    ]


def test_doubled_and_bad_indexes_are_removed_in_any_case() -> None:
    job = a_job(completion_mode="Indexed", completions=3)
    pods = (
        a_pod("pending-1", "Pending", index=1),
        a_pod("running-1", index=1),
        a_pod("bad", index=3),
        a_pod("none"),
        a_pod("running-0", index=0),
    )
    assert sorted(names(active_pods_for_removal(job, pods, 0))) == ["bad", "none", "pending-1"]
    assert len(active_pods_for_removal(job, pods, 4)) == 4


# --- limits per index


def a_failed_pod(name: str, *, failures: int, ended_at: datetime = NOW) -> Pod:
    pod = a_pod(name, "Failed", annotations={words.COMPLETION_INDEX: "0", words.INDEX_FAILURE_COUNT: str(failures)})
    state = ContainerState(terminated=ContainerStateTerminated(exit_code=1, finished_at=ended_at))
    return evolve(pod, status=evolve(pod.status, container_statuses=(ContainerStatus(name="main", state=state),)))


@pytest.mark.parametrize(
    ("first", "second", "kept"),
    [
        pytest.param((0, 0), (1, 0), "second", id="more failures"),
        pytest.param((1, 0), (0, 0), "first", id="fewer failures"),
        pytest.param((1, 0), (1, 5), "second", id="later"),
        pytest.param((1, 0), (1, 0), "second", id="alike"),
        pytest.param((1, 5), (1, 0), "first", id="earlier"),
        pytest.param((1, 0), (0, 5), "first", id="later with fewer failures"),
        pytest.param((0, 5), (1, 0), "first", id="earlier with more failures"),
    ],
)
def test_the_newest_failed_pod_of_an_index_is_kept(first: tuple[int, int], second: tuple[int, int], kept: str) -> None:
    pods = [
        a_failed_pod(name, failures=failures, ended_at=NOW + timedelta(seconds=seconds))
        for name, (failures, seconds) in (("first", first), ("second", second))
    ]
    assert {index: pod.metadata.name for index, pod in pods_with_delayed_deletion(pods, (), frozenset()).items()} == {
        0: kept
    }


@pytest.mark.parametrize(
    ("text", "expected"),
    [("7", 7), ("+7", 7), ("2147483647", 2**31 - 1), ("2147483648", 0), ("-1", 0), ("x", 0), ("", 0), (" 7", 0)],
)
def test_a_failure_count_that_is_no_int32_is_zero(text: str, expected: int) -> None:
    assert index_failure_count(a_pod("p", annotations={words.INDEX_FAILURE_COUNT: text})) == expected


def test_failed_pods_of_done_or_running_indexes_are_not_kept() -> None:
    pod = a_failed_pod("p", failures=0)
    assert pods_with_delayed_deletion([pod], (), frozenset({0})) == {}
    assert pods_with_delayed_deletion([pod], [a_pod("q", index=0)], frozenset()) == {}


def test_with_all_indexes_delayed_the_first_to_come_is_waited_for() -> None:
    delayed = {0: a_failed_pod("p", failures=1), 1: a_failed_pod("q", failures=0)}
    assert creatable_indexes((0, 1), delayed, NOW) == ((), NOW + timedelta(seconds=10))
    assert creatable_indexes((0, 1, 2), delayed, NOW) == ((2,), None)
    assert creatable_indexes((), delayed, NOW) == ((), None)


# --- one sync


def test_a_plain_job_needs_no_index_for_its_pods() -> None:
    plan = planned(a_job(completions=3, parallelism=2), a_pod("p", "Succeeded"))
    assert plan.create == (PodToCreate(), PodToCreate())
    assert plan.interim.uncounted_terminated_pods == UncountedTerminatedPods(succeeded=("p",))
    assert plan.final.succeeded == 1


def test_a_suspended_job_deletes_all_its_pods_at_once_and_others_five_hundred_at_a_time() -> None:
    pods = [a_pod(f"p{n}") for n in range(501)]
    assert len(planned(a_job(parallelism=501, completions=501, suspend=True), *pods).delete) == 501
    surplus = planned(a_job(parallelism=0, completions=501), *pods)
    assert (len(surplus.delete), surplus.final.active) == (500, 1)


@pytest.mark.parametrize(("number", "sizes"), [(0, []), (1, [1]), (2, [1, 1]), (7, [1, 2, 4]), (9, [1, 2, 4, 2])])
def test_pods_are_created_in_batches_that_double(number: int, sizes: list[int]) -> None:
    wanted = tuple(PodToCreate(index=index) for index in range(number))
    batches = tuple(slow_start_batches(wanted))
    assert [len(batch) for batch in batches] == sizes
    assert tuple(pod for batch in batches for pod in batch) == wanted


def test_parallelism_zero_creates_nothing() -> None:
    assert planned(a_job(parallelism=0)).create == ()


def test_an_unset_parallelism_is_one() -> None:
    assert len(planned(a_job(parallelism=None, backoff_limit=None)).create) == 1


def test_pods_in_the_uncounted_lists_are_not_counted_twice() -> None:
    uncounted = UncountedTerminatedPods(succeeded=("p", "gone"), failed=("q",))
    status = JobStatus(uncounted_terminated_pods=uncounted, start_time=NOW)
    plan = planned(a_job(status, completions=5), a_pod("p", "Succeeded"), a_pod("q", "Failed"))
    assert plan.interim.uncounted_terminated_pods == UncountedTerminatedPods(succeeded=("p",), failed=("q",))
    assert (plan.interim.succeeded, plan.interim.failed) == (1, None)
    assert (plan.final.succeeded, plan.final.failed) == (2, 1)


def test_a_pod_that_failed_in_the_lists_does_not_succeed_later() -> None:
    status = JobStatus(uncounted_terminated_pods=UncountedTerminatedPods(failed=("p",)), start_time=NOW)
    plan = planned(a_job(status), a_pod("p", "Succeeded"))
    assert (plan.final.succeeded, plan.final.failed) == (None, 1)


def test_at_most_five_hundred_pods_are_counted_at_once() -> None:
    pods = [a_pod(f"p{n}", "Succeeded") for n in range(501)]
    plan = planned(a_job(completions=501), *pods)
    assert (len(plan.release), plan.final.succeeded, plan.finish_events) == (500, 500, ())
    # the changes that this sync makes cause the next, like every change of a status or a pod
    assert plan.sync_at is None
    assert [condition.type for condition in plan.final.conditions] == [words.SUCCESS_CRITERIA_MET]


def test_an_indexed_pod_without_a_valid_index_counts_for_nothing() -> None:
    pods = (a_pod("bad", "Succeeded", index=9), a_pod("none", "Failed"))
    plan = planned(a_job(completion_mode="Indexed", completions=2), *pods)
    assert (plan.final.succeeded, plan.final.failed) == (None, None)
    assert names(plan.release) == ["none", "bad"]


def test_a_pod_without_the_finalizer_was_counted_before() -> None:
    plan = planned(a_job(completions=2), a_pod("p", "Succeeded", finalizers=()))
    assert (plan.release, plan.final.succeeded) == ((), None)


def test_more_successes_than_completions_are_told() -> None:
    plan = planned(a_job(), a_pod("p", "Succeeded"), a_pod("q", "Succeeded"))
    assert [event.reason for event in plan.finish_events] == [words.TOO_MANY_SUCCEEDED_PODS, words.COMPLETED]
    assert plan.finish_events[0].type == "Warning"


def test_a_finished_job_is_left_alone() -> None:
    status = JobStatus(conditions=(JobCondition(type="Complete", status="True"),))
    assert is_left_alone(a_job(status))


def test_a_deadline_names_the_next_look() -> None:
    assert planned(a_job(active_deadline_seconds=30)).sync_at == NOW + timedelta(seconds=30)


def test_start_times_are_whole_seconds() -> None:
    now = NOW + timedelta(milliseconds=700)
    assert planned(a_job(active_deadline_seconds=30), now=now).final.start_time == NOW


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        pytest.param((1, 1), (None, 1), False, id="ready does not change"),
        pytest.param((2, 2), (None, 1), True, id="more ready than active"),
        pytest.param((1, 0), (1, 1), False, id="as many"),
    ],
)
def test_more_ready_than_active_pods_are_refused(
    old: tuple[int | None, int], new: tuple[int | None, int], *, expected: bool
) -> None:
    before, after = (JobStatus(active=active, ready=ready) for active, ready in (old, new))
    assert refuses_status(before, after) is expected


# --- conditions


def test_a_condition_is_set_once_and_false_never_added() -> None:
    met = new_condition("Suspended", "r", "m", NOW)
    later = new_condition("Suspended", "r", "m", NOW + timedelta(seconds=5))
    assert ensure_condition((met,), later) == (met,)
    assert ensure_condition((), new_condition("Suspended", "r", "m", NOW, status="False")) == ()
    other = JobCondition(type="Other", status="True")
    resumed = new_condition("Suspended", "s", "m", NOW, status="False")
    assert ensure_condition((other, met), resumed) == (other, resumed)


@pytest.mark.parametrize(
    ("conditions", "ttl", "expected"),
    [
        pytest.param((), 5, None, id="not finished"),
        pytest.param((new_condition("Failed", "r", "m", NOW),), None, None, id="no ttl"),
        pytest.param((JobCondition(type="Failed", status="True"),), 5, None, id="no time"),
        pytest.param((new_condition("Failed", "r", "m", NOW),), 5, NOW + timedelta(seconds=5), id="both"),
    ],
)
def test_a_ttl_counts_from_the_end(
    conditions: tuple[JobCondition, ...], ttl: int | None, expected: datetime | None
) -> None:
    job = a_job(JobStatus(conditions=conditions), ttl_seconds_after_finished=ttl)
    assert ttl_expires_at(job) == expected


# --- the pod


def test_a_plain_pod_is_named_and_labelled_by_its_job() -> None:
    pod = make_pod(a_job(), PodToCreate())
    assert pod.metadata.generate_name == "job-"
    assert pod.metadata.labels == {
        "app": "x",
        "batch.kubernetes.io/controller-uid": "u1",
        "batch.kubernetes.io/job-name": "job",
        "controller-uid": "u1",
        "job-name": "job",
    }
    assert pod.metadata.annotations == {"note": "y"}
    assert pod.metadata.finalizers == ("batch.kubernetes.io/job-tracking",)
    (owner,) = pod.metadata.owner_references
    assert (owner.api_version, owner.kind, owner.uid, owner.controller, owner.block_owner_deletion) == (
        "batch/v1",
        "Job",
        "u1",
        True,
        True,
    )
    assert [each.name for each in pod.spec.containers] == ["main", "own"]


def test_a_pod_has_the_defaults_of_a_pod_that_a_template_has_not() -> None:
    job = a_job()
    limited = Container(name="main", resources=ResourceRequirements(limits={"cpu": "1"}))
    template = evolve(job.spec.template, spec=evolve(job.spec.template.spec, containers=(limited,)))
    pod = make_pod(evolve(job, spec=evolve(job.spec, template=template)), PodToCreate())
    (container,) = pod.spec.containers
    assert container.resources == ResourceRequirements(limits={"cpu": "1"}, requests={"cpu": "1"})
    assert pod.spec.enable_service_links is True


def test_an_indexed_pod_knows_its_index() -> None:
    pod = make_pod(a_job(), PodToCreate(index=3, failure_count=2, ignored_failure_count=1))
    assert (pod.metadata.generate_name, pod.spec.hostname) == ("job-3-", "job-3")
    assert pod.metadata.labels["batch.kubernetes.io/job-completion-index"] == "3"
    assert pod.metadata.annotations == {
        "note": "y",
        "batch.kubernetes.io/job-completion-index": "3",
        "batch.kubernetes.io/job-index-failure-count": "2",
        "batch.kubernetes.io/job-index-ignored-failure-count": "1",
    }
    sidecar, main, own = (*pod.spec.init_containers, *pod.spec.containers)
    for container in (sidecar, main):
        (variable,) = container.env
        assert variable.name == "JOB_COMPLETION_INDEX"
        assert variable.value_from is not None
        assert variable.value_from.field_ref is not None
        path = "metadata.labels['batch.kubernetes.io/job-completion-index']"
        assert variable.value_from.field_ref.field_path == path
    assert [variable.value for variable in own.env] == ["7"]


def test_a_selector_is_generated_unless_it_is_manual() -> None:
    job = with_generated_selector(a_job())
    assert job.spec.selector is not None
    assert job.spec.selector.match_labels == {"batch.kubernetes.io/controller-uid": "u1"}
    manual = a_job(manual_selector=True)
    assert with_generated_selector(manual) == manual
    assert make_pod(manual, PodToCreate()).metadata.labels == {"app": "x"}
