"""The world of scenarios on an engine: what it has and hasn't, what it prepares, and that it leaves nothing."""

from __future__ import annotations

import secrets
import signal
import subprocess
import sys
from contextlib import suppress
from typing import TYPE_CHECKING

import images
import pytest
from docker.errors import APIError
from heard import Heard

from kubelet_emu.cli.suite import given_images
from kubelet_emu.cli.suite.docker import open_docker_world
from kubelet_emu.cli.suite.given_images import GivenImages
from kubelet_emu.cli.suite.options import SuiteOptions
from kubelet_emu.cli.suite.places import shared_world
from kubelet_emu.images.mirrors import Mirror
from kubelet_emu.scenarios.scenario_file import load_scenario
from runtime.docker import naming

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from docker import APIClient
    from registry import Registry

    from kubelet_emu.scenarios.runner import Outcome
    from runtime.docker import DockerRuntime

pytestmark = pytest.mark.docker

SCENARIO = """\
about: {name}
needs: [{needs}]
end: {end}
timeout: {timeout}
expect: ['{expect}']
steps: [{steps}]
manifest: |
  apiVersion: v1
  kind: Pod
  metadata: {{name: p}}
  spec:
    restartPolicy: Never
    terminationGracePeriodSeconds: 1
    containers:
    - {{name: a, image: "{image}", imagePullPolicy: IfNotPresent, command: [sh, -c, '{script}']}}
"""
DEFAULTS = {
    "needs": "",
    "end": "pod terminal",
    "timeout": "60",
    "expect": "exitcode(a) == 0",
    "steps": "",
    "image": images.BUSYBOX,
    "script": "exit 0",
}


def write(folder: Path, name: str, **changes: str) -> Path:
    """Write a scenario of one pod and return its file."""
    path = folder / f"{name}.scenario.yaml"
    path.write_text(SCENARIO.format(name=name, **DEFAULTS | changes))
    return path


def run(folder: Path, *paths: Path, mirrors: tuple[Mirror, ...] = ()) -> Mapping[str, Outcome]:
    """Run scenarios at once and return what became of each."""
    options = SuiteOptions(paths=(), runtime="docker", root_dir=folder / "root", registry_mirrors=mirrors)
    heard = Heard()
    shared_world(lambda: open_docker_world(options))([load_scenario(path) for path in paths], 8, heard)
    assert list((folder / "root" / "instances").iterdir()) == []
    return heard.outcomes


def objects_of(engine: APIClient, pid: int) -> list[str]:
    """Return the containers and volumes that a process owns."""
    wanted = {"label": f"{naming.PID_LABEL}={pid}"}
    containers = [item["Names"][0] for item in engine.containers(all=True, filters=wanted)]
    return containers + [item["Name"] for item in engine.volumes(filters=wanted)["Volumes"] or ()]


def test_what_the_engine_has_not_is_said(engine: APIClient, tmp_path: Path) -> None:
    outcomes = run(
        tmp_path,
        write(tmp_path, "unknown", needs="wings"),
        write(tmp_path, "image", needs="image kemu/nobody-made-this"),
        write(tmp_path, "folder", needs="empty /home/somebody"),
    )
    assert {name: (outcome.skipped, outcome.error) for name, outcome in outcomes.items()} == {
        "unknown": ("needs 'wings', which is not known here", ""),
        "image": ("needs the image 127.0.0.1:5000/kemu/nobody-made-this:1, which can't be had", ""),
        "folder": ("", "needs: '/home/somebody' is not emptied: only folders /tmp/kemu-NAME are"),
    }


def test_scenarios_at_once_keep_apart(engine: APIClient, tmp_path: Path) -> None:
    waiting = {"script": "sleep 2; exit 0", "expect": "gap(a started, a exited(0)) in [1.9, 30]"}
    outcomes = run(
        tmp_path,
        *(write(tmp_path, f"same-{n}", **waiting) for n in range(3)),
        write(tmp_path, "late", script="sleep 100", timeout="3", expect="never a exited"),
        write(tmp_path, "no-pod", steps="{at: 0.5, do: {kill: {pod: q, container: a}}}", script="sleep 100"),
    )
    held = {name: outcome.passed for name, outcome in outcomes.items()}
    assert held == {"same-0": True, "same-1": True, "same-2": True, "late": True, "no-pod": False}
    assert "no pod 'q'" in outcomes["no-pod"].error


@pytest.fixture
def absent(engine: APIClient, registry: Registry) -> Iterator[str]:
    """Give the name of an image that is in a registry, and on the node, too."""
    name = f"{registry.address}/kemu/absent-{secrets.token_hex(4)}:1"
    images.push_as(engine, images.BUSYBOX, name)
    engine.tag(images.BUSYBOX, name.rpartition(":")[0], "1")
    yield name
    with suppress(APIError):
        engine.remove_image(name)


