"""Claims of persistent volumes (core/v1); loaded when a document has one.

Field names are the API's in snake case; `kubelet_emu.api.kinds` has the way back.
An absent field is None, an empty tuple or an empty mapping.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from attrs import field, frozen

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from kubelet_emu.api.meta import LabelSelector, ObjectMeta
    from kubelet_emu.api.quantity import Quantity
    from kubelet_emu.api.v1_status import PersistentVolumeClaimStatus


@frozen(kw_only=True)
class PersistentVolumeClaim:
    """`PersistentVolumeClaim` of core.v1."""

    api_version: str = "v1"
    kind: str = "PersistentVolumeClaim"
    metadata: ObjectMeta | None = None
    spec: PersistentVolumeClaimSpec | None = None
    status: PersistentVolumeClaimStatus | None = None


@frozen(kw_only=True)
class PersistentVolumeClaimCondition:
    """`PersistentVolumeClaimCondition` of core.v1."""

    last_probe_time: datetime | None = None
    last_transition_time: datetime | None = None
    message: str | None = None
    reason: str | None = None
    status: str = ""
    type: str = ""


@frozen(kw_only=True)
class PersistentVolumeClaimSpec:
    """`PersistentVolumeClaimSpec` of core.v1."""

    access_modes: tuple[str, ...] = ()
    data_source: TypedLocalObjectReference | None = None
    data_source_ref: TypedObjectReference | None = None
    resources: VolumeResourceRequirements | None = None
    selector: LabelSelector | None = None
    storage_class_name: str | None = None
    volume_attributes_class_name: str | None = None
    volume_mode: str | None = None
    volume_name: str | None = None


@frozen(kw_only=True)
class PersistentVolumeClaimTemplate:
    """`PersistentVolumeClaimTemplate` of core.v1."""

    metadata: ObjectMeta | None = None
    spec: PersistentVolumeClaimSpec | None = None


@frozen(kw_only=True)
class TypedLocalObjectReference:
    """`TypedLocalObjectReference` of core.v1."""

    kind: str = ""
    name: str = ""
    api_group: str | None = None


@frozen(kw_only=True)
class TypedObjectReference:
    """`TypedObjectReference` of core.v1."""

    kind: str = ""
    name: str = ""
    api_group: str | None = None
    namespace: str | None = None


@frozen(kw_only=True)
class VolumeResourceRequirements:
    """`VolumeResourceRequirements` of core.v1."""

    limits: Mapping[str, Quantity] = field(factory=dict)
    requests: Mapping[str, Quantity] = field(factory=dict)
