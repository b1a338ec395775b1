"""The quality of service class of a pod: Guaranteed, Burstable or BestEffort.

Source: kubernetes v1.36 pkg/apis/core/v1/helper/qos ComputePodQOS (KEP-2837 for pod-level resources).
"""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING

from kubelet_emu.api.quantity import parse_quantity
from kubelet_emu.api.v1 import ResourceRequirements

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from kubelet_emu.api.quantity import Quantity
    from kubelet_emu.api.v1 import Pod
    from kubelet_emu.config.features import FeatureGates

GUARANTEED = "Guaranteed"
BURSTABLE = "Burstable"
BEST_EFFORT = "BestEffort"

_RESOURCES = ("cpu", "memory")


def compute_pod_qos(pod: Pod, features: FeatureGates) -> str:
    """Return the class that a pod's requests and limits of cpu and memory give (ComputePodQOS)."""
    own = pod.spec.resources
    if own is not None and features.enabled("PodLevelResources"):
        groups = [own]
    else:
        containers = (*pod.spec.init_containers, *pod.spec.containers)
        groups = [container.resources or ResourceRequirements() for container in containers]
    if not _has_any(groups):
        return BEST_EFFORT
    return GUARANTEED if _is_guaranteed(groups) else BURSTABLE


def _has_any(groups: Iterable[ResourceRequirements]) -> bool:
    return any(_sum([group.requests], name) or _sum([group.limits], name) for group in groups for name in _RESOURCES)


def _is_guaranteed(groups: list[ResourceRequirements]) -> bool:
    """Tell whether each group has limits of both resources, and the requests add up to them."""
    if not all(_sum([group.limits], name) for group in groups for name in _RESOURCES):
        return False
    for name in _RESOURCES:
        requests, limits = (group.requests for group in groups), (group.limits for group in groups)
        if _sum(requests, name) != _sum(limits, name):
            return False
    return True


def _sum(quantities: Iterable[Mapping[str, Quantity]], name: str) -> Decimal:
    return sum((parse_quantity(values[name]) for values in quantities if name in values), start=Decimal(0))
