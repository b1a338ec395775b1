"""Pod, its containers, ConfigMap and Secret (core/v1).

Field names are the API's in snake case; `kubelet_emu.api.kinds` has the way back.
An absent field is None, an empty tuple or an empty mapping.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from attrs import field, frozen

from kubelet_emu.api.meta import ObjectMeta
from kubelet_emu.api.v1_status import PodStatus

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kubelet_emu.api.quantity import Quantity
    from kubelet_emu.api.v1_environment import EnvFromSource, EnvVar
    from kubelet_emu.api.v1_handlers import Lifecycle, Probe
    from kubelet_emu.api.v1_scheduling import (
        Affinity,
        PodResourceClaim,
        PodSchedulingGate,
        PodSchedulingGroup,
        Toleration,
        TopologySpreadConstraint,
    )
    from kubelet_emu.api.v1_security import PodSecurityContext, SecurityContext
    from kubelet_emu.api.v1_volumes import Volume


@frozen(kw_only=True)
class ConfigMap:
    """`ConfigMap` of core.v1."""

    api_version: str = "v1"
    kind: str = "ConfigMap"
    metadata: ObjectMeta = field(factory=ObjectMeta)
    binary_data: Mapping[str, bytes] = field(factory=dict)
    data: Mapping[str, str] = field(factory=dict)
    immutable: bool | None = None


@frozen(kw_only=True)
class Container:
    """`Container` of core.v1."""

    name: str = ""
    args: tuple[str, ...] = ()
    command: tuple[str, ...] = ()
    env: tuple[EnvVar, ...] = ()
    env_from: tuple[EnvFromSource, ...] = ()
    image: str | None = None
    image_pull_policy: str | None = None
    lifecycle: Lifecycle | None = None
    liveness_probe: Probe | None = None
    ports: tuple[ContainerPort, ...] = ()
    readiness_probe: Probe | None = None
    resize_policy: tuple[ContainerResizePolicy, ...] = ()
    resources: ResourceRequirements | None = None
    restart_policy: str | None = None
    restart_policy_rules: tuple[ContainerRestartRule, ...] = ()
    security_context: SecurityContext | None = None
    startup_probe: Probe | None = None
    stdin: bool | None = None
    stdin_once: bool | None = None
    termination_message_path: str | None = None
    termination_message_policy: str | None = None
    tty: bool | None = None
    volume_devices: tuple[VolumeDevice, ...] = ()
    volume_mounts: tuple[VolumeMount, ...] = ()
    working_dir: str | None = None


@frozen(kw_only=True)
class ContainerExtendedResourceRequest:
    """`ContainerExtendedResourceRequest` of core.v1."""

    container_name: str = ""
    request_name: str = ""
    resource_name: str = ""


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
class EphemeralContainer:
    """`EphemeralContainer` of core.v1."""

    name: str = ""
    args: tuple[str, ...] = ()
    command: tuple[str, ...] = ()
    env: tuple[EnvVar, ...] = ()
    env_from: tuple[EnvFromSource, ...] = ()
    image: str | None = None
    image_pull_policy: str | None = None
    lifecycle: Lifecycle | None = None
    liveness_probe: Probe | None = None
    ports: tuple[ContainerPort, ...] = ()
    readiness_probe: Probe | None = None
    resize_policy: tuple[ContainerResizePolicy, ...] = ()
    resources: ResourceRequirements | None = None
    restart_policy: str | None = None
    restart_policy_rules: tuple[ContainerRestartRule, ...] = ()
    security_context: SecurityContext | None = None
    startup_probe: Probe | None = None
    stdin: bool | None = None
    stdin_once: bool | None = None
    target_container_name: str | None = None
    termination_message_path: str | None = None
    termination_message_policy: str | None = None
    tty: bool | None = None
    volume_devices: tuple[VolumeDevice, ...] = ()
    volume_mounts: tuple[VolumeMount, ...] = ()
    working_dir: str | None = None


@frozen(kw_only=True)
class HostAlias:
    """`HostAlias` of core.v1."""

    hostnames: tuple[str, ...] = ()
    ip: str = ""


@frozen(kw_only=True)
class LocalObjectReference:
    """`LocalObjectReference` of core.v1."""

    name: str | None = None


@frozen(kw_only=True)
class ObjectReference:
    """`ObjectReference` of core.v1."""

    api_version: str | None = None
    kind: str | None = None
    name: str | None = None
    field_path: str | None = None
    namespace: str | None = None
    resource_version: str | None = None
    uid: str | None = None


@frozen(kw_only=True)
class PodSpec:
    """`PodSpec` of core.v1."""

    active_deadline_seconds: int | None = None
    affinity: Affinity | None = None
    automount_service_account_token: bool | None = None
    containers: tuple[Container, ...] = ()
    dns_config: PodDNSConfig | None = None
    dns_policy: str | None = None
    enable_service_links: bool | None = None
    ephemeral_containers: tuple[EphemeralContainer, ...] = ()
    host_aliases: tuple[HostAlias, ...] = ()
    host_ipc: bool | None = None
    host_network: bool | None = None
    host_pid: bool | None = None
    host_users: bool | None = None
    hostname: str | None = None
    hostname_override: str | None = None
    image_pull_secrets: tuple[LocalObjectReference, ...] = ()
    init_containers: tuple[Container, ...] = ()
    node_name: str | None = None
    node_selector: Mapping[str, str] = field(factory=dict)
    os: PodOS | None = None
    overhead: Mapping[str, Quantity] = field(factory=dict)
    preemption_policy: str | None = None
    priority: int | None = None
    priority_class_name: str | None = None
    readiness_gates: tuple[PodReadinessGate, ...] = ()
    resource_claims: tuple[PodResourceClaim, ...] = ()
    resources: ResourceRequirements | None = None
    restart_policy: str | None = None
    runtime_class_name: str | None = None
    scheduler_name: str | None = None
    scheduling_gates: tuple[PodSchedulingGate, ...] = ()
    scheduling_group: PodSchedulingGroup | None = None
    security_context: PodSecurityContext | None = None
    service_account: str | None = None
    service_account_name: str | None = None
    set_hostname_as_fqdn: bool | None = None
    share_process_namespace: bool | None = None
    subdomain: str | None = None
    termination_grace_period_seconds: int | None = None
    tolerations: tuple[Toleration, ...] = ()
    topology_spread_constraints: tuple[TopologySpreadConstraint, ...] = ()
    volumes: tuple[Volume, ...] = ()


@frozen(kw_only=True)
class Pod:
    """`Pod` of core.v1."""

    api_version: str = "v1"
    kind: str = "Pod"
    metadata: ObjectMeta = field(factory=ObjectMeta)
    spec: PodSpec = field(factory=PodSpec)
    status: PodStatus = field(factory=PodStatus)


@frozen(kw_only=True)
class PodDNSConfig:
    """`PodDNSConfig` of core.v1."""

    nameservers: tuple[str, ...] = ()
    options: tuple[PodDNSConfigOption, ...] = ()
    searches: tuple[str, ...] = ()


@frozen(kw_only=True)
class PodDNSConfigOption:
    """`PodDNSConfigOption` of core.v1."""

    name: str | None = None
    value: str | None = None


@frozen(kw_only=True)
class PodOS:
    """`PodOS` of core.v1."""

    name: str = ""


@frozen(kw_only=True)
class PodReadinessGate:
    """`PodReadinessGate` of core.v1."""

    condition_type: str = ""


@frozen(kw_only=True)
class PodTemplateSpec:
    """`PodTemplateSpec` of core.v1."""

    metadata: ObjectMeta = field(factory=ObjectMeta)
    spec: PodSpec = field(factory=PodSpec)


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
class Secret:
    """`Secret` of core.v1."""

    api_version: str = "v1"
    kind: str = "Secret"
    metadata: ObjectMeta = field(factory=ObjectMeta)
    data: Mapping[str, bytes] = field(factory=dict)
    immutable: bool | None = None
    string_data: Mapping[str, str] = field(factory=dict)
    type: str | None = None


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


AnyContainer = Container | EphemeralContainer
