"""The clock of simulated runs: what waits goes on in turn, and nobody sleeps."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest
import trio
from trio.testing import MockClock

from kubelet_emu.kubelet.timebase import Lane, Timebase
from kubelet_emu.kubelet.virtual_clock import VirtualClock

if TYPE_CHECKING:
    from collections.abc import Callable

EPOCH = datetime(2026, 1, 1, tzinfo=UTC)
CLOCKS = [VirtualClock, lambda: MockClock(autojump_threshold=0)]
CLOCK_IDS = ["virtual clock", "Trio's mock clock"]


@pytest.mark.parametrize("clock", CLOCKS, ids=CLOCK_IDS)
def test_what_is_due_at_one_instant_goes_in_turn_and_settles_in_between(clock: Callable[[], trio.abc.Clock]) -> None:
    timebase, told = Timebase(epoch=EPOCH, is_virtual=True), list[tuple[float, str]]()

    def tell(what: str) -> None:
        told.append((trio.current_time(), what))

    async def actor(name: str, lane: Lane, *times: float) -> None:
        for at in times:
            await timebase.turn(lane, name, at)
            tell(name)
            await trio.lowlevel.checkpoint()
            tell(f"{name} follows")

    async def sleeper(*times: float) -> None:
        for at in times:
            await trio.sleep_until(at)
            tell("sleeper")

    async def run() -> None:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(timebase.referee)
            async with trio.open_nursery() as actors:
                actors.start_soon(actor, "b", Lane.WORKER, 2, 3, 3, 7.5)
                actors.start_soon(actor, "a", Lane.WORKER, 2, 3)
                actors.start_soon(actor, "z", Lane.PROGRAM, 3, 1)
                actors.start_soon(sleeper, 3, 5)
            nursery.cancel_scope.cancel()

    trio.run(run, clock=clock())
    assert told == [
        *((2, what) for what in ("a", "a follows", "b", "b follows")),
        *((3, what) for what in ("sleeper", "z", "z follows", "z", "z follows", "a", "a follows")),
        *((3, what) for what in ("b", "b follows", "b", "b follows")),
        (5, "sleeper"),
        *((7.5, what) for what in ("b", "b follows")),
    ]


@pytest.mark.parametrize("clock", CLOCKS, ids=CLOCK_IDS)
def test_what_a_put_off_raises_is_raised_where_it_was_asked_for(clock: Callable[[], trio.abc.Clock]) -> None:
    timebase = Timebase(epoch=EPOCH, is_virtual=True)

    def fail() -> float:
        raise LookupError("no such pod")

    async def run() -> None:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(timebase.referee)
            with pytest.raises(LookupError, match="no such pod"):
                await timebase.appointment(Lane.PROBE, "a").keep(5, fail)
            nursery.cancel_scope.cancel()

    trio.run(run, clock=clock())


def test_two_nodes_of_one_program_go_on_side_by_side() -> None:
    told = list[tuple[float, str]]()

    async def live(name: str, *times: float) -> None:
        timebase = Timebase(epoch=EPOCH, is_virtual=True)
        async with trio.open_nursery() as nursery:
            nursery.start_soon(timebase.referee)
            for at in times:
                await timebase.turn(Lane.WORKER, "", at)
                told.append((trio.current_time(), name))
            nursery.cancel_scope.cancel()

    async def run() -> None:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(live, "one", 1, 2, 4)
            nursery.start_soon(live, "other", 3, 4)

    trio.run(run, clock=VirtualClock())
    assert told[:3] == [(1, "one"), (2, "one"), (3, "other")]
    assert sorted(told[3:]) == [(4, "one"), (4, "other")]


def test_with_nothing_due_it_waits_for_the_world_outside() -> None:
    async def run() -> tuple[str, float]:
        return await trio.to_thread.run_sync(lambda: "done"), trio.current_time()

    assert trio.run(run, clock=VirtualClock()) == ("done", 0)
