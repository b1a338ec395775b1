"""What volumes contain, and their layout (kubelet v1.36 pkg/volume)."""

from __future__ import annotations

import socket
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pytest

from kubelet_emu.api.meta import ObjectMeta
from kubelet_emu.api.quantity import Quantity
from kubelet_emu.api.v1 import (
    ConfigMap,
    Container,
    EphemeralContainer,
    Pod,
    PodSpec,
    ResourceRequirements,
    Secret,
    VolumeDevice,
    VolumeMount,
)
from kubelet_emu.api.v1_environment import ObjectFieldSelector, ResourceFieldSelector
from kubelet_emu.api.v1_volumes import (
    ConfigMapProjection,
    ConfigMapVolumeSource,
    DownwardAPIProjection,
    DownwardAPIVolumeFile,
    DownwardAPIVolumeSource,
    EmptyDirVolumeSource,
    KeyToPath,
    ProjectedVolumeSource,
    SecretProjection,
    SecretVolumeSource,
    Volume,
    VolumeProjection,
)
from kubelet_emu.rules.downward_api import RuntimeFacts
from kubelet_emu.volumes.atomic_writer import PayloadError, WrittenPayload, plan_update
from kubelet_emu.volumes.content import ContentSources, Payload, PayloadFile, SetUpError, payload_of
from kubelet_emu.volumes.empty_dir import check_medium, memory_size
from kubelet_emu.volumes.host_files import LocalHostPaths, SimulatedHostPaths
from kubelet_emu.volumes.host_path import Creation, FileKind, check_host_path
from kubelet_emu.volumes.mounted import MountConfigError, MountedVolume, make_mounts, used_volumes
from runtime.api import Mount, VolumeFile, VolumeHandle

if TYPE_CHECKING:
    from pathlib import Path

NOW = datetime(2026, 12, 2, 1, 2, 3, 456789, tzinfo=UTC)
POD = Pod(
    metadata=ObjectMeta(name="p", namespace="ns", uid="u", labels={"a": "1"}),
    spec=PodSpec(containers=(Container(name="c", resources=ResourceRequirements(limits={"cpu": Quantity("250m")})),)),
)
CONFIG_MAPS = {("ns", "cm"): ConfigMap(data={"k1": "one", "k2": "two"}, binary_data={"bin": b"\xff"})}
SECRETS = {("ns", "s"): Secret(data={"key": b"secret"})}
SOURCES = ContentSources(
    config_map=lambda namespace, name: CONFIG_MAPS.get((namespace, name)),
    secret=lambda namespace, name: SECRETS.get((namespace, name)),
    now=NOW,
    facts=RuntimeFacts(node_name="node1"),
    allocatable={"memory": Quantity("1Gi")},
)


def config_map(name: str = "cm", *items: KeyToPath, optional: bool | None = None, mode: int | None = None) -> Volume:
    source = ConfigMapVolumeSource(name=name, items=items, optional=optional, default_mode=mode)
    return Volume(name="v", config_map=source)


def secret(name: str = "s", *items: KeyToPath, optional: bool | None = None) -> Volume:
    return Volume(name="v", secret=SecretVolumeSource(secret_name=name, items=items, optional=optional))


def downward(*items: DownwardAPIVolumeFile) -> Volume:
    return Volume(name="v", downward_api=DownwardAPIVolumeSource(items=items, default_mode=0o600))


def projected(*sources: VolumeProjection) -> Volume:
    return Volume(name="v", projected=ProjectedVolumeSource(sources=sources, default_mode=0o440))


def field_item(path: str, field_path: str, mode: int | None = None) -> DownwardAPIVolumeFile:
    return DownwardAPIVolumeFile(path=path, field_ref=ObjectFieldSelector(field_path=field_path), mode=mode)


CM_PROJECTION = VolumeProjection(config_map=ConfigMapProjection(name="cm", items=(KeyToPath(key="k1", path="key"),)))
GONE_PROJECTION = VolumeProjection(config_map=ConfigMapProjection(name="gone"))
SECRET_PROJECTION = VolumeProjection(secret=SecretProjection(name="s"))
FIELD_PROJECTION = VolumeProjection(downward_api=DownwardAPIProjection(items=(field_item("ns", "metadata.namespace"),)))


