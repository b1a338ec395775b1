"""Binding a pod to the one node there is, as the default scheduler tells it.

A pod that names a node itself is left alone, as a real scheduler leaves it; one whose node selector or required
affinity doesn't match stays Pending, Unschedulable. Source: kube-scheduler v1.36 schedule_one.go bind,
handleSchedulingFailure.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from attrs import define, evolve

from kubelet_emu.api import reasons
from kubelet_emu.api.v1 import Pod
from kubelet_emu.api.v1_status import PodCondition
from kubelet_emu.rules.node_fit import matches_node_affinity, node_labels

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    from kubelet_emu.apiserver.store import APIServer
    from kubelet_emu.apiserver.watches import WatchEvent
    from kubelet_emu.kubelet.node import Node
    from kubelet_emu.kubelet.recorder import Recorder

SCHEDULER = "default-scheduler"
NO_NODE_MATCHES = (
    "0/1 nodes are available: 1 node(s) didn't match Pod's node affinity/selector. "
    "preemption: 0/1 nodes are available: 1 Preemption is not helpful for scheduling."
)


@define(eq=False, kw_only=True)
class Scheduler:
    """Binds each new pod at once; `APIServer.subscribe` calls it."""

    api: APIServer
    node: Callable[[], Node]
    recorder: Recorder
    now: Callable[[], datetime]

    def __call__(self, event: WatchEvent) -> None:
        """Bind a pod that has no node yet."""
        pod = event.object
        if not isinstance(pod, Pod) or event.type.value == "DELETED" or pod.spec.node_name:
            return
        if pod.metadata.deletion_timestamp is None and not _condition(pod, reasons.POD_SCHEDULED):
            self._schedule(pod)

    def _schedule(self, pod: Pod) -> None:
        namespace, name = pod.metadata.namespace or "", pod.metadata.name or ""
        node = self.node()
        if not matches_node_affinity(pod, node.name, node_labels(node.name, node.labels, node.facts().os)):
            self._set_unschedulable(pod)
            return
        bound = self.api.bind(namespace, name, node.name)
        message = reasons.assigned(f"{namespace}/{name}", node.name)
        self.recorder.event(bound, None, reasons.NORMAL, reasons.SCHEDULED, message, source=SCHEDULER)

    def _set_unschedulable(self, pod: Pod) -> None:
        condition = PodCondition(
            type=reasons.POD_SCHEDULED,
            status="False",
            reason="Unschedulable",
            message=NO_NODE_MATCHES,
            last_transition_time=self.now().replace(microsecond=0),
            observed_generation=pod.metadata.generation,
        )
        self.api.update_status(
            "Pod",
            pod.metadata.namespace or "",
            pod.metadata.name or "",
            evolve(pod.status, conditions=(*pod.status.conditions, condition)),
            uid=pod.metadata.uid or "",
        )
        self.recorder.event(pod, None, reasons.WARNING, "FailedScheduling", NO_NODE_MATCHES, source=SCHEDULER)


def _condition(pod: Pod, kind: str) -> PodCondition | None:
    return next((condition for condition in pod.status.conditions if condition.type == kind), None)
