"""What others do to a pod's things in the engine, beside its kubelet: kill, remove, disconnect."""

from __future__ import annotations

import secrets
import shutil
from contextlib import suppress
from typing import TYPE_CHECKING

import images
import pytest
from docker.errors import ImageNotFound

import kubelet_emu

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterator

    from docker import APIClient
    from registry import Registry

    from kubelet_emu.embedding.node import Node
    from kubelet_emu.embedding.objects import Pod

pytestmark = pytest.mark.docker

LIVES = "trap 'exit 0' TERM; while :; do sleep 0.1; done"
POD = """\
apiVersion: v1
kind: Pod
metadata: {{name: {name}}}
spec:
  restartPolicy: {policy}
  terminationGracePeriodSeconds: 5
  volumes: [{{name: scratch, emptyDir: {{}}}}]
  {init}
  containers:
  - name: main
    image: {image}
    imagePullPolicy: {pulls}
    command: [sh, -c, "{script}"]
    volumeMounts: [{{name: scratch, mountPath: /scratch}}]
    {more}
"""
INIT = """\
initContainers:
  - {{name: setup, image: {image}, command: ["true"]}}
  - {{name: side, restartPolicy: Always, image: {image}, command: [sh, -c, "{script}"]}}
"""
KILLED = "Killing Stopping container main"
CHANGED = "SandboxChanged Pod sandbox changed, it will be killed and re-created."


@pytest.fixture
async def node(busybox: str) -> AsyncIterator[Node]:
    """Give a node on the engine."""
    async with kubelet_emu.open_node(runtime="docker", timeout=60) as opened:
        yield opened


def manifest(policy: str = "Always", script: str = LIVES, **more: str) -> str:
    """Return a pod with a name of its own."""
    values = {"init": "", "image": images.BUSYBOX, "pulls": "IfNotPresent", "more": ""} | more
    return POD.format(name=f"pod-{secrets.token_hex(4)}", policy=policy, script=script, **values)


def found(engine: APIClient, pod: Pod, container: str) -> str:
    """Return the id of a container of a pod, POD for its sandbox; the newest one."""
    return str(engine.containers(all=True, filters={"name": f"k8s_{container}_{pod.name}_"})[0]["Id"])


def restarts(pod: Pod) -> int:
    """Return the restart count of the main container, as the API has it."""
    assert pod.status is not None
    return pod.status.container_statuses[0].restart_count


def kill_sandbox(engine: APIClient, pod: Pod) -> None:
    engine.kill(found(engine, pod, "POD"), "KILL")


def remove_sandbox(engine: APIClient, pod: Pod) -> None:
    engine.remove_container(found(engine, pod, "POD"), force=True)


def remove_main(engine: APIClient, pod: Pod) -> None:
    engine.remove_container(found(engine, pod, "main"), force=True)


# What is done to a running pod of a policy, and how it goes on: a moment, and what the kubelet has told by then.
PODS: dict[str, tuple[Callable[[APIClient, Pod], None], str, str, tuple[str, ...]]] = {
    "a sandbox that dies is made anew": (kill_sandbox, "Always", "main#2 started", (CHANGED, KILLED)),
    "also where the pod restarts on failure": (kill_sandbox, "OnFailure", "main#2 started", (CHANGED, KILLED)),
    "a pod that never restarts ends with its sandbox": (kill_sandbox, "Never", "Succeeded", (KILLED,)),
    "a sandbox that is gone is made anew": (remove_sandbox, "Always", "main#2 started", (KILLED,)),
    "a container that is gone is made anew": (remove_main, "Always", "main#2 started", ()),
    "also where it restarts on failure": (remove_main, "OnFailure", "main#2 started", ()),
    "a pod that never restarts fails with its container": (remove_main, "Never", "Failed", ()),
}


LONG = frozenset(why for why in PODS if why.startswith("also "))


@pytest.mark.parametrize(
    ("deed", "policy", "moment", "told"),
    [pytest.param(*row, id=why, marks=pytest.mark.long if why in LONG else ()) for why, row in PODS.items()],
)
async def test_a_pod_goes_on(
    node: Node,
    engine: APIClient,
    deed: Callable[[APIClient, Pod], None],
    policy: str,
    moment: str,
    told: tuple[str, ...],
) -> None:
    pod = await node.run(manifest(policy))
    await pod.wait_for("Ready")
    deed(engine, pod)
    await pod.wait_for(moment)
    assert set(told) <= set(pod.log.events())
    if policy == "Never":
        return
    while restarts(pod) != 1:
        await node.sleep(0.1)
    assert pod.phase == "Running"


async def test_a_new_sandbox_begins_with_the_first_init_container(node: Node, engine: APIClient) -> None:
    pod = await node.run(manifest(init=INIT.format(image=images.BUSYBOX, script=LIVES)))
    await pod.wait_for("Ready")
    kill_sandbox(engine, pod)
    await pod.wait_for("main#2 started")
    pod.log.expect("main#1 exited(0) < setup#2 started < side#2 started < main#2 started")


IMAGES = {
    "one that may be pulled is pulled again": ("IfNotPresent", "main#2 started", "Pulled Successfully pulled image"),
    "one that may not is missed": ("Never", "main event(ErrImageNeverPull)", "ErrImageNeverPull Container image"),
}


@pytest.fixture
def own_image(engine: APIClient, registry: Registry) -> Iterator[str]:
    """Give the name of an image that this test alone has; it goes when the node has gone."""
    name = f"{registry.address}/kemu/{secrets.token_hex(4)}:1"
    image_id = images.make_image(engine, name, extra={"etc/its-own": name.encode()})
    engine.push(name)
    yield name
    with suppress(ImageNotFound):
        engine.remove_image(image_id, force=True)  # by its id: what was taken off amid a container lost its name


@pytest.mark.parametrize(("pulls", "moment", "told"), IMAGES.values(), ids=IMAGES.keys())
async def test_an_image_that_is_gone_at_a_restart(
    node: Node, engine: APIClient, own_image: str, pulls: str, moment: str, told: str
) -> None:
    pod = await node.run(manifest(script="sleep 1; exit 1", image=own_image, pulls=pulls))
    await pod.wait_for("main#1 started")
    engine.remove_image(own_image, force=True)
    await pod.wait_for(moment)
    assert any(event.startswith(told) for event in pod.log.events())


async def test_a_sandbox_without_its_network_is_not_ready(node: Node, engine: APIClient) -> None:
    more = "readinessProbe: {tcpSocket: {port: 80}, periodSeconds: 1, failureThreshold: 1}"
    pod = await node.run(manifest(script="exec httpd -f -p 80", more=more))
    await pod.wait_for("Ready")
    sandbox = found(engine, pod, "POD")
    engine.disconnect_container_from_network(sandbox, "bridge", force=True)
    await pod.wait_for("pod condition(Ready=False)")
    engine.connect_container_to_network(sandbox, "bridge")
    await node.sleep(2)
    assert restarts(pod) == 0


async def test_a_volume_that_is_gone_is_told(node: Node, engine: APIClient) -> None:
    pod = await node.run(manifest(script="sleep 2; exit 1"))
    await pod.wait_for("main#1 started")
    mounts = engine.inspect_container(found(engine, pod, "main"))["Mounts"]
    shutil.rmtree(next(mount["Source"] for mount in mounts if mount["Destination"] == "/scratch"))
    await pod.wait_for("main event(Failed)")
    assert any("bind source path does not exist" in event for event in pod.log.events())
