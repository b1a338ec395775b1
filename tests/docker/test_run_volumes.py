"""Volumes of every kind of source through the command, on a real engine."""

from __future__ import annotations

from typing import TYPE_CHECKING

import images
import pytest
from command_line import containers_of, run, write_pod

if TYPE_CHECKING:
    from pathlib import Path

    from docker import APIClient

pytestmark = pytest.mark.docker

OBJECTS = """\
apiVersion: v1
kind: ConfigMap
metadata: {name: settings}
data: {colour: green, size: "7"}
---
apiVersion: v1
kind: Secret
metadata: {name: keys}
stringData: {token: s3cret}
"""
POD = """\
---
apiVersion: v1
kind: Pod
metadata:
  name: volumes
  labels: {tier: web}
spec:
  restartPolicy: Never
  volumes:
  - {name: settings, configMap: {name: settings, items: [{key: colour, path: deep/colour}]}}
  - {name: keys, secret: {secretName: keys, defaultMode: 0400}}
  - {name: scratch, emptyDir: {}}
  - {name: memory, emptyDir: {medium: Memory, sizeLimit: 1Mi}}
  - {name: facts, downwardAPI: {items: [{path: labels, fieldRef: {fieldPath: metadata.labels}}]}}
  - {name: files, hostPath: {path: FOLDER, type: Directory}}
  - name: access
    projected:
      sources:
      - serviceAccountToken: {path: token}
      - configMap: {name: kube-root-ca.crt}
  initContainers:
  - name: writer
    image: IMAGE
    command: [sh, -c, "echo passed-on > /scratch/note"]
    volumeMounts: [{name: scratch, mountPath: /scratch}]
  containers:
  - name: reader
    image: IMAGE
    command:
    - sh
    - -c
    - |
      cat /settings/deep/colour; echo
      ls /settings
      cat /keys/token; echo
      stat -L -c '%a' /keys/token
      cat /scratch/note
      stat -f -c %T /memory
      dd if=/dev/zero of=/memory/big bs=1M count=2 2>/dev/null || echo full
      cat /facts/labels; echo
      cat /files/page
      touch /files/new 2>/dev/null || echo read-only
      stat -L -c '%a %u' /access/token
      cut -d. -f3 /access/token
      head -n1 /access/ca.crt
    volumeMounts:
    - {name: settings, mountPath: /settings}
    - {name: keys, mountPath: /keys}
    - {name: scratch, mountPath: /scratch}
    - {name: memory, mountPath: /memory}
    - {name: facts, mountPath: /facts}
    - {name: files, mountPath: /files, readOnly: true}
    - {name: access, mountPath: /access}
"""


@pytest.fixture
def shared(tmp_path: Path) -> Path:
    """Give a folder of the host with one file."""
    folder = tmp_path / "elsewhere" / "shared"
    folder.mkdir(parents=True)
    (folder / "page").write_text("page of the host\n")
    return folder


@pytest.fixture
def manifest(tmp_path: Path, shared: Path) -> Path:
    """Give the pod with its objects, in a folder that the shared one is not below."""
    folder = tmp_path / "manifests"
    folder.mkdir()
    return write_pod(folder, "volumes", (OBJECTS + POD).replace("IMAGE", images.BUSYBOX).replace("FOLDER", str(shared)))


def test_volumes_hold_what_their_sources_say(engine: APIClient, tmp_path: Path, manifest: Path, shared: Path) -> None:
    outcome = run(tmp_path, manifest, "--pull", "missing", "--allow-host-path", str(shared))
    assert outcome.status == 0, outcome.err
    assert outcome.lines("reader") == [
        "green",
        "deep",
        "s3cret",
        "400",
        "passed-on",
        "tmpfs",
        "full",
        'tier="web"',
        "page of the host",
        "read-only",
        "644 0",
        "kubelet-emu-stand-in-token-that-no-server-accepts",
        "-----BEGIN CERTIFICATE-----",
    ]
    assert outcome.failures(["phase == Succeeded", "writer exited(0) < reader started"]) == []
    assert containers_of(engine, "volumes") == []


def test_a_host_path_that_was_not_allowed_is_refused_before_anything_starts(tmp_path: Path, manifest: Path) -> None:
    outcome = run(tmp_path, manifest, "--pull", "missing")
    assert outcome.status == 2
    assert "volumes.yaml:24:3" in outcome.err
    assert "--allow-host-path" in outcome.err
    assert outcome.records == ()
