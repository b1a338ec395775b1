"""hostPath in a simulated run: what pods make there exists in the simulated machine alone.

What is on the machine that runs us may be looked at, so that `type: Directory` of a folder that nodes have holds.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from attrs import frozen

from kubelet_emu.volumes.host_files import LocalHostPaths
from kubelet_emu.volumes.host_path import Creation, FileKind
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
        """Make a directory with its parents (0755) or an empty file (0644); OSError."""
        match creation:
            case Creation.NOTHING:
                return
            case Creation.DIRECTORY:
                self.tree.make_directories(path)
            case Creation.FILE:
                folder = path.rpartition("/")[0]
                if LocalHostPaths().look(folder) is FileKind.DIRECTORY:
                    self.tree.make_directories(folder)
                self.tree.put(path, File())
