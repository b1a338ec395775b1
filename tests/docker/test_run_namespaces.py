"""Whose namespaces, kernel settings, files and system calls a container has, through the command, on a real engine."""

from __future__ import annotations

import json
import socket
from pathlib import Path
from typing import TYPE_CHECKING

import images
import pytest
from command_line import run, write_pod

if TYPE_CHECKING:
    from collections.abc import Mapping

    from command_line import Outcome

pytestmark = pytest.mark.docker


def a_pod(name: str, spec: str, containers: Mapping[str, tuple[str, str]]) -> str:
    """Return a pod: of each container its command and further fields."""
    lines = (
        f"  - name: {key}\n    image: {images.BUSYBOX}\n    command: {json.dumps(['sh', '-c', script])}\n{fields}"
        for key, (script, fields) in containers.items()
    )
    head = f"apiVersion: v1\nkind: Pod\nmetadata: {{name: {name}}}\nspec:\n  restartPolicy: Never\n"
    return f"{head}{spec}  containers:\n{''.join(lines)}"


def run_pods(folder: Path, *pods: str, words: tuple[str, ...] = (), prefix: tuple[str, ...] = ()) -> Outcome:
    """Run pods to their end."""
    manifest = write_pod(folder, "pods", "---\n".join(pods))
    return run(folder, manifest, "--pull", "missing", "--grace-period", "0", *words, prefix=prefix)


KINDS = ("pid", "ipc", "net", "uts")
LOOK = (
    "for n in pid ipc net uts; do readlink /proc/self/ns/$n; done; hostname; cat /etc/hostname; "
    "cat /proc/1/comm; ls /sys/class/net | xargs"
)
SHARED = "  shareProcessNamespace: true\n"
PODS = {
    "own": "",
    "share": SHARED,
    "pid": "  hostPID: true\n",
    "ipc": "  hostIPC: true\n",
    "net": "  hostNetwork: true\n  hostname: ignored\n",
    "all": "  hostPID: true\n  hostIPC: true\n  hostNetwork: true\n",
}


def test_a_pod_has_the_machines_namespaces_where_it_asks_for_them(tmp_path: Path) -> None:
    waits = {"other": ("sleep 2", "")}
    pods = [a_pod(name, spec, {**(waits if spec == SHARED else {}), name: (LOOK, "")}) for name, spec in PODS.items()]
    outcome = run_pods(tmp_path, *pods, words=("--allow-host-namespaces",))
    assert outcome.status == 0, outcome.err
    own = dict(zip(KINDS, (str(Path(f"/proc/self/ns/{kind}").readlink()) for kind in KINDS), strict=True))
    seen = {name: outcome.lines(name) for name in PODS}
    of_machine = {
        name: {kind for kind, link in zip(KINDS, lines, strict=False) if link == own[kind]}
        for name, lines in seen.items()
    }
    assert of_machine == {
        "own": set(),
        "share": set(),
        "pid": {"pid"},
        "ipc": {"ipc"},
        "net": {"net", "uts"},
        "all": {"pid", "ipc", "net", "uts"},
    }
    machine = socket.gethostname()
    assert {name: set(lines[4:6]) for name, lines in seen.items()} == {
        **{name: {name} for name in ("own", "share", "pid", "ipc")},
        "net": {machine},
        "all": {machine},
    }
    first = {name: lines[6] for name, lines in seen.items()}
    machines = Path("/proc/1/comm").read_text().strip()
    assert first == {"own": "sh", "share": "pause", "pid": machines, "ipc": "sh", "net": "sh", "all": machines}
    devices = {name: lines[7].split() for name, lines in seen.items()}
    assert devices["own"] == devices["share"] == devices["pid"] == devices["ipc"] == ["eth0", "lo"]
    assert "docker0" in devices["net"]
    assert "docker0" in devices["all"]


SAFE = {
    "net.ipv4.ip_local_port_range": "2000\t3000",
    "net/ipv4/tcp_syncookies": "0",
    "net.ipv4.ping_group_range": "0\t10",
    "net.ipv4.ip_unprivileged_port_start": "100",
    "net.ipv4.ip_local_reserved_ports": "2500",
    "net.ipv4.tcp_keepalive_time": "60",
    "net.ipv4.tcp_fin_timeout": "10",
    "net.ipv4.tcp_keepalive_intvl": "11",
    "net.ipv4.tcp_keepalive_probes": "3",
    "net.ipv4.tcp_rmem": "4096\t100000\t200000",
    "net.ipv4.tcp_wmem": "4096\t100001\t200000",
    "kernel.shm_rmid_forced": "1",
}
UNSAFE = {"kernel.msgmax": "65536", "net.core.somaxconn": "77"}


def sysctls(values: Mapping[str, str]) -> str:
    items = [{"name": name, "value": value.replace("\t", " ")} for name, value in values.items()]
    return f"  securityContext: {{sysctls: {json.dumps(items)}}}\n"


