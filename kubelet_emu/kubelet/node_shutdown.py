"""Graceful node shutdown: the node's pods end by priority, and no new ones are taken (KEP-2000, KEP-2712).

Owns whether the node is shutting down. The end of each pod is its worker's; this waits for it no longer than the pods'
group has.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import trio
from attrs import define, field

from kubelet_emu.api import reasons, reasons_node
from kubelet_emu.journal.records import ObjectRef
from kubelet_emu.rules.disruption import Termination
from kubelet_emu.rules.node_shutdown import (
    NODE_SHUTDOWN_STATUS,
    ShutdownGroup,
    pods_by_group,
    shutdown_grace_override,
    shutdown_groups,
)

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from kubelet_emu.api.v1 import Pod
    from kubelet_emu.config.kubelet_configuration import KubeletConfiguration
    from kubelet_emu.kubelet.node_kills import NodeKills


@define(eq=False, kw_only=True)
class NodeShutdown:
    """The shutdown manager of one kubelet.

    `active_pods` are those that may still run, `kills` ends them, `ended` waits for workers.
    """

    groups: tuple[ShutdownGroup, ...]
    active_pods: Callable[[], tuple[Pod, ...]]
    kills: NodeKills
    node_name: str
    ended: Callable[[tuple[str, ...]], Awaitable[None]]
    nursery: trio.Nursery
    is_shutting_down: bool = field(default=False, init=False)

    def begin(self) -> None:
        """Refuse new pods and end those there are; nothing when the configuration has no grace period."""
        if self.groups and not self.is_shutting_down:
            self.is_shutting_down = True
            self._tell(reasons_node.SHUTDOWN_DETECTED)
            self.nursery.start_soon(self._end_pods)

    def cancel(self) -> None:
        """Take new pods again; what is being ended still ends (kubelet v1.36 nodeshutdown start)."""
        if self.is_shutting_down:
            self._tell(reasons_node.SHUTDOWN_CANCELLED)
        self.is_shutting_down = False

    def _tell(self, message: str) -> None:
        """Record an event of the node itself, whose name is its uid there."""
        node = ObjectRef(kind="Node", namespace="", name=self.node_name, uid=self.node_name)
        self.kills.recorder.record(node, reasons.NORMAL, reasons_node.SHUTDOWN, message)

    async def _end_pods(self) -> None:
        """End one group after another, the lowest priority first (kubelet v1.36 nodeshutdown killPods)."""
        for group, pods in pods_by_group(self.groups, self.active_pods()):
            uids = tuple(pod.metadata.uid or "" for pod in pods)
            for pod in pods:
                grace = shutdown_grace_override(group.seconds, pod.spec.termination_grace_period_seconds)
                end = Termination(why="shutdown", override_seconds=grace, status=NODE_SHUTDOWN_STATUS)
                self.kills.terminate(pod.metadata.uid or "", end)
                self.nursery.start_soon(self.kills.wait, pod, end)
            with trio.move_on_after(group.seconds):
                await self.ended(uids)


def configured_groups(configuration: KubeletConfiguration) -> tuple[ShutdownGroup, ...]:
    """Return the groups of a configuration, none when graceful shutdown is off."""
    return shutdown_groups(
        math.floor(configuration.shutdown_grace_period_seconds),
        math.floor(configuration.shutdown_grace_period_critical_pods_seconds),
        tuple(
            ShutdownGroup(each.priority, each.shutdown_grace_period_seconds)
            for each in configuration.shutdown_grace_period_by_pod_priority
        ),
    )
