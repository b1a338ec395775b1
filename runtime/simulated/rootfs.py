"""The files that a container starts with: its image's basics, what the runtime adds, and its mounts."""

from __future__ import annotations

import errno
import functools
from typing import TYPE_CHECKING

from runtime.simulated import starts
from runtime.simulated.machine import RESOLV_CONF
from runtime.simulated.streams import FullFile, LogFile, NullFile, ZeroFile
from runtime.simulated.tree import Directory, File, MountPoint, Special, Symlink, Tree, bytes_below

if TYPE_CHECKING:
    from collections.abc import Mapping

    from runtime.api import DNSConfig, Mount
    from runtime.simulated.container import Container
    from runtime.simulated.tree import Entry, Node
    from runtime.simulated.volumes import VolumeStore

BASE_PASSWD = b"root:x:0:0:root:/root:/bin/sh\nnobody:x:65534:65534:nobody:/home:/bin/false\n"
BASE_GROUP = b"root:x:0:\nnobody:x:65534:\n"
_POD_VOLUMES = "/var/lib/kubelet/pods/{}"


def build_tree(container: Container, volumes: VolumeStore, words: frozenset[str], files: Mapping[str, bytes]) -> Tree:
    """Return a new tree for a container; `words` are the programs that its image has.

    StartFailure when runc could not make one of its mounts, or the folder to work in.
    """
    clock = container.machine.host.now
    at = clock()
    tree = Tree(_basics(container, words, at), clock)
    for path, data in files.items():
        tree.make_directories(path.rpartition("/")[0] or "/")
        tree.put(path, File(bytearray(data)))
    tree.image_bytes = bytes_below(tree.root)
    for mount in sorted(container.config.mounts, key=lambda mount: mount.container_path.count("/")):
        _mount(tree, container, volumes, mount)
    _make_working_dir(tree, container.config.working_dir or "/")
    tree.is_readonly = container.config.security.readonly_rootfs
    return tree


PROGRAM_MAGIC = b"\x7fELF\0"
"""What a program's file begins with; its name follows, so that a copy of the file is the same program."""
BUSYBOX = "busybox"


def _basics(container: Container, words: frozenset[str], at: float) -> Directory:
    def folder(children: dict[str, Node] | None = None, mode: int = 0o755) -> Directory:
        return Directory(children if children is not None else {}, mode, mtime=at)

    return folder(
        {
            "bin": folder(_programs(words)),
            "dev": folder({**_devices(container), "shm": folder(mode=0o1777)}),
            "etc": folder(_etc(container, at)),
            "home": folder(),
            "proc": folder({"self": folder()}),
            "root": folder(mode=0o700),
            "sys": folder(),
            "tmp": folder(mode=0o1777),
            "usr": folder({"bin": folder(), "sbin": folder()}),
            "var": folder({"run": folder()}),
        }
    )


def _programs(words: frozenset[str]) -> dict[str, Node]:
    """Return an image's programs: in one of busybox's each is the same file, which goes by the name it is called."""
    if BUSYBOX in words:
        return dict.fromkeys(words, _program(BUSYBOX))
    return {word: _program(word) for word in words}


@functools.cache
def _program(name: str) -> File:
    return File(bytearray(PROGRAM_MAGIC + name.encode()), mode=0o755)


def _devices(container: Container) -> dict[str, Node]:
    log = container.log
    return {
        "null": Special(NullFile),
        "zero": Special(ZeroFile),
        "full": Special(FullFile),
        "urandom": Special(ZeroFile),
        "random": Special(ZeroFile),
        "stdout": Special(lambda: LogFile(log, "stdout")),
        "stderr": Special(lambda: LogFile(log, "stderr")),
    }


def _etc(container: Container, at: float) -> dict[str, Node]:
    sandbox = container.sandbox
    name = container.hostname
    hosts = f"127.0.0.1\tlocalhost\n{sandbox.address}\t{name}\n"
    texts = {
        "hostname": f"{name}\n".encode(),
        "hosts": hosts.encode(),
        "resolv.conf": _resolv_conf(sandbox.config.dns).encode(),
        "passwd": BASE_PASSWD,
        "group": BASE_GROUP,
    }
    nodes: dict[str, Node] = {path: File(bytearray(data), mtime=at) for path, data in texts.items()}
    nodes["mtab"] = Symlink("/proc/mounts")
    return nodes


def _resolv_conf(dns: DNSConfig | None) -> str:
    """Return the text of a resolv.conf, the machine's own where nothing was asked (containerd's order of lines)."""
    if dns is None:
        return RESOLV_CONF
    lines = [f"search {' '.join(dns.searches)}\n"] if dns.searches else []
    lines += [f"nameserver {server}\n" for server in dns.servers]
    lines += [f"options {' '.join(dns.options)}\n"] if dns.options else []
    return "".join(lines)


def _mount(tree: Tree, container: Container, volumes: VolumeStore, mount: Mount) -> None:
    """Mount one thing: StartFailure in runc's words, where the tree has something else or may not be changed."""
    source = volumes.tree(mount.volume) if mount.volume is not None else container.machine.host
    path = f"{mount.host_path or ''}/{mount.sub_path}".strip("/")
    node = _source(source, path)
    target = mount.container_path
    folder, _, name = target.rstrip("/").rpartition("/")
    shown = f"{_POD_VOLUMES.format(mount.volume)}/{path}".rstrip("/") if mount.volume is not None else f"/{path}"
    if why := starts.refused_place(target):
        raise starts.mount_failure(shown, target, why)
    try:
        parent = tree.make_directories(folder or "/")
        there = tree.get(target)
    except OSError as error:
        number = errno.ENOTDIR if error.errno == errno.EEXIST else error.errno or errno.EIO
        raise starts.mount_failure(shown, target, starts.go_error(number)) from error
    if there is not None and isinstance(there, Directory) != isinstance(node, Directory):
        raise starts.mount_failure(shown, target, starts.go_error(errno.ENOTDIR))
    parent.children[name] = MountPoint(node, mount.readonly)


def _make_working_dir(tree: Tree, path: str) -> None:
    """Make the folder that the program begins in, unless it is there; StartFailure (runc prepareRootfs)."""
    parts = path.split("/")
    for count in range(2, len(parts) + 1):
        step = "/".join(parts[:count])
        try:
            tree.make_directories(step)
        except OSError as error:
            raise starts.init_failure(f"mkdir {step}: {starts.go_error(errno.ENOTDIR)}") from error


def _source(tree: Tree, path: str) -> Entry:
    """Return what is mounted; a missing directory is made, as container runtimes do."""
    if not path:
        return tree.root
    node = tree.get(path)
    return tree.make_directories(path) if node is None else node
