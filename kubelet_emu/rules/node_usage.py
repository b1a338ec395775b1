"""What the pods of a node take of it, as a running total.

A kubelet that summed over all its pods for each new one would take a time that grows with the square of their number.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from attrs import field, frozen

from kubelet_emu.rules.resources import pod_request
from kubelet_emu.rules.restart_policy import is_restartable_init_container

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from kubelet_emu.api.v1 import Pod

_WILDCARD = "0.0.0.0"  # noqa: S104 - as a host port says that it binds everywhere


@frozen(kw_only=True)
class HostPort:
    """A port that a pod takes on the node."""

    port: int
    protocol: str = "TCP"
    ip: str = field(default=_WILDCARD)

    def conflicts_with(self, other: HostPort) -> bool:
        """Tell whether two pods can't have both (scheduler HostPortInfo.CheckConflict)."""
        if (self.port, self.protocol) != (other.port, other.protocol):
            return False
        return self.ip == other.ip or _WILDCARD in {self.ip, other.ip}


@frozen(kw_only=True)
class NodeUsage:
    """How many pods there are, what they request (cpu in milli-units, else whole units) and their host ports.

    Source: scheduler framework NodeInfo.
    """

    pods: int = 0
    requests: Mapping[str, int] = field(factory=dict)
    host_ports: tuple[HostPort, ...] = ()

    def with_pod(self, pod: Pod) -> NodeUsage:
        """Return the usage with one more pod (scheduler NodeInfo.AddPod)."""
        return self._changed(pod, 1, self.host_ports + host_ports(pod))

    def without_pod(self, pod: Pod) -> NodeUsage:
        """Return the usage without a pod that is in it (scheduler NodeInfo.RemovePod)."""
        gone = host_ports(pod)
        return self._changed(pod, -1, tuple(port for port in self.host_ports if port not in gone))

    def _changed(self, pod: Pod, sign: int, ports: tuple[HostPort, ...]) -> NodeUsage:
        requests = dict(self.requests)
        for name in requested_names(pod):
            requests[name] = requests.get(name, 0) + sign * pod_request(pod, name)
        return NodeUsage(pods=self.pods + sign, requests=requests, host_ports=ports)


def usage_of(pods: Iterable[Pod]) -> NodeUsage:
    """Return what some pods take of a node together."""
    usage = NodeUsage()
    for pod in pods:
        usage = usage.with_pod(pod)
    return usage


def requested_names(pod: Pod) -> frozenset[str]:
    """Return the resources that a pod asks for, itself, by its containers, or as overhead."""
    resources = (pod.spec.resources, *(each.resources for each in (*pod.spec.init_containers, *pod.spec.containers)))
    names = (each.requests for each in resources if each is not None)
    return frozenset(pod.spec.overhead).union(*names)


def host_ports(pod: Pod) -> tuple[HostPort, ...]:
    """Return the host ports of mains and sidecars (scheduler util.GetHostPorts)."""
    sidecars = tuple(c for c in pod.spec.init_containers if is_restartable_init_container(c))
    return tuple(
        HostPort(port=port.host_port, protocol=port.protocol or "TCP", ip=port.host_ip or _WILDCARD)
        for container in (*sidecars, *pod.spec.containers)
        for port in container.ports
        if port.host_port
    )
