"""The program around its commands: its standard streams, and its exit status.

What can't be written to stdout ends a command in one line and with status 1.
"""

from __future__ import annotations

import gc
import sys
from typing import TYPE_CHECKING

from kubelet_emu.cli.standard_streams import OutputError, discard_stdout, hold_descriptors, secure_streams

if TYPE_CHECKING:
    from collections.abc import Callable

FAILED = 1
INTERRUPTED = 130
_OBJECTS_BETWEEN_COLLECTIONS = 50_000  # what start-up makes stays, so that to look through it often is of no use


def run() -> None:
    """Be the program: make the standard streams safe, do the command, and exit with its status."""
    gc.set_threshold(_OBJECTS_BETWEEN_COLLECTIONS)
    closed = hold_descriptors()
    secure_streams()
    if 1 in closed:
        _say("warning: stdout is closed: what belongs there is not shown")
    status = guarded(_commands)
    gc.freeze()  # what is left ends with the process: walking through all of it again takes as long as a validation
    sys.exit(status)


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
