"""Volumes as folders of the host, bind mounted: where engine and tool share a file system and we are root.

Containers may write into a volume while we do, so every path is walked component by component without following
links: a link planted in a volume can't lead us out of it.
"""

from __future__ import annotations

import ctypes
import errno
import json
import os
import shutil
import stat
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

import attrs
from attrs import define, frozen

from runtime.api import VOLUME_FOLDER_MODE, CRIError, NotFoundError, VolumeConfig
from runtime.docker.sub_paths import FOLDER_FLAGS, real_sub_path, walk
from runtime.docker.whole_files import write_whole

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from runtime.api import VolumeFile

_DETACH = 2  # MNT_DETACH
_CONFIG_FILE = "volume.json"


@frozen
class Folder:
    """One volume's folder: `data` is what containers see, beside it stands what it was made from."""

    path: Path

    @property
    def data(self) -> Path:
        """Return the folder that containers see."""
        return self.path / "data"

    @property
    def config_file(self) -> Path:
        """Return the file that says what the volume was made from."""
        return self.path / _CONFIG_FILE

    def config(self) -> VolumeConfig | None:
        """Return what the volume was made from, None where that isn't written down or is damaged; OSError.

        A file is damaged when the machine lost its power.
        """
        try:
            found = json.loads(self.config_file.read_bytes())
            return VolumeConfig(**found)
        except (FileNotFoundError, NotADirectoryError, ValueError, TypeError, RecursionError):
            return None


@define(eq=False)
class FolderStore:
    """Volumes below one folder. All methods block: they are called in a thread."""

    root: Path

    def folder(self, handle: str) -> Folder:
        """Return the folder of a handle `<pod uid>/<name>`."""
        return Folder(self.root / handle)

    def create(self, config: VolumeConfig, handle: str) -> None:
        """Make the folder, or leave the one that exists as it is."""
        folder = self.folder(handle)
        if folder.config() is not None:
            return
        folder.path.mkdir(mode=0o700, parents=True, exist_ok=True)
        folder.data.mkdir(exist_ok=True)
        if config.medium == "Memory":
            mount_tmpfs(folder.data, config.size_limit_bytes)
        os.chown(folder.data, -1, -1 if config.gid is None else config.gid)
        folder.data.chmod(config.mode)
        write_whole(folder.config_file, json.dumps(attrs.asdict(config)))

    def write(self, handle: str, tree: Mapping[str, VolumeFile], remove: tuple[str, ...] = ()) -> None:
        """Put each file in place by a rename, then remove paths; NotFoundError when there is no such volume."""
        root = self._open_data(handle)
        try:
            for path, file in tree.items():
                if file.is_folder:
                    os.close(walk(root, PurePosixPath(path), make=VOLUME_FOLDER_MODE))
                elif not file.in_place or not _rewrite_file(root, PurePosixPath(path), file.data):
                    _write_file(root, PurePosixPath(path), file)
            for path in remove:
                _remove_path(root, PurePosixPath(path))
        except OSError as error:
            raise CRIError(f"volume {handle!r} can't be written: {error}") from error
        finally:
            os.close(root)

    def usage(self, handle: str) -> int:
        """Return the bytes of the files in a volume; what vanishes meanwhile counts nothing."""
        root = self._open_data(handle)
        try:
            return sum(_size(name, folder) for _, _, names, folder in os.fwalk(dir_fd=root) for name in names)
        finally:
            os.close(root)

    def read(self, handle: str, path: str, last_bytes: int) -> bytes:
        """Return the end of one regular file; empty for everything else."""
        root = self._open_data(handle)
        try:
            parts = PurePosixPath(path)
            parent = walk(root, parts.parent)
            try:
                return _read_end(parent, parts.name, last_bytes)
            finally:
                os.close(parent)
        except OSError:
            return b""
        finally:
            os.close(root)

    def remove(self, handle: str) -> None:
        """Unmount and remove the folder; what is gone is fine."""
        folder = self.folder(handle)
        unmount(folder.data)
        _remove_tree(folder.path)
        try:
            folder.path.parent.rmdir()
        except OSError:
            return

    def source(self, handle: str, sub_path: str) -> str:
        """Return what to bind mount; SubPathError when the sub path leads out of the volume or can't be made."""
        data = self.folder(handle).data
        return real_sub_path(data, sub_path) if sub_path else str(data)

    def list(self) -> Iterator[tuple[str, VolumeConfig]]:
        """Yield the volumes that are there, also those that were never finished; one that is removed meanwhile not."""
        for handle in self._handles():
            folder = self.folder(handle)
            config = folder.config()
            if config is not None:
                yield handle, config
            elif folder.path.is_dir():
                pod_uid, _, name = handle.partition("/")
                yield handle, VolumeConfig(pod_uid=pod_uid, name=name)

    def remove_all(self) -> None:
        """Remove every volume and the folder that holds them."""
        for handle in self._handles():
            unmount(self.folder(handle).data)
        _remove_tree(self.root)

    def _handles(self) -> Iterator[str]:
        for pod_uid in folder_names(self.root):
            for name in folder_names(self.root / pod_uid):
                yield f"{pod_uid}/{name}"

    def _open_data(self, handle: str) -> int:
        try:
            return os.open(self.folder(handle).data, FOLDER_FLAGS)
        except OSError as error:
            raise NotFoundError(f"volume {handle!r} does not exist") from error


