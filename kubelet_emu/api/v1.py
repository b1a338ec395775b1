"""Pod, its containers and what they refer to (core/v1).

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

    from kubelet_emu.api.quantity import IntOrString, Quantity
    from kubelet_emu.api.v1_scheduling import (
        Affinity,
        PodResourceClaim,
        PodSchedulingGate,
        PodSchedulingGroup,
        Toleration,
        TopologySpreadConstraint,
    )
    from kubelet_emu.api.v1_volumes import Volume


@frozen(kw_only=True)
class AppArmorProfile:
    """`AppArmorProfile` of core.v1."""

    localhost_profile: str | None = None
    type: str = ""


@frozen(kw_only=True)
class Capabilities:
    """`Capabilities` of core.v1."""

    add: tuple[str, ...] = ()
    drop: tuple[str, ...] = ()


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
class ConfigMapEnvSource:
    """`ConfigMapEnvSource` of core.v1."""

    name: str | None = None
    optional: bool | None = None


@frozen(kw_only=True)
class ConfigMapKeySelector:
    """`ConfigMapKeySelector` of core.v1."""

    name: str | None = None
    key: str = ""
    optional: bool | None = None


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
class EnvFromSource:
    """`EnvFromSource` of core.v1."""

    config_map_ref: ConfigMapEnvSource | None = None
    prefix: str | None = None
    secret_ref: SecretEnvSource | None = None


@frozen(kw_only=True)
class EnvVar:
    """`EnvVar` of core.v1."""

    name: str = ""
    value: str | None = None
    value_from: EnvVarSource | None = None


@frozen(kw_only=True)
class EnvVarSource:
    """`EnvVarSource` of core.v1."""

    config_map_key_ref: ConfigMapKeySelector | None = None
    field_ref: ObjectFieldSelector | None = None
    file_key_ref: FileKeySelector | None = None
    resource_field_ref: ResourceFieldSelector | None = None
    secret_key_ref: SecretKeySelector | None = None


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
class ExecAction:
    """`ExecAction` of core.v1."""

    command: tuple[str, ...] = ()


@frozen(kw_only=True)
class FileKeySelector:
    """`FileKeySelector` of core.v1."""

    key: str = ""
    optional: bool | None = None
    path: str = ""
    volume_name: str = ""


@frozen(kw_only=True)
class GRPCAction:
    """`GRPCAction` of core.v1."""

    port: int = 0
    service: str | None = None


@frozen(kw_only=True)
class HTTPGetAction:
    """`HTTPGetAction` of core.v1."""

    host: str | None = None
    http_headers: tuple[HTTPHeader, ...] = ()
    path: str | None = None
    port: IntOrString | None = None
    scheme: str | None = None


@frozen(kw_only=True)
class HTTPHeader:
    """`HTTPHeader` of core.v1."""

    name: str = ""
    value: str = ""


@frozen(kw_only=True)
class HostAlias:
    """`HostAlias` of core.v1."""

    hostnames: tuple[str, ...] = ()
    ip: str = ""


@frozen(kw_only=True)
class Lifecycle:
    """`Lifecycle` of core.v1."""

    post_start: LifecycleHandler | None = None
    pre_stop: LifecycleHandler | None = None
    stop_signal: str | None = None


@frozen(kw_only=True)
class LifecycleHandler:
    """`LifecycleHandler` of core.v1."""

    exec: ExecAction | None = None
    http_get: HTTPGetAction | None = None
    sleep: SleepAction | None = None
    tcp_socket: TCPSocketAction | None = None


@frozen(kw_only=True)
class LocalObjectReference:
    """`LocalObjectReference` of core.v1."""

    name: str | None = None


@frozen(kw_only=True)
class ObjectFieldSelector:
    """`ObjectFieldSelector` of core.v1."""

    api_version: str | None = None
    field_path: str = ""


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
class PodTemplateSpec:
    """`PodTemplateSpec` of core.v1."""

    metadata: ObjectMeta = field(factory=ObjectMeta)
    spec: PodSpec = field(factory=PodSpec)


@frozen(kw_only=True)
class Probe:
    """`Probe` of core.v1."""

    exec: ExecAction | None = None
    failure_threshold: int | None = None
    grpc: GRPCAction | None = None
    http_get: HTTPGetAction | None = None
    initial_delay_seconds: int | None = None
    period_seconds: int | None = None
    success_threshold: int | None = None
    tcp_socket: TCPSocketAction | None = None
    termination_grace_period_seconds: int | None = None
    timeout_seconds: int | None = None


@frozen(kw_only=True)
class ResourceClaim:
    """`ResourceClaim` of core.v1."""

    name: str = ""
    request: str | None = None


@frozen(kw_only=True)
class ResourceFieldSelector:
    """`ResourceFieldSelector` of core.v1."""

    container_name: str | None = None
    divisor: Quantity | None = None
    resource: str = ""


@frozen(kw_only=True)
class ResourceRequirements:
    """`ResourceRequirements` of core.v1."""

    claims: tuple[ResourceClaim, ...] = ()
    limits: Mapping[str, Quantity] = field(factory=dict)
    requests: Mapping[str, Quantity] = field(factory=dict)


@frozen(kw_only=True)
class SELinuxOptions:
    """`SELinuxOptions` of core.v1."""

    level: str | None = None
    role: str | None = None
    type: str | None = None
    user: str | None = None


@frozen(kw_only=True)
class SeccompProfile:
    """`SeccompProfile` of core.v1."""

    localhost_profile: str | None = None
    type: str = ""


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
class SecretEnvSource:
    """`SecretEnvSource` of core.v1."""

    name: str | None = None
    optional: bool | None = None


@frozen(kw_only=True)
class SecretKeySelector:
    """`SecretKeySelector` of core.v1."""

    name: str | None = None
    key: str = ""
    optional: bool | None = None


@frozen(kw_only=True)
class SecurityContext:
    """`SecurityContext` of core.v1."""

    allow_privilege_escalation: bool | None = None
    app_armor_profile: AppArmorProfile | None = None
    capabilities: Capabilities | None = None
    privileged: bool | None = None
    proc_mount: str | None = None
    read_only_root_filesystem: bool | None = None
    run_as_group: int | None = None
    run_as_non_root: bool | None = None
    run_as_user: int | None = None
    se_linux_options: SELinuxOptions | None = None
    seccomp_profile: SeccompProfile | None = None
    windows_options: WindowsSecurityContextOptions | None = None


@frozen(kw_only=True)
class SleepAction:
    """`SleepAction` of core.v1."""

    seconds: int = 0


@frozen(kw_only=True)
class Sysctl:
    """`Sysctl` of core.v1."""

    name: str = ""
    value: str = ""


@frozen(kw_only=True)
class TCPSocketAction:
    """`TCPSocketAction` of core.v1."""

    host: str | None = None
    port: IntOrString | None = None


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


@frozen(kw_only=True)
class WindowsSecurityContextOptions:
    """`WindowsSecurityContextOptions` of core.v1."""

    gmsa_credential_spec: str | None = None
    gmsa_credential_spec_name: str | None = None
    host_process: bool | None = None
    run_as_user_name: str | None = None


AnyContainer = Container | EphemeralContainer
