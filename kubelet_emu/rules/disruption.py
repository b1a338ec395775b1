"""Ends that the kubelet decides on by itself: active deadline, eviction, preemption; their status texts.

A `KillStatus` says what such an end writes into a pod's status; `apply_kill_status` writes it into a copy.
"""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from attrs import evolve, frozen

from kubelet_emu.api import reasons, reasons_node
from kubelet_emu.api.labels import CONFIG_MIRROR_ANNOTATION, CONFIG_SOURCE_ANNOTATION
from kubelet_emu.api.v1_status import PodCondition

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from kubelet_emu.api.v1 import Pod
    from kubelet_emu.api.v1_status import PodStatus

SYSTEM_CRITICAL_PRIORITY = 2_000_000_000
HARD_EVICTION_GRACE_PERIOD_SECONDS = 1


@frozen(kw_only=True)
class KillStatus:
    """What an end decided by the kubelet writes into the status: phase Failed, with reason and message.

    `disruption_message` set adds condition DisruptionTarget. `keeps_succeeded` leaves a pod Succeeded that is so.
    """

    reason: str
    message: str
    disruption_message: str | None = None
    keeps_succeeded: bool = False


@frozen(kw_only=True)
class Termination:
    """A request to end a pod. `override_seconds` is the grace of an eviction or shutdown.

    `is_orphan` says that nobody admitted it: it is stopped without a word of its status (SyncTerminatingRuntimePod).
    `removes_containers` that its dead containers go at once (ShouldPodContentBeRemoved). Source: kubelet v1.36
    KillPodOptions.
    """

    why: str
    override_seconds: int | None = None
    is_orphan: bool = False
    status: KillStatus | None = None
    removes_containers: bool = False

    def after(self, before: Termination | None) -> Termination:
        """Return this request with what an earlier one asked for; of two statuses the later one counts.

        Source: kubelet v1.36 pod_workers.go UpdatePod, acknowledgeTerminating.
        """
        if before is None:
            return self
        return evolve(
            self,
            is_orphan=self.is_orphan or before.is_orphan,
            status=self.status or before.status,
            removes_containers=self.removes_containers or before.removes_containers,
        )


@frozen(kw_only=True)
class ContainerUsage:
    """One container that used more of a resource than it asked for; the amounts are quantities as text."""

    container: str
    usage: str
    request: str


DEADLINE_EXCEEDED_STATUS = KillStatus(reason=reasons.DEADLINE_EXCEEDED, message=reasons.POD_DEADLINE_EXCEEDED)
"""Status of a pod past its active deadline (kubelet v1.36 activeDeadlineHandler)."""

PREEMPTED_STATUS = KillStatus(
    reason=reasons.PREEMPTING,
    message=reasons_node.PREEMPTED_MESSAGE,
    disruption_message=reasons_node.PREEMPTED_CONDITION_MESSAGE,
)
"""Status of a pod that made room for a critical one (kubelet v1.36 preemption evictPodsToFreeRequests)."""


def is_past_active_deadline(pod: Pod, start_time: datetime | None, now: datetime) -> bool:
    """Tell whether a pod has been active for too long; the clock starts with status.startTime.

    Source: kubelet v1.36 activeDeadlineHandler.pastActiveDeadline.
    """
    deadline = active_deadline(pod, start_time)
    return deadline is not None and now >= deadline


def active_deadline(pod: Pod, start_time: datetime | None) -> datetime | None:
    """Return when a pod's active deadline ends; None without one, and before the kubelet has seen the pod.

    Source: kubelet v1.36 activeDeadlineHandler.pastActiveDeadline.
    """
    if pod.spec.active_deadline_seconds is None or start_time is None:
        return None
    return start_time + timedelta(seconds=pod.spec.active_deadline_seconds)


def is_critical_pod(pod: Pod) -> bool:
    """Tell whether a pod is never evicted or preempted: static, mirror, or of system-critical priority.

    Source: kubelet v1.36 kubetypes.IsCriticalPod.
    """
    source = pod.metadata.annotations.get(CONFIG_SOURCE_ANNOTATION, "api")
    if source != "api" or CONFIG_MIRROR_ANNOTATION in pod.metadata.annotations:
        return True
    return pod.spec.priority is not None and pod.spec.priority >= SYSTEM_CRITICAL_PRIORITY


def pressure_eviction_status(
    resource: str, threshold: tuple[str, str] | None = None, over_request: Sequence[ContainerUsage] = ()
) -> KillStatus:
    """Return the status of a pod that a node under pressure evicts.

    `threshold` is (threshold quantity, available), both as text. Source: kubelet v1.36 evictionMessage.
    """
    message = reasons_node.node_low_on_resource(resource)
    if threshold is not None:
        message += reasons_node.eviction_threshold(*threshold)
    for used in over_request:
        message += reasons_node.eviction_container_usage(used.container, used.usage, used.request, resource)
    return KillStatus(reason=reasons.EVICTED, message=message, disruption_message=message)


def limit_eviction_status(message: str) -> KillStatus:
    """Return the status of a pod that outgrew its own storage limit; that is no disruption.

    `message` is one of the texts of `kubelet_emu.api.reasons`. Source: kubelet v1.36 localStorageEviction.
    """
    return KillStatus(reason=reasons.EVICTED, message=message)


def soft_eviction_override(max_pod_grace_period_seconds: int, spec_grace: int | None) -> int:
    """Return the grace override of a soft eviction.

    Source: kubelet v1.36 eviction manager (evictionMaxPodGracePeriod) and killPodNow.
    """
    return max_pod_grace_period_seconds if spec_grace is None else min(max_pod_grace_period_seconds, spec_grace)


def kill_wait_seconds(grace: int) -> float:
    """Return how long an eviction waits for its pod to end before it reports ExceededGracePeriod, in whole seconds.

    Source: kubelet v1.36 killPodNow.
    """
    return max(10.0, float(grace + grace // 2))


def apply_kill_status(status: PodStatus, kill: KillStatus, now: datetime) -> PodStatus:
    """Return a status with an end written into it.

    Source: kubelet v1.36 killPodNow's status functions; condition by UpdatePodCondition (KEP-3329).
    """
    phase = "Succeeded" if kill.keeps_succeeded and status.phase == "Succeeded" else "Failed"
    status = evolve(status, phase=phase, reason=kill.reason, message=kill.message)
    if kill.disruption_message is None:
        return status
    return evolve(status, conditions=_with_disruption_target(status.conditions, kill.disruption_message, now))


def _with_disruption_target(
    conditions: tuple[PodCondition, ...], message: str, now: datetime
) -> tuple[PodCondition, ...]:
    old = next((condition for condition in conditions if condition.type == reasons.DISRUPTION_TARGET), None)
    changed_at = old.last_transition_time if old is not None and old.status == "True" else now
    new = PodCondition(
        type=reasons.DISRUPTION_TARGET,
        status="True",
        reason=reasons.TERMINATION_BY_KUBELET,
        message=message,
        last_transition_time=changed_at,
    )
    if old is None:
        return (*conditions, new)
    return tuple(new if condition is old else condition for condition in conditions)
