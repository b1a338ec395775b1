"""What the containers of a pod ask for together (KEP-753), as quantities.

Source: kubernetes v1.36 component-helpers AggregateContainerRequests and AggregateContainerLimits.
"""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING

from kubelet_emu.api.quantity import Quantity, QuantityFormat, format_quantity, parse_quantity, quantity_format

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kubelet_emu.api.v1 import Container, PodSpec

Amounts = dict[str, Decimal]


def is_pod_level_resource(name: str) -> bool:
    """Tell whether a resource may be asked for by a whole pod (KEP-2837)."""
    return name in ("cpu", "memory") or name.startswith("hugepages-")


def aggregate_requests(spec: PodSpec, *, limits: bool = False) -> Mapping[str, Quantity]:
    """Return the containers' request (or limit) for each resource; the largest of running and of each init step."""
    forms: dict[str, QuantityFormat] = {}
    running: Amounts = {}
    for container in spec.containers:
        _add(running, _amounts(container, forms, limits=limits))
    highest: Amounts = {}
    sidecars: Amounts = {}
    for container in spec.init_containers:
        amounts = _amounts(container, forms, limits=limits)
        if container.restart_policy == "Always":
            _add(sidecars, amounts)
            _add(running, amounts)
            _raise(highest, sidecars)
        else:
            step = dict(sidecars)
            _add(step, amounts)
            _raise(highest, step)
    _raise(running, highest)
    return {name: format_quantity(value, forms[name]) for name, value in running.items()}


def _amounts(container: Container, forms: dict[str, QuantityFormat], *, limits: bool) -> Amounts:
    if container.resources is None:
        return {}
    given = container.resources.limits if limits else container.resources.requests
    for name, text in given.items():
        forms.setdefault(name, quantity_format(text))
    return {name: parse_quantity(text) for name, text in given.items()}


def _add(total: Amounts, amounts: Amounts) -> None:
    for name, value in amounts.items():
        total[name] = total.get(name, Decimal(0)) + value


def _raise(total: Amounts, amounts: Amounts) -> None:
    for name, value in amounts.items():
        total[name] = max(total.get(name, value), value)


def qos_class(spec: PodSpec) -> str:
    """Return the quality-of-service class of a pod with defaults (ComputePodQOS): cpu and memory above 0 count."""
    if spec.resources is not None and (spec.resources.limits or spec.resources.requests):
        given = [spec.resources]
    else:
        given = [each.resources for each in (*spec.containers, *spec.init_containers) if each.resources is not None]
    count = 1 if spec.resources in given else len(spec.containers) + len(spec.init_containers)
    requests, limits = ([_counted(getattr(each, kind)) for each in given] for kind in ("requests", "limits"))
    if not any(requests) and not any(limits):
        return "BestEffort"
    is_complete = len(given) == count and all(set(each) == {"cpu", "memory"} for each in limits)
    return "Guaranteed" if is_complete and _total(requests) == _total(limits) else "Burstable"


def _counted(amounts: Mapping[str, Quantity]) -> Amounts:
    values = {name: parse_quantity(amounts[name]) for name in ("cpu", "memory") if name in amounts}
    return {name: value for name, value in values.items() if value > 0}


def _total(amounts: list[Amounts]) -> Amounts:
    total: Amounts = {}
    for each in amounts:
        _add(total, each)
    return total
