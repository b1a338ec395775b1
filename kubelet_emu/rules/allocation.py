"""What a resize asks of the node: which resources a pod has been given, and what is told of the change (KEP-1287).

Three values for each container: desired is what the API says, allocated what the node has granted, actuated what was
last applied to the running container. All of the kubelet works with the allocated ones.
Source: kubelet v1.36 pkg/kubelet/allocation, pkg/kubelet/events (PodResize messages).
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from attrs import evolve

from kubelet_emu.api import reasons
from kubelet_emu.api.codec import encode
from kubelet_emu.api.v1 import ResourceRequirements
from kubelet_emu.api.v1_status import PodCondition
from kubelet_emu.rules.conditions import find_condition
from kubelet_emu.rules.qos import BEST_EFFORT, BURSTABLE, GUARANTEED, compute_pod_qos
from kubelet_emu.rules.resize import compute_resize_action
from kubelet_emu.rules.resources import pod_request
from runtime.api import ContainerState

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from kubelet_emu.api.v1 import Container, Pod
    from kubelet_emu.api.v1_status import PodStatus
    from kubelet_emu.config.features import FeatureGates
    from kubelet_emu.rules.observed import ObservedPod

Resources = dict[str, ResourceRequirements]
"""Resources by container name."""

_QOS_ORDER = {GUARANTEED: 0, BURSTABLE: 1, BEST_EFFORT: 2}


def resources_of(pod: Pod) -> Resources:
    """Return what a pod's containers ask for."""
    containers = (*pod.spec.init_containers, *pod.spec.containers)
    return {container.name: container.resources or ResourceRequirements() for container in containers}


def with_allocated(pod: Pod, allocated: Mapping[str, ResourceRequirements]) -> Pod:
    """Return a pod with the resources that the node has granted (kubelet v1.36 UpdatePodFromAllocation)."""
    if resources_of(pod) == allocated:
        return pod

    def granted(containers: tuple[Container, ...]) -> tuple[Container, ...]:
        return tuple(evolve(each, resources=allocated.get(each.name, each.resources)) for each in containers)

    spec = pod.spec
    return evolve(
        pod, spec=evolve(spec, containers=granted(spec.containers), init_containers=granted(spec.init_containers))
    )


def is_resize_in_progress(pod: Pod, observed: ObservedPod, actuated: Mapping[str, ResourceRequirements]) -> bool:
    """Tell whether a running container has not yet what was allocated to it (kubelet v1.36 IsPodResizeInProgress)."""
    return any(
        status is not None
        and status.state is ContainerState.RUNNING
        and compute_resize_action(container, actuated.get(container.name)).is_needed
        for container in (*pod.spec.init_containers, *pod.spec.containers)
        for status in (observed.find(container.name),)
    )


def resize_order(pod: Pod, before: Pod, since: datetime, features: FeatureGates) -> tuple[bool, int, int, datetime]:
    """Return what sorts pods that wait for a resize: what shrinks goes first, then by priority, class and waiting time.

    `before` is the pod with what it has. Source: kubelet v1.36 sortPendingResizes.
    """
    grows = any(pod_request(pod, name) > pod_request(before, name) for name in ("cpu", "memory"))
    return grows, -(pod.spec.priority or 0), _QOS_ORDER[compute_pod_qos(pod, features)], since


def describe_resize(pod: Pod, generation: int | None, error: str = "") -> str:
    """Return the part of a resize's message that tells the sizes, as JSON (kubelet v1.36 podResourceSummary)."""
    facts: dict[str, object] = {}
    for name, containers in (("initContainers", pod.spec.init_containers), ("containers", pod.spec.containers)):
        if containers:
            facts[name] = [{"name": each.name, "resources": _resources(each)} for each in containers]
    if generation:
        facts["generation"] = generation
    if error:
        facts["error"] = error
    return json.dumps(facts, separators=(",", ":"), ensure_ascii=False)


def _resources(container: Container) -> object:
    """Return resources as JSON has them: limits before requests, each by name."""
    given = container.resources or ResourceRequirements()
    shown: dict[str, object] = {
        name: dict(sorted(values.items()))
        for name, values in (("limits", given.limits), ("requests", given.requests))
        if values
    }
    return shown | ({"claims": [encode(claim) for claim in given.claims]} if given.claims else {})


def pending_condition(pod: Pod, reason: str, message: str) -> PodCondition:
    """Make PodResizePending: the node can't grant the resize, now (Deferred) or ever (Infeasible)."""
    return _condition(pod, reasons.POD_RESIZE_PENDING, reason, message)


def in_progress_condition(pod: Pod, reason: str | None = None, message: str | None = None) -> PodCondition:
    """Make PodResizeInProgress; with a reason the last attempt failed."""
    return _condition(pod, reasons.POD_RESIZE_IN_PROGRESS, reason, message)


def _condition(pod: Pod, kind: str, reason: str | None, message: str | None) -> PodCondition:
    generation = pod.metadata.generation or None
    return PodCondition(type=kind, status="True", reason=reason, message=message, observed_generation=generation)


def set_resize_condition(status: PodStatus, condition: PodCondition, now: datetime) -> PodStatus:
    """Return a status with a resize condition, which a change of its reason dates anew.

    Source: kubelet v1.36 updatedPodResizeCondition.
    """
    old = find_condition(status.conditions, condition.type)
    is_kept = old is not None and old.reason == condition.reason
    since = old.last_transition_time if is_kept and old is not None else now
    new = evolve(condition, last_probe_time=now, last_transition_time=since)
    return evolve(status, conditions=(*(c for c in status.conditions if c.type != condition.type), new))


def clear_resize_condition(status: PodStatus, kind: str) -> PodStatus:
    """Return a status without a condition."""
    if find_condition(status.conditions, kind) is None:
        return status
    return evolve(status, conditions=tuple(c for c in status.conditions if c.type != kind))
