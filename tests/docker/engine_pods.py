"""Makers for tests on a real engine: pods, and a way to the engine that can be cut."""

from __future__ import annotations

import functools
import secrets
from typing import TYPE_CHECKING, Any

import images
import trio
from attrs import define, field

from runtime.api import (
    ContainerConfig,
    ContainerID,
    ContainerMetadata,
    ImageID,
    PodSandboxConfig,
    PodSandboxMetadata,
    SandboxID,
)

if TYPE_CHECKING:
    from runtime.docker import DockerRuntime


@define(eq=False)
class PodMaker:
    """One pod of a test: its sandbox, and containers on demand."""

    runtime: DockerRuntime
    image: ImageID
    config: PodSandboxConfig
    sandbox_id: SandboxID

    def container(self, name: str, script: str, **changes: object) -> ContainerConfig:
        """Return a container that runs a shell script."""
        values: dict[str, Any] = {
            "metadata": ContainerMetadata(name=name),
            "image": self.image,
            "image_name": images.BUSYBOX,
            "command": ("sh", "-c", script),
            "labels": {"io.kubernetes.pod.uid": self.config.metadata.uid},
        }
        return ContainerConfig(**values | changes)

    async def create(self, name: str, script: str, **changes: object) -> ContainerID:
        """Create a container."""
        return await self.runtime.create_container(
            self.sandbox_id, self.container(name, script, **changes), self.config
        )

    async def start(self, name: str, script: str, **changes: object) -> ContainerID:
        """Create and start a container."""
        container_id = await self.create(name, script, **changes)
        await self.runtime.start_container(container_id)
        return container_id

    async def log_until(self, container_id: ContainerID, text: str) -> list[str]:
        """Follow a log until a line has the text; return the lines so far."""
        seen: list[str] = []
        async with self.runtime.container_logs(container_id, follow=True) as lines:
            async for line in lines:
                seen.append(line.line.decode())
                if text in seen[-1]:
                    return seen
        raise AssertionError(f"{text!r} was not logged: {seen}")

    async def log_of(self, container_id: ContainerID) -> list[str]:
        """Follow a log to its end and return the lines."""
        async with self.runtime.container_logs(container_id, follow=True) as lines:
            return [line.line.decode() async for line in lines]


@define(eq=False)
class EngineProxy:
    """The engine on a TCP port of ours, whose connections can be cut as when an engine restarts."""

    socket_path: str
    url: str = ""
    _open: set[trio.abc.Stream] = field(factory=set)

    async def serve(self, *, task_status: trio.TaskStatus[None]) -> None:
        """Forward connections until cancelled."""
        async with trio.open_nursery() as nursery:
            [listener] = await nursery.start(functools.partial(trio.serve_tcp, self._forward, 0, host="127.0.0.1"))
            self.url = f"tcp://127.0.0.1:{listener.socket.getsockname()[1]}"
            task_status.started()

    async def cut(self) -> None:
        """Close every connection."""
        for stream in list(self._open):
            await trio.aclose_forcefully(stream)

    async def _forward(self, client: trio.abc.Stream) -> None:
        engine = await trio.open_unix_socket(self.socket_path)
        self._open |= {client, engine}
        async with client, engine, trio.open_nursery() as nursery:
            nursery.start_soon(self._copy, client, engine, nursery.cancel_scope)
            nursery.start_soon(self._copy, engine, client, nursery.cancel_scope)
        self._open -= {client, engine}

    @staticmethod
    async def _copy(source: trio.abc.Stream, target: trio.abc.Stream, scope: trio.CancelScope) -> None:
        try:
            async for data in source:
                await target.send_all(data)
        except (trio.BrokenResourceError, trio.ClosedResourceError):
            pass
        scope.cancel()


def new_instance() -> str:
    """Return a fresh instance id."""
    return f"test-{secrets.token_hex(5)}"


def sandbox_config(name: str = "pod", **changes: object) -> PodSandboxConfig:
    """Return a sandbox's configuration with a uid of its own."""
    uid = f"uid-{secrets.token_hex(4)}"
    metadata = PodSandboxMetadata(name=name, namespace="default", uid=uid)
    return PodSandboxConfig(metadata=metadata, labels={"io.kubernetes.pod.uid": uid}, hostname=name, **changes)
