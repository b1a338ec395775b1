"""Environment variables and where their values come from (core/v1); loaded when a container has any.

Field names are the API's in snake case; `kubelet_emu.api.kinds` has the way back.
An absent field is None, an empty tuple or an empty mapping.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from attrs import frozen

from kubelet_emu.api.v1 import EnvVar as EnvVar  # noqa: PLC0414 - one of the types of this module

if TYPE_CHECKING:
    from kubelet_emu.api.quantity import Quantity


@frozen(kw_only=True)
class ConfigMapEnvSource:
    """`ConfigMapEnvSource` of core.v1."""

    name: str | None = None
    optional: bool | None = None


@frozen(kw_only=True)
class ConfigMapKeySelector:
    """`ConfigMapKeySelector` of core.v1."""

    name: str | None = None
    key: str = ""
    optional: bool | None = None


@frozen(kw_only=True)
class EnvFromSource:
    """`EnvFromSource` of core.v1."""

    config_map_ref: ConfigMapEnvSource | None = None
    prefix: str | None = None
    secret_ref: SecretEnvSource | None = None


@frozen(kw_only=True)
class EnvVarSource:
    """`EnvVarSource` of core.v1."""

    config_map_key_ref: ConfigMapKeySelector | None = None
    field_ref: ObjectFieldSelector | None = None
    file_key_ref: FileKeySelector | None = None
    resource_field_ref: ResourceFieldSelector | None = None
    secret_key_ref: SecretKeySelector | None = None


@frozen(kw_only=True)
class FileKeySelector:
    """`FileKeySelector` of core.v1."""

    key: str = ""
    optional: bool | None = None
    path: str = ""
    volume_name: str = ""


@frozen(kw_only=True)
class ObjectFieldSelector:
    """`ObjectFieldSelector` of core.v1."""

    api_version: str | None = None
    field_path: str = ""


@frozen(kw_only=True)
class ResourceFieldSelector:
    """`ResourceFieldSelector` of core.v1."""

    container_name: str | None = None
    divisor: Quantity | None = None
    resource: str = ""


@frozen(kw_only=True)
class SecretEnvSource:
    """`SecretEnvSource` of core.v1."""

    name: str | None = None
    optional: bool | None = None


@frozen(kw_only=True)
class SecretKeySelector:
    """`SecretKeySelector` of core.v1."""

    name: str | None = None
    key: str = ""
    optional: bool | None = None
