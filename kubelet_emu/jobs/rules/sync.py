"""One sync of a Job as a value: which pods to delete and to create, which statuses to write, which events to tell.

Theory of operation. The controller executes a plan in the order of its fields: deletions or creations, `events`, the
`interim` status, finalizers off the pods in `release`, the `final` status, `finish_events`. A status is written only if
it differs from the stored one; a write that is refused ends the sync there, and it is tried again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from attrs import evolve, field, frozen

from kubelet_emu.jobs.rules import words
from kubelet_emu.jobs.rules.backoff import BackoffRecord, get_finished_time, new_backoff_record
from kubelet_emu.jobs.rules.conditions import ensure_condition, find_condition, is_job_finished, new_condition
from kubelet_emu.jobs.rules.finish import active_deadline_at, completions_reached, finish_condition
from kubelet_emu.jobs.rules.manage import ManagedPods, PodToCreate, manage_job
from kubelet_emu.jobs.rules.pods import is_ready, is_terminating
from kubelet_emu.jobs.rules.snapshot import is_suspended, take_snapshot
from kubelet_emu.jobs.rules.tracking import track_pods

if TYPE_CHECKING:
    from datetime import datetime

    from kubelet_emu.api.batch_v1 import Job, JobCondition, JobStatus
    from kubelet_emu.api.v1 import Pod
    from kubelet_emu.jobs.rules.snapshot import JobSnapshot
    from kubelet_emu.jobs.rules.tracking import Tracked

_COMPLETION_MODES = (None, "NonIndexed", "Indexed")


@frozen(kw_only=True)
class JobEvent:
    """An event of the Job."""

    type: str
    reason: str
    message: str


@frozen(kw_only=True)
class SyncPlan:
    """What one sync does, in order. `sync_at` is when the Job has to be looked at again without any other reason.

    `retry_at` is when a delayed pod may be created: a look that comes a batch after this one at the earliest.
    `release_first`: the pods in `delete` lose their finalizer before they are deleted, so that they never count.
    `backoff` is remembered once a status was written.
    """

    delete: tuple[Pod, ...] = ()
    release_first: bool = False
    create: tuple[PodToCreate, ...] = ()
    events: tuple[JobEvent, ...] = ()
    interim: JobStatus
    release: tuple[Pod, ...] = ()
    final: JobStatus
    finish_events: tuple[JobEvent, ...] = ()
    backoff: BackoffRecord = field(factory=BackoffRecord)
    sync_at: datetime | None = None
    retry_at: datetime | None = None


@frozen(kw_only=True)
class _Counts:
    """What the status will say of running pods."""

    active: int
    ready: int
    terminating: int


def is_managed_elsewhere(job: Job) -> bool:
    """Tell whether another controller answers for the Job (KEP-4368, controllerName)."""
    return job.spec.managed_by not in (None, words.JOB_CONTROLLER_NAME)


def is_left_alone(job: Job) -> bool:
    """Tell whether a Job is not synced: it is over, or somebody else's (syncJob)."""
    return is_managed_elsewhere(job) or is_job_finished(job)


def sync_job(job: Job, pods: tuple[Pod, ...], now: datetime, record: BackoffRecord) -> SyncPlan:
    """Plan one sync from a Job that is not left alone, all its pods, and its back-off so far.

    Source: pkg/controller/job syncJob.
    """
    if job.spec.completion_mode not in _COMPLETION_MODES:
        event = JobEvent(
            type=words.WARNING,
            reason=words.UNKNOWN_COMPLETION_MODE,
            message=words.UNKNOWN_COMPLETION_MODE_MESSAGE,
        )
        return SyncPlan(events=(event,), interim=job.status, final=job.status)
    if job.status.start_time is None and not is_suspended(job):
        job = evolve(job, status=evolve(job.status, start_time=now.replace(microsecond=0)))
    snapshot = take_snapshot(job, pods, now)
    record = new_backoff_record(
        record,
        map(get_finished_time, snapshot.newly_succeeded),
        map(get_finished_time, snapshot.newly_failed),
    )
    finished = finish_condition(snapshot)
    if finished is not None:
        return _plan_end(snapshot, finished, record)
    return _plan_life(snapshot, record)


def _plan_end(snapshot: JobSnapshot, finished: JobCondition, record: BackoffRecord) -> SyncPlan:
    """Delete what is active and count everything (syncJob, deleteActivePods)."""
    counts = _counts(snapshot, active=0, deleted=snapshot.active)
    status = _with_counts(snapshot.job.status, counts)
    return _finishing_plan(
        snapshot, status, finished, SyncPlan(delete=snapshot.active, interim=status, final=status, backoff=record)
    )


