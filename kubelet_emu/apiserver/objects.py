"""What every stored object has in common, and the ways to change its metadata."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Protocol, TypeVar

from attrs import evolve

if TYPE_CHECKING:
    from datetime import datetime

    from kubelet_emu.api.meta import ObjectMeta, OwnerReference


class APIObject(Protocol):
    """An object of any kind that the store can hold: a frozen attrs value."""

    @property
    def api_version(self) -> str:
        """Return the group and version."""

    @property
    def kind(self) -> str:
        """Return the kind."""

    @property
    def metadata(self) -> ObjectMeta:
        """Return the metadata."""


class ObjectKey(NamedTuple):
    """Where an object is stored."""

    kind: str
    namespace: str
    name: str


T = TypeVar("T", bound=APIObject)
DEFAULT_NAMESPACE = "default"
FOREGROUND_FINALIZER = "foregroundDeletion"


def key_of(obj: APIObject) -> ObjectKey:
    """Return where an object is stored."""
    return ObjectKey(obj.kind, obj.metadata.namespace or DEFAULT_NAMESPACE, obj.metadata.name or "")


def evolved(obj: T, **changes: object) -> T:
    """Return the object with some of its fields replaced."""
    # every stored object is a frozen attrs value, which a protocol can't say
    return evolve(obj, **changes)  # type: ignore[misc]


def with_metadata(obj: T, **changes: object) -> T:
    """Return the object with some fields of its metadata replaced."""
    return evolved(obj, metadata=evolve(obj.metadata, **changes))  # type: ignore[arg-type]


def controller_of(obj: APIObject) -> OwnerReference | None:
    """Return the owner that controls the object (apimachinery GetControllerOf)."""
    return next((owner for owner in obj.metadata.owner_references if owner.controller), None)


def whole_seconds(at: datetime) -> datetime:
    """Return a time as the API stores it: cut to whole seconds (meta/v1 Time)."""
    return at.replace(microsecond=0)
