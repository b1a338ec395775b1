"""The one pod that a DaemonSet has on the one node."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from attrs import evolve

from kubelet_emu.api.kinds import api_type
from kubelet_emu.api.v1 import Pod
from kubelet_emu.jobs.rules.pods import is_terminal
from kubelet_emu.rules.node_fit import matches_node_affinity
from kubelet_emu.workloads.rules import words
from kubelet_emu.workloads.rules.plan import NOTHING, Plan, WorkloadEvent, backoff_seconds
from kubelet_emu.workloads.rules.templates import pod_from_template, template_hash

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

    from kubelet_emu.api.apps_v1 import DaemonSet
    from kubelet_emu.api.v1 import PodSpec
    from kubelet_emu.api.v1_scheduling import Affinity, NodeAffinity, Toleration

_NO_NETWORK = ("node.kubernetes.io/network-unavailable", "NoSchedule")
_TAINTS = (
    ("node.kubernetes.io/not-ready", "NoExecute"),
    ("node.kubernetes.io/unreachable", "NoExecute"),
    ("node.kubernetes.io/disk-pressure", "NoSchedule"),
    ("node.kubernetes.io/memory-pressure", "NoSchedule"),
    ("node.kubernetes.io/pid-pressure", "NoSchedule"),
    ("node.kubernetes.io/unschedulable", "NoSchedule"),
)


def sync_daemon_set(
    daemon_set: DaemonSet,
    pods: Sequence[Pod],
    node_name: str,
    node_labels: Mapping[str, str],
    *,
    killed_at: Sequence[datetime],
    now: datetime,
) -> Plan:
    """Plan what gives the node its one pod; `killed_at` are the times at which failed pods were deleted before.

    Source: kubernetes v1.36 pkg/controller/daemon podsShouldBeOnNode.
    """
    alive = [pod for pod in pods if pod.metadata.deletion_timestamp is None]
    if not _should_run(daemon_set, node_name, node_labels):
        return Plan(delete=tuple(alive), note=words.no_pod_here(node_name))
    if ended := [pod for pod in alive if is_terminal(pod)]:
        return _replace(ended[0], node_name, killed_at, now)
    if not alive:
        return Plan(create=(new_pod(daemon_set, node_name),))
    return Plan(delete=tuple(alive[1:])) if len(alive) > 1 else NOTHING


def _should_run(daemon_set: DaemonSet, node_name: str, node_labels: Mapping[str, str]) -> bool:
    """Tell whether the template is for the node: its name, selector and required affinity (nodeShouldRunDaemonPod)."""
    template = daemon_set.spec.template
    is_named = template.spec.node_name in (None, "", node_name)
    return is_named and matches_node_affinity(Pod(spec=template.spec), node_name, node_labels)


def _replace(pod: Pod, node_name: str, killed_at: Sequence[datetime], now: datetime) -> Plan:
    """Delete a pod that has ended; one that failed when its back-off is over (podsShouldBeOnNode)."""
    whose = f"{pod.metadata.namespace}/{pod.metadata.name}"
    if pod.status.phase == "Succeeded":
        event = WorkloadEvent(
            type=words.NORMAL,
            reason=words.SUCCEEDED_DAEMON_POD,
            message=words.succeeded_daemon_pod(whose, node_name),
        )
        return Plan(events=(event,), delete=(pod,))
    if killed_at:
        until = killed_at[-1] + timedelta(seconds=backoff_seconds(len(killed_at)))
        if now < until:
            return Plan(look_at=until)
    event = WorkloadEvent(
        type=words.WARNING, reason=words.FAILED_DAEMON_POD, message=words.failed_daemon_pod(whose, node_name)
    )
    return Plan(events=(event,), delete=(pod,))


def new_pod(daemon_set: DaemonSet, node_name: str) -> Pod:
    """Return the pod for a node: its revision, its affinity to that node, its tolerations.

    Source: kubernetes v1.36 pkg/controller/daemon CreatePodTemplate, ReplaceDaemonSetPodNodeNameNodeAffinity.
    """
    labels = {
        words.CONTROLLER_REVISION_HASH: template_hash(daemon_set.spec.template),
        words.POD_TEMPLATE_GENERATION: "1",
    }
    pod = pod_from_template(daemon_set, daemon_set.spec.template, labels)
    spec = evolve(pod.spec, affinity=_affinity(pod.spec, node_name), tolerations=(*pod.spec.tolerations, *_own(pod)))
    return evolve(pod, spec=spec)


def _own(pod: Pod) -> tuple[Toleration, ...]:
    """Return what every daemon pod tolerates (AddOrUpdateDaemonPodTolerations)."""
    toleration = api_type("Toleration")
    taints = (*_TAINTS, _NO_NETWORK) if pod.spec.host_network else _TAINTS
    known = {(each.key, each.effect, each.operator) for each in pod.spec.tolerations}
    return tuple(
        toleration(key=key, operator="Exists", effect=effect)
        for key, effect in taints
        if (key, effect, "Exists") not in known
    )


def _affinity(spec: PodSpec, node_name: str) -> Affinity:
    """Return the affinity with its required node terms replaced by one that names the node."""
    requirement = api_type("NodeSelectorRequirement")(key="metadata.name", operator="In", values=(node_name,))
    selector = api_type("NodeSelector")(
        node_selector_terms=(api_type("NodeSelectorTerm")(match_fields=(requirement,)),)
    )
    affinity: Affinity = spec.affinity or api_type("Affinity")()
    node: NodeAffinity = affinity.node_affinity or api_type("NodeAffinity")()
    return evolve(affinity, node_affinity=evolve(node, required_during_scheduling_ignored_during_execution=selector))
