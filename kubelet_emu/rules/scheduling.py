"""Whether the one node that there is suits a pod, in the scheduler's words.

Source: kube-scheduler v1.36 filter plugins NodeAffinity, NodePorts, NodeResourcesFit in this order (the first that
refuses decides), FitError.Error, and default preemption, which finds nobody to evict.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubelet_emu.rules.disruption import is_critical_pod
from kubelet_emu.rules.node_fit import (
    has_free_host_ports,
    insufficient_resources,
    matches_node_affinity,
    node_labels,
)

if TYPE_CHECKING:
    from kubelet_emu.api.v1 import Pod
    from kubelet_emu.rules.admission import NodeFacts
    from kubelet_emu.rules.node_usage import NodeUsage

NOT_MATCHED = "1 node(s) didn't match Pod's node affinity/selector"
NO_FREE_PORTS = "1 node(s) didn't have free ports for the requested pod ports"
_NOT_HELPFUL = "1 Preemption is not helpful for scheduling."
_NO_VICTIMS = "1 No preemption victims found for incoming pod."


def why_unschedulable(pod: Pod, node: NodeFacts, usage: NodeUsage) -> str:
    """Return the message of a pod that has to wait, empty for one that may go to the node.

    Differs: only pods of a controller wait for host ports and resources, for it would replace a refused one at once,
    for ever. Any other goes to the kubelet, whose refusal ends it: nobody waits for what won't come. So does a critical
    one: the kubelet makes room for it.
    """
    if not matches_node_affinity(pod, node.name, node_labels(node.name, node.labels, node.os)):
        return _message(NOT_MATCHED, _NOT_HELPFUL)
    if not _has_controller(pod) or is_critical_pod(pod):
        return ""
    if not has_free_host_ports(pod, usage):
        return _message(NO_FREE_PORTS, _NO_VICTIMS)
    missing = insufficient_resources(pod, node.allocatable, usage)
    if not missing:
        return ""
    names = sorted("Too many pods" if each.resource == "pods" else f"Insufficient {each.resource}" for each in missing)
    never_fits = any(each.requested > each.capacity for each in missing)
    return _message(", ".join(f"1 {name}" for name in names), _NOT_HELPFUL if never_fits else _NO_VICTIMS)


def _has_controller(pod: Pod) -> bool:
    return any(owner.controller for owner in pod.metadata.owner_references)


def _message(reasons: str, preemption: str) -> str:
    return (
        f"0/1 nodes are available: {reasons}. no new claims to deallocate, "
        f"preemption: 0/1 nodes are available: {preemption}"
    )
