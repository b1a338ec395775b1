"""Whether the node takes a pod: the kubelet's admission handlers in their order.

The first refusal wins. What a handler would have to ask of machinery that is not here (devices, topology) is told to it
in `ForeignAnswers`. Source: kubelet v1.36 HandlePodAdditions, pkg/kubelet/lifecycle, pkg/kubelet/eviction,
pkg/kubelet/sysctl.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from attrs import field, frozen

from kubelet_emu.api import reasons, reasons_node, sysctls
from kubelet_emu.api.labels import CONFIG_SOURCE_ANNOTATION, OS_LABEL
from kubelet_emu.rules.app_armor import NOT_ENABLED, needs_app_armor
from kubelet_emu.rules.disruption import is_critical_pod
from kubelet_emu.rules.node_fit import (
    Insufficient,
    Taint,
    has_free_host_ports,
    has_untolerated_taint,
    insufficient_resources,
    matches_node_affinity,
    node_labels,
    tolerates,
)
from kubelet_emu.rules.qos import BEST_EFFORT, compute_pod_qos

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kubelet_emu.api.quantity import Quantity
    from kubelet_emu.api.v1 import Pod
    from kubelet_emu.config.features import FeatureGates
    from kubelet_emu.rules.node_usage import NodeUsage

MEMORY_PRESSURE = "MemoryPressure"
_MEMORY_PRESSURE_TAINT = Taint("node.kubernetes.io/memory-pressure", "NoSchedule")

SAFE_SYSCTLS = frozenset(
    {
        "kernel.shm_rmid_forced",
        "net.ipv4.ip_local_port_range",
        "net.ipv4.ip_local_reserved_ports",
        "net.ipv4.ip_unprivileged_port_start",
        "net.ipv4.ping_group_range",
        "net.ipv4.tcp_fin_timeout",
        "net.ipv4.tcp_keepalive_intvl",
        "net.ipv4.tcp_keepalive_probes",
        "net.ipv4.tcp_keepalive_time",
        "net.ipv4.tcp_rmem",
        "net.ipv4.tcp_syncookies",
        "net.ipv4.tcp_wmem",
    }
)
"""Sysctls that are admitted without configuration (kubelet v1.36 SafeSysctlAllowlist)."""


@frozen(kw_only=True)
class Rejection:
    """A refusal: reason and text of the Warning event, the status has the text with a prefix.

    `insufficient` is what a critical pod may have others preempted for; empty when that would not help.
    """

    reason: str
    message: str
    insufficient: tuple[Insufficient, ...] = ()


@frozen(kw_only=True)
class NodeFacts:
    """What admission knows of the node. `pressures` are its conditions, such as MemoryPressure.

    `allowed_unsafe_sysctls` are names, or prefixes that end in `*`.
    """

    name: str
    labels: Mapping[str, str] = field(factory=dict)
    allocatable: Mapping[str, Quantity] = field(factory=dict)
    os: str = "linux"
    taints: tuple[Taint, ...] = ()
    pressures: tuple[str, ...] = ()
    allowed_unsafe_sysctls: tuple[str, ...] = ()
    supports_supplemental_groups_policy: bool = True
    has_app_armor: bool = True
    is_known: bool = True
    is_shutting_down: bool = False


@frozen(kw_only=True)
class ForeignAnswers:
    """What others say of one pod: resource managers, device plugins, declared features of the node."""

    resource_managers: Rejection | None = None
    plugin_resources_error: str = ""
    missing_features: tuple[str, ...] = ()


_NO_OBJECTION = ForeignAnswers()


def admit(
    pod: Pod,
    node: NodeFacts,
    usage: NodeUsage,
    features: FeatureGates,
    foreign: ForeignAnswers = _NO_OBJECTION,
) -> Rejection | None:
    """Return why the node refuses a pod, None when it takes it (kubelet v1.36 canAdmitPod).

    `usage` is that of the pods that were admitted and have not finished.
    """
    return (
        _under_pressure(pod, node, features)
        or _sysctls(pod, node)
        or foreign.resource_managers
        or _predicates(pod, node, usage, features, foreign)
        or admit_with_room(pod, node, features, foreign)
    )


def _under_pressure(pod: Pod, node: NodeFacts, features: FeatureGates) -> Rejection | None:
    """Refuse what a node under pressure must not take (kubelet v1.36 eviction manager Admit)."""
    if not node.pressures or is_critical_pod(pod):
        return None
    if node.pressures == (MEMORY_PRESSURE,):
        qos = pod.status.qos_class or compute_pod_qos(pod, features)
        if qos != BEST_EFFORT or tolerates(pod.spec.tolerations, _MEMORY_PRESSURE_TAINT):
            return None
    return Rejection(reason=reasons.EVICTED, message=reasons_node.node_had_condition(node.pressures))


def _sysctls(pod: Pod, node: NodeFacts) -> Rejection | None:
    """Refuse sysctls that are neither safe nor allowed, or not the pod's own (kubelet v1.36 patternAllowlist)."""
    security = pod.spec.security_context
    for sysctl in security.sysctls if security is not None else ():
        name = sysctls.normalize_name(sysctl.name)
        if not _is_allowlisted(name, node.allowed_unsafe_sysctls):
            return Rejection(reason=reasons_node.SYSCTL_FORBIDDEN, message=reasons_node.forbidden_sysctl(name))
        namespace = sysctls.namespaced_by(name)
        if (namespace == sysctls.NET and pod.spec.host_network) or (namespace == sysctls.IPC and pod.spec.host_ipc):
            message = reasons_node.sysctl_of_host_namespace(name, namespace)
            return Rejection(reason=reasons_node.SYSCTL_FORBIDDEN, message=message)
    return None


