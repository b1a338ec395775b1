"""What status.resources and status.allocatedResources say of a whole pod (KEP-2837, KEP-5419).

Source: kubelet v1.36 convertToAPIPodLevelResourcesStatus. Differs: while the pod runs, the kubelet shows what its
cgroup has; here it is what was allocated.
"""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING

from kubelet_emu.api.quantity import format_quantity, quantity_format
from kubelet_emu.api.v1 import ResourceRequirements
from kubelet_emu.rules.resources import aggregate_limits, aggregate_requests

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from kubelet_emu.api.quantity import Quantity
    from kubelet_emu.api.v1 import Pod
    from kubelet_emu.config.features import FeatureGates

_GATE = "InPlacePodLevelResourcesVerticalScaling"


def pod_allocated_resources(pod: Pod, features: FeatureGates) -> Mapping[str, Quantity]:
    """Return the requests that the node has set aside for the pod (kubelet v1.36 allocatedResources)."""
    return _requests(pod) if features.enabled(_GATE) else {}


def pod_resources(pod: Pod, features: FeatureGates) -> ResourceRequirements | None:
    """Return requests and limits of the pod as a whole, None with the gate off (kubelet v1.36 status.resources)."""
    return pod_resources_of(pod) if features.enabled(_GATE) else None


def pod_resources_of(pod: Pod) -> ResourceRequirements:
    """Return the pod's own resources where it has them, else what its containers add up to (KEP-2837)."""
    return ResourceRequirements(requests=_requests(pod), limits=_limits(pod))


def _requests(pod: Pod) -> dict[str, Quantity]:
    own = pod.spec.resources.requests if pod.spec.resources is not None else {}
    return {**_sums(pod, lambda resources: resources.requests, aggregate_requests), **own}


def _limits(pod: Pod) -> dict[str, Quantity]:
    own = pod.spec.resources.limits if pod.spec.resources is not None else {}
    return {**_sums(pod, lambda resources: resources.limits, aggregate_limits), **own}


def _sums(
    pod: Pod,
    of: Callable[[ResourceRequirements], Mapping[str, Quantity]],
    aggregate: Callable[[Pod, str], int],
) -> dict[str, Quantity]:
    """Return the sum of each resource that a container names, written like the first of its quantities."""
    first: dict[str, Quantity] = {}
    for container in (*pod.spec.init_containers, *pod.spec.containers):
        if container.resources is not None:
            for name, quantity in of(container.resources).items():
                first.setdefault(name, quantity)
    return {
        name: format_quantity(Decimal(aggregate(pod, name)) / (1000 if name == "cpu" else 1), quantity_format(quantity))
        for name, quantity in first.items()
    }
