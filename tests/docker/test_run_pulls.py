"""How many images are pulled at once, seen at a registry that holds pulls at a gate until they are let in."""

from __future__ import annotations

import secrets
import signal
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import images
import pytest
from command_line import FIXTURES, LIMIT_SECONDS, containers_of, run, write_pod
from faulty_registry import Fault, FaultyRegistry, Stage, Trouble

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from command_line import Outcome
    from docker import APIClient
    from registry import Registry

pytestmark = pytest.mark.docker

PODS = 5
POD = """\
---
apiVersion: v1
kind: Pod
metadata: {{name: pulled-{number}}}
spec:
  restartPolicy: Never
  containers:
  - name: main
    image: {image}
    command: ["true"]
"""
CONFIGURATION = "apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n"
PARALLEL = f"{CONFIGURATION}serializeImagePulls: false\n"
SLIDE = (FIXTURES / "slides" / "slide-05-kubelet-config.yaml").read_text()


@pytest.fixture
def gate(registry: Registry) -> Iterator[FaultyRegistry]:
    """Give the open registry behind a gate."""
    with FaultyRegistry(registry.port, is_gated=True) as opened:
        yield opened


@pytest.fixture
def pulled(engine: APIClient, registry: Registry, gate: FaultyRegistry) -> Iterator[list[str]]:
    """Give the names of images behind the gate; they are taken off the engine again."""
    names = []
    for _ in range(PODS):
        name = f"{registry.address}/kemu/test-{secrets.token_hex(4)}:1"
        images.make_image(engine, name, extra={"etc/mark": secrets.token_bytes(100)})
        for message in engine.push(name, stream=True, decode=True):
            assert "error" not in message, message
        engine.remove_image(name)
        names.append(name.replace(registry.address, gate.address))
    yield names
    for name in names:
        if engine.images(name=name):
            engine.remove_image(name, force=True)


def wait_until_told(trace: Path, word: str, times: int) -> None:
    """Wait until a run's trace has a word so often: sandboxes take their time."""
    for _ in range(1000):
        if trace.exists() and trace.read_text().count(word) >= times:
            return
        threading.Event().wait(0.05)
    raise AssertionError(f"{word} was not told {times} times")


def events(outcome: Outcome, reason: str) -> list[str]:
    """Return which pods had an event, in order."""
    return [str(record["pod"]) for record in outcome.records if record.get("reason") == reason]


@pytest.mark.parametrize(
    ("configuration", "rounds"),
    [
        (None, [1, 1, 1, 1, 1]),
        (f"{PARALLEL}maxParallelImagePulls: 2\n", [2, 2, 1]),
        (f"{CONFIGURATION}maxParallelImagePulls: 3\n", [3, 2]),
        (PARALLEL, [5]),
        (SLIDE, [2, 2, 1]),
    ],
    ids=["one by one unless told otherwise", "two", "three", "no limit", "the slide's two lines"],
)
def test_n_pulls_take_n_over_the_bound_rounds_in_the_order_of_arrival(
    tmp_path: Path, pulled: list[str], gate: FaultyRegistry, configuration: str | None, rounds: list[int]
) -> None:
    text = "".join(POD.format(number=number, image=image) for number, image in enumerate(pulled))
    words: tuple[str, ...] = ()
    if configuration is not None:
        (tmp_path / "kubelet.yaml").write_text(configuration)
        words = ("--config", str(tmp_path / "kubelet.yaml"))
    with ThreadPoolExecutor() as threads:
        running = threads.submit(run, tmp_path, write_pod(tmp_path, "pods", text), *words)
        wait_until_told(tmp_path / "trace.jsonl", '"Pulling"', PODS)
        seen = [gate.let_in(count) for count in rounds]
        outcome = running.result()
    assert outcome.status == 0, outcome.err
    assert [len(names) for names in seen] == rounds, "the bound is reached while work waits, and never passed"
    pods = {image.partition("/")[2].removesuffix(":1"): f"pulled-{number}" for number, image in enumerate(pulled)}
    arrived = [sorted(pods[name] for name in names) for names in seen]
    queued = events(outcome, "Pulling")
    ends = [sum(rounds[: index + 1]) for index in range(len(rounds))]
    assert arrived == [sorted(queued[end - size : end]) for size, end in zip(rounds, ends, strict=True)]
    told = [str(record.get("reason")) for record in outcome.records if record.get("reason") in {"Pulling", "Pulled"}]
    assert told == ["Pulling"] * PODS + ["Pulled"] * PODS, "Pulling is told before the queue"


def test_a_pod_deleted_during_its_pull_starts_before_it_stops(
    tmp_path: Path, pulled: list[str], gate: FaultyRegistry
) -> None:
    command = """["sh", "-c", "trap 'exit 0' TERM; sleep 60 & wait"]"""
    text = POD.format(number=0, image=pulled[0]).replace('["true"]', command)
    with ThreadPoolExecutor() as threads:
        running = threads.submit(run, tmp_path, write_pod(tmp_path, "pods", text), "--delete-when", "1")
        wait_until_told(tmp_path / "trace.jsonl", '"deletionTimestamp"', 1)
        gate.let_in(1)
        outcome = running.result()
    told = [record["reason"] for record in outcome.records if record["kind"] == "event"]
    assert told == ["Scheduled", "Pulling", "Pulled", "Created", "Started", "Killing"]


@pytest.mark.parametrize("pods", [1, 3], ids=["one that hangs", "and two that queue behind it"])
def test_a_second_ctrl_c_gives_up_pulls_that_hang(
    tmp_path: Path, engine: APIClient, registry: Registry, pods: int
) -> None:
    with FaultyRegistry(registry.port, troubles=[Trouble(Stage.MANIFEST, Fault.HANG)]) as hanging:
        image = f"{hanging.address}/kemu/test-hanging:1"
        text = "".join(POD.format(number=number, image=image) for number in range(pods))
        command = [sys.executable, "-m", "kubelet_emu", "run", str(write_pod(tmp_path, "pods", text))]
        with subprocess.Popen(
            [*command, "--root-dir", str(tmp_path / "root"), "--trace", str(tmp_path / "trace.jsonl")],
            stderr=subprocess.PIPE,
            text=True,
        ) as process:
            wait_until_told(tmp_path / "trace.jsonl", '"Pulling"', pods)
            hanging.wait_for_request("/manifests/")
            process.send_signal(signal.SIGINT)
            wait_until_told(tmp_path / "trace.jsonl", '"deletionTimestamp"', pods)
            process.send_signal(signal.SIGINT)
            _, err = process.communicate(timeout=LIMIT_SECONDS)
    assert process.returncode == 130, err
    assert "nothing has happened" not in err, "nobody waits for the pull"
    assert list((tmp_path / "root" / "instances").iterdir()) == []
    assert [containers_of(engine, f"pulled-{number}") for number in range(pods)] == [[]] * pods


def test_two_pods_that_want_one_image_both_pull_it(tmp_path: Path, pulled: list[str], gate: FaultyRegistry) -> None:
    text = "".join(POD.format(number=number, image=pulled[0]) for number in range(2))
    with ThreadPoolExecutor() as threads:
        running = threads.submit(run, tmp_path, write_pod(tmp_path, "pods", text))
        gate.let_in(1)
        outcome = running.result()
    assert outcome.status == 0, outcome.err
    told = [str(r["message"]) for r in outcome.records if r.get("reason") == "Pulled"]
    assert [message.startswith("Successfully pulled image") for message in told] == [True, True]
