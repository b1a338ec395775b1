"""Bytes to numbered lines: gzip is opened, byte order marks and CRs are dropped, endless lines are cut.

Memory is bounded by the longest line that is kept, whatever the file's size.
"""

from __future__ import annotations

import gzip
import io
import sys
import zlib
from contextlib import contextmanager
from pathlib import PurePath
from typing import TYPE_CHECKING, BinaryIO, NamedTuple, cast

from kubelet_emu.lifecycle.reading.found import ReadError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

STDIN = "<stdin>"
HEAD_BYTES = 256 * 1024
MOST_LINE_BYTES = 4 * 1024 * 1024
_GZIP_MAGIC = b"\x1f\x8b"
_BOM = b"\xef\xbb\xbf"


class Line(NamedTuple):
    """One line without its end; `is_complete` is False for a last line without a newline. Lines count from 1."""

    number: int
    data: bytes
    is_complete: bool = True


@contextmanager
def open_log(place: Path | BinaryIO) -> Iterator[io.BufferedReader]:
    """Open a file, `-` or a stream for reading, unpacked; ReadError when that can't be done."""
    if not isinstance(place, PurePath):
        yield _unpacked(place)
        return
    if str(place) == "-":
        yield _unpacked(sys.stdin.buffer)
        return
    try:
        file = place.open("rb")
    except OSError as error:
        raise ReadError(f"{place}: {error.strerror or error}") from error
    with file:
        yield _unpacked(file)


def _unpacked(stream: BinaryIO) -> io.BufferedReader:
    # a reader over a reader: its buffer is large enough to look at the head without taking it away
    big: io.BufferedReader = io.BufferedReader(cast("io.RawIOBase", stream), HEAD_BYTES)
    if big.peek(2)[:2] != _GZIP_MAGIC:
        return big
    unpacked: io.BufferedReader = io.BufferedReader(cast("io.RawIOBase", gzip.GzipFile(fileobj=big)), HEAD_BYTES)
    return unpacked


def head_of(stream: io.BufferedReader, name: str) -> bytes:
    """Return the beginning of a stream without taking it away; ReadError for a broken gzip file."""
    try:
        return stream.peek(HEAD_BYTES)[:HEAD_BYTES].removeprefix(_BOM)
    except (EOFError, OSError, zlib.error) as error:
        raise ReadError(f"{name}: broken gzip file: {error}") from error


def lines_of(stream: io.BufferedReader, most_bytes: int = MOST_LINE_BYTES) -> Iterator[Line]:
    """Yield the lines; what a line has beyond `most_bytes` is dropped.

    A gzip file that is cut ends like a text file that is cut: with an incomplete line.
    """
    number = 0
    while True:
        number += 1
        try:
            data = stream.readline(most_bytes)
            is_complete = data.endswith(b"\n")
            while len(data) >= most_bytes and not is_complete:
                rest = stream.readline(most_bytes)
                is_complete = rest.endswith(b"\n")
                if not rest or is_complete:
                    break
        except (EOFError, OSError, zlib.error):
            yield Line(number, b"", is_complete=False)
            return
        if not data:
            return
        if number == 1:
            data = data.removeprefix(_BOM)
        yield Line(number, data.rstrip(b"\r\n"), is_complete)
