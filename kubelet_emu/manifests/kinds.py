"""Which kinds of objects are read, which are known but not run, and where old API versions went.

Source: the API groups of Kubernetes v1.36.
"""

from __future__ import annotations

READ_KINDS = {
    "Pod": "v1",
    "ConfigMap": "v1",
    "Secret": "v1",
    "Service": "v1",
    "Job": "batch/v1",
    "CronJob": "batch/v1",
    "Deployment": "apps/v1",
    "ReplicaSet": "apps/v1",
    "StatefulSet": "apps/v1",
    "DaemonSet": "apps/v1",
}
"""Kind to the apiVersion that it has today."""

_GROUPS = {
    "v1": "Binding Endpoints Event LimitRange Namespace Node PersistentVolume PersistentVolumeClaim PodTemplate "
    "ReplicationController ResourceQuota ServiceAccount",
    "apps/v1": "ControllerRevision",
    "autoscaling/v2": "HorizontalPodAutoscaler",
    "policy/v1": "PodDisruptionBudget Eviction",
    "networking.k8s.io/v1": "Ingress IngressClass NetworkPolicy IPAddress ServiceCIDR",
    "rbac.authorization.k8s.io/v1": "Role RoleBinding ClusterRole ClusterRoleBinding",
    "storage.k8s.io/v1": "StorageClass CSIDriver CSINode CSIStorageCapacity VolumeAttachment VolumeAttributesClass",
    "scheduling.k8s.io/v1": "PriorityClass",
    "node.k8s.io/v1": "RuntimeClass",
    "coordination.k8s.io/v1": "Lease",
    "discovery.k8s.io/v1": "EndpointSlice",
    "certificates.k8s.io/v1": "CertificateSigningRequest",
    "flowcontrol.apiserver.k8s.io/v1": "FlowSchema PriorityLevelConfiguration",
    "apiextensions.k8s.io/v1": "CustomResourceDefinition",
    "apiregistration.k8s.io/v1": "APIService",
    "admissionregistration.k8s.io/v1": "MutatingWebhookConfiguration ValidatingWebhookConfiguration "
    "ValidatingAdmissionPolicy ValidatingAdmissionPolicyBinding MutatingAdmissionPolicy MutatingAdmissionPolicyBinding",
    "resource.k8s.io/v1": "ResourceClaim ResourceClaimTemplate DeviceClass ResourceSlice",
}

KNOWN_KINDS = {kind: version for version, names in _GROUPS.items() for kind in names.split()}
"""Kinds of a plain cluster that are not read here, to the apiVersion that they have today."""

_BUILT_IN_GROUPS = frozenset(
    version.partition("/")[0] if "/" in version else "" for version in (*READ_KINDS.values(), *_GROUPS)
) | {"extensions", "autoscaling", "events.k8s.io"}

_REMOVED_IN = {
    "extensions/v1beta1": "1.16",
    "apps/v1beta1": "1.16",
    "apps/v1beta2": "1.16",
    "batch/v2alpha1": "1.21",
    "batch/v1beta1": "1.25",
    "policy/v1beta1": "1.25",
    "autoscaling/v2beta1": "1.25",
    "autoscaling/v2beta2": "1.26",
    "networking.k8s.io/v1beta1": "1.22",
    "rbac.authorization.k8s.io/v1beta1": "1.22",
    "storage.k8s.io/v1beta1": "1.22",
}


def is_list(kind: str) -> bool:
    """Tell whether a kind is a List whose items are objects."""
    return kind == "List" or (kind.endswith("List") and kind.removesuffix("List") in READ_KINDS | KNOWN_KINDS)


def is_built_in(api_version: str) -> bool:
    """Tell whether an apiVersion's group belongs to Kubernetes itself."""
    return (api_version.partition("/")[0] if "/" in api_version else "") in _BUILT_IN_GROUPS


def right_version(kind: str, api_version: str) -> str:
    """Return the apiVersion to write instead, or nothing if `api_version` serves this kind or the kind isn't known."""
    today = READ_KINDS.get(kind) or KNOWN_KINDS.get(kind)
    if today is None or api_version == today or not is_built_in(api_version):
        return ""
    same_group = "/" in today and api_version.partition("/")[0] == today.partition("/")[0]
    if same_group and kind in KNOWN_KINDS and api_version not in _REMOVED_IN:
        return ""
    return "" if (kind, api_version) in _ALSO_SERVED else today


_ALSO_SERVED = frozenset({("HorizontalPodAutoscaler", "autoscaling/v1"), ("Event", "events.k8s.io/v1")})


def removed_in(api_version: str) -> str:
    """Return the Kubernetes version that stopped serving an API version, or nothing."""
    return _REMOVED_IN.get(api_version, "")