@pytest.mark.parametrize(
    ("volume", "expected"),
    [
        pytest.param(
            config_map(),
            {"k1": PayloadFile(b"one", 0o644), "k2": PayloadFile(b"two", 0o644), "bin": PayloadFile(b"\xff", 0o644)},
            id="a ConfigMap has data and binary data",
        ),
        pytest.param(
            config_map(
                "cm", KeyToPath(key="k1", path="sub/one", mode=0o400), KeyToPath(key="k2", path="two"), mode=0o600
            ),
            {"sub/one": PayloadFile(b"one", 0o400), "two": PayloadFile(b"two", 0o600)},
            id="items choose keys, paths and modes",
        ),
        pytest.param(
            config_map("cm", KeyToPath(key="no", path="x"), optional=True), {}, id="an optional key may be missing"
        ),
        pytest.param(config_map("gone", optional=True), {}, id="an optional ConfigMap may be missing"),
        pytest.param(secret(), {"key": PayloadFile(b"secret", 0o644)}, id="a Secret"),
        pytest.param(secret("gone", optional=True), {}, id="an optional Secret may be missing"),
        pytest.param(
            downward(
                field_item("labels", "metadata.labels", 0o444),
                DownwardAPIVolumeFile(
                    path="cpu",
                    resource_field_ref=ResourceFieldSelector(
                        container_name="c", resource="limits.cpu", divisor=Quantity("1m")
                    ),
                ),
                DownwardAPIVolumeFile(path="none"),
            ),
            {
                "labels": PayloadFile(b'a="1"', 0o444),
                "cpu": PayloadFile(b"250", 0o600),
                "none": PayloadFile(b"", 0o600),
            },
            id="the downward API",
        ),
        pytest.param(
            projected(CM_PROJECTION, SECRET_PROJECTION, FIELD_PROJECTION, VolumeProjection()),
            {"key": PayloadFile(b"secret", 0o440), "ns": PayloadFile(b"ns", 0o440)},
            id="projected sources are merged, later ones win",
        ),
        pytest.param(Volume(name="v", empty_dir=EmptyDirVolumeSource()), None, id="another kind has no payload"),
    ],
)
def test_payload(volume: Volume, expected: Payload | None) -> None:
    assert payload_of(POD, volume, SOURCES) == expected


@pytest.mark.parametrize(
    ("volume", "text"),
    [
        (config_map("gone"), 'configmap "gone" not found'),
        (secret("gone"), 'secret "gone" not found'),
        (config_map("cm", KeyToPath(key="no", path="x")), "configmap references non-existent config key: no"),
        (secret("s", KeyToPath(key="no", path="x")), "references non-existent secret key: no"),
        (downward(field_item("x", "spec.foo")), "unsupported fieldPath: spec.foo"),
        (projected(GONE_PROJECTION), 'configmap "gone" not found'),
        (
            projected(GONE_PROJECTION, VolumeProjection(secret=SecretProjection(name="lost")), GONE_PROJECTION),
            '[configmap "gone" not found, secret "lost" not found]',
        ),
    ],
)
def test_a_payload_that_cannot_be_made(volume: Volume, text: str) -> None:
    with pytest.raises(SetUpError) as raised:
        payload_of(POD, volume, SOURCES)
    assert str(raised.value) == text


ONE = {"k": PayloadFile(b"1", 0o600), "sub/a": PayloadFile(b"2", 0o644), "sub/b": PayloadFile(b"3", 0o644)}


def test_a_payload_lies_behind_two_links() -> None:
    update = plan_update(ONE, NOW)
    assert update is not None
    directory = "..2026_12_02_01_02_03.456789000"
    assert list(update.tree.items()) == [
        (f"{directory}/k", VolumeFile(data=b"1", mode=0o600)),
        (f"{directory}/sub/a", VolumeFile(data=b"2", mode=0o644)),
        (f"{directory}/sub/b", VolumeFile(data=b"3", mode=0o644)),
        ("..data", VolumeFile(target=directory)),
        ("k", VolumeFile(target="..data/k")),
        ("sub", VolumeFile(target="..data/sub")),
    ]
    assert update.remove == ()
    assert update.written == WrittenPayload(directory=directory, payload=ONE)


