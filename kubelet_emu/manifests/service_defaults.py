"""Defaults of Services. Source: kubernetes v1.36 SetDefaults_Service; addresses are allocated elsewhere."""

from __future__ import annotations

from typing import TYPE_CHECKING

from attrs import evolve

from kubelet_emu.api.kinds import api_type

if TYPE_CHECKING:
    from kubelet_emu.api.v1_services import Service, ServicePort, ServiceSpec, SessionAffinityConfig

_AFFINITY_SECONDS = 10800
_WITH_ADDRESS = ("ClusterIP", "NodePort", "LoadBalancer")
_EXTERNAL = ("NodePort", "LoadBalancer")


def default_service(service: Service) -> Service:
    """Return a Service with defaults."""
    spec = service.spec
    kind = spec.type or "ClusterIP"
    external, internal = spec.external_traffic_policy, spec.internal_traffic_policy
    is_external = kind in _EXTERNAL or (kind == "ClusterIP" and bool(spec.external_ips))
    is_balanced = kind == "LoadBalancer" and spec.allocate_load_balancer_node_ports is None
    affinity = spec.session_affinity or "None"
    defaulted = evolve(
        spec,
        type=kind,
        ports=tuple(map(_default_port, spec.ports)),
        session_affinity=affinity,
        session_affinity_config=_affinity_config(spec, affinity),
        external_traffic_policy=external or ("Cluster" if is_external else None),
        internal_traffic_policy=internal or ("Cluster" if kind in _WITH_ADDRESS else None),
        allocate_load_balancer_node_ports=True if is_balanced else spec.allocate_load_balancer_node_ports,
    )
    return evolve(service, spec=defaulted)


def _default_port(port: ServicePort) -> ServicePort:
    return evolve(port, protocol=port.protocol or "TCP", target_port=port.target_port or port.port)


def _affinity_config(spec: ServiceSpec, affinity: str) -> SessionAffinityConfig | None:
    given = spec.session_affinity_config
    if affinity == "None":
        return None
    if affinity != "ClientIP" or (given is not None and given.client_ip and given.client_ip.timeout_seconds):
        return given
    config: SessionAffinityConfig = api_type("SessionAffinityConfig")(
        client_ip=api_type("ClientIPConfig")(timeout_seconds=_AFFINITY_SECONDS)
    )
    return config
