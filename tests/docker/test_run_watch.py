"""`run --watch` with real containers: a save ends the run gracefully and begins the next; nothing is left of either."""

from __future__ import annotations

import signal
import subprocess
import sys
import uuid
from contextlib import contextmanager
from typing import TYPE_CHECKING

import images
import pytest
from command_line import containers_of, write_pod

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from docker import APIClient

    from runtime.api import ImageID

pytestmark = pytest.mark.docker

POD = """\
apiVersion: v1
kind: Pod
metadata: {{name: {name}}}
spec:
  terminationGracePeriodSeconds: 20
  containers:
  - name: main
    image: "{image}"
    imagePullPolicy: Never
    command: [sh, -c, "trap 'echo told to stop; exit 0' TERM; echo {word}; while :; do sleep 0.1; done"]
"""


@contextmanager
def a_watch(manifest: Path) -> Iterator[subprocess.Popen[str]]:
    """Run a manifest with --watch; what it tells and what its pods write is one stream."""
    command = [sys.executable, "-m", "kubelet_emu", "run", "--watch", str(manifest)]
    command += ["--root-dir", str(manifest.parent / "root")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as process:
        try:
            yield process
        finally:
            if process.poll() is None:
                process.send_signal(signal.SIGINT)
                process.wait(timeout=60)


def until(process: subprocess.Popen[str], *texts: str) -> str:
    """Read until each text has been seen; an end before that fails."""
    assert process.stdout is not None
    seen = ""
    for line in process.stdout:
        seen += line
        if all(text in seen for text in texts):
            return seen
    raise AssertionError(seen)


def test_a_save_replaces_what_runs(tmp_path: Path, engine: APIClient, busybox: ImageID) -> None:
    name = f"watched-{uuid.uuid4().hex[:8]}"

    def text(word: str) -> str:
        return POD.format(name=name, image=images.BUSYBOX, word=word)

    manifest = write_pod(tmp_path, name, text("first"))
    with a_watch(manifest) as process:
        until(process, " first\n", f"{name} is ready\n")
        write_pod(tmp_path, "broken", text("second").replace("image:", "imag:")).rename(manifest)
        until(process, "Unknown field", "can't be run: what runs goes on\n")
        write_pod(tmp_path, "new", text("third")).rename(manifest)
        seen = until(process, " third\n", f"{name} is ready\n")
        assert f"delete all pods, own grace (because {manifest} was saved)\n" in seen
        assert " told to stop\n" in seen
        process.send_signal(signal.SIGINT)
        until(process, "delete all pods, own grace (because SIGINT)\n", " told to stop\n")
        assert process.wait(timeout=60) == 0
    assert containers_of(engine, name) == []
    assert list((tmp_path / "root" / "instances").iterdir()) == []
