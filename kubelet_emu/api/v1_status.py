"""Pod and container status (core/v1).

Field names are the API's in snake case; `kubelet_emu.api.kinds` has the way back.
An absent field is None, an empty tuple or an empty mapping.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from attrs import field, frozen

from kubelet_emu.api.v1_pod_status import PodStatus as PodStatus  # noqa: PLC0414 - one of the types of this module

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from kubelet_emu.api.quantity import Quantity
    from kubelet_emu.api.v1_claims import PersistentVolumeClaimCondition
    from kubelet_emu.api.v1_containers import ResourceRequirements


@frozen(kw_only=True)
class ContainerExtendedResourceRequest:
    """`ContainerExtendedResourceRequest` of core.v1."""

    container_name: str = ""
    request_name: str = ""
    resource_name: str = ""


@frozen(kw_only=True)
class ContainerState:
    """`ContainerState` of core.v1."""

    running: ContainerStateRunning | None = None
    terminated: ContainerStateTerminated | None = None
    waiting: ContainerStateWaiting | None = None


@frozen(kw_only=True)
class ContainerStateRunning:
    """`ContainerStateRunning` of core.v1."""

    started_at: datetime | None = None


@frozen(kw_only=True)
class ContainerStateTerminated:
    """`ContainerStateTerminated` of core.v1."""

    container_id: str | None = None
    exit_code: int = 0
    finished_at: datetime | None = None
    message: str | None = None
    reason: str | None = None
    signal: int | None = None
    started_at: datetime | None = None


@frozen(kw_only=True)
class ContainerStateWaiting:
    """`ContainerStateWaiting` of core.v1."""

    message: str | None = None
    reason: str | None = None


@frozen(kw_only=True)
class ContainerStatus:
    """`ContainerStatus` of core.v1."""

    name: str = ""
    allocated_resources: Mapping[str, Quantity] = field(factory=dict)
    allocated_resources_status: tuple[ResourceStatus, ...] = ()
    container_id: str | None = None
    image: str = ""
    image_id: str = ""
    last_state: ContainerState = field(factory=ContainerState)
    ready: bool = False
    resources: ResourceRequirements | None = None
    restart_count: int = 0
    started: bool | None = None
    state: ContainerState = field(factory=ContainerState)
    stop_signal: str | None = None
    user: ContainerUser | None = None
    volume_mounts: tuple[VolumeMountStatus, ...] = ()


@frozen(kw_only=True)
class ContainerUser:
    """`ContainerUser` of core.v1."""

    linux: LinuxContainerUser | None = None


@frozen(kw_only=True)
class HostIP:
    """`HostIP` of core.v1."""

    ip: str = ""


@frozen(kw_only=True)
class ImageVolumeStatus:
    """`ImageVolumeStatus` of core.v1."""

    image_ref: str = ""


@frozen(kw_only=True)
class LinuxContainerUser:
    """`LinuxContainerUser` of core.v1."""

    gid: int = 0
    supplemental_groups: tuple[int, ...] = ()
    uid: int = 0


@frozen(kw_only=True)
class ModifyVolumeStatus:
    """`ModifyVolumeStatus` of core.v1."""

    status: str = ""
    target_volume_attributes_class_name: str | None = None


@frozen(kw_only=True)
class NodeAllocatableResourceClaimStatus:
    """`NodeAllocatableResourceClaimStatus` of core.v1."""

    containers: tuple[str, ...] = ()
    resource_claim_name: str = ""
    resources: Mapping[str, Quantity] = field(factory=dict)


@frozen(kw_only=True)
class PersistentVolumeClaimStatus:
    """`PersistentVolumeClaimStatus` of core.v1."""

    access_modes: tuple[str, ...] = ()
    allocated_resource_statuses: Mapping[str, str] = field(factory=dict)
    allocated_resources: Mapping[str, Quantity] = field(factory=dict)
    capacity: Mapping[str, Quantity] = field(factory=dict)
    conditions: tuple[PersistentVolumeClaimCondition, ...] = ()
    current_volume_attributes_class_name: str | None = None
    modify_volume_status: ModifyVolumeStatus | None = None
    phase: str | None = None


@frozen(kw_only=True)
class PodCondition:
    """`PodCondition` of core.v1."""

    last_probe_time: datetime | None = None
    last_transition_time: datetime | None = None
    message: str | None = None
    observed_generation: int | None = None
    reason: str | None = None
    status: str = ""
    type: str = ""


@frozen(kw_only=True)
class PodExtendedResourceClaimStatus:
    """`PodExtendedResourceClaimStatus` of core.v1."""

    request_mappings: tuple[ContainerExtendedResourceRequest, ...] = ()
    resource_claim_name: str = ""


@frozen(kw_only=True)
class PodIP:
    """`PodIP` of core.v1."""

    ip: str = ""


@frozen(kw_only=True)
class PodResourceClaimStatus:
    """`PodResourceClaimStatus` of core.v1."""

    name: str = ""
    resource_claim_name: str | None = None


@frozen(kw_only=True)
class ResourceHealth:
    """`ResourceHealth` of core.v1."""

    health: str | None = None
    message: str | None = None
    resource_id: str = ""


@frozen(kw_only=True)
class ResourceStatus:
    """`ResourceStatus` of core.v1."""

    name: str = ""
    resources: tuple[ResourceHealth, ...] = ()


@frozen(kw_only=True)
class VolumeMountStatus:
    """`VolumeMountStatus` of core.v1."""

    name: str = ""
    mount_path: str = ""
    read_only: bool | None = None
    recursive_read_only: str | None = None
    volume_status: VolumeStatus | None = None


@frozen(kw_only=True)
class VolumeStatus:
    """`VolumeStatus` of core.v1."""

    image: ImageVolumeStatus | None = None
