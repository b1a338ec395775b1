"""Joining the streams of a container's first process.

The engine keeps the rule about the end of the input by itself: with StdinOnce and no terminal it closes the
container's, else it ends the connection. A connection that a dead container leaves open is closed here.
"""

from __future__ import annotations

from collections import deque
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING

import trio
from attrs import define, field

from runtime.api import CRIError
from runtime.docker.frames import Demultiplexer
from runtime.docker.logs import error_text
from runtime.docker.nurseries import calls_side_by_side

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from runtime.docker.bridge import Bridge
    from runtime.docker.events import EventHub
    from runtime.docker.http import EngineConnection

LAST_WORDS_SECONDS = 2.0
"""How long a connection may go on after the container's death: its last output may still be on the way."""
_UPGRADE = {"Connection": "Upgrade", "Upgrade": "tcp"}
_NO_KEYS = ",".join(["%FF"] * 64)
"""What would detach from a terminal: bytes that no text in UTF-8 has, for the engine can't be told to look for none."""


@asynccontextmanager
async def attach(bridge: Bridge, hub: EventHub, container_id: str, *, stdin: bool) -> AsyncIterator[DockerAttachment]:
    """Join a running container's streams; CRIError when it doesn't run, NotFoundError. Leaving closes them."""
    with hub.death_of(container_id) as death:
        inspected = await bridge.read(lambda client: client.inspect_container(container_id))
        query = f"stream=1&stdout=1&stderr=1&stdin={int(stdin)}&detachKeys={_NO_KEYS}"
        path = f"/containers/{container_id}/attach?{query}"
        connection = await bridge.http.open("POST", path, headers=_UPGRADE)
        try:
            if connection.status not in {101, 200}:
                raise CRIError(await error_text(connection))
            # a container that has just died would keep a late connection for ever, and its death may be long known
            after = await bridge.read(lambda client: client.inspect_container(container_id))
            if not after["State"]["Running"]:
                raise CRIError("container is in CONTAINER_EXITED state")
            frames = Demultiplexer(is_raw=bool(inspected["Config"].get("Tty")))
            yield DockerAttachment(bridge, container_id, connection, frames, death)
        finally:
            await connection.aclose()


@define(eq=False)
class DockerAttachment:
    """See `runtime.api.AttachSession`."""

    _bridge: Bridge
    _container_id: str
    _connection: EngineConnection
    _frames: Demultiplexer
    _death: trio.Event
    _ready: deque[tuple[str, bytes]] = field(factory=deque, init=False)

    async def send(self, data: bytes) -> None:
        """Write to the container's standard input."""
        await self._connection.send_input(data)

    async def send_eof(self) -> None:
        """Say that no more input comes."""
        await self._connection.send_input_eof()

    async def receive(self) -> tuple[str, bytes] | None:
        """Return the next output, None when the engine ends the session or the container is dead."""
        while not self._ready:
            chunk = await self._next_chunk()
            if chunk is None:
                return None
            self._ready.extend(self._frames.feed(chunk))
        return self._ready.popleft()

    async def resize(self, rows: int, columns: int) -> None:
        """Set the size of the container's terminal."""
        with suppress(CRIError):
            await self._bridge.urgent(lambda client: client.resize(self._container_id, height=rows, width=columns))

    async def _next_chunk(self) -> bytes | None:
        chunk: bytes | None = None

        async def give_up() -> None:
            await self._death.wait()
            await trio.sleep(LAST_WORDS_SECONDS)
            nursery.cancel_scope.cancel()

        async with calls_side_by_side() as nursery:
            nursery.start_soon(give_up)
            chunk = await self._connection.receive()
            nursery.cancel_scope.cancel()
        return chunk
