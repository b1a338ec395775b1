"""Volumes on a real engine, in folders and inside the engine."""

from __future__ import annotations

import contextlib
import os
from typing import TYPE_CHECKING

import pytest
from engine_pods import PodMaker, new_instance, sandbox_config

from runtime.api import CRIError, Mount, NotFoundError, SubPathError, VolumeConfig, VolumeFile, VolumeHandle
from runtime.docker import DockerRuntime

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from docker import APIClient

    from runtime.api import ImageID

pytestmark = pytest.mark.docker


@pytest.fixture(params=["folder", "engine"])
async def pod(
    request: pytest.FixtureRequest, engine: APIClient, busybox: ImageID, tmp_path: Path
) -> AsyncIterator[PodMaker]:
    """Give a pod of a runtime with each kind of volumes."""
    root = tmp_path if request.param == "folder" else None
    async with DockerRuntime(new_instance(), root=root) as runtime:
        config = sandbox_config()
        yield PodMaker(runtime, busybox, config, await runtime.run_pod_sandbox(config))
        await runtime.remove_all()
    assert not root or os.listdir(root / "instances") == []  # noqa: PTH208 - the names alone


async def volume(pod: PodMaker, name: str = "v", **changes: object) -> VolumeHandle:
    """Make a volume of the pod."""
    return await pod.runtime.create_volume(VolumeConfig(pod_uid=pod.config.metadata.uid, name=name, **changes))


@pytest.mark.parametrize("medium", ["", "Memory"])
async def test_what_is_written_is_what_containers_see_and_back(pod: PodMaker, medium: str) -> None:
    handle = await volume(pod, medium=medium, mode=0o1777)
    assert await volume(pod, medium=medium, mode=0o1777) == handle
    tree = {
        "plain": VolumeFile(data=b"text\n", mode=0o640, uid=12, gid=34),
        "deep/er/file": VolumeFile(data=b"deep\n"),
        "link": VolumeFile(target="deep/er/file"),
    }
    await pod.runtime.write_volume(handle, tree)
    script = "cd /v; stat -c '%a %u %g %n' . plain; cat plain link; echo from-inside > new; stat -f -c %T ."
    lines = await pod.log_of(await pod.start("a", script, mounts=(Mount(container_path="/v", volume=handle),)))
    assert lines[:4] == ["1777 0 0 .", "640 12 34 plain", "text", "deep"]
    assert (lines[4] == "tmpfs") == (medium == "Memory")
    assert await pod.runtime.read_volume(handle, "new", last_bytes=7) == b"inside\n"
    assert await pod.runtime.read_volume(handle, "none", last_bytes=7) == b""
    assert await pod.runtime.read_volume(handle, "deep", last_bytes=7) == b""
    await pod.runtime.write_volume(handle, {"plain": VolumeFile(data=b"new text\n")})
    assert await pod.runtime.read_volume(handle, "plain", last_bytes=100) == b"new text\n"
    assert await pod.runtime.read_volume(handle, "deep/er/file", last_bytes=100) == b"deep\n"
    await pod.runtime.write_volume(handle, {"last": VolumeFile()}, remove=("deep", "link", "none/at/all"))
    left = await pod.start("b", "ls /v", mounts=(Mount(container_path="/v", volume=handle),))
    assert await pod.log_of(left) == ["last", "new", "plain"]
    config = VolumeConfig(pod_uid=pod.config.metadata.uid, name="v", medium=medium, mode=0o1777)
    assert await pod.runtime.list_volumes() == ((handle, config),)


async def test_a_file_that_is_mounted_alone_is_changed_where_it_is(pod: PodMaker) -> None:
    handle = await volume(pod)
    await pod.runtime.write_volume(handle, {"hosts": VolumeFile(data=b"a long first text\n", in_place=True)})
    mounts = (Mount(container_path="/seen", volume=handle, sub_path="hosts"),)
    container = await pod.start("a", "sleep 100", mounts=mounts)
    for text in (b"short\n", b"a text that is longer than the ones before\n", b""):
        await pod.runtime.write_volume(handle, {"hosts": VolumeFile(data=text, in_place=True)})
        seen = await pod.runtime.exec_sync(container, ("cat", "/seen"), timeout_seconds=10)
        assert seen.stdout == text
    await pod.runtime.write_volume(handle, {"hosts": VolumeFile(data=b"another file\n")})
    seen = await pod.runtime.exec_sync(container, ("cat", "/seen"), timeout_seconds=10)
    assert seen.stdout == b"", "by a rename it is another file"


