"""Annotations that mean something to the server.

Source: kubernetes v1.36 ValidatePodSpecificAnnotations, validateSeccompAnnotationsAndFields,
validateAppArmorAnnotationsAndFieldsMatchOnCreate.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from kubelet_emu.api.gotext import quote
from kubelet_emu.manifests.validation.context import containers_of
from kubelet_emu.manifests.validation.faults import Fault, forbidden, invalid
from kubelet_emu.manifests.validation.names import path_errors

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from kubelet_emu.api.v1 import PodSpec
    from kubelet_emu.api.v1_security import AppArmorProfile, SeccompProfile

MIRROR = "kubernetes.io/config.mirror"
APPARMOR = "container.apparmor.security.beta.kubernetes.io/"
SECCOMP_POD = "seccomp.security.alpha.kubernetes.io/pod"
SECCOMP_CONTAINER = "container.seccomp.security.alpha.kubernetes.io/"
_DELETION_COST = "controller.kubernetes.io/pod-deletion-cost"
_LOCALHOST = "localhost/"
_LARGEST_INT32 = 2**31 - 1
_MEANT = {
    "Unconfined": ("unconfined",),
    "RuntimeDefault": ("runtime/default", "docker/default"),
}


def validate_pod_annotations(annotations: Mapping[str, str], spec: PodSpec, path: str) -> Iterator[Fault]:
    """Check the values of a pod's annotations that the server knows; `path` is that of the annotations."""
    mirror = annotations.get(MIRROR)
    if mirror is not None and not spec.node_name:
        yield invalid(f"{path}[{MIRROR}]", mirror, "must set spec.nodeName if mirror pod annotation is set")
    if (cost := annotations.get(_DELETION_COST)) is not None and not _is_cost(cost):
        yield invalid(f"{path}[{_DELETION_COST}]", cost, "must be a 32bit integer")
    for key, value in annotations.items():
        if key == SECCOMP_POD or key.startswith(SECCOMP_CONTAINER):
            yield from _validate_seccomp(value, f"{path}.{key}", f"{path}[{key}]")
    names = {container.name for _at, container in containers_of(spec, "")}
    for key, value in annotations.items():
        if key.startswith(APPARMOR):
            yield from _validate_apparmor(key.removeprefix(APPARMOR), value, names, f"{path}[{key}]")


def _is_cost(text: str) -> bool:
    starts_well = text[:1] == "-" or text == "0" or "1" <= text[:1] <= "9"
    return (
        starts_well and bool(re.fullmatch("-?[0-9]{1,12}", text)) and -_LARGEST_INT32 - 1 <= int(text) <= _LARGEST_INT32
    )


def _validate_seccomp(profile: str, path: str, at: str) -> Iterator[Fault]:
    if profile.startswith(_LOCALHOST):
        local = profile.removeprefix(_LOCALHOST)
        for text in path_errors(local):
            yield invalid(path, local, text, at=at)
    elif profile not in ("unconfined", "runtime/default", "docker/default"):
        yield invalid(path, profile, "must be a valid seccomp profile", at=at)


def _validate_apparmor(container: str, profile: str, names: set[str], path: str) -> Iterator[Fault]:
    if container not in names:
        yield invalid(path, container, "container not found")
    if profile not in ("", "runtime/default", "unconfined") and not profile.startswith(_LOCALHOST):
        yield invalid(path, profile, f"invalid AppArmor profile name: {quote(profile)}")


def validate_matching_fields(annotations: Mapping[str, str], spec: PodSpec, path: str) -> Iterator[Fault]:
    """Check that annotations of profiles say what the fields say; `path` is that of the pod spec."""
    own = spec.security_context
    if own is not None and own.seccomp_profile is not None:
        at = f"{path}.securityContext.seccompProfile"
        yield from _compare("seccomp", annotations.get(SECCOMP_POD), own.seccomp_profile, at)
    for at, container in containers_of(spec, path):
        context = container.security_context
        if context is not None and context.seccomp_profile is not None:
            given = annotations.get(f"{SECCOMP_CONTAINER}{container.name}")
            yield from _compare("seccomp", given, context.seccomp_profile, f"{at}.securityContext.seccompProfile")
    if spec.os is not None and spec.os.name == "windows":
        return
    for at, container in containers_of(spec, path):
        context = container.security_context
        profile = context.app_armor_profile if context is not None else None
        profile = profile or (own.app_armor_profile if own is not None else None)
        if profile is not None:
            given = annotations.get(f"{APPARMOR}{container.name}")
            yield from _compare("apparmor", given, profile, f"{at}.securityContext.appArmorProfile")


def _compare(what: str, given: str | None, profile: SeccompProfile | AppArmorProfile, path: str) -> Iterator[Fault]:
    if given is None:
        return
    if profile.type == "Localhost":
        if given.startswith(_LOCALHOST):
            if given.removeprefix(_LOCALHOST) != profile.localhost_profile:
                yield forbidden(f"{path}.localhostProfile", f"{what} profile in annotation and field must match")
            return
        is_same = False
    else:
        meant = _MEANT.get(profile.type, (given,))
        is_same = given in (meant[:1] if what == "apparmor" else meant)
    if not is_same:
        yield forbidden(f"{path}.type", f"{what} type in annotation and field must match")