def test_an_equal_payload_is_not_written_again() -> None:
    old = WrittenPayload(directory="..old", payload=ONE)
    assert plan_update(dict(ONE), NOW, old) is None
    assert plan_update(dict(ONE), NOW, old, gid=5) is not None


def test_an_update_drops_what_is_gone() -> None:
    old = WrittenPayload(directory="..old", payload=ONE)
    update = plan_update({"k": PayloadFile(b"9", 0o644)}, NOW, old)
    assert update is not None
    assert update.remove == ("sub", "..old")


def test_an_empty_payload_has_an_empty_directory() -> None:
    directory = "..2026_12_02_01_02_03.456789000"
    empty = {directory: VolumeFile(is_folder=True), "..data": VolumeFile(target=directory)}
    first = plan_update({}, NOW)
    assert first is not None
    assert (first.tree, first.remove) == (empty, ())
    update = plan_update({}, NOW, WrittenPayload(directory="..old", payload=ONE))
    assert update is not None
    assert (update.tree, update.remove) == (empty, ("k", "sub", "..old"))
    assert plan_update({}, NOW, update.written) is None
    again = plan_update(ONE, NOW + timedelta(seconds=1), update.written)
    assert again is not None
    assert again.remove == (directory,)


def test_two_updates_of_one_instant_have_two_directories() -> None:
    first = plan_update(ONE, NOW)
    assert first is not None
    second = plan_update({"k": PayloadFile(b"9", 0o644)}, NOW, first.written)
    assert second is not None
    assert second.written.directory != first.written.directory
    third = plan_update(ONE, NOW + timedelta(seconds=1), second.written)
    assert third is not None
    assert third.written.directory == "..2026_12_02_01_02_04.456789000"


def test_fs_group_owns_and_may_read_the_files() -> None:
    update = plan_update({"k": PayloadFile(b"1", 0o600)}, NOW, gid=7)
    assert update is not None
    assert update.tree["..2026_12_02_01_02_03.456789000/k"] == VolumeFile(data=b"1", mode=0o640, gid=7)


def test_a_path_is_written_in_its_shortest_form() -> None:
    payload = {"./x//y": PayloadFile(b"1", 0o644), "d/": PayloadFile(b"2", 0o644)}
    update = plan_update(payload, NOW)
    assert update is not None
    directory = update.written.directory
    assert list(update.tree) == [f"{directory}/x/y", f"{directory}/d", "..data", "x", "d"]
    assert plan_update(payload, NOW, update.written) is None


@pytest.mark.parametrize("path", ["", "/a", "a/../b", "..a", "..", "a" * 256, "/".join(["a" * 200] * 21)])
def test_a_path_that_leaves_the_volume_is_refused(path: str) -> None:
    with pytest.raises(PayloadError):
        plan_update({path: PayloadFile(b"", 0o644)}, NOW)


@pytest.mark.parametrize(
    ("kind", "found", "expected"),
    [
        ("", FileKind.MISSING, Creation.DIRECTORY),
        ("", FileKind.SOCKET, Creation.NOTHING),
        ("DirectoryOrCreate", FileKind.MISSING, Creation.DIRECTORY),
        ("DirectoryOrCreate", FileKind.DIRECTORY, Creation.NOTHING),
        ("FileOrCreate", FileKind.MISSING, Creation.FILE),
        ("File", FileKind.FILE, Creation.NOTHING),
        ("Socket", FileKind.SOCKET, Creation.NOTHING),
        ("CharDevice", FileKind.CHARACTER_DEVICE, Creation.NOTHING),
        ("BlockDevice", FileKind.BLOCK_DEVICE, Creation.NOTHING),
    ],
)
def test_host_path_types(kind: str, found: FileKind, expected: Creation) -> None:
    assert check_host_path("/x", kind, found) is expected


