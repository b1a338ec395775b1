"""Parts of a simulated volume that are mounted alone."""

from __future__ import annotations

import pytest

from runtime.api import Mount, SubPathError, VolumeConfig, VolumeFile
from runtime.simulated.tree import Directory, File, Tree
from runtime.simulated.volumes import VolumeStore

FILES = {
    "dir/file": VolumeFile(data=b"text"),
    "inside": VolumeFile(target="dir"),
    "dir/back": VolumeFile(target="../dir"),
    "root": VolumeFile(target="/etc"),
    "up": VolumeFile(target="../../etc"),
    "dir/root": VolumeFile(target="/etc"),
    "nothing": VolumeFile(target="none"),
    "loop": VolumeFile(target="loop"),
}


def a_store() -> tuple[VolumeStore, Mount]:
    """Return volumes, and a mount of one that has all kinds of links."""
    store = VolumeStore(lambda: 0.0)
    handle = store.create(VolumeConfig(pod_uid="u", name="v", mode=0o700))
    store.write(handle, FILES, ())
    return store, Mount(container_path="/x", volume=handle)


def prepare(store: VolumeStore, mount: Mount, sub_path: str, host: Tree | None = None) -> None:
    """Prepare a part of a volume."""
    asked = Mount(container_path="/x", volume=mount.volume, host_path=mount.host_path, sub_path=sub_path)
    store.prepare_sub_path(asked, host or Tree(Directory(), lambda: 0.0))


@pytest.mark.parametrize(
    ("sub_path", "is_missing"),
    [
        pytest.param("root", False, id="a link to the machine's files"),
        pytest.param("up", False, id="a link that climbs out"),
        pytest.param("dir/root", False, id="a link further down"),
        pytest.param("root/none/at/all", True, id="below a link out of the volume"),
        pytest.param("nothing", True, id="a link to nothing"),
        pytest.param("dir/file/below", True, id="below a file"),
        pytest.param("loop", False, id="a link to itself"),
    ],
)
def test_what_leads_out_is_refused(sub_path: str, is_missing: bool) -> None:  # noqa: FBT001 - a table
    store, mount = a_store()
    with pytest.raises(SubPathError) as caught:
        prepare(store, mount, sub_path)
    assert caught.value.is_missing is is_missing


@pytest.mark.parametrize("sub_path", ["dir", "inside/file", "dir/back/file", "./dir//file"])
def test_what_is_there_is_left_as_it_is(sub_path: str) -> None:
    store, mount = a_store()
    prepare(store, mount, sub_path)
    assert mount.volume is not None
    node = store.tree(mount.volume).get("dir/file")
    assert isinstance(node, File)
    assert bytes(node.data) == b"text"


@pytest.mark.parametrize(("sub_path", "made"), [("new/deep", "new/deep"), ("inside/new", "dir/new")])
def test_what_is_missing_is_a_folder_with_the_volumes_mode(sub_path: str, made: str) -> None:
    store, mount = a_store()
    prepare(store, mount, sub_path)
    assert mount.volume is not None
    node = store.tree(mount.volume).get(made)
    assert isinstance(node, Directory)
    assert node.mode == 0o700


def test_links_of_a_host_folder_may_be_absolute_inside_it() -> None:
    host = Tree(Directory(), lambda: 0.0)
    host.make_directories("/srv/data/real")
    store = VolumeStore(lambda: 0.0)
    handle = store.create(VolumeConfig(pod_uid="u", name="links"))
    store.write(handle, {"in": VolumeFile(target="/srv/data/real"), "out": VolumeFile(target="/srv/database")}, ())
    for name in ("in", "out"):
        node = store.tree(handle).get(name, follow=False)
        assert node is not None
        host.put(f"/srv/data/{name}", node)
    mount = Mount(container_path="/x", host_path="/srv/data")
    prepare(store, mount, "in/new", host)
    prepare(store, mount, "made", host)
    assert isinstance(host.get("/srv/data/real/new"), Directory)
    assert isinstance(host.get("/srv/data/made"), Directory)
    with pytest.raises(SubPathError):
        prepare(store, mount, "out", host)
