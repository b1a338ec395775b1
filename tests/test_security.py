"""What looks at a manifest, or plays it in virtual time, touches nothing of the machine: no network, no program."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path

HOSTILE = """\
apiVersion: v1
kind: Pod
metadata: {name: hostile}
spec:
  restartPolicy: Never
  hostNetwork: true
  volumes:
  - {name: host, hostPath: {path: /tmp/kemu-hostile/made, type: DirectoryOrCreate}}
  - {name: claim, persistentVolumeClaim: {claimName: x}}
  imagePullSecrets: [{name: none}]
  initContainers:
  - name: first
    image: 127.0.0.1:1/hostile/image:1
    command: [sh, -c, "wget -O- http://127.0.0.1:1/; echo pwned > /host/file; rm -rf /host"]
    volumeMounts: [{name: host, mountPath: /host}]
  containers:
  - name: main
    image: 127.0.0.1:1/hostile/image:1
    command: [sh, -c, "trap 'exit 0' TERM; sleep 5 & wait"]
    ports: [{containerPort: 1, hostPort: 1}]
    securityContext: {privileged: true}
    livenessProbe: {httpGet: {host: 127.0.0.1, port: 1}}
    readinessProbe: {exec: {command: [touch, /host/probed]}}
    lifecycle:
      postStart: {httpGet: {host: 127.0.0.1, port: 1}}
      preStop: {exec: {command: [touch, /host/stopped]}}
    volumeMounts: [{name: host, mountPath: /host}]
"""
WATCHED = """\
import json, os, sys

import trio

seen = []


def hook(event, arguments):
    if event in ("socket.connect", "socket.bind", "socket.sendto", "subprocess.Popen", "os.system", "os.exec",
                 "os.posix_spawn", "os.fork", "os.mkdir", "os.remove", "os.rmdir", "os.rename", "os.symlink",
                 "os.link", "os.chmod", "shutil.rmtree"):
        seen.append([event, str(arguments)])
    elif event == "open" and isinstance(arguments[2], int) and arguments[2] & (os.O_WRONLY | os.O_RDWR | os.O_CREAT):
        seen.append([event, str(arguments)])


from kubelet_emu.cli.main import main

sys.addaudithook(hook)
try:
    main(sys.argv[1:])
finally:
    print("seen", json.dumps([each for each in seen if "pycache" not in each[1] and "/dev/null" not in each[1]]))
"""
COMMANDS = {
    "validate": ("validate",),
    "plan": ("plan",),
    "a run in virtual time": ("run", "--runtime", "simulated"),
    "a drill in virtual time": ("drill",),
}


@pytest.mark.parametrize("words", COMMANDS.values(), ids=COMMANDS)
def test_nothing_of_the_machine_is_touched(tmp_path: Path, words: tuple[str, ...]) -> None:
    (tmp_path / "pod.yaml").write_text(HOSTILE)
    done = subprocess.run(
        [sys.executable, "-B", "-c", WATCHED, *words, "pod.yaml"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    *_, last = done.stdout.splitlines()
    assert "hostile" in done.stdout + done.stderr
    assert "Traceback" not in done.stderr
    assert json.loads(last.removeprefix("seen ")) == []
    assert [path.name for path in tmp_path.iterdir()] == ["pod.yaml"]
