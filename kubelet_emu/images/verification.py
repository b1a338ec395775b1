"""Who may use an image that is already present (KEP-2535).

Owns the records of what this process pulled and with which credentials, and of pulls that have begun; an image without
either was there before and counts as preloaded. Differs: the records live in memory, so an image pulled by an earlier
run is preloaded too.
"""

from __future__ import annotations

import enum
from collections import Counter
from contextlib import contextmanager
from typing import TYPE_CHECKING

from attrs import define, evolve, field, frozen

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from kubelet_emu.images.credentials import Credential, SecretCoordinates


class VerificationPolicy(enum.Enum):
    """imagePullCredentialsVerificationPolicy of the KubeletConfiguration."""

    NEVER_VERIFY = "NeverVerify"
    NEVER_VERIFY_PRELOADED_IMAGES = "NeverVerifyPreloadedImages"
    NEVER_VERIFY_ALLOWLISTED_IMAGES = "NeverVerifyAllowlistedImages"
    ALWAYS_VERIFY = "AlwaysVerify"


@frozen(kw_only=True)
class PullRecord:
    """How an image of one repository was pulled: open to all pods of the node, or with these secrets.

    A secret has the hash of its credential as it was last seen to work; one of another content replaces it.
    """

    is_node_accessible: bool = False
    secrets: Mapping[SecretCoordinates, str] = field(factory=dict)


@define(kw_only=True)
class PullRecords:
    """Records by image id and repository, intents by the image's text (kubelet v1.36 images/pullmanager)."""

    policy: VerificationPolicy = VerificationPolicy.NEVER_VERIFY_PRELOADED_IMAGES
    allowlist: tuple[str, ...] = ()
    _records: dict[str, dict[str, PullRecord]] = field(factory=dict, init=False)
    _intents: Counter[str] = field(factory=Counter, init=False)

    @contextmanager
    def intent(self, image: str) -> Iterator[None]:
        """Have it on record that an image is about to be pulled: whatever is present of it isn't preloaded."""
        self._intents[image] += 1
        try:
            yield
        finally:
            self._intents[image] -= 1

    def record_pulled(self, image_id: str, repository: str, credential: Credential | None) -> None:
        """Remember a pull that succeeded; anonymous and node credentials open the image to all pods."""
        of_image = self._records.setdefault(image_id, {})
        old = of_image.get(repository, PullRecord())
        if credential is None or credential.secret is None:
            of_image[repository] = PullRecord(is_node_accessible=True)
        elif not old.is_node_accessible:
            of_image[repository] = evolve(old, secrets={**old.secrets, credential.secret: credential.hash})

    def must_attempt_pull(
        self, image: str, image_id: str, repository: str, credentials: Callable[[], tuple[Credential, ...]]
    ) -> bool:
        """Tell whether a present image may be used only after a pull with this pod's credentials.

        Of `credentials` those of secrets count; they are looked up when it comes to them, and what that raises comes
        out. Source: KEP-2535, kubelet v1.36 MustAttemptImagePull.
        """
        was_pulled = image_id in self._records or self._intents[image] > 0
        if not self._needs_verification(repository, was_pulled=was_pulled):
            return False
        record = self._records.get(image_id, {}).get(repository, PullRecord())
        if record.is_node_accessible:
            return False
        for credential in credentials():
            secret = credential.secret
            if secret is not None and (secret in record.secrets or credential.hash in record.secrets.values()):
                self.record_pulled(image_id, repository, credential)
                return False
        return True

    def _needs_verification(self, repository: str, *, was_pulled: bool) -> bool:
        match self.policy:
            case VerificationPolicy.NEVER_VERIFY:
                return False
            case VerificationPolicy.NEVER_VERIFY_PRELOADED_IMAGES:
                return was_pulled
            case VerificationPolicy.NEVER_VERIFY_ALLOWLISTED_IMAGES:
                return not any(_is_listed(pattern, repository) for pattern in self.allowlist)
            case VerificationPolicy.ALWAYS_VERIFY:
                return True


def _is_listed(pattern: str, repository: str) -> bool:
    if pattern.endswith("/*"):
        return repository.startswith(pattern[:-1])
    return repository == pattern
