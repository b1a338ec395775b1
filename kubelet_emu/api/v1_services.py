"""Services (core/v1); loaded when a document has one.

Field names are the API's in snake case; `kubelet_emu.api.kinds` has the way back.
An absent field is None, an empty tuple or an empty mapping.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from attrs import field, frozen

from kubelet_emu.api.meta import ObjectMeta

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from kubelet_emu.api.quantity import IntOrString


@frozen(kw_only=True)
class ClientIPConfig:
    """`ClientIPConfig` of core.v1."""

    timeout_seconds: int | None = None


@frozen(kw_only=True)
class Condition:
    """`Condition` of meta.v1."""

    last_transition_time: datetime | None = None
    message: str = ""
    observed_generation: int | None = None
    reason: str = ""
    status: str = ""
    type: str = ""


@frozen(kw_only=True)
class LoadBalancerIngress:
    """`LoadBalancerIngress` of core.v1."""

    hostname: str | None = None
    ip: str | None = None
    ip_mode: str | None = field(default=None, metadata={"json": "ipMode"})
    ports: tuple[PortStatus, ...] = ()


@frozen(kw_only=True)
class LoadBalancerStatus:
    """`LoadBalancerStatus` of core.v1."""

    ingress: tuple[LoadBalancerIngress, ...] = ()


@frozen(kw_only=True)
class PortStatus:
    """`PortStatus` of core.v1."""

    error: str | None = None
    port: int = 0
    protocol: str = ""


@frozen(kw_only=True)
class ServicePort:
    """`ServicePort` of core.v1."""

    app_protocol: str | None = None
    name: str | None = None
    node_port: int | None = None
    port: int = 0
    protocol: str | None = None
    target_port: IntOrString | None = None


@frozen(kw_only=True)
class ServiceSpec:
    """`ServiceSpec` of core.v1."""

    allocate_load_balancer_node_ports: bool | None = None
    cluster_ip: str | None = None
    cluster_ips: tuple[str, ...] = ()
    external_ips: tuple[str, ...] = ()
    external_name: str | None = None
    external_traffic_policy: str | None = None
    health_check_node_port: int | None = None
    internal_traffic_policy: str | None = None
    ip_families: tuple[str, ...] = field(default=(), metadata={"json": "ipFamilies"})
    ip_family_policy: str | None = field(default=None, metadata={"json": "ipFamilyPolicy"})
    load_balancer_class: str | None = None
    load_balancer_ip: str | None = None
    load_balancer_source_ranges: tuple[str, ...] = ()
    ports: tuple[ServicePort, ...] = ()
    publish_not_ready_addresses: bool | None = None
    selector: Mapping[str, str] = field(factory=dict)
    session_affinity: str | None = None
    session_affinity_config: SessionAffinityConfig | None = None
    traffic_distribution: str | None = None
    type: str | None = None


@frozen(kw_only=True)
class ServiceStatus:
    """`ServiceStatus` of core.v1."""

    conditions: tuple[Condition, ...] = ()
    load_balancer: LoadBalancerStatus | None = None


@frozen(kw_only=True)
class SessionAffinityConfig:
    """`SessionAffinityConfig` of core.v1."""

    client_ip: ClientIPConfig | None = None


@frozen(kw_only=True)
class Service:
    """`Service` of core.v1."""

    api_version: str = "v1"
    kind: str = "Service"
    metadata: ObjectMeta = field(factory=ObjectMeta)
    spec: ServiceSpec = field(factory=ServiceSpec)
    status: ServiceStatus | None = None
