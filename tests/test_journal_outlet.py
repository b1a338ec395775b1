"""Outlets: readers who are slow, asleep or gone, and disks that are full."""

from __future__ import annotations

import errno
import io
import os
import stat
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import trio
from attrs import define

from kubelet_emu.journal.outlet import Outlet, open_outlet

if TYPE_CHECKING:
    from collections.abc import Iterator

LINE = "x" * 999 + "\n"
MORE_THAN_A_PIPE_HOLDS = 2000


@define
class Pipe:
    """A pipe with an outlet at its end; nobody reads it but by `take`."""

    reader: int
    outlet: Outlet

    def take(self) -> bytes:
        """Read what is there."""
        taken = b""
        try:
            while data := os.read(self.reader, 1 << 20):
                taken += data
        except BlockingIOError:
            pass
        return taken


@contextmanager
def a_pipe(most_bytes: int = 1 << 30, *, tells_loss: bool = True) -> Iterator[Pipe]:
    reader, writer = os.pipe()
    os.set_blocking(reader, False)
    with os.fdopen(writer, "w", encoding="utf-8") as file:
        try:
            yield Pipe(reader, Outlet(name="stdout", file=file, most_bytes=most_bytes, tells_loss=tells_loss))
        finally:
            os.close(reader)


async def test_a_reader_who_sleeps_gets_everything_when_he_wakes() -> None:
    with a_pipe() as pipe:
        lines = [f"{number} {LINE}" for number in range(MORE_THAN_A_PIPE_HOLDS)]
        for line in lines:
            pipe.outlet.write(line)
        taken = pipe.take()
        async with trio.open_nursery() as nursery:
            nursery.start_soon(pipe.outlet.run, pytest.fail)
            while len(taken) < len("".join(lines)):
                await trio.testing.wait_all_tasks_blocked()
                taken += pipe.take()
            nursery.cancel_scope.cancel()
        assert taken.decode() == "".join(lines)


async def test_lines_that_come_while_others_wait_keep_their_order() -> None:
    with a_pipe() as pipe:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(pipe.outlet.run, pytest.fail)
            taken = b""
            for number in range(MORE_THAN_A_PIPE_HOLDS):
                pipe.outlet.write(f"{number} {LINE}")
                if number % 100 == 0:
                    taken += pipe.take()
                    await trio.testing.wait_all_tasks_blocked()
            nursery.cancel_scope.cancel()
        taken += pipe.take()
        numbers = [int(line.split()[0]) for line in taken.decode().splitlines()[:-1]]
        assert numbers == list(range(len(numbers)))


def test_where_lines_are_missing_a_line_says_how_many() -> None:
    with a_pipe(most_bytes=10_000) as pipe:
        for number in range(200):
            pipe.outlet.write(f"{number} {LINE}")
        first = pipe.take()
        pipe.outlet.finish(0)
        lines = (first + pipe.take()).decode().splitlines()
        shown = len(lines) - 1
        assert lines[-1] == f"... {200 - shown} lines were not shown: nobody read stdout"
        assert [int(line.split()[0]) for line in lines[:-1]] == list(range(shown))
        pipe.outlet.write("on it goes\n")
        assert pipe.take() == b"on it goes\n"


def test_where_no_line_of_ours_has_a_place_too_much_is_a_failure() -> None:
    with a_pipe(most_bytes=10_000, tells_loss=False) as pipe:
        for _ in range(200):
            pipe.outlet.write(LINE)
        assert pipe.outlet.failure() == "nobody reads it"


async def test_a_reader_who_leaves_ends_it_and_is_told_once() -> None:
    told: list[Outlet] = []
    with a_pipe() as pipe:
        for _ in range(200):
            pipe.outlet.write(LINE)
        async with trio.open_nursery() as nursery:
            nursery.start_soon(pipe.outlet.run, told.append)
            await trio.testing.wait_all_tasks_blocked()
            assert told == []
            os.dup2(os.open(os.devnull, os.O_RDONLY), pipe.reader)
        assert told == [pipe.outlet]
        assert pipe.outlet.failure() == "its reader has gone"
        pipe.outlet.write("no more\n")
        pipe.outlet.finish()


def test_at_the_end_a_reader_is_waited_for() -> None:
    with a_pipe() as pipe:
        for _ in range(100):
            pipe.outlet.write(LINE)
        taken: list[bytes] = []
        told: list[str] = []

        def wake() -> None:
            told.append("waiting")
            taken.append(pipe.take())

        pipe.outlet.finish(on_wait=wake)
        assert told == ["waiting"]
        assert b"".join([*taken, pipe.take()]).decode() == LINE * 100


def test_in_a_hurry_a_reader_who_sleeps_is_left() -> None:
    with a_pipe() as pipe:
        for _ in range(200):
            pipe.outlet.write(LINE)
        pipe.outlet.finish(0)
        assert len(pipe.take()) < len(LINE) * 200


def test_a_stream_without_a_descriptor_is_written_through() -> None:
    file = io.StringIO()
    outlet = Outlet(name="stdout", file=file)
    outlet.write("a\n")
    outlet.finish()
    assert file.getvalue() == "a\n"
    file.close()
    outlet.write("b\n")
    assert outlet.failure() == "I/O operation on closed file"


def test_what_was_written_before_comes_first(tmp_path: Path) -> None:
    with (tmp_path / "out").open("w", encoding="latin-1") as file:
        file.write("before\n")
        outlet = Outlet(name="stdout", file=file)
        outlet.write("\xe9 \u65e5\n")
    assert (tmp_path / "out").read_bytes() == b"before\n\xe9 \\u65e5\n"


def test_a_file_of_records_is_private_and_begins_empty(tmp_path: Path) -> None:
    path = tmp_path / "trace"
    path.write_text("old")
    path.chmod(0o644)
    outlet = open_outlet(path, "--trace")
    for _ in range(20):
        outlet.write(LINE)
    outlet.close()
    assert outlet.error is None
    assert path.read_text() == LINE * 20
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_a_full_disk_ends_it() -> None:
    outlet = open_outlet(Path("/dev/full"), "--log")
    outlet.write("a\n")
    outlet.write("b\n")
    outlet.close()
    assert outlet.failure() == "No space left on device"


def test_a_pipe_has_nothing_to_sync(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    reader = os.open(tmp_path / "pipe", os.O_RDONLY | os.O_NONBLOCK)
    try:
        outlet = open_outlet(tmp_path / "pipe", "--log")
        outlet.write("a\n")
        outlet.close()
        assert outlet.error is None
        assert os.read(reader, 4096) == b"a\n"
    finally:
        os.close(reader)


def test_a_sync_that_fails_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(_file: int) -> None:
        raise OSError(errno.EIO, "input/output error")

    monkeypatch.setattr(os, "fsync", broken)
    outlet = open_outlet(tmp_path / "log", "--log")
    outlet.close()
    assert outlet.failure() == "input/output error"
