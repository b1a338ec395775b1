"""Files in memory: the tree of a container, of a volume, of the machine.

Nodes are shared: a mount puts a volume's own node into a container's tree, so what one container writes the other
reads. Paths are resolved as Linux does: symbolic links (40 at most), "..", mounts and their read-only flag.
"""

from __future__ import annotations

import errno
import os
import stat
from typing import TYPE_CHECKING

import trio
from attrs import define, field

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from runtime.simulated.streams import OpenFile, Pipe

MAX_LINKS = 40
DIRECTORY_BYTES = 4096


@define(eq=False)
class File:
    """A regular file; `budget` counts its bytes against a size limit."""

    data: bytearray = field(factory=bytearray)
    mode: int = 0o644
    uid: int = 0
    gid: int = 0
    mtime: float = 0.0
    budget: Budget | None = None
    _changed: trio.Event | None = field(default=None, init=False)

    async def wait_changed(self) -> None:
        """Wait until something is written."""
        if self._changed is None:
            self._changed = trio.Event()
        await self._changed.wait()

    def write(self, position: int, data: bytes) -> None:
        """Write `data` at a position within the file; OSError when the volume is full."""
        self._charge(max(0, position + len(data) - len(self.data)))
        self.data[position : position + len(data)] = data

    def resize(self, size: int) -> None:
        """Cut the file or fill it with zeros."""
        self._charge(size - len(self.data))
        if size < len(self.data):
            del self.data[size:]
        else:
            self.data += bytes(size - len(self.data))

    def _charge(self, size: int) -> None:
        if self._changed is not None:
            self._changed.set()
            self._changed = None
        if self.budget is not None:
            self.budget.charge(size)


@define(eq=False)
class Budget:
    """Bytes used of a limited volume (an emptyDir in memory); None is no limit."""

    limit_bytes: int | None = None
    used_bytes: int = 0

    def charge(self, size: int) -> None:
        """Count `size` bytes more, or less when negative; OSError (ENOSPC) over the limit."""
        if self.limit_bytes is not None and self.used_bytes + size > self.limit_bytes:
            raise OSError(errno.ENOSPC, "No space left on device")
        self.used_bytes += size


@define(eq=False)
class RegularFile:
    """A file of the container's tree, opened at a position."""

    node: File
    readable: bool = True
    writable: bool = False
    append: bool = False
    position: int = 0

    async def write(self, data: bytes) -> None:
        """Write at the position, or at the end when opened to append."""
        if not self.writable:
            raise OSError(9, "Bad file descriptor")
        if self.append:
            self.position = len(self.node.data)
        end = self.position + len(data)
        if self.position > len(self.node.data):
            self.node.resize(self.position)
        self.node.write(self.position, data)
        self.position = end

    async def read(self, limit: int) -> bytes:
        """Return the next part."""
        if not self.readable:
            raise OSError(9, "Bad file descriptor")
        part = bytes(self.node.data[self.position : self.position + limit])
        self.position += len(part)
        return part

    def retain(self) -> None:
        """Count nothing: a closed file needs no care."""

    def release(self) -> None:
        """Count nothing."""


@define(eq=False)
class Directory:
    """A directory; its children keep no order of their own, listings are sorted."""

    children: dict[str, Node] = field(factory=dict)
    mode: int = 0o755
    uid: int = 0
    gid: int = 0
    mtime: float = 0.0
    budget: Budget | None = None


@define(eq=False)
class Symlink:
    """A symbolic link."""

    target: str
    mode: int = 0o777
    uid: int = 0
    gid: int = 0
    mtime: float = 0.0


@define(eq=False)
class Fifo:
    """A named pipe."""

    pipe: Pipe
    mode: int = 0o644
    uid: int = 0
    gid: int = 0
    mtime: float = 0.0


@define(eq=False)
class Special:
    """A device or a file of /proc: what opening it gives is decided when it is opened."""

    open: Callable[[], OpenFile]
    mode: int = 0o666
    uid: int = 0
    gid: int = 0
    mtime: float = 0.0
    is_device: bool = True


@define(eq=False)
class MountPoint:
    """A node mounted over a name."""

    node: Entry
    readonly: bool = False


Entry = File | Directory | Symlink | Fifo | Special
Node = Entry | MountPoint


@define(eq=False)
class Found:
    """Where a path leads: the directory and name that hold the node, and the node if there is one."""

    parent: Directory
    name: str
    node: Entry | None
    readonly: bool
    path: str


def os_error(number: int, path: str) -> OSError:
    """Return an OSError with the C library's text."""
    return OSError(number, os.strerror(number), path)


def plain(node: Node | None) -> Entry | None:
    """Return what is mounted when the node is a mount point, else the node."""
    while isinstance(node, MountPoint):
        node = node.node
    return node


