"""One pull request: its sources, its credentials, its errors.

Source: kubelet v1.36 kuberuntime_image.go PullImage (all matching credentials are tried, anonymous only without any),
images/image_manager.go evalCRIPullErr.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from attrs import define, frozen

from kubelet_emu.api import reasons_images
from kubelet_emu.images.mirrors import image_sources
from kubelet_emu.rules.observed import StartFailure
from runtime.api import CRIError, ImagePullError

if TYPE_CHECKING:
    from collections.abc import Callable

    from kubelet_emu.images.credentials import Credential, Keyring
    from kubelet_emu.images.mirrors import ImageSource, Mirror
    from runtime.api import Image, ImageID, ImageService, PullProgress


@frozen(kw_only=True)
class Pulled:
    """An image that was pulled: from where, and with which credential (None: anonymously)."""

    image_id: ImageID
    source: ImageSource
    credential: Credential | None


@define(kw_only=True)
class Puller:
    """Pulls through the mirrors and with the credentials that fit each place; keeps where names led to."""

    runtime: ImageService
    mirrors: tuple[Mirror, ...] = ()

    async def find(self, image: str) -> Image | None:
        """Return the image that a name means here: the name's own, else a stand-in's; CRIError."""
        own = await self.runtime.image_status(image)
        if own is not None:
            return own
        for source in image_sources(image, self.mirrors):
            if source.is_mirror and (stand_in := await self.runtime.image_status(source.reference)) is not None:
                return stand_in
        return None

    async def pull(self, image: str, keyrings: tuple[Keyring, ...], progress: Callable[[PullProgress], None]) -> Pulled:
        """Pull from the first place that has the image; CRIError with every place's text.

        A credential is offered only to the registry it is for. Cancellation stops waiting for the pull.
        """
        errors: list[CRIError] = []
        for source in image_sources(image, self.mirrors):
            for credential in credentials_for(source.repository, keyrings) or (None,):
                auth = credential.auth if credential else None
                try:
                    image_id = await self.runtime.pull_image(source.reference, auth=auth, progress=progress)
                except CRIError as error:
                    errors.append(error)
                else:
                    return Pulled(image_id=image_id, source=source, credential=credential)
        raise aggregate(errors)


def credentials_for(repository: str, keyrings: tuple[Keyring, ...]) -> tuple[Credential, ...]:
    """Return the credentials of all keyrings that fit, keyrings in order (kubelet UnionDockerKeyring)."""
    return tuple(credential for keyring in keyrings for credential in keyring.lookup(repository))


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
