"""Scenarios in virtual time: each has a clock and a machine of its own, so they share nothing and run in processes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubelet_emu.cli.failures import explain
from kubelet_emu.cli.worlds import SimulatedWorld, run_simulated
from kubelet_emu.scenarios.runner import Outcome

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kubelet_emu.cli.suite.options import SuiteOptions
    from kubelet_emu.cli.suite.places import Listener, Place
    from kubelet_emu.scenarios.scenario_file import Scenario


def simulated_place(options: SuiteOptions) -> Place:
    """Return the place where scenarios run in virtual time."""
    world = SimulatedWorld(seed=options.seed, timing=options.timing)

    def run(scenarios: Sequence[Scenario], jobs: int, listener: Listener) -> None:  # noqa: ARG001 - one at a time
        for scenario in scenarios:
            listener.began(scenario)
            listener.ended(scenario, run_one(scenario, world))

    return run


def run_one(scenario: Scenario, world: SimulatedWorld) -> Outcome:
    """Run one scenario; a bug that shows in it is its outcome, so that the others go on."""
    try:
        return run_simulated(scenario, world)
    except Exception as bug:  # noqa: BLE001 - the edge of one scenario
        return Outcome(name=scenario.name, error=explain(bug).text)
