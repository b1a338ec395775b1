"""The clock of the actors, and who goes first at one instant."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pytest
import trio
import trio.testing

from kubelet_emu.kubelet.timebase import STEP, Lane, Timebase
from kubelet_emu.kubelet.timing import FAST, KUBELET

if TYPE_CHECKING:
    from random import Random

    from trio.testing import MockClock

    from kubelet_emu.kubelet.timebase import Appointment

EPOCH = datetime(2026, 1, 1, tzinfo=UTC)


async def test_wall_time_is_the_epoch_plus_trio_time_since_the_first_use(autojump_clock: MockClock) -> None:
    await trio.sleep(5)
    timebase = Timebase(epoch=EPOCH, is_virtual=True)
    assert timebase.now() == EPOCH
    await trio.sleep(2.5)
    assert timebase.seconds() == 2.5
    assert timebase.now() == EPOCH + timedelta(seconds=2.5)
    assert timebase.seconds_of(EPOCH + timedelta(seconds=7)) == 7


async def test_a_time_becomes_a_deadline(autojump_clock: MockClock) -> None:
    await trio.sleep(5)
    timebase = Timebase(epoch=EPOCH)
    assert timebase.trio_time(3) == 8
    await trio.sleep_until(timebase.trio_time(3))
    assert timebase.seconds() == 3


async def test_a_step_of_the_clock_moves_wall_times_and_no_others(autojump_clock: MockClock) -> None:
    ahead = timedelta()
    timebase = Timebase(epoch=EPOCH, wall=lambda: EPOCH + timedelta(seconds=trio.current_time()) + ahead)
    assert timebase.now() == EPOCH
    for steps_by in (timedelta(hours=1), timedelta(hours=-3), timedelta(milliseconds=300)):
        ahead += steps_by
        steps = ahead if abs(steps_by) >= STEP else ahead - steps_by
        await trio.sleep(10)
        seconds, now = timebase.seconds(), timebase.now()
        assert (seconds, now) == (trio.current_time(), EPOCH + timedelta(seconds=seconds) + steps)
        assert timebase.seconds_of(now + timedelta(seconds=5)) == seconds + 5
        assert timebase.trio_time(seconds) == trio.current_time()


async def test_the_machine_s_clock_begins_with_its_first_use() -> None:
    timebase = Timebase.real()
    before = datetime.now(UTC)  # noqa: TID251 - compared with the machine's clock
    first = timebase.now()
    assert abs((first - before).total_seconds()) < 1
    assert timebase.now() >= first


async def test_on_a_real_clock_a_turn_is_a_checkpoint() -> None:
    timebase = Timebase(epoch=EPOCH)
    with trio.testing.assert_checkpoints():
        await timebase.turn(Lane.WORKER, "a")


async def run_turns(*wanted: tuple[Lane, str]) -> list[str]:
    """Have tasks ask for turns at one instant and return the order in which they got them."""
    timebase, order = Timebase(epoch=EPOCH, is_virtual=True), list[str]()

    async def take(lane: Lane, key: str) -> None:
        await trio.sleep(1)
        await timebase.turn(lane, key)
        order.append(f"{lane.name} {key}")

    async with trio.open_nursery() as nursery:
        nursery.start_soon(timebase.referee)
        async with trio.open_nursery() as takers:
            for lane, key in wanted:
                takers.start_soon(take, lane, key)
        nursery.cancel_scope.cancel()
    return order


async def test_turns_go_by_lane_then_key(autojump_clock: MockClock) -> None:
    wanted = [
        (Lane.CONTROLLER, "a"),
        (Lane.WORKER, "b"),
        (Lane.WORKER, "a"),
        (Lane.PROBE, "z"),
        (Lane.RELIST, ""),
        (Lane.PROGRAM, "q"),
    ]
    for _ in range(12):
        assert await run_turns(*wanted) == [
            "PROGRAM q",
            "RELIST ",
            "PROBE z",
            "WORKER a",
            "WORKER b",
            "CONTROLLER a",
        ]


async def test_what_one_turn_sets_off_is_over_before_the_next(autojump_clock: MockClock) -> None:
    timebase, order = Timebase(epoch=EPOCH, is_virtual=True), list[str]()
    woken = trio.Event()

    async def first() -> None:
        await timebase.turn(Lane.WORKER, "a")
        order.append("first")
        woken.set()

    async def follower() -> None:
        await woken.wait()
        for step in range(5):
            await trio.lowlevel.checkpoint()
            order.append(f"follows {step}")

    async def second() -> None:
        await timebase.turn(Lane.WORKER, "b")
        order.append("second")

    async with trio.open_nursery() as nursery:
        nursery.start_soon(timebase.referee)
        async with trio.open_nursery() as tasks:
            for task in (second, follower, first):
                tasks.start_soon(task)
        nursery.cancel_scope.cancel()
    assert order == ["first", *(f"follows {step}" for step in range(5)), "second"]


async def test_a_turn_that_was_given_up_holds_nobody_up(autojump_clock: MockClock) -> None:
    timebase = Timebase(epoch=EPOCH, is_virtual=True)
    with trio.move_on_after(1) as scope:
        await timebase.turn(Lane.WORKER, "a")
    assert scope.cancelled_caught
    async with trio.open_nursery() as nursery:
        nursery.start_soon(timebase.referee)
        await timebase.turn(Lane.WORKER, "b")
        nursery.cancel_scope.cancel()


async def test_who_waits_for_a_time_comes_in_turn_at_that_time(autojump_clock: MockClock) -> None:
    timebase, order = Timebase(epoch=EPOCH, is_virtual=True), list[tuple[str, float]]()

    async def actor(name: str, lane: Lane, at: float) -> None:
        await timebase.turn(lane, name, at)
        order.append((name, trio.current_time()))

    async with trio.open_nursery() as nursery:
        nursery.start_soon(timebase.referee)
        async with trio.open_nursery() as actors:
            for actor_of in (("late", Lane.PROGRAM, 7), ("second", Lane.WORKER, 5), ("first", Lane.PROGRAM, 5)):
                actors.start_soon(actor, *actor_of)
            with trio.move_on_at(3):
                await timebase.turn(Lane.PROGRAM, "gave up", 4)
            actors.start_soon(actor, "in between", Lane.WORKER, 4)
        nursery.cancel_scope.cancel()
    assert order == [("in between", 4), ("first", 5), ("second", 5), ("late", 7)]


@pytest.mark.parametrize("is_virtual", [True, False])
async def test_an_appointment_that_is_hastened_is_kept_early(autojump_clock: MockClock, *, is_virtual: bool) -> None:
    timebase = Timebase(epoch=EPOCH, is_virtual=is_virtual)
    appointment = timebase.appointment(Lane.PROBE, "a")
    async with trio.open_nursery() as nursery:
        nursery.start_soon(timebase.referee)
        assert not await appointment.keep(5)
        with trio.move_on_at(6):
            nursery.start_soon(hasten_at, 8, appointment)
            await appointment.keep(20)
        assert await appointment.keep(20)
        assert trio.current_time() == 8
        appointment.hasten()
        appointment.hasten()
        assert await appointment.keep(30)
        assert trio.current_time() == 8
        assert not await appointment.keep(9)
        nursery.cancel_scope.cancel()


@pytest.mark.parametrize("is_virtual", [True, False])
async def test_an_appointment_may_be_put_off_as_often_as_need_be(
    autojump_clock: MockClock, *, is_virtual: bool
) -> None:
    timebase, asked = Timebase(epoch=EPOCH, is_virtual=is_virtual), list[float]()
    appointment = timebase.appointment(Lane.PROBE, "a")

    def put_off() -> float | None:
        asked.append(trio.current_time())
        return trio.current_time() + 2 if trio.current_time() < 6 else None

    async with trio.open_nursery() as nursery:
        nursery.start_soon(timebase.referee)
        assert not await appointment.keep(2, put_off)
        assert asked == [2, 4, 6]
        nursery.start_soon(hasten_at, 9, appointment)
        assert await appointment.keep(20, put_off)
        assert (trio.current_time(), asked) == (9, [2, 4, 6])
        nursery.cancel_scope.cancel()


async def test_an_appointment_that_is_hastened_while_it_is_due_is_not_put_off(autojump_clock: MockClock) -> None:
    timebase = Timebase(epoch=EPOCH, is_virtual=True)
    second = timebase.appointment(Lane.PROBE, "b")

    async def first() -> None:
        await timebase.turn(Lane.PROBE, "a", 5)
        second.hasten()

    async with trio.open_nursery() as nursery:
        nursery.start_soon(timebase.referee)
        nursery.start_soon(first)
        assert not await second.keep(5, lambda: 10)
        assert await second.keep(20)
        nursery.cancel_scope.cancel()
    assert trio.current_time() == 5


async def hasten_at(at: float, appointment: Appointment) -> None:
    """Hasten an appointment at a time."""
    await trio.sleep_until(at)
    appointment.hasten()


async def test_a_real_clock_has_no_turns_but_times(autojump_clock: MockClock) -> None:
    timebase = Timebase(epoch=EPOCH)
    await timebase.turn(Lane.WORKER, "a")
    assert trio.current_time() == 0
    await timebase.turn(Lane.WORKER, "a", 4)
    assert trio.current_time() == 4


class Half:
    """Numbers that are all one half."""

    def random(self) -> float:
        """Return one half."""
        return 0.5


def test_waits_of_the_kubelet_are_longer_by_up_to_half() -> None:
    half: Random = Half()  # type: ignore[assignment]
    assert KUBELET.wait(10, half) == 12.5
    assert FAST.wait(10, half) == 10
    assert KUBELET.due(3.2) == 4
    assert FAST.due(3.2) == 3.2
