"""Pods that outgrow their own storage limits: which limit, and what the eviction says.

Three limits in this order: an emptyDir's sizeLimit, the pod's ephemeral-storage, a container's. Source: kubelet v1.36
eviction manager localStorageEviction.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from attrs import field, frozen

from kubelet_emu.api import reasons_node
from kubelet_emu.api.quantity import canonical_quantity, format_quantity, quantity_format, quantity_value
from kubelet_emu.rules.resources import pod_limit

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from kubelet_emu.api.v1 import Container, Pod

EPHEMERAL_STORAGE = "ephemeral-storage"


@frozen(kw_only=True)
class StorageUsage:
    """Bytes that a pod holds: of containers in their writable layers and logs, of emptyDirs; each by name."""

    containers: Mapping[str, int] = field(factory=dict)
    volumes: Mapping[str, int] = field(factory=dict)


def has_storage_limit(pod: Pod) -> bool:
    """Tell whether a pod has a limit that is looked after (kubelet v1.36 localStorageEviction)."""
    return _has_pod_limit(pod) or any(_size_limits(pod))


def storage_eviction(pod: Pod, usage: StorageUsage) -> str:
    """Return the message of a pod's eviction over its storage, empty when it stays within its limits.

    Source: kubelet v1.36 emptyDirLimitEviction, podEphemeralStorageLimitEviction,
    containerEphemeralStorageLimitEviction.
    """
    for name, limit in _size_limits(pod):
        if usage.volumes.get(name, 0) > quantity_value(limit):
            return reasons_node.empty_dir_over_limit(name, canonical_quantity(limit))
    limit_bytes = pod_limit(pod, EPHEMERAL_STORAGE)
    if _has_pod_limit(pod) and _total(pod, usage) > limit_bytes:
        return reasons_node.pod_over_ephemeral_storage_limit(_pod_limit_text(pod, limit_bytes))
    for container in pod.spec.containers:
        limit = _limit(container)
        if limit and quantity_value(limit) and usage.containers.get(container.name, 0) > quantity_value(limit):
            return reasons_node.container_over_ephemeral_storage_limit(container.name, canonical_quantity(limit))
    return ""


def _has_pod_limit(pod: Pod) -> bool:
    """Tell whether a container has a limit, 0 too, so that the pod has one."""
    return any(map(_limit, (*pod.spec.containers, *pod.spec.init_containers)))


def _size_limits(pod: Pod) -> Iterator[tuple[str, str]]:
    """Yield the emptyDirs with a sizeLimit, in spec order."""
    for volume in pod.spec.volumes:
        source = volume.empty_dir
        if source is not None and source.size_limit and quantity_value(source.size_limit):
            yield volume.name, source.size_limit


def _total(pod: Pod, usage: StorageUsage) -> int:
    """Return what counts against the pod's limit: all containers, and emptyDirs on disk (IsLocalEphemeralVolume)."""
    on_disk = {volume.name for volume in pod.spec.volumes if volume.empty_dir and not volume.empty_dir.medium}
    return sum(usage.containers.values()) + sum(size for name, size in usage.volumes.items() if name in on_disk)


def _limit(container: Container) -> str:
    return container.resources.limits.get(EPHEMERAL_STORAGE, "") if container.resources is not None else ""


def _pod_limit_text(pod: Pod, limit_bytes: int) -> str:
    """Return the sum of the limits in the family of suffixes of the first (resource.Quantity Add)."""
    first = next(limit for each in (*pod.spec.containers, *pod.spec.init_containers) if (limit := _limit(each)))
    return format_quantity(limit_bytes, quantity_format(first))
