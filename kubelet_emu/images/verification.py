"""Who may use an image that is already present (KEP-2535).

Owns the records of what this process pulled and with which credentials; an image without a record was there before
and counts as preloaded. Differs: the records live in memory, so an image pulled by an earlier run is preloaded too.
"""

from __future__ import annotations

import enum
from typing import TYPE_CHECKING

from attrs import define, field, frozen

if TYPE_CHECKING:
    from kubelet_emu.images.credentials import Credential, SecretCoordinates


class VerificationPolicy(enum.Enum):
    """imagePullCredentialsVerificationPolicy of the KubeletConfiguration."""

    NEVER_VERIFY = "NeverVerify"
    NEVER_VERIFY_PRELOADED_IMAGES = "NeverVerifyPreloadedImages"
    NEVER_VERIFY_ALLOWLISTED_IMAGES = "NeverVerifyAllowlistedImages"
    ALWAYS_VERIFY = "AlwaysVerify"


@frozen(kw_only=True)
class PullRecord:
    """How an image of one repository was pulled: open to all pods of the node, or with these secrets."""

    is_node_accessible: bool = False
    secrets: frozenset[SecretCoordinates] = frozenset()
    hashes: frozenset[str] = frozenset()


@define(kw_only=True)
class PullRecords:
    """Records by image id and repository (kubelet v1.36 images/pullmanager)."""

    policy: VerificationPolicy = VerificationPolicy.NEVER_VERIFY_PRELOADED_IMAGES
    allowlist: tuple[str, ...] = ()
    _records: dict[str, dict[str, PullRecord]] = field(factory=dict, init=False)

    def record_pulled(self, image_id: str, repository: str, credential: Credential | None) -> None:
        """Remember a pull that succeeded; anonymous and node credentials open the image to all pods."""
        of_image = self._records.setdefault(image_id, {})
        old = of_image.get(repository, PullRecord())
        if credential is None or credential.secret is None:
            of_image[repository] = PullRecord(is_node_accessible=True)
        elif not old.is_node_accessible:
            of_image[repository] = PullRecord(
                secrets=old.secrets | {credential.secret}, hashes=old.hashes | {credential.hash}
            )

    def must_attempt_pull(self, image_id: str, repository: str, credentials: tuple[Credential, ...]) -> bool:
        """Tell whether a present image may be used only after a pull with this pod's credentials.

        Source: KEP-2535, kubelet v1.36 MustAttemptImagePull.
        """
        if not self._needs_verification(image_id, repository):
            return False
        record = self._records.get(image_id, {}).get(repository, PullRecord())
        if record.is_node_accessible:
            return False
        for credential in credentials:
            if credential.hash in record.hashes or (credential.secret and credential.secret in record.secrets):
                self.record_pulled(image_id, repository, credential)
                return False
        return True

    def _needs_verification(self, image_id: str, repository: str) -> bool:
        match self.policy:
            case VerificationPolicy.NEVER_VERIFY:
                return False
            case VerificationPolicy.NEVER_VERIFY_PRELOADED_IMAGES:
                return image_id in self._records
            case VerificationPolicy.NEVER_VERIFY_ALLOWLISTED_IMAGES:
                return not any(_is_listed(pattern, repository) for pattern in self.allowlist)
            case VerificationPolicy.ALWAYS_VERIFY:
                return True


def _is_listed(pattern: str, repository: str) -> bool:
    if pattern.endswith("/*"):
        return repository.startswith(pattern[:-1])
    return repository == pattern
