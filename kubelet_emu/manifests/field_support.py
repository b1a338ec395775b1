"""What becomes of every field of a pod: one class for each, for docs/FIELDS.md and the test that misses none.

`walk` goes from a pod's metadata and spec down, and stops at what is ignored as a whole. What has its warning is in
field_reasons; what is here works on Docker as on a node.
"""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING, NamedTuple

from kubelet_emu.api.kinds import api_type
from kubelet_emu.api.schema import Scalar, fields_of
from kubelet_emu.manifests.field_reasons import (
    CLAIMED,
    IGNORED,
    MOUNTS,
    PARTS,
    PROJECTED,
    SCHEDULING,
    SECURITY,
    UNMOUNTABLE,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

ROOTS = ("ObjectMeta", "PodSpec")
_CLAIMS = ("persistentVolumeClaim", "ephemeral")

_CONTAINER = """name args command env envFrom image imagePullPolicy lifecycle livenessProbe ports readinessProbe
    resizePolicy resources restartPolicy restartPolicyRules securityContext startupProbe stdin stdinOnce
    terminationMessagePath terminationMessagePolicy tty volumeMounts workingDir"""
_SELECTED = "key operator values"
_KEY_OF = "name key optional"
_ITEMS_OF = "name items optional"

_WORKS = {
    "ObjectMeta": """name creationTimestamp deletionGracePeriodSeconds deletionTimestamp finalizers generateName
        generation labels managedFields namespace resourceVersion selfLink uid""",
    "ManagedFieldsEntry": "apiVersion fieldsType fieldsV1 manager operation subresource time",
    "OwnerReference": "apiVersion kind name blockOwnerDeletion controller uid",
    "PodSpec": """activeDeadlineSeconds containers dnsConfig dnsPolicy enableServiceLinks ephemeralContainers
        hostAliases hostIPC hostNetwork hostPID hostname hostnameOverride imagePullSecrets initContainers os
        readinessGates resources restartPolicy securityContext serviceAccount serviceAccountName setHostnameAsFQDN
        shareProcessNamespace subdomain terminationGracePeriodSeconds volumes""",
    "Affinity": "nodeAffinity",
    "NodeAffinity": "requiredDuringSchedulingIgnoredDuringExecution",
    "NodeSelector": "nodeSelectorTerms",
    "NodeSelectorTerm": "matchExpressions matchFields",
    "NodeSelectorRequirement": _SELECTED,
    "Container": _CONTAINER,
    "EphemeralContainer": f"{_CONTAINER} targetContainerName",
    "EnvVar": "name value valueFrom",
    "EnvVarSource": "configMapKeyRef fieldRef fileKeyRef resourceFieldRef secretKeyRef",
    "ConfigMapKeySelector": _KEY_OF,
    "SecretKeySelector": _KEY_OF,
    "ObjectFieldSelector": "apiVersion fieldPath",
    "FileKeySelector": "key optional path volumeName",
    "ResourceFieldSelector": "containerName divisor resource",
    "EnvFromSource": "configMapRef prefix secretRef",
    "ConfigMapEnvSource": "name optional",
    "SecretEnvSource": "name optional",
    "Lifecycle": "postStart preStop",
    "LifecycleHandler": "exec httpGet sleep tcpSocket",
    "ExecAction": "command",
    "HTTPGetAction": "host httpHeaders path port scheme",
    "HTTPHeader": "name value",
    "SleepAction": "seconds",
    "TCPSocketAction": "host port",
    "GRPCAction": "port service",
    "Probe": """exec failureThreshold grpc httpGet initialDelaySeconds periodSeconds successThreshold tcpSocket
        terminationGracePeriodSeconds timeoutSeconds""",
    "ContainerPort": "name containerPort protocol",
    "ContainerResizePolicy": "resourceName restartPolicy",
    "ResourceClaim": "name request",
    "ContainerRestartRule": "action exitCodes",
    "ContainerRestartRuleOnExitCodes": "operator values",
    "PodSecurityContext": """fsGroup fsGroupChangePolicy runAsGroup runAsNonRoot runAsUser supplementalGroups
        supplementalGroupsPolicy sysctls""",
    "SecurityContext": """allowPrivilegeEscalation capabilities privileged readOnlyRootFilesystem runAsGroup
        runAsNonRoot runAsUser""",
    "AppArmorProfile": "localhostProfile type",
    "Capabilities": "",
    "SeccompProfile": "localhostProfile type",
    "Sysctl": "name value",
    "VolumeMount": "name mountPath readOnly subPath subPathExpr",
    "PodDNSConfig": "nameservers options searches",
    "PodDNSConfigOption": "name value",
    "HostAlias": "hostnames ip",
    "LocalObjectReference": "name",
    "PodOS": "name",
    "PodReadinessGate": "conditionType",
    "Toleration": "effect key operator tolerationSeconds value",
    "Volume": "name configMap downwardAPI emptyDir hostPath projected secret",
    "ConfigMapVolumeSource": "name defaultMode items optional",
    "SecretVolumeSource": "defaultMode items optional secretName",
    "KeyToPath": "key mode path",
    "DownwardAPIVolumeSource": "defaultMode items",
    "DownwardAPIVolumeFile": "fieldRef mode path resourceFieldRef",
    "EmptyDirVolumeSource": "sizeLimit",
    "HostPathVolumeSource": "path type",
    "ProjectedVolumeSource": "defaultMode sources",
    "VolumeProjection": "configMap downwardAPI secret",
    "ConfigMapProjection": _ITEMS_OF,
    "SecretProjection": _ITEMS_OF,
    "DownwardAPIProjection": "items",
}
_UNMOUNTABLE = """awsElasticBlockStore azureDisk azureFile cephfs cinder csi fc flexVolume flocker gcePersistentDisk
    gitRepo glusterfs image iscsi nfs photonPersistentDisk portworxVolume quobyte rbd scaleIO storageos
    vsphereVolume"""


class Support(Enum):
    """What becomes of a field; the value is what the page says."""

    WORKS = "works"
    PART = "in part"
    NAMED = "warning"


class FieldSupport(NamedTuple):
    """A field by its type, and what becomes of it; `reason` is empty where it works."""

    type: str
    name: str
    support: Support
    reason: str = ""


def named_fields() -> Mapping[str, str]:
    """Return the fields that have no effect, with the reason that their warning gives."""
    volumes = {f"Volume.{name}": CLAIMED for name in _CLAIMS}
    volumes |= {f"Volume.{name}": UNMOUNTABLE for name in _UNMOUNTABLE.split()}
    ephemeral = {"EphemeralContainer.volumeDevices": MOUNTS["Container.volumeDevices"]}
    return {**IGNORED, **SCHEDULING, **SECURITY, **MOUNTS, **PROJECTED, **volumes, **ephemeral}


def walk() -> Iterator[FieldSupport]:
    """Yield every field of a pod's metadata and spec, type by type; LookupError names one that is in no class."""
    named = named_fields()
    waiting, seen = list(ROOTS), set(ROOTS)
    while waiting:
        type_name = waiting.pop(0)
        for name, shape in fields_of(api_type(type_name)).items():
            found = _classify(type_name, name, named)
            yield found
            item = shape.item
            if found.support is not Support.NAMED and not isinstance(item, Scalar) and item not in seen:
                seen.add(item)
                waiting.append(item)


def _classify(type_name: str, name: str, named: Mapping[str, str]) -> FieldSupport:
    key = f"{type_name}.{name}"
    classes = [
        FieldSupport(type_name, name, support, reason)
        for support, reason in (
            (Support.WORKS, "" if name in _WORKS.get(type_name, "").split() else None),
            (Support.PART, PARTS.get(key)),
            (Support.NAMED, named.get(key)),
        )
        if reason is not None
    ]
    if len(classes) != 1:
        message = f"{key} is in {len(classes)} classes of kubelet_emu.manifests.field_support"
        raise LookupError(message)
    return classes[0]
