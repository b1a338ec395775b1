"""What is cleaned up behind pods that are gone.

A pass every two seconds looks at all pods; a pod that something may be left of is looked at at once, and alone. So the
work grows with the number of pods, not with its square. Source: kubelet v1.36 HandlePodCleanups.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import trio
from attrs import define, field

from kubelet_emu.kubelet.pod_worker import WorkerState
from kubelet_emu.kubelet.timebase import Lane
from kubelet_emu.rules.pod_updates import orphan_pod

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from kubelet_emu.api.v1 import Pod
    from kubelet_emu.kubelet.kept_state import KeptState
    from kubelet_emu.kubelet.services import NodeServices
    from kubelet_emu.kubelet.static_pods import StaticPods
    from kubelet_emu.kubelet.timing import Timing
    from kubelet_emu.rules.observed import ObservedPod

ORPHAN_GRACE_SECONDS = 1
LAST_KEY = "~"
"""Stands behind the key of every worker."""
MAX_PERIODS = 5
"""A pass over all pods comes a period after any pass, but no later than this many periods after the one before."""


@define(eq=False, kw_only=True)
class Housekeeping:
    """Removes what pods leave behind in the runtime and in the kubelet; `unfinished` are static pods that still run."""

    services: NodeServices
    kept: KeptState
    static_pods: StaticPods
    timing: Timing
    unfinished: Callable[[], tuple[Pod, ...]]
    _untidy: dict[str, None] = field(factory=dict, init=False)
    _woken: trio.Event = field(factory=trio.Event, init=False)
    _tidied: trio.Event = field(factory=trio.Event, init=False)

    def untidy(self, uid: str) -> None:
        """Say that something may be left of a pod."""
        self._untidy[uid] = None
        self._woken.set()

    async def tidied(self) -> None:
        """Wait for the end of the next pass."""
        await self._tidied.wait()

    async def emptied(self) -> None:
        """Wait until no pod is left: none with a worker, nothing in the runtime."""
        for uid in (*self.kept.workers, *(observed.uid for observed in self.services.pleg.known())):
            self.untidy(uid)
        while self.kept.workers or (not self.kept.keeps_containers and self.services.pleg.known()):
            await self.tidied()
        await self.services.timebase.turn(Lane.CONTROLLER, "")

    async def run(self) -> None:
        """Tidy up every two seconds, and at once where something is left; runs until cancelled."""
        turn, period = self.services.timebase.turn, self.timing.housekeeping_seconds
        complete_at = latest_at = trio.current_time() + period
        while True:
            with trio.move_on_at(complete_at):
                await self._woken.wait()
            await turn(Lane.WORKER, LAST_KEY)  # after all workers of this instant, which may have something left to do
            untidy, self._untidy, self._woken = self._untidy, {}, trio.Event()
            is_complete = trio.current_time() >= complete_at
            if is_complete or self.static_pods.has_had_any:
                self.static_pods.delete_orphaned_mirrors(self.unfinished())
            await self._tidy([each.uid for each in self.services.pleg.known()] if is_complete else untidy)
            self._forget(tuple(self.kept.uids()) if is_complete else untidy)
            if is_complete:
                self.services.containers.collect_garbage()
                latest_at = trio.current_time() + MAX_PERIODS * period
            complete_at = min(trio.current_time() + period, latest_at)
            self._tidied.set()
            self._tidied = trio.Event()

    async def _tidy(self, uids: Iterable[str]) -> None:
        """Remove what is left of pods that are gone."""
        async with trio.open_nursery() as nursery:
            for uid in uids:
                if self._has_left(uid) and self._is_removed(uid):
                    nursery.start_soon(self._remove, self.services.pleg.get(uid))

    def _forget(self, uids: Iterable[str]) -> None:
        """Forget the pods of which nothing is left, those too that never had a worker of this kubelet.

        Source: kubelet v1.36 HandlePodCleanups, RemoveOrphanedStatuses, allocation manager RemoveOrphanedPods.
        """
        for uid in uids:
            is_left = self._has_left(uid) and not (self.kept.keeps_containers and uid in self.kept.workers)
            if not is_left and self._is_removed(uid):
                self.kept.forget(uid)

    def _is_removed(self, uid: str) -> bool:
        """Tell whether the API has the pod no more and no worker needs what it left."""
        worker = self.kept.workers.get(uid)
        if uid in self.static_pods.wanted:
            return False
        is_gone = self.services.api.get_by_uid("Pod", uid) is None
        return is_gone and (worker is None or worker.state is WorkerState.FINISHED)

    def _has_left(self, uid: str) -> bool:
        observed = self.services.pleg.get(uid)
        return bool(observed.sandboxes or observed.containers)

    async def _remove(self, observed: ObservedPod) -> None:
        """Remove a pod's containers and sandboxes; one that no worker has ended is stopped first.

        Differs: a kubelet kills the cgroup of an unknown pod at the same time, here it keeps its grace.
        """
        services, worker = self.services, self.kept.workers.get(observed.uid)
        pod = worker.pod if worker else orphan_pod(observed)
        if worker is None and observed.running():
            await services.killer.kill_pod(pod, observed, ORPHAN_GRACE_SECONDS)
        if not self.kept.keeps_containers:
            await services.remover.remove_pod(pod, observed)
        last = services.pleg.last_look()
        services.pleg.request(observed.uid)
        await services.pleg.newer_than(observed.uid, last)

    async def collect_garbage(self) -> None:
        """Remove dead containers but the newest of each name, once a minute; runs until cancelled.

        And volumes of pods that are gone with all their containers, so that nothing else tells of them.
        """
        while True:
            await trio.sleep(self.timing.garbage_collection_seconds)
            await self._remove_dead()
            if not self.kept.keeps_containers:
                await self.services.volumes.remove_orphans(
                    lambda uid: self._is_removed(uid) and not self._has_left(uid)
                )

    async def _remove_dead(self) -> None:
        """Look at each pod; a function of its own, so that the last one isn't held until the next minute."""
        for observed in self.services.pleg.known():
            await self.services.remover.remove_dead(observed)
