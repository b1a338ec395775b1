"""What is stored of a pod's state (core/v1).

Field names are the API's in snake case; `kubelet_emu.api.kinds` has the way back.
An absent field is None, an empty tuple or an empty mapping.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from attrs import field, frozen

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from kubelet_emu.api.quantity import Quantity
    from kubelet_emu.api.v1_containers import ResourceRequirements
    from kubelet_emu.api.v1_status import (
        ContainerStatus,
        HostIP,
        NodeAllocatableResourceClaimStatus,
        PodCondition,
        PodExtendedResourceClaimStatus,
        PodIP,
        PodResourceClaimStatus,
    )


@frozen(kw_only=True)
class PodStatus:
    """`PodStatus` of core.v1."""

    allocated_resources: Mapping[str, Quantity] = field(factory=dict)
    conditions: tuple[PodCondition, ...] = ()
    container_statuses: tuple[ContainerStatus, ...] = ()
    ephemeral_container_statuses: tuple[ContainerStatus, ...] = ()
    extended_resource_claim_status: PodExtendedResourceClaimStatus | None = None
    host_ip: str | None = None
    host_ips: tuple[HostIP, ...] = ()
    init_container_statuses: tuple[ContainerStatus, ...] = ()
    message: str | None = None
    node_allocatable_resource_claim_statuses: tuple[NodeAllocatableResourceClaimStatus, ...] = ()
    nominated_node_name: str | None = None
    observed_generation: int | None = None
    phase: str | None = None
    pod_ip: str | None = None
    pod_ips: tuple[PodIP, ...] = ()
    qos_class: str | None = None
    reason: str | None = None
    resize: str | None = None
    resource_claim_statuses: tuple[PodResourceClaimStatus, ...] = ()
    resources: ResourceRequirements | None = None
    start_time: datetime | None = None
