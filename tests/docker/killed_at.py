"""`kubelet-emu`, killed as by `kill -9` at a record of its log: `python killed_at.py RECORD SECONDS run MANIFEST...`.

It is killed so many seconds after its journal has handed the n-th record to all who listen.
"""

from __future__ import annotations

import itertools
import os
import signal
import sys
import threading
from typing import TYPE_CHECKING

from kubelet_emu.cli.program import run
from kubelet_emu.journal.journal import Journal

if TYPE_CHECKING:
    from kubelet_emu.journal.records import Record


def kill_at(last: int, seconds: float) -> None:
    """Have this process killed after its n-th record."""
    emit, numbers = Journal.emit, itertools.count(1)

    def emit_and_count(journal: Journal, record: Record) -> None:
        emit(journal, record)
        if next(numbers) == last:
            if seconds:
                threading.Timer(seconds, _kill).start()
            else:
                _kill()

    Journal.emit = emit_and_count  # type: ignore[method-assign]


def _kill() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


if __name__ == "__main__":
    kill_at(int(sys.argv.pop(1)), float(sys.argv.pop(1)))
    run()
