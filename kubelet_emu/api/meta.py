"""Object metadata and selectors (meta/v1).

Field names are the API's in snake case; `kubelet_emu.api.kinds` has the way back.
An absent field is None, an empty tuple or an empty mapping.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from attrs import field, frozen

from kubelet_emu.api.object_meta import ObjectMeta as ObjectMeta  # noqa: PLC0414 - one of the types of this module

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime


@frozen(kw_only=True)
class LabelSelector:
    """`LabelSelector` of meta.v1."""

    match_expressions: tuple[LabelSelectorRequirement, ...] = ()
    match_labels: Mapping[str, str] = field(factory=dict)


@frozen(kw_only=True)
class LabelSelectorRequirement:
    """`LabelSelectorRequirement` of meta.v1."""

    key: str = ""
    operator: str = ""
    values: tuple[str, ...] = ()


@frozen(kw_only=True)
class ManagedFieldsEntry:
    """`ManagedFieldsEntry` of meta.v1."""

    api_version: str | None = None
    fields_type: str | None = None
    fields_v1: Mapping[str, object] | None = None
    manager: str | None = None
    operation: str | None = None
    subresource: str | None = None
    time: datetime | None = None


@frozen(kw_only=True)
class OwnerReference:
    """`OwnerReference` of meta.v1."""

    api_version: str = ""
    kind: str = ""
    name: str = ""
    block_owner_deletion: bool | None = None
    controller: bool | None = None
    uid: str = ""
