"""A Job's conditions: finding, making and setting them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubelet_emu.api.batch_v1 import JobCondition
from kubelet_emu.jobs.rules.words import COMPLETE, FAILED

if TYPE_CHECKING:
    from datetime import datetime

    from kubelet_emu.api.batch_v1 import Job

Conditions = tuple[JobCondition, ...]


def find_condition(conditions: Conditions, condition_type: str) -> JobCondition | None:
    """Return the condition of a type (findConditionByType)."""
    return next((condition for condition in conditions if condition.type == condition_type), None)


def true_condition(conditions: Conditions, condition_type: str) -> JobCondition | None:
    """Return the condition of a type if it is True (hasSuccessCriteriaMetCondition)."""
    condition = find_condition(conditions, condition_type)
    return condition if condition is not None and condition.status == "True" else None


def is_job_finished(job: Job) -> bool:
    """Tell whether a Job is Complete or Failed (IsJobFinished)."""
    return finished_condition(job) is not None


def finished_condition(job: Job) -> JobCondition | None:
    """Return the terminal condition of a Job, if it has one (FinishedCondition)."""
    conditions = job.status.conditions
    return true_condition(conditions, COMPLETE) or true_condition(conditions, FAILED)


def new_condition(condition_type: str, reason: str, message: str, now: datetime, status: str = "True") -> JobCondition:
    """Make a condition; its times are cut to whole seconds, as the API keeps them (newCondition)."""
    at = now.replace(microsecond=0)
    return JobCondition(
        type=condition_type,
        status=status,
        reason=reason,
        message=message,
        last_probe_time=at,
        last_transition_time=at,
    )


def ensure_condition(conditions: Conditions, condition: JobCondition) -> Conditions:
    """Return the conditions with one set; an equal one stays, and False is never appended.

    Source: pkg/controller/job ensureJobConditionStatus.
    """
    old = find_condition(conditions, condition.type)
    if old is None:
        return conditions if condition.status == "False" else (*conditions, condition)
    if (old.status, old.reason, old.message) == (condition.status, condition.reason, condition.message):
        return conditions
    return tuple(condition if known is old else known for known in conditions)
