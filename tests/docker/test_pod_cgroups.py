"""What all of a pod together may use: limits in a cgroup of its own, of which nothing is left."""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs
import images
import pytest
import trio
from command_line import run, write_pod
from engine_pods import PodMaker, sandbox_config

from runtime.api import ContainerState, CRIError, LinuxContainerResources, RuntimeEventType
from runtime.docker import DockerRuntime, naming
from runtime.docker.cgroup_tree import CgroupTree

if TYPE_CHECKING:
    from pathlib import Path

    from docker import APIClient

    from runtime.api import ContainerID, ImageID, PodSandboxConfig

pytestmark = pytest.mark.docker

LIMITS = LinuxContainerResources(
    cpu_shares=512, cpu_quota=50_000, cpu_period=100_000, memory_limit_bytes=56 << 20, pids_limit=40
)
OWN = LinuxContainerResources(memory_limit_bytes=48 << 20)
HOLD = "exec dd if=/dev/zero of=/dev/null bs=%dM"
LOOK_SECONDS = 0.1
FORKING = """\
apiVersion: v1
kind: Pod
metadata: {name: forking}
spec:
  restartPolicy: Never
  volumes: [{name: shared, emptyDir: {}}]
  initContainers:
  - name: init
    image: IMAGE
    command: [sh, -c, "mkfifo /s/full /s/done"]
    volumeMounts: [{name: shared, mountPath: /s}]
  containers:
  - name: first
    image: IMAGE
    command: [sh, -c, "n=0; while [ $n -lt 32 ]; do sleep 300 & n=$((n+1)); done; echo > /s/full; read x < /s/done"]
    volumeMounts: [{name: shared, mountPath: /s}]
  - name: second
    image: IMAGE
    command:
    - sh
    - -c
    - |
      read x < /s/full
      sh -c 'n=0; while [ $n -lt 32 ]; do sleep 300 & n=$((n+1)); done; echo all'
      echo > /s/done
    volumeMounts: [{name: shared, mountPath: /s}]
"""
CONFIGURATION = """\
apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
podPidsLimit: 48
"""


def on_the_machine(engine: APIClient, script: str) -> list[str]:
    """Return what a script prints that sees the cgroups of the engine's machine at /c."""
    host = engine.create_host_config(binds=["/sys/fs/cgroup:/c:ro"], network_mode="none")
    made = engine.create_container(images.BUSYBOX, ["sh", "-c", script], host_config=host | {"CgroupnsMode": "host"})
    try:
        engine.start(made)
        engine.wait(made)
        return str(engine.logs(made).decode()).splitlines()
    finally:
        engine.remove_container(made, force=True, v=True)


def tree_of(engine: APIClient) -> CgroupTree:
    return CgroupTree.of_info(engine.info())


def settings_of(engine: APIClient, runtime: DockerRuntime, config: PodSandboxConfig) -> dict[str, str]:
    """Return what stands in the files that limit a pod."""
    tree = tree_of(engine)
    files = tree.settings(tree.parent(runtime.instance, config.metadata.uid), LIMITS)[::2]
    return dict(zip(files, on_the_machine(engine, f"cat {' '.join(files)}"), strict=True))


def left(engine: APIClient, instance: str) -> list[str]:
    """Return the pod cgroups of an instance that are there."""
    parent = tree_of(engine).parent(instance, "*").replace("pod-", "pod*").replace("pod_", "pod*")
    return on_the_machine(engine, f"ls -d {' '.join(tree_of(engine).folders(parent))} 2>/dev/null")


@pytest.fixture
async def limited(runtime: DockerRuntime, busybox: ImageID) -> PodMaker:
    """Give a pod with limits of its own."""
    config = sandbox_config(resources=LIMITS)
    return PodMaker(runtime, busybox, config, await runtime.run_pod_sandbox(config))


async def test_the_limits_of_a_pod_stand_in_its_cgroup(engine: APIClient, limited: PodMaker, notes: list[str]) -> None:
    tree = tree_of(engine)
    words = tree.settings(tree.parent(limited.runtime.instance, limited.config.metadata.uid), LIMITS)
    expected = dict(zip(words[::2], words[1::2], strict=True))
    assert settings_of(engine, limited.runtime, limited.config) == expected
    inside = await limited.start("a", "sleep 100", resources=OWN)
    assert engine.inspect_container(inside)["HostConfig"]["CgroupParent"] in words[0]
    assert not any("whole pod" in note for note in notes)
    assert await limited.runtime.run_pod_sandbox(limited.config) == limited.sandbox_id, "the same again is adopted"
    await limited.runtime.remove_pod_sandbox(limited.sandbox_id)
    assert left(engine, limited.runtime.instance) == []


async def ended(pod: PodMaker, container_id: ContainerID) -> tuple[int | None, str]:
    """Wait for a container's end and return how it ended."""
    while True:
        status = await pod.runtime.container_status(container_id)
        if status.state is ContainerState.EXITED:
            return status.exit_code, status.reason
        await trio.sleep(LOOK_SECONDS)


