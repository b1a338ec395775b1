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
LONGEST_LINE_BYTES = 1 << 20


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
class _OpenLine:
    """A line whose newline hasn't come yet: its time, its parts, and how much of it was too much to keep."""

    at: datetime
    _parts: list[bytes] = field(factory=list, init=False)
    _size: int = field(default=0, init=False)
    _cut: int = field(default=0, init=False)

    def add(self, text: bytes) -> None:
        """Add what follows."""
        kept = text[: LONGEST_LINE_BYTES - self._size]
        self._cut += len(text) - len(kept)
        self._size += len(kept)
        if kept:
            self._parts.append(kept)

    def close(self, stream: str, *, is_raw: bool) -> LogLine:
        """Return the whole line."""
        text = b"".join(self._parts)
        return LogLine(
            at=self.at, stream=stream, line=text.removesuffix(b"\r") if is_raw else text, cut_bytes=self._cut
        )


@define(eq=False)
class LineAssembler:
    """Puts frames with times together into lines.

    A line that never ends takes bounded memory, and one of many parts linear time.
    """

    is_raw: bool = False
    _open: dict[str, _OpenLine] = field(factory=dict, init=False)
    _stamp: bytes = field(default=b"", init=False)

    def feed(self, stream: str, payload: bytes) -> Iterator[LogLine]:
        """Take in one frame and yield the lines that are complete."""
        if not self.is_raw:
            stamp, _, text = payload.partition(b" ")
            yield from self._add(stream, stamp, text)
            return
        *lines, rest = payload.split(b"\n")
        for piece in [*(line + b"\n" for line in lines), rest]:
            yield from self._add_raw(piece)

    def end(self) -> Iterator[LogLine]:
        """Yield the lines that never got their newline."""
        if self._stamp:
            self._open["stdout"] = _OpenLine(_time(self._stamp))
        for stream, line in self._open.items():
            yield line.close(stream, is_raw=False)
        self._open.clear()

    def _add(self, stream: str, stamp: bytes, text: bytes) -> Iterator[LogLine]:
        """Add one timestamped message; the time of a long line is that of its first part."""
        line = self._open.setdefault(stream, _OpenLine(_time(stamp)))
        line.add(text.removesuffix(b"\n"))
        if text.endswith(b"\n"):
            yield self._open.pop(stream).close(stream, is_raw=self.is_raw)

    def _add_raw(self, piece: bytes) -> Iterator[LogLine]:
        """Add a piece of a terminal's log, cut anywhere; only the beginning of a line has a time."""
        if "stdout" in self._open:
            yield from self._add("stdout", b"", piece)
            return
        self._stamp += piece
        stamp, blank, text = self._stamp.partition(b" ")
        if blank or piece.endswith(b"\n"):
            self._stamp = b""
            yield from self._add("stdout", stamp, text if blank else b"\n")


def _time(stamp: bytes) -> datetime:
    try:
        return parse_time(stamp.decode("ascii")) or datetime.fromtimestamp(0, UTC)
    except ValueError:
        return datetime.fromtimestamp(0, UTC)
