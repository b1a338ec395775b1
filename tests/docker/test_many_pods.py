"""A Job of many pods on the engine: nothing of it is left there, nor in the process that ran it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, cast

import images
import pytest
import trio
from engine_pods import new_instance
from many_pods import a_cluster, delete_job, grown_since, memory_mib, residue, run_job

from kubelet_emu.kubelet.timebase import Timebase
from runtime.docker import DockerRuntime
from runtime.docker.naming import INSTANCE_LABEL

if TYPE_CHECKING:
    from docker import APIClient

    from runtime.api import Runtime

pytestmark = pytest.mark.docker

LIMIT_SECONDS = 5400.0
SLACK = 10
"""What may lie about at one moment, of threads and descriptors too, whatever the number of pods."""
MOST_GROWTH_MIB = 16
CONTAINERS_OF_A_POD = 3  # its sandbox, its sidecar, its main container
MOUNTS = Path("/proc/self/mountinfo")


def held(engine: APIClient, instance: str) -> dict[str, list[str]]:
    """Return what the engine has of an instance."""
    mine = {"label": f"{INSTANCE_LABEL}={instance}"}
    return {
        "containers": [item["Id"] for item in engine.containers(all=True, filters=mine)],
        "volumes": [item["Name"] for item in engine.volumes(filters=mine)["Volumes"] or ()],
        "networks": [item["Name"] for item in engine.networks(filters=mine)],
    }


def mounted(names: list[str]) -> list[str]:
    """Return the mounts that have one of some names in them."""
    return [line for line in MOUNTS.read_text().splitlines() if any(name in line for name in names)]


def files(root: Path) -> list[str]:
    """Return what is in a folder, at any depth."""
    return sorted(str(path) for path in root.rglob("*"))


# how many pods in all, and how many at once: one Job after another, each removed before the next
MANY = [
    pytest.param(20, 5, id="20 pods"),
    pytest.param(100, 100, id="100 at once", marks=pytest.mark.long),
    pytest.param(1000, 20, id="1000 in sequence", marks=pytest.mark.long),
]


@pytest.mark.parametrize(("pods", "at_once"), MANY)
async def test_jobs_of_many_pods_leave_nothing(engine: APIClient, tmp_path: Path, pods: int, at_once: int) -> None:
    instance, at_first = new_instance(), residue()
    with trio.fail_after(LIMIT_SECONDS):
        async with (
            DockerRuntime(instance, root=tmp_path) as runtime,
            a_cluster(cast("Runtime", runtime), Timebase.real()) as cluster,
        ):
            assert await run_job(cluster, "few", pods=at_once, parallelism=at_once, image=images.BUSYBOX)
            await delete_job(cluster, "few")
            before, files_before, containers = residue(), files(tmp_path), list[str]()
            memory_before = memory_mib()
            for number in range(pods // at_once):
                name = f"many-{number}"
                succeeded = await run_job(cluster, name, pods=at_once, parallelism=at_once, image=images.BUSYBOX)
                there = held(engine, instance)["containers"]
                assert (succeeded, len(there)) == (at_once, CONTAINERS_OF_A_POD * at_once)
                containers += there
                await delete_job(cluster, name)
                assert held(engine, instance) == {"containers": [], "volumes": [], "networks": []}
            assert mounted([*containers, str(tmp_path)]) == []
            assert files(tmp_path) == files_before
            assert await grown_since(before, slack=max(SLACK, at_once)) == {}
            assert memory_mib() < memory_before + MOST_GROWTH_MIB
            await runtime.remove_own_pause_image()
    # what a first run leaves for good, such as modules and the descriptors of Trio's own wake-ups, is no leak
    assert at_first.grown(residue(), slack=max(SLACK, at_once)).keys() & {"threads", "descriptors"} == set()
