"""Many equal pods and their whole lives in virtual time, in this process: what `virtual.py` measures from outside.

`python crowd.py VARIANT PODS`; VARIANT is one of `LIVES`, or `bare`. Fast timing, the latencies of a node at rest, and
a journal that nobody reads. Prints how many records there were.
"""

from __future__ import annotations

import sys
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING

import structlog
import trio
from attrs import define, evolve
from lives import LIFE_SECONDS, LIVES, Life, live_bare

from kubelet_emu.cli.simulation import collect_less_often
from kubelet_emu.cluster.cluster import Cluster
from kubelet_emu.journal.journal import Journal
from kubelet_emu.kubelet.node import Node
from kubelet_emu.kubelet.settings import KubeletSettings
from kubelet_emu.kubelet.timebase import Lane, Timebase
from kubelet_emu.kubelet.virtual_clock import VirtualClock
from kubelet_emu.manifests import load_text
from runtime.simulated import TYPICAL, SimulatedRuntime

if TYPE_CHECKING:
    from kubelet_emu.api.v1 import Pod
    from kubelet_emu.journal.encode import Entry

EPOCH = datetime(2026, 1, 1, tzinfo=UTC)
SEED = 1
BARE = "bare"


@define
class Count:
    """A sink that keeps nothing but the number of records."""

    records: int = 0

    def __call__(self, _entry: Entry) -> None:
        """Count one."""
        self.records += 1


async def live(life: Life, pods: int) -> int:
    """Create the pods, delete them after a while, and return the number of records once nothing is left."""
    timebase, count = Timebase(epoch=EPOCH, is_virtual=True), Count()
    runtime = SimulatedRuntime(timebase.now, seed=SEED, turn=partial(timebase.turn, Lane.PROGRAM), latencies=TYPICAL)
    async with runtime, trio.open_nursery() as nursery:
        cluster = Cluster(
            runtime=runtime,
            timebase=timebase,
            node=Node(name="node1", milli_cpu=4000, memory_bytes=1 << 34, max_pods=pods),
            settings=KubeletSettings(),
            seed=SEED,
            emit=Journal(timebase.now, (count,)).emit,
            log=structlog.get_logger(),
        )
        await nursery.start(cluster.run)
        for pod in pods_of(life, pods):
            cluster.api.create(pod)
        await trio.sleep(LIFE_SECONDS)
        for pod in cluster.api.list("Pod"):
            cluster.api.delete("Pod", pod.metadata.namespace or "", pod.metadata.name or "")
        await cluster.kubelet.emptied()
        nursery.cancel_scope.cancel()
    return count.records


def pods_of(life: Life, count: int) -> list[Pod]:
    """Return equal pods under different names, read once."""
    loaded = load_text(life.manifest("pod"))
    pod: Pod = loaded.objects[0].object  # type: ignore[assignment]
    return [evolve(pod, metadata=evolve(pod.metadata, name=f"pod-{n}")) for n in range(1, count + 1)]


def main(variant: str, pods: int) -> int:
    """Live all the lives of one variant."""
    collect_less_often()
    lives = live_bare if variant == BARE else partial(live, LIVES[variant])
    print(trio.run(lives, pods, clock=VirtualClock()))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], int(sys.argv[2])))
