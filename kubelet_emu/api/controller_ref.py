"""The reference by which a controller holds what it has made."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from kubelet_emu.api.meta import OwnerReference

if TYPE_CHECKING:
    from kubelet_emu.api.meta import ObjectMeta


class Owner(Protocol):
    """A workload of any kind."""

    @property
    def api_version(self) -> str:
        """Return the group and version."""

    @property
    def kind(self) -> str:
        """Return the kind."""

    @property
    def metadata(self) -> ObjectMeta:
        """Return the metadata."""


def new_controller_ref(owner: Owner) -> OwnerReference:
    """Return the reference of what a controller makes for an owner (metav1.NewControllerRef)."""
    return OwnerReference(
        api_version=owner.api_version,
        kind=owner.kind,
        name=owner.metadata.name or "",
        uid=owner.metadata.uid or "",
        controller=True,
        block_owner_deletion=True,
    )
