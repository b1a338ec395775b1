"""Binding a pod to the one node there is, as the default scheduler tells it.

A pod that names a node itself is left alone, as a real scheduler leaves it; one that the node doesn't suit stays
Pending, Unschedulable, and is looked at again when another pod makes room or the node's labels change.
Source: kube-scheduler v1.36 schedule_one.go bind, handleSchedulingFailure.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from attrs import define, evolve, field

from kubelet_emu.api import reasons
from kubelet_emu.api.v1 import Pod
from kubelet_emu.api.v1_status import PodCondition
from kubelet_emu.apiserver.watches import WatchEventType
from kubelet_emu.rules.node_usage import NodeUsage
from kubelet_emu.rules.phase import is_phase_terminal
from kubelet_emu.rules.scheduling import why_unschedulable

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    from kubelet_emu.apiserver.store import APIServer
    from kubelet_emu.apiserver.watches import WatchEvent
    from kubelet_emu.kubelet.node import Node
    from kubelet_emu.kubelet.recorder import Recorder

SCHEDULER = "default-scheduler"
UNSCHEDULABLE = "Unschedulable"


@define(eq=False, kw_only=True)
class Scheduler:
    """Binds each new pod at once; `APIServer.subscribe` calls it."""

    api: APIServer
    node: Callable[[], Node]
    recorder: Recorder
    now: Callable[[], datetime]
    _usage: NodeUsage = field(factory=NodeUsage, init=False)
    _counted: dict[str, Pod] = field(factory=dict, init=False)
    _waiting: dict[str, Pod] = field(factory=dict, init=False)
    _is_looking: bool = field(default=False, init=False)

    def __call__(self, event: WatchEvent) -> None:
        """Count a pod that has a node, bind one that has none yet, and look again when one makes room."""
        pod = event.object
        if not isinstance(pod, Pod):
            return
        is_gone = event.type is WatchEventType.DELETED
        if is_gone or pod.spec.node_name:
            self._waiting.pop(pod.metadata.uid or "", None)
            self._count(pod, is_gone=is_gone)
        elif pod.metadata.deletion_timestamp is None and not _condition(pod, reasons.POD_SCHEDULED):
            self._schedule(pod)

    def begin(self) -> None:
        """Take the pods that are there already, those that have a node first: the others wait for what is left."""
        for pod in self.api.list("Pod"):
            if pod.spec.node_name:
                self._count(pod, is_gone=False)
            else:
                self._waiting[pod.metadata.uid or ""] = pod
        self.look_again()

    def look_again(self) -> None:
        """Try the pods that wait, in the order in which they came.

        Pods of one controller want the same: when one has to wait, the others needn't be tried.
        """
        if self._is_looking:
            return
        self._is_looking = True
        refused: set[str] = set()
        try:
            for uid in tuple(self._waiting):
                pod = self.api.get_by_uid("Pod", uid)
                owner = "" if pod is None else next((each.uid for each in pod.metadata.owner_references), "")
                if pod is None or owner in refused or pod.metadata.deletion_timestamp is not None:
                    continue
                self._schedule(pod)
                if owner and uid in self._waiting:
                    refused.add(owner)
        finally:
            self._is_looking = False

    def _count(self, pod: Pod, *, is_gone: bool) -> None:
        """Keep what the pods of the node take of it; those that have ended take nothing."""
        uid = pod.metadata.uid or ""
        takes = not is_gone and not is_phase_terminal(pod.status.phase) and pod.spec.node_name == self.node().name
        known = self._counted.get(uid)
        if known is not None and takes and known.spec is pod.spec:
            return
        if known is not None:
            self._usage = self._usage.without_pod(self._counted.pop(uid))
        if takes:
            self._usage = self._usage.with_pod(pod)
            self._counted[uid] = pod
        if known is not None and self._waiting:
            self.look_again()

    def _schedule(self, pod: Pod) -> None:
        namespace, name = pod.metadata.namespace or "", pod.metadata.name or ""
        node = self.node()
        message = why_unschedulable(pod, node.facts(), self._usage)
        if message:
            self._set_unschedulable(pod, message)
            return
        self._waiting.pop(pod.metadata.uid or "", None)
        bound = self.api.bind(namespace, name, node.name)
        self._count(bound, is_gone=False)  # the next one must know it before the event comes
        text = reasons.assigned(f"{namespace}/{name}", node.name)
        self.recorder.event(bound, None, reasons.NORMAL, reasons.SCHEDULED, text, source=SCHEDULER)

    def _set_unschedulable(self, pod: Pod, message: str) -> None:
        """Say why a pod waits, unless that has been said."""
        self._waiting[pod.metadata.uid or ""] = pod
        known = _condition(pod, reasons.POD_SCHEDULED)
        if known is not None and known.message == message:
            return
        condition = PodCondition(
            type=reasons.POD_SCHEDULED,
            status="False",
            reason=UNSCHEDULABLE,
            message=message,
            last_transition_time=self.now().replace(microsecond=0),
            observed_generation=pod.metadata.generation,
        )
        others = tuple(each for each in pod.status.conditions if each is not known)
        self.api.update_status(
            "Pod",
            pod.metadata.namespace or "",
            pod.metadata.name or "",
            evolve(pod.status, conditions=(*others, condition)),
            uid=pod.metadata.uid or "",
        )
        self.recorder.event(pod, None, reasons.WARNING, "FailedScheduling", message, source=SCHEDULER)


def _condition(pod: Pod, kind: str) -> PodCondition | None:
    return next((condition for condition in pod.status.conditions if condition.type == kind), None)
