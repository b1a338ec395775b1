"""Graceful node shutdown: groups of pods by priority, and the grace each group gets (KEP-2000, KEP-2712)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from attrs import frozen

from kubelet_emu.api import reasons, reasons_node
from kubelet_emu.rules.disruption import SYSTEM_CRITICAL_PRIORITY, KillStatus

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from kubelet_emu.api.v1 import Pod

DEFAULT_PRIORITY = 0

NODE_SHUTDOWN_STATUS = KillStatus(
    reason=reasons.TERMINATED_BY_SHUTDOWN,
    message=reasons_node.SHUTDOWN_MESSAGE,
    disruption_message=reasons_node.SHUTDOWN_MESSAGE,
    keeps_succeeded=True,
)
"""What a node shutdown writes into a pod's status (kubelet v1.36 nodeshutdown podManager.killPods)."""


@frozen
class ShutdownGroup:
    """Pods from this priority up to the next group's, and the seconds they have to end."""

    priority: int
    seconds: int


def shutdown_groups(
    grace_period: int, grace_period_critical_pods: int, by_pod_priority: Sequence[ShutdownGroup] = ()
) -> tuple[ShutdownGroup, ...]:
    """Return the groups of a configuration, lowest priority first; none means that graceful shutdown is off.

    The list by priority wins when it isn't empty; more time for critical pods than in all switches it off.
    Source: KEP-2712, kubelet v1.36 nodeshutdown migrateConfig.
    """
    if by_pod_priority:
        return tuple(sorted(by_pod_priority, key=lambda group: group.priority))
    if grace_period <= 0 or not 0 <= grace_period_critical_pods <= grace_period:
        return ()
    return (
        ShutdownGroup(DEFAULT_PRIORITY, grace_period - grace_period_critical_pods),
        ShutdownGroup(SYSTEM_CRITICAL_PRIORITY, grace_period_critical_pods),
    )


def group_of(groups: Sequence[ShutdownGroup], priority: int | None) -> ShutdownGroup:
    """Return the group of a pod: the highest one not above its priority, else the lowest.

    `groups` are sorted and not empty. Source: kubelet v1.36 nodeshutdown groupByPriority.
    """
    wanted = DEFAULT_PRIORITY if priority is None else priority
    fitting = [group for group in groups if group.priority <= wanted]
    return fitting[-1] if fitting else groups[0]


def pods_by_group(
    groups: Sequence[ShutdownGroup], pods: Iterable[Pod]
) -> tuple[tuple[ShutdownGroup, tuple[Pod, ...]], ...]:
    """Return the groups in the order of their end, each with its pods; groups without pods are left out.

    Source: kubelet v1.36 nodeshutdown killPods, which loses no time on an empty group.
    """
    everyone = [(group_of(groups, pod.spec.priority), pod) for pod in pods] if groups else []
    grouped = ((group, tuple(pod for owner, pod in everyone if owner == group)) for group in groups)
    return tuple((group, members) for group, members in grouped if members)


def shutdown_grace_override(group_seconds: int, spec_grace: int | None) -> int:
    """Return the override for one pod: the group's time, or the pod's own grace when that is shorter.

    Source: kubelet v1.36 nodeshutdown killPods.
    """
    return group_seconds if spec_grace is None else min(group_seconds, spec_grace)
