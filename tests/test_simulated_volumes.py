"""Parts of a simulated volume that are mounted alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
import trio
from simulated_world import a_world

from kubelet_emu.simulator.host_files import MachineHostPaths
from kubelet_emu.volumes.content import SetUpError
from kubelet_emu.volumes.host_path import Creation, FileKind
from runtime.api import LinuxSecurityContext, Mount, StartError, SubPathError, VolumeConfig, VolumeFile
from runtime.simulated.streams import Pipe
from runtime.simulated.tree import Directory, Fifo, File, Tree
from runtime.simulated.volumes import VolumeStore

if TYPE_CHECKING:
    from pathlib import Path

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


async def test_a_group_reaches_what_is_made_in_a_volume(autojump_clock: trio.abc.Clock) -> None:
    async with a_world() as world:
        volume = await world.runtime.create_volume(VolumeConfig(pod_uid="u", name="v", mode=0o2777, gid=3000))
        tree = {"dir/file": VolumeFile(data=b"x", gid=3000), "empty": VolumeFile(gid=3000, is_folder=True)}
        await world.runtime.write_volume(volume, tree)
        script = "cd /v; mkdir new; touch new/file; stat -c '%a %g' dir empty new new/file"
        await world.start(script, mounts=(Mount(container_path="/v", volume=volume),))
        assert (await world.watch()).text == "2755 3000\n2755 3000\n2755 3000\n644 3000"


@pytest.mark.parametrize("readonly", [False, True])
async def test_a_folder_to_work_in_is_made(autojump_clock: trio.abc.Clock, readonly: bool) -> None:  # noqa: FBT001
    async with a_world() as world:
        security = LinuxSecurityContext(readonly_rootfs=readonly)
        await world.start("pwd; stat -c '%a %u %F' .", working_dir="/made/up", security=security)
        assert (await world.watch()).text == "/made/up\n755 0 directory"


async def test_a_folder_to_work_in_is_absolute(autojump_clock: trio.abc.Clock) -> None:
    async with a_world() as world:
        with pytest.raises(StartError, match=r"runc create failed: Cwd must be an absolute path$"):
            await world.start("pwd", working_dir="tmp")


async def test_a_volume_in_memory_is_as_large_as_its_limit(autojump_clock: trio.abc.Clock) -> None:
    async with a_world() as world:
        config = VolumeConfig(pod_uid="u", name="v", medium="Memory", size_limit_bytes=1 << 20)
        volume = await world.runtime.create_volume(config)
        script = "df -k /v / | awk '{print $2}'"
        await world.start(script, mounts=(Mount(container_path="/v", volume=volume),))
        assert (await world.watch()).text == "1K-blocks\n1024\n10485760"


@pytest.mark.parametrize(
    ("changes", "lines"),
    [
        pytest.param({}, ["not a tty", "no", "read"], id="neither"),
        pytest.param({"stdin": True}, ["not a tty", "no"], id="input that nobody gives"),
        pytest.param({"tty": True}, ["/dev/pts/0", "yes"], id="a terminal"),
    ],
)
async def test_input_and_terminal(autojump_clock: trio.abc.Clock, changes: dict[str, bool], lines: list[str]) -> None:
    async with a_world() as world:
        await world.start("tty; test -t 1 && echo yes || echo no; cat; echo read", **changes)
        await trio.sleep(5)
        async with world.runtime.container_logs(world.ids["main"]) as seen:
            assert [line.line.decode() async for line in seen] == lines
        if changes:
            assert await world.exec("test -t 0 || echo none") == ("none\n", 0)


def test_host_paths_are_made_in_the_machine_alone(tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    files = MachineHostPaths(Tree(Directory(), lambda: 0.0))
    files.make(f"{tmp_path}/dir", Creation.DIRECTORY)
    files.make(f"{tmp_path}/there/file", Creation.FILE)
    files.make(f"{tmp_path}/nothing", Creation.NOTHING)
    looked = [files.look(f"{tmp_path}/{name}") for name in ("dir", "there", "there/file", "nothing")]
    assert looked == [FileKind.DIRECTORY, FileKind.DIRECTORY, FileKind.FILE, FileKind.MISSING]
    with pytest.raises(SetUpError, match=f"^open {tmp_path}/none/file: no such file or directory$"):
        files.make(f"{tmp_path}/none/file", Creation.FILE)
    assert [path.name for path in tmp_path.rglob("*")] == ["there"]


def test_files_of_the_real_machine_have_their_kind_in_the_simulated_one(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("not for a simulated pod")
    tree = Tree(Directory(), lambda: 0.0)
    files = MachineHostPaths(tree)
    with pytest.raises(SetUpError, match=f"^mkdir {tmp_path}/file: not a directory$"):
        files.make(f"{tmp_path}/file/d", Creation.DIRECTORY)
    files.make(f"{tmp_path}/file", Creation.NOTHING)
    files.make(f"{tmp_path}", Creation.NOTHING)
    node = tree.get(f"{tmp_path}/file")
    assert isinstance(node, File)
    assert (node.data, files.look(f"{tmp_path}/file")) == (b"", FileKind.FILE)


def test_a_pipe_of_the_machine_is_something_else() -> None:
    tree = Tree(Directory(), lambda: 0.0)
    tree.put("/pipe", Fifo(Pipe()))
    assert MachineHostPaths(tree).look("/pipe") is FileKind.OTHER
