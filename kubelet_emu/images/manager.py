"""Making the image of a container present, as the kubelet's image manager does.

Owns the pull queue, the pull back-off and the records of who pulled what. One call is one start attempt; nothing in
it raises for an expected failure. An image is handed on by its id, so that a mirror's image never takes the name of
the original. Source: kubelet v1.36 pkg/kubelet/images/image_manager.go EnsureImageExists; KEP-3673, KEP-2535.
"""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Protocol

from attrs import define, field, frozen

from kubelet_emu.api import reasons, reasons_images
from kubelet_emu.api.gotext import format_duration, quote
from kubelet_emu.api.image_names import (
    InvalidImageNameError,
    apply_default_image_tag,
    default_pull_policy,
    parse_image_name,
    repository_of,
)
from kubelet_emu.images.backoff import PullBackoff
from kubelet_emu.images.credentials import PullSecretError, keyring_of_secrets
from kubelet_emu.images.outcome import ImageOutcome, PullConfig, PullOverride, PullState, PullUpdate
from kubelet_emu.images.pulling import Puller, failure_of
from kubelet_emu.images.slots import PullEnd, PullRate, PullSlots
from kubelet_emu.images.verification import PullRecords
from kubelet_emu.journal.records import NoteRecord, ObjectRef
from kubelet_emu.rules.observed import StartFailure
from runtime.api import CRIError, ImageID, ImagePullError, pull_texts

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from datetime import datetime

    from kubelet_emu.api.image_names import ImageName
    from kubelet_emu.api.v1 import AnyContainer, Pod, Secret
    from kubelet_emu.images.credentials import Credential, Keyring
    from kubelet_emu.images.mirrors import ImageSource
    from kubelet_emu.images.pulling import Pulled
    from kubelet_emu.journal.records import Record
    from runtime.api import Image, PullProgress

_POLICY_OF_OVERRIDE = {
    PullOverride.ALWAYS: "Always",
    PullOverride.MISSING: "IfNotPresent",
    PullOverride.NEVER: "Never",
}


class Clock(Protocol):
    """The wall clock of the run."""

    def now(self) -> datetime:
        """Return the wall time, aware UTC."""


async def no_turn(key: str) -> None:
    """Take one's turn where the order of one instant doesn't matter."""


@frozen(kw_only=True)
class _Request:
    """One start attempt's wish for an image; `image` is the user's text, `name` has a tag or a digest."""

    pod: Pod
    container: str
    image: str
    name: str
    policy: str

    @property
    def key(self) -> str:
        """Return the back-off's key: containers of one pod share it for one image."""
        return f"{self.pod.metadata.uid}_{self.image}"