async def test_memory_has_its_limit_and_outlives_containers(pod: PodMaker) -> None:
    handle = await volume(pod, medium="Memory", size_limit_bytes=1 << 20)
    mounts = (Mount(container_path="/v", volume=handle),)
    script = "echo kept > /v/kept; dd if=/dev/zero of=/v/big bs=1M count=2 2>/dev/null || echo full"
    assert await pod.log_of(await pod.start("a", script, mounts=mounts)) == ["full"]
    assert await pod.log_of(await pod.start("b", "cat /v/kept", mounts=mounts)) == ["kept"]


async def test_sub_paths_name_folders_and_files(pod: PodMaker) -> None:
    handle = await volume(pod)
    await pod.runtime.write_volume(handle, {"dir/a": VolumeFile(data=b"A\n"), "one": VolumeFile(data=b"1\n")})
    mounts = (
        Mount(container_path="/d", volume=handle, sub_path="dir", readonly=True),
        Mount(container_path="/dev/termination-log", volume=handle, sub_path="one"),
        Mount(container_path="/n", volume=handle, sub_path="new/deep"),
    )
    script = "cat /d/a; touch /d/x 2>/dev/null || echo ro; echo last words > /dev/termination-log; echo n > /n/n"
    lines = await pod.log_of(await pod.start("a", script, mounts=mounts))
    assert (lines[0], lines[-1]) == ("A", "ro")
    assert await pod.runtime.read_volume(handle, "one", last_bytes=6) == b"words\n"
    assert await pod.runtime.read_volume(handle, "new/deep/n", last_bytes=6) == b"n\n"


@pytest.mark.parametrize("medium", ["", "Memory"])
async def test_a_group_reaches_all_that_is_made_in_a_volume(pod: PodMaker, medium: str) -> None:
    handle = await volume(pod, medium=medium, mode=0o2777, gid=3000)
    tree = {
        "dir/a": VolumeFile(data=b"A\n", gid=3000),
        "empty": VolumeFile(gid=3000, is_folder=True),
        "link": VolumeFile(target="dir/a", gid=3000),
    }
    await pod.runtime.write_volume(handle, tree)
    mounts = [Mount(container_path="/v", volume=handle)]
    if not medium:
        mounts.append(Mount(container_path="/s", volume=handle, sub_path="sub/deep"))
    script = (
        "cd /v; mkdir -p sub/deep; touch new sub/deep/new;"
        " stat -c '%a %g %n' . dir empty link; stat -c %g new sub/deep/new"
    )
    lines = await pod.log_of(await pod.start("a", script, mounts=tuple(mounts)))
    assert lines == ["2777 3000 .", "2755 3000 dir", "2755 3000 empty", "777 3000 link", "3000", "3000"]


async def test_a_planted_link_does_not_lead_out(pod: PodMaker, tmp_path: Path) -> None:
    handle = await volume(pod)
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret").write_text("secret")
    script = f"ln -s {outside} /v/out; ln -s {outside}/secret /v/file"
    await pod.log_of(await pod.start("a", script, mounts=(Mount(container_path="/v", volume=handle),)))
    assert await pod.runtime.read_volume(handle, "file", last_bytes=10) == b""
    assert await pod.runtime.read_volume(handle, "out/secret", last_bytes=10) == b""
    with contextlib.suppress(CRIError):
        await pod.runtime.write_volume(handle, {"out/x": VolumeFile(data=b"x")})
    assert os.listdir(outside) == ["secret"]  # noqa: PTH208 - the names alone


@pytest.mark.parametrize(
    ("sub_path", "is_missing"),
    [
        pytest.param("root", False, id="a link to a folder of the host"),
        pytest.param("up", False, id="a link that climbs out"),
        pytest.param("dir/root", False, id="a link further down"),
        pytest.param("root/none/at/all", True, id="below a link out of the volume"),
        pytest.param("nothing", True, id="a link to nothing"),
        pytest.param("file/below", True, id="below a file"),
    ],
)
async def test_a_sub_path_that_leads_out_is_refused(pod: PodMaker, sub_path: str, is_missing: bool) -> None:  # noqa: FBT001 - a table
    handle = await volume(pod)
    up = "../" * 20 + "etc"
    plant = (
        f"cd /v; mkdir dir; ln -s /etc root; ln -s {up} up; ln -s /etc dir/root; ln -s none nothing; echo text > file"
    )
    await pod.log_of(await pod.start("p", plant, mounts=(Mount(container_path="/v", volume=handle),)))
    mount = Mount(container_path="/x", volume=handle, sub_path=sub_path)
    with pytest.raises(SubPathError) as caught:
        await pod.runtime.prepare_sub_path(mount)
    assert caught.value.is_missing is is_missing
    with pytest.raises(SubPathError):
        await pod.create("a", "", mounts=(mount,))
    assert await pod.runtime.read_volume(handle, "file", last_bytes=9) == b"text\n"


