"""In-place resize of a running container: what is changed where it runs, and what needs a restart (KEP-1287).

Compares the spec's cpu and memory with what was last applied to the container. Source: kubelet v1.36
computePodResizeAction, determineContainerResize.
"""

from __future__ import annotations

import enum
from typing import TYPE_CHECKING

from attrs import frozen

from kubelet_emu.api.quantity import milli_value, quantity_value

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from kubelet_emu.api.v1 import Container, ResourceRequirements

_RESTART_CONTAINER = "RestartContainer"


class Resource(enum.Enum):
    """The resources that can be resized in place."""

    CPU = "cpu"
    MEMORY = "memory"


@frozen(kw_only=True)
class ResourceUpdate:
    """One resource of one container that is changed in place."""

    resource: Resource
    container: str
    is_decrease: bool


@frozen(kw_only=True)
class ResizeAction:
    """What a container's resize needs; nothing when it has what it should have."""

    needs_restart: bool = False
    updates: tuple[ResourceUpdate, ...] = ()

    @property
    def is_needed(self) -> bool:
        """Tell whether anything is to be done."""
        return self.needs_restart or bool(self.updates)


def compute_resize_action(container: Container, actuated: ResourceRequirements | None) -> ResizeAction:
    """Decide how a running container gets its new size (kubelet v1.36 computePodResizeAction).

    `actuated` is what was last applied to it; None: nothing is known, so nothing is done.
    """
    wanted = container.resources
    if wanted is None or actuated is None:
        return ResizeAction()
    updates = []
    for resource, value in ((Resource.MEMORY, quantity_value), (Resource.CPU, milli_value)):
        update = _update_of(container.name, resource, value, wanted, actuated)
        if update is None:
            continue
        if _needs_restart(container, resource):
            return ResizeAction(needs_restart=True)
        updates.append(update)
    return ResizeAction(updates=tuple(updates))


def order_updates(updates: Iterable[ResourceUpdate], resource: Resource) -> tuple[str, ...]:
    """Return the containers to update, what shrinks at the front (kubelet v1.36 markContainerForUpdate)."""
    order: list[str] = []
    for update in updates:
        if update.resource is resource:
            order.insert(0 if update.is_decrease else len(order), update.container)
    return tuple(order)


def _update_of(
    name: str,
    resource: Resource,
    value: Callable[[str], int],
    wanted: ResourceRequirements,
    actuated: ResourceRequirements,
) -> ResourceUpdate | None:
    """Return the update of one resource: the limit decides, the request only when the limit stays."""
    for desired, current in ((wanted.limits, actuated.limits), (wanted.requests, actuated.requests)):
        difference = _amount(desired, resource, value) - _amount(current, resource, value)
        if difference:
            return ResourceUpdate(resource=resource, container=name, is_decrease=difference < 0)
    return None


def _amount(quantities: Mapping[str, str], resource: Resource, value: Callable[[str], int]) -> int:
    return value(quantities.get(resource.value, "0"))


def _needs_restart(container: Container, resource: Resource) -> bool:
    """Tell whether the first policy for the resource asks for a restart (kubelet v1.36 determineContainerResize)."""
    policies = (p.restart_policy for p in container.resize_policy if p.resource_name == resource.value)
    return next(policies, "") == _RESTART_CONTAINER