@define(eq=False, kw_only=True)
class ImageManager:
    """Makes images present; `event` takes pod, container name or None, type, reason and message.

    `turn` is awaited with the pod's key before a pull is queued, so that pulls wished for at one instant queue in
    the order of their pods. `secret` looks up a Secret by namespace and name.
    """

    puller: Puller
    timebase: Clock
    event: Callable[[Pod, str | None, str, str, str], None]
    emit: Callable[[Record], None]
    secret: Callable[[str, str], Secret | None]
    config: PullConfig = field(factory=PullConfig)
    turn: Callable[[str], Awaitable[None]] = no_turn
    verifies_access: bool = True
    records: PullRecords = field(factory=PullRecords)
    progress: Callable[[PullUpdate], None] | None = None
    backoff: PullBackoff = field(factory=PullBackoff)
    slots: PullSlots = field(init=False)
    _rate: PullRate = field(init=False)
    _malformed: set[str] = field(factory=set, init=False)
    _end: PullEnd = field(factory=PullEnd, init=False)

    def __attrs_post_init__(self) -> None:
        """Make the queue and the token bucket of the configuration."""
        self.slots = PullSlots(limit=self.config.limit)
        self._rate = PullRate(qps=self.config.registry_qps, burst=self.config.registry_burst)

    async def ensure_image_exists(
        self, pod: Pod, container: AnyContainer, *, pull_policy_override: PullOverride | None = None
    ) -> ImageOutcome:
        """Return the image of a container, pulling it if its policy says so, or why there is none.

        Every event of this step is sent, the closing `Error: KIND` too. Cancellation gives up the pull; a pod's
        deletion must not cancel it. Source: kubelet v1.36 EnsureImageExists.
        """
        image = container.image or ""
        try:
            name = apply_default_image_tag(image)
        except InvalidImageNameError as error:
            return self._invalid_name(pod, container.name, image, error)
        override = pull_policy_override or self.config.override
        policy = container.image_pull_policy or default_pull_policy(image)
        if override is not None:
            policy = _POLICY_OF_OVERRIDE[override]
        request = _Request(pod=pod, container=container.name, image=image, name=name, policy=policy)
        try:
            if policy != "Always" and (present := await self._use_present(request)) is not None:
                return present
            keyring = self._keyring(pod)
        except PullSecretError as error:
            self._tell_malformed(request, error)
            return self._refuse(request, StartFailure(reason=str(error), message=str(error)))
        with self.records.intent(name):
            return await self._pull(request, keyring)

    def tell_missing_pull_secrets(self, pod: Pod) -> None:
        """Send FailedToRetrieveImagePullSecret when the pod names absent secrets: once a sync, before the starts.

        Source: kubelet v1.36 getPullSecretsForPod.
        """
        names = [reference.name for reference in pod.spec.image_pull_secrets if reference.name]
        missing = [name for name in names if self.secret(pod.metadata.namespace or "", name) is None]
        if missing:
            message = reasons_images.IMAGE_PULL_SECRETS_MISSING.format(names=", ".join(missing))
            self.event(pod, None, reasons.WARNING, reasons_images.FAILED_TO_RETRIEVE_IMAGE_PULL_SECRET, message)

    def give_up(self) -> None:
        """End every pull that runs or waits, and each that comes: who interrupts twice wants to leave.

        Differs: nothing ends a kubelet's pull but the runtime.
        """
        self._end.give_up()

    def collect_garbage(self, now: datetime) -> None:
        """Drop back-offs that are over.

        Differs: no image is ever deleted for lack of disk space, the engine's images are its user's.
        """
        self.backoff.collect_garbage(now)

    async def _use_present(self, request: _Request) -> ImageOutcome | None:
        """Return the outcome where no pull is wanted: a usable image, or a refusal; None asks for a pull.

        PullSecretError for a malformed secret where the pod's credentials decide.
        """
        try:
            found = await self.puller.find(request.name)
        except CRIError as error:
            return self._cannot_inspect(request, error)
        if found is None or self._must_attempt_pull(request, found.image):
            return self._never_pull(request) if request.policy == "Never" else None
        if found.source.is_mirror:
            self._note(request, "info", f"image {request.image} is here as {found.source.reference}")
        text = reasons_images.IMAGE_PRESENT_VERIFIED if self.verifies_access else reasons_images.IMAGE_PRESENT
        self._tell(request, reasons.NORMAL, reasons_images.PULLED, text.format(image=quote(request.image)))
        return _outcome(request, found.image, found.source)

    def _must_attempt_pull(self, request: _Request, found: Image) -> bool:
        if not self.verifies_access:
            return False
        repository = parse_image_name(request.name).repository

        def credentials() -> tuple[Credential, ...]:
            return self._keyring(request.pod).lookup(repository)

        return self.records.must_attempt_pull(request.name, found.id, repository, credentials)

    async def _pull(self, request: _Request, keyring: Keyring) -> ImageOutcome:
        if self.backoff.is_in_backoff(request.key, self.timebase.now()):
            return self._back_off(request)
        await self.turn(f"{request.pod.metadata.namespace}/{request.pod.metadata.name}")
        self._tell(
            request,
            reasons.NORMAL,
            reasons_images.PULLING,
            reasons_images.PULLING_IMAGE.format(image=quote(request.image)),
        )
        queued_at = self.timebase.now()
        if self.slots.would_wait:
            self._show(request, PullState.QUEUED)
        failure: CRIError = ImagePullError(pull_texts.given_up(request.name))
        with self._end.watched():
            async with self.slots.hold():
                began_at = self.timebase.now()
                self._show(request, PullState.RUNNING)
                try:
                    pulled, image = await self._pull_now(request, keyring)
                except CRIError as error:
                    failure = error
                else:
                    self._succeeded(request, pulled, image, began_at, queued_at)
                    return _outcome(request, image, pulled.source)
        return await self._failed(request, failure)

    async def _pull_now(self, request: _Request, keyring: Keyring) -> tuple[Pulled, Image]:
        """Pull inside a slot and ask for the image's size, which counts as part of the pull."""
        if not self._rate.try_accept(self.timebase.now()):
            raise ImagePullError(reasons_images.PULL_QPS_EXCEEDED)

        def show(progress: PullProgress) -> None:
            self._show(request, PullState.RUNNING, progress)

        pulled = await self.puller.pull(request.name, keyring, show)
        image = await self.puller.runtime.image_status(pulled.image_id) if pulled.image_id else None
        if image is None:
            raise ImagePullError(reasons_images.IMAGE_REF_NOT_SET.format(image=quote(request.image)))
        return pulled, image

    def _succeeded(
        self, request: _Request, pulled: Pulled, image: Image, began_at: datetime, queued_at: datetime
    ) -> None:
        now = self.timebase.now()
        self._show(request, PullState.DONE)
        self.records.record_pulled(image.id, parse_image_name(request.name).repository, pulled.credential)
        if pulled.source.is_mirror:
            self._note(request, "info", f"image {request.image} was pulled from {pulled.source.reference}")
        text = reasons_images.PULLED_IMAGE.format(
            image=quote(request.image),
            pull=_milliseconds(now - began_at),
            total=_milliseconds(now - queued_at),
            size=image.size_bytes,
        )
        self._tell(request, reasons.NORMAL, reasons_images.PULLED, text)
        self.backoff.succeeded(request.key, now)

    async def _failed(self, request: _Request, error: CRIError) -> ImageOutcome:
        self._show(request, PullState.FAILED)
        text = reasons_images.FAILED_TO_PULL_IMAGE.format(image=quote(request.image), error=error)
        self._tell(request, reasons.WARNING, reasons.FAILED, text)
        failure = failure_of(request.image, error)
        self.backoff.failed(request.key, self.timebase.now(), f"{failure.reason}: {failure.message}")
        outcome = self._refuse(request, failure)
        if str(error) != reasons_images.PULL_QPS_EXCEEDED:
            await self._hint_at_local_image(request)
        return outcome

    async def _hint_at_local_image(self, request: _Request) -> None:
        """Tell a user whose own `:latest` is here why it was pulled all the same."""
        name = parse_image_name(request.name)
        if request.policy != "Always" or name.tag != "latest":
            return
        try:
            is_local = await self.puller.find(request.name) is not None
        except CRIError:
            return
        if is_local:
            text = (
                f"image {request.image} is on this machine, but its tag latest means imagePullPolicy Always:"
                " use --pull missing to run it without a pull"
            )
            self._note(request, "warning", text)

    def _keyring(self, pod: Pod) -> Keyring:
        """Return the credentials of the pod's secrets, as they are now; PullSecretError."""
        names = [reference.name for reference in pod.spec.image_pull_secrets if reference.name]
        found = [self.secret(pod.metadata.namespace or "", name) for name in names]
        return keyring_of_secrets(tuple(secret for secret in found if secret is not None))

    def _tell_malformed(self, request: _Request, error: PullSecretError) -> None:
        """Say once which Secret the words of a status are about."""
        text = f"the content of Secret {error.secret} is no pull secret's: {error}"
        if text not in self._malformed:
            self._malformed.add(text)
            self._note(request, "warning", text)

    def _invalid_name(self, pod: Pod, container: str, image: str, error: InvalidImageNameError) -> ImageOutcome:
        message = reasons_images.FAILED_TO_APPLY_DEFAULT_TAG.format(image=quote(image), error=error)
        request = _Request(pod=pod, container=container, image=image, name=image, policy="")
        self._tell(request, reasons.WARNING, reasons_images.INSPECT_FAILED, message)
        return self._refuse(request, StartFailure(reason=reasons_images.INVALID_IMAGE_NAME, message=message))

    def _cannot_inspect(self, request: _Request, error: CRIError) -> ImageOutcome:
        # The kubelet prints the reference it doesn't know yet: the quotes are always empty.
        message = reasons_images.FAILED_TO_INSPECT_IMAGE.format(image=quote(""), error=error)
        self._tell(request, reasons.WARNING, reasons_images.INSPECT_FAILED, message)
        return self._refuse(request, StartFailure(reason=reasons_images.IMAGE_INSPECT_ERROR, message=message))

    def _never_pull(self, request: _Request) -> ImageOutcome:
        message = reasons_images.IMAGE_NEVER_PULL.format(image=quote(request.image))
        self._tell(request, reasons.WARNING, reasons_images.ERR_IMAGE_NEVER_PULL, message)
        return self._refuse(request, StartFailure(reason=reasons_images.ERR_IMAGE_NEVER_PULL, message=message))

    def _back_off(self, request: _Request) -> ImageOutcome:
        message = reasons_images.BACK_OFF_PULLING.format(image=quote(request.image))
        self._tell(request, reasons.NORMAL, reasons.BACK_OFF, message)
        last_error = self.backoff.last_error(request.key)
        message = f"{message}: {last_error}" if last_error else message
        return self._refuse(request, StartFailure(reason=reasons_images.IMAGE_PULL_BACK_OFF, message=message))

    def _refuse(self, request: _Request, failure: StartFailure) -> ImageOutcome:
        self._tell(request, reasons.WARNING, reasons.FAILED, reasons.start_error(failure.reason))
        return ImageOutcome(failure=failure)

    def _tell(self, request: _Request, event_type: str, reason: str, message: str) -> None:
        self.event(request.pod, request.container, event_type, reason, message)

    def _note(self, request: _Request, level: str, text: str) -> None:
        self.emit(NoteRecord(ref=ObjectRef.of(request.pod.metadata), level=level, text=text))

    def _show(self, request: _Request, state: PullState, progress: PullProgress | None = None) -> None:
        if self.progress is not None:
            self.progress(
                PullUpdate(
                    pod=request.pod,
                    container=request.container,
                    image=request.image,
                    state=state,
                    running=self.slots.running,
                    limit=self.slots.limit,
                    progress=progress,
                )
            )


def _outcome(request: _Request, image: Image, source: ImageSource) -> ImageOutcome:
    ref = image_ref(parse_image_name(request.name), image, source)
    return ImageOutcome(image_id=ImageID(image.id), image_ref=ref, image=image)


def image_ref(name: ImageName, image: Image, source: ImageSource) -> str:
    """Return what a status shows as imageID: the digest in the name's own repository, also where a mirror served it.

    Without one there the image's first digest, and its id for an image that no registry has.
    """
    places = {repository_of(digest.partition("@")[0]): digest for digest in reversed(image.repo_digests)}
    if name.repository in places:
        return f"{name.repository}@{places[name.repository].partition('@')[2]}"
    if source.is_mirror and source.repository in places:
        return f"{name.repository}@{places[source.repository].partition('@')[2]}"
    return image.repo_digests[0] if image.repo_digests else image.id


def _milliseconds(duration: timedelta) -> str:
    return format_duration(timedelta(milliseconds=duration // timedelta(milliseconds=1)))
