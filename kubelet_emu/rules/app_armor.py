"""Which AppArmor profile a container runs under, and which pods need a node that has AppArmor. Pure.

Source: kubelet v1.36 pkg/security/apparmor. A field comes before the annotation of former versions.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubelet_emu.api.v1_security import AppArmorProfile

if TYPE_CHECKING:
    from kubelet_emu.api.v1 import AnyContainer, Pod

NOT_ENABLED = "AppArmor is not enabled on the host"
ANNOTATION_PREFIX = "container.apparmor.security.beta.kubernetes.io/"
_UNCONFINED, _RUNTIME_DEFAULT, _LOCALHOST = "Unconfined", "RuntimeDefault", "Localhost"
_ANNOTATED = {"unconfined": _UNCONFINED, "runtime/default": _RUNTIME_DEFAULT}
_ANNOTATED_LOCALHOST = "localhost/"


def needs_app_armor(pod: Pod) -> bool:
    """Tell whether any profile but Unconfined is asked for (kubelet v1.36 apparmor isRequired)."""
    spec = pod.spec
    containers: tuple[AnyContainer, ...] = (*spec.init_containers, *spec.containers, *spec.ephemeral_containers)
    contexts = (spec.security_context, *(container.security_context for container in containers))
    profiles = (context.app_armor_profile for context in contexts if context is not None)
    if any(profile is not None and profile.type != _UNCONFINED for profile in profiles):
        return True
    annotations = pod.metadata.annotations.items()
    return any(key.startswith(ANNOTATION_PREFIX) and value != "unconfined" for key, value in annotations)


def app_armor_profile(pod: Pod, container: AnyContainer) -> str:
    """Return a container's profile in the CRI's words: unconfined, runtime/default, localhost/NAME, empty for none.

    The container's field counts first, then its annotation, then the pod's field (kubelet v1.36 apparmor GetProfile).
    """
    own, of_pod = container.security_context, pod.spec.security_context
    profile = own.app_armor_profile if own is not None else None
    profile = profile or _annotated(pod.metadata.annotations.get(f"{ANNOTATION_PREFIX}{container.name}", ""))
    if profile is None and of_pod is not None:
        profile = of_pod.app_armor_profile
    if profile is None:
        return ""
    if profile.type == _LOCALHOST:
        return f"{_ANNOTATED_LOCALHOST}{profile.localhost_profile or ''}"
    return next((word for word, type_ in _ANNOTATED.items() if type_ == profile.type), "")


def _annotated(value: str) -> AppArmorProfile | None:
    """Return the profile that an annotation names, None for one that names none."""
    if value.startswith(_ANNOTATED_LOCALHOST):
        return AppArmorProfile(type=_LOCALHOST, localhost_profile=value.removeprefix(_ANNOTATED_LOCALHOST))
    return AppArmorProfile(type=_ANNOTATED[value]) if value in _ANNOTATED else None
