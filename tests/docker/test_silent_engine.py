"""An engine that takes calls and doesn't answer some of them: each ends in time, and its error names it."""

from __future__ import annotations

import secrets
from pathlib import Path
from typing import TYPE_CHECKING, cast

import images
import pytest
from stand_in import StandIn, Way
from whole_runs import a_run

import kubelet_emu
import kubelet_emu.embedding.node
import kubelet_emu.embedding.worlds
import runtime.docker.http
from runtime.api import CRIError, RuntimeUnavailableError
from runtime.docker import DockerRuntime

if TYPE_CHECKING:
    from engine_pods import PodMaker

pytestmark = pytest.mark.docker

POD = """\
apiVersion: v1
kind: Pod
metadata: {{name: pod}}
spec:
  terminationGracePeriodSeconds: 2
  containers:
  - {{name: main, image: "{image}", imagePullPolicy: Never, command: [sh, -c, "sleep 1000"]}}
"""


@pytest.mark.parametrize("way", ["read", "write", "urgent"])
async def test_a_call_that_is_not_answered_is_given_up(behind: PodMaker, stand_in: StandIn, way: str) -> None:
    bridge = behind.runtime.bridge
    release = stand_in.hold("GET .*/images/json")
    with pytest.raises(RuntimeUnavailableError, match=r"has not answered GET /images/json for 0\.5 s$"):
        await getattr(bridge, way)(lambda client: client.images(), timeout_seconds=0.5)
    release.set()
    assert await behind.runtime.list_images()


async def test_a_command_that_is_not_answered_is_given_up(
    behind: PodMaker, stand_in: StandIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    container_id = await behind.start("a", "sleep 100")
    release = stand_in.hold("POST .*/exec/.*/start")
    monkeypatch.setattr(runtime.docker.http, "HEAD_SECONDS", 0.5)
    with pytest.raises(RuntimeUnavailableError, match=r"has not answered POST /exec/[0-9a-f]{12}/start for 0\.5 s$"):
        await behind.runtime.exec_sync(container_id, ("true",))
    monkeypatch.undo()
    release.set()
    assert (await behind.runtime.exec_sync(container_id, ("echo", "hi"))).stdout == b"hi\n"


async def test_why_an_image_can_not_be_loaded(behind: PodMaker, stand_in: StandIn) -> None:
    stand_in.answer("POST .*/images/load", 200, {"errorDetail": {}, "error": "no space left on device"})
    with pytest.raises(CRIError, match=r"^the engine can't load an image: no space left on device$"):
        await behind.runtime.publisher.load(b"")


@pytest.mark.parametrize("call", ["a command", "a stop", "a sandbox's stop", "a sandbox's removal"])
async def test_a_look_that_fails_amid_a_call_is_its_error(behind: PodMaker, stand_in: StandIn, call: str) -> None:
    made, container_id = behind.runtime, await behind.start("a", "sleep 100")
    for pattern in ("GET .*/containers/.*/json", "GET .*/exec/.*/json", "DELETE .*/containers/"):
        stand_in.refuse(pattern, 500, "the disk is full")
    calls = {
        "a command": lambda: made.exec_sync(container_id, ("sleep", "100"), 50),
        "a stop": lambda: made.stop_container(container_id, 50),
        "a sandbox's stop": lambda: made.stop_pod_sandbox(behind.sandbox_id),
        "a sandbox's removal": lambda: made.remove_pod_sandbox(behind.sandbox_id),
    }
    with pytest.raises(CRIError, match="the disk is full"):
        await calls[call]()
    stand_in.answers.clear()


async def test_a_way_that_is_cut_again_and_again_hides_no_exit(
    stand_in: StandIn, busybox: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DOCKER_HOST", stand_in.url)
    script = "until test -e /end; do sleep 0.1; done; exit 3"
    text = (
        POD.format(image=images.BUSYBOX)
        .replace("sleep 1000", script)
        .replace("name: pod", f"name: {'pod-' + secrets.token_hex(4)}")
    )
    async with kubelet_emu.open_node(runtime="docker", timeout=60) as node:
        pod = await node.run(text)
        for run in (1, 2):
            await pod.wait_for(f"main#{run} started")
            await pod.exec("main", "sh", "-c", "(sleep 0.5; touch /end) </dev/null >/dev/null 2>&1 &")
            for _ in range(4):
                stand_in.be(Way.GONE)
                await node.sleep(0.3)
                stand_in.be(Way.PRESENT)
                await node.sleep(0.1)
            await pod.wait_for(f"main#{run} exited(3)")
        await pod.wait_for("main event(BackOff)")


@pytest.mark.parametrize("own_error", [None, "what the program did wrong"])
async def test_a_node_whose_engine_is_gone_says_what_is_left(
    stand_in: StandIn, busybox: str, monkeypatch: pytest.MonkeyPatch, own_error: str | None
) -> None:
    monkeypatch.setenv("DOCKER_HOST", stand_in.url)
    for module in (kubelet_emu.embedding.node, kubelet_emu.embedding.worlds):
        monkeypatch.setattr(module, "CLEAN_UP_SECONDS", 2.0)
    instances: list[str] = []

    async def lose_the_engine() -> None:
        async with kubelet_emu.open_node(runtime="docker", timeout=60) as node:
            pod = await node.run(POD.format(image=images.BUSYBOX))
            await pod.wait_for("main started")
            instances.append(cast("DockerRuntime", node.cluster.runtime).cleaner.instance)
            stand_in.be(Way.GONE)
            if own_error:
                raise ValueError(own_error)

    with pytest.raises(ValueError if own_error else RuntimeUnavailableError) as told:
        await lose_the_engine()
    said = told.value.__notes__[0] if own_error else str(told.value)
    assert said.startswith("the engine is gone, so what this node had started may be left there: ")
    assert said.endswith(" removes it")
    stand_in.be(Way.PRESENT)
    root = said.rpartition(" --root-dir ")[2].partition("'")[0]
    async with DockerRuntime(instances[0], root=Path(root)) as runtime:
        assert len(await runtime.list_containers()) == 1
        await runtime.remove_all()


@pytest.mark.long
async def test_a_run_tells_which_call_waits(stand_in: StandIn, busybox: str, tmp_path: Path) -> None:
    manifest = tmp_path / "pod.yaml"
    manifest.write_text(POD.format(image=images.BUSYBOX))
    release = stand_in.hold("POST .*/containers/create")
    async with a_run(manifest, stand_in.url) as run:
        await run.until("the engine has not answered POST /containers/create for 30 s\n")
        release.set()
        await run.until("pod is ready\n")
        run.process.terminate()
        assert await run.end() == 0, run.seen
