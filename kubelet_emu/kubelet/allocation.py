"""Granting resizes: which resources each pod may have, and which resizes wait (KEP-1287).

A resize that the node has no room for waits: it is tried again when a pod ends or shrinks, and every three minutes.
Source: kubelet v1.36 pkg/kubelet/allocation/allocation_manager.go.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import trio
from attrs import define, evolve, field, frozen

from kubelet_emu.api import reasons
from kubelet_emu.kubelet.timebase import Lane
from kubelet_emu.rules.allocation import (
    describe_resize,
    in_progress_condition,
    pending_condition,
    resize_order,
    resources_of,
    with_allocated,
)

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    from kubelet_emu.api.v1 import Pod
    from kubelet_emu.kubelet.pod_admission import PodAdmission
    from kubelet_emu.kubelet.resizer import Allocations
    from kubelet_emu.kubelet.services import NodeServices
    from kubelet_emu.rules.admission import Rejection

RETRY_SECONDS = 180.0
"""Source: kubelet v1.36 allocation.initialRetryDelay, retryDelay."""


@frozen(kw_only=True)
class _Pending:
    """A pod as the API has it, and since when its resize waits."""

    pod: Pod
    since: datetime


@define(eq=False, kw_only=True)
class AllocationManager:
    """Grants resizes to the pods of one kubelet; `on_change` is given a pod whose allocation or condition changed."""

    services: NodeServices
    admission: PodAdmission
    allocations: Allocations
    on_change: Callable[[Pod], None]
    _pending: dict[str, _Pending] = field(factory=dict, init=False)

    def granted(self, pod: Pod) -> Pod:
        """Return a pod with what it was granted; one that nothing is known of gets what it asks for."""
        allocated = self.allocations.allocated.get(pod.metadata.uid or "")
        return pod if allocated is None else with_allocated(pod, allocated)

    def add(self, pod: Pod) -> None:
        """Take a pod in that was admitted; a resize that it asked for meanwhile is tried.

        Source: kubelet v1.36 allocation manager AddPod.
        """
        self.allocations.allocated.setdefault(pod.metadata.uid or "", resources_of(self.granted(pod)))
        granted = self.update(pod)
        if granted is not pod or self._is_pending(pod):
            self.on_change(granted)

    def update(self, pod: Pod) -> Pod:
        """Take a change of a pod and return the pod with what it has now; a new size is tried at once."""
        uid, desired = pod.metadata.uid or "", resources_of(pod)
        if not self.services.features.enabled("InPlacePodVerticalScaling"):
            self.allocations.allocated[uid] = desired
            return pod
        waiting = self._pending.get(uid)
        if desired == self.allocations.allocated.get(uid, desired) or pod.metadata.deletion_timestamp is not None:
            self._withdraw(pod)
        elif waiting is not None and resources_of(waiting.pod) == desired:
            self._pending[uid] = evolve(waiting, pod=pod)
        else:
            self._pending[uid] = _Pending(pod=pod, since=self.services.timebase.now())
            self.retry(own=uid)
        return self.granted(pod)

    def replace(self, pod: Pod) -> Pod:
        """Take a change of a static pod, whose containers are not resized where they run."""
        self.allocations.allocated[pod.metadata.uid or ""] = resources_of(pod)
        return pod

    def retry(self, *, own: str = "") -> None:
        """Try all resizes that wait, in their order; `own` hears of its own from its caller."""
        for uid, pending in sorted(self._pending.items(), key=self._order):
            if self._try(uid, pending) and uid != own:
                self.on_change(self.granted(pending.pod))

    def forget(self, uid: str) -> None:
        """Drop a pod that is over for good."""
        self._pending.pop(uid, None)
        self.allocations.forget(uid)

    async def run(self) -> None:
        """Try what waits every three minutes; runs until cancelled."""
        while True:
            await trio.sleep(RETRY_SECONDS)
            await self.services.timebase.turn(Lane.WORKER, "resizes")
            self.retry()

    def _is_pending(self, pod: Pod) -> bool:
        return pod.metadata.uid in self._pending

    def _withdraw(self, pod: Pod) -> None:
        """Forget a resize that is not wanted any more."""
        if self._pending.pop(pod.metadata.uid or "", None) is not None:
            self.services.statuses.clear_resize_condition(pod, reasons.POD_RESIZE_PENDING)

    def _order(self, item: tuple[str, _Pending]) -> tuple[object, ...]:
        pod = item[1].pod
        key = f"{pod.metadata.namespace}/{pod.metadata.name}"
        return (*resize_order(pod, self.granted(pod), item[1].since, self.services.features), key)

    def _try(self, uid: str, pending: _Pending) -> bool:
        """Grant a resize if there is room; tell whether the pod's worker has something to do."""
        pod, statuses = pending.pod, self.services.statuses
        rejection = self.admission.refuses_resize(pod)
        if rejection is not None:
            return self._defer(pod, rejection)
        del self._pending[uid]
        self.allocations.allocated[uid] = resources_of(pod)
        self.admission.take(pod)
        statuses.clear_resize_condition(pod, reasons.POD_RESIZE_PENDING)
        statuses.set_resize_condition(pod, in_progress_condition(pod))
        message = reasons.pod_resize(reasons.RESIZE_IS_STARTED, describe_resize(pod, pod.metadata.generation))
        self.services.recorder.event(pod, None, reasons.NORMAL, reasons.RESIZE_STARTED, message)
        return True

    def _defer(self, pod: Pod, rejection: Rejection) -> bool:
        """Let a resize wait, and say so if that is news."""
        condition = pending_condition(pod, reasons.RESIZE_PENDING_DEFERRED, rejection.message)
        if not self.services.statuses.set_resize_condition(pod, condition):
            return False
        sizes = describe_resize(pod, pod.metadata.generation, rejection.message)
        message = reasons.pod_resize(rejection.reason, sizes)
        self.services.recorder.event(pod, None, reasons.WARNING, reasons.RESIZE_DEFERRED, message)
        return True
