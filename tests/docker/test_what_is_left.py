"""However a program ends, nothing of it stays in the engine: no container, no volume, no network."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import uuid
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import images
import pytest
import trio
from engine_pods import new_instance
from two_shells import default_signals

import kubelet_emu
from kubelet_emu.embedding.guard import guarded
from runtime.api import VolumeConfig
from runtime.docker import DockerRuntime
from runtime.docker.naming import INSTANCE_LABEL

if TYPE_CHECKING:
    from collections.abc import Iterator

    from docker import APIClient

pytestmark = pytest.mark.docker

LIMIT_SECONDS = 60.0
LOOK_SECONDS = 0.1
POD = """\
apiVersion: v1
kind: Pod
metadata: {{name: {name}}}
spec:
  terminationGracePeriodSeconds: 2
  volumes: [{{name: scratch, emptyDir: {{}}}}]
  containers:
  - name: main
    image: {image}
    imagePullPolicy: Never
    command: [sh, -c, "trap 'exit 0' TERM; while :; do sleep 1; done"]
    volumeMounts: [{{name: scratch, mountPath: /scratch}}]
"""
SCENARIO = "manifest: pod.yaml\nend: {seconds: 50}\nexpect: [some main started]\n"
BLOCKING = """\
import kubelet_emu
kubelet_emu.node(runtime="docker").run("pod.yaml").wait_for("deleted")
"""
IN_TRIO = """\
import kubelet_emu, trio
async def main():
    async with kubelet_emu.open_node(runtime="docker") as node:
        await node.run("pod.yaml")
        await trio.sleep_forever()
trio.run(main)
"""
PLUGIN = """\
import pytest
@pytest.mark.kubelet(runtime="docker")
def test_it(kubelet):
    kubelet.run("pod.yaml").wait_for("deleted")
"""
COMMAND = (sys.executable, "-m", "kubelet_emu")
OWN = -1
"""As the signal itself ends a program, or its interpreter does."""
PROGRAMS: dict[str, tuple[tuple[str, ...], dict[int, int]]] = {
    "run": ((*COMMAND, "run", "pod.yaml"), {}),
    "record": ((*COMMAND, "record", "pod.yaml"), {}),
    "test": ((*COMMAND, "test", "--runtime", "docker", "it.scenario.yaml"), dict.fromkeys((2, 15, 1), 130)),
    "a program": ((sys.executable, "blocking.py"), dict.fromkeys((2, 15, 1), OWN)),
    "a Trio program": ((sys.executable, "in_trio.py"), dict.fromkeys((2, 15, 1), OWN)),
    "pytest": (
        (sys.executable, "-m", "pytest", "-p", "kubelet_emu.pytest_plugin", "-p", "no:cacheprovider", "test_it.py"),
        {2: 2, 15: OWN, 1: OWN},
    ),
}
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def files(folder: Path) -> str:
    """Write what the programs need, and return the name of the pod."""
    name = f"pod-{uuid.uuid4().hex[:8]}"
    texts = {
        "pod.yaml": POD.format(name=name, image=images.BUSYBOX),
        "it.scenario.yaml": SCENARIO,
        "blocking.py": BLOCKING,
        "in_trio.py": IN_TRIO,
        "test_it.py": PLUGIN,
    }
    for file, text in texts.items():
        (folder / file).write_text(text)
    return name


@contextmanager
def launched(folder: Path, words: tuple[str, ...]) -> Iterator[subprocess.Popen[str]]:
    """Give a program that hears every signal, also where the tests' own process ignores some, as under nohup."""
    with default_signals():
        process = subprocess.Popen(
            words,
            cwd=folder,
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env={
                **os.environ,
                "PYTHONPATH": str(Path(kubelet_emu.__file__).parents[1]),
                "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
            },
        )
    try:
        yield process
    finally:
        if process.poll() is None:
            process.kill()
            process.communicate()


async def instance_of(engine: APIClient, process: subprocess.Popen[str], name: str) -> str:
    """Wait for the main of a pod and return the instance that it belongs to."""
    with trio.move_on_after(LIMIT_SECONDS):
        while process.poll() is None:
            if found := engine.containers(filters={"name": f"k8s_main_{name}_"}):
                return str(found[0]["Labels"][INSTANCE_LABEL])
            await trio.sleep(LOOK_SECONDS)
    process.kill()
    pytest.fail(f"the pod never came up: {process.communicate()[0]}")


def left(engine: APIClient, instance: str) -> list[str]:
    """Return what the engine has of an instance."""
    mine = {"label": f"{INSTANCE_LABEL}={instance}"}
    found = [item["Names"][0] for item in engine.containers(all=True, filters=mine)]
    found += [item["Name"] for item in engine.volumes(filters=mine)["Volumes"] or ()]
    found += [item["Name"] for item in engine.networks(filters=mine)]
    return found


async def left_at_last(engine: APIClient, instance: str) -> list[str]:
    """Return what is left once whoever cleans up has had the time to."""
    with trio.move_on_after(LIMIT_SECONDS):
        while left(engine, instance):  # noqa: ASYNC110 - another process
            await trio.sleep(LOOK_SECONDS)
    return left(engine, instance)


@pytest.mark.parametrize("number", [pytest.param(each, id=each.name) for each in SIGNALS])
@pytest.mark.parametrize("program", PROGRAMS)
async def test_nothing_is_left_after_a_signal(
    engine: APIClient, tmp_path: Path, program: str, number: signal.Signals
) -> None:
    words, statuses = PROGRAMS[program]
    name = files(tmp_path)
    with launched(tmp_path, words) as process:
        instance = await instance_of(engine, process, name)
        process.send_signal(number)
        output, _ = process.communicate(timeout=LIMIT_SECONDS)
    expected = statuses.get(number, process.returncode)
    assert process.returncode == (-number if expected == OWN else expected), output
    assert await left_at_last(engine, instance) == []


@pytest.mark.parametrize("program", ["a program", "a Trio program", "pytest"])
async def test_nothing_is_left_after_a_kill(engine: APIClient, tmp_path: Path, program: str) -> None:
    name = files(tmp_path)
    with launched(tmp_path, PROGRAMS[program][0]) as process:
        instance = await instance_of(engine, process, name)
        process.kill()
        process.communicate(timeout=LIMIT_SECONDS)
    assert await left_at_last(engine, instance) == []


async def test_a_guard_cleans_up_what_a_program_could_not(engine: APIClient, tmp_path: Path) -> None:
    instance = new_instance()
    async with DockerRuntime(instance) as runtime:
        config = VolumeConfig(pod_uid=str(uuid.uuid4()), name="scratch", medium="Memory")
        async with guarded(instance, tmp_path) as guard:
            await runtime.create_volume(config)
            before = left(engine, instance)
        assert guard.is_needed
    assert before
    assert left(engine, instance) == []
