"""The commands on a real engine: the demo, signals, what is left behind."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import uuid
from typing import TYPE_CHECKING

import docker
import pytest
import trio

import kubelet_emu
from kubelet_emu.cli.busybox_image import archive_of, find_shell
from kubelet_emu.cli.demo import IMAGE
from runtime.docker import naming
from runtime.docker.helper import IMAGE_LABEL

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

pytestmark = pytest.mark.docker

LIMIT = 60
POD = """\
apiVersion: v1
kind: Pod
metadata: {{name: {name}}}
spec:
  terminationGracePeriodSeconds: {grace}
  containers:
  - name: main
    image: {image}
    imagePullPolicy: Never
    command: ["sh", "-c", "{script}"]
"""
LOOP = "echo up; while :; do sleep 1; done"
POLITE = "trap 'echo bye; exit 0' TERM; " + LOOP
STUBBORN = "trap '' TERM; " + LOOP


@pytest.fixture(scope="module")
def engine() -> Iterator[docker.DockerClient]:
    """Give the engine."""
    client = docker.from_env()
    yield client
    client.close()


@pytest.fixture(scope="module")
def image(engine: docker.DockerClient) -> Iterator[str]:
    """Load an image with a shell under a name of this module's own."""
    name = f"kubelet-emu.local/test-{uuid.uuid4().hex[:8]}:1"
    engine.images.load(archive_of(find_shell().read_bytes(), name))
    yield name
    engine.images.remove(name, force=True)


def write(folder: Path, image: str, script: str, grace: int = 30) -> Path:
    """Write a pod with a name of its own, so that its containers can be told from others'."""
    name = f"pod-{uuid.uuid4().hex[:8]}"
    path = folder / f"{name}.yaml"
    path.write_text(POD.format(name=name, image=image, script=script, grace=grace))
    return path


def command(folder: Path, *words: str) -> list[str]:
    return [sys.executable, "-m", "kubelet_emu", *words, "--root-dir", str(folder / "root")]


def left(engine: docker.DockerClient, manifest: Path) -> list[str]:
    """Return the containers of a manifest's pod that the engine still has."""
    found = engine.api.containers(all=True, filters={"name": f"_{manifest.stem}_"})
    return [item["Names"][0] for item in found]


def begun(process: subprocess.Popen[str]) -> None:
    """Wait until the pod's main says that it is up."""
    assert process.stdout is not None
    for line in process.stdout:
        if line.rstrip().endswith(" up"):
            return
    pytest.fail(f"the pod never came up: {process.communicate()[1]}")


def finish(process: subprocess.Popen[str]) -> tuple[int, str]:
    """Wait for the end and return exit status and stderr."""
    _, err = process.communicate(timeout=LIMIT)
    return process.returncode, err


