"""The node that scenarios are written for: its name, its size, and the registries that its images come from.

It is the same everywhere, so that a scenario's verdict doesn't depend on the machine.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubelet_emu.kubelet.node import Node
from kubelet_emu.kubelet.seccomp_profiles import profiles_of_machine

if TYPE_CHECKING:
    from pathlib import Path

    from runtime.api import RuntimeStatus

NODE_NAME = "node1"
REGISTRY = "127.0.0.1:5000"
SLOW_REGISTRY = "127.0.0.1:5001"
"""The same registry behind a line of 700 kB/s."""
_GIB = 1 << 30


def scenario_node(
    status: RuntimeStatus, *, host_ip: str, has_app_armor: bool, seccomp_profile_root: Path | None
) -> Node:
    """Return the node with the address and the abilities of its machine.

    It has no seccomp profile but those below a folder that is given: what lies on a machine decides nothing.
    """
    return Node(
        name=NODE_NAME,
        host_ips=(host_ip,) if host_ip else (),
        labels={"kubernetes.io/hostname": NODE_NAME, "kubernetes.io/os": "linux", "kubernetes.io/arch": "amd64"},
        milli_cpu=4000,
        memory_bytes=16 * _GIB,
        ephemeral_storage_bytes=100 * _GIB,
        seccomp=profiles_of_machine(seccomp_profile_root, is_simulated=True),
        has_app_armor=has_app_armor,
        supports_supplemental_groups_policy=status.supports_supplemental_groups_policy,
    )
