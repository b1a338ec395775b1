"""Texts of a node that refuses, evicts or preempts a pod, or shuts down.

`kubelet_emu.api.reasons` says how they are written.
Source: kubelet v1.36 pkg/kubelet/lifecycle, pkg/kubelet/preemption, pkg/kubelet/eviction,
pkg/kubelet/nodeshutdown.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubelet_emu.api.gotext import quote

if TYPE_CHECKING:
    from collections.abc import Sequence

# --- pod reasons and messages (phase Failed)

PREEMPTED_MESSAGE = "Preempted in order to admit critical pod"
PREEMPTED_CONDITION_MESSAGE = "Pod was preempted by Kubelet to accommodate a critical pod."
SHUTDOWN_MESSAGE = "Pod was terminated in response to imminent node shutdown."

# --- admission (kubelet v1.36 pkg/kubelet/lifecycle, pkg/kubelet/preemption)

SYSCTL_FORBIDDEN = "SysctlForbidden"
UNEXPECTED_ADMISSION_ERROR = "UnexpectedAdmissionError"
INVALID_NODE_INFO = "InvalidNodeInfo"
POD_OS_SELECTOR_NODE_LABEL_DOES_NOT_MATCH = "PodOSSelectorNodeLabelDoesNotMatch"
POD_OS_NOT_SUPPORTED = "PodOSNotSupported"
SUPPLEMENTAL_GROUPS_POLICY_NOT_SUPPORTED = "SupplementalGroupsPolicyNotSupported"
NODE_AFFINITY = "NodeAffinity"
NODE_NAME = "NodeName"
NODE_PORTS = "NodePorts"
TAINT_TOLERATION = "TaintToleration"
APP_ARMOR = "AppArmor"
POD_LEVEL_RESOURCES_NOT_SUPPORTED = "PodLevelResourcesNotSupported"
POD_FEATURE_UNSUPPORTED = "PodFeatureUnsupported"
NODE_SHUTDOWN = "NodeShutdown"
VOLUME_ATTACHMENT_LIMIT_EXCEEDED = "VolumeAttachmentLimitExceeded"

NO_NODE_INFO = "Kubelet cannot get node info."
OS_LABEL_MISMATCH = "Failed to admit pod as the `kubernetes.io/os` label doesn't match node label"
OS_FIELD_MISMATCH = "Failed to admit pod as the OS field doesn't match node OS"
SUPPLEMENTAL_GROUPS_POLICY_MESSAGE = "SupplementalGroupsPolicy=Strict is not supported in this node"
POD_LEVEL_RESOURCES_MESSAGE = "PodLevelResources is not supported on this node"
NODE_IS_SHUTTING_DOWN = "Pod was rejected as the node is shutting down."

PREDICATE_MESSAGES = {
    NODE_AFFINITY: "node(s) didn't match Pod's node affinity/selector",
    NODE_NAME: "node(s) didn't match the requested node name",
    NODE_PORTS: "node(s) didn't have free ports for the requested pod ports",
    TAINT_TOLERATION: "node(s) had taints that the pod didn't tolerate",
}


REJECTED_PREFIX = "Pod was rejected: "


def pod_was_rejected(message: str) -> str:
    """Return the status message of a pod that admission refused; the event has `message` alone."""
    return f"{REJECTED_PREFIX}{message}"


def node_had_condition(conditions: Sequence[str]) -> str:
    """Return the message of Evicted at admission; the blank at its end is the kubelet's."""
    return f"The node had condition: [{' '.join(conditions)}]. "


def forbidden_sysctl(name: str) -> str:
    """Return the message of SysctlForbidden."""
    return f'forbidden sysctl: "{name}" not allowlisted'


def sysctl_of_host_namespace(name: str, namespace: str) -> str:
    """Return the message of SysctlForbidden for a sysctl that would be the host's; `namespace` is Net or IPC."""
    return f'forbidden sysctl: "{name}" not allowed with host {namespace} enabled'


def no_pods_to_preempt(missing: Sequence[tuple[str, int]]) -> str:
    """Return the message of a critical pod for which nobody can make room; `missing` are resources and amounts."""
    listed = "".join(f"(res: {resource}, q: {quantity}), " for resource, quantity in missing)
    why = f"no set of running pods found to reclaim resources: [{listed}]"
    return (
        "Unexpected error while attempting to recover from admission failure: "
        f"preemption: error finding a set of pods to preempt: {why}"
    )


def allocate_failed(error: str) -> str:
    """Return the message of a resource manager that refused."""
    return f"Allocate failed due to {error}, which is unexpected"


def update_plugin_resources_failed(error: str) -> str:
    """Return the message of device plugin resources that could not be updated."""
    return f"Update plugin resources failed due to {error}, which is unexpected."


def out_of(resource: str) -> str:
    """Return the reason of a pod that doesn't fit: OutOfcpu, OutOfmemory, OutOfpods."""
    return f"OutOf{resource}"


def not_enough(resource: str, requested: int, used: int, capacity: int) -> str:
    """Return the message of a pod that doesn't fit; cpu is in milli-units, memory in bytes."""
    return f"Node didn't have enough resource: {resource}, requested: {requested}, used: {used}, capacity: {capacity}"


def predicate_failed(reason: str) -> str:
    """Return the message of a failed predicate other than resources."""
    return f"Predicate {reason} failed: {PREDICATE_MESSAGES[reason]}"


def cannot_enforce_apparmor(error: str) -> str:
    """Return the message of AppArmor."""
    return f"Cannot enforce AppArmor: {error}"


def node_features_not_available(features: Sequence[str]) -> str:
    """Return the message of PodFeatureUnsupported and of FailedNodeDeclaredFeaturesCheck."""
    return f"Pod requires node features that are not available: {', '.join(features)}"


# --- eviction and node shutdown (kubelet v1.36 pkg/kubelet/eviction, pkg/kubelet/nodeshutdown) ---

SHUTDOWN = "Shutdown"
SHUTDOWN_DETECTED = "Shutdown manager detected shutdown event"
SHUTDOWN_CANCELLED = "Shutdown manager detected shutdown cancellation"
KUBELET_NOT_READY = "KubeletNotReady"
NODE_IS_SHUTTING_DOWN_CONDITION = "node is shutting down"


def node_low_on_resource(resource: str) -> str:
    """Return the first sentence of an eviction's message; each sentence ends with a blank."""
    return f"The node was low on resource: {resource}. "


def eviction_threshold(quantity: str, available: str) -> str:
    """Return the sentence about the threshold that was met."""
    return f"Threshold quantity: {quantity}, available: {available}. "


def eviction_container_usage(container: str, usage: str, request: str, resource: str) -> str:
    """Return the sentence about one container that used more than it asked for."""
    return f"Container {container} was using {usage}, request is {request}, has larger consumption of {resource}. "


def empty_dir_over_limit(volume: str, limit: str) -> str:
    """Return the message of an emptyDir that outgrew its sizeLimit."""
    return f"Usage of EmptyDir volume {quote(volume)} exceeds the limit {quote(limit)}. "


def pod_over_ephemeral_storage_limit(limit: str) -> str:
    """Return the message of a pod that outgrew the sum of its limits."""
    return f"Pod ephemeral local storage usage exceeds the total limit of containers {limit}. "


def container_over_ephemeral_storage_limit(container: str, limit: str) -> str:
    """Return the message of a container that outgrew its limit."""
    return f"Container {container} exceeded its local ephemeral storage limit {quote(limit)}. "
