"""What may change through the resize subresource. Source: kubernetes v1.36 ValidatePodResize; KEP-1287, KEP-5419."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from attrs import evolve

from kubelet_emu.api.kinds import api_type
from kubelet_emu.api.quantity import parse_quantity
from kubelet_emu.manifests.aggregates import qos_class
from kubelet_emu.manifests.validation.annotations import MIRROR
from kubelet_emu.manifests.validation.faults import Fault, forbidden, invalid
from kubelet_emu.manifests.validation.metadata import validate_metadata_update
from kubelet_emu.manifests.validation.pod import validate_pod_content

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from kubelet_emu.api.quantity import Quantity
    from kubelet_emu.api.v1 import Container, Pod, ResourceRequirements
    from kubelet_emu.manifests.validation.context import Gates

    Amounts: TypeAlias = Mapping[str, Quantity]

_RESIZABLE = ("cpu", "memory")
_OTHERS = "only cpu and memory resources are mutable"


def pod_resize_faults(new: Pod, old: Pod, gates: Gates) -> Iterator[Fault]:
    """Check a resize: amounts of cpu and memory change, and nothing else."""
    if MIRROR in old.metadata.annotations:
        yield forbidden("[]", "static pods cannot be resized")
        return
    if old.spec.os is not None and old.spec.os.name == "windows":
        yield forbidden("[]", "windows pods cannot be resized")
        return
    faults = [*validate_metadata_update(new.metadata, old.metadata), *validate_pod_content(new, gates)]
    if (before := qos_class(old.spec)) != qos_class(new.spec):
        faults.append(invalid("spec", before, "Pod QOS Class may not change as a result of resizing"))
    if not _is_supported(old):
        faults.append(forbidden("spec", "Pod running on node without support for resize"))
    faults += _pod_faults(new, old, gates)
    yield from faults
    if any(fault.path == "[]" for fault in faults):
        return
    order = tuple(_order_faults(new, old))
    yield from order
    if order:
        return
    removed = tuple(_removal_faults(new, old, gates))
    changed = tuple(_change_faults(new, old, gates))
    yield from (*removed, *changed)
    if not (faults or removed or changed) and _rest(new, old) != old.spec:
        yield forbidden("spec", _OTHERS)


def _is_supported(pod: Pod) -> bool:
    """Tell whether a pod's node resizes: one that doesn't reports no resources of running containers."""
    running = (each for each in pod.status.container_statuses if each.state is not None and each.state.running)
    first = next(running, None)
    return first is None or first.resources is not None


def _pod_faults(new: Pod, old: Pod, gates: Gates) -> Iterator[Fault]:
    """Check a change of what the whole pod asks for (KEP-5419)."""
    wanted, given = new.spec.resources, old.spec.resources
    if not _is_set(wanted) and not _is_set(given):
        return
    if not gates.enabled("InPlacePodLevelResourcesVerticalScaling"):
        text = (
            "resize of pods with pod-level resources is forbidden when "
            "InPlacePodLevelResourcesVerticalScalingEnabled feature gate is disabled"
        )
        yield forbidden("[]", text, at="spec.resources")
        return
    if given is not None and wanted is None:
        yield forbidden("spec.resources", "pod-level resources cannot be removed")
        return
    if given is not None and wanted is not None:
        for kind, now, then in _kinds(wanted, given):
            if _is_removed(now, then):
                yield forbidden(f"spec.resources.{kind}", f"pod-level resource {kind} cannot be removed")
    if not _is_same(_masked(wanted, given), given):
        yield forbidden("spec", "only cpu and memory resources are mutable at pod-level")


def _is_set(resources: ResourceRequirements | None) -> bool:
    return resources is not None and bool(resources.requests or resources.limits)


def _kinds(new: ResourceRequirements, old: ResourceRequirements) -> tuple[tuple[str, Amounts, Amounts], ...]:
    return (("requests", new.requests, old.requests), ("limits", new.limits, old.limits))


def _is_removed(new: Amounts, old: Amounts) -> bool:
    return any(name not in new for name in old)


def _order_faults(new: Pod, old: Pod) -> Iterator[Fault]:
    for field, wanted, given in (
        ("containers", new.spec.containers, old.spec.containers),
        ("initContainers", new.spec.init_containers, old.spec.init_containers),
    ):
        if len(wanted) != len(given):
            yield forbidden(f"spec.{field}", f"{field} may not be added or removed on resize")
            continue
        for index, (one, other) in enumerate(zip(wanted, given, strict=True)):
            if one.name != other.name:
                yield forbidden(f"spec.{field}[{index}].name", f"{field} may not be renamed or reordered on resize")


def _resources(container: Container) -> ResourceRequirements:
    found: ResourceRequirements = container.resources or api_type("ResourceRequirements")()
    return found


def _may_resize(container: Container, gates: Gates) -> bool:
    """Tell whether an init container may be resized: a sidecar, and any other with its gate."""
    return container.restart_policy == "Always" or gates.enabled("InPlacePodVerticalScalingInitContainers")


def _removal_faults(new: Pod, old: Pod, gates: Gates) -> Iterator[Fault]:
    for field, wanted, given in (
        ("initContainers", new.spec.init_containers, old.spec.init_containers),
        ("containers", new.spec.containers, old.spec.containers),
    ):
        for index, (one, other) in enumerate(zip(wanted, given, strict=True)):
            if field == "initContainers" and not _may_resize(other, gates):
                continue
            for kind, now, then in _kinds(_resources(one), _resources(other)):
                if _is_removed(now, then):
                    at = f"spec.{field}[{index}].resources.{kind}"
                    yield forbidden(at, f"resource {kind} cannot be removed")


def _change_faults(new: Pod, old: Pod, gates: Gates) -> Iterator[Fault]:
    """Check that of each container only amounts have changed."""
    for one, other in zip(new.spec.containers, old.spec.containers, strict=True):
        if not _only_amounts(one, other):
            yield forbidden("spec", _OTHERS)
    for index, (one, other) in enumerate(zip(new.spec.init_containers, old.spec.init_containers, strict=True)):
        at = f"spec.initContainers[{index}]"
        if not _may_resize(one, gates):
            if one != other:
                yield forbidden("spec", "resources for non-sidecar init containers are immutable")
            continue
        if not _only_amounts(one, other):
            yield forbidden(at, "only cpu and memory resources for init or sidecar containers are mutable")
        if one != other and one.restart_policy != "Always":
            for policy in one.resize_policy:
                if policy.restart_policy == "RestartContainer":
                    text = "non-sidecar init containers with a resize policy of RestartContainer cannot be resized"
                    yield forbidden(at, text)


def _only_amounts(new: Container, old: Container) -> bool:
    """Tell whether two containers differ in amounts of cpu and memory alone; resized claims are lost (as there)."""
    masked = _masked(_resources(new), _resources(old))
    given = _resources(old)
    is_same = masked is not None and _is_same(evolve(masked, claims=()), given)
    return is_same and evolve(new, resources=None) == evolve(old, resources=None)


def _masked(new: ResourceRequirements | None, old: ResourceRequirements | None) -> ResourceRequirements | None:
    """Return new resources with the old amounts of cpu and memory; none where there were none and nothing is left."""
    if new is None:
        return None
    requests, limits = ({}, {}) if old is None else (old.requests, old.limits)
    masked = evolve(new, requests=_with_old(new.requests, requests), limits=_with_old(new.limits, limits))
    return None if old is None and not _is_set(masked) and not masked.claims else masked


def _with_old(new: Amounts, old: Amounts) -> Amounts:
    kept = {name: text for name, text in new.items() if name not in _RESIZABLE}
    return {**kept, **{name: text for name, text in old.items() if name in _RESIZABLE}}


def _is_same(one: ResourceRequirements | None, other: ResourceRequirements | None) -> bool:
    """Compare resources by what their quantities are, not by how they are written."""
    if one is None or other is None:
        return one is other
    return one.claims == other.claims and all(
        {name: parse_quantity(text) for name, text in now.items()}
        == {name: parse_quantity(text) for name, text in then.items()}
        for _kind, now, then in _kinds(one, other)
    )


def _rest(new: Pod, old: Pod) -> object:
    """Return the new spec with the old containers and resources."""
    return evolve(
        new.spec,
        containers=old.spec.containers,
        init_containers=old.spec.init_containers,
        resources=old.spec.resources,
    )
