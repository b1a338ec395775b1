"""`port-forward` on a real engine: into the loopback of pods, from this process and as a command beside a run."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import images
import pytest
import trio
from attrs import evolve, frozen
from engine_pods import EngineProxy, PodMaker, new_instance, sandbox_config

from kubelet_emu.cli.forwarding.forward import LostPodError, Request, forward
from kubelet_emu.cli.forwarding.targets import PortWords, Target
from runtime.api import CRIError
from runtime.docker import DockerRuntime, naming

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from docker import APIClient

    from runtime.api import ImageID

pytestmark = pytest.mark.docker

SERVER = "mkdir /w; echo page > /w/index.html; exec httpd -f -p 127.0.0.1:8080 -h /w"
LIMIT_SECONDS = 60


@frozen
class Run:
    """A run with one pod, whose state is in a folder."""

    root: Path
    pod: PodMaker

    def request(self, *ports: str, target: str = "pod", timeout: float = 0) -> Request:
        """Ask for ports of the pod."""
        return Request(
            target=Target.parse(target),
            ports=tuple(map(PortWords.parse, ports)),
            namespace="default",
            addresses=("127.0.0.1",),
            timeout=timeout,
            root=self.root,
        )


@asynccontextmanager
async def running(root: Path, busybox: ImageID, *, pause_image: str | None = None) -> AsyncIterator[Run]:
    """Give a run whose pod serves at its loopback alone."""
    async with DockerRuntime(new_instance(), root=root, pause_image=pause_image) as runtime:
        config = evolve(sandbox_config(), labels={})
        config = evolve(config, labels={"io.kubernetes.pod.uid": config.metadata.uid, "job-name": "work"})
        run = Run(root, PodMaker(runtime, busybox, config, await runtime.run_pod_sandbox(config)))
        try:
            yield run
        finally:
            with trio.CancelScope(shield=True):
                await runtime.remove_all()
                await runtime.remove_own_pause_image()


async def ready(run: Run) -> None:
    """Start the server and wait until it answers."""
    container_id = await run.pod.start("server", SERVER)
    waits = "until wget -qO- http://127.0.0.1:8080/; do sleep 0.1; done"
    await run.pod.runtime.exec_sync(container_id, ("sh", "-c", waits))


async def local_port(capsys: pytest.CaptureFixture[str], said: list[str]) -> int:
    """Return the port that a command says it listens on; what it has said so far is in `said`."""
    while True:
        said += capsys.readouterr().out.splitlines()
        for line in said:
            if match := re.fullmatch(r"Forwarding from 127\.0\.0\.1:(\d+) -> \d+", line):
                return int(match[1])
        await trio.sleep(0.05)


async def page(port: int) -> bytes:
    """Return what a server answers at a port of this machine."""
    async with await trio.open_tcp_stream("127.0.0.1", port) as stream:
        await stream.send_all(b"GET / HTTP/1.0\r\n\r\n")
        return b"".join([bytes(chunk) async for chunk in stream])


def helpers_of(engine: APIClient, instance: str) -> list[str]:
    """Return the helper containers of an instance."""
    wanted = {"label": [f"{naming.INSTANCE_LABEL}={instance}", f"{naming.TYPE_LABEL}={naming.HELPER_TYPE}"]}
    return [str(item["Id"]) for item in engine.containers(all=True, filters=wanted)]


async def forwarded(run: Run, request: Request, capsys: pytest.CaptureFixture[str]) -> tuple[bytes, list[str]]:
    """Forward, get the page, interrupt, and return it with what the command said."""
    said: list[str] = []
    with trio.fail_after(LIMIT_SECONDS):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(forward, request)
            answer = await page(await local_port(capsys, said))
            os.kill(os.getpid(), signal.SIGINT)
    return answer, said + capsys.readouterr().out.splitlines()


async def test_a_server_at_the_loopback_of_its_pod_is_reached(
    tmp_path: Path, busybox: ImageID, capsys: pytest.CaptureFixture[str]
) -> None:
    async with running(tmp_path, busybox) as run:
        await ready(run)
        answer, said = await forwarded(run, run.request(":8080"), capsys)
    assert answer.endswith(b"page\n")
    (port,) = re.findall(r":(\d+) ->", said[0])
    assert said == [f"Forwarding from 127.0.0.1:{port} -> 8080", f"Handling connection for {port}"]


async def test_a_pod_of_a_job_is_waited_for(
    tmp_path: Path, busybox: ImageID, capsys: pytest.CaptureFixture[str]
) -> None:
    async with running(tmp_path, busybox) as run, trio.open_nursery() as nursery:
        with pytest.raises(CRIError, match=r"^unable to forward port because pod pod is not running$"):
            await forward(run.request(":8080", target="job/work"))
        nursery.start_soon(ready, run)
        said: list[str] = []
        with trio.fail_after(LIMIT_SECONDS):
            nursery.start_soon(forward, run.request(":8080", target="job/work", timeout=30))
            await local_port(capsys, said)
        nursery.cancel_scope.cancel()


async def test_an_engine_elsewhere_carries_connections_too(
    tmp_path: Path,
    busybox: ImageID,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with running(tmp_path, busybox) as run, trio.open_nursery() as nursery:
        await ready(run)
        proxy = EngineProxy("/var/run/docker.sock")
        await nursery.start(proxy.serve)
        monkeypatch.setenv("DOCKER_HOST", proxy.url)
        answer, _ = await forwarded(run, run.request(":8080"), capsys)
        assert answer.endswith(b"page\n")
        nursery.cancel_scope.cancel()


async def test_a_sandbox_of_another_image_gets_a_helper_that_goes_again(
    tmp_path: Path, busybox: ImageID, engine: APIClient, capsys: pytest.CaptureFixture[str]
) -> None:
    body = {"Image": busybox, "Entrypoint": ["sh", "-c", 'trap "exit 0" TERM; while :; do sleep 0.1; done']}
    made = engine.create_container_from_config(body)
    engine.commit(made["Id"], repository="kemu-test-pause", tag="2")
    engine.remove_container(made["Id"])
    said: list[str] = []
    try:
        async with running(tmp_path, busybox, pause_image="kemu-test-pause:2") as run:
            await ready(run)
            with trio.fail_after(LIMIT_SECONDS):
                async with trio.open_nursery() as nursery:
                    nursery.start_soon(forward, run.request(":8080"))
                    assert (await page(await local_port(capsys, said))).endswith(b"page\n")
                    assert len(helpers_of(engine, run.pod.runtime.instance)) == 1
                    nursery.cancel_scope.cancel()
            assert helpers_of(engine, run.pod.runtime.instance) == []
    finally:
        engine.remove_image("kemu-test-pause:2")


async def test_a_pod_that_ends_is_a_lost_connection(
    tmp_path: Path, busybox: ImageID, capsys: pytest.CaptureFixture[str]
) -> None:
    async with running(tmp_path, busybox) as run:
        await ready(run)
        said: list[str] = []
        lost: list[LostPodError] = []

        async def lose() -> None:
            try:
                await forward(run.request(":8080"))
            except* LostPodError as group:
                lost.extend(error for error in group.exceptions if isinstance(error, LostPodError))

        with trio.fail_after(LIMIT_SECONDS):
            async with trio.open_nursery() as nursery:
                nursery.start_soon(lose)
                await page(await local_port(capsys, said))
                await run.pod.runtime.stop_pod_sandbox(run.pod.sandbox_id)
        assert [str(error) for error in lost] == ["lost connection to pod"]


MANIFEST = """\
apiVersion: v1
kind: Service
metadata: {name: web}
spec: {selector: {app: web}, ports: [{port: 80, targetPort: http}]}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers:
      - name: web
        image: IMAGE
        command: [sh, -c, "SERVER"]
        ports: [{name: http, containerPort: 8080}]
