"""Where scenarios run in virtual time: each on a clock and a machine of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING

import trio
from attrs import frozen

from kubelet_emu.cli.failures import InputError
from kubelet_emu.kubelet.settings import KubeletSettings
from kubelet_emu.kubelet.timing import KUBELET, Timing
from kubelet_emu.kubelet.virtual_clock import VirtualClock
from kubelet_emu.manifests import format_problem
from kubelet_emu.scenarios.needs import APP_ARMOR, CGROUP_V2, read_needs
from kubelet_emu.scenarios.node import REGISTRY, SLOW_REGISTRY, scenario_node
from kubelet_emu.scenarios.runner import World, run_scenario
from kubelet_emu.simulation.reading import files_beside, read_file
from kubelet_emu.simulation.values import Simulation
from kubelet_emu.simulator.opening import Machine, open_machine, virtual_timebase
from runtime.simulated import PullFault, SimulatedImage

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from kubelet_emu.journal.journal import Sink
    from kubelet_emu.scenarios.runner import Outcome
    from kubelet_emu.scenarios.scenario_file import Scenario

SLOW_BYTES_PER_SECOND = 700_000.0
FAST_BYTES_PER_SECOND = 50e6
HOST_IP = "10.0.0.1"
_MIB = 1 << 20


@frozen(kw_only=True)
class SimulatedWorld:
    """How scenarios run in virtual time; `seed` decides every random number, `sinks` get every record."""

    seed: int = 1
    timing: Timing = KUBELET
    sinks: tuple[Sink, ...] = ()
    seccomp_profile_root: Path | None = None


def simulated_images(scenario: Scenario) -> Mapping[str, SimulatedImage]:
    """Return what is on the simulated node and in the registries behind it when a scenario starts."""
    pulled = SimulatedImage(bytes_per_second=FAST_BYTES_PER_SECOND)
    table = {
        f"{REGISTRY}/kemu/busybox:1": SimulatedImage(is_present=True),
        f"{REGISTRY}/kemu/busybox:2": SimulatedImage(is_present=True),
        f"{REGISTRY}/kemu/grpc:1": SimulatedImage(is_present=True),
        f"{REGISTRY}/kemu/busybox:*": pulled,
        f"{REGISTRY}/kemu/absent-*": pulled,
    }
    for name, mebibytes in scenario.fresh_images.items():
        size = mebibytes * _MIB
        for registry, speed in ((REGISTRY, FAST_BYTES_PER_SECOND), (SLOW_REGISTRY, SLOW_BYTES_PER_SECOND)):
            table[f"{registry}/kemu/{name}:1"] = SimulatedImage(size_bytes=size, bytes_per_second=speed)
    for registry in (REGISTRY, SLOW_REGISTRY):
        table[f"{registry}/*"] = SimulatedImage(fault=PullFault.NOT_FOUND)
    table["127.0.0.1:*"] = SimulatedImage(fault=PullFault.UNAVAILABLE)
    return table


def run_simulated(scenario: Scenario, world: SimulatedWorld) -> Outcome:
    """Run one scenario from its beginning to its end on a clock and a machine of its own."""
    return trio.run(_run_simulated, scenario, world, clock=VirtualClock())


async def _run_simulated(scenario: Scenario, world: SimulatedWorld) -> Outcome:
    timebase = virtual_timebase()
    needs = read_needs(scenario.needs)
    machine = Machine(
        seed=world.seed,
        simulation=_simulation_of(scenario),
        images=simulated_images(scenario),
        oom_kills_group=CGROUP_V2 in needs.places,
        has_app_armor=APP_ARMOR in needs.places,
    )
    async with open_machine(machine, timebase) as opened:
        status = await opened.runtime.status()
        return await run_scenario(
            scenario,
            World(
                runtime=opened.runtime,
                timebase=timebase,
                node=scenario_node(
                    status,
                    host_ip=HOST_IP,
                    has_app_armor=status.has_app_armor,
                    seccomp_profile_root=scenario.seccomp_profile_root or world.seccomp_profile_root,
                ),
                settings=KubeletSettings(timing=world.timing),
                seed=world.seed,
                sinks=world.sinks,
                furnish=opened.furnish,
            ),
        )


def _simulation_of(scenario: Scenario) -> Simulation:
    """Return what the simulate.yaml beside a scenario says; InputError for a faulty one."""
    value = Simulation()
    for path in files_beside([str(scenario.path), *(loaded.source.file for loaded in scenario.objects)]):
        file = read_file(path)
        if errors := [problem for problem in file.problems if problem.severity == "error"]:
            raise InputError("\n".join(format_problem(problem, file.text) for problem in errors))
        value += file.value
    return value
