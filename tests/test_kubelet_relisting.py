"""What a relist sees, and which relists are made."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import trio
from attrs import define, field
from kubelet_rig import BOTH, a_node, a_pod, lives

from kubelet_emu.kubelet.virtual_clock import VirtualClock
from runtime.simulated import FaultPlan, LostEvents

if TYPE_CHECKING:
    from kubelet_rig import Rig

    from kubelet_emu.kubelet.timing import Timing
    from runtime.simulated import SimulatedRuntime


@define(eq=False)
class Listing:
    """A runtime whose lists are counted; `tells` says whether it knows its changes."""

    inner: SimulatedRuntime
    tells: bool
    lists: list[float] = field(factory=list)

    def changes(self) -> int | None:
        """Return the runtime's count of changes."""
        return self.inner.changes() if self.tells else None

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - stands for every method
        """Return a method of the runtime; a list of all containers is counted."""
        if name == "list_containers":
            return self._list_containers
        return getattr(self.inner, name)

    async def _list_containers(self, pod_uid: str | None = None) -> object:
        if pod_uid is None:
            self.lists.append(trio.current_time())
        return await self.inner.list_containers(pod_uid)


async def live_and_be_seen(timing: Timing, seen: list[tuple[Rig, Listing]], *, tells: bool) -> None:
    """Run a pod that ends after a minute; its container is killed from outside before, and no event tells of it."""
    listings: list[Listing] = []

    def wrap(inner: SimulatedRuntime) -> Any:  # noqa: ANN401
        listings.append(Listing(inner, tells))
        return listings[0]

    faults = FaultPlan(lost_events=(LostEvents(),))
    async with a_node({"main": (lives(), lives(60))}, timing=timing, faults=faults, wrap=wrap) as node:
        seen.append((node, listings[0]))
        node.create(a_pod(restart_policy="OnFailure"))
        await node.until(30.25)
        [running] = await node.runtime.list_containers()
        await node.runtime.kill_container(running.id, "SIGKILL")
        await node.until(120)


@BOTH
def test_a_relist_that_would_see_nothing_new_is_not_made(timing: Timing) -> None:
    seen: list[tuple[Rig, Listing]] = []
    for tells in (False, True):
        trio.run(partial(live_and_be_seen, timing, seen, tells=tells), clock=VirtualClock())
    (always, each_second), (node, when_needed) = seen
    assert node.lines() == always.lines()
    assert node.pod().status.phase == "Succeeded"
    assert len(each_second.lists) > 110
    assert len(when_needed.lists) < 20
    assert set(when_needed.lists) <= set(each_second.lists)
