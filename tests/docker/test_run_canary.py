"""A secret's value on every way that leads out of a container: nothing that is recorded or told may have it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import images
import pytest
from command_line import run, write_pod

from runtime.docker.convert import parse_time

if TYPE_CHECKING:
    from pathlib import Path

    from docker import APIClient

pytestmark = pytest.mark.docker

CANARIES = ("CANARY-5up3r", "CANARY-line", "CANARY-nul")
MANIFEST = r"""
apiVersion: v1
kind: Secret
metadata: {name: keys}
stringData:
  token: "CANARY-5up3r\"quoted/../up"
  lines: "CANARY-line-1\nCANARY-line-2\n"
  nul: "CANARY-nul\0"
---
apiVersion: v1
kind: Pod
metadata: {name: canary}
spec:
  restartPolicy: Never
  terminationGracePeriodSeconds: 1
  volumes:
  - {name: files, secret: {secretName: keys}}
  - {name: merged, projected: {sources: [{secret: {name: keys}}]}}
  containers:
  - name: hook
    image: IMAGE
    envFrom: [{secretRef: {name: keys}}]
    env: [{name: nul, value: ""}]
    command: [sh, -c, "sleep 100"]
    lifecycle: {postStart: {exec: {command: [sh, -c, 'echo "$token"; echo "$lines"; exit 1']}}}
  - name: command
    image: IMAGE
    env: &env [{name: T, valueFrom: {secretKeyRef: {name: keys, key: token}}}]
    command: ["$(T)"]
  - name: path
    image: IMAGE
    env: *env
    command: ["true"]
    volumeMounts: [{name: files, mountPath: /x, subPathExpr: "$(T)/x"}]
  - name: nul
    image: IMAGE
    env: [{name: T, valueFrom: {secretKeyRef: {name: keys, key: nul}}}]
    command: ["true"]
  - name: log
    image: IMAGE
    terminationMessagePolicy: FallbackToLogsOnError
    volumeMounts: [{name: files, mountPath: /one, subPath: token}]
    command: [sh, -c, "cat /one; exit 3"]
  - name: main
    image: IMAGE
    env: *env
    volumeMounts: [{name: files, mountPath: /files}, {name: merged, mountPath: /merged}]
    command: [sh, -c, 'until [ -f /tmp/probed ]; do sleep 0.1; done; printf %s "$T" > /dev/termination-log; exit 4']
    readinessProbe:
      periodSeconds: 1
      exec: {command: [sh, -c, "cat /files/token /merged/lines; touch /tmp/probed; exit 1"]}
    lifecycle: {preStop: {exec: {command: [sh, -c, 'echo "$T"; exit 1']}}}
"""
TOLD = {
    "hook": "PostStartHookError",
    "command": "StartError",
    "log": "terminated:Error:3",
    "main": "terminated:Error:4",
}


def engine_seconds(engine: APIClient) -> int:
    """Return the engine's own time."""
    now = parse_time(engine.info()["SystemTime"])
    assert now is not None
    return int(now.timestamp())


@pytest.mark.parametrize("runtime", ["docker", "simulated"])
def test_no_record_text_or_label_has_the_value(engine: APIClient, tmp_path: Path, runtime: str) -> None:
    manifest, log = write_pod(tmp_path, "canary", MANIFEST.replace("IMAGE", images.BUSYBOX)), tmp_path / "log"
    begun = engine_seconds(engine)
    words = ("--runtime", runtime, "--pull", "missing", "--log", str(log), "--delete-when", "main exited")
    outcome = run(tmp_path, manifest, *words)
    assert outcome.status == 1, outcome.err
    status = [record for record in outcome.records if record["kind"] == "status"][-1]
    states = {name: each["state"] for name, each in status["containers"].items()}  # type: ignore[attr-defined]
    assert states["command"] == "terminated:StartError:128"
    assert (states["log"], states["main"]) == ("terminated:Error:3", "terminated:Error:4")
    told = [record for record in outcome.records if record["kind"] != "log"]
    events = [event["Actor"] for event in engine.events(since=begun, until=engine_seconds(engine) + 1, decode=True)]
    labels = [actor["Attributes"] for actor in events if "_canary_" in actor["Attributes"].get("name", "")]
    assert bool(labels) is (runtime == "docker")
    for text in (outcome.err, json.dumps(told), log.read_text(), json.dumps(labels)):
        assert [canary for canary in CANARIES if canary in text] == []
    for hidden in ("Readiness probe failed: ***", "provision SubPath `***/x`", 'exec: "***'):
        assert hidden in json.dumps(told).replace('\\"', '"')
    assert "CANARY-5up3r" in "".join(outcome.lines("log")), "what a container prints is its own matter"
