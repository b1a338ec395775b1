"""The node that the kubelet pretends to be."""

from __future__ import annotations

from typing import TYPE_CHECKING

from attrs import field, frozen

from kubelet_emu.api.quantity import Quantity
from kubelet_emu.rules.admission import NodeFacts
from kubelet_emu.rules.resources import NodeResources
from kubelet_emu.rules.security import SeccompOfNode

if TYPE_CHECKING:
    from collections.abc import Mapping


@frozen(kw_only=True)
class Node:
    """Name, addresses, labels and what the node has; cpu in milli-units, memory and storage in bytes.

    `reserved` is what of it pods can't have. What the last two say is asked of the runtime when the kubelet starts.
    """

    name: str
    host_ips: tuple[str, ...] = ()
    labels: Mapping[str, str] = field(factory=dict)
    milli_cpu: int = 0
    memory_bytes: int = 0
    ephemeral_storage_bytes: int = 0
    max_pods: int = 110
    pids_limit: int | None = None
    reserved: Mapping[str, int] = field(factory=dict)
    cfs_quota: bool = True
    allowed_unsafe_sysctls: tuple[str, ...] = ()
    seccomp: SeccompOfNode = field(factory=SeccompOfNode)
    has_app_armor: bool = False
    supports_supplemental_groups_policy: bool = True

    def allocatable(self) -> Mapping[str, Quantity]:
        """Return what pods may ask for, as the node's status has it."""
        return {
            "cpu": Quantity(f"{self._left('cpu', self.milli_cpu)}m"),
            "memory": Quantity(str(self._left("memory", self.memory_bytes))),
            "ephemeral-storage": Quantity(str(self._left("ephemeral-storage", self.ephemeral_storage_bytes))),
            "pods": Quantity(str(self.max_pods)),
        }

    def _left(self, name: str, capacity: int) -> int:
        return max(0, capacity - self.reserved.get(name, 0))

    def resources(self) -> NodeResources:
        """Return what cgroup values depend on."""
        return NodeResources(
            memory_bytes=self.memory_bytes,
            allocatable=self.allocatable(),
            cfs_quota=self.cfs_quota,
            pids_limit=self.pids_limit,
        )

    def facts(self) -> NodeFacts:
        """Return what admission looks at."""
        return NodeFacts(
            name=self.name,
            labels=self.labels,
            allocatable=self.allocatable(),
            allowed_unsafe_sysctls=self.allowed_unsafe_sysctls,
            has_app_armor=self.has_app_armor,
            supports_supplemental_groups_policy=self.supports_supplemental_groups_policy,
        )
