"""Volumes of a pod that are set up, and how containers mount them.

Pure. Source: kubelet v1.36 pkg/kubelet/kubelet_pods.go makeMounts.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from attrs import frozen

from kubelet_emu.api import reasons_creation
from kubelet_emu.api.gotext import quote
from kubelet_emu.rules.expansion import expand
from runtime.api import Mount

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from kubelet_emu.api.v1 import AnyContainer, Pod, VolumeMount
    from runtime.api import VolumeHandle

_REFERENCE = re.compile(r"\$\$|\$\(([^)]*)\)")


class MountConfigError(ValueError):
    """A container's mounts can't be made; the text is the waiting message."""


@frozen(kw_only=True)
class MountedVolume:
    """One volume that is there: a handle of the runtime or a path of the host.

    `node_path` is where a node would have it, for texts. API data (configMap, secret, downwardAPI, projected) is
    always read-only in containers.
    """

    name: str
    handle: VolumeHandle | None = None
    host_path: str | None = None
    node_path: str = ""
    is_api_data: bool = False


def used_volumes(pod: Pod) -> frozenset[str]:
    """Return the names of volumes that a container mounts; others are never set up (kubelet GetPodVolumeNames)."""
    mounts = {mount.name for container in _containers(pod) for mount in container.volume_mounts}
    devices = {device.name for container in _containers(pod) for device in container.volume_devices}
    return frozenset(mounts | devices)


def make_mounts(
    container: AnyContainer, volumes: Mapping[str, MountedVolume], environment: Mapping[str, str]
) -> tuple[Mount, ...]:
    """Return a container's mounts in the order of its volumeMounts; MountConfigError."""
    return tuple(_mount(container, mount, volumes, environment) for mount in container.volume_mounts)


def _mount(
    container: AnyContainer,
    mount: VolumeMount,
    volumes: Mapping[str, MountedVolume],
    environment: Mapping[str, str],
) -> Mount:
    volume = volumes.get(mount.name)
    if volume is None:
        names = {"volume": quote(mount.name), "container": quote(container.name)}
        raise MountConfigError(reasons_creation.VOLUME_TO_MOUNT_NOT_FOUND.format(**names))
    if mount.recursive_read_only == "Enabled":
        raise MountConfigError(reasons_creation.RECURSIVE_READ_ONLY_UNSUPPORTED.format(volume=quote(mount.name)))
    path = mount.mount_path
    return Mount(
        container_path=path if path.startswith("/") else f"/{path}",
        volume=volume.handle,
        host_path=volume.host_path,
        sub_path=_sub_path(mount, environment),
        readonly=bool(mount.read_only) or volume.is_api_data,
        propagation=mount.mount_propagation or "None",
    )


def _sub_path(mount: VolumeMount, environment: Mapping[str, str]) -> str:
    path = expand_sub_path(mount.sub_path_expr, environment) if mount.sub_path_expr else mount.sub_path or ""
    if path.startswith("/"):
        raise MountConfigError(reasons_creation.SUB_PATH_ABSOLUTE.format(path=path))
    if ".." in path.split("/"):
        raise MountConfigError(reasons_creation.SUB_PATH_BACKSTEPS.format(path=path))
    return path


def expand_sub_path(expression: str, environment: Mapping[str, str]) -> str:
    """Return a subPathExpr with its variables; MountConfigError names those that are unknown or empty.

    Source: kubelet v1.36 ExpandContainerVolumeMounts.
    """
    asked = {found[1] for found in _REFERENCE.finditer(expression) if found[1] is not None}
    missing = sorted(name for name in asked if not environment.get(name))
    if missing:
        raise MountConfigError(reasons_creation.SUB_PATH_VALUE_MISSING.format(name=", ".join(missing)))
    return expand(expression, environment)


def _containers(pod: Pod) -> Iterator[AnyContainer]:
    yield from pod.spec.init_containers
    yield from pod.spec.containers
    yield from pod.spec.ephemeral_containers
