"""What a pod spec says, seen in a container where only an engine can show it."""

from __future__ import annotations

import io
import secrets
import socket
import threading
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

import images
import pytest
from command_line import containers_of, run, write_pod

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from docker import APIClient

pytestmark = pytest.mark.docker

CONFIGURATION = """\
apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
podPidsLimit: 20
cpuCFSQuota: false
"""
LIMITED = """\
apiVersion: v1
kind: Pod
metadata: {name: limited}
spec:
  restartPolicy: Never
  containers:
  - name: calm
    image: IMAGE
    resources: {limits: {cpu: 100m}}
    command: [sh, -c, "cat /sys/fs/cgroup/cpu/cpu.cfs_quota_us 2>/dev/null || cut -d' ' -f1 /sys/fs/cgroup/cpu.max"]
  - name: main
    image: IMAGE
    resources: {limits: {cpu: 100m}}
    command: [sh, -c, "n=0; while [ $n -lt 40 ]; do sleep 5 & n=$((n+1)); done; echo all"]
"""


def test_a_configuration_bounds_what_a_container_may_start(engine: APIClient, tmp_path: Path) -> None:
    configuration = tmp_path / "kubelet.yaml"
    configuration.write_text(CONFIGURATION)
    (tmp_path / "pods").mkdir()
    manifest = write_pod(tmp_path / "pods", "limited", LIMITED.replace("IMAGE", images.BUSYBOX))
    outcome = run(tmp_path, manifest, "--pull", "missing", "--config", str(configuration))
    assert outcome.status == 1
    assert "all" not in outcome.lines("main")
    assert "fork" in "".join(outcome.lines("main"))
    assert outcome.lines("calm")[0] in {"-1", "max"}
    assert "| sh: can't fork" in outcome.err, "the summary has the last lines of what failed"


VOLUMES = """\
apiVersion: v1
kind: ConfigMap
metadata: {name: settings}
data: {colour: green}
binaryData: {raw: AAH/gA==}
---
apiVersion: v1
kind: Secret
metadata: {name: keys}
stringData: {token: s3cret}
---
apiVersion: v1
kind: Pod
metadata: {name: remote}
spec:
  restartPolicy: Never
  securityContext: {fsGroup: 2345}
  volumes:
  - {name: settings, configMap: {name: settings}}
  - {name: keys, secret: {secretName: keys, defaultMode: 0400}}
  - {name: scratch, emptyDir: {}}
  - {name: memory, emptyDir: {medium: Memory, sizeLimit: 1Mi}}
  initContainers:
  - name: write
    image: IMAGE
    volumeMounts: [{name: scratch, mountPath: /scratch}]
    command: [sh, -c, "cd /scratch; echo passed-on > note; ln -s /etc out; printf \\"A='from file'\\\\n\\" > env"]
  containers:
  - name: main
    image: IMAGE
    env: [{name: A, valueFrom: {fileKeyRef: {volumeName: scratch, path: env, key: A}}}]
    volumeMounts:
    - {name: settings, mountPath: /settings}
    - {name: settings, mountPath: /alone, subPath: colour}
    - {name: keys, mountPath: /keys}
    - {name: scratch, mountPath: /scratch}
    - {name: scratch, mountPath: /part, subPath: new/part}
    - {name: memory, mountPath: /memory}
    command:
    - sh
    - -c
    - |
      cat /settings/colour /alone; echo; od -An -tx1 /settings/raw
      cat /keys/token; echo; stat -f -c %T /keys; stat -L -c '%a %g' /keys/token
      stat -c %g /keys/token /keys/..data
      cat /scratch/note; touch /part/x; stat -c '%a %g' /scratch/new/part
      dd if=/dev/zero of=/memory/big bs=1M count=2 2>/dev/null || echo full
      echo "$A"; echo told > /dev/termination-log
  - name: out
    image: IMAGE
    volumeMounts: [{name: scratch, mountPath: /m, subPath: out}]
    command: [ls, /m]
"""
SEEN = [
    "greengreen",
    " 00 01 ff 80",
    "s3cret",
    "tmpfs",
    "440 2345",
    "2345",
    "2345",
    "passed-on",
    "2777 2345",
    "full",
    "from file",
]


