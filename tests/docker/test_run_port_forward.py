"""`port-forward` on a real engine: into the loopback of pods of a run that another process has."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from typing import TYPE_CHECKING

import images
import pytest
import trio
from click.testing import CliRunner
from engine_pods import EngineProxy

from kubelet_emu.cli.forwarding.finding import Wanted
from kubelet_emu.cli.forwarding.forward import Request, forward
from kubelet_emu.cli.forwarding.targets import PortWords, Resource
from kubelet_emu.cli.main import main
from kubelet_emu.cli.remote.target import Target

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from docker import APIClient

pytestmark = pytest.mark.docker

SERVER = "mkdir /w; echo page > /w/index.html; exec httpd -f -p 127.0.0.1:8080 -h /w"
LIMIT_SECONDS = 60
PROGRAM = [sys.executable, "-u", "-m", "kubelet_emu"]
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
---
apiVersion: v1
kind: Pod
metadata: {name: waits}
spec:
  containers: [{name: c, image: 127.0.0.1:5000/kemu/nosuch:1, imagePullPolicy: Never}]
"""


def start(folder: Path) -> subprocess.Popen[str]:
    """Start a run and return it when its server is ready."""
    manifest = folder / "web.yaml"
    manifest.write_text(MANIFEST.replace("IMAGE", images.BUSYBOX).replace("SERVER", SERVER))
    words = ["run", str(manifest), "--root-dir", str(folder / "root"), "--timeout", "120", "--grace-period", "0"]
    run = subprocess.Popen([*PROGRAM, *words], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    assert run.stderr is not None
    assert any(" is ready" in line for line in run.stderr)
    return run


def stop(run: subprocess.Popen[str]) -> None:
    """Stop a run and wait for its end."""
    run.send_signal(signal.SIGINT)
    run.communicate(timeout=LIMIT_SECONDS)


@pytest.fixture(scope="module")
def root(engine: APIClient, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Give the state folder of a run."""
    folder = tmp_path_factory.mktemp("run")
    run = start(folder)
    yield folder / "root"
    stop(run)


def a_request(root: Path, resource: str, *ports: str) -> Request:
    """Ask for ports of something."""
    wanted = Wanted(resource=Resource.parse(resource), ports=tuple(map(PortWords.parse, ports)))
    return Request(target=Target(root=root), wanted=wanted, addresses=("127.0.0.1",))


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


async def forwarded(request: Request, capsys: pytest.CaptureFixture[str]) -> tuple[bytes, list[str]]:
    """Forward, get the page, interrupt, and return it with what the command said."""
    said: list[str] = []
    with trio.fail_after(LIMIT_SECONDS):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(forward, request)
            answer = await page(await local_port(capsys, said))
            os.kill(os.getpid(), signal.SIGINT)
    return answer, said + capsys.readouterr().out.splitlines()


async def test_a_server_at_the_loopback_of_its_pod_is_reached(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    answer, said = await forwarded(a_request(root, "deploy/web", ":8080"), capsys)
    assert answer.endswith(b"page\n")
    (port,) = re.findall(r":(\d+) ->", said[0])
    assert said == [f"Forwarding from 127.0.0.1:{port} -> 8080", f"Handling connection for {port}"]


async def test_an_engine_elsewhere_carries_connections_too(
    root: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    async with trio.open_nursery() as nursery:
        proxy = EngineProxy("/var/run/docker.sock")
        await nursery.start(proxy.serve)
        monkeypatch.setenv("DOCKER_HOST", proxy.url)
        answer, _ = await forwarded(a_request(root, "svc/web", ":80"), capsys)
        assert answer.endswith(b"page\n")
        nursery.cancel_scope.cancel()


REFUSED = [
    ("waits", "80", "unable to forward port because pod is not running. Current status=Pending"),
    ("svc/web", "81", "Service web does not have a service port 81"),
    ("nobody", "80", 'pods "nobody" not found; there are: '),
]


@pytest.mark.parametrize(("resource", "port", "text"), REFUSED)
def test_what_can_not_be_forwarded_is_said(root: Path, resource: str, port: str, text: str) -> None:
    done = CliRunner().invoke(main, ["port-forward", resource, port, "--root-dir", str(root)])
    assert done.exit_code == 1
    assert done.output.startswith(f"error: {text}")


def test_a_pod_that_ends_is_a_lost_connection(tmp_path: Path, engine: APIClient) -> None:
    run = start(tmp_path)
    command = [*PROGRAM, "port-forward", "--root-dir", str(tmp_path / "root"), "svc/web", ":80"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as forwards:
        assert forwards.stdout is not None
        (port,) = re.findall(r"^Forwarding from 127\.0\.0\.1:(\d+) -> 8080\n$", forwards.stdout.readline())
        assert trio.run(page, int(port)).endswith(b"page\n")
        stop(run)
        said, complained = forwards.communicate(timeout=LIMIT_SECONDS)
    assert (forwards.returncode, complained) == (1, "error: lost connection to pod\n")
    assert said.endswith(f"Handling connection for {port}\n")
    assert list((tmp_path / "root/instances").iterdir()) == []
