"""Jobs and their pods as the decision tables describe them, and what one sync makes of them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from attrs import evolve
from table_rows import TableError

from kubelet_emu.api.batch_v1 import (
    Job,
    JobCondition,
    JobSpec,
    JobStatus,
    PodFailurePolicy,
    PodFailurePolicyOnExitCodesRequirement,
    PodFailurePolicyOnPodConditionsPattern,
    PodFailurePolicyRule,
)
from kubelet_emu.api.meta import ObjectMeta
from kubelet_emu.api.v1 import Container, Pod, PodSpec, PodTemplateSpec
from kubelet_emu.api.v1_status import (
    ContainerState,
    ContainerStateTerminated,
    ContainerStatus,
    PodCondition,
    PodStatus,
)
from kubelet_emu.jobs.rules import words
from kubelet_emu.jobs.rules.backoff import BackoffRecord
from kubelet_emu.jobs.rules.sync import SyncPlan, is_left_alone, sync_job

if TYPE_CHECKING:
    from collections.abc import Iterable

    from table_rows import Fields

NOW = datetime(2026, 1, 1, 12, tzinfo=UTC)
LONG_AGO = NOW - timedelta(hours=1)
PHASES = ("Pending", "Running", "Succeeded", "Failed")


def a_job(status: JobStatus | None = None, **spec: Any) -> Job:  # noqa: ANN401
    """Return a Job with the API's defaults for what is not given."""
    spec.setdefault("parallelism", 1)
    spec.setdefault("backoff_limit", 6)
    template = PodTemplateSpec(spec=PodSpec(restart_policy=spec.pop("restart_policy", "Never")))
    return Job(
        metadata=ObjectMeta(name="job", namespace="default", uid="job-uid", creation_timestamp=LONG_AGO),
        spec=JobSpec(template=template, **spec),
        status=status or JobStatus(),
    )


def a_pod(  # noqa: PLR0913 - one keyword for each thing that a row can say
    name: str,
    phase: str = "Running",
    *,
    index: int | None = None,
    counts: tuple[int, int] = (0, 0),
    is_deleted: bool = False,
    mains: Iterable[ContainerStatus] | None = None,
    inits: Iterable[ContainerStatus] = (),
    conditions: Iterable[PodCondition] = (),
    finished_at: datetime = LONG_AGO,
) -> Pod:
    """Return a pod of the Job; a finished one ended long ago unless said."""
    if phase not in PHASES:
        raise TableError(f"unknown phase {phase!r}")
    annotations = {}
    if index is not None:
        annotations[words.COMPLETION_INDEX] = str(index)
        annotations[words.INDEX_FAILURE_COUNT] = str(counts[0])
        annotations[words.INDEX_IGNORED_FAILURE_COUNT] = str(counts[1])
    if mains is None:
        exit_code = {"Succeeded": 0, "Failed": 1}.get(phase)
        mains = [a_container("main", exit_code, finished_at)]
    return Pod(
        metadata=ObjectMeta(
            name=name,
            namespace="default",
            uid=name,
            annotations=annotations,
            finalizers=(words.TRACKING_FINALIZER,),
            creation_timestamp=LONG_AGO,
            deletion_timestamp=NOW if is_deleted else None,
            deletion_grace_period_seconds=30 if is_deleted else None,
        ),
        spec=PodSpec(node_name="node1", init_containers=tuple(Container(name=status.name) for status in inits)),
        status=PodStatus(
            phase=phase,
            container_statuses=tuple(mains),
            init_container_statuses=tuple(inits),
            conditions=tuple(conditions),
        ),
    )


def a_container(
    name: str, exit_code: int | None, finished_at: datetime | None = None, restarts: int = 0
) -> ContainerStatus:
    """Return a container's status: terminated with an exit code, or (None) running."""
    terminated = None
    if exit_code is not None:
        terminated = ContainerStateTerminated(exit_code=exit_code, finished_at=finished_at or LONG_AGO)
    return ContainerStatus(name=name, state=ContainerState(terminated=terminated), restart_count=restarts)


