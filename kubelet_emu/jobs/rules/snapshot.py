"""What one sync knows of a Job: its pods sorted by what they count for. Everything else is decided from this value."""

from __future__ import annotations

from typing import TYPE_CHECKING

from attrs import evolve, field, frozen

from kubelet_emu.api.batch_v1 import UncountedTerminatedPods
from kubelet_emu.jobs.rules.indexes import parse_indexes, valid_index
from kubelet_emu.jobs.rules.per_index import has_backoff_limit_per_index, is_index_failed, pods_with_delayed_deletion
from kubelet_emu.jobs.rules.pod_failure_policy import match_pod_failure_policy
from kubelet_emu.jobs.rules.pods import is_active, is_pod_failed, is_tracked

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from kubelet_emu.api.batch_v1 import Job
    from kubelet_emu.api.v1 import Pod


@frozen(kw_only=True)
class JobSnapshot:
    """A Job, its pods and what they add up to at `now`.

    `succeeded` and `failed` include pods that finished and are not in the status yet. `failed_indexes` is None when the
    Job has no limit per index; `delayed` holds, per index, the failed pod that is kept until it is replaced.
    """

    job: Job
    pods: tuple[Pod, ...]
    now: datetime
    active: tuple[Pod, ...]
    newly_succeeded: tuple[Pod, ...]
    newly_failed: tuple[Pod, ...]
    succeeded: int
    failed: int
    counted_indexes: frozenset[int] = frozenset()
    succeeded_indexes: frozenset[int] = frozenset()
    failed_indexes: frozenset[int] | None = None
    delayed: Mapping[int, Pod] = field(factory=dict)


def is_indexed(job: Job) -> bool:
    """Tell whether each pod has an index of its own (isIndexedJob)."""
    return job.spec.completion_mode == "Indexed"


def is_suspended(job: Job) -> bool:
    """Tell whether a Job is suspended (jobSuspended)."""
    return bool(job.spec.suspend)


def is_countable(job: Job, pod: Pod) -> bool:
    """Tell whether a pod can count for the Job: an indexed one needs a valid index (getValidPodsWithFilter)."""
    return not is_indexed(job) or valid_index(pod, job.spec.completions or 0) is not None


def take_snapshot(job: Job, pods: tuple[Pod, ...], now: datetime) -> JobSnapshot:
    """Sort a Job's pods. Source: the first part of pkg/controller/job syncJob, getNewFinishedPods."""
    uncounted = job.status.uncounted_terminated_pods or UncountedTerminatedPods()
    tracked = tuple(pod for pod in pods if is_tracked(pod) and is_countable(job, pod))
    succeeded = tuple(
        pod for pod in tracked if pod.status.phase == "Succeeded" and pod.metadata.uid not in uncounted.succeeded
    )
    failed = tuple(pod for pod in tracked if is_pod_failed(pod, job) and pod.metadata.uid not in uncounted.failed)
    active = tuple(pod for pod in pods if is_active(pod))
    counted = [pod for pod in failed if match_pod_failure_policy(job.spec.pod_failure_policy, pod).counted]
    snapshot = JobSnapshot(
        job=job,
        pods=pods,
        now=now,
        active=active,
        newly_succeeded=succeeded,
        newly_failed=failed,
        succeeded=(job.status.succeeded or 0) + len(succeeded) + len(uncounted.succeeded),
        failed=(job.status.failed or 0) + len(counted) + len(uncounted.failed),
    )
    return _with_indexes(snapshot, tracked) if is_indexed(job) else snapshot


def _with_indexes(snapshot: JobSnapshot, tracked: tuple[Pod, ...]) -> JobSnapshot:
    """Add what an indexed Job knows (calculateSucceededIndexes, calculateFailedIndexes)."""
    job = snapshot.job
    completions = job.spec.completions or 0
    counted = parse_indexes(job.status.completed_indexes or "", completions)
    new = {valid_index(pod, completions) for pod in tracked if pod.status.phase == "Succeeded"}
    succeeded = counted | frozenset(index for index in new if index is not None)
    failed, delayed = None, {}
    if has_backoff_limit_per_index(job):
        known = parse_indexes(job.status.failed_indexes or "", completions)
        newly = {valid_index(pod, completions) for pod in tracked if is_index_failed(pod, job)}
        failed = known | frozenset(index for index in newly if index is not None)
        kept = tuple(pod for pod in tracked if is_pod_failed(pod, job))
        delayed = pods_with_delayed_deletion(kept, snapshot.active, succeeded | failed)
    return evolve(
        snapshot,
        succeeded=len(succeeded),
        counted_indexes=counted,
        succeeded_indexes=succeeded,
        failed_indexes=failed,
        delayed=delayed,
    )
