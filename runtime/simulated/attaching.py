"""Joining the streams of a container's first process: see `runtime.api.RuntimeService.attach`.

Source: containerd ContainerIO.Attach.
"""

from __future__ import annotations

from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import trio
from attrs import define, field

from runtime.api import CRIError
from runtime.simulated import signals

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from runtime.simulated.container import Container


@asynccontextmanager
async def attach(container: Container, *, stdin: bool) -> AsyncIterator[Attachment]:
    """Join a running container's streams; CRIError when it doesn't run."""
    await trio.lowlevel.checkpoint()
    if not container.is_alive:
        raise CRIError(f"container is in CONTAINER_{container.state.name} state")
    with container.log.listen() as output:
        session = Attachment(container, output, has_stdin=stdin and container.config.stdin)
        try:
            yield session
        finally:
            session.close_input()


@define(eq=False)
class Attachment:
    """See `runtime.api.AttachSession`."""

    _container: Container
    _output: trio.MemoryReceiveChannel[tuple[str, bytes]]
    _has_stdin: bool = field(kw_only=True)

    async def send(self, data: bytes) -> None:
        """Write to the container's standard input, or press keys of its terminal."""
        await trio.lowlevel.checkpoint()
        if self._has_stdin and self._container.config.tty:
            await self._container.terminal.type(data)
        elif self._has_stdin:
            await self._container.stdin.put(data)

    async def send_eof(self) -> None:
        """Say that no more input comes: that closes the container's input, or ends the session."""
        await trio.lowlevel.checkpoint()
        if self._has_stdin and not self.close_input():
            self._output.close()

    def close_input(self) -> bool:
        """Close the container's input after the first who gave some; tell whether it is a container to do so with."""
        config = self._container.config
        is_once = self._has_stdin and config.stdin_once and not config.tty
        if is_once:
            self._container.stdin.close()
        return is_once

    async def receive(self) -> tuple[str, bytes] | None:
        """Return the next output, None at the end of the session or of the container."""
        try:
            stream, data = await self._output.receive()
        except (trio.EndOfChannel, trio.ClosedResourceError):
            return None
        return stream, data.replace(b"\n", b"\r\n") if self._container.config.tty else data

    async def resize(self, rows: int, columns: int) -> None:
        """Tell those at the terminal that its size has changed; how large it is nobody asks."""
        del rows, columns
        await trio.lowlevel.checkpoint()
        if self._container.config.tty:
            self._container.signal_from_terminal(signals.SIGWINCH)
