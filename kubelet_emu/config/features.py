"""Feature gates by name, with their defaults in each minor version.

One table; `FeatureGates` is a value that rules ask. Sources: the kubelet's and the controllers' feature lists,
v1.28 to v1.36.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from attrs import field, frozen

if TYPE_CHECKING:
    from collections.abc import Mapping

OLDEST_MINOR = 28
NEWEST_MINOR = 36
_ALWAYS = 0
_NEVER = 1000

# The first minor version (1.N) whose default is on.
_ON_SINCE: dict[str, int] = {
    "AppArmorFields": 30,
    "ChangeContainerStatusOnKubeletRestart": _NEVER,
    "ClusterTrustBundleProjection": _NEVER,
    "ContainerCheckpoint": 30,
    "ContainerRestartRules": 35,
    "ContainerStopSignals": _NEVER,
    "DRAConsumableCapacity": 36,
    "DRAExtendedResource": 36,
    "DRANodeAllocatableResources": _NEVER,
    "DRAPartitionableDevices": 36,
    "DynamicResourceAllocation": 34,
    "EnvFiles": 35,
    "EventedPLEG": _NEVER,
    "ExecProbeTimeout": _ALWAYS,
    "GangScheduling": _NEVER,
    "GenericWorkload": _NEVER,
    "GracefulNodeShutdown": _ALWAYS,
    "GracefulNodeShutdownBasedOnPodPriority": _ALWAYS,
    "HostnameOverride": 35,
    "ImageVolume": 35,
    "ImageVolumeWithDigest": _NEVER,
    "InPlacePodLevelResourcesVerticalScaling": 36,
    "InPlacePodVerticalScaling": 33,
    "InPlacePodVerticalScalingInitContainers": 36,
    "JobBackoffLimitPerIndex": 29,
    "JobManagedBy": 32,
    "JobPodFailurePolicy": _ALWAYS,
    "JobPodReplacementPolicy": 29,
    "JobSuccessPolicy": 31,
    "KubeletCrashLoopBackOffMax": 35,
    "KubeletEnsureSecretPulledImages": 35,
    "KubeletFineGrainedAuthz": 33,
    "KubeletServiceAccountTokenForCredentialProviders": 34,
    "MatchLabelKeysInPodAffinity": 31,
    "MaxUnavailableStatefulSet": 35,
    "MemoryQoS": _NEVER,
    "NodeDeclaredFeatures": 36,
    "NodeSwap": 30,
    "PodCertificateRequest": _NEVER,
    "PodDisruptionConditions": _ALWAYS,
    "PodLevelResources": 34,
    "PodLifecycleSleepAction": 30,
    "PodLifecycleSleepActionAllowZero": 33,
    "PodLogsQuerySplitStreams": _NEVER,
    "PodObservedGenerationTracking": 34,
    "PodReadyToStartContainersCondition": 29,
    "PodSchedulingReadiness": _ALWAYS,
    "PodsAPI": _NEVER,
    "PreventStaticPodAPIReferences": 34,
    "ProcMountType": 33,
    "RecursiveReadOnlyMounts": 31,
    "ReduceDefaultCrashLoopBackOffDecay": _NEVER,
    "RelaxedDNSSearchValidation": 33,
    "RelaxedEnvironmentVariableValidation": 32,
    "ResourceHealthStatus": 36,
    "RestartAllContainersOnContainerExits": 36,
    "SELinuxChangePolicy": 33,
    "SELinuxMount": _NEVER,
    "SidecarContainers": 29,
    "StrictIPCIDRValidation": 36,
    "SupplementalGroupsPolicy": 33,
    "TaintTolerationComparisonOperators": _NEVER,
    "UserNamespacesHostNetworkSupport": _NEVER,
    "UserNamespacesSupport": 33,
    "WorkloadWithJob": _NEVER,
}

_VERSION = re.compile(r"v?1\.(\d+)(?:\.\d+)?")


def _defaults(minor: int) -> dict[str, bool]:
    return {name: since <= minor for name, since in _ON_SINCE.items()}


DEFAULTS_V1_36: dict[str, bool] = _defaults(36)


@frozen
class FeatureGates:
    """Which gates are on; a gate that is not named keeps its default (of v1.36, where no version is told)."""

    overrides: Mapping[str, bool] = field(factory=dict)
    defaults: Mapping[str, bool] = field(factory=lambda: DEFAULTS_V1_36)
    minor: int = NEWEST_MINOR
    """The version 1.N that these gates are of."""

    def enabled(self, name: str) -> bool:
        """Tell whether a gate is on; KeyError for a name the table lacks."""
        default = self.defaults[name]
        return self.overrides.get(name, default)

    def on_since(self, name: str) -> int | None:
        """Return the first minor version in which a gate is on by default, None where it isn't yet in any."""
        since = _ON_SINCE[name]
        return None if since == _NEVER else since


def gates_for(version: str, overrides: Mapping[str, bool] | None = None) -> FeatureGates:
    """Return the gates of a version such as "1.29" or "v1.36.2"; a gate that came later is off.

    ValueError for a version outside of 1.28 to 1.36.
    """
    found = _VERSION.fullmatch(version)
    minor = int(found[1]) if found else -1
    if not OLDEST_MINOR <= minor <= NEWEST_MINOR:
        raise ValueError(f"version {version!r} is not one of 1.{OLDEST_MINOR} to 1.{NEWEST_MINOR}")
    return FeatureGates(overrides=overrides or {}, defaults=_defaults(minor), minor=minor)
