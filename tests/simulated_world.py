"""A simulated machine for tests: containers of scripts, watched in virtual time."""

from __future__ import annotations

from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import trio
import trio.testing
from attrs import define, field, frozen

from runtime.api import (
    ContainerConfig,
    ContainerMetadata,
    ImageID,
    LinuxContainerResources,
    PodSandboxConfig,
    PodSandboxMetadata,
)
from runtime.simulated import SimulatedImage, SimulatedRuntime

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable

    from runtime.api import ContainerID, SandboxID

EPOCH = datetime(2026, 1, 1, tzinfo=UTC)
BUSYBOX = "registry.test/busybox:1"
PRESENT = {"*": SimulatedImage(is_present=True)}


def now() -> datetime:
    return EPOCH + timedelta(seconds=trio.current_time())


@frozen
class Seen:
    """What a container showed: lines with their times, its exit code and reason, and when it ended."""

    lines: tuple[tuple[float, str], ...]
    code: int | None
    reason: str
    seconds: float

    @property
    def text(self) -> str:
        return "\n".join(line for _, line in self.lines)


@define
class World:
    """A pod in a simulated machine."""

    runtime: SimulatedRuntime
    sandbox: SandboxID
    config: PodSandboxConfig
    ids: dict[str, ContainerID] = field(factory=dict)

    async def start(
        self,
        script: str,
        name: str = "main",
        *,
        argv: tuple[str, ...] | None = None,
        image: str = BUSYBOX,
        **settings: object,
    ) -> ContainerID:
        config = ContainerConfig(
            metadata=ContainerMetadata(name=name),
            image=ImageID(image),
            image_name=image,
            command=argv if argv is not None else ("sh", "-c", script),
            **settings,  # type: ignore[arg-type]
        )
        container = self.ids[name] = await self.runtime.create_container(self.sandbox, config, self.config)
        await self.runtime.start_container(container)
        return container

    async def exec(self, script: str, name: str = "main", seconds: float | None = None) -> tuple[str, int]:
        result = await self.runtime.exec_sync(self.ids[name], ("sh", "-c", script), seconds)
        return (result.stdout + result.stderr).decode(), result.exit_code

    async def watch(self, name: str = "main") -> Seen:
        """Follow a container to its end."""
        async with self.runtime.container_logs(self.ids[name], follow=True) as log:
            lines = [(round((line.at - EPOCH).total_seconds(), 3), line.line.decode()) async for line in log]
        status = await self.runtime.container_status(self.ids[name])
        return Seen(tuple(lines), status.exit_code, status.reason, round(trio.current_time(), 3))


@asynccontextmanager
async def a_world(pod: LinuxContainerResources | None = None, **options: object) -> AsyncIterator[World]:
    """Give a world; `pod` is what all of its pod together may use."""
    options.setdefault("images", PRESENT)
    async with SimulatedRuntime(now, **options) as runtime:  # type: ignore[arg-type]
        metadata = PodSandboxMetadata(name="pod", namespace="ns", uid="u")
        config = PodSandboxConfig(metadata=metadata, resources=pod)
        yield World(runtime, await runtime.run_pod_sandbox(config), config)


def live(
    script: str, *, stop_at: float | None = None, grace: float = 5.0, limit: int | None = None, **options: object
) -> Seen:
    """Run a script as a container's first process, stop it at a time if asked, and return what it showed."""

    async def story(world: World) -> Seen:
        container = await world.start(script, resources=LinuxContainerResources(memory_limit_bytes=limit))
        if stop_at is not None:
            await trio.sleep(stop_at)
            await world.runtime.stop_container(container, grace)
        return await world.watch()

    return tell(story, **options)


def tell(story: Callable[[World], Awaitable[Seen]], **options: object) -> Seen:
    """Run a story in virtual time."""

    async def run() -> Seen:
        async with a_world(**options) as world:
            return await story(world)

    return trio.run(run, clock=trio.testing.MockClock(autojump_threshold=0))
