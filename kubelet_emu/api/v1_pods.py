"""Hosts, name service and other rare parts of a pod (core/v1); loaded when a pod has any.

Field names are the API's in snake case; `kubelet_emu.api.kinds` has the way back.
An absent field is None, an empty tuple or an empty mapping.
"""

from __future__ import annotations

from attrs import frozen


@frozen(kw_only=True)
class HostAlias:
    """`HostAlias` of core.v1."""

    hostnames: tuple[str, ...] = ()
    ip: str = ""


@frozen(kw_only=True)
class LocalObjectReference:
    """`LocalObjectReference` of core.v1."""

    name: str | None = None


@frozen(kw_only=True)
class ObjectReference:
    """`ObjectReference` of core.v1."""

    api_version: str | None = None
    kind: str | None = None
    name: str | None = None
    field_path: str | None = None
    namespace: str | None = None
    resource_version: str | None = None
    uid: str | None = None


@frozen(kw_only=True)
class PodDNSConfig:
    """`PodDNSConfig` of core.v1."""

    nameservers: tuple[str, ...] = ()
    options: tuple[PodDNSConfigOption, ...] = ()
    searches: tuple[str, ...] = ()


@frozen(kw_only=True)
class PodDNSConfigOption:
    """`PodDNSConfigOption` of core.v1."""

    name: str | None = None
    value: str | None = None


@frozen(kw_only=True)
class PodOS:
    """`PodOS` of core.v1."""

    name: str = ""


@frozen(kw_only=True)
class PodReadinessGate:
    """`PodReadinessGate` of core.v1."""

    condition_type: str = ""
