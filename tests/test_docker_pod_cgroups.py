"""Cgroups of pods: where they are, what stands in them, and whose memory ran out in one."""

from __future__ import annotations

from typing import Any

import attrs
import pytest

from runtime.api import (
    ContainerConfig,
    ContainerMetadata,
    ImageID,
    LinuxContainerResources,
    PodSandboxConfig,
    PodSandboxMetadata,
    SandboxID,
)
from runtime.docker import bodies, naming
from runtime.docker.cgroup_tree import CgroupTree, cpu_weight
from runtime.docker.ooms import SharedOOMs
from runtime.docker.rights import EngineRights

UID = "0d1e-22"
FOLDERS_V2 = CgroupTree(version=2, driver="cgroupfs")
FOLDERS_V1 = CgroupTree(version=1, driver="cgroupfs")
SLICES_V2 = CgroupTree(version=2, driver="systemd")
LIMITS = LinuxContainerResources(
    cpu_shares=512, cpu_quota=50_000, cpu_period=100_000, memory_limit_bytes=64 << 20, pids_limit=20
)
SETTINGS = [
    (
        "folders of version 2",
        FOLDERS_V2,
        LIMITS,
        {
            "/c/kubelet-emu-i-1-pod0d1e-22/cpu.weight": "20",
            "/c/kubelet-emu-i-1-pod0d1e-22/cpu.max": "50000 100000",
            "/c/kubelet-emu-i-1-pod0d1e-22/memory.max": "67108864",
            "/c/kubelet-emu-i-1-pod0d1e-22/pids.max": "20",
        },
    ),
    (
        "slices of systemd, with no limit but that of memory",
        SLICES_V2,
        LinuxContainerResources(cpu_shares=2, memory_limit_bytes=1 << 30),
        {
            "/c/kubelet_emu.slice/kubelet_emu-i_1_pod0d1e_22.slice/cpu.weight": "1",
            "/c/kubelet_emu.slice/kubelet_emu-i_1_pod0d1e_22.slice/cpu.max": "max 100000",
            "/c/kubelet_emu.slice/kubelet_emu-i_1_pod0d1e_22.slice/memory.max": "1073741824",
            "/c/kubelet_emu.slice/kubelet_emu-i_1_pod0d1e_22.slice/pids.max": "max",
        },
    ),
    (
        "folders of version 1",
        FOLDERS_V1,
        LIMITS,
        {
            "/c/cpu/kubelet-emu-i-1-pod0d1e-22/cpu.shares": "512",
            "/c/cpu/kubelet-emu-i-1-pod0d1e-22/cpu.cfs_period_us": "100000",
            "/c/cpu/kubelet-emu-i-1-pod0d1e-22/cpu.cfs_quota_us": "50000",
            "/c/memory/kubelet-emu-i-1-pod0d1e-22/memory.limit_in_bytes": "67108864",
            "/c/pids/kubelet-emu-i-1-pod0d1e-22/pids.max": "20",
        },
    ),
    (
        "version 1 without a limit",
        FOLDERS_V1,
        LinuxContainerResources(),
        {
            "/c/cpu/kubelet-emu-i-1-pod0d1e-22/cpu.shares": "2",
            "/c/cpu/kubelet-emu-i-1-pod0d1e-22/cpu.cfs_period_us": "100000",
            "/c/cpu/kubelet-emu-i-1-pod0d1e-22/cpu.cfs_quota_us": "-1",
            "/c/memory/kubelet-emu-i-1-pod0d1e-22/memory.limit_in_bytes": "-1",
            "/c/pids/kubelet-emu-i-1-pod0d1e-22/pids.max": "max",
        },
    ),
]


@pytest.mark.parametrize(("why", "tree", "resources", "expected"), SETTINGS, ids=[row[0] for row in SETTINGS])
def test_what_stands_in_the_files(
    why: str, tree: CgroupTree, resources: LinuxContainerResources, expected: dict[str, str]
) -> None:
    words = tree.settings(tree.parent("i-1", UID), resources)
    assert dict(zip(words[::2], words[1::2], strict=True)) == expected


def test_the_folders_of_a_pod_are_one_in_each_hierarchy() -> None:
    assert FOLDERS_V2.folders("/kubelet-emu-i-podu") == ("/c/kubelet-emu-i-podu",)
    assert SLICES_V2.folders("kubelet_emu-i_podu.slice") == ("/c/kubelet_emu.slice/kubelet_emu-i_podu.slice",)
    first, *others = FOLDERS_V1.folders("/kubelet-emu-i-podu")
    assert first == "/c/blkio/kubelet-emu-i-podu"
    assert "/c/memory/kubelet-emu-i-podu" in others


@pytest.mark.parametrize("uid", ["../../x", "a/b", "a b", "x.slice", "a\nb"])
@pytest.mark.parametrize("tree", [FOLDERS_V2, SLICES_V2], ids=["folders", "slices"])
def test_no_uid_leads_elsewhere(tree: CgroupTree, uid: str) -> None:
    [folder] = tree.folders(tree.parent("i", uid))
    name = folder.removeprefix("/c/").removeprefix("kubelet_emu.slice/").removesuffix(".slice")
    assert name.replace("-", "").replace("_", "").isalnum()


@pytest.mark.parametrize(("shares", "weight"), [(2, 1), (102, 4), (512, 20), (1024, 39), (262144, 10000)])
def test_the_weight_of_a_pods_shares(shares: int, weight: int) -> None:
    assert cpu_weight(shares) == weight


