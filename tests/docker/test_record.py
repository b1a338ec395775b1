"""A run on the engine, recorded, and then simulated: the same moments of the lifecycle in the same order."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from itertools import chain, groupby
from typing import TYPE_CHECKING

import images
import pytest

from kubelet_emu.scenarios.sequences import Thread, sequences
from kubelet_emu.simulation.reading import read_file

if TYPE_CHECKING:
    from pathlib import Path

    from docker import APIClient

pytestmark = pytest.mark.docker

LIMIT_SECONDS = 120
IMAGE = f"image: {images.BUSYBOX}"

SIDECAR_JOB = f"""
apiVersion: batch/v1
kind: Job
metadata: {{name: report}}
spec:
  template:
    spec:
      restartPolicy: Never
      initContainers:
      - {{name: prepare, {IMAGE}, command: [sh, -c, "echo preparing; sleep 1"]}}
      - name: helper
        {IMAGE}
        restartPolicy: Always
        command: [sh, -c, "trap 'echo bye; sleep 1; exit 0' TERM; touch /tmp/up; while :; do sleep 0.1; done"]
        startupProbe: {{exec: {{command: [test, -f, /tmp/up]}}, periodSeconds: 1}}
        lifecycle: {{preStop: {{exec: {{command: [sh, -c, "sleep 1"]}}}}}}
      containers:
      - {{name: work, {IMAGE}, command: [sh, -c, "echo working; sleep 2; echo done >&2"]}}
"""
CRASH_LOOP = f"""
apiVersion: v1
kind: Pod
metadata: {{name: crash}}
spec:
  containers:
  - name: main
    {IMAGE}
    command: [sh, -c, "n=$(cat /d/n || echo 0); echo $((n + 1)) > /d/n; echo run $n; sleep 1; exit $((n + 3))"]
    volumeMounts: [{{name: d, mountPath: /d}}]
  volumes: [{{name: d, emptyDir: {{}}}}]
"""
SLOW_PROBE = f"""
apiVersion: v1
kind: Pod
metadata: {{name: slow}}
spec:
  terminationGracePeriodSeconds: 5
  containers:
  - name: web
    {IMAGE}
    ports: [{{name: http, containerPort: 8080}}]
    command: [sh, -c, "trap 'exit 0' TERM; mkdir /w; sleep 3; httpd -p 8080 -h /w; sleep 4; echo ok > /w/ready;
      while :; do sleep 0.1; done"]
    readinessProbe: {{httpGet: {{port: http, path: /ready}}, periodSeconds: 1}}
"""
DEAF = f"""
apiVersion: v1
kind: Pod
metadata: {{name: deaf}}
spec:
  terminationGracePeriodSeconds: 3
  containers:
  - {{name: deaf, {IMAGE}, command: [sh, -c, "trap '' TERM; echo up; while :; do sleep 0.5; done"]}}
  - {{name: polite, {IMAGE}, command: [sh, -c, "trap 'echo bye; exit 7' TERM; while :; do sleep 0.1; done"]}}
"""
MANIFESTS = [
    pytest.param(SIDECAR_JOB, (), 0, id="a Job with a sidecar"),
    pytest.param(CRASH_LOOP, ("--delete-when", "25"), 0, id="a crash loop"),
    pytest.param(SLOW_PROBE, ("--delete-when", "ready+3"), 0, id="a probe that fails, then succeeds"),
    pytest.param(DEAF, ("--delete-when", "ready+4"), 0, id="an ignored TERM"),
]


def emulate(folder: Path, *words: str) -> tuple[int, str]:
    """Run the command and return its exit status and stderr."""
    done = subprocess.run(
        [sys.executable, "-m", "kubelet_emu", *words],
        capture_output=True,
        text=True,
        check=False,
        timeout=LIMIT_SECONDS,
        env=os.environ.copy(),
        cwd=folder,
    )
    return done.returncode, done.stderr


def moments(trace: Path) -> tuple[list[str], list[str]]:
    """Return starts, exits and signals in order; and phases with readiness as they changed.

    Containers that are stopped together get their signals in any order.
    """
    records = [json.loads(line) for line in trace.read_text().splitlines()]
    runs = [entry.text for key, entries in sequences(records).items() if key.thread is Thread.RUNS for entry in entries]
    together = [sorted(part) if is_term else list(part) for is_term, part in groupby(runs, lambda t: "SIGTERM" in t)]
    runs = list(chain.from_iterable(together))
    seen = [f"{r['phase']} ready={r['conditions'].get('Ready')}" for r in records if r["kind"] == "status"]
    return runs, [now for before, now in zip(["", *seen], seen, strict=False) if before != now]


@pytest.mark.parametrize(("manifest", "options", "status"), MANIFESTS)
def test_a_recorded_run_is_simulated_alike(
    engine: APIClient, tmp_path: Path, manifest: str, options: tuple[str, ...], status: int
) -> None:
    (tmp_path / "m.yaml").write_text(manifest)
    common = ("--pull", "missing", *options, "m.yaml")
    recorded = emulate(tmp_path, "record", "--root-dir", "root", "--trace", "docker.jsonl", *common)
    assert (recorded[0], read_file(tmp_path / "m.simulate.yaml").problems) == (status, ()), recorded[1]
    simulated = emulate(tmp_path, "run", "--runtime", "simulated", "--seed", "1", "--trace", "simulated.jsonl", *common)
    assert simulated[0] == status, simulated[1]
    assert "warning" not in simulated[1]
    assert moments(tmp_path / "simulated.jsonl") == moments(tmp_path / "docker.jsonl")


def test_a_file_that_exists_is_kept(engine: APIClient, tmp_path: Path) -> None:
    (tmp_path / "m.yaml").write_text(DEAF)
    (tmp_path / "m.simulate.yaml").write_text("mine")
    status, err = emulate(tmp_path, "record", "m.yaml")
    assert (status, "m.simulate.yaml exists already: --force overwrites it" in err) == (2, True)
    assert (tmp_path / "m.simulate.yaml").read_text() == "mine"
