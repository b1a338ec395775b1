"""Makes images and pushes them: out of an archive, out of another image. What is pushed the engine doesn't keep."""

from __future__ import annotations

import io
import os
import tarfile
from typing import TYPE_CHECKING, Any

from attrs import define

from runtime.api import CRIError, NotFoundError
from runtime.docker.images import split_reference

if TYPE_CHECKING:
    from collections.abc import Mapping

    from runtime.docker.bridge import Bridge

BALLAST = "kemu-ballast"


@define(eq=False)
class Publisher:
    """Publishes images for one instance, whose labels its helper containers carry."""

    bridge: Bridge
    own_labels: Mapping[str, str]

    async def publish(self, base: str, image: str, ballast_bytes: int) -> None:
        """Push `base` with a file of random bytes as `image`. CRIError; cancellation waits for the call in progress."""
        body = {"Image": base, "Labels": dict(self.own_labels)}
        created = await self.bridge.write(lambda client: client.create_container_from_config(body))
        container_id = str(created["Id"])
        try:
            archive = _archive(os.urandom(ballast_bytes))
            await self.bridge.write(lambda client: client.put_archive(container_id, "/", archive))
            await self.bridge.write(lambda client: client.commit(container_id, *split_reference(image)))
        finally:
            await self._remove_container(container_id)
        try:
            await self.bridge.write(lambda client: _push(client, image))
        finally:
            await self.bridge.write(lambda client: client.remove_image(image))

    async def copy(self, image: str, target: str) -> None:
        """Push an image of the engine as `target`, a name that the engine doesn't keep. CRIError."""
        is_other = image != target
        if is_other:
            await self.bridge.write(lambda client: client.tag(image, *split_reference(target)))
        try:
            await self.bridge.write(lambda client: _push(client, target))
        finally:
            if is_other:
                await self.bridge.write(lambda client: client.remove_image(target))

    async def is_published(self, image: str) -> bool:
        """Tell whether a registry has an image and gives it away, as far as the engine can ask it."""
        try:
            await self.bridge.read(lambda client: client.inspect_distribution(image))
        except CRIError:
            return False
        return True

    async def load(self, archive: bytes) -> None:
        """Take the images of an archive into the engine, under the names that it says. CRIError."""
        await self.bridge.load_images(archive)

    async def _remove_container(self, container_id: str) -> None:
        try:
            await self.bridge.write(lambda client: client.remove_container(container_id, force=True, v=True))
        except NotFoundError:
            return


def _archive(data: bytes) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as archive:
        entry = tarfile.TarInfo(BALLAST)
        entry.size = len(data)
        archive.addfile(entry, io.BytesIO(data))
    return out.getvalue()


def _push(client: Any, image: str) -> None:  # noqa: ANN401 - the SDK's client
    """Push in a thread; the engine tells of a failure in its messages."""
    repository, tag = split_reference(image)
    for message in client.push(repository, tag, stream=True, decode=True):
        if "error" in message:
            raise CRIError(f"{image} can't be pushed: {message['error']}")
