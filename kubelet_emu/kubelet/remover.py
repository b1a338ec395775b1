"""Removing what pods leave in the runtime: dead containers, sandboxes, volumes.

A container's log is read to its end before the container goes. Source: kubelet v1.36 container garbage collection
(one dead instance a name is kept), KillPod clean-up.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

import trio
from attrs import define

from runtime.api import ContainerState, CRIError, RuntimeUnavailableError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from structlog.typing import FilteringBoundLogger

    from kubelet_emu.api.v1 import Pod
    from kubelet_emu.rules.observed import ObservedPod
    from kubelet_emu.volumes.manager import VolumeManager
    from runtime.api import ContainerID, Runtime

KEPT_DEAD_INSTANCES = 1
IDT = TypeVar("IDT")


@define(eq=False, kw_only=True)
class Remover:
    """Removes containers and what belongs to them."""

    runtime: Runtime
    volumes: VolumeManager
    before_remove: Callable[[ContainerID], Awaitable[None]]
    log: FilteringBoundLogger

    async def remove_pod(self, pod: Pod, observed: ObservedPod) -> None:
        """Remove all of a pod; what fails is logged and tried again by the next housekeeping."""
        async with trio.open_nursery() as nursery:
            for container in observed.containers:
                nursery.start_soon(self._remove_container, container.id)
        async with trio.open_nursery() as nursery:
            for sandbox in observed.sandboxes:
                nursery.start_soon(self._try, "remove sandbox", self.runtime.remove_pod_sandbox, sandbox.id)
        await self._try("remove volumes of", self.volumes.remove, pod)

    async def remove_dead(self, observed: ObservedPod) -> None:
        """Remove dead instances but the newest of each container, and dead sandboxes but the newest."""
        kept: dict[str, int] = {}
        for container in observed.containers:
            if container.state is not ContainerState.EXITED:
                continue
            kept[container.metadata.name] = kept.get(container.metadata.name, 0) + 1
            if kept[container.metadata.name] > KEPT_DEAD_INSTANCES:
                await self._remove_container(container.id)
        in_use = {container.sandbox_id for container in observed.containers}
        for sandbox in observed.sandboxes[1:]:
            if sandbox.id not in in_use:
                await self._try("remove sandbox", self.runtime.remove_pod_sandbox, sandbox.id)

    async def remove_containers(self, observed: ObservedPod) -> None:
        """Remove the dead containers of an evicted pod, their logs with them (kubelet v1.36 cleanUpContainersInPod)."""
        for container in observed.containers:
            if container.state is ContainerState.EXITED:
                await self._remove_container(container.id)

    async def _remove_container(self, container_id: ContainerID) -> None:
        await self.before_remove(container_id)
        await self._try("remove container", self.runtime.remove_container, container_id)

    async def _try(self, what: str, call: Callable[[IDT], Awaitable[None]], target: IDT) -> None:
        try:
            await call(target)
        except RuntimeUnavailableError:
            return  # told once for all by the relist
        except CRIError as error:
            self.log.warning("removal failed", what=what, target=target, error=str(error))
