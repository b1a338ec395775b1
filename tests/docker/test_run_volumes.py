"""Volumes of every kind of source through the command, on a real engine."""

from __future__ import annotations

import os
import socket
import stat
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import images
import pytest
from command_line import containers_of, run, write_pod

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

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


@pytest.fixture
def host_folder() -> Iterator[Path]:
    """Give a folder with one thing of each kind, by a name that fits into a socket's address."""
    with tempfile.TemporaryDirectory(prefix="kemu-", dir="/tmp") as name, socket.socket(socket.AF_UNIX) as listener:
        folder = Path(name)
        (folder / "dir").mkdir(mode=0o750)
        (folder / "file").write_text("text\n")
        (folder / "link").symlink_to("dir")
        listener.bind(str(folder / "socket"))
        os.mknod(folder / "char", stat.S_IFCHR | 0o666, os.makedev(1, 3))
        os.mknod(folder / "block", stat.S_IFBLK | 0o600, os.makedev(7, 250))
        yield folder


LOOK = 'cd /v; for f in *; do stat -c "%n %F %a %u" $f; done; echo x > /v/char && echo writable'


def host_paths(name: str, folder: Path, wanted: Mapping[str, tuple[str, str]]) -> str:
    """Return a pod that shows what it gets at each volume, of which path and type are given."""
    volumes = "".join(
        f'  - {{name: {key}, hostPath: {{path: {folder}/{path}, type: "{kind}"}}}}\n'
        for key, (path, kind) in wanted.items()
    )
    mounts = "".join(f"    - {{name: {key}, mountPath: /v/{key}}}\n" for key in wanted)
    return (
        f"apiVersion: v1\nkind: Pod\nmetadata: {{name: {name}}}\nspec:\n  restartPolicy: Never\n  volumes:\n{volumes}"
        f"  containers:\n  - name: {name}\n    image: {images.BUSYBOX}\n    volumeMounts:\n{mounts}"
        f"    command: [sh, -c, {LOOK!r}]\n"
    )


def test_host_paths_are_what_their_type_says(tmp_path: Path, host_folder: Path) -> None:
    right = {
        "any": ("file", ""),
        "any-made": ("made/deep", ""),
        "block": ("block", "BlockDevice"),
        "char": ("char", "CharDevice"),
        "dir": ("link", "Directory"),
        "dir-made": ("new/deep", "DirectoryOrCreate"),
        "file": ("file", "File"),
        "file-made": ("new-file", "FileOrCreate"),
        "socket": ("socket", "Socket"),
    }
    wrong = {
        "block": ("char", "BlockDevice", "is not a block device"),
        "char": ("block", "CharDevice", "is not a character device"),
        "dir": ("file", "DirectoryOrCreate", "is not a directory"),
        "file": ("dir", "FileOrCreate", "is not a file"),
        "socket": ("none", "Socket", "is not a socket file"),
        "no-folder": ("none/f", "FileOrCreate", ""),
    }
    pods = (
        host_paths("right", host_folder, right),
        host_paths("wrong", host_folder, {key: row[:2] for key, row in wrong.items()}),
    )
    manifest = write_pod(tmp_path, "pods", "---\n".join(pods))
    words = ("--pull", "missing", "--allow-host-path", f"{host_folder}:rw", "--delete-when", "right exited+1")
    outcome = run(tmp_path, manifest, *words)
    assert outcome.lines("right") == [
        "any regular file 644 0",
        "any-made directory 755 0",
        "block block special file 600 0",
        "char character special file 644 0",
        "dir directory 750 0",
        "dir-made directory 755 0",
        "file regular file 644 0",
        "file-made regular empty file 644 0",
        "socket socket 755 0",
        "writable",
    ]
    failed = 'wrong FailedMount: MountVolume.SetUp failed for volume "{}" : '
    for key, (path, _, why) in wrong.items():
        if why:
            assert f"{failed.format(key)}hostPath type check failed: {host_folder}/{path} {why}" in outcome.err
    assert f"{failed.format('no-folder')}open {host_folder}/none/f: no such file or directory" in outcome.err
    assert outcome.failures(["never wrong started"]) == []
    assert (host_folder / "file").read_text() == "text\n"
    assert (host_folder / "new" / "deep").is_dir()
