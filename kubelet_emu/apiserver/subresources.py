"""What a pod's subresources change: eviction, ephemeralcontainers, resize. Values in, values out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from attrs import evolve

from kubelet_emu.api.v1_status import PodCondition
from kubelet_emu.apiserver.objects import whole_seconds

if TYPE_CHECKING:
    from datetime import datetime

    from kubelet_emu.api.v1 import Container, EphemeralContainer, Pod, PodSpec

EVICTION_REASON = "EvictionByEvictionAPI"
EVICTION_MESSAGE = "Eviction API: evicting"


def with_condition(pod: Pod, condition: PodCondition, now: datetime) -> Pod:
    """Return the pod with a condition set; its transition time changes with the status only.

    Source: api/v1/pod UpdatePodCondition.
    """
    old = next((known for known in pod.status.conditions if known.type == condition.type), None)
    changed_at = old.last_transition_time if old is not None and old.status == condition.status else whole_seconds(now)
    new = evolve(condition, last_transition_time=changed_at)
    if old is None:
        conditions = (*pod.status.conditions, new)
    else:
        conditions = tuple(new if known is old else known for known in pod.status.conditions)
    return evolve(pod, status=evolve(pod.status, conditions=conditions))


def with_binding(pod: Pod, node_name: str, now: datetime) -> Pod:
    """Return the pod assigned to a node and marked as scheduled, in one write (registry core/pod BindingREST)."""
    scheduled = PodCondition(type="PodScheduled", status="True", observed_generation=pod.metadata.generation)
    return with_condition(evolve(pod, spec=evolve(pod.spec, node_name=node_name)), scheduled, now)


def with_disruption_target(pod: Pod, now: datetime) -> Pod:
    """Return the pod marked as the eviction API marks it before deleting it (KEP-3329)."""
    condition = PodCondition(
        type="DisruptionTarget",
        status="True",
        reason=EVICTION_REASON,
        message=EVICTION_MESSAGE,
        observed_generation=pod.metadata.generation,
    )
    return with_condition(pod, condition, now)


def with_ephemeral_container(pod: Pod, container: EphemeralContainer) -> Pod:
    """Return the pod with one more ephemeral container; those that are there stay (KEP-277)."""
    containers = (*pod.spec.ephemeral_containers, container)
    return evolve(pod, spec=evolve(pod.spec, ephemeral_containers=containers))


def resized(old: PodSpec, new: PodSpec) -> PodSpec:
    """Return the old spec with only the resources of the new one (KEP-1287, podResizeStrategy.PrepareForUpdate)."""
    return evolve(
        old,
        containers=_with_resources(old.containers, new.containers),
        init_containers=_with_resources(old.init_containers, new.init_containers),
        resources=new.resources,
    )


def _with_resources(old: tuple[Container, ...], new: tuple[Container, ...]) -> tuple[Container, ...]:
    """Take over resources and resize policies of the containers of the same names."""
    wanted = {container.name: container for container in new}
    return tuple(
        evolve(
            container,
            resources=wanted[container.name].resources,
            resize_policy=wanted[container.name].resize_policy,
        )
        if container.name in wanted
        else container
        for container in old
    )
