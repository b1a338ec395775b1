"""Annotations that mean something to the server. Source: kubernetes v1.36 ValidatePodSpecificAnnotations."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubelet_emu.manifests.validation.faults import Fault, forbidden, invalid

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from kubelet_emu.api.v1 import PodSpec

MIRROR = "kubernetes.io/config.mirror"
APPARMOR = "container.apparmor.security.beta.kubernetes.io/"
_SECCOMP_POD = "seccomp.security.alpha.kubernetes.io/pod"
_SECCOMP_TYPES = {"unconfined": "Unconfined", "runtime/default": "RuntimeDefault", "docker/default": "RuntimeDefault"}


def validate_pod_annotations(annotations: Mapping[str, str], spec: PodSpec, path: str) -> Iterator[Fault]:
    """Check a pod's annotations that stand for fields, and what a mirror pod may not have."""
    names = {each.name for each in (*spec.containers, *spec.init_containers)}
    names |= {each.name for each in spec.ephemeral_containers}
    for key, value in annotations.items():
        if key.startswith(APPARMOR):
            yield from _validate_apparmor(key.removeprefix(APPARMOR), value, names, f"{path}[{key}]")
    if (seccomp := annotations.get(_SECCOMP_POD)) is not None:
        yield from _validate_seccomp(seccomp, spec)
    if MIRROR in annotations and spec.resource_claims:
        yield forbidden("[]", "static pods do not support resource claims", at="spec.resourceClaims")


def _validate_apparmor(container: str, profile: str, names: set[str], path: str) -> Iterator[Fault]:
    if container not in names:
        yield invalid(path, container, "container not found")
    if profile not in ("", "runtime/default", "unconfined") and not profile.startswith("localhost/"):
        yield invalid(path, profile, f'invalid AppArmor profile name: "{profile}"')


def _validate_seccomp(given: str, spec: PodSpec) -> Iterator[Fault]:
    profile = spec.security_context.seccomp_profile if spec.security_context is not None else None
    meant = "Localhost" if given.startswith("localhost/") else _SECCOMP_TYPES.get(given)
    if profile is not None and meant is not None and profile.type != meant:
        text = "seccomp type in annotation and field must match"
        yield forbidden("spec.securityContext.seccompProfile.type", text)
