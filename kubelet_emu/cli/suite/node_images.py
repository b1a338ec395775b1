"""What a scenario says of images, brought about on an engine: made anew in the registry, and absent from the node.

Images that come and go are taken off the engine before the scenario and after it, under the names of mirrors, too.
"""

from __future__ import annotations

import re
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import trio
from attrs import define, field

from kubelet_emu.cli.suite.given_images import BASE_IMAGE, ON_NODE
from kubelet_emu.manifests import encode
from kubelet_emu.scenarios.node import REGISTRY, SLOW_REGISTRY
from runtime.api import CRIError

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

    from kubelet_emu.cli.suite.given_images import GivenImages
    from kubelet_emu.scenarios.scenario_file import Scenario
    from runtime.docker import DockerRuntime

CLEAN_UP_SECONDS = 30.0
_ABSENT = re.compile(r"[\w.:-]+/kemu/absent-[\w.-]+(?::[\w.-]+)?")
_PULLS_PRESENT = re.compile(r"imagePullPolicy\W+Always|imagePullCredentialsVerificationPolicy")
_NAME = re.compile(r"[\w.:/-]+")
_MIB = 1 << 20


def moving_images(scenario: Scenario) -> frozenset[str]:
    """Return the names of images that must not be on the node when a scenario starts."""
    fresh = {_name(registry, name) for name in scenario.fresh_images for registry in (REGISTRY, SLOW_REGISTRY)}
    return frozenset({*fresh, *_ABSENT.findall(_texts(scenario))})


def images_on_node(scenario: Scenario) -> frozenset[str]:
    """Return the images that a scenario names or is made of, and that are on the node when it starts."""
    texts = _texts(scenario)
    base = {BASE_IMAGE} if scenario.fresh_images or _ABSENT.search(texts) else set()
    return ON_NODE & {*_NAME.findall(texts), *base}


def images_in_registry(scenario: Scenario) -> frozenset[str]:
    """Return the images that must be in the registry: those absent from the node, and those pulled though there."""
    named = [name.replace(f"{SLOW_REGISTRY}/", f"{REGISTRY}/") for name in _ABSENT.findall(_texts(scenario))]
    absent = frozenset(name for name in named if name.startswith(f"{REGISTRY}/"))
    return absent | (images_on_node(scenario) if _PULLS_PRESENT.search(_texts(scenario)) else frozenset())


def _name(registry: str, name: str) -> str:
    return f"{registry}/kemu/{name}:1"


def _texts(scenario: Scenario) -> str:
    """Return all texts that may name an image."""
    objects = (str(encode(loaded.object)) for loaded in scenario.objects)
    return "\n".join([*objects, *(str(step.argument) for step in scenario.steps), *scenario.needs])


@define(eq=False, kw_only=True)
class NodeImages:
    """Puts the engine's images into the state that a scenario asks for."""

    runtime: DockerRuntime
    given: GivenImages
    on_note: Callable[[str], None] = field(default=lambda _: None)

    @asynccontextmanager
    async def prepared(self, scenario: Scenario) -> AsyncIterator[None]:
        """Have the images of a scenario as it says; those that come and go are removed in the end.

        NoRegistryError when the registry lacks an image and takes none; CRIError.
        """
        moving = moving_images(scenario)
        for image in images_on_node(scenario):
            await self.given.on_node(image)
        for image in images_in_registry(scenario):
            await self.given.in_registry(image, image if image in ON_NODE else BASE_IMAGE)
        try:
            for name, mebibytes in scenario.fresh_images.items():
                await self.given.make_fresh(_name(REGISTRY, name), mebibytes * _MIB)
            for image in moving:
                await self._remove(image)
            yield
        finally:
            with trio.CancelScope(shield=True, deadline=trio.current_time() + CLEAN_UP_SECONDS):
                for image in moving:
                    await self._remove_in_the_end(image)

    async def _remove(self, image: str) -> None:
        for reference in self.given.sources(image):
            await self.runtime.remove_image(reference)

    async def _remove_in_the_end(self, image: str) -> None:
        try:
            await self._remove(image)
        except CRIError as error:
            self.on_note(f"{image} stays in the engine: {error}")