@pytest.mark.parametrize(
    ("kind", "found", "text"),
    [
        ("Directory", FileKind.MISSING, "hostPath type check failed: /x is not a directory"),
        ("DirectoryOrCreate", FileKind.FILE, "hostPath type check failed: /x is not a directory"),
        ("File", FileKind.DIRECTORY, "hostPath type check failed: /x is not a file"),
        ("FileOrCreate", FileKind.DIRECTORY, "hostPath type check failed: /x is not a file"),
        ("Socket", FileKind.FILE, "hostPath type check failed: /x is not a socket file"),
        ("CharDevice", FileKind.OTHER, "hostPath type check failed: /x is not a character device"),
        ("BlockDevice", FileKind.FILE, "hostPath type check failed: /x is not a block device"),
        ("Tape", FileKind.FILE, "Tape is an invalid volume type"),
    ],
)
def test_a_host_path_of_another_type_is_refused(kind: str, found: FileKind, text: str) -> None:
    with pytest.raises(SetUpError) as raised:
        check_host_path("/x", kind, found)
    assert str(raised.value) == text


def test_host_paths_are_looked_at_and_made(tmp_path: Path) -> None:
    host = LocalHostPaths()
    made, file = tmp_path / "a" / "b", tmp_path / "f"
    assert host.look(str(made)) is FileKind.MISSING
    host.make(str(made), Creation.DIRECTORY)
    host.make(str(file), Creation.FILE)
    host.make(str(tmp_path / "no"), Creation.NOTHING)
    (tmp_path / "link").symlink_to(made)
    assert host.look(str(tmp_path / "link")) is FileKind.DIRECTORY
    assert host.look(str(file)) is FileKind.FILE
    assert host.look(str(file / "below")) is FileKind.MISSING
    assert host.look("/dev/null") is FileKind.CHARACTER_DEVICE
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(tmp_path / "s"))
        assert host.look(str(tmp_path / "s")) is FileKind.SOCKET
    assert not (tmp_path / "no").exists()


def test_what_a_machine_refuses_is_told_in_a_kubelets_words(tmp_path: Path) -> None:
    host = LocalHostPaths()
    (tmp_path / "file").touch()
    (tmp_path / "loop").symlink_to("loop")
    (tmp_path / "nowhere").symlink_to("missing")
    told = []
    for call, path in (
        (lambda at: host.make(at, Creation.FILE), tmp_path / "none" / "f"),
        (lambda at: host.make(at, Creation.DIRECTORY), tmp_path / "nowhere"),
        (lambda at: host.make(at, Creation.DIRECTORY), tmp_path / "file" / "d" / "e"),
        (lambda at: host.make(at, Creation.FILE), tmp_path / "file" / "f"),
        (host.look, tmp_path / "loop"),
    ):
        with pytest.raises(SetUpError) as raised:
            call(str(path))
        told.append(str(raised.value))
    assert told == [
        f"open {tmp_path}/none/f: no such file or directory",
        f"mkdir {tmp_path}/nowhere: file exists",
        f"mkdir {tmp_path}/file: not a directory",
        f"open {tmp_path}/file/f: not a directory",
        f"stat {tmp_path}/loop: too many levels of symbolic links",
    ]


def test_a_simulated_host_remembers_what_was_made() -> None:
    host = SimulatedHostPaths()
    for path, creation in (("/d", Creation.DIRECTORY), ("/f", Creation.FILE), ("/n", Creation.NOTHING)):
        host.make(path, creation)
    assert [host.look(path) for path in ("/d", "/f", "/n")] == [FileKind.DIRECTORY, FileKind.FILE, FileKind.MISSING]


def test_an_empty_dir_knows_two_media() -> None:
    assert check_medium(EmptyDirVolumeSource()) == ""
    assert check_medium(EmptyDirVolumeSource(medium="Memory")) == "Memory"
    with pytest.raises(SetUpError, match='unknown storage medium "Tape"'):
        check_medium(EmptyDirVolumeSource(medium="Tape"))
    with pytest.raises(SetUpError, match="no huge pages"):
        check_medium(EmptyDirVolumeSource(medium="HugePages-2Mi"))


