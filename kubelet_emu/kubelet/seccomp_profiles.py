"""The seccomp profiles of the machine that the program runs on, in the place of a node's own."""

from __future__ import annotations

import os
from errno import EINVAL
from pathlib import Path

from kubelet_emu.rules.security import SECCOMP_ROOT, SeccompOfNode


def profiles_of_machine(root: Path | None, *, is_simulated: bool) -> SeccompOfNode:
    """Return the profiles below a folder, by default a node's own: there a simulated node has none."""
    if root is None and is_simulated:
        return SeccompOfNode()
    return SeccompOfNode(root=SECCOMP_ROOT if root is None else str(root.absolute()), read=read_seccomp_profile)


def read_seccomp_profile(path: str) -> str:
    """Return the text of a profile; OSError. The file is small and local: it is read where it stands."""
    if "\0" in path:
        raise OSError(EINVAL, os.strerror(EINVAL), path)
    return Path(path).read_text(encoding="utf-8", errors="replace")
