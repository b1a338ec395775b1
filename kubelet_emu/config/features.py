"""Feature gates by name with their v1.36 defaults.

One table; `FeatureGates` is a value that rules ask. Sources: the kubelet's and the controllers' feature lists at v1.36.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from attrs import field, frozen

if TYPE_CHECKING:
    from collections.abc import Mapping

DEFAULTS_V1_36: dict[str, bool] = {
    "ChangeContainerStatusOnKubeletRestart": False,
    "ContainerRestartRules": True,
    "ContainerStopSignals": False,
    "DynamicResourceAllocation": True,
    "EnvFiles": True,
    "EventedPLEG": False,
    "ExecProbeTimeout": True,
    "GangScheduling": False,
    "GracefulNodeShutdown": True,
    "GracefulNodeShutdownBasedOnPodPriority": True,
    "HostnameOverride": True,
    "ImageVolume": True,
    "ImageVolumeWithDigest": False,
    "InPlacePodLevelResourcesVerticalScaling": True,
    "InPlacePodVerticalScaling": True,
    "InPlacePodVerticalScalingInitContainers": True,
    "JobBackoffLimitPerIndex": True,
    "JobManagedBy": True,
    "JobPodReplacementPolicy": True,
    "JobSuccessPolicy": True,
    "KubeletCrashLoopBackOffMax": True,
    "KubeletEnsureSecretPulledImages": True,
    "MemoryQoS": False,
    "NodeDeclaredFeatures": True,
    "PodLevelResources": True,
    "PodLifecycleSleepAction": True,
    "PodLifecycleSleepActionAllowZero": True,
    "PodObservedGenerationTracking": True,
    "PodReadyToStartContainersCondition": True,
    "PreventStaticPodAPIReferences": True,
    "RecursiveReadOnlyMounts": True,
    "ReduceDefaultCrashLoopBackOffDecay": False,
    "RelaxedEnvironmentVariableValidation": True,
    "ResourceHealthStatus": True,
    "RestartAllContainersOnContainerExits": True,
    "SidecarContainers": True,
    "SupplementalGroupsPolicy": True,
    "WorkloadWithJob": False,
}


@frozen
class FeatureGates:
    """Which gates are on; a gate that is not named keeps its default."""

    overrides: Mapping[str, bool] = field(factory=dict)

    def enabled(self, name: str) -> bool:
        """Tell whether a gate is on; KeyError for a name the table lacks."""
        default = DEFAULTS_V1_36[name]
        return self.overrides.get(name, default)
