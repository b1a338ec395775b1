"""What one container has written to its standard streams, line by line, and who follows it."""

from __future__ import annotations

import math
from contextlib import aclosing, asynccontextmanager, contextmanager, suppress
from typing import TYPE_CHECKING

import trio
from attrs import define, field

from runtime.api import LogLine

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterator
    from datetime import datetime


@define(eq=False)
class ContainerLog:
    """Lines of one container; a line is written when its newline comes, a rest when the container ends."""

    _now: Callable[[], datetime]
    lines: list[LogLine] = field(factory=list, init=False)
    is_closed: bool = field(default=False, init=False)
    _rest: dict[str, bytes] = field(factory=dict, init=False)
    _changed: trio.Event | None = field(default=None, init=False)
    _listeners: set[trio.MemorySendChannel[tuple[str, bytes]]] = field(factory=set, init=False)

    def write(self, stream: str, data: bytes) -> None:
        """Append output of `stream` ("stdout" or "stderr")."""
        if self.is_closed:
            return
        for listener in self._listeners:
            with suppress(trio.BrokenResourceError):  # one that wants no more
                listener.send_nowait((stream, data))
        *whole, rest = (self._rest.pop(stream, b"") + data).split(b"\n")
        if rest:
            self._rest[stream] = rest
        if whole:
            self.lines.extend(LogLine(at=self._now(), stream=stream, line=line) for line in whole)
            self._wake()

    @property
    def size_bytes(self) -> int:
        """Return the bytes of all lines."""
        return sum(len(line.line) + 1 for line in self.lines)

    def close(self) -> None:
        """Write what has no newline yet and end every follower."""
        self.lines.extend(
            LogLine(at=self._now(), stream=stream, line=rest) for stream, rest in sorted(self._rest.items())
        )
        self._rest.clear()
        self.is_closed = True
        for listener in self._listeners:
            listener.close()
        self._wake()

    @contextmanager
    def listen(self) -> Iterator[trio.MemoryReceiveChannel[tuple[str, bytes]]]:
        """Give what is written from now on, as it is written, until the container ends."""
        send, receive = trio.open_memory_channel[tuple[str, bytes]](math.inf)
        self._listeners.add(send)
        try:
            with send, receive:
                yield receive
        finally:
            self._listeners.discard(send)

    @asynccontextmanager
    async def open(
        self, *, follow: bool, tail: int | None, since: datetime | None
    ) -> AsyncIterator[AsyncIterator[LogLine]]:
        """Open a reader as RuntimeService.container_logs describes it."""
        await trio.lowlevel.checkpoint()
        start = 0 if tail is None else max(0, len(self.lines) - tail)
        async with aclosing(self._read(start, since, follow=follow)) as lines:
            yield lines

    async def _read(self, position: int, since: datetime | None, *, follow: bool) -> AsyncGenerator[LogLine, None]:
        while True:
            while position < len(self.lines):
                line = self.lines[position]
                position += 1
                if since is None or line.at >= since:
                    yield line
            if not follow or self.is_closed:
                return
            if self._changed is None:
                self._changed = trio.Event()
            await self._changed.wait()

    def _wake(self) -> None:
        if self._changed is not None:
            self._changed.set()
            self._changed = None
