"""What holds for every Job: whatever its pods do, whoever edits or deletes what, whenever the controller dies.

The oracle is the store: it is asked at each creation of a pod and at each status of the Job.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

import trio
from attrs import define, field, frozen
from examples import examples
from hypothesis import event, given
from hypothesis import strategies as st
from jobs_rig import FakeKubelet, Rig, Run, a_job

from kubelet_emu.api.batch_v1 import (
    Job,
    PodFailurePolicy,
    PodFailurePolicyOnExitCodesRequirement,
    PodFailurePolicyRule,
    SuccessPolicy,
    SuccessPolicyRule,
    UncountedTerminatedPods,
)
from kubelet_emu.api.v1 import Pod
from kubelet_emu.apiserver import WatchEventType
from kubelet_emu.apiserver.objects import controller_of
from kubelet_emu.jobs.rules.backoff import get_finished_time
from kubelet_emu.jobs.rules.claims import Claim, claim_of
from kubelet_emu.jobs.rules.conditions import is_job_finished, true_condition
from kubelet_emu.jobs.rules.indexes import completion_index, parse_indexes
from kubelet_emu.jobs.rules.pods import is_active, is_terminal, is_terminating, is_tracked, only_replace_failed_pods
from kubelet_emu.jobs.rules.words import COMPLETE, FAILED, FAILURE_TARGET, SUCCESS_CRITERIA_MET
from kubelet_emu.kubelet.virtual_clock import VirtualClock

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kubelet_emu.api.batch_v1 import JobStatus
    from kubelet_emu.apiserver import WatchEvent

T = TypeVar("T")
HORIZON = 1500.0
SETTLED = 60.0
UNLIMITED = 2**31 - 1
EDITS = ("suspend", "resume", "parallelism", "resize")
DELETIONS = ("delete", "foreground", "orphan")
ACTS = (*EDITS, *DELETIONS, "delete pod", "evict", "relabel")


@frozen(kw_only=True)
class Step:
    """What somebody does at a time: `what` names it, `n` is the pod or the number that it is about."""

    at: float
    what: str
    n: int = 0


@frozen(kw_only=True)
class Story:
    """A Job's spec, what its pods do one after the other, and what happens meanwhile: times in seconds."""

    spec: Mapping[str, Any]
    runs: tuple[Run, ...]
    steps: tuple[Step, ...] = ()
    crashes: tuple[tuple[float, float], ...] = ()

    @property
    def is_undisturbed(self) -> bool:
        return not self.steps and not self.crashes


# -- strategies

halves = st.integers(0, 16).map(lambda n: n / 2)
counts = st.integers(0, 4)
sizes = st.integers(0, 7)
pod_runs = st.builds(
    Run,
    seconds=st.one_of(halves, halves, halves, st.none()),
    code=st.sampled_from([0, 0, 0, 1, 3, 42]),
    stops_after=halves,
    stop_code=st.sampled_from([0, 143]),
    restarts=st.sampled_from([0, 0, 0, 2]),
)
policies = st.lists(
    st.builds(
        lambda action, operator, code: PodFailurePolicyRule(
            action=action,
            on_exit_codes=PodFailurePolicyOnExitCodesRequirement(operator=operator, values=(code,)),
        ),
        st.sampled_from(["FailJob", "Ignore", "Count"]),
        st.sampled_from(["In", "NotIn"]),
        st.sampled_from([1, 3, 42]),
    ),
    max_size=2,
).map(lambda rules: PodFailurePolicy(rules=tuple(rules)) if rules else None)


def rarely(values: st.SearchStrategy[T]) -> st.SearchStrategy[T | None]:
    """Return a value in one case of four."""
    return st.integers(0, 3).flatmap(lambda n: values if n == 3 else st.none())


@st.composite
def specs(draw: st.DrawFn) -> dict[str, Any]:
    """Draw a spec that the API server would take."""
    policy = draw(policies)
    indexed = draw(st.booleans())
    spec: dict[str, Any] = {
        "parallelism": draw(st.sampled_from([2, 3, 4, 1, 0])),
        "completions": draw(sizes if indexed else st.one_of(st.none(), sizes)),
        "completion_mode": "Indexed" if indexed else "NonIndexed",
        "backoff_limit": draw(st.integers(0, 4)),
        "active_deadline_seconds": draw(rarely(st.integers(1, 40))),
        "suspend": bool(draw(rarely(st.just(True)))),
        "restart_policy": "Never" if policy else draw(st.sampled_from(["Never", "OnFailure"])),
        "pod_replacement_policy": "Failed" if policy else draw(st.sampled_from(["Failed", "TerminatingOrFailed"])),
        "pod_failure_policy": policy,
    }
    if indexed and draw(st.booleans()):
        spec |= {"backoff_limit": UNLIMITED, "backoff_limit_per_index": draw(st.integers(0, 2))}
        spec["max_failed_indexes"] = draw(rarely(counts))
    if indexed and draw(rarely(st.just(True))):
        rule = SuccessPolicyRule(succeeded_count=draw(st.integers(1, 3)))
        spec["success_policy"] = SuccessPolicy(rules=(rule,))
    return spec


