"""Metadata of objects (meta/v1).

Field names are the API's in snake case; `kubelet_emu.api.kinds` has the way back.
An absent field is None, an empty tuple or an empty mapping.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from attrs import field, frozen

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from kubelet_emu.api.meta import ManagedFieldsEntry, OwnerReference


@frozen(kw_only=True)
class ObjectMeta:
    """`ObjectMeta` of meta.v1."""

    name: str | None = None
    annotations: Mapping[str, str] = field(factory=dict)
    creation_timestamp: datetime | None = None
    deletion_grace_period_seconds: int | None = None
    deletion_timestamp: datetime | None = None
    finalizers: tuple[str, ...] = ()
    generate_name: str | None = None
    generation: int | None = None
    labels: Mapping[str, str] = field(factory=dict)
    managed_fields: tuple[ManagedFieldsEntry, ...] = ()
    namespace: str | None = None
    owner_references: tuple[OwnerReference, ...] = ()
    resource_version: str | None = None
    self_link: str | None = None
    uid: str | None = None