def _plan_life(snapshot: JobSnapshot, record: BackoffRecord) -> SyncPlan:
    """Keep the wanted number of pods, or find the Job complete (syncJob)."""
    job = snapshot.job
    is_managed = job.metadata.deletion_timestamp is None
    managed = manage_job(snapshot, record) if is_managed else ManagedPods(active=len(snapshot.active))
    counts = _counts(snapshot, active=managed.active, deleted=managed.delete)
    status = _with_counts(job.status, counts)
    events: tuple[JobEvent, ...] = ()
    finished = completions_reached(snapshot, managed.active)
    if finished is None and is_managed:
        status, events = _suspended_or_resumed(snapshot, status)
    plan = SyncPlan(
        delete=managed.delete,
        release_first=True,
        create=managed.create,
        events=events,
        interim=status,
        final=status,
        backoff=record,
        sync_at=active_deadline_at(job),
        retry_at=managed.retry_at,
    )
    return _finishing_plan(snapshot, status, finished, plan)


def _counts(snapshot: JobSnapshot, *, active: int, deleted: tuple[Pod, ...]) -> _Counts:
    """Count pods as they will be once `deleted` are deleted (syncJob)."""
    return _Counts(
        active=active,
        ready=sum(map(is_ready, snapshot.active)) - sum(map(is_ready, deleted)),
        terminating=sum(map(is_terminating, snapshot.pods)) + len(deleted),
    )


def _with_counts(status: JobStatus, counts: _Counts) -> JobStatus:
    """Return the status with the counts; 0 active pods are left out, as the API does (syncJob)."""
    return evolve(status, active=counts.active or None, ready=counts.ready, terminating=counts.terminating)


def _suspended_or_resumed(snapshot: JobSnapshot, status: JobStatus) -> tuple[JobStatus, tuple[JobEvent, ...]]:
    """Set the Suspended condition; a suspended Job has no start time, a resumed one a new one (syncJob)."""
    if is_suspended(snapshot.job):
        condition = new_condition(words.SUSPENDED, words.JOB_SUSPENDED, words.JOB_SUSPENDED_MESSAGE, snapshot.now)
        event = JobEvent(type=words.NORMAL, reason=words.SUSPENDED_EVENT, message=words.JOB_SUSPENDED_MESSAGE)
        started_at = None
    else:
        condition = new_condition(
            words.SUSPENDED, words.JOB_RESUMED, words.JOB_RESUMED_MESSAGE, snapshot.now, status="False"
        )
        event = JobEvent(type=words.NORMAL, reason=words.RESUMED_EVENT, message=words.JOB_RESUMED_MESSAGE)
        started_at = snapshot.now.replace(microsecond=0)
    conditions = ensure_condition(status.conditions, condition)
    if conditions == status.conditions:
        return status, ()
    return evolve(status, conditions=conditions, start_time=started_at), (event,)


def _finishing_plan(
    snapshot: JobSnapshot, status: JobStatus, finished: JobCondition | None, plan: SyncPlan
) -> SyncPlan:
    """Count the pods, and end the Job once nothing is left to wait for (trackJobStatusAndRemoveFinalizers)."""
    if finished is not None and find_condition(status.conditions, finished.type) is None:
        status = evolve(status, conditions=(*status.conditions, finished))
    tracked = track_pods(snapshot, status, finished)
    plan = evolve(plan, interim=tracked.interim, release=tracked.release, final=tracked.counted)
    if finished is None or not tracked.is_complete or not _can_finish(tracked):
        return plan
    final, events = _ended(snapshot, tracked.counted, finished)
    return evolve(plan, final=final, finish_events=events, sync_at=None)


def _can_finish(tracked: Tracked) -> bool:
    """Tell whether every pod is counted and gone, as a terminal condition demands (enactJobFinished)."""
    uncounted = tracked.counted.uncounted_terminated_pods
    return not tracked.counted.terminating and not (uncounted and (uncounted.succeeded or uncounted.failed))


def _ended(snapshot: JobSnapshot, status: JobStatus, finished: JobCondition) -> tuple[JobStatus, tuple[JobEvent, ...]]:
    """Return the last status and its events (enactJobFinished, recordJobFinishedEvent)."""
    reason, message = finished.reason or "", finished.message or ""
    if finished.type == words.FAILURE_TARGET:
        condition = new_condition(words.FAILED, reason, message, snapshot.now)
        event = JobEvent(type=words.WARNING, reason=reason, message=message)
        return evolve(status, conditions=ensure_condition(status.conditions, condition)), (event,)
    condition = new_condition(words.COMPLETE, reason, message, snapshot.now)
    ended = evolve(
        status,
        conditions=ensure_condition(status.conditions, condition),
        completion_time=condition.last_transition_time,
    )
    completed = JobEvent(type=words.NORMAL, reason=words.COMPLETED, message=words.COMPLETED_MESSAGE)
    wanted = snapshot.job.spec.completions
    if wanted is not None and (status.succeeded or 0) > wanted:
        too_many = JobEvent(
            type=words.WARNING,
            reason=words.TOO_MANY_SUCCEEDED_PODS,
            message=words.TOO_MANY_SUCCEEDED_PODS_MESSAGE,
        )
        return ended, (too_many, completed)
    return ended, (completed,)


def refuses_status(old: JobStatus, new: JobStatus) -> bool:
    """Tell whether the API server refuses a status: more ready than active pods, when `ready` changes.

    Source: batch validation RejectMoreReadyThanActivePods. It happens while a creation is delayed and another pod runs.
    """
    return new.ready != old.ready and (new.ready or 0) > (new.active or 0)
