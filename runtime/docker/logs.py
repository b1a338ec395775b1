"""Reads container logs from the engine, line by line, with their times."""

from __future__ import annotations

import json
from contextlib import aclosing, asynccontextmanager
from typing import TYPE_CHECKING

from attrs import define, evolve, field, frozen

from runtime.api import CRIError
from runtime.docker import errors
from runtime.docker.frames import Demultiplexer, LineAssembler

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterator
    from datetime import datetime

    from runtime.api import LogLine
    from runtime.docker.bridge import Bridge
    from runtime.docker.http import EngineConnection


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
        """Yield lines until the stream ends."""
        async with aclosing(self._read(connection)) as lines:
            async for line in lines:
                self._count(line)
                yield line
        if not self.query.follow:
            return
        async with aclosing(self._missed()) as missed:
            async for line in missed:
                yield line

    def _count(self, line: LogLine) -> None:
        """Note how many of the last lines have the last line's time."""
        self._count_at_last = self._count_at_last + 1 if line.at == self._last_at else 1
        self._last_at = line.at

    async def _missed(self) -> AsyncGenerator[LogLine, None]:
        """Yield what came after the last line: a followed log may end before the engine has written the end down.

        Seen with Docker 20.10 and a last line without newline.
        """
        query = evolve(self.query, follow=False)
        if self._last_at is not None:
            query = evolve(query, tail=None, since=self._last_at)
        skip = self._count_at_last
        try:
            async with self.bridge.http.request("GET", query.path(self.container_id)) as connection:
                if connection.status != 200:
                    return
                async with aclosing(self._read(connection)) as lines:
                    async for line in lines:
                        skip -= 1
                        if skip < 0:
                            yield line
        except CRIError:
            return

    async def _read(self, connection: EngineConnection) -> AsyncGenerator[LogLine, None]:
        """Yield the lines of one answer."""
        frames, lines = Demultiplexer(is_raw=self.is_tty), LineAssembler(is_raw=self.is_tty)
        while (chunk := await connection.receive()) is not None:
            for stream, payload in frames.feed(chunk):
                for line in lines.feed(stream, payload):
                    yield line
        for line in lines.end():
            yield line


async def error_text(connection: EngineConnection) -> str:
    """Return the engine's text of a refusal."""
    body = await connection.body()
    try:
        return str(json.loads(body)["message"])
    except (ValueError, KeyError, TypeError):
        return body.decode(errors="replace")
