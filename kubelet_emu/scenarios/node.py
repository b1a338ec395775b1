"""The node that scenarios are written for: its name, its size, and the registries that its images come from.

It is the same everywhere, so that a scenario's verdict doesn't depend on the machine.
"""

from __future__ import annotations

from kubelet_emu.kubelet.node import Node

NODE_NAME = "node1"
REGISTRY = "127.0.0.1:5000"
SLOW_REGISTRY = "127.0.0.1:5001"
"""The same registry behind a line of 700 kB/s."""
_GIB = 1 << 30


def scenario_node(*host_ips: str) -> Node:
    """Return the node with the addresses that its machine has."""
    return Node(
        name=NODE_NAME,
        host_ips=host_ips,
        labels={"kubernetes.io/hostname": NODE_NAME, "kubernetes.io/os": "linux", "kubernetes.io/arch": "amd64"},
        milli_cpu=4000,
        memory_bytes=16 * _GIB,
        ephemeral_storage_bytes=100 * _GIB,
    )
