"""Fixtures on a real engine: each test has an instance of its own, and leaves nothing of it."""

from __future__ import annotations

import fcntl
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import images
import pytest
import trio
from docker import APIClient
from engine_pods import EngineProxy, PodMaker, new_instance, sandbox_config
from figures import FIGURES
from own_engine import can_be_had
from registry import Registry, SlowProxy, running_registry
from stand_in import StandIn

from runtime.api import ImageID
from runtime.docker import DockerRuntime

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator

LIMIT_SECONDS = 60.0


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """Show the figures of the scenarios."""
    if text := config.stash.get(FIGURES, ""):
        terminalreporter.write_line(text)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Deselect what needs an engine of its own where none can be started: the last line of a run tells how many."""
    if can_be_had():
        return
    left_out = [item for item in items if item.get_closest_marker("own_engine")]
    config.hook.pytest_deselected(items=left_out)
    items[:] = [item for item in items if item not in left_out]


@pytest.fixture(scope="session")
def engine() -> Iterator[APIClient]:
    """Give a client of the engine, with the test images made; parallel workers make them once."""
    client = APIClient(version="auto", timeout=60)
    with (Path(tempfile.gettempdir()) / "kubelet-emu-tests.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        images.ensure_busybox(client)
        images.ensure_grpc(client)
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


@pytest.fixture
async def proxy(engine: APIClient, nursery: trio.Nursery) -> EngineProxy:
    """Give a way to the engine that can be cut."""
    opened = EngineProxy("/var/run/docker.sock")
    await nursery.start(opened.serve)
    return opened


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
        await opened.remove_own_pause_image()


@pytest.fixture
async def folder_runtime(engine: APIClient, tmp_path: Path) -> AsyncIterator[DockerRuntime]:
    """Give a runtime of a fresh instance that keeps volumes in a folder."""
    async with DockerRuntime(new_instance(), root=tmp_path) as opened:
        yield opened
        await opened.remove_all()
        await opened.remove_own_pause_image()


@pytest.fixture
async def pod(runtime: DockerRuntime, busybox: ImageID) -> PodMaker:
    """Give a pod with a running sandbox."""
    config = sandbox_config()
    return PodMaker(runtime, busybox, config, await runtime.run_pod_sandbox(config))


@pytest.fixture
async def stand_in(nursery: trio.Nursery) -> StandIn:
    """Give a stand-in that passes everything on."""
    made = StandIn()
    await nursery.start(made.serve)
    return made


@pytest.fixture
async def behind(stand_in: StandIn, engine: APIClient, busybox: ImageID) -> AsyncIterator[PodMaker]:
    """Give a pod whose runtime reaches the engine through the stand-in; it answers truly again at the end."""
    async with DockerRuntime(new_instance(), base_url=stand_in.url) as runtime:
        config = sandbox_config()
        yield PodMaker(runtime, busybox, config, await runtime.run_pod_sandbox(config))
        stand_in.answers.clear()
        await runtime.remove_all()
