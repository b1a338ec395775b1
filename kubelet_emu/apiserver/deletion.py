"""What a delete request does to an object: values in, values out.

Theory of operation. A pod is deleted in two steps: a request sets deletionTimestamp and deletionGracePeriodSeconds,
and the kubelet, once the containers are gone, deletes with grace 0, which removes the object. A later request may only
shorten. Other kinds know no grace. An object with finalizers stays until they are gone.
"""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from attrs import frozen

from kubelet_emu.apiserver.objects import whole_seconds

if TYPE_CHECKING:
    from datetime import datetime

    from kubelet_emu.api.meta import ObjectMeta
    from kubelet_emu.api.v1 import Pod

_TERMINAL_PHASES = ("Succeeded", "Failed")


@frozen(kw_only=True)
class DeletionOutcome:
    """Metadata after a delete request. `removed`: the object leaves the store at once; `changed`: it is written first.

    `generation_bumped` is true for the request that started the deletion of an object that has a generation.
    """

    deletion_timestamp: datetime | None
    deletion_grace_period_seconds: int | None
    removed: bool = False
    changed: bool = False
    generation_bumped: bool = False


def effective_grace_period_seconds(pod: Pod, grace_period_seconds: int | None) -> int:
    """Return the grace that a first delete request gives a pod.

    Source: podStrategy.CheckGracefulDelete. The spec's grace unless the request names one; 0 for a pod that never
    reached a node or is terminal; a negative one counts as 1.
    """
    if not pod.spec.node_name or pod.status.phase in _TERMINAL_PHASES:
        return 0
    grace = grace_period_seconds
    if grace is None:
        grace = pod.spec.termination_grace_period_seconds or 0
    return 1 if grace < 0 else grace


def delete_pod(pod: Pod, grace_period_seconds: int | None, now: datetime) -> DeletionOutcome:
    """Decide what a delete request does to a pod.

    Source: registry/rest BeforeDelete and generic Store.Delete.
    """
    if pod.metadata.deletion_timestamp is not None:
        return _delete_again(pod.metadata, pod.metadata.deletion_timestamp, grace_period_seconds, now)
    grace = effective_grace_period_seconds(pod, grace_period_seconds)
    return DeletionOutcome(
        deletion_timestamp=whole_seconds(now + timedelta(seconds=grace)),
        deletion_grace_period_seconds=grace,
        removed=grace == 0 and not pod.metadata.finalizers,
        changed=True,
        generation_bumped=True,
    )


def _delete_again(
    metadata: ObjectMeta, deletion_timestamp: datetime, grace_period_seconds: int | None, now: datetime
) -> DeletionOutcome:
    """Decide a later delete request: only a shorter grace changes something (BeforeDelete)."""
    current = metadata.deletion_grace_period_seconds or 0
    unchanged = DeletionOutcome(
        deletion_timestamp=deletion_timestamp,
        deletion_grace_period_seconds=current,
        removed=current == 0 and not metadata.finalizers,
    )
    if grace_period_seconds is None:
        return unchanged
    grace = 1 if grace_period_seconds < 0 else grace_period_seconds
    if grace >= current:
        return unchanged
    shortened = deletion_timestamp + timedelta(seconds=grace - current)
    now = whole_seconds(now)
    if shortened < now:
        shortened, grace = now, min(grace, 1)
    return DeletionOutcome(
        deletion_timestamp=shortened,
        deletion_grace_period_seconds=grace,
        removed=grace == 0 and not metadata.finalizers,
        changed=True,
    )


def delete_object(metadata: ObjectMeta, now: datetime) -> DeletionOutcome:
    """Decide a delete request for a kind that knows no grace.

    Source: generic Store.Delete. Without finalizers it is gone, with them it stays marked.
    """
    if not metadata.finalizers:
        return DeletionOutcome(
            deletion_timestamp=metadata.deletion_timestamp,
            deletion_grace_period_seconds=metadata.deletion_grace_period_seconds,
            removed=True,
        )
    if metadata.deletion_timestamp is not None:
        return DeletionOutcome(
            deletion_timestamp=metadata.deletion_timestamp,
            deletion_grace_period_seconds=metadata.deletion_grace_period_seconds,
        )
    return DeletionOutcome(
        deletion_timestamp=whole_seconds(now),
        deletion_grace_period_seconds=0,
        changed=True,
        generation_bumped=metadata.generation is not None,
    )


def is_removable(metadata: ObjectMeta) -> bool:
    """Tell whether an update lets a deleted object go (Store.deleteWithoutFinalizers, ShouldDeleteDuringUpdate)."""
    if metadata.deletion_timestamp is None or metadata.finalizers:
        return False
    return not metadata.deletion_grace_period_seconds


def kubectl_grace_period_seconds(
    grace_period_seconds: int | None = None, *, now: bool = False, force: bool = False
) -> int | None:
    """Return the grace that `kubectl delete` sends for its flags.

    Source: kubectl DeleteOptions.Complete. `--now` is 1; `--force` alone 0; 0 without `--force` is 1.
    """
    if now:
        return 1
    if force:
        return 0 if grace_period_seconds is None else grace_period_seconds
    if grace_period_seconds == 0:
        return 1
    return grace_period_seconds
