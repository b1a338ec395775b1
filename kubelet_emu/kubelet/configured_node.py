"""What a configuration file says about the node: its reservations and the limits of its containers.

Pure. Source: kubelet v1.36 GetNodeAllocatableReservation, GetNodeAllocatableAbsolute.
"""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING

from attrs import evolve

from kubelet_emu.api.quantity import milli_value, quantity_value

if TYPE_CHECKING:
    from kubelet_emu.config.kubelet_configuration import KubeletConfiguration
    from kubelet_emu.kubelet.node import Node

MEMORY_SIGNAL, DISK_SIGNAL = "memory.available", "nodefs.available"


def configured_node(node: Node, configuration: KubeletConfiguration) -> Node:
    """Return the node with what its kubelet's configuration reserves, limits and allows.

    Differs: without `evictionHard` a kubelet keeps 100Mi of memory and a tenth of the disk free of pods. Here all that
    the node has can be asked for, unless the file says otherwise.
    """
    reserved = {"cpu": 0, "memory": 0, "ephemeral-storage": 0}
    for amounts in (configuration.kube_reserved, configuration.system_reserved):
        for name in reserved.keys() & amounts.keys():
            reserved[name] += milli_value(amounts[name]) if name == "cpu" else quantity_value(amounts[name])
    thresholds = configuration.eviction_hard
    reserved["memory"] += _threshold(thresholds.get(MEMORY_SIGNAL, ""), node.memory_bytes)
    reserved["ephemeral-storage"] += _threshold(thresholds.get(DISK_SIGNAL, ""), node.ephemeral_storage_bytes)
    return evolve(
        node,
        reserved=reserved,
        pids_limit=configuration.pod_pids_limit if configuration.pod_pids_limit > 0 else node.pids_limit,
        cfs_quota=configuration.cpu_cfs_quota,
        allowed_unsafe_sysctls=configuration.allowed_unsafe_sysctls,
        seccomp=evolve(node.seccomp, is_default=configuration.seccomp_default),
    )


def _threshold(text: str, capacity: int) -> int:
    """Return an eviction threshold in bytes: a quantity, or a share of what there is."""
    if text.endswith("%"):
        return int(capacity * Decimal(text.removesuffix("%")) / 100)
    return quantity_value(text) if text else 0
