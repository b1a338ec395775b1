"""Container logs on their way into the journal."""

from __future__ import annotations

from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, cast

import pytest
import trio
from journal_makers import POD, at
from trio.testing import MockClock, wait_all_tasks_blocked

from kubelet_emu.journal.logs import MAX_LINE_BYTES, LogFollower, to_text
from kubelet_emu.journal.records import LogRecord, NoteRecord, Record
from runtime.api import ContainerID, CRIError, LogLine, NotFoundError, RuntimeService, RuntimeUnavailableError

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from datetime import datetime

MAIN = ContainerID("c1")


class Lines:
    """A runtime that has one log, whose lines a test sends."""

    def __init__(self, error: CRIError | None = None, *, is_late: bool = False) -> None:
        """Open the log; `is_late` is an error after the last line."""
        self.error, self.is_late = error, is_late
        self.since: datetime | None = None
        self.send, self._receive = trio.open_memory_channel[LogLine](10)

    @asynccontextmanager
    async def container_logs(
        self, container_id: ContainerID, *, follow: bool = False, since: datetime | None = None
    ) -> AsyncIterator[object]:
        assert container_id == MAIN
        self.since = since
        assert follow
        if self.error is not None and not self.is_late:
            raise self.error
        yield self._receive
        if self.error is not None:
            raise self.error


def follower(lines: Lines, nursery: trio.Nursery) -> tuple[LogFollower, list[Record]]:
    seen: list[Record] = []
    return LogFollower(cast("RuntimeService", lines), seen.append, nursery), seen


def line(text: bytes) -> LogLine:
    return LogLine(at=at(1), stream="stderr", line=text)


async def test_every_line_of_a_run_is_recorded_in_order(autojump_clock: MockClock) -> None:
    lines = Lines()
    async with trio.open_nursery() as nursery:
        follow, seen = follower(lines, nursery)
        for text in (b"one", b"two\r"):
            lines.send.send_nowait(line(text))
        lines.send.close()
        follow.follow(MAIN, POD, "main", 2)
        follow.follow(MAIN, POD, "main", 2)
    assert seen == [
        LogRecord(at=at(1), ref=POD, container="main", run=2, line="one", stream="stderr"),
        LogRecord(at=at(1), ref=POD, container="main", run=2, line="two", stream="stderr"),
    ]


async def test_a_log_is_read_on_from_a_time(autojump_clock: MockClock) -> None:
    lines = Lines()
    async with trio.open_nursery() as nursery:
        follow, _ = follower(lines, nursery)
        lines.send.close()
        follow.follow(MAIN, POD, "main", 1, since=at(7))
    assert lines.since == at(7)


async def test_removal_waits_until_the_log_is_drained(autojump_clock: MockClock) -> None:
    lines = Lines()
    async with trio.open_nursery() as nursery:
        follow, seen = follower(lines, nursery)
        follow.follow(MAIN, POD, "main", 1)
        await wait_all_tasks_blocked()
        lines.send.send_nowait(line(b"late"))
        lines.send.close()
        await follow.drained(MAIN)
        assert len(seen) == 1
        assert trio.current_time() == 0
        await follow.drained(ContainerID("never followed"))


async def test_waiting_for_a_log_is_bounded(autojump_clock: MockClock) -> None:
    async with trio.open_nursery() as nursery:
        follow, seen = follower(Lines(), nursery)
        follow.follow(MAIN, POD, "main", 1)
        await follow.drained(MAIN)
        assert trio.current_time() == 5
        text = "log of main may lack its end: nothing came for 5 s"
        assert seen == [NoteRecord(ref=POD, level="warning", text=text)]
        await follow.all_drained()
        assert trio.current_time() == 10
        nursery.cancel_scope.cancel()
    await follow.drained(MAIN)
    await follow.all_drained()
    assert trio.current_time() == 10


async def test_a_log_is_waited_for_as_long_as_lines_come(autojump_clock: MockClock) -> None:
    lines = Lines()

    async def write() -> None:
        for _ in range(10):
            await trio.sleep(4)
            lines.send.send_nowait(line(b"more"))
        lines.send.close()

    async with trio.open_nursery() as nursery:
        follow, seen = follower(lines, nursery)
        follow.follow(MAIN, POD, "main", 1)
        nursery.start_soon(write)
        await follow.drained(MAIN)
        assert trio.current_time() == 40
        assert len(seen) == 10


async def test_a_container_that_is_gone_has_no_lines(autojump_clock: MockClock) -> None:
    async with trio.open_nursery() as nursery:
        follow, seen = follower(Lines(NotFoundError("no such container")), nursery)
        follow.follow(MAIN, POD, "main", 1)
    assert seen == []


async def test_a_log_that_breaks_off_is_told(autojump_clock: MockClock) -> None:
    async with trio.open_nursery() as nursery:
        follow, seen = follower(Lines(CRIError("connection reset")), nursery)
        follow.follow(MAIN, POD, "main", 1)
    assert seen == [NoteRecord(ref=POD, level="warning", text="log of main is cut: connection reset")]


TEXTS = {
    "bytes that are no UTF-8": (b"a\xff", "a\\xff"),
    "a line end of a terminal": (b"a\r", "a"),
    "no line": (b"", ""),
    "a huge line": (b"x" * (MAX_LINE_BYTES + 3), "x" * MAX_LINE_BYTES + "… [3 more bytes]"),
}


def test_what_the_runtime_has_cut_counts_too() -> None:
    assert to_text(b"x", 7) == "x… [7 more bytes]"


@pytest.mark.parametrize(("data", "expected"), TEXTS.values(), ids=TEXTS.keys())
def test_bytes_become_text(data: bytes, expected: str) -> None:
    assert to_text(data) == expected


async def test_a_runtime_that_does_not_answer_is_asked_again(autojump_clock: MockClock) -> None:
    lines = Lines(RuntimeUnavailableError("away"))
    async with trio.open_nursery() as nursery:
        follow, seen = follower(lines, nursery)
        follow.follow(MAIN, POD, "main", 1)
        await trio.sleep(2.5)
        lines.error = None
        lines.send.send_nowait(line(b"one"))
        lines.send.close()
        await follow.drained(MAIN)
    assert trio.current_time() == 3
    assert [record.line for record in seen if isinstance(record, LogRecord)] == ["one"]
    assert len(seen) == 1


async def test_one_that_is_lost_amid_a_log_is_told(autojump_clock: MockClock) -> None:
    lines = Lines(RuntimeUnavailableError("away"), is_late=True)
    async with trio.open_nursery() as nursery:
        follow, seen = follower(lines, nursery)
        lines.send.send_nowait(line(b"one"))
        lines.send.close()
        follow.follow(MAIN, POD, "main", 1)
    assert [type(record) for record in seen] == [LogRecord, NoteRecord]
