"""Tests that keep something on the engine and tests that prune, one at a time: `prune` takes what any run has kept."""

from __future__ import annotations

import fcntl
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

_LOCK = "kubelet-emu-tests-kept.lock"


@contextmanager
def nothing_else_kept() -> Iterator[None]:
    """Wait until no test of this machine keeps or prunes, and let none do so in the body."""
    with (Path(tempfile.gettempdir()) / _LOCK).open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
