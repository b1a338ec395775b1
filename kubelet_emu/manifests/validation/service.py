"""Services: their type, ports and selector.

Source: kubernetes v1.36 ValidateService, validateServicePort; addresses and balancers have no effect here and are not
checked.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubelet_emu.manifests.validation.faults import Fault, duplicate, invalid, required, unsupported
from kubelet_emu.manifests.validation.metadata import validate_labels, validate_metadata
from kubelet_emu.manifests.validation.names import (
    label_errors,
    port_name_errors,
    port_number_errors,
    subdomain_errors,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kubelet_emu.api.v1_services import Service, ServicePort

HEADLESS = "None"
_TYPES = ("ClusterIP", "ExternalName", "LoadBalancer", "NodePort")
_PROTOCOLS = ("SCTP", "TCP", "UDP")


def validate_service(service: Service) -> Iterator[Fault]:
    """Check a Service."""
    yield from validate_metadata(service.metadata)
    spec, name = service.spec, service.metadata.name or ""
    if name and not subdomain_errors(name):
        for text in label_errors(name):
            yield invalid("metadata.name", name, text)
    if spec.type not in (None, *_TYPES):
        yield unsupported("spec.type", spec.type, _TYPES)
    if spec.type == "ExternalName" and not spec.external_name:
        yield required("spec.externalName")
    if not spec.ports and spec.cluster_ip != HEADLESS and spec.type != "ExternalName":
        yield required("spec.ports")
    yield from validate_labels(spec.selector, "spec.selector")
    names: set[str] = set()
    for index, port in enumerate(spec.ports):
        at = f"spec.ports[{index}]"
        if not port.name and len(spec.ports) > 1:
            yield required(f"{at}.name")
        if port.name and port.name in names:
            yield duplicate(f"{at}.name", port.name)
        names.add(port.name or "")
        yield from _port_faults(port, at)


def _port_faults(port: ServicePort, at: str) -> Iterator[Fault]:
    """Check one port."""
    for text in label_errors(port.name) if port.name else ():
        yield invalid(f"{at}.name", port.name, text)
    for text in port_number_errors(port.port):
        yield invalid(f"{at}.port", port.port, text)
    if port.protocol not in (None, *_PROTOCOLS):
        yield unsupported(f"{at}.protocol", port.protocol, _PROTOCOLS)
    target = port.target_port
    if target in (None, 0, ""):
        return
    for text in port_number_errors(target) if isinstance(target, int) else port_name_errors(str(target)):
        yield invalid(f"{at}.targetPort", target, text)
