"""Archives of containers for code that reads them in a thread: tarfile knows no Trio."""

from __future__ import annotations

import base64
import json
from typing import TYPE_CHECKING, Any

import trio
from attrs import define, field

from runtime.docker import calls, errors
from runtime.docker.http import message_of, unavailable

if TYPE_CHECKING:
    from collections.abc import Iterator

    from runtime.docker.http import EngineConnection, EngineHTTP


@define(eq=False)
class ArchiveSource:
    """Opens archives of one engine; each piece must come within `silence_seconds`."""

    http: EngineHTTP
    silence_seconds: float
    _open: list[EngineConnection] = field(factory=list, init=False)

    def get_archive(self, container_id: str, path: str) -> tuple[Iterator[bytes], dict[str, Any]]:
        """Return an archive in pieces, and what the engine says of the path; CRIError kinds. Called in a thread."""
        connection = trio.from_thread.run(self._opened, container_id, path)
        stat = connection.headers.get(b"x-docker-container-path-stat", b"")
        return self._pieces(connection), json.loads(base64.b64decode(stat)) if stat else {"linkTarget": ""}

    async def _opened(self, container_id: str, path: str) -> EngineConnection:
        connection = await self.http.open("GET", calls.get_archive(container_id, path).target)
        self._open.append(connection)
        if connection.status != 200:
            raise errors.of_answer(connection.status, message_of(await connection.body()))
        return connection

    def _pieces(self, connection: EngineConnection) -> Iterator[bytes]:
        while (piece := trio.from_thread.run(self._next, connection)) is not None:
            if piece:
                yield piece

    async def _next(self, connection: EngineConnection) -> bytes | None:
        with trio.move_on_after(self.silence_seconds):
            return await connection.receive()
        raise unavailable(self.http.endpoint, f"an archive was not continued for {self.silence_seconds:g} s")

    async def aclose(self) -> None:
        """Close what was opened."""
        for connection in self._open:
            await connection.aclose()
