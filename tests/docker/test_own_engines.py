"""Pods whose engine is restarted, hangs, loses its room or its files: an engine of the test's own stands for it."""

from __future__ import annotations

import secrets
import subprocess
import sys
import time
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import images
import pytest
import trio
from engine_pods import PodMaker, new_instance, sandbox_config
from own_engine import OwnEngine, own_engine
from whole_runs import a_run

import kubelet_emu
from runtime.api import CRIError, ImageID
from runtime.docker import DockerRuntime

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator

    from registry import Registry

    from kubelet_emu.embedding.node import Node
    from kubelet_emu.embedding.objects import Pod

pytestmark = [pytest.mark.docker, pytest.mark.own_engine]

LIMIT_SECONDS = 60.0
LIVES = "trap 'exit 3' TERM; while :; do sleep 0.1; done"
POD = """\
apiVersion: v1
kind: Pod
metadata: {{name: {name}}}
spec:
  restartPolicy: {policy}
  terminationGracePeriodSeconds: 5
  {init}
  containers:
  - name: main
    image: {image}
    imagePullPolicy: IfNotPresent
    command: [sh, -c, "{script}"]
    {more}
"""
INIT = """\
initContainers:
  - {{name: setup, image: {image}, command: ["true"]}}
  - {{name: side, restartPolicy: Always, image: {image}, command: [sh, -c, "{script}"]}}
"""
PROBES = """\
readinessProbe: {exec: {command: ["true"]}, periodSeconds: 1, failureThreshold: 1}
    livenessProbe: {exec: {command: ["true"]}, periodSeconds: 1, failureThreshold: 1}
"""


def a_pod(name: str = "pod", policy: str = "Always", script: str = LIVES, **more: str) -> str:
    values = {"init": "", "image": images.BUSYBOX, "more": ""} | more
    return POD.format(name=name, policy=policy, script=script, **values)


@pytest.fixture
def own() -> Iterator[OwnEngine]:
    """Give an engine with the test image."""
    with own_engine() as opened:
        images.ensure_busybox(opened.client)
        yield opened


@pytest.fixture
def small() -> Iterator[OwnEngine]:
    """Give an engine with the test image that has little room."""
    with own_engine(size="64m") as opened:
        images.ensure_busybox(opened.client)
        yield opened


@pytest.fixture
async def node(own: OwnEngine, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Node]:
    """Give a node on that engine."""
    monkeypatch.setenv("DOCKER_HOST", own.url)
    async with kubelet_emu.open_node(runtime="docker", timeout=LIMIT_SECONDS) as opened:
        yield opened


@pytest.fixture
async def small_node(small: OwnEngine, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Node]:
    """Give a node on the engine with little room."""
    monkeypatch.setenv("DOCKER_HOST", small.url)
    async with kubelet_emu.open_node(runtime="docker", timeout=LIMIT_SECONDS) as opened:
        yield opened


async def restart(engine: OwnEngine, signal: str, *options: str) -> None:
    await trio.to_thread.run_sync(engine.stop, signal)
    await trio.to_thread.run_sync(partial(engine.start, *options))


def restarts(pod: Pod) -> int:
    assert pod.status is not None
    return pod.status.container_statuses[0].restart_count


# -- restarts


@pytest.mark.parametrize("signal", ["TERM", "KILL"])
async def test_pods_begin_anew_when_the_engine_has_ended_their_containers(
    own: OwnEngine, node: Node, signal: str
) -> None:
    init = INIT.format(image=images.BUSYBOX, script=LIVES)
    always, on_failure, never, sidecar = [
        await node.run(a_pod(name, policy, init=init if name == "side" else ""))
        for name, policy in (("always", "Always"), ("fails", "OnFailure"), ("never", "Never"), ("side", "Always"))
    ]
    for pod in (always, on_failure, never, sidecar):
        await pod.wait_for("Ready")
    await restart(own, signal)
    for pod in (always, on_failure, sidecar):
        await pod.wait_for("main#2 started")
    assert await never.wait_for_end() == "Failed"
    sidecar.log.expect("setup#2 started < side#2 started < main#2 started")
    told = "SandboxChanged Pod sandbox changed, it will be killed and re-created."
    assert [told in pod.log.events() for pod in (always, on_failure, never, sidecar)] == [True, True, False, True]


