"""How many pods a Job should have: which to delete, which to create, or until when to wait."""

from __future__ import annotations

from typing import TYPE_CHECKING

from attrs import frozen

from kubelet_emu.jobs.rules.backoff import backoff_until
from kubelet_emu.jobs.rules.indexes import first_pending_indexes, indexes_of
from kubelet_emu.jobs.rules.per_index import (
    creatable_indexes,
    has_backoff_limit_per_index,
    new_index_failure_counts,
)
from kubelet_emu.jobs.rules.pods import active_pods_for_removal, is_terminating, only_replace_failed_pods
from kubelet_emu.jobs.rules.snapshot import is_indexed, is_suspended

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime

    from kubelet_emu.api.v1 import Pod
    from kubelet_emu.jobs.rules.backoff import BackoffRecord
    from kubelet_emu.jobs.rules.snapshot import JobSnapshot

MAX_POD_CREATE_DELETE_PER_SYNC = 500
SLOW_START_INITIAL_BATCH_SIZE = 1


@frozen(kw_only=True)
class PodToCreate:
    """One pod to create; the counts are None where the Job has no limit per index."""

    index: int | None = None
    failure_count: int | None = None
    ignored_failure_count: int = 0


@frozen(kw_only=True)
class ManagedPods:
    """What to do about a Job's pods: either deletions or creations or neither.

    `active` is the number that the status will show. `retry_at` is when a delayed creation is due.
    """

    active: int
    delete: tuple[Pod, ...] = ()
    create: tuple[PodToCreate, ...] = ()
    retry_at: datetime | None = None


def manage_job(snapshot: JobSnapshot, record: BackoffRecord) -> ManagedPods:
    """Decide about a Job's pods. Source: pkg/controller/job manageJob.

    While a creation is delayed, 0 active pods are reported, whatever runs: that is the controller's way.
    """
    job, active = snapshot.job, len(snapshot.active)
    if is_suspended(job):
        return ManagedPods(active=0, delete=active_pods_for_removal(job, snapshot.active, active))
    wanted = _wanted_active(snapshot)
    surplus = active_pods_for_removal(job, snapshot.active, max(0, active - wanted))[:MAX_POD_CREATE_DELETE_PER_SYNC]
    if surplus:
        return ManagedPods(active=active - len(surplus), delete=surplus)
    terminating = sum(map(is_terminating, snapshot.pods)) if only_replace_failed_pods(job) else 0
    missing = min(wanted - terminating - active, MAX_POD_CREATE_DELETE_PER_SYNC)
    if missing <= 0:
        return ManagedPods(active=active)
    if not has_backoff_limit_per_index(job):
        until = backoff_until(record.failures_after_last_success, record.last_failure_at)
        if until is not None and until > snapshot.now:
            return ManagedPods(active=0, retry_at=until)
    if not is_indexed(job):
        return ManagedPods(active=active + missing, create=(PodToCreate(),) * missing)
    return _create_indexes(snapshot, missing)


def slow_start_batches(pods: tuple[PodToCreate, ...]) -> Iterator[tuple[PodToCreate, ...]]:
    """Yield pods in batches of 1, 2, 4, ...: after one with a refusal no more is tried (manageJob, slow start)."""
    first, size = 0, SLOW_START_INITIAL_BATCH_SIZE
    while first < len(pods):
        yield pods[first : first + size]
        first, size = first + size, 2 * size


def _wanted_active(snapshot: JobSnapshot) -> int:
    """Return how many pods should be active (manageJob)."""
    spec = snapshot.job.spec
    parallelism = 1 if spec.parallelism is None else spec.parallelism
    if spec.completions is None:
        return len(snapshot.active) if snapshot.succeeded > 0 else parallelism
    return max(0, min(spec.completions - snapshot.succeeded, parallelism))


def _create_indexes(snapshot: JobSnapshot, missing: int) -> ManagedPods:
    """Pick the indexes to create; with a limit per index each has its own delay (manageJob, firstPendingIndexes)."""
    job, active = snapshot.job, len(snapshot.active)
    taken = snapshot.succeeded_indexes | indexes_of(snapshot.active) | (snapshot.failed_indexes or frozenset())
    if only_replace_failed_pods(job):
        taken |= indexes_of(pod for pod in snapshot.pods if is_terminating(pod))
    indexes = first_pending_indexes(missing, job.spec.completions or 0, taken)
    if has_backoff_limit_per_index(job):
        indexes, retry_at = creatable_indexes(indexes, snapshot.delayed, snapshot.now)
        if retry_at is not None:
            return ManagedPods(active=0, retry_at=retry_at)
    create = tuple(pod_to_create(snapshot, index) for index in indexes)
    return ManagedPods(active=active + len(create), create=create)


def pod_to_create(snapshot: JobSnapshot, index: int) -> PodToCreate:
    """Describe the next pod of an index (addIndexFailureCountAnnotation)."""
    if not has_backoff_limit_per_index(snapshot.job):
        return PodToCreate(index=index)
    counted, ignored = new_index_failure_counts(snapshot.job, snapshot.delayed.get(index))
    return PodToCreate(index=index, failure_count=counted, ignored_failure_count=ignored)
