"""What one look at a workload comes to: pods to delete and to make, and what is told of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from attrs import frozen

if TYPE_CHECKING:
    from datetime import datetime

    from kubelet_emu.api.apps_v1 import ReplicaSet
    from kubelet_emu.api.v1 import Pod

MAX_POD_CREATE_DELETE_PER_SYNC = 500
BACKOFF_SECONDS = 1.0
MAX_BACKOFF_SECONDS = 900.0


@frozen(kw_only=True)
class WorkloadEvent:
    """An event of the workload."""

    type: str
    reason: str
    message: str


@frozen(kw_only=True)
class Plan:
    """What a controller does, in order: events, deletions, creations.

    `replica_set` is created, or replaces the one of its name. `look_at` is when to look again without another reason.
    `note` is for who waits for pods in vain: no controller says it.
    """

    events: tuple[WorkloadEvent, ...] = ()
    delete: tuple[Pod, ...] = ()
    create: tuple[Pod, ...] = ()
    replica_set: ReplicaSet | None = None
    look_at: datetime | None = None
    note: str = ""


NOTHING = Plan()


def backoff_seconds(failures: int) -> float:
    """Return how long the next failed pod stays: 1 s, twice as long each time, at most 15 min (failedPodsBackoff)."""
    return min(BACKOFF_SECONDS * 2.0 ** min(failures - 1, 20), MAX_BACKOFF_SECONDS)