async def test_links_that_stay_in_the_volume_are_followed(pod: PodMaker) -> None:
    handle = await volume(pod, mode=0o755)
    tree = {
        "..data": VolumeFile(target="..1"),
        "..1/sub/file": VolumeFile(data=b"text\n"),
        "sub": VolumeFile(target="..data/sub"),
    }
    await pod.runtime.write_volume(handle, tree)
    mounts = tuple(
        Mount(container_path=f"/{at}", volume=handle, sub_path=sub_path)
        for at, sub_path in (("folder", "sub"), ("file", "sub/file"), ("new", "sub/new/deep"))
    )
    script = "cat /folder/file /file; touch /new/x; ls /folder/new/deep; stat -c %a /new"
    assert await pod.log_of(await pod.start("a", script, mounts=mounts)) == ["text", "text", "x", "755"]


async def test_a_part_of_a_host_folder_is_mounted_alone(pod: PodMaker, tmp_path: Path) -> None:
    base = tmp_path / "given"
    (base / "part").mkdir(parents=True)
    (base / "part" / "file").write_text("part\n")
    (base / "whole").write_text("whole\n")
    (base / "out").symlink_to("/etc")
    parts = (("/part", "part"), ("/file", "part/file"), ("/made", "made"))
    mounts = tuple(Mount(container_path=at, host_path=str(base), sub_path=path) for at, path in parts)
    lines = await pod.log_of(await pod.start("a", "cat /part/file /file; ls /part /made", mounts=mounts))
    assert lines == ["part", "part", "/made:", "", "/part:", "file"]
    assert (base / "made").is_dir()
    with pytest.raises(SubPathError):
        await pod.create("b", "", mounts=(Mount(container_path="/o", host_path=str(base), sub_path="out"),))


async def test_host_folders_are_mounted_read_only_when_asked(pod: PodMaker, tmp_path: Path) -> None:
    (tmp_path / "given").mkdir()
    (tmp_path / "given" / "file").write_text("given\n")
    mount = Mount(container_path="/h", host_path=str(tmp_path / "given"), readonly=True)
    lines = await pod.log_of(await pod.start("a", "cat /h/file; touch /h/x 2>/dev/null || echo ro", mounts=(mount,)))
    assert (lines[0], lines[-1]) == ("given", "ro")


async def test_removing_is_complete_and_repeatable(pod: PodMaker) -> None:
    for medium in ("", "Memory"):
        handle = await volume(pod, medium=medium)
        await pod.runtime.write_volume(handle, {"a/b": VolumeFile(data=b"x")})
        await pod.runtime.remove_volume(handle)
        await pod.runtime.remove_volume(handle)
        with pytest.raises(NotFoundError):
            await pod.runtime.write_volume(handle, {"a": VolumeFile()})
    assert await pod.runtime.list_volumes() == ()


async def test_a_state_folder_that_cant_be_written_is_no_bug(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(CRIError, match=r"the state folder .*/file/instances/.* can't be written: Not a directory"):
        async with DockerRuntime(new_instance(), root=tmp_path / "file"):
            pass


async def test_volumes_that_the_disk_refuses_are_no_bug(tmp_path: Path) -> None:
    instance = new_instance()
    async with DockerRuntime(instance, root=tmp_path) as runtime:
        try:
            config = VolumeConfig(pod_uid="u", name="v")
            (tmp_path / "instances" / instance / "volumes").write_text("")
            with pytest.raises(CRIError, match=r"volumes can't be made in .*: Not a directory"):
                await runtime.create_volume(config)
            (tmp_path / "instances" / instance / "volumes").unlink()
            await runtime.create_volume(config)
            (tmp_path / "instances" / instance / "volumes" / "w").write_text("")
            with pytest.raises(CRIError, match=r"/volumes/w/v.*: Not a directory"):
                await runtime.create_volume(VolumeConfig(pod_uid="w", name="v"))
        finally:
            await runtime.remove_all()
