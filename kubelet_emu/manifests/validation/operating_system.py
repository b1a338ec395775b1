"""What a pod for one operating system may not set. Source: kubernetes v1.36 validateWindows, validateLinux."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubelet_emu.manifests.validation.faults import Fault, forbidden, required, unsupported

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kubelet_emu.api.v1 import Container, PodSpec
    from kubelet_emu.api.v1_security import SecurityContext

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


def _containers(spec: PodSpec, path: str) -> Iterator[tuple[str, Container]]:
    for field, containers in (("containers", spec.containers), ("initContainers", spec.init_containers)):
        for index, container in enumerate(containers):
            yield f"{path}.{field}[{index}]", container


def _validate_linux(spec: PodSpec, path: str) -> Iterator[Fault]:
    if spec.security_context is not None and spec.security_context.windows_options is not None:
        yield forbidden(f"{path}.securityContext.windowsOptions", _NO_WINDOWS)
    for at, container in _containers(spec, path):
        if container.security_context is not None and container.security_context.windows_options is not None:
            yield forbidden(f"{at}.securityContext.windowsOptions", _NO_WINDOWS)


def _validate_windows(spec: PodSpec, path: str) -> Iterator[Fault]:
    namespaces = (("hostUsers", spec.host_users), ("hostPID", spec.host_pid), ("hostIPC", spec.host_ipc))
    for name, is_set in namespaces:
        if is_set or (name == "hostUsers" and is_set is not None):
            yield forbidden(f"{path}.{name}", _NOT_ON_WINDOWS)
    context = spec.security_context
    if context is not None:
        linux_only: tuple[tuple[str, object], ...] = (
            ("appArmorProfile", context.app_armor_profile),
            ("seLinuxOptions", context.se_linux_options),
            ("seccompProfile", context.seccomp_profile),
            ("fsGroup", context.fs_group),
            ("fsGroupChangePolicy", context.fs_group_change_policy),
            ("sysctls", context.sysctls or None),
            ("runAsUser", context.run_as_user),
            ("runAsGroup", context.run_as_group),
            ("supplementalGroups", context.supplemental_groups or None),
            ("supplementalGroupsPolicy", context.supplemental_groups_policy),
        )
        for name, value in linux_only:
            if value is not None:
                yield forbidden(f"{path}.securityContext.{name}", _NOT_ON_WINDOWS)
    if spec.share_process_namespace:
        yield forbidden(f"{path}.shareProcessNamespace", _NOT_ON_WINDOWS)
    for at, container in _containers(spec, path):
        if container.security_context is not None:
            yield from _validate_windows_container(container.security_context, f"{at}.securityContext")


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
