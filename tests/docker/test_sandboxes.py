"""Sandboxes, ownership and clean-up on a real engine."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from typing import TYPE_CHECKING

import images
import pytest
import trio
from attrs import evolve
from engine_pods import PodMaker, new_instance, sandbox_config

from runtime.api import (
    CRIError,
    DNSConfig,
    LinuxSecurityContext,
    NamespaceMode,
    NamespaceOptions,
    PodSandboxState,
    PortMapping,
    RuntimeEventType,
    RuntimeUnavailableError,
    VolumeConfig,
)
from runtime.docker import DockerRuntime, naming
from runtime.docker.folders import FolderStore
from runtime.docker.owner import Owner
from runtime.docker.volumes import volumes_folder

if TYPE_CHECKING:
    from pathlib import Path

    from docker import APIClient

    from runtime.api import ImageID

pytestmark = pytest.mark.docker

SHARED_PIDS = LinuxSecurityContext(namespaces=NamespaceOptions(pid=NamespaceMode.POD))


async def test_the_pause_reaps_orphans_of_a_shared_pid_namespace(pod: PodMaker) -> None:
    script = "for n in 1 2 3; do (sleep 0.1 & exec true) & done; sleep 1; ps -o pid,ppid,stat,args; sleep 100"
    container_id = await pod.start("a", script, security=SHARED_PIDS)
    lines = await pod.log_until(container_id, "pid,ppid,stat")
    processes = [line.split(maxsplit=3) for line in lines[1:]]
    assert (processes[0][0], processes[0][3]) == ("1", "/pause")
    assert [process for process in processes if process[2].startswith("Z")] == []


async def test_the_pause_ends_on_term_with_0(pod: PodMaker, engine: APIClient) -> None:
    async with pod.runtime.events() as events:
        await trio.to_thread.run_sync(engine.kill, pod.sandbox_id, "SIGTERM")
        with trio.fail_after(20):
            async for event in events:
                if event.type is RuntimeEventType.SANDBOX_STOPPED:
                    break
    assert event.exit_code == 0
    assert (await pod.runtime.pod_sandbox_status(pod.sandbox_id)).state is PodSandboxState.NOT_READY
    [listed] = await pod.runtime.list_pod_sandboxes()
    assert listed.state is PodSandboxState.NOT_READY


async def test_stopping_a_sandbox_kills_what_runs_in_it(pod: PodMaker) -> None:
    container_id = await pod.start("a", 'trap "" TERM; sleep 100')
    await pod.runtime.stop_pod_sandbox(pod.sandbox_id)
    assert (await pod.runtime.container_status(container_id)).exit_code == 137
    await pod.runtime.stop_pod_sandbox(pod.sandbox_id)


async def test_a_sandbox_that_is_being_stopped_is_not_ready(pod: PodMaker) -> None:
    await pod.start("a", "sleep 100")
    async with pod.runtime.events() as events, trio.open_nursery() as nursery:
        nursery.start_soon(pod.runtime.stop_pod_sandbox, pod.sandbox_id)
        async for event in events:
            if event.type is RuntimeEventType.CONTAINER_EXITED:
                [listed] = await pod.runtime.list_pod_sandboxes()
                assert listed.state is PodSandboxState.NOT_READY, "its containers die first"
                break


async def test_dns_sysctls_and_ports_are_the_sandboxs(runtime: DockerRuntime, busybox: ImageID) -> None:
    config = evolve(
        sandbox_config(),
        dns=DNSConfig(servers=("192.0.2.53",), searches=("a.example",), options=("ndots:5",)),
        sysctls={"net.ipv4.ip_unprivileged_port_start": "1"},
        port_mappings=(PortMapping(container_port=8080, host_port=18_080, host_ip="127.0.0.1"),),
    )
    pod = PodMaker(runtime, busybox, config, await runtime.run_pod_sandbox(config))
    script = "cat /etc/resolv.conf /proc/sys/net/ipv4/ip_unprivileged_port_start; echo end; sleep 100"
    lines = await pod.log_until(await pod.start("a", script), "end")
    assert sorted(lines[:3]) == ["nameserver 192.0.2.53", "options ndots:5", "search a.example"]
    assert lines[3:] == ["1", "end"]


async def test_a_named_pause_image_that_is_absent_is_an_error(engine: APIClient) -> None:
    async with DockerRuntime(new_instance(), pause_image="kemu/none:1") as runtime:
        with pytest.raises(CRIError, match="'kemu/none:1' is not in the engine"):
            await runtime.run_pod_sandbox(sandbox_config())


async def test_security_is_what_the_container_sees(pod: PodMaker) -> None:
    security = LinuxSecurityContext(
        run_as_user=1234, run_as_group=2345, supplemental_groups=(77,), readonly_rootfs=True, no_new_privs=True
    )
    script = "id -u; id -g; id -G; touch /x 2>/dev/null || echo read-only; grep NoNewPrivs /proc/self/status; hostname"
    lines = await pod.log_of(await pod.start("a", script, security=security))
    assert lines[:3] == ["1234", "2345", "2345 77"]
    assert "read-only" in lines
    assert lines[-2:] == ["NoNewPrivs:\t1", "pod"]


async def test_a_pod_changes_nothing_of_its_image(engine: APIClient, busybox: ImageID) -> None:
    """Only this image is looked at: tests beside this one make and remove their own."""
    before = images.names_of(engine, busybox)
    async with DockerRuntime(new_instance()) as runtime:
        config = sandbox_config()
        pod = PodMaker(runtime, busybox, config, await runtime.run_pod_sandbox(config))
        await pod.start("a", "exit 0")
        assert images.names_of(engine, busybox) == before
        await runtime.remove_all()
        await runtime.remove_own_pause_image()
    assert images.names_of(engine, busybox) == before


def everything_of(engine: APIClient, instance: str) -> list[str]:
    """Return all objects of an instance."""
    wanted = {"label": f"{naming.INSTANCE_LABEL}={instance}"}
    found = [item["Id"] for item in engine.containers(all=True, filters=wanted)]
    found += [item["Name"] for item in engine.volumes(filters=wanted)["Volumes"] or ()]
    return found + [item["Id"] for item in engine.networks(filters=wanted)]


async def test_nothing_of_an_instance_is_left(engine: APIClient, busybox: ImageID) -> None:
    async with DockerRuntime(new_instance()) as runtime:
        config = sandbox_config()
        pod = PodMaker(runtime, busybox, config, await runtime.run_pod_sandbox(config))
        await pod.start("a", "sleep 100")
        await runtime.create_volume(VolumeConfig(pod_uid="u", name="v"))
        await runtime.create_volume(VolumeConfig(pod_uid="u", name="m", medium="Memory"))
        assert len(everything_of(engine, runtime.instance)) == 6
        await runtime.remove_all()
        assert everything_of(engine, runtime.instance) == []


def instance_folders(root: Path) -> list[str]:
    """Return the instances that have a folder."""
    return [path.name for path in root.glob("instances/*")]


OWNER_PROGRAM = """
import sys, trio
from pathlib import Path
from engine_pods import sandbox_config
from runtime.api import VolumeConfig
from runtime.docker import DockerRuntime

