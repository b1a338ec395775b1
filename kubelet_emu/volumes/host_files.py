"""The host's files under hostPath volumes: the machine's own, or those of a simulated one."""

from __future__ import annotations

import errno
import stat
from pathlib import Path
from typing import TYPE_CHECKING

from attrs import define, field

from kubelet_emu.volumes.host_path import Creation, FileKind, check_parents, refused

if TYPE_CHECKING:
    from kubelet_emu.volumes.content import SetUpError

_KINDS = {
    stat.S_IFDIR: FileKind.DIRECTORY,
    stat.S_IFREG: FileKind.FILE,
    stat.S_IFSOCK: FileKind.SOCKET,
    stat.S_IFCHR: FileKind.CHARACTER_DEVICE,
    stat.S_IFBLK: FileKind.BLOCK_DEVICE,
}


class LocalHostPaths:
    """hostPath on the machine that runs us, which must be the engine's."""

    def look(self, path: str) -> FileKind:
        """Return what is at a path, symbolic links followed; SetUpError where it can't be seen."""
        try:
            mode = Path(path).stat().st_mode
        except (FileNotFoundError, NotADirectoryError):
            return FileKind.MISSING
        except OSError as error:
            raise _refused("stat", path, error) from error
        return _KINDS.get(stat.S_IFMT(mode), FileKind.OTHER)

    def make(self, path: str, creation: Creation) -> None:
        """Make a directory with its parents (0755) or an empty file (0644) without them; SetUpError."""
        if creation is Creation.NOTHING:
            return
        check_parents(path, creation, self.look)
        is_file = creation is Creation.FILE
        try:
            Path(path).touch(0o644) if is_file else Path(path).mkdir(0o755, parents=True, exist_ok=True)
        except OSError as error:
            raise _refused("open" if is_file else "mkdir", path, error) from error


def _refused(call: str, path: str, error: OSError) -> SetUpError:
    return refused(call, str(error.filename or path), error.errno or errno.EIO)


@define
class SimulatedHostPaths:
    """hostPath on a simulated machine: what is at a path, as told and as made."""

    kinds: dict[str, FileKind] = field(factory=dict)

    def look(self, path: str) -> FileKind:
        """Return what is at a path."""
        return self.kinds.get(path, FileKind.MISSING)

    def make(self, path: str, creation: Creation) -> None:
        """Note that a directory or a file is there now."""
        if creation is not Creation.NOTHING:
            self.kinds[path] = FileKind.DIRECTORY if creation is Creation.DIRECTORY else FileKind.FILE