INFOS: list[tuple[str, dict[str, Any], CgroupTree, bool]] = [
    (
        "an engine on systemd",
        {"CgroupVersion": "2", "CgroupDriver": "systemd", "SecurityOptions": ["name=seccomp,profile=default"]},
        SLICES_V2,
        True,
    ),
    ("an old one", {"CgroupDriver": "cgroupfs", "SecurityOptions": None}, FOLDERS_V1, True),
    (
        "a rootless one",
        {"CgroupVersion": "2", "CgroupDriver": "systemd", "SecurityOptions": ["name=rootless"]},
        attrs.evolve(SLICES_V2, is_rootless=True),
        False,
    ),
    (
        "one without cgroups",
        {"CgroupVersion": "2", "CgroupDriver": "none"},
        CgroupTree(version=2, driver="none"),
        False,
    ),
]


@pytest.mark.parametrize(("why", "info", "tree", "may_be_written"), INFOS, ids=[row[0] for row in INFOS])
def test_what_an_engine_says_of_its_cgroups(
    why: str,
    info: dict[str, Any],
    tree: CgroupTree,
    may_be_written: bool,  # noqa: FBT001 - a table's column
) -> None:
    assert CgroupTree.of_info(info) == tree
    assert tree.may_be_written is may_be_written


def test_a_refusal_is_told_once() -> None:
    notes: list[str] = []
    rights = EngineRights.of_info({}, notes.append)
    for _ in range(2):
        rights.pod_cgroups.refuse("no")
        rights.oom_scores.refuse()
    assert notes == [
        "limits of a whole pod hold for each of its containers alone: no",
        "the engine may not lower oom_score_adj: sandboxes and containers run with its own value",
    ]


def test_a_pods_containers_are_below_its_cgroup() -> None:
    labels = {naming.POD_CGROUP_LABEL: "/kubelet-emu-i-podu"}
    pod = PodSandboxConfig(metadata=PodSandboxMetadata(name="p", namespace="n", uid="u"))
    sandbox = bodies.sandbox_body(pod, "image", labels, oom_score_adj=None)
    config = ContainerConfig(metadata=ContainerMetadata(name="c"), image=ImageID("i"), image_name="i")
    container = bodies.container_body(config, SandboxID("s"), [], labels)
    assert sandbox["HostConfig"]["CgroupParent"] == container["HostConfig"]["CgroupParent"] == "/kubelet-emu-i-podu"
    assert naming.POD_CGROUP_LABEL not in naming.split_labels(container["Labels"], is_sandbox=False)[0]


def message(action: str, *, container: str = "c", shares: bool = True, **attributes: str) -> dict[str, Any]:
    label = {naming.POD_CGROUP_LABEL: "/kubelet-emu-i-podu"} if shares else {}
    return {"Action": action, "Actor": {"ID": container, "Attributes": {**label, **attributes}}}


OOM, ALONE = message("oom"), message("oom", shares=False)
KILLED, ENDED, TERM, KILL = (
    message("die", exitCode="137"),
    message("die", exitCode="0"),
    message("kill", signal="15"),
    message("kill", signal="9"),
)
OTHER = message("die", container="other", exitCode="137")
ORDERS = [
    ("the one that dies of it was killed", [OOM, OTHER, KILLED], [OTHER, OOM, KILLED], True),
    ("one that ends by itself was spared", [OOM, ENDED], [ENDED], False),
    ("one that somebody kills later was spared", [OOM, TERM, KILL, KILLED], [TERM, KILL, KILLED], False),
    ("one that ends on TERM was spared", [OOM, TERM, ENDED], [TERM, ENDED], False),
    ("a container without a pod's limit is told of at once", [ALONE], [ALONE], True),
    ("a death by SIGKILL alone is no matter of memory", [KILL, KILLED], [KILL, KILLED], True),
    ("what was removed is forgotten", [OOM, ENDED, message("destroy")], [ENDED, message("destroy")], True),
]


def inspected(exit_code: int, *, shares: bool = True) -> dict[str, Any]:
    labels = {naming.POD_CGROUP_LABEL: "/kubelet-emu-i-podu"} if shares else {}
    return {"Id": "c", "Config": {"Labels": labels}, "State": {"OOMKilled": True, "ExitCode": exit_code}}


@pytest.mark.parametrize(("why", "sent", "told", "is_killed"), ORDERS, ids=[row[0] for row in ORDERS])
def test_the_kernel_tells_all_containers_of_a_pod(
    why: str,
    sent: list[Any],
    told: list[Any],
    is_killed: bool,  # noqa: FBT001 - a table's column
) -> None:
    ooms = SharedOOMs(are_told_to_all=True)
    assert [each for one in sent for each in ooms.settle(one)] == told
    assert ooms.corrected(inspected(137))["State"]["OOMKilled"] is is_killed


@pytest.mark.parametrize(
    ("why", "ooms", "container", "is_killed"),
    [
        ("version 2 tells only whom it kills", SharedOOMs(), inspected(0), True),
        ("a limit of its own is its own matter", SharedOOMs(are_told_to_all=True), inspected(0, shares=False), True),
        ("another end than SIGKILL is its own", SharedOOMs(are_told_to_all=True), inspected(1), False),
    ],
    ids=lambda value: value if isinstance(value, str) else None,
)
def test_who_was_killed(
    why: str,
    ooms: SharedOOMs,
    container: dict[str, Any],
    is_killed: bool,  # noqa: FBT001 - a table's column
) -> None:
    assert ooms.corrected(container)["State"]["OOMKilled"] is is_killed


def test_version_2_tells_at_once() -> None:
    assert SharedOOMs().settle(OOM) == (OOM,)
