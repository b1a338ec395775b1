"""One pull request: its sources, its credentials, its errors.

Source: kubelet v1.36 kuberuntime_image.go PullImage (all matching credentials are tried, anonymous only without any),
images/image_manager.go evalCRIPullErr.
"""

from __future__ import annotations

import base64
import json
import re
from typing import TYPE_CHECKING, Protocol
from urllib.parse import quote, quote_plus

from attrs import define, frozen

from kubelet_emu.api import reasons_images
from kubelet_emu.api.gotext import quote as quote_text
from kubelet_emu.api.image_names import parse_image_name
from kubelet_emu.images.mirrors import ImageSource, image_sources
from kubelet_emu.rules.observed import StartFailure
from runtime.api import CRIError, ImagePullError
from runtime.api.pull_texts import CUT

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from kubelet_emu.images.credentials import Credential, Keyring
    from kubelet_emu.images.mirrors import Mirror
    from runtime.api import AuthConfig, Image, ImageID, ImageService, PullProgress

_SHORTEST_SECRET = 4
_HIDDEN = "[hidden]"
_SENT_TOKEN = re.compile(r"\b(Bearer|Basic) [A-Za-z0-9._~+/=-]{8,}", re.IGNORECASE)


class NodeCredentials(Protocol):
    """Credentials that are the node's own, not a pod's."""

    async def lookup(self, repository: str) -> tuple[Credential, ...]:
        """Return those that fit a fully qualified repository, in the order to try them; never raises."""


@frozen(kw_only=True)
class Found:
    """An image that is there, and the place that it is known by."""

    image: Image
    source: ImageSource


@frozen(kw_only=True)
class Pulled:
    """An image that was pulled: from where, and with which credential (None: anonymously)."""

    image_id: ImageID
    source: ImageSource
    credential: Credential | None


@define(kw_only=True)
class Puller:
    """Pulls through the mirrors and with the credentials that fit each place."""

    runtime: ImageService
    mirrors: tuple[Mirror, ...] = ()
    node: NodeCredentials | None = None

    async def find(self, image: str) -> Found | None:
        """Return the image that a name means here: the name's own, else a stand-in's; CRIError."""
        own = ImageSource(reference=image, repository=parse_image_name(image).repository)
        stand_ins = [source for source in image_sources(image, self.mirrors) if source.is_mirror]
        for source in (own, *stand_ins):
            if (found := await self.runtime.image_status(source.reference)) is not None:
                return Found(image=found, source=source)
        return None

    async def pull(self, image: str, keyring: Keyring, progress: Callable[[PullProgress], None]) -> Pulled:
        """Pull from the first place that has the image; CRIError with every place's text.

        The pod's credentials come before the node's, which are looked up when the pod's have failed. Cancellation stops
        waiting for the pull. Differs: a credential is offered only to the registry it is for, not to its mirrors.
        """
        errors: list[CRIError] = []
        for source in image_sources(image, self.mirrors):
            own = keyring.lookup(source.repository)
            pulled = await self._pull_from(source, own, errors, progress)
            if pulled is None and (others := await self._of_node(source)):
                pulled = await self._pull_from(source, others, errors, progress)
            elif pulled is None and not own:
                pulled = await self._pull_from(source, (None,), errors, progress)
            if pulled is not None:
                return pulled
        raise aggregate(errors)

    async def _of_node(self, source: ImageSource) -> tuple[Credential, ...]:
        return () if self.node is None else await self.node.lookup(source.repository)

    async def _pull_from(
        self,
        source: ImageSource,
        credentials: tuple[Credential | None, ...],
        errors: list[CRIError],
        progress: Callable[[PullProgress], None],
    ) -> Pulled | None:
        """Pull from one place with the first credential that works; add the errors of those that don't."""
        for credential in credentials:
            auth = credential.auth if credential else None
            try:
                image_id = await self.runtime.pull_image(source.reference, auth=auth, progress=progress)
            except CRIError as error:
                errors.append(error if auth is None else without_secrets(error, auth))
            else:
                return Pulled(image_id=image_id, source=source, credential=credential)
        return None


def without_secrets(error: CRIError, auth: AuthConfig) -> CRIError:
    """Return an error whose text shows nothing of the credentials, though a registry may have sent them back.

    Nor does it show a token that the engine got for them.
    """
    text = str(error)
    for secret in sorted(_forms_of(auth), key=len, reverse=True):
        text = _without_cut_end(text.replace(secret, _HIDDEN), secret)
    text = _SENT_TOKEN.sub(rf"\1 {_HIDDEN}", text)
    return error if text == str(error) else type(error)(text)


def _forms_of(auth: AuthConfig) -> Iterator[str]:
    """Return how each secret may be written: as it is, quoted, in a URL, and in a header."""
    pair = f"{auth.username}:{auth.password}".encode()
    if auth.password:
        yield base64.b64encode(pair).decode()
        yield base64.urlsafe_b64encode(pair).decode()
    for secret in (auth.password, auth.identity_token, auth.registry_token):
        if len(secret) >= _SHORTEST_SECRET:
            yield from {
                secret,
                json.dumps(secret)[1:-1],
                quote_text(secret)[1:-1],
                quote(secret, safe=""),
                quote_plus(secret),
            }


def _without_cut_end(text: str, secret: str) -> str:
    """Hide what a text that was cut in the middle of a secret still shows of it."""
    if not text.endswith(CUT):
        return text
    body = text.removesuffix(CUT)
    shown = next((n for n in range(len(secret), _SHORTEST_SECRET - 1, -1) if body.endswith(secret[:n])), 0)
    return body[:-shown] + _HIDDEN + CUT if shown else text


def aggregate(errors: list[CRIError]) -> CRIError:
    """Return one error for several, equal texts once (apimachinery NewAggregate)."""
    texts = list(dict.fromkeys(str(error) for error in errors))
    if len(texts) == 1:
        return errors[0]
    return ImagePullError("[" + ", ".join(texts) + "]")


def failure_of(image: str, error: CRIError) -> StartFailure:
    """Return the waiting reason and message of a failed pull (kubelet evalCRIPullErr: told by the text's start)."""
    text = str(error)
    if text.startswith(reasons_images.REGISTRY_UNAVAILABLE):
        rest = text.removeprefix(reasons_images.REGISTRY_UNAVAILABLE)
        message = reasons_images.REGISTRY_IS_UNAVAILABLE.format(image=image, rest=rest)
        return StartFailure(reason=reasons_images.REGISTRY_UNAVAILABLE, message=message)
    if text.startswith(reasons_images.SIGNATURE_VALIDATION_FAILED):
        rest = text.removeprefix(reasons_images.SIGNATURE_VALIDATION_FAILED)
        message = reasons_images.SIGNATURE_IS_INVALID.format(image=image, rest=rest)
        return StartFailure(reason=reasons_images.SIGNATURE_VALIDATION_FAILED, message=message)
    return StartFailure(reason=reasons_images.ERR_IMAGE_PULL, message=text)