@pytest.mark.parametrize(
    ("limit", "size_limit", "allocatable", "expected"),
    [
        (None, None, {}, None),
        (None, None, {"memory": "1Gi"}, 2**30),
        ("64Mi", None, {"memory": "1Gi"}, 64 * 2**20),
        ("64Mi", "32Mi", {"memory": "1Gi"}, 32 * 2**20),
        ("64Mi", "128Mi", {"memory": "1Gi"}, 64 * 2**20),
    ],
)
def test_a_memory_volume_is_as_large_as_the_smallest_bound(
    limit: str | None, size_limit: str | None, allocatable: dict[str, str], expected: int | None
) -> None:
    limits = {} if limit is None else {"memory": Quantity(limit)}
    pod = Pod(spec=PodSpec(containers=(Container(name="c", resources=ResourceRequirements(limits=limits)),)))
    source = EmptyDirVolumeSource(medium="Memory", size_limit=None if size_limit is None else Quantity(size_limit))
    assert memory_size(pod, source, {name: Quantity(value) for name, value in allocatable.items()}) == expected


def test_only_volumes_that_a_container_uses_count() -> None:
    spec = PodSpec(
        init_containers=(Container(name="i", volume_mounts=(VolumeMount(name="a"),)),),
        containers=(Container(name="c", volume_devices=(VolumeDevice(name="b"),)),),
        ephemeral_containers=(EphemeralContainer(name="e", volume_mounts=(VolumeMount(name="c"),)),),
        volumes=(Volume(name="a"), Volume(name="unused")),
    )
    assert used_volumes(Pod(spec=spec)) == {"a", "b", "c"}


VOLUMES = {
    "v": MountedVolume(name="v", handle=VolumeHandle("h")),
    "cm": MountedVolume(name="cm", handle=VolumeHandle("cm"), is_api_data=True),
    "host": MountedVolume(name="host", host_path="/srv"),
}


def mounting(**mount: object) -> Container:
    return Container(name="c", volume_mounts=(VolumeMount(**{"name": "v", "mount_path": "/m", **mount}),))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("container", "expected"),
    [
        (mounting(), Mount(container_path="/m", volume=VolumeHandle("h"))),
        (
            mounting(mount_path="rel", read_only=True, mount_propagation="HostToContainer"),
            Mount(container_path="/rel", volume=VolumeHandle("h"), readonly=True, propagation="HostToContainer"),
        ),
        (mounting(name="cm"), Mount(container_path="/m", volume=VolumeHandle("cm"), readonly=True)),
        (mounting(name="host", sub_path="a/b"), Mount(container_path="/m", host_path="/srv", sub_path="a/b")),
        (
            mounting(sub_path_expr="$(POD)/$$(POD)"),
            Mount(container_path="/m", volume=VolumeHandle("h"), sub_path="p/$(POD)"),
        ),
    ],
)
def test_mounts(container: Container, expected: Mount) -> None:
    assert make_mounts(container, VOLUMES, {"POD": "p"}) == (expected,)


@pytest.mark.parametrize(
    ("container", "text"),
    [
        (mounting(name="gone"), 'cannot find volume "gone" to mount into container "c"'),
        (mounting(sub_path_expr="$(B)/$(A)/$(EMPTY)/$(POD)"), "missing value for A, B, EMPTY"),
        (mounting(sub_path_expr="/$(POD)"), "error SubPath `/p` must not be an absolute path"),
        (mounting(sub_path="a/.."), "unable to provision SubPath `a/..`: must not contain '..'"),
        (
            mounting(recursive_read_only="Enabled", read_only=True),
            (
                'failed to resolve recursive read-only mode: volume "v" requested recursive read-only mode,'
                " but it is not supported by the runtime"
            ),
        ),
    ],
)
def test_mounts_that_cannot_be_made(container: Container, text: str) -> None:
    with pytest.raises(MountConfigError) as raised:
        make_mounts(container, VOLUMES, {"POD": "p", "EMPTY": ""})
    assert str(raised.value) == text
