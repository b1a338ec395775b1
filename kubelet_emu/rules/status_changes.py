"""Changes of a status between two passes: probe results and the sandbox's readiness show at once, without a sync.

Source: kubelet v1.36 status manager SetContainerReadiness, SetContainerStartup; OnPodSandboxReady.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from attrs import evolve

from kubelet_emu.api import reasons
from kubelet_emu.api.v1_status import PodCondition
from kubelet_emu.rules.conditions import (
    Observation,
    complete_conditions,
    containers_ready_condition,
    find_condition,
    ready_condition,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from datetime import datetime

    from kubelet_emu.api.v1 import Pod
    from kubelet_emu.api.v1_status import ContainerStatus, PodStatus
    from kubelet_emu.config.features import FeatureGates


def set_container_readiness(
    pod: Pod,
    status: PodStatus,
    container_name: str,
    ready: bool,  # noqa: FBT001 - the kubelet's own order of arguments
    now: datetime,
) -> PodStatus:
    """Return the status with one container's `ready` changed, and Ready and ContainersReady with it.

    A container without a status, or one that is so already, changes nothing. Source: kubelet v1.36
    SetContainerReadiness.
    """
    if all(each.ready is ready for each in _named(status, container_name)):
        return status
    changed = _with_container(status, container_name, lambda container: evolve(container, ready=ready))
    statuses = (*changed.init_container_statuses, *changed.container_statuses)
    containers_ready = containers_ready_condition(pod, statuses, changed.phase)
    made = (ready_condition(pod, changed.conditions, containers_ready), containers_ready)
    return _with_conditions(pod, changed, made, now)


def set_container_startup(
    pod: Pod,  # noqa: ARG001 - the same arguments as set_container_readiness
    status: PodStatus,
    container_name: str,
    started: bool,  # noqa: FBT001 - the kubelet's own order of arguments
    now: datetime,  # noqa: ARG001
) -> PodStatus:
    """Return the status with one container's `started` changed, the same one when it is so already.

    Source: kubelet v1.36 SetContainerStartup.
    """
    if all(each.started is started for each in _named(status, container_name)):
        return status
    return _with_container(status, container_name, lambda container: evolve(container, started=started))


def set_ready_to_start_containers(pod: Pod, status: PodStatus, now: datetime, features: FeatureGates) -> PodStatus:
    """Return the status of a pod whose sandbox has just been made (kubelet v1.36 OnPodSandboxReady, KEP-3085)."""
    if not features.enabled("PodReadyToStartContainersCondition"):
        return status
    made = PodCondition(type=reasons.POD_READY_TO_START_CONTAINERS, status="True")
    return _with_conditions(pod, status, (made,), now)


def _named(status: PodStatus, name: str) -> Iterator[ContainerStatus]:
    """Return what a status says of a container: nothing, or one entry."""
    return (each for each in (*status.init_container_statuses, *status.container_statuses) if each.name == name)


def _with_container(status: PodStatus, name: str, change: Callable[[ContainerStatus], ContainerStatus]) -> PodStatus:
    def changed(statuses: tuple[ContainerStatus, ...]) -> tuple[ContainerStatus, ...]:
        return tuple(change(each) if each.name == name else each for each in statuses)

    return evolve(
        status,
        init_container_statuses=changed(status.init_container_statuses),
        container_statuses=changed(status.container_statuses),
    )


def _with_conditions(pod: Pod, status: PodStatus, made: tuple[PodCondition, ...], now: datetime) -> PodStatus:
    """Put conditions into a status, each in its place or at the end."""
    observation = Observation(now=now, generation=pod.metadata.generation, is_tracked=bool(status.observed_generation))
    completed = {c.type: c for c in complete_conditions(made, status.conditions, observation)}
    kept = tuple(completed.get(condition.type, condition) for condition in status.conditions)
    added = tuple(c for c in completed.values() if find_condition(status.conditions, c.type) is None)
    return evolve(status, conditions=(*kept, *added))
