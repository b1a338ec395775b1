"""Counting finished pods exactly once (KEP-2307).

Theory of operation. Each pod of a Job carries a finalizer until it was counted. A sync first writes the uids of the
finished pods to status.uncountedTerminatedPods, then takes their finalizers off, then turns the uids into counters:
a crash between any two of these steps neither loses nor doubles a pod. Succeeded pods of an indexed Job need no uids,
their indexes tell.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from attrs import evolve, frozen

from kubelet_emu.api.batch_v1 import UncountedTerminatedPods
from kubelet_emu.jobs.rules.indexes import completion_index, format_indexes, valid_index
from kubelet_emu.jobs.rules.per_index import has_backoff_limit_per_index
from kubelet_emu.jobs.rules.pod_failure_policy import match_pod_failure_policy
from kubelet_emu.jobs.rules.pods import is_pod_failed, is_tracked
from kubelet_emu.jobs.rules.snapshot import is_countable, is_indexed
from kubelet_emu.jobs.rules.words import FAILURE_TARGET

if TYPE_CHECKING:
    from collections.abc import Set as AbstractSet

    from kubelet_emu.api.batch_v1 import JobCondition, JobStatus
    from kubelet_emu.api.v1 import Pod
    from kubelet_emu.jobs.rules.snapshot import JobSnapshot

MAX_UNCOUNTED_PODS = 500


@frozen(kw_only=True)
class Tracked:
    """`interim` is written first; then the pods in `release` lose their finalizers; then `counted` holds.

    `is_complete` is False when there were too many pods for one sync; the changes that it makes cause the next one.
    """

    interim: JobStatus
    release: tuple[Pod, ...]
    counted: JobStatus
    is_complete: bool = True


def track_pods(snapshot: JobSnapshot, status: JobStatus, finished: JobCondition | None) -> Tracked:
    """Count the pods that finished. Source: pkg/controller/job trackJobStatusAndRemoveFinalizers."""
    with_finalizer = {pod.metadata.uid or "" for pod in snapshot.pods if is_tracked(pod)}
    status = clean_uncounted(status, with_finalizer)
    uncounted = status.uncounted_terminated_pods or UncountedTerminatedPods()
    succeeded, failed = list(uncounted.succeeded), list(uncounted.failed)
    indexes = set(snapshot.counted_indexes)
    release: list[Pod] = []
    is_complete = True
    for pod in _in_order(snapshot):
        if not can_remove_finalizer(snapshot, pod, finished):
            continue
        release.append(pod)
        uid = pod.metadata.uid or ""
        if pod.status.phase == "Succeeded" and uid not in failed:
            _count_success(snapshot, pod, succeeded, indexes)
        elif uid not in failed and _counts_as_failed(snapshot, pod, finished):
            failed.append(uid)
        if len(indexes) - len(snapshot.counted_indexes) + len(succeeded) + len(failed) >= MAX_UNCOUNTED_PODS:
            is_complete = False
            break
    uncounted = UncountedTerminatedPods(succeeded=tuple(succeeded), failed=tuple(failed))
    interim = _with_indexes(snapshot, evolve(status, uncounted_terminated_pods=uncounted), indexes)
    left = with_finalizer - {pod.metadata.uid or "" for pod in release}
    return Tracked(
        interim=interim, release=tuple(release), counted=clean_uncounted(interim, left), is_complete=is_complete
    )


def can_remove_finalizer(snapshot: JobSnapshot, pod: Pod, finished: JobCondition | None) -> bool:
    """Tell whether a pod may be let go now (canRemoveFinalizer): it is over, or the Job is; see `delayed`."""
    job = snapshot.job
    if job.metadata.deletion_timestamp is not None or finished is not None or pod.status.phase == "Succeeded":
        return True
    if not is_pod_failed(pod, job):
        return False
    if not has_backoff_limit_per_index(job):
        return True
    index = completion_index(pod)
    kept = None if index is None else snapshot.delayed.get(index)
    return kept is None or kept.metadata.uid != pod.metadata.uid


def clean_uncounted(status: JobStatus, with_finalizer: AbstractSet[str]) -> JobStatus:
    """Turn uids of pods that lost their finalizer into counters (cleanUncountedPodsWithoutFinalizers)."""
    uncounted = status.uncounted_terminated_pods or UncountedTerminatedPods()
    succeeded = tuple(uid for uid in uncounted.succeeded if uid in with_finalizer)
    failed = tuple(uid for uid in uncounted.failed if uid in with_finalizer)
    return evolve(
        status,
        succeeded=((status.succeeded or 0) + len(uncounted.succeeded) - len(succeeded)) or None,
        failed=((status.failed or 0) + len(uncounted.failed) - len(failed)) or None,
        uncounted_terminated_pods=UncountedTerminatedPods(succeeded=succeeded, failed=failed),
    )


def _in_order(snapshot: JobSnapshot) -> list[Pod]:
    """Return the pods that wait to be counted, those of an indexed Job by index (byCompletionIndex)."""
    pods = [pod for pod in snapshot.pods if is_tracked(pod)]
    if is_indexed(snapshot.job):
        pods.sort(key=lambda pod: -1 if (index := completion_index(pod)) is None else index)
    return pods


def _count_success(snapshot: JobSnapshot, pod: Pod, succeeded: list[str], indexes: set[int]) -> None:
    """Note a succeeded pod: by its index, or by its uid (trackJobStatusAndRemoveFinalizers)."""
    if is_indexed(snapshot.job):
        index = valid_index(pod, snapshot.job.spec.completions or 0)
        if index is not None:
            indexes.add(index)
    elif (uid := pod.metadata.uid or "") not in succeeded:
        succeeded.append(uid)


def _counts_as_failed(snapshot: JobSnapshot, pod: Pod, finished: JobCondition | None) -> bool:
    """Tell whether a pod adds to status.failed: it failed and is not ignored, or it runs while the Job fails.

    Source: pkg/controller/job trackJobStatusAndRemoveFinalizers.
    """
    job = snapshot.job
    is_failing = finished is not None and finished.type == FAILURE_TARGET
    if not (is_pod_failed(pod, job) or is_failing) or not is_countable(job, pod):
        return False
    return match_pod_failure_policy(job.spec.pod_failure_policy, pod).counted


def _with_indexes(snapshot: JobSnapshot, status: JobStatus, indexes: set[int]) -> JobStatus:
    """Add the index texts of an indexed Job, whose successes are its indexes (trackJobStatusAndRemoveFinalizers)."""
    if not is_indexed(snapshot.job):
        return status
    failed = snapshot.failed_indexes
    return evolve(
        status,
        succeeded=len(indexes) or None,
        completed_indexes=format_indexes(indexes) or None,
        failed_indexes=None if failed is None else format_indexes(failed),
    )
