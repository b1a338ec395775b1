"""What of a Service is not done here, and Services that a StatefulSet names and nobody has.

A Service is its name: the names of its pods stand in the hosts files of the other pods. There is no address of its own
and no proxy, so nothing maps its ports.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from collections.abc import Iterable

    from kubelet_emu.api.apps_v1 import StatefulSet
    from kubelet_emu.api.v1_services import Service, ServicePort, ServiceSpec
    from kubelet_emu.manifests.loading import Loaded
    from kubelet_emu.manifests.problems import Problem

_DEFAULT = "default"


def service_note(loaded: Loaded) -> Problem:
    """Return the warning that says what of a Service there is here."""
    service = cast("Service", loaded.object)
    text = f"Service/{service.metadata.name or ''} is not run{_what_there_is(service.spec)}"
    return loaded.problem("kind", "Not run", text, severity="warning")


def _what_there_is(spec: ServiceSpec) -> str:
    """Say what pods can do with a Service; only what a cluster does beyond that is missing."""
    if spec.type == "ExternalName":
        return ", and its name is not resolved: use the external name itself"
    if not spec.selector:
        return ", and its name is not resolved: without a selector it has no pods here"
    text = ": its name leads pods to its ready pods (/etc/hosts)"
    if spec.cluster_ip == "None":
        return text
    mapped = [f"{port.port} is {port.target_port} there" for port in spec.ports if _is_mapped(port)]
    text += f"; ports are not mapped: {', '.join(mapped)}" if mapped else ""
    return text + ("; no port is opened here: use hostPort" if spec.type in ("NodePort", "LoadBalancer") else "")


def _is_mapped(port: ServicePort) -> bool:
    return port.target_port not in (None, 0, "", port.port)


def missing_services(loaded: Iterable[Loaded]) -> tuple[Problem, ...]:
    """Return a warning for each StatefulSet whose governing Service is in none of the manifests."""
    objects = tuple(loaded)
    known = {_key(each, each.object.metadata.name or "") for each in objects if each.object.kind == "Service"}
    problems = []
    for each in objects:
        name = cast("StatefulSet", each.object).spec.service_name if each.object.kind == "StatefulSet" else None
        if name and _key(each, name) not in known:
            text = f"Service {name!r} is in none of the manifests, so the pods' names, such as "
            text += f"{each.object.metadata.name}-0.{name}, are not resolved"
            problems.append(_missing(each, text))
    return tuple(problems)


def _missing(loaded: Loaded, text: str) -> Problem:
    hint = "name the file that has it, too: a Service with clusterIP: None and this selector"
    return loaded.problem("spec.serviceName", "Missing", text, hint=hint, severity="warning")


def _key(loaded: Loaded, name: str) -> tuple[str, str]:
    return (loaded.object.metadata.namespace or _DEFAULT, name)
