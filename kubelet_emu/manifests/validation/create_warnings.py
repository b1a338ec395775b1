"""What the API server warns of when a pod is created. Source: kubernetes v1.36 pod.GetWarningsForPod."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubelet_emu.api.gotext import quote
from kubelet_emu.api.quantity import parse_quantity
from kubelet_emu.manifests.validation.annotations import APPARMOR, MIRROR
from kubelet_emu.manifests.validation.faults import Fault
from kubelet_emu.manifests.validation.names import label_errors

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kubelet_emu.api.meta import ObjectMeta
    from kubelet_emu.api.v1 import Container, PodSpec

_HOSTNAME = "this is used in the Pod's hostname, which can result in surprising behavior; a DNS label is recommended"
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
    for index, secret in enumerate(spec.image_pull_secrets):
        if not secret.name:
            yield _warning(f"{path}.imagePullSecrets[{index}].name", 'invalid empty name ""')
    yield from _alias_warnings(spec, path)
    yield from _volume_warnings(spec, path)
    yield from _annotation_warnings(metadata, meta)
    for field, containers in (("initContainers", spec.init_containers), ("containers", spec.containers)):
        for index, container in enumerate(containers):
            yield from _container_warnings(container, f"{path}.{field}[{index}]")
    yield from _port_warnings(spec, path)


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


def _annotation_warnings(metadata: ObjectMeta, meta: str) -> Iterator[Fault]:
    if MIRROR in metadata.annotations:
        return
    for key in metadata.annotations:
        if key.startswith(APPARMOR):
            text = 'deprecated since v1.30; use the "appArmorProfile" field instead'
            yield _warning(f"{meta}.annotations[{key}]", text)


def _container_warnings(container: Container, path: str) -> Iterator[Fault]:
    seen: set[str] = set()
    for index, variable in enumerate(container.env):
        if variable.name in seen and f"$({variable.name})" not in (variable.value or ""):
            text = f"hides previous definition of {quote(variable.name)}, which may be dropped when using apply"
            yield _warning(f"{path}.env[{index}]", text)
        seen.add(variable.name)
    resources = container.resources
    if resources is None:
        return
    for kind, amounts in (("limits", resources.limits), ("requests", resources.requests)):
        for name in ("memory", "ephemeral-storage"):
            amount = amounts.get(name)
            if amount is not None and (value := parse_quantity(amount)) != value.to_integral_value():
                detail = f"fractional byte value {quote(amount)} is invalid, must be an integer"
                meant = f"{amount.removesuffix('m')}Mi" if amount.endswith("m") else ""
                hint = f"m means thousandths: was {meant} meant?" if meant else ""
                yield Fault(f"{path}.resources.{kind}[{name}]", "Warning", detail, hint=hint)


def _port_warnings(spec: PodSpec, path: str) -> Iterator[Fault]:
    """Warn of ports that stand twice in what runs together: regular containers and sidecars."""
    seen: dict[tuple[str, int, str, int], str] = {}
    names: dict[str, str] = {}
    lists = (
        ("initContainers", [each if each.restart_policy == "Always" else None for each in spec.init_containers]),
        ("containers", list(spec.containers)),
    )
    for field, containers in lists:
        for index, container in enumerate(containers):
            for number, port in enumerate(container.ports if container is not None else ()):
                at = f"{path}.{field}[{index}].ports[{number}]"
                key = (port.protocol or "TCP", port.container_port, port.host_ip or "", port.host_port or 0)
                if key in seen:
                    yield _warning(at, f"duplicate port definition with {seen[key]}")
                seen.setdefault(key, at)
                if port.name and port.name in names:
                    first = names[port.name]
                    text = (
                        f"duplicate port name {quote(port.name)} with {first}, "
                        f"services and probes that select ports by name will use {first}"
                    )
                    yield _warning(at, text)
                if port.name:
                    names.setdefault(port.name, at)
