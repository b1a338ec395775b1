"""Who owns what in the engine: this process, told apart from every other one, and proven dead or not.

An owner is dead only when it was on this very host (machine, host name and PID namespace) and the machine was started
anew since, or its process id is gone or belongs to a process started at another time. Everything else counts as alive.
"""

from __future__ import annotations

import hashlib
import os
import socket
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

from attrs import frozen

from runtime.docker import naming

if TYPE_CHECKING:
    from collections.abc import Mapping

_HIDDEN = "hidden"


@frozen(kw_only=True)
class Owner:
    """A process that owns objects of the engine."""

    host: str
    boot: str
    pid: int
    pid_start: str

    @classmethod
    def current(cls) -> Owner:
        """Return this process."""
        pid = os.getpid()
        return cls(host=_host_id(), boot=_boot_id(), pid=pid, pid_start=process_start(pid))

    @classmethod
    def of_labels(cls, labels: Mapping[str, str]) -> Owner | None:
        """Return the owner that labels name, None when they name none."""
        try:
            return cls(
                host=labels[naming.HOST_LABEL],
                boot=labels[naming.BOOT_LABEL],
                pid=int(labels[naming.PID_LABEL]),
                pid_start=labels[naming.PID_START_LABEL],
            )
        except (KeyError, ValueError):
            return None

    def labels(self) -> dict[str, str]:
        """Return the labels that name this owner."""
        return {
            naming.HOST_LABEL: self.host,
            naming.BOOT_LABEL: self.boot,
            naming.PID_LABEL: str(self.pid),
            naming.PID_START_LABEL: self.pid_start,
        }

    def is_proven_dead(self, here: Owner) -> bool:
        """Tell whether this owner can't be alive, as seen from the process `here`."""
        if self.host != here.host:
            return False
        if self.boot != here.boot:
            return True
        return process_start(self.pid) not in {self.pid_start, _HIDDEN}


def process_start(pid: int) -> str:
    """Return when a process started, in a form that only compares; empty when there is none."""
    if not Path("/proc/self/stat").exists():
        return _asked("ps", "-o", "lstart=", "-p", str(pid))
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return _HIDDEN if _exists(pid) else ""
    fields = stat.rpartition(")")[2].split()
    return "" if fields[0] in {"Z", "X"} else fields[19]


def _exists(pid: int) -> bool:
    """Tell whether there is such a process; /proc may hide those of other users."""
    try:
        os.kill(pid, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except OSError:
        return True
    return True


def _host_id() -> str:
    """Return a digest that names this machine, host name and PID namespace."""
    parts = [socket.gethostname(), _text_of("/etc/machine-id") or _asked("sysctl", "-n", "kern.uuid")]
    try:
        parts.append(str(Path("/proc/self/ns/pid").readlink()))
    except OSError:
        parts.append("")
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:16]


def _boot_id() -> str:
    """Return what names the present start of the machine."""
    boot = _text_of("/proc/sys/kernel/random/boot_id") or _asked("sysctl", "-n", "kern.bootsessionuuid")
    return boot.replace("-", "")[:16]


def _text_of(path: str) -> str:
    try:
        return Path(path).read_text().strip()
    except OSError:
        return ""


def _asked(*command: str) -> str:
    """Return a command's answer, empty when it has none."""
    try:
        return subprocess.run(command, capture_output=True, text=True, check=False, timeout=5).stdout.strip()  # noqa: S603
    except (OSError, subprocess.TimeoutExpired):
        return ""
