"""Reads container logs from the engine, line by line, with their times."""

from __future__ import annotations

import json
from contextlib import aclosing, asynccontextmanager
from typing import TYPE_CHECKING

import trio
from attrs import define, evolve, field, frozen

from runtime.api import CRIError, RuntimeUnavailableError
from runtime.docker import errors
from runtime.docker.frames import Demultiplexer, LineAssembler

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterator
    from datetime import datetime

    from runtime.api import LogLine
    from runtime.docker.bridge import Bridge
    from runtime.docker.http import EngineConnection

REOPEN_SECONDS = 0.1
REOPEN_CAP_SECONDS = 2.0


@frozen(kw_only=True)
class LogQuery:
    """What to read of a log."""

    follow: bool = False
    tail: int | None = None
    since: datetime | None = None

    def path(self, container_id: str) -> str:
        """Return the call's path; the engine counts times in seconds with a fraction."""
        since = f"&since={self.since.timestamp():.6f}" if self.since else ""
        tail = "all" if self.tail is None else str(max(0, self.tail))
        follow = int(self.follow)
        return f"/containers/{container_id}/logs?stdout=1&stderr=1&timestamps=1&follow={follow}&tail={tail}{since}"


@asynccontextmanager
async def open_log(bridge: Bridge, container_id: str, query: LogQuery) -> AsyncIterator[AsyncIterator[LogLine]]:
    """Open a log; with `follow` it ends when the container does. NotFoundError. Leaving the block closes it at once."""
    inspected = await bridge.read(lambda client: client.inspect_container(container_id))
    is_tty = bool(inspected["Config"].get("Tty"))
    async with bridge.http.request("GET", query.path(container_id)) as connection:
        if connection.status != 200:
            raise errors.of_answer(connection.status, await error_text(connection))
        reader = _Reader(bridge, container_id, query, is_tty)
        async with aclosing(reader.lines(connection)) as lines:
            yield lines


@define(eq=False)
class _Reader:
    """Reads one log, and what the engine forgot to send while it was followed."""

    bridge: Bridge
    container_id: str
    query: LogQuery
    is_tty: bool
    _last_at: datetime | None = field(default=None, init=False)
    _count_at_last: int = field(default=0, init=False)

    async def lines(self, connection: EngineConnection) -> AsyncGenerator[LogLine, None]:
        """Yield lines until the stream ends; a followed one goes on when an engine that went away amid it is back."""
        rest: EngineConnection | None = connection
        while rest is not None:
            connection = rest
            async with aclosing(connection), aclosing(self._unseen(connection, self._count_at_last)) as lines:
                async for line in lines:
                    self._count(line)
                    yield line
            rest = await self._reopened() if self.query.follow and connection.is_cut else None
        if not self.query.follow or connection.is_cut:
            return
        async with aclosing(self._missed()) as missed:
            async for line in missed:
                yield line

    async def _unseen(self, connection: EngineConnection, seen: int) -> AsyncGenerator[LogLine, None]:
        """Yield the lines of one answer but the first, which were seen."""
        async with aclosing(self._read(connection)) as lines:
            async for line in lines:
                seen -= 1
                if seen < 0:
                    yield line

    async def _reopened(self) -> EngineConnection | None:
        """Follow the rest as soon as the engine answers; None when it has the container no more."""
        pause = REOPEN_SECONDS
        while True:
            try:
                connection = await self.bridge.http.open("GET", self._rest(follow=True).path(self.container_id))
            except RuntimeUnavailableError:
                await trio.sleep(pause)
                pause = min(2 * pause, REOPEN_CAP_SECONDS)
                continue
            if connection.status == 200:
                return connection
            await connection.aclose()
            return None

    def _rest(self, *, follow: bool) -> LogQuery:
        """Return what is left, from the time of the last line on: lines of that time come once more."""
        query = evolve(self.query, follow=follow)
        return query if self._last_at is None else evolve(query, tail=None, since=self._last_at)

    def _count(self, line: LogLine) -> None:
        """Note how many of the last lines have the last line's time."""
        self._count_at_last = self._count_at_last + 1 if line.at == self._last_at else 1
        self._last_at = line.at

    async def _missed(self) -> AsyncGenerator[LogLine, None]:
        """Yield what came after the last line: a followed log may end before the engine has written the end down.

        Seen with Docker 20.10 and a last line without newline.
        """
        query = self._rest(follow=False)
        try:
            async with self.bridge.http.request("GET", query.path(self.container_id)) as connection:
                if connection.status != 200:
                    return
                async with aclosing(self._unseen(connection, self._count_at_last)) as lines:
                    async for line in lines:
                        yield line
        except CRIError:
            return

    async def _read(self, connection: EngineConnection) -> AsyncGenerator[LogLine, None]:
        """Yield the lines of one answer; one that is cut short in a followed log comes again, whole."""
        frames, lines = Demultiplexer(is_raw=self.is_tty), LineAssembler(is_raw=self.is_tty)
        while (chunk := await connection.receive()) is not None:
            for stream, payload in frames.feed(chunk):
                for line in lines.feed(stream, payload):
                    yield line
        if self.query.follow and connection.is_cut:
            return
        for line in lines.end():
            yield line


async def error_text(connection: EngineConnection) -> str:
    """Return the engine's text of a refusal."""
    body = await connection.body()
    try:
        return str(json.loads(body)["message"])
    except (ValueError, KeyError, TypeError):
        return body.decode(errors="replace")
