"""What a scenario says of images, brought about on an engine: made anew in the registry, and absent from the node.

Images that come and go are taken off the engine before the scenario and after it, under the names of mirrors, too.
"""

from __future__ import annotations

import re
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import trio
from attrs import define, field

from kubelet_emu.images.mirrors import image_sources
from kubelet_emu.manifests import encode
from kubelet_emu.scenarios.node import REGISTRY, SLOW_REGISTRY
from runtime.api import CRIError

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

    from kubelet_emu.images.mirrors import Mirror
    from kubelet_emu.scenarios.scenario_file import Scenario
    from runtime.docker import DockerRuntime

BASE_IMAGE = f"{REGISTRY}/kemu/busybox:1"
CLEAN_UP_SECONDS = 30.0
_ABSENT = re.compile(r"[\w.:-]+/kemu/absent-[\w.-]+(?::[\w.-]+)?")
_ON_NODE = frozenset(f"{REGISTRY}/kemu/{name}" for name in ("busybox:1", "busybox:2", "grpc:1"))
_NAME = re.compile(r"[\w.:/-]+")
_MIB = 1 << 20


def moving_images(scenario: Scenario) -> frozenset[str]:
    """Return the names of images that must not be on the node when a scenario starts."""
    fresh = {_name(registry, name) for name in scenario.fresh_images for registry in (REGISTRY, SLOW_REGISTRY)}
    return frozenset({*fresh, *_ABSENT.findall(_texts(scenario))})


def images_on_node(scenario: Scenario) -> frozenset[str]:
    """Return the images that a scenario names or is made of, and that are on the node when it starts."""
    base = {BASE_IMAGE} if scenario.fresh_images else set()
    return frozenset(_ON_NODE & {*_NAME.findall(_texts(scenario)), *base})


def _name(registry: str, name: str) -> str:
    return f"{registry}/kemu/{name}:1"


def _texts(scenario: Scenario) -> str:
    """Return all texts that may name an image."""
    objects = (str(encode(loaded.object)) for loaded in scenario.objects)
    return "\n".join([*objects, *(str(step.argument) for step in scenario.steps)])


@define(eq=False, kw_only=True)
class NodeImages:
    """Puts the engine's images into the state that a scenario asks for."""

    runtime: DockerRuntime
    mirrors: tuple[Mirror, ...] = ()
    on_note: Callable[[str], None] = field(default=lambda _: None)
    _asked_for: set[str] = field(factory=set, init=False)
    _fetching: trio.Lock = field(factory=trio.Lock, init=False)

    @asynccontextmanager
    async def prepared(self, scenario: Scenario) -> AsyncIterator[None]:
        """Have the images of a scenario as it says; those that come and go are removed in the end. CRIError."""
        moving = moving_images(scenario)
        for image in images_on_node(scenario):
            await self._fetch(image)
        try:
            for name, mebibytes in scenario.fresh_images.items():
                target = self._sources(_name(REGISTRY, name))[0]
                await self.runtime.publish_image(BASE_IMAGE, target, ballast_bytes=mebibytes * _MIB)
            for image in moving:
                await self._remove(image)
            yield
        finally:
            with trio.CancelScope(shield=True, deadline=trio.current_time() + CLEAN_UP_SECONDS):
                for image in moving:
                    await self._remove_in_the_end(image)

    async def has(self, image: str) -> bool:
        """Tell whether an image is on the node, under its own name or a stand-in's; one that can be had is fetched."""
        if image in _ON_NODE:
            await self._fetch(image)
        return any([await self.runtime.image_status(reference) is not None for reference in self._sources(image)])

    def _sources(self, image: str) -> tuple[str, ...]:
        return tuple(source.reference for source in image_sources(image, self.mirrors))

    async def _fetch(self, image: str) -> None:
        """Pull what should be on the node, once; where that can't be done the pod's own pull will say so."""
        async with self._fetching:
            if image in self._asked_for or await self.runtime.image_status(image) is not None:
                return
            self._asked_for.add(image)
            try:
                await self.runtime.pull_image(image)
            except CRIError as error:
                self.on_note(f"{image} should be on the node, and can't be pulled: {error}")

    async def _remove(self, image: str) -> None:
        for reference in self._sources(image):
            await self.runtime.remove_image(reference)

    async def _remove_in_the_end(self, image: str) -> None:
        try:
            await self._remove(image)
        except CRIError as error:
            self.on_note(f"{image} stays in the engine: {error}")
