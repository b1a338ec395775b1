"""How long a Job waits before it replaces a failed pod.

A value is remembered per Job: the failures since the last success and the time of the latest. It lives in the
controller's memory only, so a restarted controller begins anew.
"""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from attrs import frozen

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime

    from kubelet_emu.api.v1 import Pod

POD_FAILURE_BACKOFF_SECONDS = 10.0
MAX_POD_FAILURE_BACKOFF_SECONDS = 600.0


@frozen(kw_only=True)
class BackoffRecord:
    """Failures since the last success, and when the latest of them finished."""

    failures_after_last_success: int = 0
    last_failure_at: datetime | None = None


def new_backoff_record(
    record: BackoffRecord, succeeded_at: Iterable[datetime], failed_at: Iterable[datetime]
) -> BackoffRecord:
    """Return the record after pods were newly seen to have finished at these times; a tie counts as success.

    Source: pkg/controller/job backoffStore.newBackoffRecord.
    """
    successes, failures = sorted(succeeded_at), sorted(failed_at)
    if not successes:
        if not failures:
            return record
        return BackoffRecord(
            failures_after_last_success=record.failures_after_last_success + len(failures),
            last_failure_at=failures[-1],
        )
    later = [at for at in failures if at > successes[-1]]
    return BackoffRecord(failures_after_last_success=len(later), last_failure_at=later[-1] if later else None)


def backoff_until(
    failures: int,
    last_failure_at: datetime | None,
    base_seconds: float = POD_FAILURE_BACKOFF_SECONDS,
    max_seconds: float = MAX_POD_FAILURE_BACKOFF_SECONDS,
) -> datetime | None:
    """Return when the next pod may be created, None when nothing holds it back.

    Source: pkg/controller/job getRemainingTimeForFailuresCount: base x 2^(failures-1), capped.
    """
    if failures == 0 or last_failure_at is None:
        return None
    seconds = base_seconds
    for _ in range(failures - 1):
        seconds *= 2
        if seconds >= max_seconds:
            break
    return last_failure_at + timedelta(seconds=min(seconds, max_seconds))


def get_finished_time(pod: Pod) -> datetime:
    """Return when a pod finished, as a delay counts it.

    Source: pkg/controller/job getFinishedTime: the last end of its containers and sidecars once all of them ended, else
    since when it is not ready, else when it was deleted, else its creation.
    """
    ended_at = _finish_time_from_containers(pod)
    if ended_at is not None:
        return ended_at
    for condition in pod.status.conditions:
        if condition.type == "Ready" and condition.status == "False" and condition.last_transition_time is not None:
            return condition.last_transition_time
    if pod.metadata.deletion_timestamp is not None:
        grace = timedelta(seconds=pod.metadata.deletion_grace_period_seconds or 0)
        return pod.metadata.deletion_timestamp - grace
    if pod.metadata.creation_timestamp is None:
        raise ValueError(f"pod {pod.metadata.name!r} was never created")
    return pod.metadata.creation_timestamp


def _finish_time_from_containers(pod: Pod) -> datetime | None:
    """Return the last end of regular containers and sidecars, None while one runs (getFinishTimeFromContainers)."""
    sidecars = {container.name for container in pod.spec.init_containers if container.restart_policy == "Always"}
    statuses = (
        *pod.status.container_statuses,
        *(status for status in pod.status.init_container_statuses if status.name in sidecars),
    )
    ends = [status.state.terminated.finished_at if status.state.terminated else None for status in statuses]
    known = [at for at in ends if at is not None]
    if not known or len(known) < len(ends):
        return None
    return max(known)
