"""hostPath in a simulated run: what pods make there exists in the simulated machine alone.

What is on the machine that runs us may be looked at, so that `type: Directory` of a folder that nodes have holds.
"""

from __future__ import annotations

import posixpath
from typing import TYPE_CHECKING

from attrs import frozen

from kubelet_emu.volumes.host_files import LocalHostPaths
from kubelet_emu.volumes.host_path import Creation, FileKind, check_parents
from runtime.simulated.tree import Directory, File

if TYPE_CHECKING:
    from runtime.simulated.tree import Tree


@frozen
class MachineHostPaths:
    """The files of a simulated machine, as far as hostPath volumes need them."""

    tree: Tree

    def look(self, path: str) -> FileKind:
        """Return what is at a path, symbolic links followed; OSError where it can't be seen."""
        match self.tree.get(path):
            case Directory():
                return FileKind.DIRECTORY
            case File():
                return FileKind.FILE
            case None:
                return LocalHostPaths().look(path)
        return FileKind.OTHER

    def make(self, path: str, creation: Creation) -> None:
        """Make a directory with its parents (0755) or an empty file (0644); SetUpError.

        What is on the real machine alone and is no directory has an empty file in its place.
        """
        match creation:
            case Creation.NOTHING:
                is_there = self.tree.get(path) is not None
                if not is_there and self.look(path) not in {FileKind.DIRECTORY, FileKind.MISSING}:
                    self._put_file(path)
            case Creation.DIRECTORY:
                check_parents(path, creation, self.look)
                self.tree.make_directories(path)
            case Creation.FILE:
                check_parents(path, creation, self.look)
                self._put_file(path)

    def _put_file(self, path: str) -> None:
        self.tree.make_directories(posixpath.dirname(path))
        self.tree.put(path, File())
