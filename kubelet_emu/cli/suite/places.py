"""Where scenarios run: all that `test` knows of a runtime.

A place runs scenarios, some at a time, and tells of each what became of it. On an engine the scenarios share one
process and whatever an `OpenWorld` opens for them: the runtime, its limiters, the folders.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Protocol

import trio

from kubelet_emu.cli.failures import explain
from kubelet_emu.scenarios.runner import Outcome
from kubelet_emu.scenarios.scenario_file import Scenario

RunScenario = Callable[[Scenario], Awaitable[Outcome]]
OpenWorld = Callable[[], AbstractAsyncContextManager[RunScenario]]


class Listener(Protocol):
    """Hears of scenarios while they run."""

    def began(self, scenario: Scenario) -> None:
        """Hear that a scenario runs now."""

    def ended(self, scenario: Scenario, outcome: Outcome) -> None:
        """Hear how a scenario went."""


Place = Callable[[Sequence[Scenario], int, Listener], None]
"""Runs scenarios in the order given, so many at a time; KeyboardInterrupt leaves nothing running."""


def shared_world(open_world: OpenWorld) -> Place:
    """Return a place whose scenarios share one process and what `open_world` gives."""

    def run(scenarios: Sequence[Scenario], jobs: int, listener: Listener) -> None:
        trio.run(_run_all, open_world, scenarios, jobs, listener)

    return run


async def _run_all(open_world: OpenWorld, scenarios: Sequence[Scenario], jobs: int, listener: Listener) -> None:
    """Run scenarios in one world; cancellation reaches each of them, then the world is closed."""
    free = trio.Semaphore(jobs)

    async def run(scenario: Scenario, run_scenario: RunScenario) -> None:
        try:
            listener.began(scenario)
            listener.ended(scenario, await guarded(scenario, run_scenario))
        finally:
            free.release()

    async with open_world() as run_scenario, trio.open_nursery() as nursery:
        for scenario in scenarios:
            await free.acquire()
            nursery.start_soon(run, scenario, run_scenario)


async def guarded(scenario: Scenario, run_scenario: RunScenario) -> Outcome:
    """Run one scenario; a bug that shows in it is its outcome, so that the others go on."""
    try:
        return await run_scenario(scenario)
    except Exception as bug:  # noqa: BLE001 - the edge of one scenario
        return Outcome(name=scenario.name, error=explain(bug).text)
