"""The seccomp profiles of the machine that the program runs on, in the place of a node's own."""

from __future__ import annotations

from pathlib import Path


def read_seccomp_profile(path: str) -> str:
    """Return the text of a profile; OSError. The file is small and local: it is read where it stands."""
    return Path(path).read_text(encoding="utf-8", errors="replace")
