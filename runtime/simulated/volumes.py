"""Volumes of pods as trees in memory."""

from __future__ import annotations

import posixpath
from typing import TYPE_CHECKING

from attrs import define, field

from runtime.api import NotFoundError, SubPathError, VolumeHandle
from runtime.simulated.tree import Budget, Directory, File, Symlink, Tree

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from runtime.api import Mount, VolumeConfig, VolumeFile


MAX_LINKS = 40


@define(eq=False)
class Volume:
    """One volume: its configuration and its tree."""

    config: VolumeConfig
    tree: Tree


@define(eq=False)
class VolumeStore:
    """All volumes, by handle."""

    _clock: Callable[[], float]
    _volumes: dict[VolumeHandle, Volume] = field(factory=dict, init=False)
    _of_pod: dict[str, set[VolumeHandle]] = field(factory=dict, init=False)

    def create(self, config: VolumeConfig) -> VolumeHandle:
        """Make a volume, or return the one that exists for this pod and name."""
        handle = VolumeHandle(f"{config.pod_uid}/{config.name}")
        if handle not in self._volumes:
            limit = config.size_limit_bytes if config.medium == "Memory" else None
            root = Directory(mode=config.mode, gid=config.gid or 0, mtime=self._clock(), budget=Budget(limit))
            self._volumes[handle] = Volume(config, Tree(root, self._clock))
            self._of_pod.setdefault(config.pod_uid, set()).add(handle)
        return handle

    def tree(self, handle: VolumeHandle) -> Tree:
        """Return a volume's tree; NotFoundError."""
        if handle not in self._volumes:
            raise NotFoundError(f"no such volume: {handle}")
        return self._volumes[handle].tree

    def write(self, handle: VolumeHandle, files: Mapping[str, VolumeFile], remove: tuple[str, ...]) -> None:
        """Put files into a volume in the order given, each in the place of what was there, then take paths out."""
        volume = self.tree(handle)
        for path, file in files.items():
            folder = path if file.is_folder else posixpath.dirname(path)
            if folder:
                volume.make_directories(folder)
            if file.is_folder:
                continue
            if file.in_place and isinstance(there := volume.get(path), File):
                there.data[:] = file.data
                continue
            node: File | Symlink
            if file.target is None:
                node = File(bytearray(file.data), file.mode, file.uid or 0, file.gid or 0)
            else:
                node = Symlink(file.target, uid=file.uid or 0, gid=file.gid or 0)
            volume.put(path, node)
        for path in remove:
            if volume.get(path, follow=False) is not None:
                volume.detach(volume.find(path, follow=False))

    def read(self, handle: VolumeHandle, path: str, last_bytes: int) -> bytes:
        """Return the end of a file, empty when there is none."""
        node = self.tree(handle).get(path)
        if not isinstance(node, File) or last_bytes <= 0:
            return b""
        return bytes(node.data[-last_bytes:])

    def prepare_sub_path(self, mount: Mount, host: Tree) -> None:
        """Make what a mount's sub path names, unless it is there: a folder with the volume's mode; SubPathError."""
        tree = host if mount.volume is None else self.tree(mount.volume)
        base = (mount.host_path or "").strip("/")
        real = _real_sub_path(tree, base, mount.sub_path)
        if tree.get(real) is None:
            root = tree.get(base) if base else tree.root
            try:
                tree.make_directories(real, mode=root.mode if isinstance(root, Directory) else 0o755)
            except OSError as error:
                raise SubPathError(f"subPath {mount.sub_path!r} can't be made: {error}", is_missing=True) from error

    def remove(self, handle: VolumeHandle) -> None:
        """Forget a volume; containers that have it mounted keep its tree."""
        volume = self._volumes.pop(handle, None)
        if volume is None:
            return
        left = self._of_pod[volume.config.pod_uid]
        left.discard(handle)
        if not left:
            del self._of_pod[volume.config.pod_uid]

    def all(self) -> tuple[tuple[VolumeHandle, VolumeConfig], ...]:
        """Return every volume with its configuration."""
        return tuple((handle, volume.config) for handle, volume in sorted(self._volumes.items()))

    def of(self, pod_uid: str) -> tuple[tuple[VolumeHandle, VolumeConfig], ...]:
        """Return a pod's volumes with their configurations."""
        return tuple((handle, self._volumes[handle].config) for handle in sorted(self._of_pod.get(pod_uid, ())))


def _real_sub_path(tree: Tree, base: str, sub_path: str) -> str:
    """Return where a path below `base` leads to in the end; SubPathError when that is outside.

    Source: kubelet v1.36 subpath SafeMakeDir, PrepareSafeSubpath.
    """
    parts, real = [part for part in sub_path.split("/") if part not in {"", "."}], list[str]()
    for count, part in enumerate(parts, 1):
        followed = _follow(tree, base, [*real, part])
        if followed is None:
            raise SubPathError(f"subPath {sub_path!r} leads out of its volume", is_missing=count < len(parts))
        if followed != [*real, part] and tree.get("/".join([base, *followed])) is None:
            raise SubPathError(f"subPath {sub_path!r} has a link to nothing", is_missing=True)
        real = followed
    return "/".join([base, *real])


def _follow(tree: Tree, base: str, path: list[str]) -> list[str] | None:
    """Return where a path below `base` leads to, None when that is outside."""
    todo, real, links = path[::-1], list[str](), 0
    while todo:
        part = todo.pop()
        if part == "..":
            if not real:
                return None
            real.pop()
        elif part not in {"", "."}:
            node = tree.get("/".join([base, *real, part]), follow=False)
            if not isinstance(node, Symlink):
                real.append(part)
                continue
            links += 1
            target = _below(base, node.target)
            if target is None or links > MAX_LINKS:
                return None
            real = [] if node.target.startswith("/") else real
            todo += target.split("/")[::-1]
    return real


def _below(base: str, target: str) -> str | None:
    """Return a link's target as seen from its volume, None when it is an absolute one elsewhere."""
    if not target.startswith("/"):
        return target
    inside = posixpath.relpath(target, f"/{base}")
    return None if not base or inside.startswith("..") else inside
