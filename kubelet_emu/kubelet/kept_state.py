"""What a kubelet keeps of pods, in whichever of its parts, and how it is dropped when a pod is gone.

Not every pod that leaves something had a worker: one was refused, one went while no kubelet ran, and an event may be
told of a pod that was forgotten already.
"""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING

from attrs import define

if TYPE_CHECKING:
    from collections.abc import Iterable

    from kubelet_emu.kubelet.allocation import AllocationManager
    from kubelet_emu.kubelet.kubelet import LogFollowing
    from kubelet_emu.kubelet.pod_worker import PodWorker
    from kubelet_emu.kubelet.run_journal import RunJournal
    from kubelet_emu.kubelet.services import NodeServices


@define(eq=False, kw_only=True)
class KeptState:
    """The parts that keep something by pod; `keeps_containers` when those of deleted pods stay in the runtime."""

    workers: dict[str, PodWorker]
    services: NodeServices
    allocation: AllocationManager
    runs: RunJournal
    logs: LogFollowing
    keeps_containers: bool = False

    def uids(self) -> Iterable[str]:
        """Return the uids of the pods that anything is kept of, each once."""
        services = self.services
        parts = (services.pleg, services.statuses, services.recorder, self.allocation.allocations, self.runs)
        return dict.fromkeys(chain(self.workers, *(part.pods() for part in parts)))

    def forget(self, uid: str) -> None:
        """Drop a pod that is over for good."""
        services = self.services
        self.workers.pop(uid, None)
        for part in (self.allocation, services.pleg, services.statuses, services.containers, services.recorder):
            part.forget(uid)
        if not self.keeps_containers:
            self.runs.forget_pod(uid)
            self.logs.forget_pod(uid)
