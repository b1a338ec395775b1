"""Ports, resources, mounts and restart rules of containers (core/v1); loaded when a container has any.

Field names are the API's in snake case; `kubelet_emu.api.kinds` has the way back.
An absent field is None, an empty tuple or an empty mapping.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from attrs import field, frozen

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kubelet_emu.api.quantity import Quantity


@frozen(kw_only=True)
class ContainerPort:
    """`ContainerPort` of core.v1."""

    name: str | None = None
    container_port: int = 0
    host_ip: str | None = None
    host_port: int | None = None
    protocol: str | None = None


@frozen(kw_only=True)
class ContainerResizePolicy:
    """`ContainerResizePolicy` of core.v1."""

    resource_name: str = ""
    restart_policy: str = ""


@frozen(kw_only=True)
class ContainerRestartRule:
    """`ContainerRestartRule` of core.v1."""

    action: str = ""
    exit_codes: ContainerRestartRuleOnExitCodes | None = None


@frozen(kw_only=True)
class ContainerRestartRuleOnExitCodes:
    """`ContainerRestartRuleOnExitCodes` of core.v1."""

    operator: str = ""
    values: tuple[int, ...] = ()


@frozen(kw_only=True)
class ResourceClaim:
    """`ResourceClaim` of core.v1."""

    name: str = ""
    request: str | None = None


@frozen(kw_only=True)
class ResourceRequirements:
    """`ResourceRequirements` of core.v1."""

    claims: tuple[ResourceClaim, ...] = ()
    limits: Mapping[str, Quantity] = field(factory=dict)
    requests: Mapping[str, Quantity] = field(factory=dict)


@frozen(kw_only=True)
class VolumeDevice:
    """`VolumeDevice` of core.v1."""

    name: str = ""
    device_path: str = ""


@frozen(kw_only=True)
class VolumeMount:
    """`VolumeMount` of core.v1."""

    name: str = ""
    mount_path: str = ""
    mount_propagation: str | None = None
    read_only: bool | None = None
    recursive_read_only: str | None = None
    sub_path: str | None = None
    sub_path_expr: str | None = None
