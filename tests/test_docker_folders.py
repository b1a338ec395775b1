"""Volumes that are folders of the host, without an engine."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest

from runtime.api import CRIError, NotFoundError, VolumeConfig, VolumeFile
from runtime.docker.folders import FolderStore, mount_tmpfs, unmount

CONFIG = VolumeConfig(pod_uid="u", name="v")
HANDLE = "u/v"


@pytest.fixture
def store(tmp_path: Path) -> FolderStore:
    """Give a store with one volume."""
    made = FolderStore(tmp_path / "volumes")
    made.create(CONFIG, HANDLE)
    return made


@pytest.mark.parametrize(
    ("root", "written", "sub_path"), [(0o777, 0o755, 0o777), (0o1777, 0o755, 0o1777), (0o2777, 0o2755, 0o2777)]
)
def test_modes_of_folders_in_a_volume(tmp_path: Path, root: int, written: int, sub_path: int) -> None:
    made = FolderStore(tmp_path / "volumes")
    made.create(VolumeConfig(pod_uid="u", name="v", mode=root, gid=os.getegid()), HANDLE)
    made.write(HANDLE, {"a/b/c": VolumeFile(data=b"text"), "empty": VolumeFile(is_folder=True)})
    deep = made.source(HANDLE, "x/y")
    data = made.folder(HANDLE).data
    modes = [path.stat().st_mode & 0o7777 for path in (data / "a" / "b", data / "empty", Path(deep))]
    assert modes == [written, written, sub_path]


def test_a_file_can_not_replace_a_folder(store: FolderStore) -> None:
    store.write(HANDLE, {"a/b": VolumeFile(data=b"text")})
    with pytest.raises(CRIError, match=r"volume 'u/v' can't be written: .*Is a directory"):
        store.write(HANDLE, {"a": VolumeFile(data=b"text")})
    assert os.listdir(store.folder(HANDLE).data) == ["a"], "nothing half written is left"  # noqa: PTH208


def test_removing_paths_that_are_gone_is_fine(store: FolderStore) -> None:
    store.write(HANDLE, {"a/b": VolumeFile()}, remove=("none", "a/none", "none/at/all", "a/b"))
    assert store.read(HANDLE, "a/b", 1) == b""
    assert os.listdir(store.folder(HANDLE).data / "a") == []  # noqa: PTH208


def test_a_volume_that_is_not_there(store: FolderStore) -> None:
    with pytest.raises(NotFoundError, match="volume 'u/w' does not exist"):
        store.write("u/w", {})
    store.remove("u/w")
    assert [handle for handle, _ in store.list()] == [HANDLE]


@pytest.mark.parametrize("damage", [b"", bytes(64), b"{", b"[]", b'{"color": "red"}', b"[" * 100_000])
def test_a_volume_of_which_is_not_known_what_it_was_made_from_stays_one(store: FolderStore, damage: bytes) -> None:
    store.create(VolumeConfig(pod_uid="u", name="w", mode=0o700), "u/w")
    store.write("u/w", {"a": VolumeFile(data=b"text")})
    store.folder("u/w").config_file.write_bytes(damage)
    assert dict(store.list())["u/w"] == VolumeConfig(pod_uid="u", name="w")
    store.create(VolumeConfig(pod_uid="u", name="w", mode=0o700), "u/w")
    assert dict(store.list())["u/w"].mode == 0o700
    assert store.read("u/w", "a", 10) == b"text", "what is in it stays"
    store.folder("u/w").config_file.unlink()
    store.remove("u/w")
    assert [handle for handle, _ in store.list()] == [HANDLE]


def test_how_much_a_volume_holds(store: FolderStore) -> None:
    assert store.usage(HANDLE) == 0
    store.write(HANDLE, {"a/b": VolumeFile(data=b"text"), "c": VolumeFile(data=b"more"), "d": VolumeFile(target="c")})
    os.mkfifo(store.folder(HANDLE).data / "pipe")
    assert store.usage(HANDLE) == len(b"text" + b"more")
    with pytest.raises(NotFoundError):
        store.usage("u/w")


def test_pipes_are_never_read(store: FolderStore) -> None:
    os.mkfifo(store.folder(HANDLE).data / "pipe")
    assert store.read(HANDLE, "pipe", 10) == b""


def test_listing_and_removing_at_the_same_time(store: FolderStore) -> None:
    ended = threading.Event()
    failures: list[BaseException] = []

    def churn() -> None:
        try:
            for _ in range(300):
                store.create(VolumeConfig(pod_uid="w", name="v"), "w/v")
                store.remove("w/v")
        except BaseException as error:  # noqa: BLE001 - told to the test's own thread
            failures.append(error)
        ended.set()

    thread = threading.Thread(target=churn)
    thread.start()
    while not ended.is_set():
        assert {handle for handle, _ in store.list()} <= {HANDLE, "w/v"}
        store.remove("x/none")
    thread.join()
    assert failures == []


def test_two_remove_everything_at_once(store: FolderStore) -> None:
    store.write(HANDLE, {f"f{number}": VolumeFile() for number in range(300)})
    failures: list[BaseException] = []

    def remove() -> None:
        try:
            store.remove_all()
        except BaseException as error:  # noqa: BLE001 - told to the test's own thread
            failures.append(error)

    threads = [threading.Thread(target=remove) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    assert not store.root.exists()


def test_what_can_not_be_mounted_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(CRIError, match=r"tmpfs can't be mounted on .*/none: "):
        mount_tmpfs(tmp_path / "none", 4096)
    unmount(tmp_path)
    monkeypatch.setattr("os.path.ismount", lambda _path: True)
    with pytest.raises(CRIError, match=r".*/none can't be unmounted: "):
        unmount(tmp_path / "none")
    mount_tmpfs(tmp_path, 4096)
