"""Whether a pod fits on a node: resources, affinity, name, host ports, taints.

The predicates of kubelet admission, each as a question about a pod and a node. Requests are effective ones: sidecars
count for as long as they run beside what comes after them (KEP-753), and pod-level requests replace the containers'
(KEP-2837). Source: kubelet v1.36 pkg/kubelet/lifecycle/predicate.go and the scheduler plugins it asks.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from attrs import frozen

from kubelet_emu.api.labels import HOSTNAME_LABEL, OS_LABEL
from kubelet_emu.api.quantity import milli_value, quantity_value
from kubelet_emu.rules.node_usage import host_ports, requested_names
from kubelet_emu.rules.resources import pod_request

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from kubelet_emu.api.quantity import Quantity
    from kubelet_emu.api.v1 import Pod
    from kubelet_emu.api.v1_scheduling import NodeSelectorRequirement, NodeSelectorTerm, Toleration
    from kubelet_emu.rules.node_usage import NodeUsage

NO_EXECUTE = "NoExecute"
_FIRST_RESOURCES = ("cpu", "memory", "ephemeral-storage")


@frozen
class Taint:
    """A taint of the node (core/v1 Taint)."""

    key: str
    effect: str
    value: str = ""


@frozen(kw_only=True)
class Insufficient:
    """A resource of which the node has too little; cpu in milli-units, memory in bytes, pods as a number."""

    resource: str
    requested: int
    used: int
    capacity: int


def insufficient_resources(pod: Pod, allocatable: Mapping[str, Quantity], usage: NodeUsage) -> tuple[Insufficient, ...]:
    """Return what the node has too little of, in the order pods, cpu, memory, storage, others.

    Extended resources that the node doesn't know are ignored; huge pages are none of these, they are Kubernetes' own.
    Source: scheduler noderesources.Fits, kubelet v1.36 removeMissingExtendedResources.
    """
    found = []
    if "pods" in allocatable and usage.pods + 1 > (capacity := quantity_value(allocatable["pods"])):
        found.append(Insufficient(resource="pods", requested=1, used=usage.pods, capacity=capacity))
    others = requested_names(pod) - {"pods", *_FIRST_RESOURCES}
    extended = sorted(name for name in others if name in allocatable or not _is_extended(name))
    for name in (*_FIRST_RESOURCES, *extended):
        requested = pod_request(pod, name)
        capacity = _amount(name, allocatable.get(name, "0"))
        used = usage.requests.get(name, 0)
        if requested > 0 and requested > capacity - used:
            found.append(Insufficient(resource=name, requested=requested, used=used, capacity=capacity))
    return tuple(found)


def _is_extended(name: str) -> bool:
    """Tell whether a resource has a domain of its own (v1helper.IsExtendedResourceName)."""
    return "/" in name and "kubernetes.io/" not in name


def _amount(name: str, quantity: str) -> int:
    return milli_value(quantity) if name == "cpu" else quantity_value(quantity)


def matches_node_affinity(pod: Pod, name: str, labels: Mapping[str, str]) -> bool:
    """Tell whether nodeSelector and required node affinity accept the node (component-helpers nodeaffinity)."""
    if any(labels.get(key) != value for key, value in pod.spec.node_selector.items()):
        return False
    affinity = pod.spec.affinity.node_affinity if pod.spec.affinity is not None else None
    required = affinity.required_during_scheduling_ignored_during_execution if affinity is not None else None
    if required is None:
        return True
    return any(_matches_term(term, name, labels) for term in required.node_selector_terms)


def _matches_term(term: NodeSelectorTerm, name: str, labels: Mapping[str, str]) -> bool:
    """Tell whether all requirements of a term hold; a term without any matches nothing."""
    fields = {"metadata.name": name}
    held = [_matches_requirement(requirement, labels) for requirement in term.match_expressions]
    held += [_matches_requirement(requirement, fields) for requirement in term.match_fields]
    return bool(held) and all(held)


def _matches_requirement(requirement: NodeSelectorRequirement, values: Mapping[str, str]) -> bool:
    value = values.get(requirement.key)
    match requirement.operator:
        case "In":
            return value is not None and value in requirement.values
        case "NotIn":
            return value is None or value not in requirement.values
        case "Exists":
            return value is not None
        case "DoesNotExist":
            return value is None
        case "Gt" | "Lt":
            return _compares(requirement, value)
        case _:
            return False


def _compares(requirement: NodeSelectorRequirement, value: str | None) -> bool:
    try:
        left, right = int(value or ""), int("".join(requirement.values))
    except ValueError:
        return False
    return left > right if requirement.operator == "Gt" else left < right


def node_labels(name: str, labels: Mapping[str, str], os: str) -> dict[str, str]:
    """Return a node's labels with those that every kubelet sets on its node (kubelet v1.36 initialNode)."""
    return {HOSTNAME_LABEL: name, OS_LABEL: os, **labels}


def has_free_host_ports(pod: Pod, usage: NodeUsage) -> bool:
    """Tell whether no other pod has a port that this one wants (scheduler nodeports.Fits)."""
    return not any(port.conflicts_with(other) for port in host_ports(pod) for other in usage.host_ports)


def tolerates(tolerations: Iterable[Toleration], taint: Taint) -> bool:
    """Tell whether one of the tolerations covers a taint (component-helpers TolerationsTolerateTaint)."""
    return any(_tolerates(toleration, taint) for toleration in tolerations)


def _tolerates(toleration: Toleration, taint: Taint) -> bool:
    if toleration.effect and toleration.effect != taint.effect:
        return False
    if toleration.key and toleration.key != taint.key:
        return False
    if toleration.operator == "Exists":
        return True
    return toleration.operator in {None, "", "Equal"} and (toleration.value or "") == taint.value


def has_untolerated_taint(pod: Pod, taints: Iterable[Taint]) -> bool:
    """Tell whether a NoExecute taint keeps the pod away (kubelet v1.36 predicate admit handler)."""
    return any(t.effect == NO_EXECUTE and not tolerates(pod.spec.tolerations, t) for t in taints)