@pytest.mark.parametrize("signal", ["TERM", "KILL"])
async def test_nothing_happens_to_pods_that_live_through_a_restart(own: OwnEngine, node: Node, signal: str) -> None:
    await restart(own, "TERM", "--live-restore")
    pods = [await node.run(a_pod(policy.lower(), policy, more=PROBES)) for policy in ("Always", "Never")]
    for pod in pods:
        await pod.wait_for("Ready")
    await restart(own, signal, "--live-restore")
    for pod in pods:
        assert await pod.exec("main", "echo", "still here") == (0, "still here\n")
        assert (pod.phase, restarts(pod)) == ("Running", 0)
        assert "SandboxChanged" not in " ".join(pod.log.events())


@pytest.mark.parametrize("signal", ["TERM", "KILL"])
async def test_a_log_is_read_on_after_a_restart(own: OwnEngine, node: Node, signal: str) -> None:
    await restart(own, "TERM", "--live-restore")
    script = "for i in 1 2 3 4 5; do echo before; done; until test -e /go; do sleep 0.1; done; echo after; exit 3"
    pod = await node.run(a_pod(policy="Never", script=script))
    await pod.wait_for('main line:"before"')
    await restart(own, signal, "--live-restore")
    await pod.exec("main", "touch", "/go")
    assert await pod.wait_for_end() == "Failed"
    assert pod.log.lines("main") == (*["before"] * 5, "after")


async def test_a_command_that_the_engine_has_lost_is_no_answer(own: OwnEngine) -> None:
    await restart(own, "TERM", "--live-restore")
    image = ImageID(own.client.inspect_image(images.BUSYBOX)["Id"])
    async with DockerRuntime(new_instance(), base_url=own.url) as runtime, trio.open_nursery() as nursery:
        config = sandbox_config()
        pod = PodMaker(runtime, image, config, await runtime.run_pod_sandbox(config))
        container_id = await pod.start("a", "sleep 1000")

        async def command() -> None:
            with pytest.raises(CRIError):
                await runtime.exec_sync(container_id, ("sh", "-c", "echo up > /up; sleep 1000"))

        nursery.start_soon(command)
        with trio.fail_after(LIMIT_SECONDS):
            while (await runtime.exec_sync(container_id, ("test", "-e", "/up"))).exit_code:
                pass
        await restart(own, "KILL", "--live-restore")


@pytest.mark.long
@pytest.mark.parametrize("ready", [0, 1, 7, 20])
@pytest.mark.parametrize("signal", ["TERM", "KILL"])
async def test_twenty_pods_of_a_run_are_ready_after_a_restart(
    own: OwnEngine, tmp_path: Path, signal: str, ready: int
) -> None:
    manifest = tmp_path / "pods.yaml"
    manifest.write_text("---\n".join(a_pod(f"pod-{number}") for number in range(20)))
    async with a_run(manifest, own.url) as run:
        await run.until(" is Running\n" if ready else "/main started\n")
        while run.seen.count(" is ready\n") < ready:  # noqa: ASYNC110 - another process
            await trio.sleep(0.05)
        await restart(own, signal)
        with trio.fail_after(LIMIT_SECONDS):
            while len(own.client.containers()) < 40:  # noqa: ASYNC110 - another process
                await trio.sleep(0.1)
        run.process.terminate()
        assert await run.end() == 0, run.seen
    assert own.client.containers(all=True) == []


# -- hanging


async def test_a_hanging_engine_fails_no_probe(own: OwnEngine, node: Node) -> None:
    pod = await node.run(a_pod(more=PROBES))
    await pod.wait_for("Ready")
    own.hang()
    await node.sleep(3)
    own.go_on()
    assert await pod.exec("main", "true") == (0, "")
    await node.sleep(1)
    assert (restarts(pod), [event for event in pod.log.events() if "Unhealthy" in event]) == (0, [])


