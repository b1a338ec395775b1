"""Who a pod and its containers run as, and what they may do (core/v1); loaded when a pod says so.

Field names are the API's in snake case; `kubelet_emu.api.kinds` has the way back.
An absent field is None, an empty tuple or an empty mapping.
"""

from __future__ import annotations

from attrs import frozen

from kubelet_emu.api.v1 import PodSecurityContext as PodSecurityContext  # noqa: PLC0414 - one of the types of this module


@frozen(kw_only=True)
class AppArmorProfile:
    """`AppArmorProfile` of core.v1."""

    localhost_profile: str | None = None
    type: str = ""


@frozen(kw_only=True)
class Capabilities:
    """`Capabilities` of core.v1."""

    add: tuple[str, ...] = ()
    drop: tuple[str, ...] = ()


@frozen(kw_only=True)
class SELinuxOptions:
    """`SELinuxOptions` of core.v1."""

    level: str | None = None
    role: str | None = None
    type: str | None = None
    user: str | None = None


@frozen(kw_only=True)
class SeccompProfile:
    """`SeccompProfile` of core.v1."""

    localhost_profile: str | None = None
    type: str = ""


@frozen(kw_only=True)
class SecurityContext:
    """`SecurityContext` of core.v1."""

    allow_privilege_escalation: bool | None = None
    app_armor_profile: AppArmorProfile | None = None
    capabilities: Capabilities | None = None
    privileged: bool | None = None
    proc_mount: str | None = None
    read_only_root_filesystem: bool | None = None
    run_as_group: int | None = None
    run_as_non_root: bool | None = None
    run_as_user: int | None = None
    se_linux_options: SELinuxOptions | None = None
    seccomp_profile: SeccompProfile | None = None
    windows_options: WindowsSecurityContextOptions | None = None


@frozen(kw_only=True)
class Sysctl:
    """`Sysctl` of core.v1."""

    name: str = ""
    value: str = ""


@frozen(kw_only=True)
class WindowsSecurityContextOptions:
    """`WindowsSecurityContextOptions` of core.v1."""

    gmsa_credential_spec: str | None = None
    gmsa_credential_spec_name: str | None = None
    host_process: bool | None = None
    run_as_user_name: str | None = None
