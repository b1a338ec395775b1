"""State folders in trouble: full, read-only, gone, damaged. Pods don't notice, and nothing stays for ever."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import uuid
from typing import TYPE_CHECKING

import images
import pytest
from engine_pods import new_instance
from kept import nothing_else_kept
from killed_runs import left
from whole_runs import a_run

from runtime.api import VolumeConfig
from runtime.docker import DockerRuntime
from runtime.docker.cleaning import UNOWNED_SECONDS
from runtime.docker.folders import FolderStore, mount_tmpfs, unmount
from runtime.docker.volumes import volumes_folder

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from docker import APIClient

    from runtime.api import ImageID

pytestmark = pytest.mark.docker

ENGINE = "unix:///var/run/docker.sock"
DISK_BYTES = 1 << 20
PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")
FULL = "No space left on device"
POD = """\
apiVersion: v1
kind: Pod
metadata: {{name: {name}}}
spec:
  terminationGracePeriodSeconds: 5
  volumes: [{{name: scratch, emptyDir: {{}}}}, {{name: memory, emptyDir: {{medium: Memory}}}}]
  containers:
  - name: main
    image: {image}
    command: [sh, -c, "trap 'exit 0' TERM; echo up; while :; do sleep 0.1; done"]
    volumeMounts: [{{name: scratch, mountPath: /scratch}}, {{name: memory, mountPath: /memory}}]
"""


@pytest.fixture
def manifest(tmp_path: Path, busybox: ImageID) -> Path:
    """Write a pod with a name of its own in a folder of its own, where its state will be, too."""
    folder = tmp_path / "place"
    folder.mkdir()
    path = folder / f"pod-{uuid.uuid4().hex[:8]}.yaml"
    path.write_text(POD.format(name=path.stem, image=images.BUSYBOX))
    return path


@pytest.fixture
def disk(manifest: Path) -> Iterator[Path]:
    """Put the place of a manifest's state on a small disk; it is gone afterwards, whatever is left on it."""
    root = manifest.parent / "root"
    root.mkdir()
    mount_tmpfs(root, DISK_BYTES)
    yield root
    unmount(root)


def fill(disk: Path, leave_pages: int = 0) -> Path:
    """Fill a disk up to so many pages."""
    file = disk / "fill"
    with file.open("wb", buffering=0) as out:
        try:
            while True:
                out.write(bytes(PAGE_BYTES))
        except OSError:
            out.truncate(max(0, out.tell() - leave_pages * PAGE_BYTES))
    return file


def command(manifest: Path, name: str, *words: str) -> subprocess.CompletedProcess[str]:
    """Do a command on the state beside a manifest."""
    line = [sys.executable, "-m", "kubelet_emu", name, *words, "--root-dir", str(manifest.parent / "root")]
    return subprocess.run(line, capture_output=True, text=True, check=False, timeout=60)


def folders(manifest: Path) -> list[Path]:
    """Return the folders of runs."""
    found = manifest.parent / "root" / "instances"
    return sorted(found.iterdir()) if found.exists() else []


def stays(engine: APIClient, root: Path) -> list[str]:
    """Return what is left of runs with a state folder, but the disk that it lies on."""
    return [each for each in left(engine, root, set()) if f" {root} " not in each]


async def killed(manifest: Path) -> Path:
    """Run a manifest until it is killed; return its folder."""
    async with a_run(manifest, ENGINE) as run:
        await run.until(" is ready\n")
        run.process.kill()
        await run.end()
    (folder,) = folders(manifest)
    return folder


@pytest.mark.own_engine
@pytest.mark.parametrize("pages", range(5))
def test_a_disk_that_is_full_from_the_start_is_one_line(
    engine: APIClient, manifest: Path, disk: Path, pages: int
) -> None:
    (disk / "instances").mkdir()
    fill(disk, pages)
    done = command(manifest, "run", str(manifest))
    *before, last = done.stderr.splitlines()
    assert done.returncode in {1, 2}
    assert last.startswith("error: ")
    assert last.endswith(f": {FULL}")
    assert str(disk / "instances") in last
    assert all("records" in line for line in before)
    assert folders(manifest) == []
    assert stays(engine, disk) == []


