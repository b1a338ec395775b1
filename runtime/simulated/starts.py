"""What keeps a program from being started in a container, in runc's words.

Source: runc 1.3 (libcontainer rootfs_linux.go, standard_init_linux.go) and Go's exec.LookPath, which it calls. What
an older runc says differs in some words: a directory is "permission denied" to it.
"""

from __future__ import annotations

import errno
import os
import posixpath
from contextlib import suppress
from typing import TYPE_CHECKING

from runtime.simulated import access
from runtime.simulated.program import StartFailure
from runtime.simulated.tree import Directory

if TYPE_CHECKING:
    from runtime.simulated.process import Main, Process

CREATE = "failed to create containerd task: failed to create shim task: OCI runtime create failed: runc create failed: "
START = f"{CREATE}unable to start container process: "
EXEC = 'failed to start exec "{id}": OCI runtime exec failed: exec failed: unable to start container process: '
_PROC_FILES = """cpuinfo diskstats meminfo stat swaps uptime loadavg slabinfo net/dev sys/kernel/ns_last_pid
    sys/crypto/fips_enabled"""
PROC_FILES = frozenset(f"/proc/{name}" for name in _PROC_FILES.split())
"""What may be mounted over in /proc (runc checkProcMount)."""

MAX_WORD_BYTES, MAX_WORDS_BYTES = 128 << 10, 2 << 20
NOT_EXECUTED = 255


def go_error(number: int) -> str:
    """Return Go's text of an error number."""
    return os.strerror(number).lower()


def init_failure(text: str) -> StartFailure:
    """Return the failure of what runc does in the container before it runs the program."""
    return StartFailure(f"{START}error during container init: {text}")


def mount_failure(source: str, target: str, why: str) -> StartFailure:
    """Return the failure of one mount."""
    return init_failure(f'error mounting "{source}" to rootfs at "{target}": {why}')


def refused_place(target: str) -> str:
    """Return why nothing may be mounted at a path, empty when that may be: /proc and /sys are the kernel's."""
    path = posixpath.normpath(target)
    if path == "/proc":
        return f'"{path}" cannot be mounted because it is not of type proc'
    if path.startswith("/proc/") and path not in PROC_FILES:
        return f'"{path}" cannot be mounted because it is inside /proc'
    if path.startswith("/sys/"):
        return f"mkdirat {path}: {go_error(errno.EROFS)}"
    return ""


def look_path(process: Process, word: str, prefix: str) -> str:
    """Return the path of the program that a word means to runc: StartFailure when it can't be run.

    Source: Go exec.LookPath, by the process's own PATH and rights.
    """
    if "/" in word:
        number, is_found = _fault(process, word)
        if number:
            before = "" if is_found else f"stat {word}: "
            raise StartFailure(f"{prefix}exec: {quoted(word)}: {before}{go_error(number)}")
        return word
    for folder in process.env.get("PATH", "").split(":"):
        path = f"{folder or '.'}/{word}"
        if word and not _fault(process, path)[0]:
            return path
    raise StartFailure(f"{prefix}exec: {quoted(word)}: executable file not found in $PATH")


def _fault(process: Process, path: str) -> tuple[int, bool]:
    """Return why a file can't be run, 0 when it can, and whether there is one."""
    parts = posixpath.join(process.cwd, path).split("/")
    try:
        for count in range(1, len(parts)):
            if not access.may(process, access.get(process, "/".join(parts[:count]) or "/"), access.EXECUTE):
                return errno.EACCES, False
        node = access.need(process, path)
    except OSError as error:
        return (error.errno or errno.ENOENT), False
    if isinstance(node, Directory):
        return errno.EISDIR, True
    may_be_run = bool(node.mode & 0o111) and access.may(process, node, access.EXECUTE)
    return (0 if may_be_run else errno.EACCES), True


def words_fault(process: Process) -> int:
    """Return why the kernel takes no such arguments and variables, 0 when it does: one or all too long (execve(2))."""
    texts = [*process.argv, *(f"{name}={value}" for name, value in process.env.items())]
    if any("\0" in text for text in texts):
        return errno.EINVAL
    sizes = [len(text.encode(errors="surrogateescape")) + 1 for text in texts]
    is_too_long = max(sizes, default=0) > MAX_WORD_BYTES or sum(sizes) > MAX_WORDS_BYTES
    return errno.E2BIG if is_too_long else 0


def not_executed(path: str, number: int) -> Main:
    """Return what becomes of a process that the kernel doesn't make a program of: it says so and ends."""

    async def main(process: Process) -> int:
        with suppress(OSError):
            await process.write(2, f"exec {path}: {go_error(number)}\n".encode())
        return NOT_EXECUTED

    return main


def quoted(text: str) -> str:
    """Return a text as Go's %q prints it."""
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n").replace("\t", "\\t") + '"'