async def test_what_an_engine_was_asked_while_it_hung_is_done(own: OwnEngine, node: Node) -> None:
    going = await node.run(a_pod("going", script="trap 'exit 0' TERM; while :; do sleep 0.1; done"))
    dying = await node.run(a_pod("dying", "Never", script="until test -e /end; do sleep 0.1; done"))
    for pod in (going, dying):
        await pod.wait_for("Ready")
    await dying.exec("main", "sh", "-c", "(sleep 1; touch /end) </dev/null >/dev/null 2>&1 &")
    own.hang()
    await going.delete(wait=False)
    [coming] = await node.apply(a_pod("coming"))
    await node.sleep(3)
    own.go_on()
    await going.wait_for("deleted")
    await coming.wait_for("Ready")
    assert await dying.wait_for_end() == "Succeeded"
    assert going.log.holds("some main exited(0)")


# -- no room


async def test_without_room_no_container_is_made_until_there_is_some(small: OwnEngine, small_node: Node) -> None:
    pod = await small_node.run(a_pod(script="sleep 2; exit 1"))
    await pod.wait_for("main#1 started")
    small.fill()
    await pod.wait_for("main event(Failed)")
    assert any("no space left on device" in event for event in pod.log.events())
    await pod.wait_for("main waiting(CreateContainerError)")
    small.make_room()
    await pod.wait_for("main#2 started")


@pytest.mark.long
async def test_without_room_there_is_no_sandbox(small: OwnEngine, small_node: Node) -> None:
    small.fill()
    [pod] = await small_node.apply(a_pod())
    await pod.wait_for("pod event(FailedCreatePodSandBox)")
    [told] = [event for event in pod.log.events() if event.startswith("FailedCreatePodSandBox")][:1]
    assert "the engine can't load an image: " in told
    assert told.endswith("no space left on device")
    small.make_room()
    await pod.wait_for("Ready")


@pytest.mark.long
async def test_without_room_an_image_is_not_pulled_until_there_is_some(
    small: OwnEngine, small_node: Node, registry: Registry
) -> None:
    image = f"{registry.address}/kemu/{secrets.token_hex(4)}:1"
    images.make_big_image(small.client, image, 8)
    small.client.push(image)
    small.client.remove_image(image)
    small.inside("dd if=/dev/zero of=ballast bs=1k count=50000")
    pod = await small_node.run(a_pod(image=image))
    await pod.wait_for("main waiting(ErrImagePull)")
    [told] = [event for event in pod.log.events() if event.startswith("Failed Failed to pull")][:1]
    assert told.endswith("no space left on device")
    small.make_room()
    await pod.wait_for("Ready")


# -- files


@pytest.mark.parametrize(
    "deed",
    [
        pytest.param("for log in containers/*/*-json.log; do : > $log; done", id="emptied"),
        pytest.param("rm containers/*/*-json.log", id="removed"),
    ],
)
async def test_lines_come_on_when_the_log_was(own: OwnEngine, node: Node, deed: str) -> None:
    pod = await node.run(a_pod(script="echo 1; until test -e /go; do sleep 0.1; done; echo 2; exit 4", policy="Never"))
    await pod.wait_for('main line:"1"')
    own.inside(deed)
    await pod.exec("main", "touch", "/go")
    assert await pod.wait_for_end() == "Failed"
    assert pod.log.lines("main") == ("1", "2")


# -- the engine itself

LEAVES = """\
import os, sys
sys.path.insert(0, {here!r})
from own_engine import own_engine
with own_engine() as engine:
    print(engine.folder, engine.bridge, flush=True)
    os._exit(9)
"""


def test_nothing_is_left_of_an_engine_whose_test_is_killed() -> None:
    program = LEAVES.format(here=str(Path(__file__).parent))
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    folder, bridge = done.stdout.split()
    left = [Path(folder), Path("/sys/class/net", bridge)]
    deadline = time.monotonic() + LIMIT_SECONDS  # noqa: TID251 - a limit on another process
    while any(path.exists() for path in left):
        assert time.monotonic() < deadline, left  # noqa: TID251 - the same
        time.sleep(0.05)  # noqa: TID251 - the same
