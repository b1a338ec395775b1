"""ConfigMap and Secret (core/v1).

Field names are the API's in snake case; `kubelet_emu.api.kinds` has the way back.
An absent field is None, an empty tuple or an empty mapping.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from attrs import field, frozen

from kubelet_emu.api.object_meta import ObjectMeta

if TYPE_CHECKING:
    from collections.abc import Mapping


@frozen(kw_only=True)
class ConfigMap:
    """`ConfigMap` of core.v1."""

    api_version: str = "v1"
    kind: str = "ConfigMap"
    metadata: ObjectMeta = field(factory=ObjectMeta)
    binary_data: Mapping[str, bytes] = field(factory=dict)
    data: Mapping[str, str] = field(factory=dict)
    immutable: bool | None = None


@frozen(kw_only=True)
class Secret:
    """`Secret` of core.v1."""

    api_version: str = "v1"
    kind: str = "Secret"
    metadata: ObjectMeta = field(factory=ObjectMeta)
    data: Mapping[str, bytes] = field(factory=dict)
    immutable: bool | None = None
    string_data: Mapping[str, str] = field(factory=dict)
    type: str | None = None
