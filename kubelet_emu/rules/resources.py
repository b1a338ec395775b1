"""From requests and limits to cgroup values.

Container values, pod sums (KEP-753, KEP-2837) and resourceFieldRef. Cpu is in milli-units, memory in bytes, times in
microseconds.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from attrs import field, frozen

from kubelet_emu.api.quantity import milli_value, quantity_value
from runtime.api import LinuxContainerResources

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from kubelet_emu.api.quantity import Quantity
    from kubelet_emu.api.v1 import AnyContainer, Container, Pod, ResourceRequirements

MIN_SHARES = 2
MAX_SHARES = 262144
MIN_QUOTA = 1000
DEFAULT_PERIOD = 100_000
POD_LEVEL_RESOURCES = frozenset({"cpu", "memory"})
CRITICAL_PRIORITY = 2_000_000_000

_GUARANTEED_OOM_SCORE = -997
_BEST_EFFORT_OOM_SCORE = 1000


@frozen(kw_only=True)
class NodeResources:
    """What the cgroup values of a container depend on beside the pod.

    `memory_bytes` is the machine's, `allocatable` what a missing limit stands for. `cfs_quota` False never limits
    cpu; `pids_limit` None or negative is no limit.
    """

    memory_bytes: int
    allocatable: Mapping[str, Quantity] = field(factory=dict)
    cfs_quota: bool = True
    cfs_period: int = DEFAULT_PERIOD
    pids_limit: int | None = None


def milli_cpu_to_shares(milli_cpu: int) -> int:
    """Return cpu.shares of a request (kubelet v1.36 cm.MilliCPUToShares)."""
    return max(MIN_SHARES, min(MAX_SHARES, milli_cpu * 1024 // 1000))


def milli_cpu_to_quota(milli_cpu: int, period: int = DEFAULT_PERIOD) -> int:
    """Return the CFS quota of a limit, 0 without one (kubelet v1.36 cm.MilliCPUToQuota)."""
    return 0 if milli_cpu == 0 else max(MIN_QUOTA, milli_cpu * period // 1000)


def container_resources(
    pod: Pod, container: AnyContainer, node: NodeResources, qos_class: str
) -> LinuxContainerResources:
    """Return what a container's cgroup gets.

    A request that is missing is the limit; a limit of cpu or memory that is missing is the pod's.
    Source: kubelet v1.36 generateLinuxContainerResources, calculateLinuxResources.
    """
    requests, limits = _requests(container.resources), effective_limits(pod, container)
    cpu_limit = milli_value(_quantity(limits, "cpu"))
    cpu_request = milli_value(requests["cpu"]) if "cpu" in requests else cpu_limit
    quota = milli_cpu_to_quota(cpu_limit, node.cfs_period) if node.cfs_quota else 0
    memory = quantity_value(_quantity(limits, "memory"))
    has_pids_limit = node.pids_limit is not None and node.pids_limit > 0
    return LinuxContainerResources(
        cpu_shares=milli_cpu_to_shares(cpu_request),
        cpu_quota=quota or None,
        cpu_period=node.cfs_period if quota else None,
        memory_limit_bytes=memory or None,
        oom_score_adj=oom_score_adj(pod, container, qos_class, node.memory_bytes),
        pids_limit=node.pids_limit if has_pids_limit else None,
    )


def resource_config_for_pod(pod: Pod, node: NodeResources, qos_class: str) -> LinuxContainerResources | None:
    """Return what the cgroup of a whole pod gets, None for a pod that needs none.

    Differs: a kubelet makes one for each pod. Here only resources of the pod's own and a limit of processes need it:
    what containers ask for by themselves, their own cgroups hold.
    Source: kubelet v1.36 cm.ResourceConfigForPod, KEP-2837.
    """
    pids_limit = node.pids_limit if node.pids_limit is not None and node.pids_limit > 0 else None
    own = pod.spec.resources
    if pids_limit is None and (own is None or not (own.limits or own.requests)):
        return None
    quota = milli_cpu_to_quota(_pod_cgroup_limit(pod, "cpu", qos_class), node.cfs_period) if node.cfs_quota else 0
    return LinuxContainerResources(
        cpu_shares=MIN_SHARES if qos_class == "BestEffort" else milli_cpu_to_shares(pod_request(pod, "cpu")),
        cpu_quota=quota or None,
        cpu_period=node.cfs_period if quota else None,
        memory_limit_bytes=_pod_cgroup_limit(pod, "memory", qos_class) or None,
        pids_limit=pids_limit,
    )


def _pod_cgroup_limit(pod: Pod, name: str, qos_class: str) -> int:
    """Return the limit that a pod's cgroup is held to, 0 for none: all containers need one, or the pod its own."""
    holders = [pod.spec.resources, *(c.resources for c in (*pod.spec.init_containers, *pod.spec.containers))]
    of_pod, *of_containers = (bool(_amount(name, _quantity(_limits(each), name))) for each in holders)
    is_declared = qos_class == "Guaranteed" or of_pod or all(of_containers)
    return pod_limit(pod, name) if is_declared else 0


def effective_limits(pod: Pod, container: AnyContainer) -> Mapping[str, Quantity]:
    """Return a container's limits, the pod's cpu and memory limits where it has none (KEP-2837)."""
    limits = dict(_limits(container.resources))
    for name, quantity in _limits(pod.spec.resources).items():
        if name in POD_LEVEL_RESOURCES or name.startswith("hugepages-"):
            limits.setdefault(name, quantity)
    return limits


