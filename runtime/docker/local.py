"""What can be done only on the engine's own machine, with a check that it is that machine."""

from __future__ import annotations

import os
import signal
from pathlib import Path


def is_process_of(pid: int, container_id: str) -> bool:
    """Tell whether a process id, as the engine gives it, is a process of that container here.

    False on another machine, in another PID namespace, and where /proc does not tell.
    """
    try:
        return container_id in Path(f"/proc/{pid}/cgroup").read_text()
    except OSError:
        return False


def kill_process_of(pid: int, container_id: str) -> bool:
    """SIGKILL one process of a container, if it is here and we may; tell whether it was sent.

    Source: containerd kills a command whose time is over. The descriptor keeps a process id that is used again from
    being hit.
    """
    if pid <= 0 or not hasattr(os, "pidfd_open"):
        return False
    try:
        descriptor = os.pidfd_open(pid)
    except OSError:
        return False
    try:
        if not is_process_of(pid, container_id):
            return False
        signal.pidfd_send_signal(descriptor, signal.SIGKILL)
    except OSError:
        return False
    finally:
        os.close(descriptor)
    return True
