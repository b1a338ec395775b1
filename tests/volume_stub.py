"""Volumes in memory, for tests of what uses them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import trio
from attrs import define, field

from runtime.api import CRIError, VolumeConfig, VolumeFile, VolumeHandle

if TYPE_CHECKING:
    from collections.abc import Mapping


@define(eq=False)
class StubVolumes:
    """Trees by handle; `error` is what every call fails with, `busy` keeps volumes from removal."""

    configs: dict[VolumeHandle, VolumeConfig] = field(factory=dict)
    trees: dict[VolumeHandle, dict[str, VolumeFile]] = field(factory=dict)
    removed: list[str] = field(factory=list)
    writes: int = 0
    error: str = ""
    busy: bool = False

    async def create_volume(self, config: VolumeConfig) -> VolumeHandle:
        await self._enter()
        handle = VolumeHandle(f"{config.pod_uid}/{config.name}")
        self.configs.setdefault(handle, config)
        self.trees.setdefault(handle, {})
        return handle

    async def write_volume(
        self, handle: VolumeHandle, tree: Mapping[str, VolumeFile], *, remove: tuple[str, ...] = ()
    ) -> None:
        await self._enter()
        self.writes += 1
        volume = self.trees[handle]
        volume.update(tree)
        for gone in remove:
            for path in [path for path in volume if path == gone or path.startswith(f"{gone}/")]:
                del volume[path]

    async def read_volume(self, handle: VolumeHandle, path: str, *, last_bytes: int) -> bytes:
        await self._enter()
        return self.read(handle, path)[-last_bytes:]

    async def remove_volume(self, handle: VolumeHandle) -> None:
        await self._enter()
        if self.busy:
            raise CRIError("volume is in use")
        self.removed.append(handle)
        del self.configs[handle], self.trees[handle]

    async def list_volumes(self, pod_uid: str | None = None) -> tuple[tuple[VolumeHandle, VolumeConfig], ...]:
        await self._enter()
        return tuple(each for each in self.configs.items() if pod_uid in {None, each[1].pod_uid})

    def read(self, handle: str, path: str) -> bytes:
        """Return a file's content, links followed; empty when there is none."""
        tree = self.trees[VolumeHandle(handle)]
        first, slash, rest = path.partition("/")
        if first in tree and (target := tree[first].target) is not None:
            return self.read(handle, target + slash + rest)
        return tree[path].data if path in tree else b""

    async def _enter(self) -> None:
        await trio.lowlevel.checkpoint()
        if self.error:
            raise CRIError(self.error)
