"""What a pod for one operating system may not set. Source: kubernetes v1.36 validateWindows, validateLinux."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubelet_emu.manifests.validation.context import containers_of
from kubelet_emu.manifests.validation.faults import Fault, forbidden, required, unsupported

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kubelet_emu.api.v1 import PodSpec
    from kubelet_emu.api.v1_security import PodSecurityContext, SecurityContext

_NO_WINDOWS = "windows options cannot be set for a linux pod"
_NOT_ON_WINDOWS = "cannot be set for a windows pod"


def validate_os(spec: PodSpec, path: str) -> Iterator[Fault]:
    """Check `spec.os` and that nothing of the other system is set."""
    if spec.os is None:
        return
    match spec.os.name:
        case "linux":
            yield from _validate_linux(spec, path)
        case "windows":
            yield from _validate_windows(spec, path)
        case "":
            yield required(f"{path}.os.name")
        case name:
            yield unsupported(f"{path}.os", name, ("linux", "windows"), at=f"{path}.os.name")


def _validate_linux(spec: PodSpec, path: str) -> Iterator[Fault]:
    if spec.security_context is not None and spec.security_context.windows_options is not None:
        yield forbidden(f"{path}.securityContext.windowsOptions", _NO_WINDOWS)
    for at, container in containers_of(spec, path):
        if container.security_context is not None and container.security_context.windows_options is not None:
            yield forbidden(f"{at}.securityContext.windowsOptions", _NO_WINDOWS)


def _validate_windows(spec: PodSpec, path: str) -> Iterator[Fault]:
    if spec.security_context is not None:
        for name, value in _of_linux(spec, spec.security_context):
            if value is not None:
                yield forbidden(f"{path}.{name}", _NOT_ON_WINDOWS)
    for at, container in containers_of(spec, path):
        if container.security_context is not None:
            yield from _validate_windows_container(container.security_context, f"{at}.securityContext")


def _of_linux(spec: PodSpec, context: PodSecurityContext) -> tuple[tuple[str, object], ...]:
    """Return what only a linux pod may have, in the server's order; None where it isn't set."""
    own = "securityContext"
    return (
        (f"{own}.appArmorProfile", context.app_armor_profile),
        (f"{own}.seLinuxOptions", context.se_linux_options),
        ("hostUsers", spec.host_users),
        ("hostPID", spec.host_pid or None),
        ("hostIPC", spec.host_ipc or None),
        (f"{own}.seccompProfile", context.seccomp_profile),
        (f"{own}.fsGroup", context.fs_group),
        (f"{own}.fsGroupChangePolicy", context.fs_group_change_policy),
        (f"{own}.sysctls", context.sysctls or None),
        ("shareProcessNamespace", spec.share_process_namespace),
        (f"{own}.runAsUser", context.run_as_user),
        (f"{own}.runAsGroup", context.run_as_group),
        (f"{own}.supplementalGroups", context.supplemental_groups or None),
        (f"{own}.supplementalGroupsPolicy", context.supplemental_groups_policy),
        (f"{own}.seLinuxChangePolicy", context.se_linux_change_policy),
    )


def _validate_windows_container(context: SecurityContext, path: str) -> Iterator[Fault]:
    linux_only: tuple[tuple[str, object], ...] = (
        ("appArmorProfile", context.app_armor_profile),
        ("seLinuxOptions", context.se_linux_options),
        ("seccompProfile", context.seccomp_profile),
        ("capabilities", context.capabilities),
        ("readOnlyRootFilesystem", context.read_only_root_filesystem),
        ("privileged", context.privileged),
        ("allowPrivilegeEscalation", context.allow_privilege_escalation),
        ("procMount", context.proc_mount),
        ("runAsUser", context.run_as_user),
        ("runAsGroup", context.run_as_group),
    )
    for name, value in linux_only:
        if value is not None:
            yield forbidden(f"{path}.{name}", _NOT_ON_WINDOWS)
