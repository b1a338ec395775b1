"""What the API server warns of when a pod is created. Source: kubernetes v1.36 pod.GetWarningsForPod."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubelet_emu.api.gotext import quote
from kubelet_emu.api.quantity import milli_value
from kubelet_emu.manifests.validation.annotations import APPARMOR, MIRROR
from kubelet_emu.manifests.validation.faults import Fault
from kubelet_emu.manifests.validation.names import label_errors
from kubelet_emu.manifests.validation.port_warnings import port_warnings
from kubelet_emu.manifests.validation.scheduling_warnings import scheduling_warnings

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

    from kubelet_emu.api.meta import ObjectMeta
    from kubelet_emu.api.quantity import Quantity
    from kubelet_emu.api.v1 import Container, PodSpec

_HOSTNAME = "this is used in the Pod's hostname, which can result in surprising behavior; a DNS label is recommended"
_SECCOMP = "container.seccomp.security.alpha.kubernetes.io/"
_POD_SECCOMP = "seccomp.security.alpha.kubernetes.io/pod"
_OLD_ANNOTATIONS = {
    "scheduler.alpha.kubernetes.io/critical-pod": 'v1.16+; use the "priorityClassName"',
    "security.alpha.kubernetes.io/sysctls": 'v1.11+; use the "securityContext.sysctls"',
    "security.alpha.kubernetes.io/unsafe-sysctls": 'v1.11+; use the "securityContext.sysctls"',
}
_REMOVED_VOLUMES = {
    "gitRepo": ("git_repo", "deprecated in v1.11, and disabled by default in v1.33+"),
    "scaleIO": ("scale_io", "deprecated in v1.16, non-functional in v1.22+"),
    "flocker": ("flocker", "deprecated in v1.22, non-functional in v1.25+"),
    "storageOS": ("storageos", "deprecated in v1.22, non-functional in v1.25+"),
    "quobyte": ("quobyte", "deprecated in v1.22, non-functional in v1.25+"),
    "photonPersistentDisk": ("photon_persistent_disk", "deprecated in v1.11, non-functional in v1.16+"),
    "glusterfs": ("glusterfs", "deprecated in v1.25, non-functional in v1.26+"),
    "cephfs": ("cephfs", "deprecated in v1.28, non-functional in v1.31+"),
    "rbd": ("rbd", "deprecated in v1.28, non-functional in v1.31+"),
}


def _warning(path: str, text: str, *, at: str = "") -> Fault:
    return Fault(path, "Warning", text, at)


def pod_warnings(
    spec: PodSpec, metadata: ObjectMeta, path: str = "spec", *, is_template: bool = False
) -> Iterator[Fault]:
    """Return what the server warns of; the type of each is Warning."""
    root = path.rpartition(".")[0]
    meta = f"{root}.metadata" if root else "metadata"
    if not is_template and metadata.name:
        errors = ["must not contain dots"] if "." in metadata.name else label_errors(metadata.name)
        if errors:
            yield _warning(f"{meta}.name", f"{_HOSTNAME}: [{' '.join(errors)}]")
    if (spec.termination_grace_period_seconds or 0) < 0:
        text = "must be >= 0; negative values are invalid and will be treated as 1"
        yield _warning(f"{path}.terminationGracePeriodSeconds", text)
    names: set[str] = set()
    for index, secret in enumerate(spec.image_pull_secrets):
        at = f"{path}.imagePullSecrets[{index}].name"
        if (secret.name or "") in names:
            yield _warning(at, f"duplicate name {quote(secret.name or '')}")
        if not secret.name:
            yield _warning(at, 'invalid empty name ""')
        names.add(secret.name or "")
    yield from _fraction_warnings(spec.overhead, f"{path}.overhead")
    yield from _alias_warnings(spec, path)
    yield from _volume_warnings(spec, path)
    yield from _annotation_warnings(spec, metadata, meta)
    for field, containers in (("initContainers", spec.init_containers), ("containers", spec.containers)):
        for index, container in enumerate(containers):
            yield from _container_warnings(container, f"{path}.{field}[{index}]")
    yield from port_warnings(spec, path)
    yield from scheduling_warnings(spec, path)


def _alias_warnings(spec: PodSpec, path: str) -> Iterator[Fault]:
    seen: set[str] = set()
    for index, alias in enumerate(spec.host_aliases):
        if alias.ip in seen:
            yield _warning(f"{path}.hostAliases[{index}].ip", f"duplicate ip {quote(alias.ip)}")
        seen.add(alias.ip)


def _volume_warnings(spec: PodSpec, path: str) -> Iterator[Fault]:
    for index, volume in enumerate(spec.volumes):
        at = f"{path}.volumes[{index}]"
        for name, (attribute, text) in _REMOVED_VOLUMES.items():
            if getattr(volume, attribute) is not None:
                yield _warning(f"{at}.{name}", text)
        projected = volume.projected
        if projected is not None and not any(_has_source(each) for each in projected.sources):
            yield _warning("", f"volume {quote(volume.name)} (Projected) has no sources provided", at=at)


def _has_source(projection: object) -> bool:
    names = ("secret", "config_map", "downward_api", "service_account_token", "cluster_trust_bundle", "pod_certificate")
    return any(getattr(projection, name) is not None for name in names)


def _annotation_warnings(spec: PodSpec, metadata: ObjectMeta, meta: str) -> Iterator[Fault]:
    if MIRROR in metadata.annotations:
        return
    containers = {each.name: each.security_context for each in (*spec.init_containers, *spec.containers)}
    for key in metadata.annotations:
        at = f"{meta}.annotations[{key}]"
        context = spec.security_context if key == _POD_SECCOMP else containers.get(key.removeprefix(_SECCOMP))
        if key in _OLD_ANNOTATIONS:
            yield _warning(at, f"non-functional in {_OLD_ANNOTATIONS[key]} field instead")
        elif key.startswith(APPARMOR):
            yield _warning(at, 'deprecated since v1.30; use the "appArmorProfile" field instead')
        elif _is_seccomp(key, containers) and (context is None or context.seccomp_profile is None):
            yield _warning(at, 'non-functional in v1.27+; use the "seccompProfile" field instead')


def _is_seccomp(key: str, containers: Collection[str]) -> bool:
    return key == _POD_SECCOMP or (key.startswith(_SECCOMP) and key.removeprefix(_SECCOMP) in containers)


def _container_warnings(container: Container, path: str) -> Iterator[Fault]:
    seen: set[str] = set()
    for index, variable in enumerate(container.env):
        itself, value = f"$({variable.name})", variable.value or ""
        if variable.name in seen and (variable.value_from is not None or value == itself or itself not in value):
            text = f"hides previous definition of {quote(variable.name)}, which may be dropped when using apply"
            yield _warning(f"{path}.env[{index}]", text)
        seen.add(variable.name)
    resources = container.resources
    if resources is None:
        return
    yield from _fraction_warnings(resources.limits, f"{path}.resources.limits")
    yield from _fraction_warnings(resources.requests, f"{path}.resources.requests")


def _fraction_warnings(amounts: Mapping[str, Quantity], path: str) -> Iterator[Fault]:
    for name in ("memory", "ephemeral-storage"):
        amount = amounts.get(name)
        if amount is not None and milli_value(amount) % 1000:
            detail = f"fractional byte value {quote(amount)} is invalid, must be an integer"
            meant = f"{amount.removesuffix('m')}Mi" if amount.endswith("m") else ""
            hint = f"m means thousandths: was {meant} meant?" if meant else ""
            yield Fault(f"{path}[{name}]", "Warning", detail, hint=hint)