def pods_in(phase: str, number: int, *, is_deleted: bool = False, finished_at: datetime = LONG_AGO) -> list[Pod]:
    """Return so many pods in a phase."""
    kind = "terminating" if is_deleted else phase.lower()
    return [a_pod(f"{kind}-{n}", phase, is_deleted=is_deleted, finished_at=finished_at) for n in range(number)]


def a_condition(text: str) -> PodCondition:
    """Return a pod condition of `Type=Status`."""
    name, equals, status = text.partition("=")
    if not equals or status not in ("True", "False", "Unknown"):
        raise TableError(f"unknown condition {text!r}")
    return PodCondition(type=name, status=status)


def a_failure_policy(rules: list[Fields]) -> PodFailurePolicy:
    """Return a pod failure policy of rows' rules."""
    return PodFailurePolicy(rules=tuple(map(_a_rule, rules)))


def _a_rule(rule: Fields) -> PodFailurePolicyRule:
    action = rule.take("action")
    if ("onExitCodes" in rule) == ("onPodConditions" in rule):
        raise TableError(f"{rule.where}: expected either onExitCodes or onPodConditions")
    if "onExitCodes" in rule:
        codes = rule.part("onExitCodes")
        return PodFailurePolicyRule(
            action=action,
            on_exit_codes=PodFailurePolicyOnExitCodesRequirement(
                operator=codes.take("op"),
                values=tuple(codes.take("values")),
                container_name=codes.take("container", None),
            ),
        )
    patterns = [text.partition("=") for text in rule.take("onPodConditions")]
    return PodFailurePolicyRule(
        action=action,
        on_pod_conditions=tuple(
            PodFailurePolicyOnPodConditionsPattern(type=name, status=status or None) for name, _, status in patterns
        ),
    )


def an_exit_code_rule(text: str) -> PodFailurePolicy:
    """Return a policy of one rule like `FailIndex In [3]` or `FailIndex NotIn [3, 4]`."""
    action, _, rest = text.partition(" ")
    operator, _, values = rest.partition(" ")
    if operator not in ("In", "NotIn") or not (values.startswith("[") and values.endswith("]")):
        raise TableError(f"unknown rule {text!r}")
    codes = tuple(int(value) for value in values[1:-1].split(","))
    requirement = PodFailurePolicyOnExitCodesRequirement(operator=operator, values=codes)
    return PodFailurePolicy(rules=(PodFailurePolicyRule(action=action, on_exit_codes=requirement),))


def synced(
    job: Job, pods: Iterable[Pod], *, now: datetime = NOW, record: BackoffRecord | None = None
) -> SyncPlan | None:
    """Plan one sync, unless the Job is left alone."""
    return None if is_left_alone(job) else sync_job(job, tuple(pods), now, record or BackoffRecord())


def counts(plan: SyncPlan) -> dict[str, object]:
    """Return what the status says after a sync, and what it did to pods."""
    status = plan.final
    return {
        "create": len(plan.create),
        "created_indexes": [pod.index for pod in plan.create],
        "delete": len(plan.delete),
        "active": status.active or 0,
        "ready": status.ready or 0,
        "terminating": status.terminating or 0,
        "succeeded": status.succeeded or 0,
        "failed": status.failed or 0,
        "completedIndexes": status.completed_indexes or "",
        "failedIndexes": status.failed_indexes,
        "finalizers_removed": len(plan.release),
    }


def shown_condition(out: Fields, conditions: Iterable[JobCondition]) -> object:
    """Return the expected condition if it is among the conditions, by type, reason or `Type=Status Reason`."""
    wanted = out.values.get("condition")
    texts = [
        text
        for condition in conditions
        for text in (
            condition.type,
            condition.reason,
            f"{condition.type}={condition.status}",
            f"{condition.type}={condition.status} {condition.reason}",
        )
    ]
    if wanted in texts:
        return wanted
    return texts or None


def with_failure_policy(job: Job, policy: PodFailurePolicy | None) -> Job:
    """Return the Job with a pod failure policy and what the API server defaults with it."""
    replacement = "TerminatingOrFailed" if policy is None else "Failed"
    spec = evolve(job.spec, pod_failure_policy=policy, pod_replacement_policy=replacement)
    return evolve(job, spec=spec)
