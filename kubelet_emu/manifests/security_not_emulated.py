"""Fields of security contexts that an engine can't do, or that nothing here hands on to it."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kubelet_emu.api.v1 import AnyContainer, PodSpec
    from kubelet_emu.api.v1_security import PodSecurityContext, SecurityContext

_APP_ARMOR = "appArmorProfile is ignored: the engine's own profile is used"
_SE_LINUX = "seLinuxOptions are ignored: the engine's own label is used"
_STRICT = "supplementalGroupsPolicy Strict is ignored: the engine adds the groups of the image's /etc/group"
_LOCALHOST = "this node has no seccomp profiles of its own, so the container can't be made"


def security_not_emulated(spec: PodSpec) -> Iterator[tuple[str, str]]:
    """Yield field and reason of each, below the pod's spec."""
    context = spec.security_context
    if context is not None:
        if context.supplemental_groups_policy == "Strict":
            yield "securityContext.supplementalGroupsPolicy", _STRICT
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
    if context.proc_mount not in {None, "Default"}:
        yield f"{path}.procMount", "procMount is ignored: it needs a user namespace, which is the engine's matter"
    yield from _of_both(path, context)


def _of_both(path: str, context: PodSecurityContext | SecurityContext) -> Iterator[tuple[str, str]]:
    if context.app_armor_profile is not None and context.app_armor_profile.type != "RuntimeDefault":
        yield f"{path}.appArmorProfile", _APP_ARMOR
    if context.se_linux_options is not None:
        yield f"{path}.seLinuxOptions", _SE_LINUX
    if context.seccomp_profile is not None and context.seccomp_profile.type == "Localhost":
        yield f"{path}.seccompProfile", f"seccompProfile {context.seccomp_profile.localhost_profile!r}: {_LOCALHOST}"
