"""`--runtime simulated`: a run in virtual time.

Nothing of the machine is touched: no engine, no folder, no real clock. The epoch is fixed and every number comes from
the seed, so the same seed gives the same records, byte for byte.
"""

from __future__ import annotations

import gc
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import trio
from attrs import define, field
from trio.testing import MockClock

from kubelet_emu.cli.emulator import SIMULATED_NODE, make_cluster
from kubelet_emu.cli.failures import SpinError
from kubelet_emu.kubelet.virtual_clock import VirtualClock
from kubelet_emu.simulator.opening import Machine, open_machine

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from kubelet_emu.cli.emulator import ClusterEmulator
    from kubelet_emu.cli.run_plan import Running

MOST_STEPS_AT_ONE_INSTANT = 1_000_000
COLLECT_AFTER = 1_000_000


def collect_less_often() -> None:
    """Have this process look for cycles less often: many pods are many values, and hardly a cycle among them.

    With Python's own threshold a thousand pods spend a third of their time on looking. What cycles there are, a few
    hundred objects a pod, may wait until there are a million new objects: some 100 MB at most.
    """
    gc.freeze()
    gc.set_threshold(COLLECT_AFTER)


def virtual_clock(speed: float | None) -> trio.abc.Clock:
    """Return a clock that jumps over every wait, or one that runs `speed` times as fast as the real one."""
    return VirtualClock() if speed is None else MockClock(rate=speed)


@asynccontextmanager
async def open_simulated(running: Running) -> AsyncIterator[ClusterEmulator]:
    """Give a node whose containers are simulated; SpinError when virtual time stands still."""
    timebase, plan = running.timebase, running.plan
    machine = Machine(
        seed=plan.seed,
        simulation=plan.inputs.simulation,
        runnables=plan.inputs.runnables,
        exit_code_on_term=plan.options.sim_on_term,
        hostname=plan.options.node_name or SIMULATED_NODE,
    )
    watch = SpinWatch()
    trio.lowlevel.add_instrument(watch)
    try:
        async with open_machine(machine, timebase) as opened:
            with watch.scope:
                emulator = make_cluster(running, opened.runtime, await opened.runtime.status())
                opened.furnish(emulator.cluster)
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
