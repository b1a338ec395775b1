"""A node that has run a Job of 200 pods holds no more afterwards than after one of 20."""

from __future__ import annotations

import trio
from many_pods import a_cluster, delete_job, grown_since, residue, run_job

from kubelet_emu.embedding.options import NodeOptions
from kubelet_emu.kubelet.virtual_clock import VirtualClock
from kubelet_emu.simulator.opening import Machine, open_machine, virtual_timebase

SLACK = 20
"""What may lie about at one moment: far less than one object for each pod."""


async def lives(pods: int) -> dict[str, tuple[int, int]]:
    machine, timebase = Machine(seed=1, simulation=NodeOptions().simulation), virtual_timebase()
    async with (
        open_machine(machine, timebase) as opened,
        a_cluster(opened.runtime, timebase, opened.furnish) as cluster,
    ):
        assert await run_job(cluster, "few", pods=20, parallelism=20, image="busybox:1") == 20
        await delete_job(cluster, "few")
        before = residue()
        assert await run_job(cluster, "many", pods=pods, parallelism=20, image="busybox:1") == pods
        await delete_job(cluster, "many")
        return await grown_since(before, SLACK)


def test_two_hundred_pods_leave_nothing_in_memory() -> None:
    assert trio.run(lives, 200, clock=VirtualClock()) == {}