async def main():
    root = Path(sys.argv[2]) if sys.argv[2] else None
    async with DockerRuntime(sys.argv[1], root=root, keep="keep" in sys.argv) as runtime:
        await runtime.run_pod_sandbox(sandbox_config())
        await runtime.create_volume(VolumeConfig(pod_uid="u", name="m", medium="Memory"))
        print("up", flush=True)
        await trio.sleep_forever()

trio.run(main)
"""


def owner_process(instance: str, root: str, *words: str) -> subprocess.Popen[bytes]:
    """Start a process that owns a sandbox and a volume."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([*sys.path, os.path.dirname(__file__)])}  # noqa: PTH120
    command = [sys.executable, "-c", OWNER_PROGRAM, instance, root, *words]
    process = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE)
    assert process.stdout is not None
    if process.stdout.readline() != b"up\n":
        end(process)
        raise AssertionError("the owner did not come up")
    return process


def end(process: subprocess.Popen[bytes]) -> None:
    """Kill a process as hard as possible."""
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert process.stdout is not None
    process.stdout.close()


@pytest.mark.usefixtures("kept_alone")
@pytest.mark.parametrize("words", [(), ("keep",)], ids=["killed", "killed and kept"])
async def test_a_sweep_leaves_what_another_state_folder_knows_of(
    engine: APIClient, tmp_path: Path, words: tuple[str, ...]
) -> None:
    instance, theirs, mine = new_instance(), tmp_path / "theirs", tmp_path / "mine"
    end(owner_process(instance, str(theirs), *words))
    before = everything_of(engine, instance)
    async with DockerRuntime(new_instance(), root=mine) as other:
        assert instance not in await other.sweep_dead_owners(include_kept=True)
        assert (await other.cleaner.dead_elsewhere())[instance] == theirs
        assert everything_of(engine, instance) == before
        FolderStore(volumes_folder(theirs, instance)).remove_all()
        shutil.rmtree(theirs)
        assert instance not in await other.cleaner.dead_elsewhere()
        assert instance in await other.sweep_dead_owners(include_kept=True)
        await other.remove_all()
    assert everything_of(engine, instance) == []


