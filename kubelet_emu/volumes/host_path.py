"""hostPath: what must be there already, and what is made.

Pure: what is at a path is told by whoever can look. Source: kubelet v1.36 pkg/volume/hostpath.
"""

from __future__ import annotations

import enum
import os
from errno import ENOENT, ENOTDIR
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from kubelet_emu.api import reasons_creation
from kubelet_emu.volumes.content import SetUpError

if TYPE_CHECKING:
    from collections.abc import Callable


class FileKind(enum.Enum):
    """What is at a path, symbolic links followed."""

    MISSING = "missing"
    DIRECTORY = "directory"
    FILE = "file"
    SOCKET = "socket file"
    CHARACTER_DEVICE = "character device"
    BLOCK_DEVICE = "block device"
    OTHER = "other"


class Creation(enum.Enum):
    """What to make at a path before it is mounted; DIRECTORY has mode 0755, FILE 0644."""

    NOTHING = "nothing"
    DIRECTORY = "directory"
    FILE = "file"


_REQUIRED = {
    "Directory": FileKind.DIRECTORY,
    "DirectoryOrCreate": FileKind.DIRECTORY,
    "File": FileKind.FILE,
    "FileOrCreate": FileKind.FILE,
    "Socket": FileKind.SOCKET,
    "CharDevice": FileKind.CHARACTER_DEVICE,
    "BlockDevice": FileKind.BLOCK_DEVICE,
}
_CREATION = {"DirectoryOrCreate": Creation.DIRECTORY, "FileOrCreate": Creation.FILE}


def from_root(path: str) -> str:
    """Return a hostPath as an absolute one: a kubelet's own folder is the root."""
    return path if path.startswith("/") else f"/{path}"


def check_host_path(path: str, kind: str, found: FileKind) -> Creation:
    """Return what has to be made at a hostPath of type `kind`; SetUpError when something else is there.

    No type asks for nothing: a path that is missing is made as a directory, as runtimes do.
    Source: kubelet v1.36 hostpath checkTypeInternal.
    """
    if not kind:
        return Creation.DIRECTORY if found is FileKind.MISSING else Creation.NOTHING
    required = _REQUIRED.get(kind)
    if required is None:
        raise SetUpError(reasons_creation.HOST_PATH_TYPE_INVALID.format(type=kind))
    if found is FileKind.MISSING and kind in _CREATION:
        return _CREATION[kind]
    if found is not required:
        raise SetUpError(reasons_creation.HOST_PATH_TYPE_CHECK_FAILED.format(path=path, kind=required.value))
    return Creation.NOTHING


def check_parents(path: str, creation: Creation, look: Callable[[str], FileKind]) -> None:
    """Refuse to make what can't be made: below what is no directory, or a file in a directory that is missing.

    SetUpError has the text of the call that fails. Source: Go's os.MkdirAll, os.OpenFile.
    """
    call = "open" if creation is Creation.FILE else "mkdir"
    for parent in (str(each) for each in reversed(PurePosixPath(path).parents)):
        match look(parent):
            case FileKind.DIRECTORY:
                continue
            case FileKind.MISSING if call == "mkdir":
                return
            case FileKind.MISSING:
                raise refused(call, path, ENOENT)
            case _:
                raise refused(call, path if call == "open" else parent, ENOTDIR)


def refused(call: str, path: str, number: int) -> SetUpError:
    """Return what a kubelet says of a call that its machine refused (Go's PathError)."""
    return SetUpError(f"{call} {path}: {os.strerror(number).lower()}")
