"""Evicts pods that outgrow their own storage limits.

One pod is evicted after another, and the next look waits until they are cleaned up. Only pods with such a limit are
measured. Differs: a kubelet measures volumes once a minute and containers as often as its runtime does, here both are
measured at each look. Source: kubelet v1.36 eviction manager.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

import trio
from attrs import define

from kubelet_emu.api import reasons
from kubelet_emu.kubelet.timebase import Lane
from kubelet_emu.rules.disruption import (
    HARD_EVICTION_GRACE_PERIOD_SECONDS,
    Termination,
    is_critical_pod,
    limit_eviction_status,
)
from kubelet_emu.rules.local_storage import StorageUsage, has_storage_limit, storage_eviction
from runtime.api import CRIError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from kubelet_emu.api.v1 import Pod
    from kubelet_emu.kubelet.node_kills import NodeKills
    from kubelet_emu.kubelet.services import NodeServices
    from runtime.api import Runtime

T = TypeVar("T")
MONITORING_SECONDS = 10.0
"""Source: kubelet v1.36 evictionMonitoringPeriod."""
CLEANUP_SECONDS = 30.0
"""How long the next look waits for evicted pods to be cleaned up (kubelet v1.36 podCleanupTimeout)."""


@define(eq=False, kw_only=True)
class StorageEviction:
    """Looks at the pods of one kubelet; `syncing_pods` are those that nobody ends yet, `ended` waits for workers."""

    services: NodeServices
    runtime: Runtime
    syncing_pods: Callable[[], tuple[Pod, ...]]
    kills: NodeKills
    ended: Callable[[tuple[str, ...]], Awaitable[None]]

    async def run(self) -> None:
        """Look every ten seconds, and again once evicted pods are cleaned up; runs until cancelled.

        Source: kubelet v1.36 eviction managerImpl.Start, waitForPodsCleanup.
        """
        evicted: tuple[str, ...] = ()
        while True:
            if evicted:
                with trio.move_on_after(CLEANUP_SECONDS):
                    await self.ended(evicted)
            else:
                await trio.sleep(MONITORING_SECONDS)
            await self.services.timebase.turn(Lane.WORKER, "storage eviction")
            pods = [pod for pod in self.syncing_pods() if has_storage_limit(pod) and not is_critical_pod(pod)]
            evicted = tuple([pod.metadata.uid or "" for pod in pods if await self._look(pod)])

    async def _look(self, pod: Pod) -> bool:
        """Measure one pod and evict it if need be; what can't be measured counts nothing."""
        message = storage_eviction(pod, await self._usage(pod))
        uid = pod.metadata.uid or ""
        if not message or uid not in {each.metadata.uid for each in self.syncing_pods()}:
            return False
        self.services.recorder.event(pod, None, reasons.WARNING, reasons.EVICTED, message)
        termination = Termination(
            why="evicted",
            override_seconds=HARD_EVICTION_GRACE_PERIOD_SECONDS,
            status=limit_eviction_status(message),
            removes_containers=True,
        )
        await self.kills.kill(pod, termination)
        return True

    async def _usage(self, pod: Pod) -> StorageUsage:
        containers: dict[str, int] = {}
        volumes: dict[str, int] = {}
        for instance in self.services.pleg.get(pod.metadata.uid or "").running():
            containers[instance.metadata.name] = await self._measured(self.runtime.container_disk_usage, instance.id)
        sources = {volume.name for volume in pod.spec.volumes if volume.empty_dir is not None}
        for name, mounted in self.services.volumes.mounted(pod).items():
            if name in sources and mounted.handle is not None:
                volumes[name] = await self._measured(self.runtime.volume_usage, mounted.handle)
        return StorageUsage(containers=containers, volumes=volumes)

    async def _measured(self, measure: Callable[[T], Awaitable[int]], what: T) -> int:
        try:
            return await measure(what)
        except CRIError as error:
            self.services.log.info("not measured", what=what, error=str(error))
            return 0
