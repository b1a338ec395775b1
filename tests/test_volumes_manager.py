"""Setting up, retrying, refreshing and removing volumes (kubelet v1.36 volumemanager)."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest
import trio
from attrs import define, evolve, field
from volume_stub import StubVolumes

from kubelet_emu.api.meta import ObjectMeta
from kubelet_emu.api.quantity import Quantity
from kubelet_emu.api.v1 import ConfigMap, Container, Pod, PodSpec, Secret, VolumeMount
from kubelet_emu.api.v1_security import PodSecurityContext
from kubelet_emu.api.v1_volume_plugins import NFSVolumeSource
from kubelet_emu.api.v1_volumes import (
    ConfigMapVolumeSource,
    EmptyDirVolumeSource,
    EphemeralVolumeSource,
    HostPathVolumeSource,
    PersistentVolumeClaimVolumeSource,
    SecretVolumeSource,
    Volume,
)
from kubelet_emu.kubelet.timebase import Timebase
from kubelet_emu.volumes.host_files import SimulatedHostPaths
from kubelet_emu.volumes.kubelet_files import KubeletFiles
from kubelet_emu.volumes.manager import MountError, VolumeManager, VolumeSources
from kubelet_emu.volumes.mounted import MountedVolume
from runtime.api import Mount, VolumeHandle

if TYPE_CHECKING:
    from kubelet_emu.volumes.host_path import FileKind

EPOCH = datetime(2026, 1, 1, tzinfo=UTC)
PATH = "/var/lib/kubelet/pods/u/volumes"


@define(eq=False)
class Node:
    """A volume manager with a stub of the runtime, and what it told."""

    runtime: StubVolumes = field(factory=StubVolumes)
    config_maps: dict[str, ConfigMap] = field(factory=dict)
    secrets: dict[str, Secret] = field(factory=dict)
    poll_seconds: float = 0.0
    host_paths: SimulatedHostPaths = field(factory=SimulatedHostPaths)
    events: list[tuple[float, str]] = field(factory=list)
    timebase: Timebase = field(factory=lambda: Timebase(EPOCH))
    manager: VolumeManager = field(init=False)

    def __attrs_post_init__(self) -> None:
        """Put the manager together."""
        self.manager = VolumeManager(
            runtime=self.runtime,
            files=KubeletFiles(self.runtime),
            timebase=self.timebase,
            event=self.on_event,
            sources=VolumeSources(
                config_map=lambda _namespace, name: self.config_maps.get(name),
                secret=lambda _namespace, name: self.secrets.get(name),
                allocatable={"memory": Quantity("1Gi")},
            ),
            host_paths=self.host_paths,
            poll_seconds=self.poll_seconds,
        )

    def on_event(self, pod: Pod, container: str | None, event_type: str, reason: str, message: str) -> None:
        assert (pod.metadata.name, container, event_type, reason) == ("p", None, "Warning", "FailedMount")
        self.events.append((round(self.timebase.seconds(), 3), message))


def a_pod(*volumes: Volume, fs_group: int | None = None) -> Pod:
    mounts = tuple(VolumeMount(name=volume.name, mount_path=f"/{volume.name}") for volume in volumes)
    context = None if fs_group is None else PodSecurityContext(fs_group=fs_group)
    return Pod(
        metadata=ObjectMeta(name="p", namespace="ns", uid="u"),
        spec=PodSpec(
            containers=(Container(name="c", volume_mounts=mounts),), volumes=volumes, security_context=context
        ),
    )


EMPTY = Volume(name="e", empty_dir=EmptyDirVolumeSource())
CONFIG = Volume(name="cm", config_map=ConfigMapVolumeSource(name="conf"))
SECRET = Volume(name="s", secret=SecretVolumeSource(secret_name="sec"))  # noqa: S106
MISSING = 'MountVolume.SetUp failed for volume "s" : secret "sec" not found'


async def test_volumes_are_made_and_filled(autojump_clock: trio.testing.MockClock) -> None:
    node = Node(config_maps={"conf": ConfigMap(data={"k": "v"})}, secrets={"sec": Secret(data={"x": b"y"})})
    memory = Volume(name="m", empty_dir=EmptyDirVolumeSource(medium="Memory", size_limit=Quantity("1Mi")))
    host = Volume(name="h", host_path=HostPathVolumeSource(path="srv", type="DirectoryOrCreate"))
    mounted = await node.manager.wait_for_attach_and_mount(a_pod(EMPTY, CONFIG, SECRET, memory, host, fs_group=7))
    assert mounted == {
        "e": MountedVolume(name="e", handle=VolumeHandle("u/e"), node_path=f"{PATH}/kubernetes.io~empty-dir/e"),
        "cm": MountedVolume(
            name="cm", handle=VolumeHandle("u/cm"), node_path=f"{PATH}/kubernetes.io~configmap/cm", is_api_data=True
        ),
        "s": MountedVolume(
            name="s", handle=VolumeHandle("u/s"), node_path=f"{PATH}/kubernetes.io~secret/s", is_api_data=True
        ),
        "m": MountedVolume(name="m", handle=VolumeHandle("u/m"), node_path=f"{PATH}/kubernetes.io~empty-dir/m"),
        "h": MountedVolume(name="h", host_path="/srv", node_path="/srv"),
    }
    configs = {config.name: config for config in node.runtime.configs.values()}
    assert {name: config.medium for name, config in configs.items()} == {
        "e": "",
        "cm": "",
        "s": "Memory",
        "m": "Memory",
    }
    assert (configs["m"].size_limit_bytes, configs["e"].mode, configs["e"].gid) == (2**20, 0o2777, 7)
    assert node.runtime.read("u/cm", "k") == b"v"
    assert node.runtime.read("u/s", "x") == b"y"
    assert node.host_paths.look("/srv").value == "directory"
    assert node.events == []
    assert node.timebase.seconds() == 0


@pytest.mark.parametrize(("fs_group", "mode"), [(None, 0o777), (0, 0o2777), (7, 0o2777)])
async def test_an_fs_group_is_handed_on(
    autojump_clock: trio.testing.MockClock, fs_group: int | None, mode: int
) -> None:
    node = Node(config_maps={"conf": ConfigMap(data={"k": "v"})})
    await node.manager.wait_for_attach_and_mount(a_pod(EMPTY, CONFIG, fs_group=fs_group))
    made = {config.name: (config.mode, config.gid) for config in node.runtime.configs.values()}
    assert made == {"e": (mode, fs_group), "cm": (mode, fs_group)}


async def test_a_volume_that_nobody_mounts_is_left_alone(autojump_clock: trio.testing.MockClock) -> None:
    node = Node()
    pod = evolve(a_pod(SECRET), spec=PodSpec(containers=(Container(name="c"),), volumes=(SECRET,)))
    assert await node.manager.wait_for_attach_and_mount(pod) == {}
    assert node.events == []


async def test_a_missing_secret_is_tried_again_until_it_is_there(autojump_clock: trio.testing.MockClock) -> None:
    node = Node()

    async def create() -> None:
        await trio.sleep(6)
        node.secrets["sec"] = Secret(data={"x": b"y"})

    node.timebase.seconds()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(create)
        await node.manager.wait_for_attach_and_mount(a_pod(SECRET, EMPTY))
    assert node.events == [(0, MISSING), (0.5, MISSING), (1.5, MISSING), (3.5, MISSING)]
    assert node.timebase.seconds() == 7.5
    assert node.runtime.read("u/s", "x") == b"y"


async def test_the_wait_ends_after_2m3s_and_the_delays_go_on(autojump_clock: trio.testing.MockClock) -> None:
    node = Node()
    node.timebase.seconds()
    with pytest.raises(MountError) as raised:
        await node.manager.wait_for_attach_and_mount(a_pod(EMPTY, SECRET))
    assert raised.value.is_timeout
    assert str(raised.value) == (
        "unmounted volumes=[s], unattached volumes=[], failed to process volumes=[]: context deadline exceeded"
    )
    assert [at for at, _ in node.events] == [0, 0.5, 1.5, 3.5, 7.5, 15.5, 31.5, 63.5]
    assert node.timebase.seconds() == 123
    with pytest.raises(MountError):
        await node.manager.wait_for_attach_and_mount(a_pod(EMPTY, SECRET))
    assert [at for at, _ in node.events[8:]] == [127.5]


async def test_a_cancelled_wait_keeps_what_is_mounted(autojump_clock: trio.testing.MockClock) -> None:
    node = Node()
    pod = a_pod(EMPTY, SECRET)
    with trio.move_on_after(2) as scope:
        await node.manager.wait_for_attach_and_mount(pod)
    assert scope.cancelled_caught
    assert set(node.manager.mounted(pod)) == {"e"}


async def test_a_waiting_sync_looks_each_poll(autojump_clock: trio.testing.MockClock) -> None:
    node = Node(poll_seconds=0.3)
    node.timebase.seconds()
    pod = a_pod(EMPTY)
    await node.manager.wait_for_attach_and_mount(pod)
    assert node.timebase.seconds() == pytest.approx(0.3)
    await node.manager.wait_for_attach_and_mount(pod)
    assert node.timebase.seconds() == pytest.approx(0.3)


@pytest.mark.parametrize(
    ("claim"),
    [
        Volume(name="d", persistent_volume_claim=PersistentVolumeClaimVolumeSource(claim_name="mine")),
        Volume(name="d", ephemeral=EphemeralVolumeSource()),
    ],
    ids=["of its own", "of the pod"],
)
async def test_a_claim_is_an_empty_folder(autojump_clock: trio.testing.MockClock, claim: Volume) -> None:
    node = Node()
    mounted = await node.manager.wait_for_attach_and_mount(a_pod(claim))
    assert mounted["d"].handle is not None
    assert node.events == []


@pytest.mark.parametrize(
    ("volume", "text"),
    [
        (
            Volume(name="v", nfs=NFSVolumeSource(server="s", path="/")),
            'MountVolume.FindPluginBySpec failed for volume "v" : no volume plugin matched',
        ),
        (
            Volume(name="v", empty_dir=EmptyDirVolumeSource(medium="Tape")),
            'MountVolume.SetUp failed for volume "v" : unknown storage medium "Tape"',
        ),
        (
            Volume(name="v", host_path=HostPathVolumeSource(path="/x", type="Socket")),
            'MountVolume.SetUp failed for volume "v" : hostPath type check failed: /x is not a socket file',
        ),
        (
            Volume(name="v", config_map=ConfigMapVolumeSource(name="bad")),
            "MountVolume.SetUp failed for volume \"v\" : invalid path: must not start with '..': ..k",
        ),
    ],
)
async def test_faults_are_told(autojump_clock: trio.testing.MockClock, volume: Volume, text: str) -> None:
    node = Node(config_maps={"bad": ConfigMap(data={"..k": "v"})})
    with trio.move_on_after(0.1):
        await node.manager.wait_for_attach_and_mount(a_pod(volume))
    assert node.events == [(0, text)]


async def test_a_runtime_that_fails_is_told(autojump_clock: trio.testing.MockClock) -> None:
    node = Node(StubVolumes(error="no space"))
    with trio.move_on_after(0.1):
        await node.manager.wait_for_attach_and_mount(a_pod(EMPTY))
    assert node.events == [(0, 'MountVolume.SetUp failed for volume "e" : no space')]


async def test_a_host_that_refuses_is_told(autojump_clock: trio.testing.MockClock) -> None:
    class Sealed(SimulatedHostPaths):
        def look(self, path: str) -> FileKind:
            raise PermissionError(13, "permission denied", path)

    node = Node(host_paths=Sealed())
    with trio.move_on_after(0.1):
        await node.manager.wait_for_attach_and_mount(
            a_pod(Volume(name="h", host_path=HostPathVolumeSource(path="/x", type="File")))
        )
    assert "permission denied" in node.events[0][1]


async def test_content_follows_its_object(autojump_clock: trio.testing.MockClock) -> None:
    node = Node(config_maps={"conf": ConfigMap(data={"a": "1", "b": "2"})})
    pod = a_pod(CONFIG, EMPTY)
    await node.manager.wait_for_attach_and_mount(pod)
    writes = node.runtime.writes
    await node.manager.refresh(pod)
    assert node.runtime.writes == writes
    node.config_maps["conf"] = ConfigMap(data={"a": "3"})
    await trio.sleep(1)
    await node.manager.wait_for_attach_and_mount(pod)
    assert node.runtime.read("u/cm", "a") == b"3"
    assert sorted(node.runtime.trees[VolumeHandle("u/cm")]) == [
        "..2026_01_01_00_00_01.000000000/a",
        "..data",
        "a",
    ]


async def test_an_object_that_vanishes_leaves_the_old_content(autojump_clock: trio.testing.MockClock) -> None:
    node = Node(config_maps={"conf": ConfigMap(data={"a": "1"})})
    pod = a_pod(CONFIG)
    await node.manager.wait_for_attach_and_mount(pod)
    del node.config_maps["conf"]
    assert set(await node.manager.wait_for_attach_and_mount(pod)) == {"cm"}
    await node.manager.refresh(pod)
    assert node.events == [(0, 'MountVolume.SetUp failed for volume "cm" : configmap "conf" not found')]
    assert node.runtime.read("u/cm", "a") == b"1"


async def test_an_optional_object_fills_its_volume_later(autojump_clock: trio.testing.MockClock) -> None:
    node = Node()
    pod = a_pod(Volume(name="cm", config_map=ConfigMapVolumeSource(name="conf", optional=True)))
    await node.manager.wait_for_attach_and_mount(pod)
    (folder, link) = node.runtime.trees[VolumeHandle("u/cm")].values()
    assert (folder.is_folder, link.target) == (True, next(iter(node.runtime.trees[VolumeHandle("u/cm")])))
    node.config_maps["conf"] = ConfigMap(data={"a": "1"})
    await node.manager.refresh(pod)
    assert node.runtime.read("u/cm", "a") == b"1"


async def test_unmount_leaves_the_kubelets_files_to_dead_containers(autojump_clock: trio.testing.MockClock) -> None:
    node = Node()
    pod = a_pod(EMPTY)
    await node.manager.wait_for_attach_and_mount(pod)
    await node.manager.files.termination_log(pod, Container(name="c", termination_message_path="/dev/x"), 0)
    await node.manager.unmount(pod)
    assert node.runtime.removed == ["u/e"]
    assert node.manager.mounted(pod) == {}
    await node.manager.remove(pod)
    await node.manager.remove(pod)
    assert node.runtime.removed == ["u/e", "u/kubelet.files"]


async def test_volumes_of_an_earlier_process_are_removed_too(autojump_clock: trio.testing.MockClock) -> None:
    node, later = Node(), None
    await node.manager.wait_for_attach_and_mount(a_pod(EMPTY))
    later = Node(node.runtime)
    await later.manager.remove_orphans(lambda uid: uid != "u")
    assert node.runtime.removed == []
    await later.manager.remove_orphans(lambda uid: uid == "u")
    assert node.runtime.removed == ["u/e"]


async def test_what_cannot_be_removed_now_is_left(autojump_clock: trio.testing.MockClock) -> None:
    node = Node()
    pod = a_pod(EMPTY)
    await node.manager.wait_for_attach_and_mount(pod)
    node.runtime.error = "in use"
    await node.manager.unmount(pod)
    node.runtime.error = ""
    node.runtime.busy = True
    await node.manager.remove(pod)
    assert node.runtime.removed == []


async def test_files_of_a_volume_are_read_as_text(autojump_clock: trio.testing.MockClock) -> None:
    node = Node(config_maps={"conf": ConfigMap(data={"a": "1"})})
    mounted = await node.manager.wait_for_attach_and_mount(a_pod(CONFIG))
    assert await node.manager.read_text(mounted["cm"], "a") == "1"
    assert await node.manager.read_text(mounted["cm"], "no") == ""
    assert await node.manager.read_text(MountedVolume(name="h", host_path="/x"), "a") == ""


async def test_the_kubelets_files_are_mounts_of_one_volume(autojump_clock: trio.testing.MockClock) -> None:
    node = Node()
    pod, files = a_pod(), node.manager.files
    handle = VolumeHandle("u/kubelet.files")
    assert await files.hosts(pod, "127.0.0.1 x\n") == Mount(
        container_path="/etc/hosts", volume=handle, sub_path="etc-hosts"
    )
    container = Container(name="c", termination_message_path="dev/termination-log")
    assert await files.termination_log(pod, container, 2) == Mount(
        container_path="/dev/termination-log", volume=handle, sub_path="termination-log/c/2"
    )
    assert await files.termination_log(pod, Container(name="c"), 2) is None
    tree = node.runtime.trees[handle]
    assert {path: (file.data, file.mode) for path, file in tree.items()} == {
        "etc-hosts": (b"127.0.0.1 x\n", 0o644),
        "termination-log/c/2": (b"", 0o666),
    }
    tree["termination-log/c/2"] = evolve(tree["termination-log/c/2"], data=b"x" + b"y" * 4096)
    assert await files.read_termination_message("u", "c", 2) == b"y" * 4096
    assert await files.read_termination_message("u", "c", 3) == b""
    assert await KubeletFiles(node.runtime).read_termination_message("u", "c", 2) == b"y" * 4096
    assert await KubeletFiles(node.runtime).read_termination_message("gone", "c", 2) == b""
    assert len(node.runtime.trees) == 1
