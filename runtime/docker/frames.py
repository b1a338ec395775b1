"""Pure: the engine's multiplexed streams and log lines, from bytes to values.

Without a terminal each frame is eight bytes of head (stream, three zeros, length) and its payload; with one the
stream is raw. A log line carries an RFC 3339 time in front; a line longer than 16 KiB comes in several frames, of
which only the last ends in a newline.
"""

from __future__ import annotations

import struct
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from attrs import define, field

from runtime.api import LogLine
from runtime.docker.convert import parse_time

if TYPE_CHECKING:
    from collections.abc import Iterator

STREAMS = {0: "stdin", 1: "stdout", 2: "stderr"}
_HEAD = struct.Struct(">BxxxL")


@define(eq=False)
class Demultiplexer:
    """Cuts a multiplexed stream into (stream name, payload)."""

    is_raw: bool = False
    _pending: bytearray = field(factory=bytearray, init=False)

    def feed(self, data: bytes) -> Iterator[tuple[str, bytes]]:
        """Take in bytes and yield the frames that are complete."""
        if self.is_raw:
            yield "stdout", data
            return
        self._pending += data
        while len(self._pending) >= _HEAD.size:
            kind, length = _HEAD.unpack_from(self._pending)
            end = _HEAD.size + length
            if len(self._pending) < end:
                return
            payload = bytes(self._pending[_HEAD.size : end])
            del self._pending[:end]
            yield STREAMS.get(kind, "stdout"), payload


@define(eq=False)
class LineAssembler:
    """Puts frames with times together into lines."""

    is_raw: bool = False
    _partial: dict[str, tuple[datetime, bytes]] = field(factory=dict, init=False)
    _raw: bytes = field(default=b"", init=False)

    def feed(self, stream: str, payload: bytes) -> Iterator[LogLine]:
        """Take in one frame and yield the lines that are complete."""
        if not self.is_raw:
            yield from self._message(stream, payload)
            return
        *lines, self._raw = (self._raw + payload).split(b"\n")
        for line in lines:
            yield from self._message(stream, line + b"\n")

    def end(self) -> Iterator[LogLine]:
        """Yield the lines that never got their newline."""
        if self._raw:
            yield from self._message("stdout", self._raw)
        for stream, (at, text) in self._partial.items():
            yield LogLine(at=at, stream=stream, line=text)
        self._partial.clear()

    def _message(self, stream: str, message: bytes) -> Iterator[LogLine]:
        """Add one timestamped message; the time of a long line is that of its first part."""
        stamp, _, text = message.partition(b" ")
        at, before = self._partial.pop(stream, (_time(stamp), b""))
        text = before + text
        if text.endswith(b"\n"):
            line = text[:-1].removesuffix(b"\r") if self.is_raw else text[:-1]
            yield LogLine(at=at, stream=stream, line=line)
        else:
            self._partial[stream] = (at, text)


def _time(stamp: bytes) -> datetime:
    try:
        return parse_time(stamp.decode("ascii")) or datetime.fromtimestamp(0, UTC)
    except ValueError:
        return datetime.fromtimestamp(0, UTC)
