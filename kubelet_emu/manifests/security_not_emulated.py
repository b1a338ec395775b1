"""Fields of security contexts that an engine can't do, or that nothing here hands on to it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubelet_emu.manifests.field_reasons import APP_ARMOR, LOCALHOST, NO_CAPABILITY, SE_LINUX, SECURITY, WINDOWS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from kubelet_emu.api.object_meta import ObjectMeta
    from kubelet_emu.api.v1 import AnyContainer, PodSpec
    from kubelet_emu.api.v1_security import Capabilities, PodSecurityContext, SecurityContext

_APP_ARMOR_KEY = "container.apparmor.security.beta.kubernetes.io/"


def has_no_profile(_profile: str) -> bool:
    """Have no seccomp profile: a node of which nothing is known."""
    return False


def annotations_not_emulated(metadata: ObjectMeta) -> Iterator[tuple[str, str]]:
    """Yield key and reason of the annotations that ask for what a container can't have here."""
    for key, value in metadata.annotations.items():
        if key.startswith(_APP_ARMOR_KEY) and value != "unconfined":
            yield key, f"AppArmor profile {value!r}: {APP_ARMOR}"


def security_not_emulated(spec: PodSpec, has_profile: Callable[[str], bool]) -> Iterator[tuple[str, str]]:
    """Yield field and reason of each, below the pod's spec; `has_profile` knows the node's seccomp profiles."""
    context = spec.security_context
    if context is not None:
        if context.se_linux_change_policy is not None:
            yield "securityContext.seLinuxChangePolicy", SECURITY["PodSecurityContext.seLinuxChangePolicy"]
        yield from _of_both("securityContext", context, has_profile)
    containers: tuple[tuple[str, tuple[AnyContainer, ...]], ...] = (
        ("initContainers", spec.init_containers),
        ("containers", spec.containers),
        ("ephemeralContainers", spec.ephemeral_containers),
    )
    for field, some in containers:
        for index, container in enumerate(some):
            if container.security_context is not None:
                yield from _of_container(f"{field}[{index}].securityContext", container.security_context, has_profile)


def _of_container(path: str, context: SecurityContext, has_profile: Callable[[str], bool]) -> Iterator[tuple[str, str]]:
    if context.capabilities is not None:
        yield from _capabilities(f"{path}.capabilities", context.capabilities)
    if context.proc_mount not in {None, "Default"}:
        yield f"{path}.procMount", SECURITY["SecurityContext.procMount"]
    yield from _of_both(path, context, (lambda _: True) if context.privileged else has_profile)


def _capabilities(path: str, given: Capabilities) -> Iterator[tuple[str, str]]:
    from runtime.api.capabilities import ALL, KNOWN  # noqa: PLC0415 - few manifests name one

    for field, names in (("add", given.add), ("drop", given.drop)):
        for index, name in enumerate(names):
            if name.upper() not in {ALL, *KNOWN}:
                bare = name.upper().removeprefix("CAP_")
                mended = f": write {bare}" if bare in KNOWN else ": no kernel has it"
                yield f"{path}.{field}[{index}]", f"capability {name!r} in {field} {NO_CAPABILITY}{mended}"


def _of_both(
    path: str, context: PodSecurityContext | SecurityContext, has_profile: Callable[[str], bool]
) -> Iterator[tuple[str, str]]:
    if context.app_armor_profile is not None and context.app_armor_profile.type != "Unconfined":
        yield f"{path}.appArmorProfile", f"appArmorProfile {context.app_armor_profile.type}: {APP_ARMOR}"
    if context.se_linux_options is not None:
        yield f"{path}.seLinuxOptions", SE_LINUX
    if context.windows_options is not None:
        yield f"{path}.windowsOptions", WINDOWS
    seccomp = context.seccomp_profile
    if seccomp is not None and seccomp.type == "Localhost" and not has_profile(seccomp.localhost_profile or ""):
        yield f"{path}.seccompProfile", f"seccompProfile {seccomp.localhost_profile!r} can't be read: {LOCALHOST}"