def copy(source: socket.socket, target: socket.socket) -> None:
    """Hand on what comes until it ends."""
    with suppress(OSError):
        while data := source.recv(65536):
            target.sendall(data)
        target.shutdown(socket.SHUT_WR)


def forward(client: socket.socket) -> None:
    """Connect a client with the engine until both are done."""
    with client, socket.socket(socket.AF_UNIX) as there:
        there.connect("/var/run/docker.sock")
        back = threading.Thread(target=copy, args=(there, client))
        back.start()
        copy(client, there)
        back.join()


@contextmanager
def engine_over_tcp() -> Iterator[str]:
    """Give the address of a way to the engine over TCP on loopback."""

    def accept() -> None:
        with suppress(OSError):
            while True:
                threading.Thread(target=forward, args=(server.accept()[0],), daemon=True).start()

    with socket.create_server(("127.0.0.1", 0)) as server:
        thread = threading.Thread(target=accept)
        thread.start()
        yield f"tcp://127.0.0.1:{server.getsockname()[1]}"
        server.shutdown(socket.SHUT_RDWR)
        thread.join()


def test_volumes_are_the_same_on_any_engine(engine: APIClient, tmp_path: Path) -> None:
    """One after the other, as each looks for what is left of the pod's name."""
    for is_remote in (False, True):
        folder = tmp_path / str(is_remote)
        folder.mkdir()
        check_volumes(engine, folder, is_remote=is_remote)


def check_volumes(engine: APIClient, tmp_path: Path, *, is_remote: bool) -> None:
    """Run the pod here, or over TCP without a shared file system, and check what it saw and what is left."""
    manifest = write_pod(tmp_path, "remote", VOLUMES.replace("IMAGE", images.BUSYBOX))
    words = ("--pull", "missing", "--delete-when", "main exited+1")
    with engine_over_tcp() as url:
        prefix: tuple[str, ...] = ()
        environment = {"DOCKER_HOST": url} if is_remote else {}
        if is_remote:
            (tmp_path / "root").mkdir()
            hide = f'mount -t tmpfs tmpfs {tmp_path}/root && exec "$@"'
            prefix = ("unshare", "--mount", "--propagation", "private", "sh", "-c", hide, "sh")
        outcome = run(tmp_path, manifest, *words, prefix=prefix, environment=environment)
    assert ("the engine does not share this machine's files" in outcome.err) is is_remote, outcome.err
    assert outcome.lines("main") == SEEN
    assert 'failed to prepare subPath for volumeMount "scratch" of container "out"' in outcome.err
    assert outcome.failures(["exitcode(main) == 0", "never out started", 'message(main) contains "told"']) == []
    assert containers_of(engine, "remote") == []
    left = [each["Name"] for each in engine.volumes()["Volumes"] or () if each["Name"].endswith("_keys")]
    assert left == [], "a secret's volume goes with its pod"


STOPPED = """\
apiVersion: v1
kind: Pod
metadata: {name: stopped}
spec:
  terminationGracePeriodSeconds: 8
  containers:
  - name: main
    image: IMAGE
    command: [sh, -c, "trap 'echo usr1; exit 0' USR1; trap 'exit 1' TERM; echo up; while :; do sleep 0.1; done"]
"""


def test_the_images_stop_signal_is_sent(engine: APIClient, tmp_path: Path) -> None:
    name = f"{images.REPOSITORY}/test-{secrets.token_hex(4)}:1"
    dockerfile = io.BytesIO(f"FROM {images.BUSYBOX}\nSTOPSIGNAL SIGUSR1\n".encode())
    for step in engine.build(fileobj=dockerfile, tag=name, rm=True, decode=True):
        assert "error" not in step, step
    try:
        manifest = write_pod(tmp_path, "stopped", STOPPED.replace("IMAGE", name))
        outcome = run(tmp_path, manifest, "--pull", "never", "--delete-when", "running+1")
        assert outcome.lines("main") == ["up", "usr1"]
        assert outcome.failures(["exitcode(main) == 0", "never main sigkill"]) == []
    finally:
        engine.remove_image(name)