"""


def test_the_command_beside_a_run(tmp_path: Path) -> None:
    manifest, root = tmp_path / "web.yaml", tmp_path / "root"
    manifest.write_text(MANIFEST.replace("IMAGE", images.BUSYBOX).replace("SERVER", SERVER))
    program = [sys.executable, "-u", "-m", "kubelet_emu"]
    run = [*program, "run", str(manifest), "--root-dir", str(root), "--timeout", "50", "--grace-period", "0"]
    with subprocess.Popen(run, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as runs:
        assert runs.stderr is not None
        assert any(" is ready" in line for line in runs.stderr)
        command = [*program, "port-forward", "--root-dir", str(root), "svc/web", ":80"]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as forwards:
            assert forwards.stdout is not None
            (port,) = re.findall(r"^Forwarding from 127\.0\.0\.1:(\d+) -> 8080\n$", forwards.stdout.readline())
            assert trio.run(page, int(port)).endswith(b"page\n")
            runs.send_signal(signal.SIGINT)
            said, complained = forwards.communicate(timeout=LIMIT_SECONDS)
        assert (forwards.returncode, complained) == (1, "error: lost connection to pod\n")
        assert said.endswith(f"Handling connection for {port}\n")
        runs.stderr.read()
    assert list((root / "instances").iterdir()) == []