def _is_allowlisted(name: str, allowed: tuple[str, ...]) -> bool:
    patterns = [sysctls.normalize_name(pattern) for pattern in allowed]
    return (
        name in SAFE_SYSCTLS
        or name in patterns
        or any(pattern.endswith("*") and name.startswith(pattern[:-1]) for pattern in patterns)
    )


def _predicates(
    pod: Pod, node: NodeFacts, usage: NodeUsage, features: FeatureGates, foreign: ForeignAnswers
) -> Rejection | None:
    """Refuse what doesn't belong or fit on the node (kubelet v1.36 predicateAdmitHandler)."""
    if not node.is_known:
        return Rejection(reason=reasons_node.INVALID_NODE_INFO, message=reasons_node.NO_NODE_INFO)
    if pod.metadata.labels.get(OS_LABEL, node.os) != node.os:
        reason = reasons_node.POD_OS_SELECTOR_NODE_LABEL_DOES_NOT_MATCH
        return Rejection(reason=reason, message=reasons_node.OS_LABEL_MISMATCH)
    if pod.spec.os is not None and pod.spec.os.name != node.os:
        return Rejection(reason=reasons_node.POD_OS_NOT_SUPPORTED, message=reasons_node.OS_FIELD_MISMATCH)
    security = pod.spec.security_context
    is_strict = security is not None and security.supplemental_groups_policy == "Strict"
    if is_strict and features.enabled("SupplementalGroupsPolicy") and not node.supports_supplemental_groups_policy:
        reason = reasons_node.SUPPLEMENTAL_GROUPS_POLICY_NOT_SUPPORTED
        return Rejection(reason=reason, message=reasons_node.SUPPLEMENTAL_GROUPS_POLICY_MESSAGE)
    if foreign.plugin_resources_error:
        message = reasons_node.update_plugin_resources_failed(foreign.plugin_resources_error)
        return Rejection(reason=reasons_node.UNEXPECTED_ADMISSION_ERROR, message=message)
    return _fit(pod, node, usage)


def _fit(pod: Pod, node: NodeFacts, usage: NodeUsage) -> Rejection | None:
    """Refuse what doesn't fit; the first failure in list order is told (kubelet v1.36 generalFilter).

    Of a critical pod the resources are told only if they are all that is wrong: others can make room.
    """
    insufficient = insufficient_resources(pod, node.allocatable, usage)
    labels = node_labels(node.name, node.labels, node.os)
    is_static = pod.metadata.annotations.get(CONFIG_SOURCE_ANNOTATION, "api") != "api"
    failed = [
        reason
        for reason, is_met in (
            (reasons_node.NODE_AFFINITY, matches_node_affinity(pod, node.name, labels)),
            (reasons_node.NODE_NAME, not pod.spec.node_name or pod.spec.node_name == node.name),
            (reasons_node.NODE_PORTS, has_free_host_ports(pod, usage)),
            (reasons_node.TAINT_TOLERATION, is_static or not has_untolerated_taint(pod, node.taints)),
        )
        if not is_met
    ]
    is_critical = is_critical_pod(pod)
    if insufficient and not (is_critical and failed):
        first = insufficient[0]
        message = reasons_node.not_enough(first.resource, first.requested, first.used, first.capacity)
        helps = insufficient if is_critical else ()
        return Rejection(reason=reasons_node.out_of(first.resource), message=message, insufficient=helps)
    return Rejection(reason=failed[0], message=reasons_node.predicate_failed(failed[0])) if failed else None


def admit_with_room(
    pod: Pod, node: NodeFacts, features: FeatureGates, foreign: ForeignAnswers = _NO_OBJECTION
) -> Rejection | None:
    """Return why a pod is refused for which there is room; the handlers behind that of resources, in their order.

    They are AppArmor, pod-level resources, declared features, shutdown (kubelet v1.36 NewMainKubelet).
    """
    if not node.has_app_armor and needs_app_armor(pod):
        return Rejection(reason=reasons_node.APP_ARMOR, message=reasons_node.cannot_enforce_apparmor(NOT_ENABLED))
    if pod.spec.resources is not None and not features.enabled("PodLevelResources"):
        reason = reasons_node.POD_LEVEL_RESOURCES_NOT_SUPPORTED
        return Rejection(reason=reason, message=reasons_node.POD_LEVEL_RESOURCES_MESSAGE)
    if foreign.missing_features and features.enabled("NodeDeclaredFeatures"):
        message = reasons_node.node_features_not_available(foreign.missing_features)
        return Rejection(reason=reasons_node.POD_FEATURE_UNSUPPORTED, message=message)
    if node.is_shutting_down:
        return Rejection(reason=reasons_node.NODE_SHUTDOWN, message=reasons_node.NODE_IS_SHUTTING_DOWN)
    return None
