"""Fields of security contexts that an engine can't do, or that nothing here hands on to it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubelet_emu.manifests.field_reasons import APP_ARMOR, LOCALHOST, NO_CAPABILITY, SE_LINUX, SECURITY, WINDOWS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kubelet_emu.api.object_meta import ObjectMeta
    from kubelet_emu.api.v1 import AnyContainer, PodSpec
    from kubelet_emu.api.v1_security import Capabilities, PodSecurityContext, SecurityContext

_APP_ARMOR_KEY = "container.apparmor.security.beta.kubernetes.io/"


def annotations_not_emulated(metadata: ObjectMeta) -> Iterator[tuple[str, str]]:
    """Yield key and reason of the annotations that ask for what a container can't have here."""
    for key, value in metadata.annotations.items():
        if key.startswith(_APP_ARMOR_KEY) and value not in {"runtime/default", "unconfined"}:
            yield key, APP_ARMOR.replace("appArmorProfile", f"AppArmor profile {value!r}")


def security_not_emulated(spec: PodSpec) -> Iterator[tuple[str, str]]:
    """Yield field and reason of each, below the pod's spec."""
    context = spec.security_context
    if context is not None:
        if context.se_linux_change_policy is not None:
            yield "securityContext.seLinuxChangePolicy", SECURITY["PodSecurityContext.seLinuxChangePolicy"]
        yield from _of_both("securityContext", context)
    containers: tuple[tuple[str, tuple[AnyContainer, ...]], ...] = (
        ("initContainers", spec.init_containers),
        ("containers", spec.containers),
        ("ephemeralContainers", spec.ephemeral_containers),
    )
    for field, some in containers:
        for index, container in enumerate(some):
            if container.security_context is not None:
                yield from _of_container(f"{field}[{index}].securityContext", container.security_context)


def _of_container(path: str, context: SecurityContext) -> Iterator[tuple[str, str]]:
    if context.capabilities is not None:
        yield from _capabilities(f"{path}.capabilities", context.capabilities)
    if context.proc_mount not in {None, "Default"}:
        yield f"{path}.procMount", SECURITY["SecurityContext.procMount"]
    yield from _of_both(path, context)


def _capabilities(path: str, given: Capabilities) -> Iterator[tuple[str, str]]:
    from runtime.api.capabilities import ALL, KNOWN  # noqa: PLC0415 - few manifests name one

    for field, names in (("add", given.add), ("drop", given.drop)):
        for index, name in enumerate(names):
            if name.upper() not in {ALL, *KNOWN}:
                bare = name.upper().removeprefix("CAP_")
                mended = f": write {bare}" if bare in KNOWN else ": no kernel has it"
                yield f"{path}.{field}[{index}]", f"capability {name!r} in {field} {NO_CAPABILITY}{mended}"


def _of_both(path: str, context: PodSecurityContext | SecurityContext) -> Iterator[tuple[str, str]]:
    if context.app_armor_profile is not None and context.app_armor_profile.type != "RuntimeDefault":
        yield f"{path}.appArmorProfile", APP_ARMOR
    if context.se_linux_options is not None:
        yield f"{path}.seLinuxOptions", SE_LINUX
    if context.windows_options is not None:
        yield f"{path}.windowsOptions", WINDOWS
    if context.seccomp_profile is not None and context.seccomp_profile.type == "Localhost":
        yield f"{path}.seccompProfile", f"seccompProfile {context.seccomp_profile.localhost_profile!r}: {LOCALHOST}"
