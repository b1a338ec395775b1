"""Standard streams that are closed, full or no longer read.

A closed stream is the null device from then on, so that no file of ours gets its number. What can't be written to
stdout is an OutputError; what can't be written to stderr is lost: nobody is left to tell.
"""

from __future__ import annotations

import errno
import io
import os
import sys
from contextlib import suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TextIO

    from _typeshed import ReadableBuffer


class OutputError(Exception):
    """Stdout can't be written; the text says why."""


def secure_streams() -> None:
    """Have stdout and stderr raise, or lose, what can't be written."""
    sys.stdout, sys.stderr = _safe(sys.stdout, 1, _raise), _safe(sys.stderr, 2, _ignore)


def hold_descriptors() -> tuple[int, ...]:
    """Open the null device where a standard stream is closed; return which were."""
    closed = []
    for descriptor in (0, 1, 2):
        try:
            os.fstat(descriptor)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # gets the lowest free number, which is this one
            closed.append(descriptor)
    return tuple(closed)


def discard_stdout() -> None:
    """Have the interpreter's last flush go nowhere."""
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, sys.stdout.fileno())
    with suppress(OutputError):
        sys.stdout.flush()


class _Output(io.FileIO):
    """A standard stream's descriptor; `on_error` decides what a failure to write is."""

    def __init__(self, descriptor: int, on_error: Callable[[OSError], None]) -> None:
        super().__init__(descriptor, "wb", closefd=False)
        self.on_error = on_error

    def write(self, data: ReadableBuffer, /) -> int:
        """Write; what fails and is no error counts as written."""
        try:
            return super().write(data)
        except OSError as error:
            self.on_error(error)
            return len(memoryview(data).cast("B"))


def _raise(error: OSError) -> None:
    raise OutputError("its reader has gone" if error.errno == errno.EPIPE else error.strerror) from error


def _ignore(_error: OSError) -> None:
    """Lose what stderr doesn't take."""


def _safe(stream: TextIO | None, descriptor: int, on_error: Callable[[OSError], None]) -> TextIO:
    """Return a standard stream over `_Output`; odd characters become escapes."""
    raw = _Output(descriptor, on_error)
    return io.TextIOWrapper(
        io.BufferedWriter(raw),
        encoding="utf-8" if stream is None else stream.encoding,
        errors="backslashreplace",
        line_buffering=raw.isatty() or descriptor == 2,
    )
