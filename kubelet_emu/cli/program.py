"""The program around its commands: standard streams that are closed, full or no longer read.

A closed stream is the null device from then on, so that no file of ours gets its number. What can't be written to
stdout ends a command in one line and with status 1; what can't be written to stderr is lost: nobody is left to tell.
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

FAILED = 1
INTERRUPTED = 130


class OutputError(Exception):
    """Stdout can't be written; the text says why."""


def run() -> None:
    """Be the program: make the standard streams safe, do the command, and exit with its status."""
    closed = hold_descriptors()
    sys.stdout, sys.stderr = _safe(sys.stdout, 1, _raise), _safe(sys.stderr, 2, _ignore)
    if 1 in closed:
        _say("warning: stdout is closed: what belongs there is not shown")
    sys.exit(guarded(_commands))


def _commands() -> None:
    from kubelet_emu.cli.main import main

    main(prog_name="kubelet-emu")


def guarded(command: Callable[[], None]) -> int:
    """Do a command that ends with SystemExit; return its status, or that of a stdout that can't be written."""
    try:
        try:
            command()
        except SystemExit as end:
            sys.stdout.flush()
            return _status(end.code)
        sys.stdout.flush()
    except OutputError as error:
        _say(f"error: stdout: {error}")
        _discard_stdout()
        return FAILED
    except KeyboardInterrupt:
        return INTERRUPTED
    return 0


def _status(code: str | int | None) -> int:
    if isinstance(code, str):
        _say(code)
        return FAILED
    return code or 0


def _say(line: str) -> None:
    sys.stderr.write(f"{line}\n")


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


def _discard_stdout() -> None:
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