@define(eq=False)
class Tree:
    """A tree with a root; `now` gives the times of files, in seconds since 1970; `image_bytes` were there first."""

    root: Directory
    now: Callable[[], float]
    is_readonly: bool = False
    image_bytes: int = 0

    def find(self, path: str, cwd: str = "/", *, follow: bool = True) -> Found:
        """Resolve a path; OSError (ENOENT, ENOTDIR, ELOOP) when a directory on the way is missing."""
        return self._walk(_parts(path, cwd), path, follow=follow or path.endswith("/"))

    def get(self, path: str, cwd: str = "/", *, follow: bool = True) -> Entry | None:
        """Return the node at a path, None when there is none."""
        try:
            return self.find(path, cwd, follow=follow).node
        except OSError:
            return None

    def _walk(self, todo: list[str], path: str, *, follow: bool) -> Found:
        trail: list[tuple[Directory, str, bool]] = [(self.root, "", self.is_readonly)]
        links = 0
        todo.reverse()
        while todo:
            name = todo.pop()
            here, _, readonly = trail[-1]
            if name == "..":
                if len(trail) > 1:
                    trail.pop()
                continue
            child = here.children.get(name)
            while isinstance(child, MountPoint):
                readonly, child = child.readonly, child.node
            if isinstance(child, Symlink) and (todo or follow):
                links += 1
                if links > MAX_LINKS:
                    raise os_error(errno.ELOOP, path)
                if child.target.startswith("/"):
                    del trail[1:]
                todo.extend(reversed(_split(child.target)))
                continue
            if not todo:
                full = "/".join(["", *(step[1] for step in trail[1:]), name])
                return Found(here, name, child, readonly, full)
            if child is None:
                raise os_error(errno.ENOENT, path)
            if not isinstance(child, Directory):
                raise os_error(errno.ENOTDIR, path)
            trail.append((child, name, readonly))
        here, name, readonly = trail[-1]
        full = "/".join(["", *(step[1] for step in trail[1:])]) or "/"
        holder = trail[-2][0] if len(trail) > 1 else here
        return Found(holder, name, here, readonly, full)

    def directory(self, path: str, cwd: str = "/") -> Directory:
        """Return the directory at a path; OSError (ENOENT, ENOTDIR)."""
        node = self.find(path, cwd).node
        if node is None:
            raise os_error(errno.ENOENT, path)
        if not isinstance(node, Directory):
            raise os_error(errno.ENOTDIR, path)
        return node

    def put(self, path: str, node: Node, cwd: str = "/") -> Node:
        """Put a node at a path whose directory exists, in the place of one that is there; OSError (EROFS)."""
        found = self.find(path, cwd, follow=False)
        if found.readonly:
            raise os_error(errno.EROFS, path)
        self.attach(found.parent, found.name, node)
        return node

    def inherit(self, parent: Directory, node: Entry) -> None:
        """Give a new node what a set-group-id directory hands on: its group, and to directories the bit."""
        if parent.mode & stat.S_ISGID:
            node.gid = parent.gid
            node.mode |= stat.S_ISGID if isinstance(node, Directory) else 0

    def attach(self, parent: Directory, name: str, node: Node) -> None:
        """Put a node into a directory, with the directory's budget and the present time."""
        if not isinstance(node, MountPoint):
            node.mtime = self.now()
        if isinstance(node, File | Directory):
            node.budget = parent.budget
        parent.children[name] = node
        parent.mtime = self.now()

    def detach(self, found: Found) -> None:
        """Take a name out of its directory; OSError (EROFS, EBUSY for a mount)."""
        child = found.parent.children.get(found.name)
        if isinstance(child, MountPoint) or found.name == "":
            raise os_error(errno.EBUSY, found.path)
        if found.readonly:
            raise os_error(errno.EROFS, found.path)
        if isinstance(child, File) and child.budget is not None:
            child.budget.charge(-len(child.data))
        found.parent.children.pop(found.name, None)
        found.parent.mtime = self.now()

    def make_directories(self, path: str, cwd: str = "/", mode: int = 0o755) -> Directory:
        """Make a directory and all above it that are missing; OSError (EEXIST, ENOTDIR, EROFS)."""
        parts = _parts(path, cwd)
        for count in range(1, len(parts) + 1):
            step = "/" + "/".join(parts[:count])
            found = self.find(step)
            if found.node is None:
                if found.readonly:
                    raise os_error(errno.EROFS, path)
                made = Directory(mode=mode)
                self.inherit(found.parent, made)
                self.attach(found.parent, found.name, made)
            elif not isinstance(found.node, Directory):
                raise os_error(errno.EEXIST if count == len(parts) else errno.ENOTDIR, path)
        return self.directory("/" + "/".join(parts))

    def walk(self, directory: Directory, prefix: str = "") -> Iterator[tuple[str, Entry]]:
        """Yield every path below a directory with its node, in sorted order, directories before what they hold."""
        for name in sorted(directory.children):
            node = plain(directory.children[name])
            if node is None:
                continue
            yield f"{prefix}{name}", node
            if isinstance(node, Directory):
                yield from self.walk(node, f"{prefix}{name}/")


def bytes_below(directory: Directory) -> int:
    """Return the bytes of all files below a directory; what is mounted into it is another's."""
    children = (child for child in directory.children.values() if isinstance(child, File | Directory))
    return sum(len(child.data) if isinstance(child, File) else bytes_below(child) for child in children)


def size_of(node: Entry) -> int:
    """Return the size that `ls -l` shows."""
    match node:
        case File():
            return len(node.data)
        case Directory():
            return DIRECTORY_BYTES
        case Symlink():
            return len(node.target)
        case _:
            return 0


def _split(path: str) -> list[str]:
    return [part for part in path.split("/") if part not in {"", "."}]


def _parts(path: str, cwd: str) -> list[str]:
    if not path:
        raise os_error(errno.ENOENT, path)
    return _split(path) if path.startswith("/") else _split(cwd) + _split(path)