def launch(folder: Path, manifest: Path, *words: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        command(folder, "run", str(manifest), *words), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def test_the_demo_runs_a_job_and_leaves_nothing(engine: docker.DockerClient, tmp_path: Path) -> None:
    had_image = bool(engine.images.list(name=IMAGE))
    done = subprocess.run(
        command(tmp_path, "demo", "--trace", str(tmp_path / "trace")),
        capture_output=True,
        text=True,
        check=False,
        timeout=LIMIT,
    )
    assert done.returncode == 0, done.stderr
    assert "job/demo  Complete    1 succeeded, 0 failed\n" in done.stderr
    assert "nobody killed" in done.stderr
    assert "order: KEP-753" in done.stderr
    records = [json.loads(line) for line in (tmp_path / "trace").read_text().splitlines()]
    runs = [(r["container"], r["what"]) for r in records if r["kind"] == "run"]
    assert runs == [
        ("prepare", "start"),
        ("prepare", "exit"),
        ("helper", "start"),
        ("work", "start"),
        ("work", "exit"),
        ("helper", "exit"),
    ]
    assert bool(engine.images.list(name=IMAGE)) is had_image
    assert list((tmp_path / "root" / "instances").iterdir()) == []


def test_a_first_interrupt_stops_gracefully(engine: docker.DockerClient, image: str, tmp_path: Path) -> None:
    manifest = write(tmp_path, image, POLITE)
    process = launch(tmp_path, manifest)
    begun(process)
    process.send_signal(signal.SIGINT)
    status, err = finish(process)
    assert status == 0, err
    assert "nobody killed" in err
    assert left(engine, manifest) == []
    eventually(lambda: is_clean(engine))


def test_a_second_interrupt_kills(engine: docker.DockerClient, image: str, tmp_path: Path) -> None:
    manifest = write(tmp_path, image, STUBBORN)
    process = launch(tmp_path, manifest)
    begun(process)
    process.send_signal(signal.SIGINT)
    assert process.stderr is not None
    for line in process.stderr:
        if "SIGTERM sent" in line:
            break
    process.send_signal(signal.SIGINT)
    status, err = finish(process)
    assert status == 130, err
    assert left(engine, manifest) == []


@pytest.mark.usefixtures("kept_alone")
def test_a_third_interrupt_leaves_and_names_what_is_left(
    engine: docker.DockerClient, image: str, tmp_path: Path
) -> None:
    manifest = write(tmp_path, image, STUBBORN)
    process = launch(tmp_path, manifest)
    begun(process)
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        process.send_signal(number)
    status, err = finish(process)
    assert status == 130
    assert f"left running: {manifest.stem}/main\n" in err
    assert "kubelet-emu prune --root-dir " in err
    pruned = subprocess.run(command(tmp_path, "prune"), capture_output=True, text=True, check=True, timeout=LIMIT)
    assert pruned.stdout.startswith("removed what run ")
    assert left(engine, manifest) == []


def test_the_next_start_removes_what_a_killed_run_left(engine: docker.DockerClient, image: str, tmp_path: Path) -> None:
    beside, killed, following = (write(tmp_path, image, POLITE) for _ in range(3))
    living, dying = launch(tmp_path, beside), launch(tmp_path, killed)
    begun(living)
    begun(dying)
    os.kill(dying.pid, signal.SIGKILL)
    finish(dying)
    assert left(engine, killed) != []
    status, err = finish(launch(tmp_path, following, "--delete-when", "ready"))
    assert status == 0, err
    assert "removed what the dead run" in err
    assert left(engine, killed) == []
    assert len(left(engine, beside)) == 2
    living.send_signal(signal.SIGTERM)
    assert finish(living)[0] == 0
    assert left(engine, beside) == []


@pytest.mark.usefixtures("kept_alone")
def test_what_is_kept_stays_until_it_is_pruned(engine: docker.DockerClient, image: str, tmp_path: Path) -> None:
    manifest = write(tmp_path, image, "echo up; exit 0")
    manifest.write_text(manifest.read_text().replace("spec:", "spec:\n  restartPolicy: Never"))
    status, err = finish(launch(tmp_path, manifest, "--keep"))
    assert status == 0, err
    assert len(left(engine, manifest)) == 2
    for _ in range(2):
        subprocess.run(command(tmp_path, "prune"), capture_output=True, check=True, timeout=LIMIT)
        assert left(engine, manifest) == []
        assert list((tmp_path / "root" / "instances").iterdir()) == []


def test_the_time_is_over(engine: docker.DockerClient, image: str, tmp_path: Path) -> None:
    manifest = write(tmp_path, image, STUBBORN)
    status, err = finish(launch(tmp_path, manifest, "--timeout", "2", "--grace-period", "2"))
    assert status == 124, err
    assert "ended  main exit 137: SIGKILL by kubelet-emu, grace of 2 s was over" in err
    assert left(engine, manifest) == []


def test_nobody_reads_the_logs(engine: docker.DockerClient, image: str, tmp_path: Path) -> None:
    manifest = write(tmp_path, image, "trap 'exit 0' TERM; while :; do echo up; sleep 1; done")
    process = launch(tmp_path, manifest)
    begun(process)
    assert process.stdout is not None
    process.stdout.close()
    process.stdout = None
    status, err = finish(process)
    assert "nobody reads the output any more" in err
    assert status == 0, err
    assert left(engine, manifest) == []


def test_a_long_log_is_shown_to_its_end(engine: docker.DockerClient, image: str, tmp_path: Path) -> None:
    script = "yes x | tr -d '\\n' | head -c 5000000; echo; seq 20000"
    manifest = write(tmp_path, image, script.replace("\\", "\\\\"))
    manifest.write_text(manifest.read_text().replace("spec:", "spec:\n  restartPolicy: Never"))
    process = launch(tmp_path, manifest)
    out, err = process.communicate(timeout=LIMIT)
    assert process.returncode == 0, err
    first, *rest = [line.split(" ", 3)[3] for line in out.splitlines()]
    assert first.startswith("xxxx")
    assert rest == [str(number) for number in range(1, 20001)]


def test_a_reader_who_sleeps_holds_up_no_stop(engine: docker.DockerClient, image: str, tmp_path: Path) -> None:
    manifest = write(tmp_path, image, "trap 'exit 0' TERM; seq 5000; while :; do sleep 1; done")
    process = launch(tmp_path, manifest, "--log", str(tmp_path / "log"))
    assert process.stderr is not None
    err = ""
    for line in process.stderr:
        err += line
        if line.endswith(" is ready\n"):
            process.send_signal(signal.SIGINT)
        if line.startswith("everything has ended; waiting for whoever reads stdout"):
            break
    assert "nobody killed" in err
    assert left(engine, manifest) == []
    out, _ = process.communicate(timeout=LIMIT)
    assert process.returncode == 0
    shown = [line.split(" ", 3)[3] for line in out.splitlines()]
    assert shown == [str(number) for number in range(1, 5001)]
    assert (tmp_path / "log").read_text().count('"kind":"log"') == 5000


def is_clean(engine: docker.DockerClient) -> bool:
    """Tell whether our own image for sandboxes is gone, or somebody else works with it at this moment."""
    images = engine.api.images(all=True, filters={"label": IMAGE_LABEL})
    return not images or bool(engine.api.containers(all=True, filters={"label": naming.INSTANCE_LABEL}))


async def _eventually(holds: Callable[[], bool]) -> None:
    with trio.fail_after(LIMIT):
        while not holds():  # noqa: ASYNC110 - another process
            await trio.sleep(0.05)


def eventually(holds: Callable[[], bool]) -> None:
    """Wait until something holds: other tests use the engine at the same time."""
    trio.run(_eventually, holds)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP], ids=lambda number: number.name)
def test_a_drill_that_a_signal_ends_leaves_nothing(
    engine: docker.DockerClient, image: str, tmp_path: Path, number: signal.Signals
) -> None:
    manifest = write(tmp_path, image, STUBBORN)
    process = subprocess.Popen(
        [sys.executable, "-m", "kubelet_emu", "drill", "--runtime", "docker", str(manifest)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    eventually(lambda: process.poll() is not None or any("_main_" in name for name in left(engine, manifest)))
    process.send_signal(number)
    out, err = process.communicate(timeout=LIMIT)
    assert (process.returncode, out, err) == (130, "", "interrupted\n")
    assert left(engine, manifest) == []
    eventually(lambda: is_clean(engine))


def test_a_node_in_a_program_leaves_nothing(engine: docker.DockerClient, image: str, tmp_path: Path) -> None:
    manifest = write(tmp_path, image, POLITE)
    with kubelet_emu.node(runtime="docker") as node:
        node.run(manifest).wait_for("Ready")
        assert left(engine, manifest) != []
    assert left(engine, manifest) == []
    eventually(lambda: is_clean(engine))
