"""What a file descriptor of a simulated process can be: the log, a buffer, a pipe, a device or a file.

Every open file counts its descriptors, so that a pipe ends when its last writer is gone. Writing to a pipe that nobody
reads raises `BrokenPipeError`; a full pipe waits, as the kernel's does.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Protocol

import trio
from attrs import define, field

if TYPE_CHECKING:
    from runtime.simulated.logs import ContainerLog

PIPE_CAPACITY_BYTES = 65536
DEVICE_CHUNK_BYTES = 4096


class OpenFile(Protocol):
    """One open file, shared by the descriptors that were duplicated from it."""

    async def write(self, data: bytes) -> None:
        """Write all of `data`; OSError."""

    async def read(self, limit: int) -> bytes:
        """Return at most `limit` bytes, b"" at the end; OSError."""

    def retain(self) -> None:
        """Count one more descriptor."""

    def release(self) -> None:
        """Count one descriptor less."""


@define(eq=False)
class NullFile:
    """/dev/null, and the standard input of a container without one."""

    async def write(self, data: bytes) -> None:
        """Forget the data."""

    async def read(self, limit: int) -> bytes:  # noqa: ARG002 - the protocol has it
        """Return the end of file."""
        return b""

    def retain(self) -> None:
        """Count nothing."""

    def release(self) -> None:
        """Count nothing."""


@define(eq=False)
class StandardInput(NullFile):
    """The standard input of a container with `stdin` or a terminal: what is sent by who is attached; else it waits."""

    is_closed: bool = field(default=False, init=False)
    _pieces: deque[bytes] = field(factory=deque, init=False)
    _changed: trio.Event = field(factory=trio.Event, init=False)

    async def read(self, limit: int) -> bytes:
        """Wait for input and return it, at most one piece; b"" at its end. Cancellation loses nothing."""
        while not self._pieces:
            if self.is_closed:
                return b""
            await self._changed.wait()
        piece = self._pieces.popleft()
        if len(piece) > limit:
            self._pieces.appendleft(piece[limit:])
        self._wake()
        return piece[:limit]

    async def put(self, data: bytes) -> None:
        """Hand in a piece, b"" for an end that is no last one; waits for a reader that is far behind."""
        while not self.is_closed and sum(map(len, self._pieces)) >= PIPE_CAPACITY_BYTES:
            await self._changed.wait()
        if not self.is_closed:
            self._pieces.append(data)
            self._wake()

    def close(self) -> None:
        """End it: what was handed in is still read, and no more comes."""
        self.is_closed = True
        self._wake()

    def _wake(self) -> None:
        self._changed.set()
        self._changed = trio.Event()


@define(eq=False)
class ZeroFile(NullFile):
    """/dev/zero: never ends."""

    async def read(self, limit: int) -> bytes:
        """Return zeros."""
        return bytes(min(limit, DEVICE_CHUNK_BYTES))


@define(eq=False)
class FullFile(ZeroFile):
    """/dev/full: no write succeeds."""

    async def write(self, data: bytes) -> None:
        """Fail as a full disk does."""
        if data:
            raise OSError(28, "No space left on device")


@define(eq=False)
class DirectoryFile(NullFile):
    """An open directory: it can't be read like a file."""

    async def read(self, limit: int) -> bytes:  # noqa: ARG002 - the protocol has it
        """Fail as the kernel does."""
        raise IsADirectoryError(21, "Is a directory")


@define(eq=False)
class LogFile(NullFile):
    """Standard output or error of a container."""

    _log: ContainerLog
    _stream: str

    async def write(self, data: bytes) -> None:
        """Append to the container's log."""
        self._log.write(self._stream, data)


@define(eq=False)
class Buffer(NullFile):
    """Collects what is written: the output of an exec or of a command substitution."""

    data: bytearray = field(factory=bytearray, init=False)

    async def write(self, data: bytes) -> None:
        """Collect the data."""
        self.data += data


@define(eq=False)
class Text(NullFile):
    """Reads a fixed text once: a here-document."""

    _data: bytes
    _position: int = field(default=0, init=False)

    async def read(self, limit: int) -> bytes:
        """Return the next part."""
        part = self._data[self._position : self._position + limit]
        self._position += len(part)
        return part


@define(eq=False)
class Pipe:
    """A bounded buffer between writers and readers; a named pipe keeps one of these."""

    data: bytearray = field(factory=bytearray, init=False)
    writers: int = field(default=0, init=False)
    readers: int = field(default=0, init=False)
    _changed: trio.Event = field(factory=trio.Event, init=False)

    def wake(self) -> None:
        """Let everyone who waits on the pipe look again."""
        self._changed.set()
        self._changed = trio.Event()

    async def wait_changed(self) -> None:
        """Wait for the next change."""
        await self._changed.wait()

    def open_ends(self) -> tuple[PipeReader, PipeWriter]:
        """Return both ends, each with one descriptor."""
        return PipeReader(self), PipeWriter(self)


@define(eq=False)
class PipeReader:
    """The reading end of a pipe."""

    pipe: Pipe
    count: int = field(default=1, init=False)

    def __attrs_post_init__(self) -> None:
        """Count this end with the pipe."""
        self.pipe.readers += 1

    async def write(self, data: bytes) -> None:  # noqa: ARG002 - the protocol has it
        """Refuse: the end is for reading."""
        raise OSError(9, "Bad file descriptor")

    async def read(self, limit: int) -> bytes:
        """Wait for data and return it; b"" when no writer is left. Cancellation loses nothing."""
        pipe = self.pipe
        while not pipe.data:
            if pipe.writers == 0:
                return b""
            await pipe.wait_changed()
        part = bytes(pipe.data[:limit])
        del pipe.data[:limit]
        pipe.wake()
        return part

    def retain(self) -> None:
        """Count one more descriptor."""
        self.count += 1

    def release(self) -> None:
        """Close the end with its last descriptor."""
        self.count -= 1
        if self.count == 0:
            self.pipe.readers -= 1
            self.pipe.wake()


@define(eq=False)
class PipeWriter:
    """The writing end of a pipe."""

    pipe: Pipe
    count: int = field(default=1, init=False)

    def __attrs_post_init__(self) -> None:
        """Count this end with the pipe."""
        self.pipe.writers += 1

    async def write(self, data: bytes) -> None:
        """Wait for room and write; BrokenPipeError when no reader is left. Cancellation may leave a part written."""
        pipe = self.pipe
        while data:
            if pipe.readers == 0:
                raise BrokenPipeError(32, "Broken pipe")
            room = PIPE_CAPACITY_BYTES - len(pipe.data)
            if room <= 0:
                await pipe.wait_changed()
                continue
            pipe.data += data[:room]
            data = data[room:]
            pipe.wake()

    async def read(self, limit: int) -> bytes:  # noqa: ARG002 - the protocol has it
        """Refuse: the end is for writing."""
        raise OSError(9, "Bad file descriptor")

    def retain(self) -> None:
        """Count one more descriptor."""
        self.count += 1

    def release(self) -> None:
        """Close the end with its last descriptor."""
        self.count -= 1
        if self.count == 0:
            self.pipe.writers -= 1
            self.pipe.wake()