async def test_containers_that_pass_the_pods_memory_together(engine: APIClient, limited: PodMaker) -> None:
    large = await limited.start("large", HOLD % 40, resources=OWN)
    calm = await limited.start("calm", "trap 'exit 0' TERM; while :; do sleep 0.1; done", resources=OWN)
    stubborn = await limited.start("stubborn", "trap '' TERM; while :; do sleep 0.1; done", resources=OWN)
    async with limited.runtime.events() as events:
        small = await limited.start("small", f"{HOLD % 24} count=9", resources=OWN)
        assert await ended(limited, large) == (137, "OOMKilled")
        assert await ended(limited, small) == (0, "Completed")
        await limited.runtime.stop_container(calm, 20)
        await limited.runtime.stop_container(stubborn, 0)
        assert await ended(limited, calm) == (0, "Completed")
        assert await ended(limited, stubborn) == (137, "Error")
        ooms = []
        async for event in events:
            if event.type is RuntimeEventType.CONTAINER_OOM:
                ooms.append(event.container_name)
            if event.type is RuntimeEventType.CONTAINER_EXITED and event.container_name == "stubborn":
                break
    assert ooms == ["large"]
    await limited.runtime.remove_pod_sandbox(limited.sandbox_id)
    assert left(engine, limited.runtime.instance) == []


async def test_the_cgroup_goes_with_the_last_sandbox(engine: APIClient, limited: PodMaker) -> None:
    runtime, first = limited.runtime, limited.config.metadata
    second = await runtime.run_pod_sandbox(attrs.evolve(limited.config, metadata=attrs.evolve(first, attempt=1)))
    await runtime.remove_pod_sandbox(limited.sandbox_id)
    assert left(engine, runtime.instance) != []
    third = await runtime.run_pod_sandbox(limited.config)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(runtime.remove_pod_sandbox, second)
        nursery.start_soon(runtime.remove_pod_sandbox, third)
    assert left(engine, runtime.instance) == []


async def test_another_process_removes_what_a_killed_run_left(engine: APIClient, limited: PodMaker) -> None:
    async with DockerRuntime(limited.runtime.instance) as later:
        await later.list_pod_sandboxes()
        container = await later.create_container(
            limited.sandbox_id, limited.container("b", "sleep 100"), limited.config
        )
        label = engine.inspect_container(container)["Config"]["Labels"][naming.POD_CGROUP_LABEL]
        assert label == tree_of(engine).parent(later.instance, limited.config.metadata.uid)
        await later.remove_all()
    assert left(engine, limited.runtime.instance) == []


async def test_a_machine_that_refuses_is_told_of_once(
    engine: APIClient, runtime: DockerRuntime, busybox: ImageID, notes: list[str]
) -> None:
    tree = tree_of(engine)
    rights = runtime._rights.pod_cgroups  # noqa: SLF001 - no engine here has the other version
    rights.tree = attrs.evolve(tree, version=3 - tree.version)
    for _ in range(2):
        config = sandbox_config(resources=LIMITS)
        pod = PodMaker(runtime, busybox, config, await runtime.run_pod_sandbox(config))
        await pod.start("a", "sleep 100", resources=OWN)
    [note] = [note for note in notes if "whole pod" in note]
    assert note.endswith("each of its containers alone: the cgroups of the engine's machine can't be written")
    rights.tree = tree
    await runtime.remove_all()
    assert left(engine, runtime.instance) == []


async def test_an_engine_without_rights_is_not_asked(
    runtime: DockerRuntime, busybox: ImageID, notes: list[str], engine: APIClient
) -> None:
    rights = runtime._rights.pod_cgroups  # noqa: SLF001 - the engine here has them
    rights.tree = attrs.evolve(rights.tree, is_rootless=True)
    config = sandbox_config(resources=LIMITS)
    sandbox = await runtime.run_pod_sandbox(config)
    assert [note for note in notes if "whole pod" in note] == [
        "limits of a whole pod hold for each of its containers alone: a rootless engine has no cgroups to make"
    ]
    assert engine.inspect_container(sandbox)["HostConfig"]["CgroupParent"] == ""


async def test_a_value_that_the_kernel_refuses_fails_the_sandbox(runtime: DockerRuntime, engine: APIClient) -> None:
    config = sandbox_config(resources=LinuxContainerResources(cpu_quota=1 << 62, cpu_period=100_000))
    with pytest.raises(CRIError, match=r"the limits of the pod's cgroup .* were refused"):
        await runtime.run_pod_sandbox(config)
    await runtime.remove_all()
    assert left(engine, runtime.instance) == []


def test_a_configured_limit_of_processes_holds_for_all_of_a_pod(engine: APIClient, tmp_path: Path) -> None:
    configuration = tmp_path / "kubelet.yaml"
    configuration.write_text(CONFIGURATION)
    (tmp_path / "pods").mkdir()
    manifest = write_pod(tmp_path / "pods", "forking", FORKING.replace("IMAGE", images.BUSYBOX))
    outcome = run(tmp_path, manifest, "--pull", "missing", "--config", str(configuration))
    assert outcome.status == 0, outcome.err
    assert "all" not in outcome.lines("second"), "each alone would have room"
    assert "fork" in "".join(outcome.lines("second"))
