"""The live view on a terminal: what is drawn when, what goes above it, and what stays when all is over."""

from __future__ import annotations

import io
import os
import pty
import select
import signal
import struct
import subprocess
import sys
import termios
from fcntl import ioctl
from typing import TYPE_CHECKING

import pytest
import trio
from attrs import define, field
from journal_makers import accepted, at, container, end, entries, running, start, status
from rich.console import Console
from terminal import Terminal

from kubelet_emu.cli.live.drawing import draw, lay_out, show
from kubelet_emu.cli.live.facts import LiveFacts
from kubelet_emu.cli.live.fitting import Page, fit
from kubelet_emu.cli.live.notes import Note
from kubelet_emu.cli.live.rows import Row, Tone
from kubelet_emu.cli.live.screen import Screen
from kubelet_emu.cli.live_lines import LiveLines, size_of
from kubelet_emu.cli.options import RunOptions
from kubelet_emu.cli.outputs import Streams, shows_live
from kubelet_emu.journal.fold import Facts
from kubelet_emu.journal.outlet import Outlet
from kubelet_emu.journal.records import EndRecord

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from trio.testing import MockClock

    from kubelet_emu.journal.records import Record

ROWS = (
    Row(
        pod="web",
        container="setup (init)",
        state="Completed",
        tone=Tone.QUIET,
        age="9s",
    ),
    Row(
        pod="web",
        container="main",
        state="Error (3)",
        tone=Tone.BAD,
        age="2s",
        restarts=2,
        probes=(("live ✓", Tone.GOOD), ("ready 1/3 failed", Tone.BAD)),
        note=Note("starts again in 8s", counts_down=True),
    ),
    Row(pod="other", container="main", state="Running", tone=Tone.GOOD, age="3m5s"),
)


def test_a_page_is_a_table() -> None:
    console = Console(record=True, file=io.StringIO(), width=130)
    show(console, lay_out(Page(ROWS, "3 more: 3 Running"), 130))
    assert [line.rstrip() for line in console.export_text().splitlines()] == [
        "POD    CONTAINER     STATE      AGE   RESTARTS  PROBES",
        "web    setup (init)  Completed  9s    0",
        "       main          Error (3)  2s    2         live ✓  ready 1/3 failed  starts again in 8s",
        "other  main          Running    3m5s  0",
        "3 more: 3 Running",
    ]


@pytest.mark.parametrize("width", [1, 5, 10, 20, 40, 49, 50, 79, 80, 99, 100, 131])
def test_no_line_is_as_wide_as_the_terminal(width: int) -> None:
    lines = draw(fit(ROWS * 9, 10), width, has_colour=False)
    assert max(map(len, lines)) < max(width, 2)
    assert len(lines) == 11, "none is wrapped"


def test_a_long_name_keeps_its_end() -> None:
    row = Row(pod="web-7d4b7b86cc-smzsn", container="c", state="Running", tone=Tone.GOOD)
    assert draw(Page((row,)), 40, has_colour=False)[1].split() == ["web-7d4b7…6cc-smzsn", "c", "Running"]


def test_without_colour_nothing_is_coloured() -> None:
    assert "\x1b[3" in "".join(draw(Page(ROWS), 130, has_colour=True))
    assert "\x1b" not in "".join(draw(Page(ROWS), 130, has_colour=False))


def test_a_name_is_no_markup() -> None:
    row = Row(pod="[red]x[/]", container=":smile:", state="[b]", tone=Tone.GOOD)
    assert draw(Page((row,)), 130, has_colour=False)[1].split() == ["[red]x[/]", ":smile:", "[b]", "0"]


def test_an_empty_page_is_no_line() -> None:
    assert draw(Page(()), 80, has_colour=True) == ()


class Counting(Terminal):
    """A terminal that counts what is written to it."""

    writes = 0

    def write(self, text: str, /) -> int:
        self.writes += 1
        return super().write(text)


@define(eq=False)
class Bench:
    """A screen on a terminal, with the facts that it shows."""

    terminal: Counting = field(factory=Counting)
    columns: int = 100
    rows: int = 40
    screen: Screen = field(init=False)
    lines: LiveLines = field(init=False)

    def __attrs_post_init__(self) -> None:
        """Put them together."""
        self.lines = LiveLines(Outlet(name="stderr", file=self.terminal), self.size)
        self.screen = Screen(
            live=LiveFacts(Facts()),
            lines=self.lines,
            now=lambda: at(trio.current_time()),
            size=self.size,
            has_colour=False,
        )

    def size(self) -> os.terminal_size:
        return os.terminal_size((self.columns, self.rows))

    def feed(self, *records: Record) -> None:
        for entry in entries(records):
            self.screen.live.facts.feed(entry)
            self.screen(entry)

    def shown(self) -> list[str]:
        return [" ".join(line.split()) for line in self.terminal.screen()]