def test_an_absent_image_is_absent_before_and_afterwards(engine: APIClient, tmp_path: Path, absent: str) -> None:
    outcomes = run(tmp_path, write(tmp_path, "s", image=absent, expect="a event(Pulling) < a event(Pulled)"))
    assert outcomes["s"].passed, outcomes["s"]
    assert engine.images(name=absent) == []


async def test_an_image_that_can_be_had_nowhere_is_made_and_taken_away_again(
    runtime: DockerRuntime, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = f"127.0.0.1:1/kemu/test-{secrets.token_hex(4)}:1"
    monkeypatch.setattr(given_images, "_MADE", {name: {"etc/kemu-image": b"7"}})
    given = GivenImages(runtime=runtime)
    await given.on_node(name)
    assert await given.has(name)
    await given.remove_made()
    assert await runtime.image_status(name) is None


async def test_what_nobody_makes_is_said(runtime: DockerRuntime) -> None:
    notes: list[str] = []
    await GivenImages(runtime=runtime, on_note=notes.append).on_node(name := "127.0.0.1:1/kemu/test-none:1")
    assert len(notes) == 1
    assert notes[0].startswith(f"{name} should be on the node, and can't be had: failed to pull and unpack image")


@pytest.mark.parametrize("policy", ["Always", "IfNotPresent"])
def test_a_registry_gets_what_a_scenario_pulls(
    engine: APIClient, tmp_path: Path, registry: Registry, policy: str
) -> None:
    name = f"absent-{secrets.token_hex(4)}:1" if policy == "IfNotPresent" else "busybox:2"
    path = write(tmp_path, "s", image=f"127.0.0.1:5000/kemu/{name}", expect="a event(Pulling) < a event(Pulled)")
    path.write_text(path.read_text().replace("imagePullPolicy: IfNotPresent", f"imagePullPolicy: {policy}"))
    try:
        outcomes = run(tmp_path, path, mirrors=(Mirror(host="127.0.0.1:5000", target=registry.address),))
        assert outcomes["s"].passed, outcomes["s"]
    finally:
        if engine.images(name=f"{registry.address}/kemu/{name}"):
            engine.remove_image(f"{registry.address}/kemu/{name}")


def test_without_a_registry_what_needs_one_is_skipped(engine: APIClient, tmp_path: Path) -> None:
    absent = write(tmp_path, "absent", image="127.0.0.1:5000/kemu/absent-s:1")
    fresh = write(tmp_path, "fresh", image="127.0.0.1:5000/kemu/f:1")
    fresh.write_text("images: {fresh: {f: 1}}\n" + fresh.read_text())
    outcomes = run(
        tmp_path, absent, fresh, write(tmp_path, "none"), mirrors=(Mirror(host="127.0.0.1:5000", target="127.0.0.1:1"),)
    )
    reasons = {name: outcome.skipped.partition(": ")[0] for name, outcome in outcomes.items()}
    needed = "needs a registry at 127.0.0.1:5000 that takes images"
    assert reasons == {"absent": needed, "fresh": needed, "none": ""}
    assert engine.images(name="127.0.0.1:1/kemu/f:1") == []


RUN = """\
import sys
from pathlib import Path
from kubelet_emu.cli.suite.docker import open_docker_world
from kubelet_emu.cli.suite.options import SuiteOptions
from kubelet_emu.cli.suite.places import shared_world
from kubelet_emu.scenarios.scenario_file import load_scenario
sys.path.insert(0, sys.argv[1])
from heard import Heard
options = SuiteOptions(paths=(), runtime="docker", root_dir=Path(sys.argv[2]))
shared_world(lambda: open_docker_world(options))([load_scenario(Path(sys.argv[3]))], 1, Heard())
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=["SIGINT", "SIGTERM"])
def test_a_signal_ends_it_and_leaves_nothing(engine: APIClient, tmp_path: Path, number: signal.Signals) -> None:
    path = write(tmp_path, "s", script='trap "" TERM; sleep 100')
    words = [sys.executable, "-c", RUN, "tests/docker", str(tmp_path), str(path)]
    with subprocess.Popen(words, stderr=subprocess.PIPE, text=True) as process:
        for _ in engine.events(filters={"event": "start", "label": f"{naming.PID_LABEL}={process.pid}"}, decode=True):
            if len(objects_of(engine, process.pid)) == 2:
                break
        process.send_signal(number)
        _, err = process.communicate(timeout=60)
    assert "KeyboardInterrupt" in err
    assert objects_of(engine, process.pid) == []
    assert list((tmp_path / "instances").iterdir()) == []
