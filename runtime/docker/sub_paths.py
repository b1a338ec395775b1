"""Parts of a volume that a container mounts alone: found, or made, without being led out of the volume.

A container may plant links in a volume; one that leads elsewhere must not give it the host's files. Blocks: called in a
thread. Source: kubelet v1.36 subpath SafeMakeDir, PrepareSafeSubpath.
"""

from __future__ import annotations

import os
import stat
from contextlib import suppress
from pathlib import Path, PurePosixPath

from runtime.api import SubPathError

FOLDER_FLAGS = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


def real_sub_path(base: Path, sub_path: str) -> str:
    """Return what to bind mount for a path below `base`; SubPathError.

    What is missing becomes a folder with the permissions of `base`. Links that stay inside are followed.
    """
    named, root = base / sub_path, Path(os.path.realpath(base))
    real = Path(os.path.realpath(named))
    is_missing = not named.exists()
    if not real.is_relative_to(root):
        raise SubPathError(f"subPath {sub_path!r} leads out of its volume", is_missing=is_missing)
    if is_missing:
        if named.is_symlink():
            raise SubPathError(f"subPath {sub_path!r} is a link to nothing", is_missing=True)
        _make(root, real.relative_to(root), sub_path)
    return str(real)


def _make(root: Path, path: Path, sub_path: str) -> None:
    descriptor = os.open(root, FOLDER_FLAGS)
    try:
        mode = stat.S_IMODE(os.fstat(descriptor).st_mode)
        os.close(walk(descriptor, PurePosixPath(path), make=mode))
    except OSError as error:
        raise SubPathError(f"subPath {sub_path!r} can't be made: {error.strerror}", is_missing=True) from error
    finally:
        os.close(descriptor)


def walk(root: int, path: PurePosixPath, *, make: int | None = None) -> int:
    """Return a descriptor of a folder below `root`, without following links; `make` is the mode of missing folders."""
    current = os.dup(root)
    for part in path.parts:
        try:
            if make is not None:
                _make_folder(current, part, make)
            following = os.open(part, FOLDER_FLAGS, dir_fd=current)
        finally:
            os.close(current)
        current = following
    return current


def _make_folder(parent: int, name: str, mode: int) -> None:
    """Make a folder with the given permissions whatever the umask, unless it exists.

    A set-group-id parent hands its group on, and the bit: fsGroup reaches all that is below.
    """
    with suppress(FileExistsError):
        os.mkdir(name, dir_fd=parent)
        os.chmod(name, mode | os.fstat(parent).st_mode & stat.S_ISGID, dir_fd=parent)