def folder_names(path: Path) -> list[str]:
    """Return what a folder holds, sorted; nothing once it is gone (Path.glob raises when it goes meanwhile)."""
    try:
        return sorted(os.listdir(path))  # noqa: PTH208 - the names alone
    except (FileNotFoundError, NotADirectoryError):
        return []


def _remove_tree(path: Path) -> None:
    """Remove a folder with its content; others may be removing it at the same time."""
    while path.exists():
        try:
            shutil.rmtree(path)
        except FileNotFoundError:
            continue


def _write_file(root: int, path: PurePosixPath, file: VolumeFile) -> None:
    """Write one file or link beside its place and rename it there."""
    parent = walk(root, path.parent, make=VOLUME_FOLDER_MODE)
    temporary = f".kubelet-emu-{path.name}"[:255]
    try:
        if file.target is not None:
            os.symlink(file.target, temporary, dir_fd=parent)
            uid, gid = (-1 if owner is None else owner for owner in (file.uid, file.gid))
            os.chown(temporary, uid, gid, dir_fd=parent, follow_symlinks=False)
        else:
            _write_data(parent, temporary, file)
        os.rename(temporary, path.name, src_dir_fd=parent, dst_dir_fd=parent)
    except OSError:
        _unlink(parent, temporary)
        raise
    finally:
        os.close(parent)


def _rewrite_file(root: int, path: PurePosixPath, data: bytes) -> bool:
    """Put data into a file that is there, never leaving it empty meanwhile; False when there is none."""
    try:
        parent = walk(root, path.parent)
        try:
            descriptor = os.open(path.name, os.O_WRONLY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=parent)
        finally:
            os.close(parent)
    except FileNotFoundError:
        return False
    with open(descriptor, "wb") as stream:  # noqa: PTH123 - a descriptor
        stream.write(data)
        stream.truncate()
    return True


def _write_data(parent: int, name: str, file: VolumeFile) -> None:
    _unlink(parent, name)
    descriptor = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600, dir_fd=parent)
    with open(descriptor, "wb") as stream:  # noqa: PTH123 - a descriptor
        stream.write(file.data)
        os.fchown(descriptor, -1 if file.uid is None else file.uid, -1 if file.gid is None else file.gid)
        os.fchmod(descriptor, file.mode)


def _remove_path(root: int, path: PurePosixPath) -> None:
    """Remove a file, a link, or a folder with its content; what is gone is fine."""
    try:
        parent = walk(root, path.parent)
    except FileNotFoundError:
        return
    try:
        if stat.S_ISDIR(os.stat(path.name, dir_fd=parent, follow_symlinks=False).st_mode):
            shutil.rmtree(path.name, dir_fd=parent)
        else:
            os.unlink(path.name, dir_fd=parent)
    except FileNotFoundError:
        return
    finally:
        os.close(parent)


def _unlink(parent: int, name: str) -> None:
    try:
        os.unlink(name, dir_fd=parent)
    except OSError:
        return


def _size(name: str, folder: int) -> int:
    try:
        found = os.stat(name, dir_fd=folder, follow_symlinks=False)
    except OSError:
        return 0
    return found.st_size if stat.S_ISREG(found.st_mode) else 0


def _read_end(parent: int, name: str, last_bytes: int) -> bytes:
    """Return the end of a regular file; a pipe or device is never opened for reading."""
    if not stat.S_ISREG(os.stat(name, dir_fd=parent, follow_symlinks=False).st_mode):
        return b""
    descriptor = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=parent)
    with open(descriptor, "rb") as stream:  # noqa: PTH123 - a descriptor
        size = os.fstat(descriptor).st_size
        stream.seek(max(0, size - last_bytes))
        return stream.read(last_bytes)


def mount_tmpfs(path: Path, size_bytes: int | None) -> None:
    """Mount an empty tmpfs, once; CRIError when the system refuses."""
    if os.path.ismount(path):
        return
    options = f"size={size_bytes}" if size_bytes else ""
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.mount(b"tmpfs", os.fsencode(path), b"tmpfs", 0, options.encode()) != 0:
        number = ctypes.get_errno()
        raise CRIError(f"tmpfs can't be mounted on {path}: {os.strerror(number)}")


def unmount(path: Path) -> None:
    """Unmount what is mounted there, if anything; users of it keep it until they end."""
    if not os.path.ismount(path):
        return
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.umount2(os.fsencode(path), _DETACH) != 0 and ctypes.get_errno() != errno.EINVAL:
        raise CRIError(f"{path} can't be unmounted: {os.strerror(ctypes.get_errno())}")
