"""Security contexts. Source: kubernetes v1.36 ValidateSecurityContext, ValidatePodSecurityContext."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from kubelet_emu.manifests.validation.faults import (
    Fault,
    duplicate,
    forbidden,
    invalid,
    required,
    too_long,
    unsupported,
)
from kubelet_emu.manifests.validation.names import path_errors

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kubelet_emu.api.v1_security import AppArmorProfile, PodSecurityContext, SeccompProfile, SecurityContext, Sysctl
    from kubelet_emu.manifests.validation.context import Context

_LARGEST_ID = 2**31 - 1
_ID_RULE = f"must be between 0 and {_LARGEST_ID}, inclusive"
_PROFILE_TYPES = ("Localhost", "RuntimeDefault", "Unconfined")
_LONGEST_APPARMOR = 4095
_SYSCTL_SEGMENT = "[a-z0-9]([-_a-z0-9]*[a-z0-9])?"
_SYSCTL = rf"({_SYSCTL_SEGMENT}[\./])*{_SYSCTL_SEGMENT}"
_LONGEST_SYSCTL = 253
_IPC_SYSCTLS = ("kernel.shm", "kernel.msg", "kernel.sem", "fs.mqueue.")
_NO_WINDOWS_OPTIONS = "windows options cannot be set for a linux pod"


def _validate_id(value: int | None, path: str) -> Iterator[Fault]:
    if value is not None and not 0 <= value <= _LARGEST_ID:
        yield invalid(path, value, _ID_RULE)


def validate_security_context(given: SecurityContext, path: str, context: Context) -> Iterator[Fault]:
    """Check the security context of a container."""
    yield from _validate_id(given.run_as_user, f"{path}.runAsUser")
    yield from _validate_id(given.run_as_group, f"{path}.runAsGroup")
    if given.proc_mount is not None:
        if given.proc_mount not in ("Default", "Unmasked"):
            yield unsupported(f"{path}.procMount", given.proc_mount, ("Default", "Unmasked"))
        if given.proc_mount == "Unmasked" and context.spec.host_users is not False:
            yield invalid(f"{path}.procMount", given.proc_mount, "`hostUsers` must be false to use `Unmasked`")
    yield from validate_seccomp(given.seccomp_profile, f"{path}.seccompProfile")
    yield from validate_apparmor(given.app_armor_profile, f"{path}.appArmorProfile")
    if given.allow_privilege_escalation is False:
        if given.privileged:
            yield invalid(path, given, "cannot set `allowPrivilegeEscalation` to false and `privileged` to true")
        added = given.capabilities.add if given.capabilities is not None else ()
        if "CAP_SYS_ADMIN" in added:
            text = "cannot set `allowPrivilegeEscalation` to false and `capabilities.Add` CAP_SYS_ADMIN"
            yield invalid(path, given, text)


def validate_seccomp(profile: SeccompProfile | None, path: str) -> Iterator[Fault]:
    """Check a seccomp profile."""
    if profile is None:
        return
    at = f"{path}.localhostProfile"
    if profile.type == "Localhost":
        if profile.localhost_profile is None:
            yield required(at, "must be set when seccomp type is Localhost")
        else:
            for text in path_errors(profile.localhost_profile):
                yield invalid(at, profile.localhost_profile, text)
        return
    if profile.localhost_profile is not None:
        shown = {"Type": profile.type, "LocalhostProfile": profile.localhost_profile}
        ordered = dict(sorted(shown.items(), reverse=True))
        yield Fault(at, "Invalid value", f"{_json(ordered)}: can only be set when seccomp type is Localhost")
    if not profile.type:
        yield required(f"{path}.type", "type is required when seccompProfile is set")
    elif profile.type not in _PROFILE_TYPES:
        yield unsupported(f"{path}.type", profile.type, _PROFILE_TYPES)


def _json(pairs: dict[str, str]) -> str:
    return "{" + ",".join(f'"{key}":"{value}"' for key, value in pairs.items()) + "}"


def validate_apparmor(profile: AppArmorProfile | None, path: str) -> Iterator[Fault]:
    """Check an AppArmor profile."""
    if profile is None:
        return
    at = f"{path}.localhostProfile"
    name = profile.localhost_profile
    if profile.type == "Localhost":
        if name is None or not name.strip():
            yield required(at, "must be set when AppArmor type is Localhost")
        elif name != name.strip():
            yield invalid(at, name, "must not be padded with whitespace")
        elif len(name) > _LONGEST_APPARMOR:
            yield too_long(at, _LONGEST_APPARMOR)
        return
    if name is not None:
        yield invalid(at, name, "can only be set when AppArmor type is Localhost")
    if not profile.type:
        yield required(f"{path}.type", "type is required when appArmorProfile is set")
    elif profile.type not in _PROFILE_TYPES:
        yield unsupported(f"{path}.type", profile.type, _PROFILE_TYPES)


def validate_pod_security(path: str, context: Context) -> Iterator[Fault]:
    """Check the security context of a pod, and what of its spec must fit together with it."""
    spec = context.spec
    if spec.share_process_namespace and spec.host_pid:
        text = "ShareProcessNamespace and HostPID cannot both be enabled"
        at = f"{path.rpartition('.')[0]}.shareProcessNamespace"
        yield invalid(f"{path}.shareProcessNamespace", value=True, detail=text, at=at)
    if spec.host_users is False:
        parent = path.rpartition(".")[0]
        for shown, name, value in (
            (
                "hostNetwork",
                "hostNetwork",
                spec.host_network and not context.gates.enabled("UserNamespacesHostNetworkSupport"),
            ),
            ("HostPID", "hostPID", spec.host_pid),
            ("HostIPC", "hostIPC", spec.host_ipc),
        ):
            if value:
                yield forbidden(f"{parent}.{shown}", "when `hostUsers` is false", at=f"{parent}.{name}")
    if spec.security_context is not None:
        yield from _validate_pod_context(spec.security_context, path, context)


def _validate_pod_context(given: PodSecurityContext, path: str, context: Context) -> Iterator[Fault]:
    yield from _validate_id(given.fs_group, f"{path}.fsGroup")
    yield from _validate_id(given.run_as_user, f"{path}.runAsUser")
    yield from _validate_id(given.run_as_group, f"{path}.runAsGroup")
    for index, group in enumerate(given.supplemental_groups):
        yield from _validate_id(group, f"{path}.supplementalGroups[{index}]")
    sets = (
        ("supplementalGroupsPolicy", given.supplemental_groups_policy, ("Merge", "Strict")),
        ("fsGroupChangePolicy", given.fs_group_change_policy, ("Always", "OnRootMismatch")),
        ("seLinuxChangePolicy", given.se_linux_change_policy, _selinux_policies(context)),
    )
    for name, value, allowed in sets:
        if value is not None and value not in allowed:
            yield unsupported(f"{path}.{name}", value, allowed)
    yield from _validate_sysctls(given.sysctls, f"{path}.sysctls", context)
    yield from validate_seccomp(given.seccomp_profile, f"{path}.seccompProfile")
    yield from validate_apparmor(given.app_armor_profile, f"{path}.appArmorProfile")


def _selinux_policies(context: Context) -> tuple[str, ...]:
    return ("MountOption", "Recursive") if context.gates.enabled("SELinuxMount") else ("Recursive",)


def _validate_sysctls(sysctls: tuple[Sysctl, ...], path: str, context: Context) -> Iterator[Fault]:
    seen: set[str] = set()
    for index, sysctl in enumerate(sysctls):
        at = f"{path}[{index}].name"
        if not sysctl.name:
            yield required(at)
        elif len(sysctl.name) > _LONGEST_SYSCTL or not re.fullmatch(_SYSCTL, sysctl.name):
            yield invalid(
                at, sysctl.name, f"must have at most {_LONGEST_SYSCTL} characters and match regex ^{_SYSCTL}$"
            )
        elif sysctl.name in seen:
            yield duplicate(at, sysctl.name)
        else:
            yield from _validate_sysctl_namespace(sysctl.name, at, context)
        seen.add(sysctl.name)


def _validate_sysctl_namespace(name: str, path: str, context: Context) -> Iterator[Fault]:
    dotted = name.replace("/", ".")
    if context.spec.host_network and dotted.startswith("net."):
        yield invalid(path, name, "may not be specified when 'hostNetwork' is true")
    if context.spec.host_ipc and dotted.startswith(_IPC_SYSCTLS):
        yield invalid(path, name, "may not be specified when 'hostIPC' is true")