steps = st.lists(
    st.builds(
        Step,
        at=halves,
        what=st.sampled_from(ACTS),
        n=counts,
    ),
    max_size=3,
).map(lambda drawn: tuple(sorted(drawn, key=lambda step: step.at)))
crashes = st.lists(st.tuples(halves, st.integers(0, 6).map(lambda n: n / 2)), max_size=2).map(tuple)
stories = st.builds(
    Story, spec=specs(), runs=st.lists(pod_runs, min_size=1, max_size=5).map(tuple), steps=steps, crashes=crashes
)
quiet_stories = st.builds(Story, spec=specs(), runs=st.lists(pod_runs, min_size=1, max_size=5).map(tuple))


# -- the oracle


@define
class Oracle:
    """Looks at the store whenever something changes in it; a rule that is broken is an AssertionError there."""

    rig: Rig
    story: Story
    created: int = 0
    ended: dict[str, str] = field(factory=dict)
    _last: JobStatus | None = None

    def __call__(self, change: WatchEvent) -> None:
        obj = change.object
        if isinstance(obj, Pod) and change.type is WatchEventType.ADDED:
            self._check_creation(obj)
        elif isinstance(obj, Pod) and is_terminal(obj):
            self.ended.setdefault(obj.metadata.uid or "", obj.status.phase or "")
        elif isinstance(obj, Job) and change.type is WatchEventType.MODIFIED:
            self._check_status(obj)

    def _pods(self, job: Job) -> list[Pod]:
        pods = (each for each in self.rig.api.dependents(job.metadata.uid or "") if isinstance(each, Pod))
        return [pod for pod in pods if claim_of(job, pod) is Claim.OWN]

    def _check_creation(self, pod: Pod) -> None:
        self.created += 1
        owner = controller_of(pod)
        job = None if owner is None else self.rig.api.get_by_uid("Job", owner.uid)
        assert job is not None
        conditions = job.status.conditions
        assert not is_job_finished(job)
        assert not job.spec.suspend
        assert job.metadata.deletion_timestamp is None
        assert true_condition(conditions, FAILURE_TARGET) is None
        assert true_condition(conditions, SUCCESS_CRITERIA_MET) is None
        assert is_tracked(pod)
        pods = self._pods(job)
        only_failed = only_replace_failed_pods(job)
        there = [each for each in pods if is_active(each) or (only_failed and is_terminating(each))]
        assert len(there) <= (job.spec.parallelism or 0)
        if job.spec.completion_mode == "Indexed":
            self._check_index(job, pod, there)
        if self.story.is_undisturbed and "backoff_limit_per_index" not in self.story.spec:
            self._check_delay(pods)

    def _check_index(self, job: Job, pod: Pod, there: list[Pod]) -> None:
        completions = job.spec.completions or 0
        index = completion_index(pod)
        assert index is not None
        assert index < completions
        assert index not in parse_indexes(job.status.completed_indexes or "", completions)
        assert index not in parse_indexes(job.status.failed_indexes or "", completions)
        assert [completion_index(each) for each in there].count(index) == 1

    def _check_delay(self, pods: list[Pod]) -> None:
        """Hold a creation to the delay after failures, as long as nothing has succeeded."""
        failed = [each for each in pods if each.status.phase == "Failed"]
        if failed and not any(each.status.phase == "Succeeded" for each in pods):
            waited = (self.rig.timebase.now() - max(map(get_finished_time, failed))).total_seconds()
            assert waited >= min(10 * 2 ** (len(failed) - 1), 600)

    def _check_status(self, job: Job) -> None:
        status, last = job.status, self._last
        assert (status.active or 0) >= 0
        assert (status.terminating or 0) >= 0
        types = {condition.type for condition in status.conditions if condition.status == "True"}
        assert not {FAILURE_TARGET, SUCCESS_CRITERIA_MET} <= types
        if last is not None:
            assert (status.failed or 0) >= (last.failed or 0)
            assert self._may_shrink() or (status.succeeded or 0) >= (last.succeeded or 0)
            before = {condition.type for condition in last.conditions if condition.status == "True"}
            assert before - types <= {"Suspended"}
            if status.ready != last.ready:
                assert (status.ready or 0) <= (status.active or 0)
        if types & {COMPLETE, FAILED} and not is_done(last):
            self._check_end(job, types)
        self._last = status

    def _may_shrink(self) -> bool:
        """Tell whether successes may be forgotten: a smaller indexed Job knows nothing of the indexes beyond."""
        return any(step.what == "resize" for step in self.story.steps)

    def _check_end(self, job: Job, types: set[str]) -> None:
        status, uncounted = job.status, job.status.uncounted_terminated_pods
        assert (SUCCESS_CRITERIA_MET if COMPLETE in types else FAILURE_TARGET) in types
        assert (status.completion_time is not None) == (COMPLETE in types)
        assert (status.active or 0, status.terminating or 0, status.ready or 0) == (0, 0, 0)
        assert uncounted == UncountedTerminatedPods()
        for pod in self._pods(job):
            assert is_terminal(pod)
            assert not is_tracked(pod)
        if self.story.is_undisturbed:
            self._check_counts(job, types)

    def _check_counts(self, job: Job, types: set[str]) -> None:
        """Every pod counts at most once; without policies exactly once."""
        status, spec = job.status, job.spec
        total = (status.succeeded or 0) + (status.failed or 0)
        assert total <= self.created
        if spec.pod_failure_policy is None and spec.success_policy is None and spec.completions != 0:
            assert total == self.created
        if COMPLETE in types and spec.success_policy is None:
            assert (status.succeeded or 0) >= (1 if spec.completions is None else spec.completions)
        if spec.backoff_limit_per_index is None:
            assert (status.failed or 0) <= (spec.backoff_limit or 0) + (spec.parallelism or 0)