def oom_score_adj(pod: Pod, container: AnyContainer, qos_class: str, memory_bytes: int) -> int:
    """Return the OOM score adjustment of a container on a machine with `memory_bytes`.

    Source: kubelet v1.36 qos.GetContainerOOMScoreAdjust, KEP-753 (sidecars), KEP-2837 (pod-level requests).
    """
    if qos_class == "Guaranteed" or _is_node_critical(pod):
        return _GUARANTEED_OOM_SCORE
    if qos_class == "BestEffort":
        return _BEST_EFFORT_OOM_SCORE
    spread = _spread_pod_memory(pod)
    score = 1000 - 1000 * (_memory_request(container) + spread) // memory_bytes
    if container in pod.spec.init_containers and container.restart_policy == "Always":
        smallest = min(_memory_request(regular) for regular in pod.spec.containers)
        score = min(score, 1000 - 1000 * (smallest + spread) // memory_bytes)
    return max(1000 + _GUARANTEED_OOM_SCORE, min(score, _BEST_EFFORT_OOM_SCORE - 1))


def aggregate_requests(pod: Pod, name: str) -> int:
    """Return the containers' effective request of a resource: the larger of the running sum and each init's peak.

    Source: KEP-753, kubernetes v1.36 resourcehelper AggregateContainerRequests.
    """
    return _aggregate(pod, name, lambda container: _requests(container.resources))


def aggregate_limits(pod: Pod, name: str) -> int:
    """Return the containers' effective limit of a resource (resourcehelper AggregateContainerLimits)."""
    return _aggregate(pod, name, lambda container: _limits(container.resources))


def pod_request(pod: Pod, name: str) -> int:
    """Return what a pod asks of a node: its own request or its containers', and the overhead (PodRequests)."""
    own = _requests(pod.spec.resources)
    value = _amount(name, own[name]) if name in own else aggregate_requests(pod, name)
    return value + _amount(name, _quantity(pod.spec.overhead, name))


def pod_limit(pod: Pod, name: str) -> int:
    """Return a pod's limit, 0 for none; overhead is added only where there is a limit (PodLimits)."""
    own = _limits(pod.spec.resources)
    value = _amount(name, own[name]) if name in own else aggregate_limits(pod, name)
    return value + _amount(name, _quantity(pod.spec.overhead, name)) if value else 0


def resource_field_value(
    pod: Pod, container: AnyContainer, resource: str, divisor: Quantity | None, allocatable: Mapping[str, Quantity]
) -> str:
    """Return a resourceFieldRef's value: the quantity over the divisor, rounded up.

    A limit that is missing is the pod's, else what the node can allocate, except of an init container named from
    elsewhere; a request that is missing is 0.
    Source: kubernetes v1.36 ExtractContainerResourceValue, MergeContainerResourceLimits.
    """
    kind, _, name = resource.partition(".")
    if kind == "limits":
        limits = effective_limits(pod, container)
        quantity = _quantity(limits if name in limits else allocatable, name)
    else:
        quantity = _quantity(_requests(container.resources), name)
    return str(_divide(name, quantity, divisor))


def named_resource_field_value(
    pod: Pod, container_name: str, resource: str, divisor: Quantity | None, allocatable: Mapping[str, Quantity]
) -> str:
    """Return a resourceFieldRef's value of the container of that name; LookupError when there is none.

    Limits of an init container are not completed. Source: kubernetes v1.36 ExtractResourceValueByContainerName.
    """
    for container in pod.spec.containers:
        if container.name == container_name:
            return resource_field_value(pod, container, resource, divisor, allocatable)
    for container in pod.spec.init_containers:
        if container.name == container_name:
            kind, _, name = resource.partition(".")
            values = _limits(container.resources) if kind == "limits" else _requests(container.resources)
            return str(_divide(name, _quantity(values, name), divisor))
    raise LookupError(f"container {container_name} not found")


def _divide(name: str, quantity: str, divisor: Quantity | None) -> int:
    by = divisor if divisor and quantity_value(divisor) else "1"
    return -(-_amount(name, quantity) // _amount(name, by))


def _amount(name: str, quantity: str) -> int:
    return milli_value(quantity) if name == "cpu" else quantity_value(quantity)


def _quantity(values: Mapping[str, Quantity], name: str) -> str:
    return values.get(name) or "0"


def _aggregate(pod: Pod, name: str, of: Callable[[Container], Mapping[str, Quantity]]) -> int:
    sidecars = peak = 0
    for container in pod.spec.init_containers:
        value = _amount(name, _quantity(of(container), name))
        if container.restart_policy == "Always":
            sidecars += value
            peak = max(peak, sidecars)
        else:
            peak = max(peak, sidecars + value)
    regular = sum(_amount(name, _quantity(of(container), name)) for container in pod.spec.containers)
    return max(regular + sidecars, peak)


def _spread_pod_memory(pod: Pod) -> int:
    own = _requests(pod.spec.resources)
    if "memory" not in own:
        return 0
    count = len(pod.spec.containers) + len(pod.spec.init_containers)
    return (quantity_value(own["memory"]) - aggregate_requests(pod, "memory")) // count


def _memory_request(container: AnyContainer) -> int:
    return quantity_value(_quantity(_requests(container.resources), "memory"))


def _is_node_critical(pod: Pod) -> bool:
    is_critical = (pod.spec.priority or 0) >= CRITICAL_PRIORITY
    return is_critical and pod.spec.priority_class_name == "system-node-critical"


def _requests(resources: ResourceRequirements | None) -> Mapping[str, Quantity]:
    return resources.requests if resources is not None else {}


def _limits(resources: ResourceRequirements | None) -> Mapping[str, Quantity]:
    return resources.limits if resources is not None else {}
