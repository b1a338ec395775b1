"""What a Job's controller sees in its pods: active, terminating, failed, finished, and which to remove first."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubelet_emu.jobs.rules.indexes import completion_index
from kubelet_emu.jobs.rules.words import TRACKING_FINALIZER

if TYPE_CHECKING:
    from collections.abc import Iterable

    from kubelet_emu.api.batch_v1 import Job
    from kubelet_emu.api.v1 import Pod

PHASE_ORDER = {"Pending": 0, "Unknown": 1, "Running": 2}


def only_replace_failed_pods(job: Job) -> bool:
    """Tell whether a terminating pod is waited for (onlyReplaceFailedPods, KEP-3939)."""
    return job.spec.pod_replacement_policy == "Failed" or job.spec.pod_failure_policy is not None


def is_terminal(pod: Pod) -> bool:
    """Tell whether a pod is over (podutil.IsPodTerminal)."""
    return pod.status.phase in ("Succeeded", "Failed")


def is_active(pod: Pod) -> bool:
    """Tell whether a pod counts as active (controller.IsPodActive)."""
    return not is_terminal(pod) and pod.metadata.deletion_timestamp is None


def is_terminating(pod: Pod) -> bool:
    """Tell whether a pod is being deleted and not over yet (controller.IsPodTerminating)."""
    return not is_terminal(pod) and pod.metadata.deletion_timestamp is not None


def is_ready(pod: Pod) -> bool:
    """Tell whether a pod is ready (podutil.IsPodReady)."""
    return any(have.type == "Ready" and have.status == "True" for have in pod.status.conditions)


def is_pod_failed(pod: Pod, job: Job) -> bool:
    """Tell whether a pod counts as failed: unless failed pods alone are replaced, a deleted one does at once.

    Source: pkg/controller/job isPodFailed.
    """
    if pod.status.phase == "Failed":
        return True
    if only_replace_failed_pods(job):
        return False
    return pod.metadata.deletion_timestamp is not None and pod.status.phase != "Succeeded"


def is_tracked(pod: Pod) -> bool:
    """Tell whether a pod still has to be counted (hasJobTrackingFinalizer)."""
    return TRACKING_FINALIZER in pod.metadata.finalizers


def restart_sum(pods: Iterable[Pod]) -> int:
    """Return the restarts of all init and regular containers of pods that run or wait (pastBackoffLimitOnFailure)."""
    return sum(
        status.restart_count
        for pod in pods
        if pod.status.phase in ("Running", "Pending")
        for status in (*pod.status.init_container_statuses, *pod.status.container_statuses)
    )


def active_pods_for_removal(job: Job, active: Iterable[Pod], at_least: int) -> tuple[Pod, ...]:
    """Return the active pods to delete: bad and doubled indexes in any case, then the least valuable ones.

    Source: pkg/controller/job activePodsForRemoval.
    """
    removed: list[Pod] = []
    left = list(active)
    if job.spec.completion_mode == "Indexed":
        removed, left = _split_duplicated_indexes(left, job.spec.completions or 0)
    missing = max(0, at_least - len(removed))
    return (*removed, *_by_value(left)[:missing])


def _split_duplicated_indexes(pods: list[Pod], completions: int) -> tuple[list[Pod], list[Pod]]:
    """Split into pods to remove and the most valuable pod of each valid index (appendDuplicatedIndexPodsForRemoval)."""
    removed: list[Pod] = []
    best: dict[int, Pod] = {}
    for pod in _by_value(pods):
        index = completion_index(pod)
        if index is None or index >= completions:
            removed.append(pod)
            continue
        if index in best:
            removed.append(best[index])
        best[index] = pod
    return removed, list(best.values())


def _by_value(pods: Iterable[Pod]) -> list[Pod]:
    """Return pods with the least valuable first (controller.ActivePods.Less).

    Unassigned, pending, not ready, ready for less time, restarted more often (its containers, then its sidecars),
    younger.
    """

    def value(pod: Pod) -> tuple[bool, int, bool, float, int, int, float]:
        """Return what orders a pod."""
        created = pod.metadata.creation_timestamp
        regular, sidecars = max_restarts(pod)
        return (
            bool(pod.spec.node_name),
            PHASE_ORDER.get(pod.status.phase or "", 0),
            is_ready(pod),
            -_ready_since(pod),
            -regular,
            -sidecars,
            -created.timestamp() if created else 0.0,
        )

    # Differs: which of equal pods comes first is left to chance there; here it is the one created later.
    ordered = list(pods)
    ordered.reverse()
    ordered.sort(key=value)
    return ordered


def max_restarts(pod: Pod) -> tuple[int, int]:
    """Return the most restarts of a regular container and of a sidecar (controller.maxContainerRestarts)."""
    sidecars = {container.name for container in pod.spec.init_containers if container.restart_policy == "Always"}
    statuses = pod.status.container_statuses
    regular = max((status.restart_count for status in statuses), default=0)
    theirs = (status.restart_count for status in pod.status.init_container_statuses if status.name in sidecars)
    return regular, max(theirs, default=0)


def _ready_since(pod: Pod) -> float:
    """Return since when a pod is ready in seconds, infinity when that is not known (controller podReadyTime)."""
    for condition in pod.status.conditions:
        if condition.type == "Ready" and condition.status == "True" and condition.last_transition_time is not None:
            return condition.last_transition_time.timestamp()
    return float("inf")