def is_done(status: JobStatus | None) -> bool:
    return status is not None and any(
        true_condition(status.conditions, condition) is not None for condition in (COMPLETE, FAILED)
    )


# -- a life


def act(rig: Rig, step: Step) -> None:
    """Do a step, if what it is about is there."""
    api = rig.api
    job, pods = api.get("Job", "default", "job"), api.list("Pod")
    pod = pods[step.n % len(pods)].metadata.name if pods else None
    match step.what:
        case "suspend" | "resume" if job is not None:
            api.patch("Job", "default", "job", {"spec": {"suspend": step.what == "suspend"}})
        case "parallelism" if job is not None:
            api.patch("Job", "default", "job", {"spec": {"parallelism": step.n}})
        case "resize" if job is not None and job.spec.completion_mode == "Indexed":
            api.patch("Job", "default", "job", {"spec": {"parallelism": step.n, "completions": step.n}})
        case "delete pod" if pod is not None:
            api.delete("Pod", "default", pod)
        case "evict" if pod is not None:
            api.evict("default", pod)
        case "relabel" if pod is not None:
            api.patch("Pod", "default", pod, {"metadata": {"labels": {"batch.kubernetes.io/controller-uid": "x"}}})
        case "delete" | "foreground" | "orphan" if job is not None:
            propagation = {"delete": "Background"}.get(step.what, step.what.capitalize())
            api.delete("Job", "default", "job", propagation=propagation)
        case _:
            pass


async def controllers(rig: Rig, story: Story) -> None:
    """Run a controller that dies and comes back with an empty memory."""
    for after, gap in story.crashes:
        with trio.move_on_after(after):
            await rig.controller.run()
        await trio.sleep(gap)
        rig.controller = rig.a_controller()
    await rig.controller.run()


async def live(rig: Rig, story: Story) -> None:
    async with trio.open_nursery() as nursery:
        nursery.start_soon(rig.timebase.referee)
        rig.timebase.seconds()
        rig.api.subscribe(FakeKubelet(rig.api, rig.timebase, rig.run_of, nursery))
        nursery.start_soon(controllers, rig, story)
        rig.api.create(a_job(**story.spec))
        for step in story.steps:
            await trio.sleep(max(0.0, step.at - rig.timebase.seconds()))
            act(rig, step)
        with trio.move_on_at(trio.current_time() + HORIZON):
            while not is_over(rig):  # noqa: ASYNC110 - the clock is virtual
                await trio.sleep(SETTLED / 4)
        await trio.sleep(SETTLED)
        nursery.cancel_scope.cancel()


def is_over(rig: Rig) -> bool:
    job = rig.api.get("Job", "default", "job")
    return job is None or is_job_finished(job)


def lived(story: Story) -> Rig:
    """Live a story in virtual time, with the oracle beside it."""
    rig = Rig(lambda _pod, n: story.runs[min(n, len(story.runs)) - 1])
    rig.api.subscribe(Oracle(rig, story))
    trio.run(live, rig, story, clock=VirtualClock())
    return rig


@examples(100)
@given(stories)
def test_a_job_keeps_the_rules_whatever_happens(story: Story) -> None:
    rig = lived(story)
    job = rig.api.get("Job", "default", "job")
    event("gone" if job is None else "finished" if is_job_finished(job) else "alive")
    if job is None:
        assert [pod.metadata.name for pod in rig.api.list("Pod") if is_tracked(pod)] == []


@examples(100)
@given(quiet_stories)
def test_an_undisturbed_job_keeps_its_delays_and_counts_every_pod_once(story: Story) -> None:
    rig = lived(story)
    ends = [line for line in rig.events if any(word in line for word in ("Completed", "Exceeded", "Policy:", "Failed"))]
    assert len(ends) <= 1
