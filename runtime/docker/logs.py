"""Reads container logs from the engine, line by line, with their times."""

from __future__ import annotations

import json
from contextlib import aclosing, asynccontextmanager
from typing import TYPE_CHECKING

from attrs import frozen

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
    async with bridge.http.request("GET", query.path(container_id)) as connection:
        if connection.status != 200:
            raise errors.of_answer(connection.status, await error_text(connection))
        async with aclosing(_lines(connection, is_tty=bool(inspected["Config"].get("Tty")))) as lines:
            yield lines


async def _lines(connection: EngineConnection, *, is_tty: bool) -> AsyncGenerator[LogLine, None]:
    """Yield lines until the stream ends."""
    frames, lines = Demultiplexer(is_raw=is_tty), LineAssembler(is_raw=is_tty)
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
