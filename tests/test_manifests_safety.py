"""What a manifest may do to this machine, and which option allows it."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import pytest
from attrs import evolve

from kubelet_emu import manifests
from kubelet_emu.manifests.safety import HostPathRule, SafetyPolicy, check_safety
from kubelet_emu.manifests.workloads import expand

if TYPE_CHECKING:
    from pathlib import Path

POD = """\
apiVersion: v1
kind: Pod
metadata: {name: p}
spec:
  hostNetwork: true
  hostPID: true
  hostIPC: true
  initContainers:
  - name: i
    image: a
    securityContext: {privileged: true}
  containers:
  - name: c
    image: a
"""


def refusals(text: str, policy: SafetyPolicy) -> list[tuple[int, str, str]]:
    (runnable, *_rest) = expand(manifests.load_text(text).objects, random.Random(1)).runnables  # noqa: S311 - names
    return [(each.line, each.path, each.hint) for each in check_safety(runnable, policy)]


def test_namespaces_and_privileges_are_refused_with_field_line_and_option() -> None:
    assert refusals(POD, SafetyPolicy()) == [
        (5, "spec.hostNetwork", "--allow-host-namespaces allows it"),
        (6, "spec.hostPID", "--allow-host-namespaces allows it"),
        (7, "spec.hostIPC", "--allow-host-namespaces allows it"),
        (11, "spec.initContainers[0].securityContext.privileged", "--allow-privileged allows it"),
    ]


def test_options_allow_them() -> None:
    assert refusals(POD, SafetyPolicy(allow_privileged=True, allow_host_namespaces=True)) == []


def adds(*capabilities: str) -> str:
    return (
        "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec:\n  containers:\n  - name: c\n    image: a\n"
        f"    securityContext: {{capabilities: {{add: [{', '.join(capabilities)}]}}}}\n"
    )


@pytest.mark.parametrize("name", ["ALL", "SYS_ADMIN", "sys_module", "DAC_READ_SEARCH", "SYS_TIME"])
def test_a_capability_that_reaches_the_machine_is_refused(name: str) -> None:
    text = adds("NET_ADMIN", name)

    assert refusals(text, SafetyPolicy()) == [
        (8, "spec.containers[0].securityContext.capabilities.add[1]", "--allow-privileged allows it")
    ]
    assert refusals(text, SafetyPolicy(allow_privileged=True)) == []


def test_a_capability_within_the_containers_own_namespaces_is_not() -> None:
    text = adds(
        "NET_ADMIN", "NET_BIND_SERVICE", "NET_RAW", "IPC_LOCK", "SYS_PTRACE", "SYS_NICE", "CHOWN", "CAP_SYS_ADMIN"
    )

    assert refusals(text, SafetyPolicy()) == []


def test_the_path_in_a_job_is_that_of_its_template() -> None:
    text = (
        "apiVersion: batch/v1\nkind: Job\nmetadata: {name: j}\n"
        "spec: {template: {spec: {hostPID: true, containers: [{name: c, image: a}]}}}\n"
    )

    assert [path for _, path, _ in refusals(text, SafetyPolicy())] == ["spec.template.spec.hostPID"]


def test_the_path_in_a_stateful_set_is_that_of_its_template() -> None:
    text = (
        "apiVersion: apps/v1\nkind: StatefulSet\nmetadata: {name: db}\nspec:\n"
        "  serviceName: db\n  selector: {matchLabels: {a: b}}\n"
        "  template: {metadata: {labels: {a: b}}, spec: {hostNetwork: true, containers: [{name: c, image: a}]}}\n"
    )

    assert [path for _, path, _ in refusals(text, SafetyPolicy())] == ["spec.template.spec.hostNetwork"]


def test_other_objects_are_never_refused() -> None:
    (loaded,) = manifests.load_text("{apiVersion: v1, kind: ConfigMap, metadata: {name: m}}").objects
    (stored,) = expand([loaded], random.Random(1)).stored  # noqa: S311 - names

    assert check_safety(stored, SafetyPolicy()) == ()


def mount(path: str, extra: str = ", readOnly: true", kind: str = "") -> str:
    return (
        "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec:\n"
        f"  volumes: [{{name: e}}, {{name: v, hostPath: {{path: {path!r}{kind}}}}}]\n"
        f"  containers: [{{name: c, image: a, volumeMounts: [{{name: v, mountPath: /v{extra}}}]}}]\n"
    )


def policy(*rules: str, folder: str | None = None) -> SafetyPolicy:
    return SafetyPolicy(
        host_paths=tuple(HostPathRule.parse(rule) for rule in rules), manifest_folder=folder, home="/home/me"
    )


WRITES = ""
ALLOWED = [
    ("below a prefix", "/srv/data/x", ", readOnly: true", ("/srv/data",)),
    ("the prefix itself", "/srv/data", ", readOnly: true", ("/srv/data",)),
    ("written below a writable prefix", "/srv/data/x", WRITES, ("/srv/data:rw",)),
    ("a second prefix is writable", "/srv/data/x", WRITES, ("/srv:ro", "/srv/data:rw")),
    ("a socket named exactly", "/var/run/docker.sock", WRITES, ("/var/run/docker.sock:rw",)),
    ("the root named exactly", "/", ", readOnly: true", ("/",)),
    ("the home folder named exactly", "/home/me", ", readOnly: true", ("/home/me",)),
    ("a file of /etc below /etc", "/etc/hosts", ", readOnly: true", ("/etc",)),
]


@pytest.mark.parametrize(("why", "path", "mode", "rules"), ALLOWED, ids=[row[0] for row in ALLOWED])
def test_host_paths_that_are_allowed(why: str, path: str, mode: str, rules: tuple[str, ...]) -> None:
    assert refusals(mount(path, mode), policy(*rules)) == []


REFUSED = [
    ("no option", "/srv/data", ", readOnly: true", ()),
    ("another prefix", "/srv/database", ", readOnly: true", ("/srv/data",)),
    ("written, but readable alone", "/srv/data/x", WRITES, ("/srv/data",)),
    ("a socket below a prefix", "/run/docker.sock", ", readOnly: true", ("/run",)),
    ("a folder that holds a socket", "/run/containerd", ", readOnly: true", ("/run",)),
    ("the home folder below a prefix", "/home/me", ", readOnly: true", ("/home",)),
    ("the folder of the home folder", "/home", ", readOnly: true", ("/",)),
    ("/etc below the root", "/etc", ", readOnly: true", ("/",)),
    ("a file of /etc below the root", "/etc/shadow", ", readOnly: true", ("/",)),
    ("/proc below the root", "/proc/1", ", readOnly: true", ("/",)),
    ("/dev below the root", "/dev/sda", ", readOnly: true", ("/",)),
    ("up and away", "/srv/data/../../etc", ", readOnly: true", ("/srv/data",)),
]


@pytest.mark.parametrize(("why", "path", "mode", "rules"), REFUSED, ids=[row[0] for row in REFUSED])
def test_host_paths_that_are_refused(why: str, path: str, mode: str, rules: tuple[str, ...]) -> None:
    ((line, where, hint),) = refusals(mount(path, mode), policy(*rules))

    assert (line, where) == (5, "spec.volumes[1].hostPath.path")
    assert "--allow-host-path" in hint
    assert (":rw" in hint) is (mode == WRITES)


def test_the_manifests_folder_is_readable_and_not_writable(tmp_path: Path) -> None:
    below, data = policy(folder=str(tmp_path)), str(tmp_path / "data")

    assert refusals(mount(data), below) == []
    assert len(refusals(mount(data, WRITES), below)) == 1
    assert len(refusals(mount(data, ", readOnly: true", ", type: DirectoryOrCreate"), below)) == 1
    assert len(refusals(mount("/home/me"), evolve(below, manifest_folder="/home/me"))) == 1
    assert len(refusals(mount("/etc/hosts"), evolve(below, manifest_folder="/etc"))) == 1


def test_a_path_that_is_not_absolute_begins_at_the_root(tmp_path: Path) -> None:
    relative = str(tmp_path / "data").lstrip("/")
    assert refusals(mount(relative), policy(folder=str(tmp_path))) == []
    ((_line, _path, hint),) = refusals(mount("data"), policy(folder=str(tmp_path)))
    assert hint == "--allow-host-path /data allows it"


def test_a_symbolic_link_does_not_lead_out(tmp_path: Path) -> None:
    (tmp_path / "inside").mkdir()
    (tmp_path / "outside").mkdir()
    (tmp_path / "inside" / "link").symlink_to(tmp_path / "outside")
    inside = policy(f"{tmp_path}/inside")

    ((_line, _path, hint),) = refusals(mount(f"{tmp_path}/inside/link"), inside)

    assert f"{tmp_path}/outside" in hint


def test_a_link_named_as_prefix_is_followed(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")

    assert refusals(mount(f"{tmp_path}/real/x"), policy(f"{tmp_path}/link")) == []


def test_the_engines_own_socket_counts() -> None:
    given = evolve(policy("/opt"), engine_socket="/opt/engine/docker.sock")

    assert len(refusals(mount("/opt/engine/docker.sock"), given)) == 1
    assert refusals(mount("/opt/other"), given) == []


def test_options_are_read() -> None:
    assert HostPathRule.parse("/a:b:rw") == HostPathRule(prefix="/a:b", is_writable=True)
    assert HostPathRule.parse("/a") == HostPathRule(prefix="/a")
    with pytest.raises(ValueError, match="not an absolute path"):
        HostPathRule.parse("a:rw")