@pytest.mark.own_engine
async def test_a_disk_that_fills_up_stops_no_pod(engine: APIClient, manifest: Path, disk: Path) -> None:
    async with a_run(manifest, ENGINE) as run:
        await run.until(" is ready\n")
        fill(disk)
        run.process.send_signal(signal.SIGINT)
        assert await run.end() == 0, run.seen
    assert run.seen.count(f"/objects: {FULL}: a killed run can't be gone on with\n") == 1
    assert "are not whole: " in run.seen
    assert f"\n{manifest.stem}  Succeeded" in run.seen
    assert stays(engine, disk) == []


async def test_a_folder_that_is_removed_under_a_run_stops_no_pod(engine: APIClient, manifest: Path) -> None:
    async with a_run(manifest, ENGINE) as run:
        await run.until(" is ready\n")
        (folder,) = folders(manifest)
        for each in ("memory", "kubelet"):
            for volume in (folder / "volumes").glob(f"*/{each}"):
                unmount(volume / "data")
        FolderStore(folder).remove_all()
        assert command(manifest, "ps").returncode == 2
        with nothing_else_kept():
            assert command(manifest, "prune").returncode == 0
        run.process.send_signal(signal.SIGINT)
        assert await run.end() == 0, run.seen
    assert "a killed run can't be gone on with\n" in run.seen
    assert f"\n{manifest.stem}  Succeeded" in run.seen
    assert stays(engine, manifest.parent / "root") == []


@pytest.mark.own_engine
async def test_prune_makes_room_on_a_full_disk(engine: APIClient, manifest: Path, disk: Path) -> None:
    await killed(manifest)
    fill(disk)
    refused = command(manifest, "run", str(manifest))
    assert refused.returncode == 2
    assert refused.stderr.splitlines()[-2].endswith(f"/runtime-owner.json: {FULL}")
    assert refused.stderr.splitlines()[-1] == f"to remove what is left: kubelet-emu prune --root-dir {disk}"
    with nothing_else_kept():
        assert command(manifest, "prune").returncode == 0
    assert folders(manifest) == []
    assert stays(engine, disk) == []


@pytest.mark.own_engine
async def test_what_lies_on_a_read_only_disk_is_named_and_stays(engine: APIClient, manifest: Path, disk: Path) -> None:
    folder = await killed(manifest)
    before = stays(engine, disk)
    remount(disk, "ro")
    try:
        with nothing_else_kept():
            done = command(manifest, "prune")
        assert done.returncode == 1
        told = f"error: left alone what run {folder.name} had left: {folder}: Read-only file system"
        assert [line for line in done.stderr.splitlines() if line.startswith("error: ")] == [told]
        for words in ((), ("--replace",)):
            done = command(manifest, "run", str(manifest), *words)
            assert done.returncode == 2
            assert ": Read-only file system" in done.stderr
            assert "Traceback" not in done.stderr
        assert stays(engine, disk) == before
    finally:
        remount(disk, "rw")
    with nothing_else_kept():
        assert command(manifest, "prune").returncode == 0
    assert stays(engine, disk) == []


def remount(disk: Path, how: str) -> None:
    subprocess.run(["mount", "-o", f"remount,{how}", str(disk)], check=True)


async def test_damaged_volumes_are_gone_on_with(engine: APIClient, manifest: Path) -> None:
    folder = await killed(manifest)
    damaged = [file.write_bytes(b"") for file in folder.glob("volumes/*/*/volume.json")]
    async with a_run(manifest, ENGINE) as run:
        await run.until("goes on with the run ")
        await run.until(" is ready\n")
        run.process.send_signal(signal.SIGINT)
        assert await run.end() == 0, run.seen
    assert damaged or os.geteuid() != 0
    assert "Traceback" not in run.seen
    assert stays(engine, manifest.parent / "root") == []


