"""Whether a container that is not running is started again.

Owns the restart decision by what was seen of a container, and who asks for a restart of the whole pod (KEP-5532).
Sidecars are not asked here: they are restarted as long as their pod lives (KEP-753).
Invariant: a pod that is being deleted starts nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, assert_never

from kubelet_emu.api import reasons
from kubelet_emu.rules.restart_policy import (
    RESTART_ALL_CONTAINERS,
    all_containers_could_restart,
    container_should_restart,
    find_matching_container_restart_rule,
)
from runtime.api import ContainerState

if TYPE_CHECKING:
    from kubelet_emu.api.v1 import AnyContainer, Pod
    from kubelet_emu.api.v1_status import PodStatus
    from kubelet_emu.config.features import FeatureGates
    from kubelet_emu.rules.observed import ObservedPod


def should_container_be_restarted(
    container: AnyContainer, pod: Pod, observed: ObservedPod, features: FeatureGates
) -> bool:
    """Tell whether a container is to be started in a pod that lives (kubelet v1.36 ShouldContainerBeRestarted)."""
    if pod.metadata.deletion_timestamp is not None:
        return False
    status = observed.find(container.name)
    if status is None:
        return True
    match status.state:
        case ContainerState.RUNNING:
            return False
        case ContainerState.CREATED | ContainerState.UNKNOWN:
            return True
        case ContainerState.EXITED:
            return container_should_restart(container, pod, status.exit_code or 0, features)
        case _:
            assert_never(status.state)


def has_any_regular_container_existed(pod: Pod, observed: ObservedPod) -> bool:
    """Tell whether a main container was ever created (kubelet v1.36 HasAnyRegularContainerCreated)."""
    statuses = (observed.find(container.name) for container in pod.spec.containers)
    return any(s is not None and s.state is not ContainerState.UNKNOWN for s in statuses)


def asks_for_restart_of_all(container: AnyContainer, observed: ObservedPod) -> bool:
    """Tell whether this container's exit is one that restarts the whole pod.

    The container's restartPolicy is not looked at. Source: kubelet v1.36 ShouldAllContainersRestart (KEP-5532).
    """
    status = observed.find(container.name)
    if status is None or status.state is not ContainerState.EXITED:
        return False
    rule = find_matching_container_restart_rule(container, status.exit_code or 0)
    return rule is not None and rule.action == RESTART_ALL_CONTAINERS


def should_all_containers_restart(pod: Pod, observed: ObservedPod, previous_status: PodStatus) -> bool:
    """Tell whether a restart of all containers has begun or begins with what was seen.

    Source: kubelet v1.36 ShouldAllContainersRestart (KEP-5532).
    """
    for condition in previous_status.conditions:
        if condition.type == reasons.ALL_CONTAINERS_RESTARTING and condition.status == "True":
            return True
    containers = (*pod.spec.init_containers, *pod.spec.containers)
    return any(asks_for_restart_of_all(container, observed) for container in containers)


def all_containers_restart_cleaned_up(pod: Pod, observed: ObservedPod) -> bool:
    """Tell whether no instance of an init, sidecar or main container is left.

    Source: kubelet v1.36 AllContainersRestartCleanedUp (KEP-5532).
    """
    containers = (*pod.spec.init_containers, *pod.spec.containers)
    return all(observed.find(container.name) is None for container in containers)


def restarting_all_containers(
    pod: Pod, observed: ObservedPod, previous_status: PodStatus, features: FeatureGates
) -> bool:
    """Tell whether this sync resets the pod's containers: what condition AllContainersRestarting says now.

    Source: kubelet v1.36 GenerateAllContainersRestartingCondition (KEP-5532).
    """
    return (
        all_containers_could_restart(pod, features)
        and should_all_containers_restart(pod, observed, previous_status)
        and not all_containers_restart_cleaned_up(pod, observed)
    )
