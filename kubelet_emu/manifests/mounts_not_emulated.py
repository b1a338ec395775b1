"""What a container says about its volumes, and a pod about its token, that has no effect here."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubelet_emu.manifests.field_reasons import MOUNTS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kubelet_emu.api.v1 import AnyContainer, PodSpec

_NO_TOKEN = "no token is mounted by itself: name a projected volume with a serviceAccountToken"  # noqa: S105 - a text


def mounts_not_emulated(spec: PodSpec) -> Iterator[tuple[str, str]]:
    """Yield field and reason of each, below the pod's spec."""
    if spec.automount_service_account_token and not _has_token(spec):
        yield "automountServiceAccountToken", _NO_TOKEN
    containers: tuple[tuple[str, tuple[AnyContainer, ...]], ...] = (
        ("initContainers", spec.init_containers),
        ("containers", spec.containers),
        ("ephemeralContainers", spec.ephemeral_containers),
    )
    for field, some in containers:
        for index, container in enumerate(some):
            yield from _of_container(f"{field}[{index}]", container)


def _of_container(path: str, container: AnyContainer) -> Iterator[tuple[str, str]]:
    if container.volume_devices:
        yield f"{path}.volumeDevices", MOUNTS["Container.volumeDevices"]
    for number, mount in enumerate(container.volume_mounts):
        if mount.mount_propagation not in {None, "None"}:
            yield f"{path}.volumeMounts[{number}].mountPropagation", MOUNTS["VolumeMount.mountPropagation"]
        if mount.recursive_read_only == "Enabled":
            yield f"{path}.volumeMounts[{number}].recursiveReadOnly", MOUNTS["VolumeMount.recursiveReadOnly"]
    if container.resources is not None and container.resources.claims:
        yield f"{path}.resources.claims", "claims are ignored: no device is prepared for a claim"


def _has_token(spec: PodSpec) -> bool:
    return any(
        source.service_account_token is not None
        for volume in spec.volumes
        if volume.projected is not None
        for source in volume.projected.sources
    )
