"""The names of Services and of their pods, as lines of a pod's hosts file: here they stand for a cluster's DNS.

Source: the DNS specification for Kubernetes Services (2.3, 2.4), kubernetes v1.36 pkg/controller/endpointslice
(ShouldPodBeInEndpoints, podToEndpoint), kubelet v1.36 dns GetPodDNS (search domains).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from kubelet_emu.api.v1 import Pod
    from kubelet_emu.api.v1_services import Service

_TITLE = "\n# Names of Services and of their pods.\n"


def service_names(pod: Pod, services: Iterable[Service], pods: Iterable[Pod], cluster_domain: str) -> str:
    """Return the part of a pod's hosts file that has the names of Services; empty without any.

    A Service's name leads to its pods that are ready, or that it publishes although they are not; of a headless one
    also POD.SERVICE to the pod. Names are those that the search domains of the pod's namespace allow.
    Differs: they are lines of /etc/hosts, not answers of a DNS server, and no Service has an address of its own.
    """
    if not uses_cluster_names(pod):
        return ""
    known, namespace = tuple(pods), pod.metadata.namespace or ""
    lines = [
        f"{endpoint.status.pod_ip}\t{' '.join(_forms(name, service, namespace, cluster_domain))}\n"
        for service in sorted(services, key=lambda each: (each.metadata.namespace or "", each.metadata.name or ""))
        for endpoint in known
        if is_endpoint(endpoint, service)
        for name in _names(endpoint, service)
    ]
    return _TITLE + "".join(lines) if lines else ""


def uses_cluster_names(pod: Pod) -> bool:
    """Tell whether a pod asks the cluster's DNS first (kubelet v1.36 getPodDNSType)."""
    policy = pod.spec.dns_policy or "ClusterFirst"
    return policy == "ClusterFirstWithHostNet" or (policy == "ClusterFirst" and not pod.spec.host_network)


def is_endpoint(pod: Pod, service: Service) -> bool:
    """Tell whether a Service's name leads to a pod: selected, with an address, alive, and ready where that counts."""
    is_wanted = is_selected(pod, service) and service.spec.type != "ExternalName"
    is_alive = pod.metadata.deletion_timestamp is None and pod.status.phase not in ("Succeeded", "Failed")
    is_ready = any(condition.type == "Ready" and condition.status == "True" for condition in pod.status.conditions)
    is_published = is_ready or bool(service.spec.publish_not_ready_addresses)
    return is_wanted and is_alive and is_published and bool(pod.status.pod_ip)


def is_selected(pod: Pod, service: Service) -> bool:
    """Tell whether a Service selects a pod; one without a selector selects none."""
    labels, selector = pod.metadata.labels, service.spec.selector
    has_labels = bool(selector) and all(labels.get(key) == value for key, value in selector.items())
    return has_labels and pod.metadata.namespace == service.metadata.namespace


def full_name(service: Service, cluster_domain: str) -> str:
    """Return a Service's name with its namespace and the cluster's domain."""
    return f"{service.metadata.name}.{service.metadata.namespace}.svc.{cluster_domain}"


def _names(pod: Pod, service: Service) -> Iterator[str]:
    """Yield the names below a namespace that lead to one pod of a Service."""
    name = service.metadata.name or ""
    yield name
    if service.spec.cluster_ip == "None" and pod.spec.hostname and pod.spec.subdomain == name:
        yield f"{pod.spec.hostname}.{name}"


def _forms(name: str, service: Service, namespace: str, cluster_domain: str) -> Iterator[str]:
    """Yield the forms of a name, from the whole one to the shortest that a pod of a namespace can use."""
    of_namespace = f"{name}.{service.metadata.namespace}"
    yield f"{of_namespace}.svc.{cluster_domain}"
    yield f"{of_namespace}.svc"
    yield of_namespace
    if service.metadata.namespace == namespace:
        yield name
