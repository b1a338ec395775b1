"""How a process reaches files: permissions, opening, making and removing, and the paths that are not in the tree.

Every function raises OSError with the kernel's number, so a command prints what the real one would.
"""

from __future__ import annotations

import errno
import re
from typing import TYPE_CHECKING

from runtime.simulated.procfs import proc_text
from runtime.simulated.streams import DirectoryFile, NullFile, Pipe, PipeReader, PipeWriter, Text
from runtime.simulated.tree import Directory, Fifo, File, RegularFile, Special, os_error

if TYPE_CHECKING:
    from runtime.simulated.process import Process
    from runtime.simulated.streams import OpenFile
    from runtime.simulated.tree import Entry, Found

READ, WRITE, EXECUTE = 4, 2, 1
CHUNK_BYTES = 65536
_OWN_FD = re.compile(r"/dev/(?:fd/(\d+)|(stdin|stdout|stderr))|/proc/self/fd/(\d+)")
_PROC_FD = re.compile(r"/proc/(\d+)/fd/(\d+)")
_STANDARD = {"stdin": 0, "stdout": 1, "stderr": 2}


def may(process: Process, node: Entry | None, want: int) -> bool:
    """Tell whether a process may do something with a node by its mode bits."""
    if node is None or process.container.ids.uid == 0:
        return True
    if node.uid == process.container.ids.uid:
        bits = node.mode >> 6
    elif node.gid in process.container.ids.groups:
        bits = node.mode >> 3
    else:
        bits = node.mode
    return bits & want == want


def find(process: Process, path: str, *, follow: bool = True) -> Found:
    """Resolve a path for a process."""
    return process.container.tree.find(path, process.cwd, follow=follow)


def get(process: Process, path: str, *, follow: bool = True) -> Entry | None:
    """Return the node at a path, None when there is none."""
    return process.container.tree.get(path, process.cwd, follow=follow)


def exists(process: Process, path: str) -> bool:
    """Tell whether a path leads to anything, in the tree or made up for the process."""
    if get(process, path) is not None:
        return True
    try:
        special = _open_special(process, path)
    except OSError:
        return False
    if special is not None:
        special.release()
    return special is not None


def need(process: Process, path: str, *, follow: bool = True) -> Entry:
    """Return the node at a path; OSError (ENOENT)."""
    node = find(process, path, follow=follow).node
    if node is None:
        raise os_error(errno.ENOENT, path)
    return node


def create(process: Process, path: str, node: Entry) -> None:
    """Put a new node at a path; OSError (EEXIST, EACCES, EROFS)."""
    found = find(process, path, follow=False)
    if found.node is not None:
        raise os_error(errno.EEXIST, path)
    _check_parent(process, found, path)
    node.uid, node.gid = process.container.ids.uid, process.container.ids.gid
    process.container.tree.inherit(found.parent, node)
    process.container.tree.attach(found.parent, found.name, node)


def remove(process: Process, path: str) -> None:
    """Take a path out of its directory; OSError (ENOENT, EACCES, EROFS, EBUSY)."""
    found = find(process, path.rstrip("/") or "/", follow=False)
    if found.node is None:
        raise os_error(errno.ENOENT, path)
    _check_parent(process, found, path)
    process.container.tree.detach(found)


def check_parent(process: Process, path: str) -> None:
    """Check that a path may be made; OSError (ENOENT, EACCES, EROFS)."""
    _check_parent(process, find(process, path, follow=False), path)


def _check_parent(process: Process, found: Found, path: str) -> None:
    if found.readonly:
        raise os_error(errno.EROFS, path)
    if not may(process, found.parent, WRITE):
        raise os_error(errno.EACCES, path)


async def open_file(process: Process, path: str, mode: str) -> OpenFile:
    """Open a path to read ("r"), write ("w"), append ("a"), or both ("rw"); a named pipe waits for its other side."""
    special = _open_special(process, path)
    if special is not None:
        return special
    found = find(process, path)
    node = found.node
    if node is None:
        node = _make(process, found, path, mode)
    _check_open(process, found, node, path, mode)
    match node:
        case File():
            if mode == "w":
                node.resize(0)
            node.mtime = node.mtime if mode == "r" else process.container.tree.now()
            return RegularFile(node, readable=mode in {"r", "rw"}, writable=mode != "r", append=mode == "a")
        case Special():
            return node.open()
        case Fifo():
            return await _open_fifo(node.pipe, mode)
        case Directory() if mode == "r":
            return DirectoryFile()
    raise os_error(errno.EISDIR, path)


def _make(process: Process, found: Found, path: str, mode: str) -> File:
    if mode == "r" or path.endswith("/"):
        raise os_error(errno.ENOENT, path)
    _check_parent(process, found, path)
    node = File(mode=0o666 & ~process.umask, uid=process.container.ids.uid, gid=process.container.ids.gid)
    process.container.tree.inherit(found.parent, node)
    process.container.tree.attach(found.parent, found.name, node)
    return node


def _check_open(process: Process, found: Found, node: Entry, path: str, mode: str) -> None:
    if isinstance(node, Directory) and mode != "r":
        raise os_error(errno.EISDIR, path)
    if mode != "r" and found.readonly and isinstance(node, File):
        raise os_error(errno.EROFS, path)
    if not may(process, node, {"r": READ, "rw": READ | WRITE}.get(mode, WRITE)):
        raise os_error(errno.EACCES, path)


def _open_special(process: Process, path: str) -> OpenFile | None:
    if not path.startswith(("/dev/", "/proc/")):
        return None
    if match := _OWN_FD.fullmatch(path):
        number = _STANDARD[match[2]] if match[2] else int(match[1] or match[3])
        return _duplicate(process, number, path)
    if match := _PROC_FD.fullmatch(path):
        other = process.container.pids.processes.get(int(match[1]))
        if other is None and process.container.pids.is_shared and int(match[1]) == 1:
            return NullFile()
        if other is None:
            raise os_error(errno.ENOENT, path)
        return _duplicate(other, int(match[2]), path)
    text = proc_text(process, path)
    return None if text is None else Text(text)


def _duplicate(process: Process, fd: int, path: str) -> OpenFile:
    file = process.fds.get(fd)
    if file is None:
        raise os_error(errno.ENOENT, path)
    file.retain()
    return file


async def _open_fifo(pipe: Pipe, mode: str) -> OpenFile:
    if mode == "r":
        reader = PipeReader(pipe)
        pipe.wake()
        try:
            while pipe.writers == 0 and not pipe.data:
                await pipe.wait_changed()
        except BaseException:
            reader.release()
            raise
        return reader
    writer = PipeWriter(pipe)
    pipe.wake()
    try:
        while pipe.readers == 0 and mode != "rw":
            await pipe.wait_changed()
    except BaseException:
        writer.release()
        raise
    return writer


async def read_all(file: OpenFile) -> bytes:
    """Read an open file to its end."""
    parts = []
    while part := await file.read(CHUNK_BYTES):
        parts.append(part)
    return b"".join(parts)


async def read_path(process: Process, path: str) -> bytes:
    """Return a file's content; OSError."""
    file = await open_file(process, path, "r")
    try:
        return await read_all(file)
    finally:
        file.release()
