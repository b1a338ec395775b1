"""Which field belongs to which feature gate, and since which minor version the API has it.

Gates that are on in every version since 1.28 are left out. Source: kubernetes v1.28 to v1.36, DropDisabledPodFields and
the API types.
"""

from __future__ import annotations

from typing import NamedTuple


class Gated(NamedTuple):
    """A field of a pod's, a Job's or a StatefulSet's spec; `path` has the API's names, lists are walked."""

    gate: str
    path: str
    since: int
    """The first minor version whose API has the field: older ones refuse it."""
    instead: str | None = None
    """What a server puts in its place."""
    unless: str = ""
    """The value that stays."""
    leaves_nothing: bool = False
    """Whether what held nothing else goes as well."""


def _in_containers(gate: str, path: str, since: int, instead: str | None = None) -> tuple[Gated, ...]:
    return tuple(
        Gated(gate, f"{containers}.{path}", since, instead)
        for containers in ("containers", "initContainers", "ephemeralContainers")
    )


def _of_hooks(gate: str, path: str, since: int) -> tuple[Gated, ...]:
    return tuple(
        Gated(gate, f"{containers}.lifecycle.{path}", since, leaves_nothing=True)
        for containers in ("containers", "initContainers")
    )


def _in_affinity(gate: str, path: str, since: int) -> tuple[Gated, ...]:
    return tuple(
        Gated(gate, f"affinity.{kind}.{when}.{path}", since)
        for kind in ("podAffinity", "podAntiAffinity")
        for when in (
            "requiredDuringSchedulingIgnoredDuringExecution",
            "preferredDuringSchedulingIgnoredDuringExecution.podAffinityTerm",
        )
    )


POD_FIELDS = (
    Gated("SidecarContainers", "initContainers.restartPolicy", 28),
    Gated("ContainerRestartRules", "initContainers.restartPolicy", 34, unless="Always"),
    Gated("ContainerRestartRules", "initContainers.restartPolicyRules", 34),
    Gated("ContainerRestartRules", "containers.restartPolicy", 34),
    Gated("ContainerRestartRules", "containers.restartPolicyRules", 34),
    *_of_hooks("PodLifecycleSleepAction", "preStop.sleep", 29),
    *_of_hooks("PodLifecycleSleepAction", "postStart.sleep", 29),
    *_of_hooks("ContainerStopSignals", "stopSignal", 33),
    *_in_containers("EnvFiles", "env.valueFrom.fileKeyRef", 34),
    *_in_containers("RecursiveReadOnlyMounts", "volumeMounts.recursiveReadOnly", 30),
    *_in_containers("ProcMountType", "securityContext.procMount", 12, instead="Default"),
    *_in_containers("AppArmorFields", "securityContext.appArmorProfile", 30),
    *_in_containers("DynamicResourceAllocation", "resources.claims", 26),
    *_in_containers("InPlacePodVerticalScaling", "resizePolicy", 27),
    Gated("DynamicResourceAllocation", "resourceClaims", 26),
    Gated("PodLevelResources", "resources", 32),
    Gated("HostnameOverride", "hostnameOverride", 34),
    Gated("UserNamespacesSupport", "hostUsers", 25),
    Gated("GenericWorkload", "schedulingGroup", 36),
    Gated("AppArmorFields", "securityContext.appArmorProfile", 30),
    Gated("SupplementalGroupsPolicy", "securityContext.supplementalGroupsPolicy", 31),
    Gated("SELinuxChangePolicy", "securityContext.seLinuxChangePolicy", 32),
    Gated("ImageVolume", "volumes.image", 31),
    Gated("ClusterTrustBundleProjection", "volumes.projected.sources.clusterTrustBundle", 29),
    Gated("PodCertificateRequest", "volumes.projected.sources.podCertificate", 34),
    *_in_affinity("MatchLabelKeysInPodAffinity", "matchLabelKeys", 29),
    *_in_affinity("MatchLabelKeysInPodAffinity", "mismatchLabelKeys", 29),
)
"""Fields of a pod's spec."""

JOB_FIELDS = (
    Gated("JobBackoffLimitPerIndex", "backoffLimitPerIndex", 28),
    Gated("JobBackoffLimitPerIndex", "maxFailedIndexes", 28),
    Gated("JobPodReplacementPolicy", "podReplacementPolicy", 28),
    Gated("JobSuccessPolicy", "successPolicy", 30),
    Gated("JobManagedBy", "managedBy", 30),
)
"""Fields of a Job's spec."""

SET_FIELDS = (Gated("MaxUnavailableStatefulSet", "updateStrategy.rollingUpdate.maxUnavailable", 24),)
"""Fields of a StatefulSet's spec."""
