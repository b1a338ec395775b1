"""Engines as they are met: behind TLS or ssh, too old, refusing, cut off in the middle."""

from __future__ import annotations

import gc
import ssl
from typing import TYPE_CHECKING

import images
import pytest
import trio
import trustme
from engine_pods import PodMaker, new_instance, sandbox_config
from stand_in import StandIn

from runtime.api import (
    ContainerState,
    CRIError,
    ExecStartError,
    ImagePullError,
    NotFoundError,
    RuntimeUnavailableError,
    VolumeConfig,
)
from runtime.docker import DockerRuntime
from runtime.docker.making import Maker

if TYPE_CHECKING:
    from pathlib import Path

    from docker import APIClient

    from runtime.api import ImageID

pytestmark = pytest.mark.docker

SSH = """\
#!/bin/sh
echo "$*" >> "$0.log"
while [ "$1" != -- ]; do shift; done
shift 2
exec sh -c "$*"
"""


async def run_one(runtime: DockerRuntime, image: ImageID) -> list[str]:
    """Run a container and a command in it; return what both printed."""
    config = sandbox_config()
    pod = PodMaker(runtime, image, config, await runtime.run_pod_sandbox(config))
    container_id = await pod.start("a", "echo up; sleep 100")
    printed = await pod.log_until(container_id, "up")
    printed.append((await runtime.exec_sync(container_id, ("echo", "inside"))).stdout.decode().strip())
    await runtime.remove_all()
    return printed


@pytest.mark.filterwarnings("ignore:Unverified HTTPS request")
@pytest.mark.parametrize("verify", [True, False], ids=["verified", "not verified"])
async def test_an_engine_behind_tls(
    nursery: trio.Nursery,
    busybox: ImageID,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    verify: bool,  # noqa: FBT001 - a table's column
) -> None:
    authority = trustme.CA()
    server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("localhost").configure_cert(server)
    authority.configure_trust(server)
    server.verify_mode = ssl.CERT_REQUIRED if verify else ssl.CERT_NONE
    if verify:
        ours = authority.issue_cert("user@localhost")
        authority.cert_pem.write_to_path(tmp_path / "ca.pem")
        ours.cert_chain_pems[0].write_to_path(tmp_path / "cert.pem")
        ours.private_key_pem.write_to_path(tmp_path / "key.pem")
    stand_in = StandIn(tls=server)
    await nursery.start(stand_in.serve)
    monkeypatch.setenv("DOCKER_HOST", stand_in.url)
    monkeypatch.setenv("DOCKER_CERT_PATH", str(tmp_path))
    monkeypatch.setenv("DOCKER_TLS_VERIFY" if verify else "DOCKER_TLS", "1")
    async with DockerRuntime(new_instance()) as runtime:
        assert await run_one(runtime, busybox) == ["up", "inside"]
    assert any(request.startswith("POST /v") for request in stand_in.requests)


