"""How many pods a ReplicaSet keeps, and which go first when there are too many."""

from __future__ import annotations

import math
from functools import cmp_to_key
from typing import TYPE_CHECKING

from kubelet_emu.jobs.rules.pods import PHASE_ORDER, is_active, is_ready, max_restarts
from kubelet_emu.workloads.rules.plan import MAX_POD_CREATE_DELETE_PER_SYNC, NOTHING, Plan
from kubelet_emu.workloads.rules.templates import pod_from_template
from kubelet_emu.workloads.rules.words import POD_DELETION_COST

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from datetime import datetime

    from kubelet_emu.api.apps_v1 import ReplicaSet
    from kubelet_emu.api.v1 import Pod


def manage_replicas(replica_set: ReplicaSet, pods: Iterable[Pod], now: datetime) -> Plan:
    """Plan what brings a ReplicaSet to its number of pods; ended and terminating pods count no more.

    Source: kubernetes v1.36 pkg/controller/replicaset manageReplicas.
    """
    active = [pod for pod in pods if is_active(pod)]
    missing = wanted_replicas(replica_set.spec.replicas) - len(active)
    if missing > 0:
        number = min(missing, MAX_POD_CREATE_DELETE_PER_SYNC)
        return Plan(create=(pod_from_template(replica_set, replica_set.spec.template),) * number)
    if missing < 0:
        number = min(-missing, MAX_POD_CREATE_DELETE_PER_SYNC)
        return Plan(delete=tuple(by_value(active, now)[:number]))
    return NOTHING


def wanted_replicas(replicas: int | None) -> int:
    """Return spec.replicas with its default."""
    return 1 if replicas is None else replicas


def by_value(pods: Iterable[Pod], now: datetime) -> list[Pod]:
    """Return pods with the least valuable first. Source: controller.ActivePodsWithRanks, on a single node.

    Unassigned, pending, not ready, of a lower deletion cost, ready for less time (by orders of magnitude), restarted
    more often, younger.
    """

    def compare(one: Pod, other: Pod) -> int:
        """Return whether one goes before another."""
        if (found := _compare(_worth(one), _worth(other))) != 0:
            return found
        if is_ready(one) and is_ready(other) and (found := _compare_ages(one, other, _ready_at, now)) != 0:
            return found
        if (found := _compare(max_restarts(other), max_restarts(one))) != 0:
            return found
        return _compare_ages(one, other, _created_at, now)

    return sorted(pods, key=cmp_to_key(compare))


def _worth(pod: Pod) -> tuple[bool, int, bool, int]:
    """Return what orders pods before their times do."""
    return (
        bool(pod.spec.node_name),
        PHASE_ORDER.get(pod.status.phase or "", 0),
        is_ready(pod),
        deletion_cost(pod),
    )


def deletion_cost(pod: Pod) -> int:
    """Return the cost that an annotation gives a pod, 0 without a usable one (GetDeletionCostFromPodAnnotations)."""
    try:
        return int(pod.metadata.annotations.get(POD_DELETION_COST, "0"))
    except ValueError:
        return 0


def _compare(one: tuple[int, ...], other: tuple[int, ...]) -> int:
    return (one > other) - (one < other)


def _compare_ages(one: Pod, other: Pod, time_of: Callable[[Pod], datetime | None], now: datetime) -> int:
    """Compare two pods by a time: by its order of magnitude the younger first, else by uid (LogarithmicScaleDown)."""
    first, second = time_of(one), time_of(other)
    if first == second:
        return 0
    if first is None or second is None:
        return -1 if first is None else 1
    ranks = _magnitude(now, first) - _magnitude(now, second)
    if ranks != 0:
        return -1 if ranks < 0 else 1
    return -1 if (one.metadata.uid or "") < (other.metadata.uid or "") else 1


def _magnitude(now: datetime, at: datetime) -> int:
    """Return the order of magnitude of an age (logarithmicRankDiff)."""
    nanoseconds = (now - at).total_seconds() * 1e9
    return -1 if nanoseconds <= 0 else int(math.log2(nanoseconds))


def _ready_at(pod: Pod) -> datetime | None:
    """Return since when a pod is ready (podReadyTime)."""
    return next((c.last_transition_time for c in pod.status.conditions if c.type == "Ready"), None)


def _created_at(pod: Pod) -> datetime | None:
    return pod.metadata.creation_timestamp
