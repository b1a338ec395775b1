"""Whole runs whose engine is lost, or whose pull hangs: what is told, what bounds them, what is left."""

from __future__ import annotations

import signal
import subprocess
import sys
import uuid
from typing import TYPE_CHECKING

import images
import pytest
import trio
from kept import nothing_else_kept
from stand_in import StandIn, Way
from whole_runs import a_run

if TYPE_CHECKING:
    from pathlib import Path

    from docker import APIClient

    from runtime.api import ImageID

pytestmark = pytest.mark.docker

POD = """\
apiVersion: v1
kind: Pod
metadata: {{name: {name}}}
spec:
  terminationGracePeriodSeconds: 5
  containers:
  - {{name: main, image: "{image}", imagePullPolicy: {policy}, command: [sh, -c, "sleep 1000"]}}
"""
LOST = "does not answer: "


def write(folder: Path, image: str, policy: str = "Never") -> Path:
    """Write a pod with a name of its own that runs until it is stopped."""
    path = folder / f"pod-{uuid.uuid4().hex[:8]}.yaml"
    path.write_text(POD.format(name=path.stem, image=image, policy=policy))
    return path


@pytest.fixture
def manifest(tmp_path: Path, busybox: ImageID) -> Path:
    """Write a pod that needs no pull."""
    return write(tmp_path, images.BUSYBOX)


def left(engine: APIClient, manifest: Path) -> list[str]:
    """Return the containers of a manifest's pod that the engine still has."""
    found = engine.containers(all=True, filters={"name": f"_{manifest.stem}_"})
    return [item["Names"][0] for item in found]


def prune(manifest: Path) -> None:
    command = [sys.executable, "-m", "kubelet_emu", "prune", "--root-dir", str(manifest.parent / "root")]
    with nothing_else_kept():
        subprocess.run(command, check=True, capture_output=True, timeout=60)


async def test_an_engine_that_comes_back_is_two_lines(stand_in: StandIn, engine: APIClient, manifest: Path) -> None:
    async with a_run(manifest, stand_in.url) as run:
        await run.until(" is ready\n")
        stand_in.be(Way.GONE)
        await run.until("pods stay as they are until it is back\n")
        await trio.sleep(3)  # relists that fail meanwhile tell nothing
        stand_in.be(Way.PRESENT)
        await run.until("the runtime is back after ")
        run.process.send_signal(signal.SIGINT)
        assert await run.end() == 0, run.seen
    assert run.seen.count(LOST) == 1
    assert left(engine, manifest) == []


@pytest.mark.parametrize("way", [Way.GONE, Way.SILENT], ids=lambda way: way.value)
async def test_a_stop_doesnt_wait_for_a_lost_engine(
    way: Way, stand_in: StandIn, engine: APIClient, manifest: Path
) -> None:
    async with a_run(manifest, stand_in.url) as run:
        await run.until(" is ready\n")
        stand_in.be(way)
        run.process.send_signal(signal.SIGINT)
        await run.until("delete all pods, own grace (because SIGINT)\n")
        run.process.send_signal(signal.SIGINT)
        assert await run.end() == 130, run.seen
    assert "the engine has not answered for 5 s: leaving at once\n" in run.seen
    assert f"left running: {manifest.stem}/main\n" in run.seen
    prune(manifest)
    assert left(engine, manifest) == []


async def test_the_time_bounds_a_run_whose_engine_is_lost(stand_in: StandIn, engine: APIClient, manifest: Path) -> None:
    async with a_run(manifest, stand_in.url, "--timeout", "3") as run:
        await run.until(" is ready\n")
        stand_in.be(Way.SILENT)
        assert await run.end() == 124, run.seen
    assert "the engine has not answered for 10 s: leaving at once\n" in run.seen
    prune(manifest)
    assert left(engine, manifest) == []


async def test_a_hanging_pull_leaves_nothing(stand_in: StandIn, engine: APIClient, tmp_path: Path) -> None:
    [silent] = await trio.open_tcp_listeners(0, host="127.0.0.1")
    async with silent:
        manifest = write(tmp_path, f"127.0.0.1:{silent.socket.getsockname()[1]}/none:1", "Always")
        async with a_run(manifest, stand_in.url) as run:
            await run.until("Pulling image ")
            run.process.send_signal(signal.SIGINT)
            await run.until("delete all pods, own grace (because SIGINT)\n")
            run.process.send_signal(signal.SIGINT)
            assert await run.end() == 130, run.seen
    assert "nothing has happened for 5 s" not in run.seen  # the pull was given up, and nobody had to wait for it
    assert left(engine, manifest) == []
    assert list((manifest.parent / "root" / "instances").iterdir()) == []
