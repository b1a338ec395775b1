"""Which pods the node takes, and who makes room for a critical one.

Owns what the admitted pods take of the node, and who was refused: such a pod is never admitted again. One pod is
admitted after another. Source: kubelet v1.36 HandlePodAdditions, rejectPod, pkg/kubelet/preemption.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import trio
from attrs import define, field

from kubelet_emu.api import reasons, reasons_node
from kubelet_emu.rules.admission import Rejection, admit, admit_with_room
from kubelet_emu.rules.disruption import PREEMPTED_STATUS, Termination
from kubelet_emu.rules.node_usage import NodeUsage
from kubelet_emu.rules.preemption import missing_resources, pods_to_preempt
from kubelet_emu.rules.statuses import rejected_pod_status

if TYPE_CHECKING:
    from collections.abc import Callable

    from kubelet_emu.api.v1 import Pod
    from kubelet_emu.kubelet.node_kills import NodeKills
    from kubelet_emu.kubelet.services import NodeServices
    from kubelet_emu.rules.admission import NodeFacts


@define(eq=False, kw_only=True)
class PodAdmission:
    """Admits the pods of one kubelet; `active_pods` are those that may still run."""

    services: NodeServices
    node: Callable[[], NodeFacts]
    kills: NodeKills
    active_pods: Callable[[], tuple[Pod, ...]]
    usage: NodeUsage = field(factory=NodeUsage, init=False)
    _counted: dict[str, Pod] = field(factory=dict, init=False)
    _rejected: set[str] = field(factory=set, init=False)
    _room_made: trio.Event | None = field(default=None, init=False)

    async def refuses(self, pod: Pod) -> bool:
        """Tell whether a pod isn't admitted, and if so say why and publish that it failed (kubelet v1.36 rejectPod).

        Returns at once unless others have to end for a critical pod: then when they have.
        """
        while self._room_made is not None:
            await self._room_made.wait()
        rejection = admit(pod, self.node(), self.usage, self.services.features)
        if rejection is not None and rejection.insufficient:
            rejection = await self._make_room(pod, rejection)
        if rejection is None:
            return False
        self._reject(pod, rejection)
        return True

    def is_rejected(self, uid: str) -> bool:
        """Tell whether a pod was refused."""
        return uid in self._rejected

    def forget(self, uid: str) -> None:
        """Drop a pod that is gone."""
        self._rejected.discard(uid)

    def take(self, pod: Pod) -> None:
        """Count a pod with what it has now."""
        self.release(pod)
        self.usage = self.usage.with_pod(pod)
        self._counted[pod.metadata.uid or ""] = pod

    def release(self, pod: Pod) -> None:
        """Count a pod no more: nothing of it can be running."""
        counted = self._counted.pop(pod.metadata.uid or "", None)
        if counted is not None:
            self.usage = self.usage.without_pod(counted)

    def refuses_resize(self, pod: Pod) -> Rejection | None:
        """Return why a pod can't have its new size, None when it can; nobody makes room for it.

        Source: kubelet v1.36 allocation manager canResizePod.
        """
        counted = self._counted.get(pod.metadata.uid or "")
        others = self.usage if counted is None else self.usage.without_pod(counted)
        return admit(pod, self.node(), others, self.services.features)

    def _reject(self, pod: Pod, rejection: Rejection) -> None:
        services, uid = self.services, pod.metadata.uid or ""
        services.recorder.event(pod, None, reasons.WARNING, rejection.reason, rejection.message)
        now = services.timebase.now()
        status = rejected_pod_status(pod, rejection.reason, rejection.message, now, services.features)
        if pod.metadata.deletion_timestamp is None:
            self._rejected.add(uid)
            services.statuses.containers_stopped(uid)
        services.statuses.set_pod_status(pod, status)

    async def _make_room(self, pod: Pod, rejection: Rejection) -> Rejection | None:
        """End other pods for a critical one, and return why it is refused all the same.

        Source: kubelet v1.36 CriticalPodAdmissionHandler.HandleAdmissionFailure, evictPodsToFreeRequests.
        """
        features = self.services.features
        victims = pods_to_preempt(pod, self.active_pods(), rejection.insufficient, features)
        if victims is None:
            missing = missing_resources(rejection.insufficient)
            message = reasons_node.no_pods_to_preempt([(each.resource, each.requested) for each in missing])
            return Rejection(reason=reasons_node.UNEXPECTED_ADMISSION_ERROR, message=message)
        self._room_made = made = trio.Event()
        try:
            for victim in victims:
                await self._preempt(victim)
        finally:
            self._room_made = None
            made.set()
        return admit_with_room(pod, self.node(), features)

    async def _preempt(self, victim: Pod) -> None:
        self.services.recorder.event(victim, None, reasons.WARNING, reasons.PREEMPTING, reasons_node.PREEMPTED_MESSAGE)
        await self.kills.kill(victim, Termination(why="preempted", status=PREEMPTED_STATUS, removes_containers=True))
