"""A runtime for tests of actors: it executes commands by a script and dials servers in memory, nothing else."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

import trio
from attrs import define, field

from kubelet_emu.kubelet.recorder import Recorder
from kubelet_emu.kubelet.timebase import Timebase
from runtime.api import (
    ContainerID,
    ContainerMetadata,
    ContainerState,
    ContainerStatus,
    ExecResult,
    NotFoundError,
    SandboxID,
)

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from memory_servers import Network

    from kubelet_emu.journal.records import Record

EPOCH = datetime(2026, 1, 1, tzinfo=UTC)


async def succeed(command: tuple[str, ...]) -> ExecResult:
    """Exit 0 at once."""
    await trio.lowlevel.checkpoint()
    return ExecResult(exit_code=0)


@define
class StubRuntime:
    """The four methods of a runtime that probes and hooks call.

    `on_exec` runs a command; `execs` are the commands with their Trio time and timeout.
    """

    network: Network | None = None
    on_exec: Callable[[tuple[str, ...]], Awaitable[ExecResult]] = succeed
    execs: list[tuple[float, tuple[str, ...], float | None]] = field(factory=list)
    gone: set[ContainerID] = field(factory=set)

    async def exec_sync(
        self, container_id: ContainerID, command: tuple[str, ...], timeout_seconds: float | None = None
    ) -> ExecResult:
        """Run a command as `on_exec` says."""
        if container_id in self.gone:
            raise NotFoundError(f"no such container: {container_id}")
        self.execs.append((trio.current_time(), command, timeout_seconds))
        return await self.on_exec(command)

    async def container_status(self, container_id: ContainerID) -> ContainerStatus:
        """Return a container that runs in sandbox "s"."""
        await trio.lowlevel.checkpoint()
        if container_id in self.gone:
            raise NotFoundError(f"no such container: {container_id}")
        return ContainerStatus(
            id=container_id,
            sandbox_id=SandboxID("s"),
            metadata=ContainerMetadata(name="main"),
            state=ContainerState.RUNNING,
            created_at=EPOCH,
        )

    async def dial(self, sandbox_id: SandboxID, port: int) -> trio.abc.Stream:
        """Connect to a server in memory."""
        assert self.network is not None
        return await self.network.dial(sandbox_id, port)

    async def dial_host(self, host: str, port: int) -> trio.abc.Stream:
        """Connect to a real server at this machine's loopback."""
        return await trio.open_tcp_stream(host, port)


def make_recorder(records: list[Record]) -> Recorder:
    """Return a recorder that adds to `records`."""
    return Recorder(records.append, Timebase(epoch=EPOCH))
