"""`run --runtime simulated`: whole runs in virtual time, decided by the seed."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
import trio
from click.testing import CliRunner
from trio.testing import MockClock

from kubelet_emu.cli.failures import SpinError, explain
from kubelet_emu.cli.main import main
from kubelet_emu.cli.simulation import SpinWatch

if TYPE_CHECKING:
    from pathlib import Path

    from click.testing import Result

CRASHING = """
apiVersion: v1
kind: Pod
metadata: {name: crash}
spec:
  containers:
  - {name: main, image: busybox, command: [sh, -c, "echo up; sleep 1; exit 3"]}
"""
DONE = """
apiVersion: v1
kind: Pod
metadata: {name: once}
spec:
  restartPolicy: Never
  containers:
  - {name: main, image: busybox, command: [sh, -c, "echo up; sleep 2"]}
"""
ENDLESS = """
apiVersion: v1
kind: Pod
metadata: {name: app}
spec:
  containers:
  - {name: main, image: example.com/app:1}
"""
COLLIDING = """
apiVersion: batch/v1
kind: Job
metadata: {name: j}
spec:
  parallelism: 2
  completions: 3
  template:
    spec:
      restartPolicy: OnFailure
      initContainers:
      - name: side
        image: example.com/side:1
        restartPolicy: Always
        startupProbe: {httpGet: {port: 80}, periodSeconds: 1}
      containers:
      - {name: a, image: busybox, command: [sh, -c, "echo a; sleep 2; exit $((RANDOM % 2))"]}
      - {name: b, image: example.com/b:1, readinessProbe: {exec: {command: [check]}, periodSeconds: 1}}
---
""" + "---".join(text.replace("name: crash", f"name: crash-{n}") for n in range(3) for text in [CRASHING])


def simulate(folder: Path, manifest: str, *options: str) -> Result:
    """Run a manifest in virtual time."""
    file = folder / "manifest.yaml"
    file.write_text(manifest)
    command = ["run", "--runtime", "simulated", "--root-dir", str(folder / "state"), *options, str(file)]
    return CliRunner().invoke(main, command)


def trace_of(folder: Path, manifest: str, *options: str) -> list[dict[str, object]]:
    """Return the trace of a simulated run."""
    trace = folder / "trace.jsonl"
    simulate(folder, manifest, "--trace", str(trace), *options)
    return [json.loads(line) for line in trace.read_text().splitlines()]


def test_half_an_hour_of_crash_loop_has_the_kubelets_delays(tmp_path: Path) -> None:
    records = trace_of(tmp_path, CRASHING, "--until", "1800", "--timing", "fast", "--seed", "1")
    exits = [r["t"] for r in records if r["kind"] == "run" and r["what"] == "exit"]
    starts = [r["t"] for r in records if r["kind"] == "run" and r["what"] == "start"]
    gaps = [round(start - end) for end, start in zip(exits, starts[1:], strict=False)]
    assert gaps[:8] == [0, 10, 20, 40, 80, 160, 300, 300]


def test_the_same_seed_gives_the_same_log_whatever_order_tasks_run_in(tmp_path: Path) -> None:
    """Trio shuffles what is ready on every tick: each of the fifty runs has a schedule of its own."""
    log = tmp_path / "log"
    logs = set()
    for _ in range(50):
        simulate(tmp_path, COLLIDING, "--until", "12", "--seed", "7", "--log", str(log))
        logs.add(log.read_bytes())
    assert len(logs) == 1


def test_another_seed_gives_another_log(tmp_path: Path) -> None:
    log = tmp_path / "log"
    logs = set()
    for seed in ("1", "2"):
        simulate(tmp_path, COLLIDING, "--until", "20", "--seed", seed, "--log", str(log))
        logs.add(log.read_bytes())
    assert len(logs) == 2


def test_a_pod_that_ends_ends_the_run_with_status_0(tmp_path: Path) -> None:
    result = simulate(tmp_path, DONE)
    assert (result.exit_code, "once  Succeeded" in result.stderr) == (0, True)


def test_nothing_is_left_on_disk(tmp_path: Path) -> None:
    simulate(tmp_path, DONE)
    assert not (tmp_path / "state").exists()


def test_until_deletes_gracefully_and_says_so(tmp_path: Path) -> None:
    result = simulate(tmp_path, ENDLESS, "--until", "60")
    assert result.exit_code == 0
    assert "60 s of virtual time are over" in result.stderr


@pytest.mark.parametrize(("on_term", "code"), [("0", 0), ("143", 143), ("ignore", 137)])
def test_a_program_that_is_no_script_ends_as_told(tmp_path: Path, on_term: str, code: int) -> None:
    options = ("--delete-when", "ready+5", "--grace-period", "3", "--sim-on-term", on_term)
    records = trace_of(tmp_path, ENDLESS, *options)
    assert [r["code"] for r in records if r["kind"] == "run" and r["what"] == "exit"] == [code]


def test_another_word_for_what_term_does_is_refused(tmp_path: Path) -> None:
    assert simulate(tmp_path, ENDLESS, "--sim-on-term", "perhaps").exit_code == 2


def test_a_task_that_never_waits_is_named_instead_of_freezing_time() -> None:
    watch = SpinWatch(most_steps=1000)

    async def spin() -> None:
        while True:
            await trio.lowlevel.checkpoint()

    async def run() -> None:
        trio.lowlevel.add_instrument(watch)
        with watch.scope:
            await spin()
        trio.lowlevel.remove_instrument(watch)

    trio.run(run, clock=MockClock(autojump_threshold=0))
    assert "run" in watch.spinning
    assert explain(SpinError("virtual time stands still")).text == "error: virtual time stands still"


def test_two_objects_of_one_name_are_a_bad_manifest(tmp_path: Path) -> None:
    result = simulate(tmp_path, DONE + "---" + DONE)
    assert result.exit_code == 2
    assert "Duplicate value: Pod 'once' is also in " in result.stderr
