"""`--runtime simulated`: a run in virtual time.

Nothing of the machine is touched: no engine, no folder, no real clock. The epoch is fixed and every number comes from
the seed, so the same seed gives the same records, byte for byte.
"""

from __future__ import annotations

import gc
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING, cast

import trio
from attrs import define, field
from trio.testing import MockClock

from kubelet_emu.cli.emulator import make_cluster
from kubelet_emu.cli.failures import SpinError
from kubelet_emu.kubelet.timebase import Lane, Timebase
from kubelet_emu.simulator.machine import DEFAULT_IMAGE, make_faults, make_images
from kubelet_emu.simulator.programs import Programs
from runtime.simulated import TYPICAL, SimulatedRuntime

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from kubelet_emu.cli.emulator import ClusterEmulator
    from kubelet_emu.cli.execution import Running
    from runtime.api import Runtime

EPOCH = datetime(2026, 1, 1, tzinfo=UTC)
MOST_STEPS_AT_ONE_INSTANT = 1_000_000
COLLECT_AFTER = 20_000


def collect_less_often() -> None:
    """Have this process look for cycles less often: many pods are many values, and hardly a cycle among them.

    With Python's own threshold a thousand pods spend a third of their time on looking.
    """
    gc.freeze()
    gc.set_threshold(COLLECT_AFTER)


def virtual_clock(speed: float | None) -> trio.abc.Clock:
    """Return a clock that jumps over every wait, or one that runs `speed` times as fast as the real one."""
    return MockClock(autojump_threshold=0) if speed is None else MockClock(rate=speed)


def virtual_timebase() -> Timebase:
    """Return the timebase of a simulated run."""
    return Timebase(epoch=EPOCH, is_virtual=True)


@asynccontextmanager
async def open_simulated(running: Running) -> AsyncIterator[ClusterEmulator]:
    """Give a node whose containers are simulated; SpinError when virtual time stands still."""
    timebase, plan = running.timebase, running.plan
    simulation, runnables = plan.inputs.simulation, plan.inputs.runnables

    programs = Programs(simulation=simulation, emit=running.emit, exit_code_on_term=plan.options.sim_on_term)
    runtime = SimulatedRuntime(
        timebase.now,
        seed=plan.seed,
        turn=partial(timebase.turn, Lane.PROGRAM),
        images=make_images(simulation, runnables),
        default_image=DEFAULT_IMAGE,
        latencies=TYPICAL,
        faults=make_faults(simulation, runnables),
        exit_code_on_term=plan.options.sim_on_term,
        adapt=programs,
    )
    watch = SpinWatch()
    trio.lowlevel.add_instrument(watch)
    try:
        async with runtime:
            with watch.scope:
                emulator = make_cluster(running, cast("Runtime", runtime), await runtime.status())
                programs.furnish(emulator.cluster)
                yield emulator
    finally:
        trio.lowlevel.remove_instrument(watch)
    if watch.scope.cancelled_caught:
        raise SpinError(f"virtual time stands still at {timebase.seconds():.3f} s: task {watch.spinning!r} never waits")


@define(eq=False)
class SpinWatch(trio.abc.Instrument):
    """Counts steps at one instant and cancels its scope when there are too many."""

    most_steps: int = MOST_STEPS_AT_ONE_INSTANT
    scope: trio.CancelScope = field(factory=trio.CancelScope)
    spinning: str = ""
    _at: float = -1.0
    _steps: int = 0

    def before_task_step(self, task: trio.lowlevel.Task) -> None:
        """Count a step."""
        now = trio.current_time()
        if now != self._at:
            self._at, self._steps = now, 0
        self._steps += 1
        if self._steps > self.most_steps and not self.spinning:
            self.spinning = task.name
            self.scope.cancel()
