"""What a user sees of pulls: bars in a live view, lines elsewhere."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
import trio
from attrs import evolve
from pod_makers import a_container, a_pod

from kubelet_emu.api.meta import ObjectMeta
from kubelet_emu.cli.pull_lines import PullView, amount, measure, sentence
from kubelet_emu.cli.pull_watch import PullWatch
from kubelet_emu.images.outcome import PullState, PullUpdate
from runtime.api import PullProgress

if TYPE_CHECKING:
    from trio.testing import MockClock

HALF = PullProgress(done_bytes=5_000_000, total_bytes=10_000_000)
WHOLE = PullProgress(done_bytes=10_000_000, total_bytes=10_000_000)


def a_view(
    state: PullState = PullState.RUNNING,
    progress: PullProgress | None = None,
    speed: float | None = None,
    who: str = "p/c",
) -> PullView:
    return PullView(who=who, image="r.io/x:1", state=state, progress=progress, bytes_per_second=speed, limit=2)


MEASURES = [
    ("nothing is known yet", a_view(), "pulling"),
    ("half of it", a_view(progress=HALF, speed=1_250_000.0), f"{'█' * 10}{'░' * 10} 5.0MB/10.0MB 1.2MB/s"),
    ("the speed is not known", a_view(progress=HALF), f"{'█' * 10}{'░' * 10} 5.0MB/10.0MB"),
    ("all of it", a_view(progress=WHOLE), f"{'█' * 20} 10.0MB unpacking"),
]


@pytest.mark.parametrize(("why", "view", "expected"), MEASURES, ids=[row[0] for row in MEASURES])
def test_a_pull_is_a_bar(why: str, view: PullView, expected: str) -> None:
    assert measure(view) == expected, why


@pytest.mark.parametrize(
    ("count", "expected"),
    [
        (0, "0B"),
        (999, "999B"),
        (1000, "1.0kB"),
        (123_456, "123kB"),
        (4_081_373, "4.1MB"),
        (5e9, "5.0GB"),
        (7e15, "7000.0TB"),
    ],
)
def test_bytes_are_written_as_docker_writes_them(count: float, expected: str) -> None:
    assert amount(count) == expected


@pytest.mark.parametrize(
    ("view", "expected"),
    [
        (a_view(), "p/c is still pulling r.io/x:1"),
        (a_view(progress=HALF), "p/c is pulling r.io/x:1: 5.0MB of 10.0MB"),
        (a_view(progress=HALF, speed=1e6), "p/c is pulling r.io/x:1: 5.0MB of 10.0MB, 1.0MB/s"),
    ],
)
def test_a_long_pull_is_a_sentence_where_nothing_can_be_drawn(view: PullView, expected: str) -> None:
    assert sentence(view) == expected


def an_update(state: PullState, done: int | None = None, *, container: str = "c", running: int = 2) -> PullUpdate:
    pod = evolve(a_pod(a_container(container)), metadata=ObjectMeta(name="p", uid="u"))
    progress = None if done is None else PullProgress(done_bytes=done, total_bytes=10_000_000)
    return PullUpdate(
        pod=pod, container=container, image="x:1", state=state, running=running, limit=2, progress=progress
    )


async def test_lines_tell_of_a_pull_that_takes_long(autojump_clock: MockClock) -> None:
    told: list[tuple[float, str]] = []
    began = trio.current_time()
    watch = PullWatch(lambda text: told.append((trio.current_time() - began, text)))
    async with trio.open_nursery() as nursery:
        nursery.start_soon(watch.run)
        watch(an_update(PullState.QUEUED))
        watch(an_update(PullState.RUNNING, container="other"))
        await trio.sleep(5)
        watch(an_update(PullState.RUNNING))
        watch(an_update(PullState.DONE, container="other"))
        await trio.sleep(0.5)
        for second in range(50):
            await trio.sleep(1)
            watch(an_update(PullState.RUNNING, (second + 1) * 100_000))
        watch(an_update(PullState.DONE))
        await trio.sleep(100)
        nursery.cancel_scope.cancel()
    assert told == [
        (0, "p/c wants x:1: waiting (2 of 2 pulls running)"),
        (15, "p/c is pulling x:1: 900kB of 10.0MB, 85.7kB/s"),
        (45, "p/c is pulling x:1: 3.9MB of 10.0MB, 85.7kB/s"),
    ]


async def test_pulls_that_have_not_ended_are_there_for_a_view(autojump_clock: MockClock) -> None:
    watch = PullWatch(None)
    watch(an_update(PullState.QUEUED))
    watch(an_update(PullState.RUNNING, 0, container="d"))
    await trio.sleep(1)
    watch(an_update(PullState.RUNNING, 5_000_000, container="d"))
    watch(an_update(PullState.DONE, container="e"))
    queued, running = watch.views()[("u", "c")], watch.views()[("u", "d")]
    assert (queued.state, queued.running, queued.limit) == (PullState.QUEUED, 1, 2)
    assert measure(running) == f"{'█' * 10}{'░' * 10} 5.0MB/10.0MB 5.0MB/s"
    watch(an_update(PullState.FAILED, container="d"))
    assert list(watch.views()) == [("u", "c")]
    await watch.run()  # tells nothing, and has nothing to wait for
