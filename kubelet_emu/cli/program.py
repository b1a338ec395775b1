"""The program around its commands: its standard streams, and its exit status.

What can't be written to stdout ends a command in one line and with status 1.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from kubelet_emu.cli.standard_streams import OutputError, discard_stdout, hold_descriptors, secure_streams

if TYPE_CHECKING:
    from collections.abc import Callable

FAILED = 1
INTERRUPTED = 130


def run() -> None:
    """Be the program: make the standard streams safe, do the command, and exit with its status."""
    closed = hold_descriptors()
    secure_streams()
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
        discard_stdout()
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
