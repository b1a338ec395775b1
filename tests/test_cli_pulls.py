"""What a user sees of pulls: bars on a terminal, lines elsewhere, other text above the bars."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

import pytest
import trio
from attrs import evolve
from pod_makers import a_container, a_pod

from kubelet_emu.api.meta import ObjectMeta
from kubelet_emu.cli.live_lines import LiveLines
from kubelet_emu.cli.pull_lines import PullView, amount, bars, sentence
from kubelet_emu.cli.pull_watch import PullWatch
from kubelet_emu.images.outcome import PullState, PullUpdate
from kubelet_emu.journal.outlet import Outlet
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


LINES = [
    ("nothing is known yet", a_view(), "p/c r.io/x:1  pulling"),
    (
        "half of it",
        a_view(progress=HALF, speed=1_250_000.0),
        f"p/c r.io/x:1  {'█' * 10}{'░' * 10} 5.0MB/10.0MB 1.2MB/s",
    ),
    ("the speed is not known", a_view(progress=HALF), f"p/c r.io/x:1  {'█' * 10}{'░' * 10} 5.0MB/10.0MB"),
    ("all of it", a_view(progress=WHOLE), f"p/c r.io/x:1  {'█' * 20} 10.0MB unpacking"),
    ("it queues", a_view(PullState.QUEUED), "p/c r.io/x:1  waiting (0 of 2 pulls running)"),
]


@pytest.mark.parametrize(("why", "view", "expected"), LINES, ids=[row[0] for row in LINES])
def test_a_pull_is_one_line(why: str, view: PullView, expected: str) -> None:
    assert bars([view], 100, 24) == (expected,), why


def test_those_that_run_come_first_and_the_rest_is_counted() -> None:
    queued = [a_view(PullState.QUEUED, who=f"q{n}/c") for n in range(3)]
    views = [*queued, a_view(who="p1/c"), a_view(who="p2/c")]
    assert [line.split()[0] for line in bars(views, 100, 24)] == ["p1/c", "p2/c", "q0/c", "q1/c", "q2/c"]
    assert bars(views, 100, 24)[2].endswith("waiting (2 of 2 pulls running)")
    assert [line.split()[0] for line in bars(views, 100, 5)] == ["p1/c", "p2/c", "and"]
    assert bars(views, 100, 5)[-1] == "  and 3 more pulls"
    assert len(bars(views, 100, 1)) == 1


@pytest.mark.parametrize("width", [1, 10, 40, 60, 80])
def test_no_line_is_wider_than_the_terminal(width: int) -> None:
    view = PullView(
        who="a-pod/main", image="registry.example.com/team/" + "x" * 60, state=PullState.RUNNING, progress=HALF
    )
    assert all(len(line) < max(width, 2) for line in bars([view], width, 24))


def test_a_name_from_a_manifest_draws_nothing_of_its_own() -> None:
    assert "\x1b" not in bars([PullView(who="p/c", image="x\x1b[2J:1", state=PullState.RUNNING)], 80, 24)[0]


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


class Terminal(io.StringIO):
    """A terminal that understands what live lines send, and shows what a user would see."""

    def screen(self) -> list[str]:
        lines = [""]
        for piece in self.getvalue().replace("\x1b[J", "\0").split("\x1b["):
            up, _, rest = piece.partition("A") if piece[:1].isdigit() else ("", "", piece)
            if up:
                del lines[len(lines) - 1 - int(up) :]
                lines.append("")
            *full, last = rest.replace("\0", "").split("\n")
            for line in full:
                lines[-1] += line
                lines.append("")
            lines[-1] += last
        return lines


async def test_bars_are_drawn_below_all_other_text_and_taken_away(autojump_clock: MockClock) -> None:
    terminal = Terminal()
    outlet, other = Outlet(name="stderr", file=terminal), Outlet(name="stdout", file=terminal)
    live = LiveLines(outlet)
    watch = PullWatch(lambda _: pytest.fail("nothing is told in lines"), live)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(watch.run)
        watch(an_update(PullState.QUEUED))
        watch(an_update(PullState.RUNNING, container="d"))
        await trio.sleep(1)
        live.above(outlet).write("something happened\n")
        live.above(other).write("a log\n")
        watch(an_update(PullState.RUNNING, 5_000_000, container="d"))
        await trio.sleep(1)
        assert terminal.screen() == [
            "something happened",
            "a log",
            f"p/d x:1  {'█' * 10}{'░' * 10} 5.0MB/10.0MB 0B/s",
            "p/c x:1  waiting (1 of 2 pulls running)",
            "",
        ]
        watch(an_update(PullState.FAILED))
        watch(an_update(PullState.DONE, container="d"))
        await trio.sleep(1)
        assert terminal.screen() == ["something happened", "a log", ""]
        live.above(outlet).write("more\n")
        watch(an_update(PullState.RUNNING))
        await trio.sleep(1)
        nursery.cancel_scope.cancel()
    assert terminal.screen() == ["something happened", "a log", "more", ""]
