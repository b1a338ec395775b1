"""Variables that tell containers of Services (enableServiceLinks).

Source: kubelet v1.36 getServiceEnvVarMap, pkg/kubelet/envvars FromServices.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from attrs import frozen

from kubelet_emu.rules.restart_policy import is_restartable_init_container
from kubelet_emu.rules.service_names import full_name, is_endpoint, is_selected, uses_cluster_names

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from kubelet_emu.api.v1 import Pod
    from kubelet_emu.api.v1_services import Service
    from kubelet_emu.api.v1_services import ServicePort as PortSpec

MASTER = ("default", "kubernetes")


@frozen(kw_only=True)
class ServicePort:
    """A port of a service; `name` is empty where it has none, `reached_at` is another port where that is to be used."""

    port: int
    name: str = ""
    protocol: str = "TCP"
    reached_at: int = 0


@frozen(kw_only=True)
class ServiceFacts:
    """A service with a cluster IP, or with what stands for one, as far as containers are told of it."""

    name: str
    cluster_ip: str
    ports: tuple[ServicePort, ...]


def linked_services(
    pod: Pod, services: Iterable[Service], pods: Iterable[Pod], cluster_domain: str
) -> tuple[ServiceFacts, ...]:
    """Return the Services that a pod's containers are told of, those of its namespace in the order of their names.

    A Service default/kubernetes is told to every pod, unless the namespace has a namesake.
    Differs: instead of a cluster IP, which none has, a Service's host is its name, for a pod that has names of Services
    in its hosts file, else the address of a pod; its port is the one that the pods listen on. Without a Service
    default/kubernetes nothing is told of it: there is no API server.
    Source: kubelet v1.36 getServiceEnvVarMap.
    """
    known = tuple(pods)
    wanted = sorted(_wanted(pod, services), key=lambda each: each.metadata.name or "")
    facts = (_facts(pod, service, known, cluster_domain) for service in wanted)
    return tuple(each for each in facts if each.cluster_ip)


def _wanted(pod: Pod, services: Iterable[Service]) -> Iterator[Service]:
    namespace, has_links = pod.metadata.namespace or "", pod.spec.enable_service_links is not False
    by_name: dict[str, Service] = {}
    for service in services:
        place = (service.metadata.namespace or "", service.metadata.name or "")
        if not _has_address(service):
            continue
        if has_links and place[0] == namespace:
            by_name[place[1]] = service
        elif place == MASTER:
            by_name.setdefault(place[1], service)
    yield from by_name.values()


def _has_address(service: Service) -> bool:
    """Tell whether a Service has an address in a cluster, and pods here; headless ones have none."""
    spec = service.spec
    return spec.cluster_ip != "None" and spec.type != "ExternalName" and bool(spec.selector)


def _facts(pod: Pod, service: Service, pods: tuple[Pod, ...], cluster_domain: str) -> ServiceFacts:
    ports = tuple(
        ServicePort(
            port=port.port,
            name=port.name or "",
            protocol=port.protocol or "TCP",
            reached_at=target_port(port, (each for each in pods if is_selected(each, service))),
        )
        for port in service.spec.ports
    )
    if uses_cluster_names(pod):
        host = full_name(service, cluster_domain)
    else:
        host = next((each.status.pod_ip or "" for each in pods if is_endpoint(each, service)), "")
    return ServiceFacts(name=service.metadata.name or "", cluster_ip=host, ports=ports)


def target_port(port: PortSpec, pods: Iterable[Pod]) -> int:
    """Return the port that a Service's pods listen on; a name is looked up in mains, then sidecars.

    The Service's own where no pod has the name. Source: kubernetes v1.36 pkg/api/v1/pod FindPort.
    """
    target = port.target_port
    if isinstance(target, int):
        return target or port.port
    if not target:
        return port.port
    named = (
        each.container_port
        for pod in pods
        for container in (*pod.spec.containers, *filter(is_restartable_init_container, pod.spec.init_containers))
        for each in container.ports
        if each.name == target and (each.protocol or "TCP") == (port.protocol or "TCP")
    )
    return next(named, port.port)


def service_variables(services: tuple[ServiceFacts, ...]) -> dict[str, str]:
    """Return the variables of services with a cluster IP (kubelet v1.36 envvars FromServices)."""
    result: dict[str, str] = {}
    for service in services:
        if service.ports and service.cluster_ip not in {"", "None"}:
            result.update(_of_service(service))
    return result


def _of_service(service: ServiceFacts) -> dict[str, str]:
    prefix = _variable_name(service.name)
    host = f"[{service.cluster_ip}]" if ":" in service.cluster_ip else service.cluster_ip
    result = {f"{prefix}_SERVICE_HOST": service.cluster_ip, f"{prefix}_SERVICE_PORT": _number(service.ports[0])}
    for port in service.ports:
        if port.name:
            result[f"{prefix}_SERVICE_PORT_{_variable_name(port.name)}"] = _number(port)
    for n, port in enumerate(service.ports):
        protocol = port.protocol or "TCP"
        url = f"{protocol.lower()}://{host}:{_number(port)}"
        if n == 0:
            result[f"{prefix}_PORT"] = url
        of_port = f"{prefix}_PORT_{port.port}_{protocol.upper()}"
        result |= {
            of_port: url,
            f"{of_port}_PROTO": protocol.lower(),
            f"{of_port}_PORT": _number(port),
            f"{of_port}_ADDR": service.cluster_ip,
        }
    return result


def _number(port: ServicePort) -> str:
    return str(port.reached_at or port.port)


def _variable_name(name: str) -> str:
    return name.replace("-", "_").upper()
