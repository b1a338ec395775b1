"""Whether a Job ends now, and why: the first part of a sync. The order of the questions is the rule."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from kubelet_emu.jobs.rules import words
from kubelet_emu.jobs.rules.conditions import finished_condition, new_condition, true_condition
from kubelet_emu.jobs.rules.pod_failure_policy import match_pod_failure_policy
from kubelet_emu.jobs.rules.pods import is_pod_failed, restart_sum
from kubelet_emu.jobs.rules.snapshot import is_indexed, is_suspended
from kubelet_emu.jobs.rules.success_policy import match_success_policy

if TYPE_CHECKING:
    from datetime import datetime

    from kubelet_emu.api.batch_v1 import Job, JobCondition
    from kubelet_emu.jobs.rules.snapshot import JobSnapshot


def finish_condition(snapshot: JobSnapshot) -> JobCondition | None:
    """Return why the Job ends, as FailureTarget or SuccessCriteriaMet, or None.

    Source: pkg/controller/job syncJob. What was decided before stands; failures are asked before the success policy.
    """
    conditions = snapshot.job.status.conditions
    return (
        true_condition(conditions, words.SUCCESS_CRITERIA_MET)
        or true_condition(conditions, words.FAILURE_TARGET)
        or _fail_job_by_policy(snapshot)
        or _past_backoff_limit(snapshot)
        or _past_active_deadline(snapshot)
        or _failed_indexes(snapshot)
        or _success_by_policy(snapshot)
    )


def completions_reached(snapshot: JobSnapshot, active: int) -> JobCondition | None:
    """Return SuccessCriteriaMet once enough pods succeeded and none is active.

    Source: pkg/controller/job syncJob. A work-queue Job (no completions) is over after one success.
    """
    wanted = snapshot.job.spec.completions
    enough = snapshot.succeeded > 0 if wanted is None else snapshot.succeeded >= wanted
    if active or not enough:
        return None
    return new_condition(
        words.SUCCESS_CRITERIA_MET, words.COMPLETIONS_REACHED, words.COMPLETIONS_REACHED_MESSAGE, snapshot.now
    )


def active_deadline_at(job: Job) -> datetime | None:
    """Return when a Job has been active for too long, None when nothing counts (pastActiveDeadline)."""
    seconds, started_at = job.spec.active_deadline_seconds, job.status.start_time
    if seconds is None or started_at is None or is_suspended(job):
        return None
    return started_at + timedelta(seconds=seconds)


def ttl_expires_at(job: Job) -> datetime | None:
    """Return when a finished Job is deleted by itself, None without a TTL or before its end (ttlafterfinished)."""
    finished, seconds = finished_condition(job), job.spec.ttl_seconds_after_finished
    if finished is None or finished.last_transition_time is None or seconds is None:
        return None
    return finished.last_transition_time + timedelta(seconds=seconds)


def _failure(reason: str, message: str, now: datetime) -> JobCondition:
    """Make the interim condition of a failing Job (newFailureCondition)."""
    return new_condition(words.FAILURE_TARGET, reason, message, now)


def _fail_job_by_policy(snapshot: JobSnapshot) -> JobCondition | None:
    """Ask the pod failure policy about each failed pod (getFailJobMessage)."""
    job = snapshot.job
    for pod in snapshot.pods:
        if is_pod_failed(pod, job):
            message = match_pod_failure_policy(job.spec.pod_failure_policy, pod).fail_job_message
            if message is not None:
                return _failure(words.POD_FAILURE_POLICY, message, snapshot.now)
    return None


def _past_backoff_limit(snapshot: JobSnapshot) -> JobCondition | None:
    """Compare failed pods, or restarts of pods that restart in place, with backoffLimit (pastBackoffLimitOnFailure)."""
    spec = snapshot.job.spec
    limit = 6 if spec.backoff_limit is None else spec.backoff_limit
    exceeded = snapshot.failed > limit
    if spec.template.spec.restart_policy == "OnFailure":
        exceeded = exceeded or restart_sum(snapshot.pods) >= max(limit, 1)
    if not exceeded:
        return None
    return _failure(words.BACKOFF_LIMIT_EXCEEDED, words.BACKOFF_LIMIT_EXCEEDED_MESSAGE, snapshot.now)


def _past_active_deadline(snapshot: JobSnapshot) -> JobCondition | None:
    """Ask the clock (pastActiveDeadline)."""
    deadline = active_deadline_at(snapshot.job)
    if deadline is None or snapshot.now < deadline:
        return None
    return _failure(words.DEADLINE_EXCEEDED, words.DEADLINE_EXCEEDED_MESSAGE, snapshot.now)


def _failed_indexes(snapshot: JobSnapshot) -> JobCondition | None:
    """Count failed indexes: too many end the Job at once, any ends it when all indexes are done (syncJob, KEP-3850)."""
    failed, spec = snapshot.failed_indexes, snapshot.job.spec
    if not failed:
        return None
    if spec.max_failed_indexes is not None and len(failed) > spec.max_failed_indexes:
        return _failure(words.MAX_FAILED_INDEXES_EXCEEDED, words.MAX_FAILED_INDEXES_EXCEEDED_MESSAGE, snapshot.now)
    if len(failed) + len(snapshot.succeeded_indexes) >= (spec.completions or 0):
        return _failure(words.FAILED_INDEXES, words.FAILED_INDEXES_MESSAGE, snapshot.now)
    return None


def _success_by_policy(snapshot: JobSnapshot) -> JobCondition | None:
    """Ask the success policy (matchSuccessPolicy)."""
    spec = snapshot.job.spec
    if not is_indexed(snapshot.job):
        return None
    message = match_success_policy(spec.success_policy, spec.completions or 0, snapshot.succeeded_indexes)
    if message is None:
        return None
    return new_condition(words.SUCCESS_CRITERIA_MET, words.SUCCESS_POLICY, message, snapshot.now)
