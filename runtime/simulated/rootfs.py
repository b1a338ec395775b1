"""The files that a container starts with: its image's basics, what the runtime adds, and its mounts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from runtime.simulated.streams import FullFile, LogFile, NullFile, ZeroFile
from runtime.simulated.tree import Directory, File, MountPoint, Special, Symlink, Tree

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from runtime.api import Mount
    from runtime.simulated.container import Container
    from runtime.simulated.streams import OpenFile
    from runtime.simulated.tree import Entry
    from runtime.simulated.volumes import VolumeStore

_FOLDERS = ("bin", "dev/shm", "etc", "home", "proc/self", "root", "sys", "tmp", "usr/bin", "usr/sbin", "var/run")
_PASSWD = b"root:x:0:0:root:/root:/bin/sh\nnobody:x:65534:65534:nobody:/home:/bin/false\n"
_GROUP = b"root:x:0:\nnobody:x:65534:\n"


def build_tree(container: Container, volumes: VolumeStore, words: frozenset[str], files: Mapping[str, bytes]) -> Tree:
    """Return a new tree for a container; `words` are the programs that its image has."""
    clock = container.machine.host.now
    tree = Tree(Directory(mtime=clock()), clock)
    for folder in _FOLDERS:
        tree.make_directories(folder)
    for word in sorted(words):
        tree.root.children["bin"].children[word] = _PROGRAM  # type: ignore[union-attr]
    _add_devices(tree, container)
    _add_runtime_files(tree, container)
    for path, data in files.items():
        tree.make_directories(path.rpartition("/")[0] or "/")
        tree.put(path, File(bytearray(data)))
    for mount in sorted(container.config.mounts, key=lambda mount: mount.container_path.count("/")):
        _mount(tree, container, volumes, mount)
    tree.is_readonly = container.config.security.readonly_rootfs
    return tree


_PROGRAM = File(mode=0o755)


def _add_devices(tree: Tree, container: Container) -> None:
    log = container.log
    opened: dict[str, Callable[[], OpenFile]] = {
        "dev/null": NullFile,
        "dev/zero": ZeroFile,
        "dev/full": FullFile,
        "dev/urandom": ZeroFile,
        "dev/random": ZeroFile,
        "dev/stdout": lambda: LogFile(log, "stdout"),
        "dev/stderr": lambda: LogFile(log, "stderr"),
    }
    for path, opener in opened.items():
        tree.put(path, Special(opener))


def _add_runtime_files(tree: Tree, container: Container) -> None:
    sandbox = container.sandbox
    name = sandbox.config.hostname or sandbox.config.metadata.name
    hosts = f"127.0.0.1\tlocalhost\n{sandbox.address}\t{name}\n"
    dns = sandbox.config.dns
    resolv = "".join(f"nameserver {server}\n" for server in dns.servers) if dns is not None else ""
    if dns is not None and dns.searches:
        resolv = f"search {' '.join(dns.searches)}\n{resolv}"
    if dns is not None and dns.options:
        resolv += f"options {' '.join(dns.options)}\n"
    texts = {
        "etc/hostname": f"{name}\n".encode(),
        "etc/hosts": hosts.encode(),
        "etc/resolv.conf": resolv.encode(),
        "etc/passwd": _PASSWD,
        "etc/group": _GROUP,
    }
    for path, data in texts.items():
        tree.put(path, File(bytearray(data)))
    tree.put("etc/mtab", Symlink("/proc/mounts"))


def _mount(tree: Tree, container: Container, volumes: VolumeStore, mount: Mount) -> None:
    source = volumes.tree(mount.volume) if mount.volume is not None else container.machine.host
    path = f"{mount.host_path or ''}/{mount.sub_path}".strip("/")
    node = _source(source, path)
    folder, _, name = mount.container_path.rstrip("/").rpartition("/")
    parent = tree.make_directories(folder or "/")
    parent.children[name] = MountPoint(node, mount.readonly)


def _source(tree: Tree, path: str) -> Entry:
    """Return what is mounted; a missing directory is made, as container runtimes do."""
    if not path:
        return tree.root
    node = tree.get(path)
    return tree.make_directories(path) if node is None else node
