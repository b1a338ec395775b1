"""Cleans up after a program that ended without doing so: by SIGTERM, SIGHUP or SIGKILL, which we may not catch for it.

A program with a node on an engine has a small process beside it that reads from a pipe. A byte means that the program
has cleaned up itself; an end without one, that it is gone, and that everything of the node's instance is to go too.
"""

from __future__ import annotations

import os
import subprocess
import sys
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

import trio
from attrs import define

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

CLEAN_UP_SECONDS = 60.0
LATE_SECONDS = 2.0
"""What a program has asked of the engine last may be done only after its end."""


@define
class Guard:
    """Whether the process beside the program still has something to do."""

    is_needed: bool = True
    """False once the program has cleaned up; the process ends without a look at the engine then."""


@asynccontextmanager
async def guarded(instance: str, root: Path) -> AsyncIterator[Guard]:
    """Have the objects of an instance removed should the program end inside the body, or leave it while needed.

    Leaving waits for the process, 60 s at most.
    """
    paths = os.pathsep.join(filter(None, sys.path))  # the same modules, whatever the program did to find them
    process = await trio.lowlevel.open_process(
        [sys.executable, "-m", __name__, instance, str(root)],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env={**os.environ, "PYTHONPATH": paths},
        start_new_session=True,  # Ctrl-C at a terminal, and its end, are for the program
    )
    guard = Guard()
    try:
        yield guard
    finally:
        with trio.CancelScope(shield=True, deadline=trio.current_time() + CLEAN_UP_SECONDS):
            await _dismiss(process, guard)


async def _dismiss(process: trio.Process, guard: Guard) -> None:
    if process.stdin is not None:
        with suppress(trio.BrokenResourceError):  # it was killed: nobody is there to tell
            if not guard.is_needed:
                await process.stdin.send_all(b"\0")
        await process.stdin.aclose()
    await process.wait()


def main() -> None:
    """Wait for the end of the program that started this one, and clean up after it."""
    instance, root = sys.argv[1:]
    if not sys.stdin.buffer.read(1):
        trio.run(_clean_up, instance, Path(root))


async def _clean_up(instance: str, root: Path) -> None:
    from runtime.docker import DockerRuntime  # noqa: PLC0415 - most of these processes never need it

    async with DockerRuntime(instance, root=root) as runtime:
        with trio.fail_after(CLEAN_UP_SECONDS):
            await runtime.remove_all()
            await trio.sleep(LATE_SECONDS)
            await runtime.remove_all()
            await runtime.remove_own_pause_image()


if __name__ == "__main__":
    main()