async def test_a_run_of_a_damaged_owner_is_removed_by_the_next(engine: APIClient, manifest: Path) -> None:
    folder = await killed(manifest)
    (folder / "runtime-owner.json").write_bytes(b"")
    async with a_run(manifest, ENGINE) as run:
        await run.until(f"removed what the dead run {folder.name} had left\n")
        await run.until(" is ready\n")
        run.process.send_signal(signal.SIGINT)
        assert await run.end() == 0, run.seen
    assert stays(engine, manifest.parent / "root") == []


UNOWNED: list[tuple[str, Callable[[Path], object], bool, bool]] = [
    ("damaged", lambda folder: (folder / "runtime-owner.json").write_bytes(b""), False, True),
    ("never written", lambda folder: (folder / "runtime-owner.json.new").touch(), False, True),
    ("damaged, and kept", lambda folder: (folder / "runtime-kept.json").touch(), True, True),
    ("just being written", os.utime, False, False),
]


@pytest.mark.parametrize(
    ("make", "is_kept", "is_removed"), [row[1:] for row in UNOWNED], ids=[row[0] for row in UNOWNED]
)
@pytest.mark.parametrize("step", [-2 * UNOWNED_SECONDS, 3600.0], ids=["old", "from before a step of the clock"])
async def test_a_folder_of_nobody_is_removed(
    tmp_path: Path,
    make: Callable[[Path], object],
    is_kept: bool,  # noqa: FBT001 - a table's column
    is_removed: bool,  # noqa: FBT001 - the same
    step: float,
) -> None:
    folder = tmp_path / "instances" / "0badcafe"
    (folder / "objects").mkdir(parents=True)
    (folder / "objects" / "00000001.json").touch()
    (folder / "records.jsonl").touch()
    for path in (folder, *folder.iterdir()):
        at = path.stat().st_mtime + step
        os.utime(path, (at, at))
    at = folder.stat().st_mtime
    make(folder)
    if is_removed:
        for path in (folder, *folder.iterdir()):
            os.utime(path, (at, at))
    async with DockerRuntime(new_instance(), root=tmp_path) as runtime:
        try:
            swept = await runtime.sweep_dead_owners()
            assert (folder.name in swept) is (is_removed and not is_kept)
            swept += await runtime.sweep_dead_owners(include_kept=True)
            assert swept.count(folder.name) == is_removed
            assert folder.exists() is not is_removed
        finally:
            await runtime.remove_all()


@pytest.mark.own_engine
async def test_a_folder_that_cannot_be_removed_is_told(tmp_path: Path) -> None:
    instance, notes = new_instance(), list[str]()
    async with DockerRuntime(instance, root=tmp_path, on_note=notes.append) as runtime:
        await runtime.create_volume(VolumeConfig(pod_uid="u", name="v"))
        held = volumes_folder(tmp_path, instance) / "u" / "v" / "data" / "held"
        held.mkdir()
        mount_tmpfs(held, None)
        try:
            await runtime.remove_all()
            assert [note for note in notes if "removed" in note] == [
                f"{tmp_path / 'instances' / instance} can't be removed: held: Device or resource busy"
            ]
        finally:
            unmount(held)
        await runtime.remove_all()
    assert list((tmp_path / "instances").iterdir()) == []


def test_volumes_are_folders_also_below_a_relative_place(manifest: Path) -> None:
    text = (
        manifest.read_text()
        .replace("while :; do sleep 0.1; done", "exit 0")
        .replace("spec:", "spec:\n  restartPolicy: Never")
    )
    manifest.write_text(text)
    line = [sys.executable, "-m", "kubelet_emu", "run", manifest.name, "--root-dir", "root"]
    done = subprocess.run(line, capture_output=True, text=True, check=False, timeout=60, cwd=manifest.parent)
    assert done.returncode == 0
    assert "volumes live in the engine" not in done.stderr or os.geteuid() != 0
    assert folders(manifest) == []
