"""Fixtures on a real engine: each test has an instance of its own, and leaves nothing of it."""

from __future__ import annotations

import fcntl
import functools
import secrets
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import images
import pytest
import trio
from attrs import define, field
from docker import APIClient
from registry import Registry, SlowProxy, running_registry

from runtime.api import (
    ContainerConfig,
    ContainerID,
    ContainerMetadata,
    ImageID,
    PodSandboxConfig,
    PodSandboxMetadata,
    SandboxID,
)
from runtime.docker import DockerRuntime

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator

LIMIT_SECONDS = 60.0


@pytest.fixture(scope="session")
def engine() -> Iterator[APIClient]:
    """Give a client of the engine, with the test images made; parallel workers make them once."""
    client = APIClient(version="auto", timeout=60)
    with (Path(tempfile.gettempdir()) / "kubelet-emu-tests.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        images.ensure_busybox(client)
    yield client
    client.close()


@pytest.fixture(scope="session")
def busybox(engine: APIClient) -> ImageID:
    """Give the id of the busybox image."""
    return ImageID(engine.inspect_image(images.BUSYBOX)["Id"])


@pytest.fixture(scope="session")
def registry() -> Iterator[Registry]:
    """Give an open registry."""
    with running_registry() as running:
        yield running


@pytest.fixture(scope="session")
def password_registry() -> Iterator[Registry]:
    """Give a registry that wants registry.USER and registry.PASSWORD."""
    with running_registry(with_password=True) as running:
        yield running


@pytest.fixture
def slow_registry(registry: Registry) -> Iterator[SlowProxy]:
    """Give the open registry through a slow line."""
    with SlowProxy(registry.port) as proxy:
        yield proxy


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


@pytest.fixture
async def proxy(engine: APIClient, nursery: trio.Nursery) -> EngineProxy:
    """Give a way to the engine that can be cut."""
    opened = EngineProxy("/var/run/docker.sock")
    await nursery.start(opened.serve)
    return opened


def new_instance() -> str:
    """Return a fresh instance id."""
    return f"test-{secrets.token_hex(5)}"


def sandbox_config(name: str = "pod", **changes: object) -> PodSandboxConfig:
    """Return a sandbox's configuration with a uid of its own."""
    uid = f"uid-{secrets.token_hex(4)}"
    metadata = PodSandboxMetadata(name=name, namespace="default", uid=uid)
    return PodSandboxConfig(metadata=metadata, labels={"io.kubernetes.pod.uid": uid}, hostname=name, **changes)


@pytest.fixture
def notes() -> list[str]:
    """Give the list that the runtime's notes go to."""
    return []


@pytest.fixture
async def runtime(engine: APIClient, notes: list[str]) -> AsyncIterator[DockerRuntime]:
    """Give a runtime of a fresh instance without a root folder; everything of it is removed."""
    async with DockerRuntime(new_instance(), on_note=notes.append) as opened:
        with trio.fail_after(LIMIT_SECONDS):
            yield opened
        await opened.remove_all()


@pytest.fixture
async def folder_runtime(engine: APIClient, tmp_path: Path) -> AsyncIterator[DockerRuntime]:
    """Give a runtime of a fresh instance that keeps volumes in a folder."""
    async with DockerRuntime(new_instance(), root=tmp_path) as opened:
        yield opened
        await opened.remove_all()


@pytest.fixture
async def pod(runtime: DockerRuntime, busybox: ImageID) -> PodMaker:
    """Give a pod with a running sandbox."""
    config = sandbox_config()
    return PodMaker(runtime, busybox, config, await runtime.run_pod_sandbox(config))
