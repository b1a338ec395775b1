"""Security contexts. Source: kubernetes v1.36 ValidateSecurityContext, ValidatePodSecurityContext."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from kubelet_emu.api import sysctls
from kubelet_emu.manifests.validation.context import containers_of
from kubelet_emu.manifests.validation.faults import (
    Fault,
    duplicate,
    forbidden,
    go_value,
    invalid,
    required,
    too_long,
    unsupported,
)
from kubelet_emu.manifests.validation.names import path_errors
from kubelet_emu.manifests.validation.windows import validate_windows_options

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kubelet_emu.api.v1 import PodSpec
    from kubelet_emu.api.v1_security import AppArmorProfile, SeccompProfile, SecurityContext, Sysctl
    from kubelet_emu.manifests.validation.context import Context

_LARGEST_ID = 2**31 - 1
_ID_RULE = f"must be between 0 and {_LARGEST_ID}, inclusive"
_PROFILE_TYPES = ("Localhost", "RuntimeDefault", "Unconfined")
_LONGEST_APPARMOR = 4095


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
    if given.allow_privilege_escalation is False:
        if given.privileged:
            yield invalid(path, given, "cannot set `allowPrivilegeEscalation` to false and `privileged` to true")
        for capability in given.capabilities.add if given.capabilities is not None else ():
            if capability == "CAP_SYS_ADMIN":
                text = "cannot set `allowPrivilegeEscalation` to false and `capabilities.Add` CAP_SYS_ADMIN"
                yield invalid(path, given, text)
    if given.windows_options is not None:
        yield from validate_windows_options(given.windows_options, f"{path}.windowsOptions")
    yield from validate_apparmor(given.app_armor_profile, f"{path}.appArmorProfile")


def validate_seccomp(profile: SeccompProfile | None, path: str) -> Iterator[Fault]:
    """Check a seccomp profile."""
    if profile is None:
        return
    if not profile.type:
        yield required(f"{path}.type", "type is required when seccompProfile is set")
    elif profile.type not in _PROFILE_TYPES:
        yield unsupported(f"{path}.type", profile.type, _PROFILE_TYPES)
    at = f"{path}.localhostProfile"
    if profile.type != "Localhost":
        if profile.localhost_profile is not None:
            shown = f'{{"Type":{go_value(profile.type)},"LocalhostProfile":{go_value(profile.localhost_profile)}}}'
            yield Fault(at, "Invalid value", f"{shown}: can only be set when seccomp type is Localhost")
    elif profile.localhost_profile is None:
        yield required(at, "must be set when seccomp type is Localhost")
    else:
        for text in path_errors(profile.localhost_profile):
            yield invalid(at, profile.localhost_profile, text)


def validate_apparmor(profile: AppArmorProfile | None, path: str) -> Iterator[Fault]:
    """Check an AppArmor profile."""
    if profile is None:
        return
    at = f"{path}.localhostProfile"
    name = profile.localhost_profile
    match profile.type:
        case "Localhost":
            yield from _validate_apparmor_name(name, at)
        case "RuntimeDefault" | "Unconfined":
            if name is not None:
                yield invalid(at, name, "can only be set when AppArmor type is Localhost")
        case "":
            yield required(f"{path}.type", "type is required when appArmorProfile is set")
        case unknown:
            yield unsupported(f"{path}.type", unknown, _PROFILE_TYPES)


def _validate_apparmor_name(name: str | None, path: str) -> Iterator[Fault]:
    if not name:
        yield required(path, "must be set when AppArmor type is Localhost")
        return
    if name != name.strip():
        yield invalid(path, name, "must not be padded with whitespace")
    if len(name.encode()) > _LONGEST_APPARMOR:
        yield too_long(path, _LONGEST_APPARMOR)


def validate_pod_security(path: str, context: Context) -> Iterator[Fault]:
    """Check the security context of a pod, with what the server keeps in it: namespaces that are shared."""
    given, spec = context.spec.security_context, context.spec
    if given is None:
        return
    yield from _validate_id(given.fs_group, f"{path}.fsGroup")
    yield from _validate_id(given.run_as_user, f"{path}.runAsUser")
    yield from _validate_id(given.run_as_group, f"{path}.runAsGroup")
    for index, group in enumerate(given.supplemental_groups):
        yield from _validate_id(group, f"{path}.supplementalGroups[{index}]")
    if spec.share_process_namespace and spec.host_pid:
        text = "ShareProcessNamespace and HostPID cannot both be enabled"
        at = f"{path.rpartition('.')[0]}.shareProcessNamespace"
        yield invalid(f"{path}.shareProcessNamespace", value=True, detail=text, at=at)
    yield from _validate_sysctls(given.sysctls, f"{path}.sysctls", context)
    yield from _validate_choice(
        given.fs_group_change_policy, ("Always", "OnRootMismatch"), f"{path}.fsGroupChangePolicy"
    )
    yield from validate_seccomp(given.seccomp_profile, f"{path}.seccompProfile")
    if given.windows_options is not None:
        yield from validate_windows_options(given.windows_options, f"{path}.windowsOptions")
    yield from validate_apparmor(given.app_armor_profile, f"{path}.appArmorProfile")
    yield from _validate_choice(
        given.supplemental_groups_policy, ("Merge", "Strict"), f"{path}.supplementalGroupsPolicy"
    )
    yield from _validate_choice(given.se_linux_change_policy, _selinux_policies(context), f"{path}.seLinuxChangePolicy")


def _validate_choice(value: str | None, allowed: tuple[str, ...], path: str) -> Iterator[Fault]:
    if value is not None and value not in allowed:
        yield unsupported(path, value, allowed)


def validate_host_users(path: str, context: Context) -> Iterator[Fault]:
    """Check a pod with users of its own (KEP-127); `path` is that of the spec, the server spells two fields in Go."""
    spec = context.spec
    if spec.host_users is not False:
        return
    text = "when `hostUsers` is false"
    if spec.host_network and not context.gates.enabled("UserNamespacesHostNetworkSupport"):
        yield forbidden(f"{path}.hostNetwork", text)
    if spec.host_pid:
        yield forbidden(f"{path}.HostPID", text, at=f"{path}.hostPID")
    if spec.host_ipc:
        yield forbidden(f"{path}.HostIPC", text, at=f"{path}.hostIPC")
    for at, container in containers_of(spec, path):
        if container.volume_devices:
            yield forbidden(f"{at}.volumeDevices", text)


def _selinux_policies(context: Context) -> tuple[str, ...]:
    return ("MountOption", "Recursive") if context.gates.enabled("SELinuxMount") else ("Recursive",)


def _validate_sysctls(given: tuple[Sysctl, ...], path: str, context: Context) -> Iterator[Fault]:
    seen: set[str] = set()
    for index, sysctl in enumerate(given):
        at = f"{path}[{index}].name"
        if not sysctl.name:
            yield required(at)
        elif len(sysctl.name) > sysctls.LONGEST_NAME or not re.fullmatch(sysctls.NAME, sysctl.name):
            text = f"must have at most {sysctls.LONGEST_NAME} characters and match regex ^{sysctls.NAME}$"
            yield invalid(at, sysctl.name, text)
        elif sysctl.name in seen:
            yield duplicate(at, sysctl.name)
        yield from _validate_sysctl_namespace(sysctl.name, at, context.spec)
        seen.add(sysctl.name)


def _validate_sysctl_namespace(name: str, path: str, spec: PodSpec) -> Iterator[Fault]:
    """Check that a namespace with settings of the pod's own is not the host's (ValidateHostSysctl)."""
    namespace = sysctls.namespaced_by(sysctls.normalize_name(name))
    if spec.host_network and namespace == sysctls.NET:
        yield invalid(path, name, "may not be specified when 'hostNetwork' is true")
    elif spec.host_ipc and namespace == sysctls.IPC:
        yield invalid(path, name, "may not be specified when 'hostIPC' is true")
