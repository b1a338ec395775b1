"""The sandbox's image: what the user named, Kubernetes' own pause if the engine has it, else our helper's image."""

from __future__ import annotations

import functools
import hashlib
import json
from typing import TYPE_CHECKING, Any, TypeVar

import trio
from attrs import define, field

from runtime.api import CRIError, NotFoundError
from runtime.docker import helper

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from runtime.docker.bridge import Bridge

KUBERNETES_PAUSE = "registry.k8s.io/pause:3.10.1"
IMAGE_TRIES = 3

T = TypeVar("T")


@define(eq=False)
class PauseImages:
    """Finds or makes the images of sandboxes and helpers. Our own carries no name, so it takes none."""

    bridge: Bridge
    architecture: str
    named: str | None = None
    _sandbox_image: str | None = field(default=None, init=False)
    _helper_image: str | None = field(default=None, init=False)
    _lock: trio.Lock = field(factory=trio.Lock, init=False)

    async def sandbox_image(self) -> str:
        """Return the id of the image that sandboxes run; CRIError when a named one is not there.

        It is looked up each time: another session that ends may have removed our own image meanwhile.
        """
        async with self._lock:
            if self._sandbox_image is None or await self._id_of(self._sandbox_image) is None:
                self._sandbox_image = await self._find()
            return self._sandbox_image

    async def helper_image(self) -> str:
        """Return the id of our own image, made at the first use."""
        async with self._lock:
            return await self._own()

    async def with_sandbox_image(self, create: Callable[[str], Awaitable[T]]) -> T:
        """Create something of the sandboxes' image; that may go after the look, when another session ends."""
        return await created_with(self.sandbox_image, create)

    async def with_helper_image(self, create: Callable[[str], Awaitable[T]]) -> T:
        """Create something of our own image; that may go after the look, when another session ends."""
        return await created_with(self.helper_image, create)

    def is_helper(self, image: str) -> bool:
        """Tell whether an image is our own, so that its program can also relay."""
        return image == self._helper_image

    async def _find(self) -> str:
        if self.named is not None:
            found = await self._id_of(self.named)
            if found is None:
                raise CRIError(f"the sandbox image {self.named!r} is not in the engine")
            return found
        return await self._id_of(KUBERNETES_PAUSE) or await self._own()

    async def _id_of(self, name: str) -> str | None:
        try:
            inspected = await self.bridge.read(lambda client: client.inspect_image(name))
        except NotFoundError:
            return None
        return str(inspected["Id"])

    async def _own(self) -> str:
        """Return our image's id; it is looked for by its label, because engines differ in what an id is."""
        if self._helper_image is not None and await self._id_of(self._helper_image):
            return self._helper_image
        if not helper.supports(self.architecture):
            raise CRIError(
                f"there is no sandbox image for {self.architecture!r}: load {KUBERNETES_PAUSE} or name one of your own"
            )
        self._helper_image = await self._loaded() or await self._load()
        return self._helper_image

    async def _loaded(self) -> str | None:
        wanted = {"label": f"{helper.IMAGE_LABEL}={self._version()}"}
        found = await self.bridge.read(lambda client: client.images(filters=wanted, all=True))
        return str(found[0]["Id"]) if found else None

    async def _load(self) -> str:
        image_id, archive = helper.image_archive(self.architecture, {helper.IMAGE_LABEL: self._version()})
        answer = await self.bridge.load_images(archive)
        return await self._loaded() or _loaded_id(answer) or image_id

    def _version(self) -> str:
        return hashlib.sha256(helper.program(self.architecture)).hexdigest()[:12]

    async def remove_own(self) -> None:
        """Remove our image unless a container, of whomever, still uses it."""
        found = await self.bridge.read(lambda client: client.images(filters={"label": helper.IMAGE_LABEL}, all=True))
        for item in found:
            try:
                await self.bridge.write(functools.partial(_remove_image, str(item["Id"])))
            except CRIError:
                continue
        self._helper_image = None
        self._sandbox_image = None


async def created_with(image: Callable[[], Awaitable[str]], create: Callable[[str], Awaitable[T]]) -> T:
    """Create with an image; NotFoundError only when the image was looked up, and wasn't there, several times."""
    for _ in range(IMAGE_TRIES - 1):
        try:
            return await create(await image())
        except NotFoundError:
            continue
    return await create(await image())


def _loaded_id(answer: list[Any]) -> str | None:
    """Return the id that the engine's load call names."""
    for part in answer:
        text = str(part.get("stream", "")) if isinstance(part, dict) else json.dumps(part)
        if "Loaded image ID: " in text:
            return text.partition("Loaded image ID: ")[2].strip()
    return None


def _remove_image(image: str, client: Any) -> None:  # noqa: ANN401 - the SDK's client
    client.remove_image(image)
