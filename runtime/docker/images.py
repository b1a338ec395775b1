"""Images of the engine: pull with progress, look up, list, remove."""

from __future__ import annotations

import base64
import json
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

import trio
from attrs import define, field

from runtime.api import CRIError, Image, ImageID, ImagePullError, NotFoundError, PullProgress
from runtime.docker import convert, errors
from runtime.docker.logs import error_text

if TYPE_CHECKING:
    from collections.abc import Callable

    from runtime.api import AuthConfig
    from runtime.docker.bridge import Bridge
    from runtime.docker.http import EngineConnection

PULL_SILENCE_SECONDS = 300.0  # KubeletConfiguration's runtime counterpart: containerd's image_pull_progress_timeout


def split_reference(image: str) -> tuple[str, str]:
    """Return repository and tag or digest; `latest` where the name has neither."""
    repository, at, digest = image.partition("@")
    head, colon, tail = repository.rpartition(":")
    has_tag = bool(colon) and "/" not in tail
    if at:
        return (head if has_tag else repository), digest
    return (head, tail) if has_tag else (image, "latest")


@define(eq=False)
class PullState:
    """Adds up what a pull says of its layers."""

    _layers: dict[str, tuple[int, int]] = field(factory=dict)

    def take(self, message: dict[str, Any]) -> PullProgress | None:
        """Note one message and return the sum; None when it says nothing of bytes."""
        layer, text = str(message.get("id", "")), str(message.get("status", ""))
        detail = message.get("progressDetail") or {}
        _, total = self._layers.get(layer, (0, 0))
        if text == "Downloading":
            total = max(total, int(detail.get("total") or 0))
            self._layers[layer] = (int(detail.get("current") or 0), total)
        elif text in {"Download complete", "Pull complete", "Extracting", "Verifying Checksum"}:
            self._layers[layer] = (total, total)
        else:
            return None
        done, total = (sum(pair[n] for pair in self._layers.values()) for n in (0, 1))
        return PullProgress(done_bytes=done, total_bytes=total, text=f"{layer}: {text}")


@define(eq=False)
class Images:
    """The engine's image store."""

    bridge: Bridge
    _references: dict[str, str] = field(factory=dict, init=False)

    async def pull(
        self, image: str, auth: AuthConfig | None, progress: Callable[[PullProgress], None] | None
    ) -> ImageID:
        """Pull an image and return its id; ImagePullError and its kinds. Cancellation ends the pull in the engine."""
        repository, tag = split_reference(image)
        path = "/images/create?" + urlencode({"fromImage": repository, "tag": tag})
        headers = {"X-Registry-Auth": _auth_header(auth)} if auth else {}
        async with self.bridge.http.request("POST", path, headers=headers) as connection:
            if connection.status != 200:
                raise errors.of_pull(image, await error_text(connection))
            await _follow(image, connection, progress)
        self._references.clear()
        found = await self.status(image)
        if found is None:
            raise ImagePullError(f"the engine pulled {image!r} but does not know it")
        return found.id

    async def status(self, image: str) -> Image | None:
        """Return the image of a name, digest or id; None when absent."""
        try:
            inspected = await self.bridge.read(lambda client: client.inspect_image(image))
        except NotFoundError:
            return None
        except CRIError as error:
            if "invalid reference format" in str(error):
                return None
            raise
        return convert.image(inspected)

    async def reference_of(self, image_id: str) -> str:
        """Return the first repository digest of an image; its id when it has none or is gone. Remembered."""
        if image_id not in self._references:
            found = await self.status(image_id)
            digests = found.repo_digests if found else ()
            self._references[image_id] = digests[0] if digests else image_id
        return self._references[image_id]

    async def list(self) -> tuple[Image, ...]:
        """Return all images with their names and sizes; what they run is in `status` alone."""
        items = await self.bridge.read(lambda client: client.images())
        return tuple(convert.image(item) for item in items)

    async def remove(self, image: str) -> None:
        """Remove a name, and the image with its last name; what is absent is fine."""
        self._references.clear()
        try:
            await self.bridge.write(lambda client: client.remove_image(image))
        except NotFoundError:
            return


async def _follow(image: str, connection: EngineConnection, progress: Callable[[PullProgress], None] | None) -> None:
    """Read a pull's messages to its end; ImagePullError for the error that it may end with, or for a long silence."""
    state, rest = PullState(), b""
    while True:
        with trio.move_on_after(PULL_SILENCE_SECONDS) as silence:
            chunk = await connection.receive()
        if silence.cancelled_caught:
            raise errors.of_pull(image, f"no progress for {PULL_SILENCE_SECONDS:g} s: context canceled")
        if chunk is None:
            return
        *lines, rest = (rest + chunk).split(b"\n")
        for line in lines:
            if line.strip():
                _take(image, json.loads(line), state, progress)


def _take(
    image: str, message: dict[str, Any], state: PullState, progress: Callable[[PullProgress], None] | None
) -> None:
    if "error" in message:
        raise errors.of_pull(image, str(message["error"]))
    total = state.take(message)
    if total is not None and progress is not None:
        progress(total)


def _auth_header(auth: AuthConfig) -> str:
    """Return credentials in the engine's header form; they are sent, and kept nowhere."""
    fields = {
        "username": auth.username,
        "password": auth.password,
        "identitytoken": auth.identity_token,
        "registrytoken": auth.registry_token,
    }
    text = json.dumps({key: value for key, value in fields.items() if value})
    return base64.urlsafe_b64encode(text.encode()).decode()