def show(values: Mapping[str, str]) -> dict[str, tuple[str, str]]:
    paths = " ".join(name.replace(".", "/") for name in values)
    return {"main": (f"cd /proc/sys; cat {paths}", "")}


def test_kernel_settings_are_the_pods(tmp_path: Path) -> None:
    configuration = tmp_path / "kubelet.yaml"
    configuration.write_text(
        "apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n"
        'allowedUnsafeSysctls: ["kernel.msg*", net.core.somaxconn]\n'
    )
    both = {**SAFE, **UNSAFE}
    folder = tmp_path / "pods"
    folder.mkdir()
    outcome = run_pods(folder, a_pod("set", sysctls(both), show(both)), words=("--config", str(configuration)))
    assert dict(zip(both, outcome.lines("main"), strict=True)) == both


def test_kernel_settings_that_can_not_be_are_refused(tmp_path: Path) -> None:
    pods = (
        a_pod("unsafe", sysctls({"kernel.msgmax": "65536"}), show({})),
        a_pod("value", sysctls({"net.ipv4.tcp_syncookies": "huh"}), show({})),
    )
    outcome = run_pods(tmp_path, *pods, words=("--timeout", "3"))
    assert 'unsafe SysctlForbidden: forbidden sysctl: "kernel.msgmax" not allowlisted' in outcome.err
    failed = "value FailedCreatePodSandBox: Failed to create pod sandbox: "
    [told] = {line.partition(failed)[2] for line in outcome.err.splitlines() if failed in line and "(x" not in line}
    assert "write /proc/sys/net/ipv4/tcp_syncookies: invalid argument" in told
    assert outcome.failures(["never main started"]) == []


WRITES = (
    "for d in / /tmp /data /dev/shm; do touch $d/x 2>/dev/null && basename $d; done; "
    "echo own >> /etc/hosts && echo hosts; "
    "echo 1 2>/dev/null > /proc/sys/net/ipv4/ip_forward || echo fixed; echo told > /var/deep/message"
)
DENIES = (
    '{"defaultAction": "SCMP_ACT_ALLOW", "syscalls": [{"names": ["mkdir", "mkdirat"], "action": "SCMP_ACT_ERRNO"}]}'
)


def test_a_root_that_is_read_only_leaves_volumes_and_the_message(tmp_path: Path) -> None:
    fields = (
        "    securityContext: {readOnlyRootFilesystem: true}\n    terminationMessagePath: /var/deep/message\n"
        "    volumeMounts: [{name: v, mountPath: /data}]\n"
    )
    pod = a_pod("ro", "  volumes: [{name: v, emptyDir: {}}]\n", {"main": (WRITES, fields)})
    outcome = run_pods(tmp_path, pod)
    assert outcome.lines("main") == ["data", "shm", "hosts", "fixed"]
    assert outcome.failures(["exitcode(main) == 0", 'message(main) contains "told"']) == []


def test_a_profile_of_the_nodes_own_counts(tmp_path: Path) -> None:
    (tmp_path / "profile.json").write_text(DENIES)
    (tmp_path / "broken.json").write_text("{]")
    script = "mkdir /x 2>&1 && echo made; grep Seccomp: /proc/self/status"

    def context(kind: str) -> str:
        return f"    securityContext: {{seccompProfile: {{{kind}}}}}\n"

    containers = {
        "denied": (script, ""),
        "free": (script, context("type: Unconfined")),
        "broken": (script, context("type: Localhost, localhostProfile: sub/broken.json")),
        "missing": (script, context("type: Localhost, localhostProfile: sub/none.json")),
    }
    of_pod = "  securityContext: {seccompProfile: {type: Localhost, localhostProfile: sub/profile.json}}\n"
    put = (
        "mount -t tmpfs tmpfs /var/lib && mkdir -p /var/lib/kubelet/seccomp/sub && "
        f'cp {tmp_path}/*.json /var/lib/kubelet/seccomp/sub && exec "$@"'
    )
    prefix = ("unshare", "--mount", "--propagation", "private", "sh", "-c", put, "sh")
    outcome = run_pods(
        tmp_path, a_pod("p", of_pod, containers), prefix=prefix, words=("--delete-when", "free exited+2")
    )
    assert outcome.lines("denied") == ["mkdir: can't create directory '/x': Operation not permitted", "Seccomp:\t2"]
    assert outcome.lines("free") == ["made", "Seccomp:\t0"]
    path = "/var/lib/kubelet/seccomp/sub/none.json"
    missing = f'cannot load seccomp profile "{path}": open {path}: no such file or directory'
    assert f"p/missing Failed: Error: failed to create containerd container: {missing}" in outcome.err
    broken = 'decoding seccomp profile failed "/var/lib/kubelet/seccomp/sub/broken.json": expecting property name'
    assert f"p/broken Failed: Error: failed to create containerd container: {broken}" in outcome.err
    assert outcome.failures(["never broken started", "never missing started"]) == []
