"""Whole runs in processes of their own, watched by what they tell."""

from __future__ import annotations

import os
import subprocess
import sys
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import trio
from attrs import define, field

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path


@define
class Run:
    """A run in a process of its own; `seen` is its stderr so far."""

    process: trio.Process
    seen: str = ""
    _changed: trio.Event = field(factory=trio.Event)

    async def read(self) -> None:
        """Read what it tells until it ends."""
        assert self.process.stderr is not None
        async for data in self.process.stderr:
            self.seen += data.decode()
            self._changed.set()
            self._changed = trio.Event()

    async def until(self, text: str) -> None:
        """Wait until it has told something."""
        with trio.fail_after(60):
            while text not in self.seen:
                await self._changed.wait()

    async def end(self) -> int:
        """Wait for its end and return its status."""
        with trio.fail_after(60):
            return await self.process.wait()


@asynccontextmanager
async def a_run(manifest: Path, engine_url: str, *words: str) -> AsyncIterator[Run]:
    """Give a run of a manifest on an engine; one that has not ended by then is killed."""
    command = [sys.executable, "-m", "kubelet_emu", "run", str(manifest), *words]
    command += ["--root-dir", str(manifest.parent / "root")]
    async with trio.open_nursery() as nursery:
        process = await trio.lowlevel.open_process(
            command,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            env={**os.environ, "DOCKER_HOST": engine_url},
        )
        run = Run(process)
        nursery.start_soon(run.read)
        try:
            yield run
        finally:
            if process.returncode is None:
                process.kill()
            await process.wait()
