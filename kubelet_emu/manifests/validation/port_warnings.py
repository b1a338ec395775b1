"""What the API server warns of in the ports of containers that run together: regular ones and sidecars.

Source: kubernetes v1.36 pod.warningsForPodSpecAndMeta.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubelet_emu.api.gotext import quote
from kubelet_emu.manifests.validation.faults import Fault

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kubelet_emu.api.v1 import ContainerPort, PodSpec


def port_warnings(spec: PodSpec, path: str) -> Iterator[Fault]:
    """Return warnings for ports and their names that stand twice, and for addresses of no port."""
    before: dict[tuple[int, str], list[tuple[str, ContainerPort]]] = {}
    names: dict[str, str] = {}
    for at, port in _ports(spec, path):
        others = before.setdefault((port.container_port, port.protocol or "TCP"), [])
        for other_at, other in others:
            if relation := _relation(port, other):
                yield Fault(at, "Warning", f"{relation} port definition with {other_at}")
        others.append((at, port))
        if port.host_ip and not port.host_port:
            yield Fault(at, "Warning", f"hostIP set without hostPort: {_as_go(port)}")
        if port.name and port.name in names:
            first = names[port.name]
            text = (
                f"duplicate port name {quote(port.name)} with {first}, "
                f"services and probes that select ports by name will use {first}"
            )
            yield Fault(at, "Warning", text)
        names.setdefault(port.name or "", at)


def _ports(spec: PodSpec, path: str) -> Iterator[tuple[str, ContainerPort]]:
    sidecars = [(index, each) for index, each in enumerate(spec.init_containers) if each.restart_policy == "Always"]
    for field, containers in (("initContainers", sidecars), ("containers", list(enumerate(spec.containers)))):
        for index, container in containers:
            for number, port in enumerate(container.ports):
                yield f"{path}.{field}[{index}].ports[{number}]", port


def _relation(port: ContainerPort, other: ContainerPort) -> str:
    """Name how two definitions of one port are to each other; nothing for two that get along."""
    ip, number = port.host_ip or "", port.host_port or 0
    other_ip, other_number = other.host_ip or "", other.host_port or 0
    if (ip, number) == (other_ip, other_number):
        return "duplicate"
    if not number or not other_number:
        return "overlapping"
    return "dangerously ambiguous" if number == other_number and bool(ip) != bool(other_ip) else ""


def _as_go(port: ContainerPort) -> str:
    return (
        f"{{Name:{port.name or ''} HostPort:{port.host_port or 0} ContainerPort:{port.container_port} "
        f"Protocol:{port.protocol or 'TCP'} HostIP:{port.host_ip or ''}}}"
    )