MAIN = accepted(containers=[container("main")])
HEAD = "POD CONTAINER STATE AGE RESTARTS PROBES"


async def test_what_changes_is_drawn_and_ages_go_on(autojump_clock: MockClock) -> None:
    bench = Bench()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(bench.screen.run)
        await trio.sleep(0.1)
        assert bench.terminal.getvalue() == "", "nothing to show"
        bench.feed(MAIN, start(0, "main"))
        await trio.sleep(0.3)
        assert bench.shown() == [HEAD, "web main Running 0s 0", ""]
        await trio.sleep(10)
        assert bench.shown() == [HEAD, "web main Running 10s 0", ""]
        bench.feed(end(10, "main", 3))
        await trio.sleep(0.3)
        assert bench.shown() == [HEAD, "web main Error (3) 0s 0", ""]
        nursery.cancel_scope.cancel()
    assert bench.shown() == [""]


async def test_frames_are_few_however_much_happens(autojump_clock: MockClock) -> None:
    bench = Bench()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(bench.screen.run)
        bench.feed(MAIN, start(0, "main"))
        for number in range(1000):
            bench.lines.above(bench.lines.terminal).write(f"line {number}\n")
            await trio.sleep(0.01)
        await trio.sleep(0.3)
        nursery.cancel_scope.cancel()
    assert bench.terminal.writes <= 2 + 10 * 8
    assert bench.shown() == [*(f"line {number}" for number in range(1000)), ""]


async def test_where_nothing_changes_nothing_is_drawn(autojump_clock: MockClock) -> None:
    bench = Bench()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(bench.screen.run)
        bench.feed(MAIN, start(0, "main"))
        await trio.sleep(3725)
        before = bench.terminal.writes
        await trio.sleep(50)
        assert bench.terminal.writes == before, "an age of 61m is told in minutes"
        nursery.cancel_scope.cancel()


async def test_text_of_both_streams_stays_in_order_above_the_view(autojump_clock: MockClock) -> None:
    bench = Bench()
    out = bench.lines.above(Outlet(name="stdout", file=bench.terminal))
    err = bench.lines.above(bench.lines.terminal)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(bench.screen.run)
        err.write("before\n")
        bench.feed(MAIN, start(0, "main"))
        await trio.sleep(0.3)
        out.write("a log\n")
        err.write("an event\n")
        out.write("another log\n")
        await trio.sleep(0.3)
        assert bench.shown() == ["before", "a log", "an event", "another log", HEAD, "web main Running 0s 0", ""]
        out.write("the last words\n")
        nursery.cancel_scope.cancel()
    assert bench.shown() == ["before", "a log", "an event", "another log", "the last words", ""]


async def test_with_the_run_the_view_is_over(autojump_clock: MockClock) -> None:
    bench = Bench()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(bench.screen.run)
        bench.feed(MAIN, start(0, "main"))
        await trio.sleep(0.3)
        bench.feed(EndRecord(at=at(1), why="everything has ended"))
        await trio.sleep(0.3)
        assert bench.shown() == [""]
        nursery.cancel_scope.cancel()


async def test_of_too_many_rows_the_rest_is_counted(autojump_clock: MockClock) -> None:
    bench = Bench(rows=12)
    names = [f"c{number}" for number in range(50)]
    async with trio.open_nursery() as nursery:
        nursery.start_soon(bench.screen.run)
        bench.feed(accepted(containers=[container(name) for name in names]), *(start(0, name) for name in names))
        bench.feed(status(0, "Running", *(running(name) for name in names)), end(0, "c40", 1))
        await trio.sleep(0.3)
        shown = bench.shown()
        assert len(shown) == 12 // 2 + 1, "half of the terminal"
        assert shown[0] == HEAD
        assert shown[-3:] == ["c40 Error (1) 0s 0", "46 more: 46 Running", ""]
        nursery.cancel_scope.cancel()


async def test_a_terminal_that_becomes_narrower_is_cleared_whole(autojump_clock: MockClock) -> None:
    bench = Bench()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(bench.screen.run)
        bench.feed(MAIN, start(0, "main"))
        await trio.sleep(0.3)
        drawn = bench.terminal.getvalue().split("\n")[0]
        bench.columns = 30
        await trio.sleep(1)
        assert len(drawn.removesuffix("\x1b[K")) > 30, "each of its lines stands on two rows now"
        assert "\x1b[4A\r" in bench.terminal.getvalue()
        nursery.cancel_scope.cancel()


async def test_a_terminal_that_takes_nothing_gets_no_frames(autojump_clock: MockClock) -> None:
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    outlet = Outlet(name="stderr", file=writing)
    lines = LiveLines(outlet)
    lines.show(("first",))
    while not outlet.is_behind:
        outlet.write("x" * 4096)
    size = len(outlet._waiting)  # noqa: SLF001 - what waits is not to grow
    lines.show(("second",))
    assert len(outlet._waiting) == size  # noqa: SLF001 - the same
    lines.above(outlet).write("text\n")
    lines.refresh()
    assert len(outlet._waiting) < size + 40, "the text, and no frame"  # noqa: SLF001 - the same
    os.close(reading)
    os.close(writing)


