"""The images that scenarios take for granted, had wherever they can be had.

On the node: pulled, else made of this machine's busybox, and then taken away again in the end. In the registry: pushed
from the node where the registry lacks them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import trio
from attrs import define, field

from kubelet_emu.cli.busybox_image import all_applets, archive_of, find_shell
from kubelet_emu.cli.failures import InputError
from kubelet_emu.images.mirrors import image_sources
from kubelet_emu.scenarios.node import REGISTRY
from runtime.api import CRIError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from kubelet_emu.images.mirrors import Mirror
    from runtime.docker import DockerRuntime

BASE_IMAGE = f"{REGISTRY}/kemu/busybox:1"
GRPC_IMAGE = f"{REGISTRY}/kemu/grpc:1"
_MARK = "etc/kemu-image"
_MADE: Mapping[str, Mapping[str, bytes]] = {
    BASE_IMAGE: {_MARK: b"1\n"},
    f"{REGISTRY}/kemu/busybox:2": {_MARK: b"2\n"},
}
ON_NODE = frozenset({*_MADE, GRPC_IMAGE})


class NoRegistryError(Exception):
    """An image can't be put into the registry; the text is why."""


@define(eq=False, kw_only=True)
class GivenImages:
    """Has the images that a set of scenarios needs, each looked for once."""

    runtime: DockerRuntime
    mirrors: tuple[Mirror, ...] = ()
    on_note: Callable[[str], None] = field(default=lambda _: None)
    _looked_for: set[str] = field(factory=set, init=False)
    _offered: set[str] = field(factory=set, init=False)
    _made: list[str] = field(factory=list, init=False)
    _one_at_a_time: trio.Lock = field(factory=trio.Lock, init=False)

    def sources(self, image: str) -> tuple[str, ...]:
        """Return the names that an image may have, its stand-ins' first."""
        return tuple(source.reference for source in image_sources(image, self.mirrors))

    async def has(self, image: str) -> bool:
        """Tell whether an image is on the node, under its own name or a stand-in's; one that can be had is fetched."""
        if image in ON_NODE:
            await self.on_node(image)
        return await self._present(image) is not None

    async def on_node(self, image: str) -> None:
        """Have an image on the node; where that can't be done the pod's own pull will say so."""
        async with self._one_at_a_time:
            if image in self._looked_for or await self._present(image) is not None:
                return
            self._looked_for.add(image)
            try:
                await self._pull_or_make(image)
            except (CRIError, InputError) as error:
                self.on_note(f"{image} should be on the node, and can't be had: {error}")

    async def in_registry(self, image: str, base: str) -> None:
        """Have an image in the registry, a copy of `base` where it isn't there; NoRegistryError."""
        async with self._one_at_a_time:
            target = self.sources(image)[0]
            if target in self._offered:
                return
            present = await self._present(base)
            if not await self.runtime.publisher.is_published(target) and present is not None:
                await self._push(present, target)
            self._offered.add(target)

    async def make_fresh(self, image: str, ballast_bytes: int) -> None:
        """Put the base with so many random bytes into the registry as a new image; NoRegistryError."""
        try:
            await self.runtime.publisher.publish(BASE_IMAGE, self.sources(image)[0], ballast_bytes)
        except CRIError as error:
            raise NoRegistryError(str(error)) from error

    async def remove_made(self) -> None:
        """Take away what was made here; what is in use by others stays."""
        for image in self._made:
            try:
                await self.runtime.remove_image(image)
            except CRIError as error:
                self.on_note(f"{image} stays in the engine: {error}")

    async def _present(self, image: str) -> str | None:
        """Return the name under which an image is on the node, None where it isn't."""
        for reference in self.sources(image):
            if await self.runtime.image_status(reference) is not None:
                return reference
        return None

    async def _pull_or_make(self, image: str) -> None:
        """Have an image by a pull from the first place that has it, else made; CRIError, InputError."""
        failure: CRIError | None = None
        for reference in self.sources(image):
            try:
                await self.runtime.pull_image(reference)
            except CRIError as error:
                failure = error
            else:
                return
        if image not in _MADE:
            raise failure or CRIError("no registry is named")
        shell = find_shell()
        archive = archive_of(shell.read_bytes(), image, all_applets(shell), _MADE[image])
        await self.runtime.publisher.load(archive)
        self._made.append(image)

    async def _push(self, image: str, target: str) -> None:
        try:
            await self.runtime.publisher.copy(image, target)
        except CRIError as error:
            raise NoRegistryError(str(error)) from error
