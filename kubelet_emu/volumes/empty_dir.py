"""emptyDir: where it lives and how large it may grow.

Pure. Source: kubelet v1.36 pkg/volume/emptydir.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubelet_emu.api import reasons_creation
from kubelet_emu.api.gotext import quote
from kubelet_emu.api.quantity import quantity_value
from kubelet_emu.rules.resources import effective_limits, pod_limit
from kubelet_emu.volumes.content import SetUpError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kubelet_emu.api.quantity import Quantity
    from kubelet_emu.api.v1 import Pod
    from kubelet_emu.api.v1_volumes import EmptyDirVolumeSource

MEMORY = "Memory"


def check_medium(source: EmptyDirVolumeSource) -> str:
    """Return the medium, "" or Memory; SetUpError.

    Differs: there are no huge pages here.
    """
    medium = source.medium or ""
    if medium.startswith("HugePages"):
        raise SetUpError(f"medium {quote(medium)} is not supported: this runtime has no huge pages")
    if medium not in {"", MEMORY}:
        raise SetUpError(reasons_creation.UNKNOWN_STORAGE_MEDIUM.format(medium=quote(medium)))
    return medium


def memory_size(pod: Pod, source: EmptyDirVolumeSource, allocatable: Mapping[str, Quantity]) -> int | None:
    """Return the size in bytes of a memory-backed emptyDir, None when nothing bounds it.

    The smallest of what the node can allocate, the pod's memory limit (when every container has one) and sizeLimit.
    Source: kubelet v1.36 calculateEmptyDirMemorySize.
    """
    bounds = [quantity_value(allocatable.get("memory") or "0"), _pod_memory_limit(pod)]
    if source.size_limit is not None:
        bounds.append(quantity_value(source.size_limit))
    return min((bound for bound in bounds if bound > 0), default=None)


def _pod_memory_limit(pod: Pod) -> int:
    containers = (*pod.spec.init_containers, *pod.spec.containers)
    if all("memory" in effective_limits(pod, container) for container in containers):
        return pod_limit(pod, "memory")
    return 0
