"""Carrying a resize out on the running containers of a pod (KEP-1287).

Owns what was last applied to each container, which outlives a kubelet as the checkpoint on a node's disk does.
Differs: whether less memory will do is for the engine to say, a kubelet compares it with what is in use first.
Source: kubelet v1.36 doPodResizeAction, updatePodContainerResources, SyncPod.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from attrs import define, evolve, field

from kubelet_emu.api import reasons
from kubelet_emu.rules.allocation import describe_resize, in_progress_condition, is_resize_in_progress
from kubelet_emu.rules.conditions import find_condition
from kubelet_emu.rules.resize import Resource
from runtime.api import CRIError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from kubelet_emu.api.v1 import Container, Pod, ResourceRequirements
    from kubelet_emu.kubelet.recorder import Recorder
    from kubelet_emu.kubelet.status_manager import StatusManager
    from kubelet_emu.rules.allocation import Resources
    from kubelet_emu.rules.observed import ObservedPod
    from kubelet_emu.rules.pod_actions import PodActions
    from runtime.api import LinuxContainerResources, Runtime


@define(eq=False)
class Allocations:
    """What pods were granted, and what was applied to their containers, by uid."""

    allocated: dict[str, Resources] = field(factory=dict)
    actuated: dict[str, Resources] = field(factory=dict)

    def pods(self) -> Iterable[str]:
        """Return the uids of the pods that something is kept of."""
        return self.allocated.keys() | self.actuated.keys()

    def forget(self, uid: str) -> None:
        """Drop a pod that is over for good."""
        self.allocated.pop(uid, None)
        self.actuated.pop(uid, None)


@define(eq=False, kw_only=True)
class Resizer:
    """Resizes containers where they run; `container_resources` is what a container of a pod gets."""

    runtime: Runtime
    recorder: Recorder
    statuses: StatusManager
    allocations: Allocations
    container_resources: Callable[[Pod, Container], LinuxContainerResources]

    def actuated(self, uid: str) -> Mapping[str, ResourceRequirements]:
        """Return what was last applied to a pod's containers, by name."""
        return dict(self.allocations.actuated.get(uid, {}))

    def applied(self, pod: Pod, container: str, resources: ResourceRequirements) -> None:
        """Say what a container has now, or is being made with."""
        self.allocations.actuated.setdefault(pod.metadata.uid or "", {})[container] = resources

    def follow(self, pod: Pod, observed: ObservedPod) -> None:
        """Say in the pod's status that a resize goes on; one that is done is an event (kubelet v1.36 SyncPod)."""
        if is_resize_in_progress(pod, observed, self.actuated(pod.metadata.uid or "")):
            if find_condition(self.statuses.get(pod).conditions, reasons.POD_RESIZE_IN_PROGRESS) is None:
                self.statuses.set_resize_condition(pod, in_progress_condition(pod))
            return
        cleared = self.statuses.clear_resize_condition(pod, reasons.POD_RESIZE_IN_PROGRESS)
        if cleared is not None:
            sizes = describe_resize(pod, cleared.observed_generation)
            message = reasons.pod_resize(reasons.RESIZE_IS_COMPLETED, sizes)
            self.recorder.event(pod, None, reasons.NORMAL, reasons.RESIZE_COMPLETED, message)

    async def apply(self, pod: Pod, actions: PodActions, observed: ObservedPod) -> str:
        """Resize what is to be resized, memory first, and return an error text, empty when all went well.

        A failure leaves the rest to the next sync. Cancellation leaves the call in progress to the runtime.
        """
        orders = ((Resource.MEMORY, actions.memory_updates), (Resource.CPU, actions.cpu_updates))
        try:
            for resource, names in orders:
                for name in names:
                    await self._update(pod, name, resource, observed)
        except CRIError as error:
            self._tell_failure(pod, str(error))
            return str(error)
        return ""

    async def _update(self, pod: Pod, name: str, resource: Resource, observed: ObservedPod) -> None:
        """Change one resource of one container; the other stays as it was last applied."""
        container = next(c for c in (*pod.spec.init_containers, *pod.spec.containers) if c.name == name)
        status, current = observed.find(name), self.actuated(pod.metadata.uid or "")[name]
        wanted = container.resources
        if status is None or wanted is None:
            return
        key = resource.value
        resources = evolve(
            current,
            limits={**current.limits, **{k: v for k, v in wanted.limits.items() if k == key}},
            requests={**current.requests, **{k: v for k, v in wanted.requests.items() if k == key}},
        )
        limits = self.container_resources(pod, evolve(container, resources=resources))
        await self.runtime.update_container_resources(status.id, limits)
        self.applied(pod, name, resources)

    def _tell_failure(self, pod: Pod, error: str) -> None:
        condition = in_progress_condition(pod, reasons.RESIZE_IN_PROGRESS_ERROR, error)
        self.statuses.set_resize_condition(pod, condition)
        message = reasons.pod_resize(reasons.RESIZE_HAS_FAILED, describe_resize(pod, pod.metadata.generation, error))
        self.recorder.event(pod, None, reasons.WARNING, reasons.RESIZE_ERROR, message)
