"""The machine's clock steps under a node: statuses follow it, waits don't."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import TYPE_CHECKING

import pytest
import trio
from kubelet_rig import EPOCH, a_node, a_pod, answers, container, deaf, lives, probe, stops

from kubelet_emu.journal.records import RunRecord

if TYPE_CHECKING:
    from collections.abc import Callable

    from trio.testing import MockClock

    from kubelet_emu.journal.records import Record

HOUR = 3600.0
STEPS = pytest.mark.parametrize("step", [pytest.param(HOUR, id="ahead"), pytest.param(-HOUR, id="back")])


def clock(at: float, step: float) -> Callable[[], datetime]:
    """Return a clock that steps at a time, by so many seconds."""

    def wall() -> datetime:
        now = trio.current_time()
        return EPOCH + timedelta(seconds=now + (step if now >= at else 0))

    return wall


BACK_OFFS = [
    ("one that runs when the clock goes ahead is over, and a new series begins", HOUR, [0, 1, 12, 23, 44]),
    ("one that runs when it goes back lasts until the clock is there again", -HOUR, [0, 1, 3612, 3633, 3674]),
]


@pytest.mark.parametrize(("why", "step", "expected"), BACK_OFFS, ids=[row[0] for row in BACK_OFFS])
async def test_back_offs(autojump_clock: MockClock, why: str, step: float, expected: list[float]) -> None:
    """A kubelet compares its clock with the time of the exit; it looks when the wait that it began is over."""
    starts: list[float] = []

    def note(record: Record) -> None:
        if isinstance(record, RunRecord) and record.what == "start":
            starts.append(trio.current_time())

    async with a_node({"main": (lives(1, 1),)}, wall=clock(5, step), on_record=note) as node:
        node.create(a_pod(restart_policy="Always"))
        await trio.sleep_until(expected[-1] + 70)
    assert starts[:5] == pytest.approx(expected, abs=61 if step < 0 else 2)


@STEPS
async def test_a_container_that_starts_after_a_step_is_probed(autojump_clock: MockClock, step: float) -> None:
    programs = {"main": (lives(5, 1, execs=(answers("check"),)), lives(execs=(answers("check"),)))}
    async with a_node(programs, wall=clock(4, step)) as node:
        node.create(a_pod(container("main", readiness_probe=probe(initial_delay_seconds=2)), restart_policy="Always"))
        await trio.sleep_until(12)
        assert (node.status("main").restart_count, node.status("main").ready) == (1, True)
        started_at = node.status("main").state.running
        assert started_at is not None
        assert started_at.started_at is not None
        assert abs((started_at.started_at - EPOCH).total_seconds() - step - 5) <= 1


@STEPS
async def test_a_grace_is_not_changed_by_a_step(autojump_clock: MockClock, step: float) -> None:
    async with a_node({"main": (deaf(),)}, wall=clock(6, step)) as node:
        node.create(a_pod(termination_grace_period_seconds=10))
        await trio.sleep_until(5)
        node.delete()
        await node.gone()
        assert 14 < trio.current_time() < 17


@STEPS
async def test_a_stop_that_spans_a_step_ends_with_its_container(autojump_clock: MockClock, step: float) -> None:
    async with a_node({"main": (stops(after=3),)}, wall=clock(6, step)) as node:
        node.create(a_pod())
        await trio.sleep_until(5)
        node.delete()
        await node.gone()
        assert 8 <= trio.current_time() < 10