WHERE = [
    ("a terminal", {}, {}, True),
    ("--plain", {"plain": True}, {}, False),
    ("a terminal of lines alone", {}, {"TERM": "dumb"}, False),
    ("without colour", {}, {"NO_COLOR": "1"}, True),
    ("virtual time that jumps", {"runtime": "simulated"}, {}, False),
    ("virtual time that one can follow", {"runtime": "simulated", "speed": 1.0}, {}, True),
]


@pytest.mark.parametrize(("why", "options", "environ", "expected"), WHERE, ids=[row[0] for row in WHERE])
def test_a_view_is_for_terminals(
    why: str,
    options: dict[str, object],
    environ: dict[str, str],
    expected: object,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in ("TERM", "NO_COLOR"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environ.items():
        monkeypatch.setenv(name, value)
    leader, follower = pty.openpty()
    with os.fdopen(leader), os.fdopen(follower, "w") as stream:
        given = RunOptions(manifests=("x",), **options)  # type: ignore[arg-type]
        assert shows_live(given, Streams(err=stream)) is expected, why
    assert not shows_live(RunOptions(manifests=("x",)), Streams(err=io.StringIO()))


def test_a_terminal_tells_its_size(monkeypatch: pytest.MonkeyPatch) -> None:
    leader, follower = pty.openpty()
    with os.fdopen(leader), os.fdopen(follower, "w") as stream:
        assert size_of(stream) == (80, 24), "it tells none"
        ioctl(leader, termios.TIOCSWINSZ, struct.pack("HHHH", 50, 132, 0, 0))
        assert size_of(stream) == (132, 50)
    monkeypatch.setenv("COLUMNS", "70")
    monkeypatch.setenv("LINES", "20")
    assert size_of(io.StringIO()) == (70, 20)


POD = """\
apiVersion: v1
kind: Pod
metadata: {name: web}
spec:
  containers:
  - name: main
    image: "busybox:1"
    command: [sh, -c, "trap 'exit 0' TERM; printf 'a trick \\\\033[2J\\\\n'; while :; do sleep 1; done"]
"""


@define
class OnTerminal:
    """A program on a terminal of its own."""

    process: subprocess.Popen[bytes]
    leader: int
    seen: bytes = b""

    def until(self, text: str) -> None:
        """Read what it shows until a text has come."""
        while text.encode() not in self.seen:
            ready, _, _ = select.select([self.leader], [], [], 60)
            assert ready, self.seen.decode()
            self.seen += os.read(self.leader, 65536)

    def rest(self) -> None:
        """Read up to its end."""
        while True:
            try:
                data = os.read(self.leader, 65536)
            except OSError:  # how a pty says that nobody has it open any more
                return
            if not data:
                return
            self.seen += data


@pytest.fixture
def on_terminal(tmp_path: Path) -> Iterator[OnTerminal]:
    """Run a pod at its real pace on a terminal of 100x20."""
    (tmp_path / "pod.yaml").write_text(POD)
    leader, follower = pty.openpty()
    ioctl(leader, termios.TIOCSWINSZ, struct.pack("HHHH", 20, 100, 0, 0))
    words = ["run", "--runtime", "simulated", "--speed", "5", str(tmp_path / "pod.yaml")]
    environ = {key: value for key, value in os.environ.items() if key not in {"NO_COLOR", "LINES", "COLUMNS"}}
    with subprocess.Popen(
        [sys.executable, "-m", "kubelet_emu", *words],
        stdin=follower,
        stdout=follower,
        stderr=follower,
        env={**environ, "TERM": "xterm"},
    ) as process:
        os.close(follower)
        try:
            yield OnTerminal(process, leader)
        finally:
            process.kill()
            os.close(leader)


def test_on_a_real_terminal_ctrl_c_leaves_it_clean(on_terminal: OnTerminal) -> None:
    on_terminal.until("CONTAINER")
    on_terminal.until("a trick \\e[2J")
    on_terminal.process.send_signal(signal.SIGINT)
    on_terminal.rest()
    assert on_terminal.process.wait(timeout=60) == 0
    text = on_terminal.seen.decode()
    assert "\x1b[2J" not in text, "what a container writes moves nothing"
    assert "\x1b[?25l" not in text, "the cursor was never hidden"
    terminal = Terminal()
    terminal.write(text.replace("\r\n", "\n"))
    shown = terminal.screen()
    assert not any(line.startswith("POD ") for line in shown), "the view is gone"
    assert any(line.startswith("web  Succeeded") for line in shown)
    assert any(line.endswith(" is ready") for line in shown), "what happened is there"
