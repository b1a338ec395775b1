"""Opens the machine of a simulated run: the one place where a simulated runtime is made and furnished."""

from __future__ import annotations

from contextlib import asynccontextmanager
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING, cast

from attrs import evolve, field, frozen

from kubelet_emu.kubelet.timebase import Lane, Timebase
from kubelet_emu.simulation.values import Simulation
from kubelet_emu.simulator.host_files import MachineHostPaths
from kubelet_emu.simulator.machine import DEFAULT_IMAGE, images_by_name, make_abilities, make_faults, make_images
from kubelet_emu.simulator.programs import Programs
from runtime.simulated import TYPICAL, SimulatedRuntime

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Mapping

    from kubelet_emu.cluster.cluster import Cluster
    from kubelet_emu.manifests.workloads import Workload
    from runtime.api import Runtime
    from runtime.simulated import SimulatedImage

EPOCH = datetime(2026, 1, 1, tzinfo=UTC)
"""When virtual time begins: always the same, so that a seed decides every record."""


@frozen(kw_only=True)
class Machine:
    """What a simulated machine is to be like.

    `simulation` is what simulate.yaml says, `runnables` what is known to run, `images` what registries have besides.
    """

    seed: int
    simulation: Simulation = field(factory=Simulation)
    runnables: tuple[Workload, ...] = ()
    images: Mapping[str, SimulatedImage] = field(factory=dict)
    exit_code_on_term: int | None = 0
    oom_kills_group: bool = False
    has_app_armor: bool = False
    hostname: str = "node1"


@frozen(kw_only=True)
class OpenMachine:
    """An open simulated runtime; `furnish` is called with the cluster before that runs."""

    runtime: Runtime
    furnish: Callable[[Cluster], None]


def virtual_timebase() -> Timebase:
    """Return the timebase of a simulated run."""
    return Timebase(epoch=EPOCH, is_virtual=True)


@asynccontextmanager
async def open_machine(machine: Machine, timebase: Timebase) -> AsyncIterator[OpenMachine]:
    """Give a machine with nothing on it but its images; on leaving, and when cancelled, all that runs on it ends."""
    simulation, runnables = machine.simulation, machine.runnables
    programs = Programs(simulation=simulation, exit_code_on_term=machine.exit_code_on_term)
    runtime = SimulatedRuntime(
        timebase.now,
        seed=machine.seed,
        turn=partial(timebase.turn, Lane.PROGRAM),
        images={**images_by_name(simulation), **make_images(simulation, runnables), **machine.images},
        default_image=DEFAULT_IMAGE,
        latencies=TYPICAL,
        faults=make_faults(simulation, runnables),
        abilities=make_abilities(
            simulation, oom_kills_group=machine.oom_kills_group, has_app_armor=machine.has_app_armor
        ),
        exit_code_on_term=machine.exit_code_on_term,
        adapt=programs,
        hostname=machine.hostname,
    )

    def furnish(cluster: Cluster) -> None:
        programs.furnish(cluster)
        cluster.settings = evolve(cluster.settings, host_paths=MachineHostPaths(runtime.machine.host))

    async with runtime:
        yield OpenMachine(runtime=cast("Runtime", runtime), furnish=furnish)
