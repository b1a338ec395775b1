"""A back-off limit for each index (KEP-3850): counts kept in annotations, failed indexes, delays of their own."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubelet_emu.jobs.rules.backoff import backoff_until, get_finished_time
from kubelet_emu.jobs.rules.indexes import completion_index, indexes_of, parse_count
from kubelet_emu.jobs.rules.pod_failure_policy import PodFailurePolicyAction, match_pod_failure_policy
from kubelet_emu.jobs.rules.pods import is_pod_failed
from kubelet_emu.jobs.rules.words import INDEX_FAILURE_COUNT, INDEX_IGNORED_FAILURE_COUNT

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from collections.abc import Set as AbstractSet
    from datetime import datetime

    from kubelet_emu.api.batch_v1 import Job
    from kubelet_emu.api.v1 import Pod


MAX_COUNT = 2**31 - 1


def has_backoff_limit_per_index(job: Job) -> bool:
    """Tell whether a Job limits failures per index (hasBackoffLimitPerIndex)."""
    return job.spec.backoff_limit_per_index is not None


def index_failure_count(pod: Pod) -> int:
    """Return the counted failures of a pod's index before this pod (getIndexFailureCount)."""
    return _count(pod, INDEX_FAILURE_COUNT)


def _ignored_failure_count(pod: Pod) -> int:
    """Return the ignored failures of a pod's index before this pod (parseIndexFailureIgnoreCountAnnotation)."""
    return _count(pod, INDEX_IGNORED_FAILURE_COUNT)


def _count(pod: Pod, annotation: str) -> int:
    """Return a count from an annotation, 0 without one of 32 bits (parseIndexFailureCountAnnotation)."""
    count = parse_count(pod.metadata.annotations.get(annotation, ""))
    return count if count is not None and count <= MAX_COUNT else 0


def absolute_failure_count(pod: Pod) -> int:
    """Return all failures of a pod's index before this pod (getIndexAbsoluteFailureCount)."""
    return index_failure_count(pod) + _ignored_failure_count(pod)


def new_index_failure_counts(job: Job, replaced: Pod | None) -> tuple[int, int]:
    """Return the counted and the ignored failures that a new pod is labelled with (getNewIndexFailureCounts)."""
    if replaced is None:
        return 0, 0
    counted, ignored = index_failure_count(replaced), _ignored_failure_count(replaced)
    if match_pod_failure_policy(job.spec.pod_failure_policy, replaced).counted:
        return counted + 1, ignored
    return counted, ignored + 1


def is_index_failed(pod: Pod, job: Job) -> bool:
    """Tell whether a pod's failure uses up its index (isIndexFailed)."""
    if not is_pod_failed(pod, job):
        return False
    match = match_pod_failure_policy(job.spec.pod_failure_policy, pod)
    if match.action is PodFailurePolicyAction.FAIL_INDEX:
        return True
    return match.counted and index_failure_count(pod) >= (job.spec.backoff_limit_per_index or 0)


def pods_with_delayed_deletion(failed: Iterable[Pod], active: Iterable[Pod], done: AbstractSet[int]) -> dict[int, Pod]:
    """Return, per index, the failed pod that carries the count to its replacement and so keeps its finalizer.

    Source: pkg/controller/job getPodsWithDelayedDeletionPerIndex. Of several the last one that has at least as many
    failures as the others and ended no earlier.
    """
    finished = done | indexes_of(active)
    delayed: dict[int, Pod] = {}
    for pod in failed:
        index = completion_index(pod)
        if index is None or index in finished:
            continue
        if index not in delayed or _comes_after(pod, delayed[index]):
            delayed[index] = pod
    return delayed


def _comes_after(pod: Pod, other: Pod) -> bool:
    """Tell whether a failed pod of the same index takes another's place (getPodsWithDelayedDeletionPerIndex)."""
    if absolute_failure_count(pod) < absolute_failure_count(other):
        return False
    return get_finished_time(pod) >= get_finished_time(other)


def creatable_indexes(
    indexes: Iterable[int], delayed: Mapping[int, Pod], now: datetime
) -> tuple[tuple[int, ...], datetime | None]:
    """Return the indexes whose delay is over; when there is none, the time of the first that will be.

    Source: pkg/controller/job getPodCreationInfoForIndependentIndexes.
    """
    ready: list[int] = []
    waiting: list[datetime] = []
    for index in indexes:
        until = _index_backoff_until(delayed.get(index))
        if until is None or until <= now:
            ready.append(index)
        else:
            waiting.append(until)
    return tuple(ready), None if ready else min(waiting, default=None)


def _index_backoff_until(replaced: Pod | None) -> datetime | None:
    """Return when a failed pod of an index may be replaced (getRemainingTimePerIndex)."""
    if replaced is None:
        return None
    return backoff_until(absolute_failure_count(replaced) + 1, get_finished_time(replaced))