async def test_a_certificate_of_nobody_we_know_is_an_error(
    nursery: trio.Nursery, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    trustme.CA().issue_cert("localhost").configure_cert(server)
    trustme.CA().cert_pem.write_to_path(tmp_path / "ca.pem")
    stand_in = StandIn(tls=server)
    await nursery.start(stand_in.serve)
    monkeypatch.setenv("DOCKER_HOST", stand_in.url)
    monkeypatch.setenv("DOCKER_CERT_PATH", str(tmp_path))
    monkeypatch.setenv("DOCKER_TLS_VERIFY", "1")
    with pytest.raises(RuntimeUnavailableError, match="certificate verify failed"):
        async with DockerRuntime(new_instance()):
            pass


# the SDK leaves the pipes and processes of its ssh connections to the garbage collector
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.filterwarnings("ignore::ResourceWarning")
async def test_an_engine_behind_ssh(busybox: ImageID, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "ssh").write_text(SSH)
    (tmp_path / "ssh").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    async with DockerRuntime(new_instance(), base_url="ssh://kemu@some-host:2222") as runtime:
        assert await run_one(runtime, busybox) == ["up", "inside"]
    calls = (tmp_path / "ssh.log").read_text().splitlines()
    with trio.move_on_after(10):
        while [each for each in gc.get_objects() if type(each).__name__ == "SSHSocket"]:
            gc.collect()
            await trio.sleep(0.05)
    assert "-T -l kemu -p 2222 -- some-host docker system dial-stdio" in calls


async def test_an_engine_that_is_too_old(stand_in: StandIn) -> None:
    stand_in.answer(r"GET /version", 200, {"ApiVersion": "1.40", "Version": "19.03"})
    with pytest.raises(RuntimeUnavailableError, match=r"speaks API 1\.40, and 1\.41 or later is needed"):
        async with DockerRuntime(new_instance(), base_url=stand_in.url):
            pass


@pytest.mark.parametrize(
    ("status", "body"),
    [(404, b"<html>"), (200, {"ApiVersion": "newest"}), (200, {"Version": "1"}), (200, ["1.41"])],
    ids=["another server", "a strange version", "no version", "no object"],
)
async def test_what_is_no_engine(stand_in: StandIn, status: int, body: object) -> None:
    stand_in.answer(r"GET /version", status, body)
    with pytest.raises(RuntimeUnavailableError, match=r"what answers at tcp://localhost:\d+ is no Docker engine: "):
        async with DockerRuntime(new_instance(), base_url=stand_in.url):
            pass


@pytest.mark.parametrize(
    ("pattern", "status"), [("GET .*/info", 500), ("GET .*/events", 0)], ids=["no info", "no events"]
)
async def test_an_engine_that_fails_at_once(stand_in: StandIn, pattern: str, status: int) -> None:
    stand_in.refuse(pattern, status, "out of order")
    with pytest.raises(CRIError, match=r"out of order|does not answer"):
        async with DockerRuntime(new_instance(), base_url=stand_in.url):
            pass


async def test_an_engine_without_a_bridge_has_no_gateway(behind: PodMaker, stand_in: StandIn) -> None:
    stand_in.refuse("GET .*/networks/bridge", 404, "network bridge not found")
    assert (await behind.runtime.status()).host_ip == ""


async def test_commands_that_the_engine_refuses(behind: PodMaker, stand_in: StandIn) -> None:
    container_id = await behind.start("a", "sleep 100")
    refused = stand_in.refuse("POST .*/exec/.*/start", 409, "container abc is not running", times=1)
    with pytest.raises(ExecStartError, match="container is in CONTAINER_EXITED state"):
        await behind.runtime.exec_sync(container_id, ("true",))
    assert refused.times == 0
    stand_in.answer("POST .*/exec/.*/start", 500, b"no JSON", times=1)
    with pytest.raises(ExecStartError, match=r'failed to start exec ".*": no JSON'):
        await behind.runtime.exec_sync(container_id, ("true",))
    gone = stand_in.refuse("GET .*/exec/.*/json", 404, "no such exec")
    assert (await behind.runtime.exec_sync(container_id, ("echo", "gone"))).exit_code == 137
    stand_in.answers.remove(gone)
    still = {"Running": True, "Pid": 1, "ExitCode": None}
    stand_in.answer("GET .*/exec/.*/json", 200, still, times=2)
    assert (await behind.runtime.exec_sync(container_id, ("echo", "late"))).exit_code == 0


async def test_signals_that_the_engine_refuses(behind: PodMaker, stand_in: StandIn) -> None:
    container_id = await behind.start("a", "sleep 100")
    stand_in.refuse("POST .*/kill", 500, "permission denied", times=1)
    with pytest.raises(CRIError, match="permission denied"):
        await behind.runtime.kill_container(container_id, "SIGUSR1")
    stand_in.refuse("POST .*/kill", 500, "permission denied", times=1)
    with pytest.raises(CRIError, match="permission denied"):
        await behind.runtime.stop_container(container_id, 0)


async def test_a_sandbox_image_that_goes_at_the_last_moment(behind: PodMaker, stand_in: StandIn) -> None:
    gone = "No such image: sha256:0"
    stand_in.refuse("POST .*/containers/create", 404, gone, times=2)
    await behind.runtime.run_pod_sandbox(sandbox_config())
    stand_in.refuse("POST .*/containers/create", 404, gone, times=3)
    with pytest.raises(NotFoundError, match="No such image"):
        await behind.runtime.run_pod_sandbox(sandbox_config())


async def test_starts_and_removals_that_the_engine_refuses(behind: PodMaker, stand_in: StandIn) -> None:
    container_id = await behind.create("a", "sleep 100")
    stand_in.refuse("POST .*/start", 500, "out of order", times=1)
    with pytest.raises(CRIError, match="out of order"):
        await behind.runtime.start_container(container_id)
    with pytest.raises(NotFoundError):
        await behind.runtime.start_container(type(container_id)("0" * 64))
    stand_in.refuse("DELETE .*/containers/", 409, "removal of container is already in progress", times=1)
    await behind.runtime.remove_container(container_id)
    with pytest.raises(NotFoundError):
        await behind.runtime.container_status(container_id)
    other = await behind.create("b", "sleep 100")
    stand_in.refuse("DELETE .*/containers/", 500, "device busy", times=1)
    with pytest.raises(CRIError, match="device busy"):
        await behind.runtime.remove_container(other)


async def test_a_removal_by_somebody_else_is_waited_for_so_long(behind: PodMaker, stand_in: StandIn) -> None:
    container_id = await behind.create("a", "sleep 100")
    maker = Maker(behind.runtime.bridge, behind.runtime.instance, removal_seconds=0.0)
    stand_in.refuse("DELETE .*/containers/", 409, "removal of container is already in progress", times=1)
    with pytest.raises(CRIError, match="already in progress"):
        await maker.remove(container_id)


async def test_logs_that_the_engine_refuses(behind: PodMaker, stand_in: StandIn) -> None:
    container_id = await behind.start("a", "echo one; echo two")
    stand_in.refuse("GET .*/logs", 500, "no log driver", times=1)
    with pytest.raises(CRIError, match="no log driver"):
        await behind.log_of(container_id)
    for status in (500, 0):
        stand_in.refuse("GET .*/logs.*follow=0.*since", status, "no log driver", times=1)
        assert await behind.log_of(container_id) == ["one", "two"], "the second look may fail"


@pytest.mark.parametrize(
    ("status", "body", "text"),
    [
        (500, {"message": "registry is full"}, "registry is full"),
        (200, b'{"status": "Pulling"}\n\n', "pulled '.*' but does not know it"),
    ],
    ids=["refused at once", "pulled but unknown"],
)
async def test_pulls_that_the_engine_fails(
    behind: PodMaker, stand_in: StandIn, status: int, body: object, text: str
) -> None:
    stand_in.answer("POST .*/images/create", status, body)
    with pytest.raises(ImagePullError, match=text):
        await behind.runtime.pull_image("127.0.0.1:1/kemu/none:1")


async def test_an_image_question_that_fails_is_an_error(behind: PodMaker, stand_in: StandIn) -> None:
    stand_in.refuse("GET .*/images/.*/json", 500, "store is broken")
    with pytest.raises(CRIError, match="store is broken"):
        await behind.runtime.image_status(images.BUSYBOX)


async def test_a_lagging_list_is_corrected_by_the_death_that_was_seen(behind: PodMaker, stand_in: StandIn) -> None:
    container_id = await behind.start("a", "sleep 100")
    async with behind.runtime.events() as events:
        await behind.runtime.kill_container(container_id, "SIGKILL")
        async for event in events:
            if event.exit_code == 137:
                break
    listed = [{"Id": container_id, "Names": ["/x"], "State": "running", "Created": 0, "Labels": {}}]
    stand_in.answer("GET .*/containers/json", 200, listed)
    [summary] = await behind.runtime.list_containers()
    assert summary.state is ContainerState.EXITED


async def test_folders_that_the_engine_can_not_see(stand_in: StandIn, engine: APIClient, tmp_path: Path) -> None:
    notes: list[str] = []
    runtime = DockerRuntime(new_instance(), base_url=stand_in.url, root=tmp_path, on_note=notes.append)
    async with runtime:
        stand_in.refuse("POST .*/containers/create", 400, "invalid mount config: path does not exist", times=1)
        handle = await runtime.create_volume(VolumeConfig(pod_uid="u", name="v"))
        assert [listed for listed, _ in await runtime.list_volumes()] == [handle]
        assert notes == ["the engine does not share this machine's files: volumes live in the engine"]
        stand_in.answers.clear()
        await runtime.remove_all()


async def test_a_network_of_an_instance_goes_with_it(behind: PodMaker, engine: APIClient) -> None:
    labels = {"kubelet-emu/instance": behind.runtime.instance}
    made = engine.create_network(f"kemu-test-{behind.runtime.instance}", labels=labels)
    await behind.runtime.remove_all()
    assert made["Id"] not in [network["Id"] for network in engine.networks()]


async def test_the_engine_ends_a_connection_before_it_answers(behind: PodMaker, stand_in: StandIn) -> None:
    container_id = await behind.start("a", "sleep 100")
    stand_in.answer("POST .*/exec/.*/start", 0, times=1)
    with pytest.raises(RuntimeUnavailableError, match="does not answer"):
        await behind.runtime.exec_sync(container_id, ("true",))


async def test_many_pods_find_out_together_that_the_score_is_refused(
    stand_in: StandIn, engine: APIClient, busybox: ImageID
) -> None:
    stand_in.refuse(r"POST .*/start", 500, "runc: write /proc/self/oom_score_adj: permission denied", times=1)
    notes: list[str] = []
    async with DockerRuntime(new_instance(), base_url=stand_in.url, on_note=notes.append) as runtime:
        async with trio.open_nursery() as nursery:
            for _ in range(5):
                nursery.start_soon(runtime.run_pod_sandbox, sandbox_config())
        starts = [request for request in stand_in.requests if request.endswith("/start")]
        scores = [
            engine.inspect_container(sandbox.id)["HostConfig"]["OomScoreAdj"]
            for sandbox in await runtime.list_pod_sandboxes()
        ]
        await runtime.remove_all()
    assert len(starts) == 5 + 1
    assert scores == 5 * [0]
    assert len(notes) == 1


async def test_a_process_learns_the_score_from_a_sandbox_that_is_there(engine: APIClient, busybox: ImageID) -> None:
    instance = new_instance()
    notes: list[str] = []
    async with DockerRuntime(instance) as before:
        sandbox_id = await before.run_pod_sandbox(sandbox_config())
    async with DockerRuntime(instance, on_note=notes.append) as runtime:
        score = engine.inspect_container(sandbox_id)["HostConfig"]["OomScoreAdj"]
        await runtime.pod_sandbox_status(sandbox_id)
        await runtime.remove_all()
        await runtime.remove_own_pause_image()
    assert len(notes) == (score == 0)