async def test_a_state_folder_is_known_by_any_of_its_names(engine: APIClient, tmp_path: Path) -> None:
    instance, root, link = new_instance(), tmp_path / "root", tmp_path / "link"
    link.symlink_to(root)
    end(owner_process(instance, str(root)))
    (root / "instances" / instance / "runtime-owner.json").write_text("torn")
    async with DockerRuntime(new_instance(), root=link) as other:
        assert instance not in await other.cleaner.dead_elsewhere()
        assert instance in await other.sweep_dead_owners()
        await other.remove_all()
    assert everything_of(engine, instance) == []
    assert instance_folders(root) == []


@pytest.mark.usefixtures("kept_alone")
@pytest.mark.parametrize("with_root", [False, True], ids=["volumes in the engine", "volumes in a folder"])
async def test_a_sweep_removes_the_dead_and_leaves_the_living(
    engine: APIClient,
    tmp_path: Path,
    with_root: bool,  # noqa: FBT001 - a table's column
) -> None:
    root = str(tmp_path) if with_root else ""
    dead, living, kept = new_instance(), new_instance(), new_instance()
    processes = [owner_process(dead, root), owner_process(living, root), owner_process(kept, root, "keep")]
    try:
        end(processes[0])
        end(processes[2])
        before = everything_of(engine, living)
        async with DockerRuntime(new_instance(), root=tmp_path if with_root else None) as runtime:
            assert dead in await runtime.sweep_dead_owners()
            assert everything_of(engine, dead) == []
            assert everything_of(engine, living) == before
            assert len(everything_of(engine, kept)) > 0
            assert dead not in instance_folders(tmp_path)
            assert kept in await runtime.sweep_dead_owners(include_kept=True)
            assert everything_of(engine, kept) == []
            await runtime.remove_all()
    finally:
        end(processes[1])
        async with DockerRuntime(living, root=tmp_path if with_root else None) as runtime:
            await runtime.remove_all()
    assert instance_folders(tmp_path) == []


async def test_a_sweep_removes_the_folder_of_one_that_died_early(tmp_path: Path) -> None:
    dead = new_instance()
    async with DockerRuntime(dead, root=tmp_path) as runtime:
        await runtime.cleaner.claim()
    file = tmp_path / "instances" / dead / "runtime-owner.json"
    file.write_text(json.dumps({**json.loads(file.read_text()), "pid_start": "0"}))
    async with DockerRuntime(new_instance(), root=tmp_path) as runtime:
        assert dead in await runtime.sweep_dead_owners()
        assert dead not in instance_folders(tmp_path)


async def test_owners_elsewhere_are_never_swept(engine: APIClient) -> None:
    here = Owner.current()
    elsewhere = evolve(here, host="another-host", boot="another-boot", pid=1, pid_start="0")
    foreign = new_instance()
    body = {"Image": images.BUSYBOX, "Labels": {naming.INSTANCE_LABEL: foreign, **elsewhere.labels()}}
    made = engine.create_container_from_config(body)
    unowned = engine.create_container_from_config({"Image": images.BUSYBOX, "Labels": {naming.INSTANCE_LABEL: foreign}})
    try:
        async with DockerRuntime(new_instance()) as runtime:
            assert foreign not in await runtime.sweep_dead_owners()
        assert sorted(everything_of(engine, foreign)) == sorted([made["Id"], unowned["Id"]])
    finally:
        engine.remove_container(made["Id"])
        engine.remove_container(unowned["Id"])


async def test_an_engine_that_is_not_there_is_one_clear_error(tmp_path: Path) -> None:
    text = r"the Docker engine at unix:///.*/none\.sock \(the given address says so\) does not answer: "
    with pytest.raises(RuntimeUnavailableError, match=text):
        async with DockerRuntime(new_instance(), base_url=f"unix://{tmp_path}/none.sock"):
            pass


async def test_version_and_status(runtime: DockerRuntime, engine: APIClient) -> None:
    version, status = await runtime.version(), await runtime.status()
    assert (version.runtime_name, version.api_version) == ("docker", engine.version()["ApiVersion"])
    assert (status.ready, status.network_ready) == (True, True)
    assert status.cpus == engine.info()["NCPU"]
    assert status.memory_bytes == engine.info()["MemTotal"]
    assert status.host_ip.count(".") == 3
    assert status.architecture in {"amd64", "arm64"}
    assert abs(status.clock_offset_seconds) < 5
