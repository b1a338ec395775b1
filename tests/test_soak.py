"""A node that lives on for long, with all that may go wrong: rules hold, and nothing is kept of what is gone.

In the suite twenty virtual minutes with two dozen pods; `make soak` lives a day with two hundred, and prints what each
hour took.
"""

from __future__ import annotations

import gc
import os
import time
from typing import TYPE_CHECKING

import pytest
import trio
from attrs import define, field
from many_pods import memory_mib, residue
from soak_rig import Plan, soak

from kubelet_emu.journal.journal import MOST_GONE
from kubelet_emu.kubelet.timing import FAST, KUBELET
from kubelet_emu.kubelet.virtual_clock import VirtualClock

if TYPE_CHECKING:
    from many_pods import Residue
    from soak_rig import Soak

    from kubelet_emu.kubelet.timing import Timing

HOURS = float(os.environ.get("KUBELET_EMU_SOAK", "0"))
SLACK = 25
"""What differs by chance: which images are there. A pod, a run or a kubelet that left something would be far more."""
BOUNDED = {f"kubelet_emu.journal.journal.Journal.{name}": MOST_GONE + SLACK for name in ("_numbers", "_gone")} | {
    "kubelet_emu.kubelet.prober.ProbeManager.adopted": 500  # what ran when this kubelet began, at most
}
HOUR_SECONDS = 3600.0
ROUNDS = 4


@define(eq=False)
class Watcher:
    """Lets a node live in rounds, each of them in hours or parts of one, and counts when it is empty after each."""

    seconds: float
    step_seconds: float
    is_told: bool = False
    tasks: list[int] = field(factory=list)
    grown: list[dict[str, tuple[int, int]]] = field(factory=list)
    left: list[str] = field(factory=list)

    async def __call__(self, world: Soak) -> None:
        """Live."""
        before: Residue | None = None
        for _ in range(ROUNDS):
            ends_at = world.timebase.seconds() + self.seconds / ROUNDS
            while world.timebase.seconds() < ends_at:
                await self._step(world, min(self.step_seconds, ends_at - world.timebase.seconds()))
            await world.drain()
            self.left += [str(each) for each in await world.left()]
            now = residue()
            if before is None:
                before = now
            grown = before.grown(now, SLACK)
            self.grown.append({name: pair for name, pair in grown.items() if pair[1] > BOUNDED.get(name, 0)})
            self.tasks.append(trio.lowlevel.current_statistics().tasks_living)
            self._tell(world, "empty", f"{self.tasks[-1]} tasks, {sum(now.objects.values())} objects of ours")
            world.go_on()

    async def _step(self, world: Soak, seconds: float) -> None:
        began = time.process_time()
        await trio.sleep(seconds)
        pods = len(world.cluster.api.list("Pod"))
        self._tell(
            world, f"{pods} pods", f"{time.process_time() - began:.1f} s of CPU, {len(gc.get_objects())} objects"
        )

    def keeps_growing(self) -> set[str]:
        """Return what there was more of after each later round than after the first; chance comes and goes."""
        return set.intersection(*(set(grown) for grown in self.grown[1:]))

    def _tell(self, world: Soak, what: str, figures: str) -> None:
        if self.is_told:
            hours = world.timebase.seconds() / HOUR_SECONDS
            print(f"{hours:6.2f} h: {what}, {figures}, {memory_mib()} MiB", flush=True)  # noqa: T201 - who waits an hour for it


def lived(plan: Plan, watcher: Watcher) -> Soak:
    """Live a plan and hold it to what must hold."""
    world = trio.run(soak, plan, watcher, clock=VirtualClock())
    assert world.invariants.broken == []
    assert watcher.left == []
    assert watcher.keeps_growing() == set()
    assert max(watcher.tasks) == watcher.tasks[0]
    return world


@pytest.mark.parametrize("timing", [FAST, KUBELET], ids=lambda timing: timing.name)
def test_twenty_minutes_of_two_dozen_pods(timing: Timing) -> None:
    plan = Plan(
        seed=1, shapes=21, seconds=1200, timing=timing, touched_each=300, kubelet_restarts_each=300,
        engine_restarts_each=600,
    )  # fmt: skip
    world = lived(plan, Watcher(plan.seconds, plan.seconds))
    assert world.done.keys() >= {"kubelet restarts", "kill a sandbox", "remove a container", "delete at once"}
    assert world.invariants.seen["pods judged"] > 10
    assert world.invariants.seen["pods"] > 100


@pytest.mark.skipif(not HOURS, reason="`make soak`")
@pytest.mark.parametrize("timing", [FAST, KUBELET], ids=lambda timing: timing.name)
def test_days_of_two_hundred_pods(timing: Timing) -> None:
    plan = Plan(seed=1, shapes=160, seconds=HOURS * HOUR_SECONDS, timing=timing)
    world = lived(plan, Watcher(plan.seconds, HOUR_SECONDS, is_told=True))
    print(world.done, dict(world.invariants.seen))  # noqa: T201 - the figures of the run
