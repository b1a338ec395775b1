"""Pods and what every pod has (core/v1); what only some have is loaded with the first that has it.

Field names are the API's in snake case; `kubelet_emu.api.kinds` has the way back.
An absent field is None, an empty tuple or an empty mapping.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from attrs import field, frozen

from kubelet_emu.api.kinds import MODULE_OF_TYPE, api_type
from kubelet_emu.api.object_meta import ObjectMeta
from kubelet_emu.api.v1_pod_status import PodStatus

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kubelet_emu.api.quantity import Quantity
    from kubelet_emu.api.v1_containers import (
        ContainerPort,
        ContainerResizePolicy,
        ContainerRestartRule,
        ContainerRestartRuleOnExitCodes,
        ResourceClaim,
        ResourceRequirements,
        VolumeDevice,
        VolumeMount,
    )
    from kubelet_emu.api.v1_data import ConfigMap, Secret
    from kubelet_emu.api.v1_environment import EnvFromSource, EnvVarSource
    from kubelet_emu.api.v1_ephemeral import EphemeralContainer
    from kubelet_emu.api.v1_handlers import Lifecycle, Probe
    from kubelet_emu.api.v1_pods import (
        HostAlias,
        LocalObjectReference,
        ObjectReference,
        PodDNSConfig,
        PodDNSConfigOption,
        PodOS,
        PodReadinessGate,
    )
    from kubelet_emu.api.v1_scheduling import (
        Affinity,
        PodResourceClaim,
        PodSchedulingGate,
        PodSchedulingGroup,
        Toleration,
        TopologySpreadConstraint,
    )
    from kubelet_emu.api.v1_security import (
        AppArmorProfile,
        SeccompProfile,
        SecurityContext,
        SELinuxOptions,
        Sysctl,
        WindowsSecurityContextOptions,
    )
    from kubelet_emu.api.v1_status import ContainerExtendedResourceRequest
    from kubelet_emu.api.v1_volumes import Volume

    AnyContainer: TypeAlias = "Container | EphemeralContainer"

__all__ = [
    "AnyContainer",
    "ConfigMap",
    "Container",
    "ContainerExtendedResourceRequest",
    "ContainerPort",
    "ContainerResizePolicy",
    "ContainerRestartRule",
    "ContainerRestartRuleOnExitCodes",
    "EnvVar",
    "EphemeralContainer",
    "HostAlias",
    "LocalObjectReference",
    "ObjectReference",
    "Pod",
    "PodDNSConfig",
    "PodDNSConfigOption",
    "PodOS",
    "PodReadinessGate",
    "PodSecurityContext",
    "PodSpec",
    "PodTemplateSpec",
    "ResourceClaim",
    "ResourceRequirements",
    "Secret",
    "VolumeDevice",
    "VolumeMount",
]


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
class EnvVar:
    """`EnvVar` of core.v1."""

    name: str = ""
    value: str | None = None
    value_from: EnvVarSource | None = None


@frozen(kw_only=True)
class PodSecurityContext:
    """`PodSecurityContext` of core.v1."""

    app_armor_profile: AppArmorProfile | None = None
    fs_group: int | None = None
    fs_group_change_policy: str | None = None
    run_as_group: int | None = None
    run_as_non_root: bool | None = None
    run_as_user: int | None = None
    se_linux_change_policy: str | None = None
    se_linux_options: SELinuxOptions | None = None
    seccomp_profile: SeccompProfile | None = None
    supplemental_groups: tuple[int, ...] = ()
    supplemental_groups_policy: str | None = None
    sysctls: tuple[Sysctl, ...] = ()
    windows_options: WindowsSecurityContextOptions | None = None


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
class PodTemplateSpec:
    """`PodTemplateSpec` of core.v1."""

    metadata: ObjectMeta = field(factory=ObjectMeta)
    spec: PodSpec = field(factory=PodSpec)


if not TYPE_CHECKING:

    def __getattr__(name: str) -> type:
        """Load a type that only some pods have, with its module, when somebody imports it from here (PEP 562)."""
        if name not in __all__ or name not in MODULE_OF_TYPE:
            raise AttributeError(name)
        return api_type(name)
