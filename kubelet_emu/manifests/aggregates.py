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
