"""Ports of containers that are opened elsewhere than they say, or not at all."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kubelet_emu.api.v1 import PodSpec

_NEAR = frozenset({"::1", "0.0.0.0", "::"})  # noqa: S104 - what a manifest may say, not what is bound


def network_not_emulated(spec: PodSpec) -> Iterator[tuple[str, str]]:
    """Yield field and reason of each, below the pod's spec; with the node's network ports say nothing."""
    if spec.host_network:
        return
    for index, container in enumerate(spec.init_containers):
        for number, port in enumerate(container.ports):
            if port.host_port:
                text = f"hostPort {port.host_port} is not opened, nor is it on a node: it is an init container's"
                yield f"initContainers[{index}].ports[{number}].hostPort", text
    for index, container in enumerate(spec.containers):
        for number, port in enumerate(container.ports):
            if port.host_port and port.host_ip and not _is_near(port.host_ip):
                text = f"hostIP {port.host_ip} counts only with --publish-address: else the port is opened at 127.0.0.1"
                yield f"containers[{index}].ports[{number}].hostIP", text


def _is_near(address: str) -> bool:
    """Tell whether an address is a loopback one, or stands for all (kubelet.sandbox_config port_mappings)."""
    return address.startswith("127.") or address in _NEAR
