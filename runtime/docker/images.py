"""Images of the engine: pull with progress, look up, list, remove."""

from __future__ import annotations

import base64
import json
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

import trio
from attrs import define, field

from runtime.api import CRIError, Image, ImageID, ImagePullError, NotFoundError, PullProgress, pull_texts
from runtime.docker import convert, errors, pull_errors
from runtime.docker.http import unavailable
from runtime.docker.logs import error_text

if TYPE_CHECKING:
    from collections.abc import Callable

    from runtime.api import AuthConfig
    from runtime.docker.bridge import Bridge

PULL_SILENCE_SECONDS = 300.0  # containerd's image_pull_progress_timeout
_IDLE = ("Retrying in", "Waiting")


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
    """Adds up what a pull says of its layers; each message costs the same, however many there are."""

    _layers: dict[str, tuple[int, int]] = field(factory=dict)
    _done: int = 0
    _total: int = 0

    def take(self, message: dict[str, Any]) -> PullProgress | None:
        """Note one message and return the sum; None when it says nothing of bytes."""
        layer, text = str(message.get("id", "")), str(message.get("status", ""))
        detail = message.get("progressDetail")
        old_done, old_total = self._layers.get(layer, (0, 0))
        if text == "Downloading":
            done, total = _whole(detail, "current"), max(old_total, _whole(detail, "total"))
        elif text in {"Download complete", "Pull complete", "Extracting", "Verifying Checksum"}:
            done = total = old_total
        else:
            return None
        self._layers[layer] = (done, total)
        self._done += done - old_done
        self._total += total - old_total
        return PullProgress(done_bytes=self._done, total_bytes=self._total, text=f"{layer}: {text}")


def _whole(detail: object, name: str) -> int:
    """Return a number of a message's details, 0 where it has none."""
    value = detail.get(name) if isinstance(detail, dict) else None
    return value if isinstance(value, int) else 0


@define(eq=False)
class _Pull:
    """One pull's messages, read as they come; what comes further puts the deadline of `silence` off."""

    image: str
    silence: trio.CancelScope
    silence_seconds: float
    progress: Callable[[PullProgress], None] | None
    _state: PullState = field(factory=PullState, init=False)
    _rest: bytes = field(default=b"", init=False)

    def feed(self, chunk: bytes) -> None:
        """Take a piece of the stream; ImagePullError."""
        *lines, self._rest = (self._rest + chunk).split(b"\n")
        for line in lines:
            self._take(line)

    def end(self) -> None:
        """Take what has no end of line; ImagePullError."""
        self._take(self._rest)

    def _take(self, line: bytes) -> None:
        if not line.strip():
            return
        try:
            message = json.loads(line)
        except (ValueError, RecursionError):
            message = None
        if not isinstance(message, dict):
            raise ImagePullError(pull_texts.uncopied(self.image, "the engine's message can't be read"))
        if "error" in message:
            raise pull_errors.of_copying(self.image, str(message["error"]))
        if not str(message.get("status", "")).startswith(_IDLE):
            self.silence.deadline = trio.current_time() + self.silence_seconds
        total = self._state.take(message)
        if total is not None and self.progress is not None:
            self.progress(total)


@define(eq=False)
class Images:
    """The engine's image store."""

    bridge: Bridge
    silence_seconds: float = PULL_SILENCE_SECONDS
    _references: dict[str, str] = field(factory=dict, init=False)

    async def pull(
        self, image: str, auth: AuthConfig | None, progress: Callable[[PullProgress], None] | None
    ) -> ImageID:
        """Pull an image and return its id; ImagePullError and its kinds, RuntimeUnavailableError.

        A pull that comes no further for a while is given up. Cancellation ends the pull in the engine.
        """
        with trio.CancelScope(deadline=trio.current_time() + self.silence_seconds) as silence:
            await self._pull(_Pull(image, silence, self.silence_seconds, progress), auth)
        if silence.cancelled_caught:
            raise ImagePullError(pull_texts.no_progress(image, errors.go_duration(self.silence_seconds)))
        self._references.clear()
        found = await self.status(image)
        if found is None:
            raise ImagePullError(f"the engine pulled {image!r} but does not know it")
        return found.id

    async def _pull(self, pull: _Pull, auth: AuthConfig | None) -> None:
        """Have the engine pull, and follow what it says to its end."""
        repository, tag = split_reference(pull.image)
        path = "/images/create?" + urlencode({"fromImage": repository, "tag": tag})
        headers = {"X-Registry-Auth": _auth_header(auth)} if auth else {}
        connection = await self.bridge.http.open_patiently("POST", path, headers=headers)
        try:
            if connection.status != 200:
                raise pull_errors.of_resolving(pull.image, await error_text(connection))
            while (chunk := await connection.receive()) is not None:
                pull.feed(chunk)
            if connection.is_cut:
                raise unavailable(self.bridge.endpoint, "the connection ended within a pull")
            pull.end()
        finally:
            await connection.aclose()

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
