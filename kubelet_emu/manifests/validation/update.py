"""What may change on a Pod that exists.

Source: kubernetes v1.36 ValidatePodUpdate, ValidatePodEphemeralContainersUpdate.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from attrs import evolve

from kubelet_emu.api.gotext import quote
from kubelet_emu.manifests.validation.annotations import APPARMOR, MIRROR, validate_pod_annotations
from kubelet_emu.manifests.validation.containers import validate_image_padding
from kubelet_emu.manifests.validation.context import Context
from kubelet_emu.manifests.validation.faults import Fault, forbidden, invalid, required
from kubelet_emu.manifests.validation.metadata import validate_metadata_update
from kubelet_emu.manifests.validation.pod import validate_pod_content
from kubelet_emu.manifests.validation.scheduling import validate_tolerations

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kubelet_emu.api.v1 import Container, Pod, PodSpec
    from kubelet_emu.api.v1_scheduling import Affinity, NodeSelectorTerm, Toleration
    from kubelet_emu.manifests.validation.context import Gates

_MUTABLE = (
    "pod updates may not change fields other than `spec.containers[*].image`,`spec.initContainers[*].image`,"
    "`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations),"
    "`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)"
)
_LARGEST_INT32 = 2**31 - 1


def pod_update_faults(new: Pod, old: Pod, gates: Gates) -> Iterator[Fault]:
    """Check a change of a Pod."""
    yield from validate_metadata_update(new.metadata, old.metadata)
    yield from validate_pod_content(new, gates)
    yield from _annotation_faults(new, old)
    for field, wanted, given in (
        ("containers", new.spec.containers, old.spec.containers),
        ("initContainers", new.spec.init_containers, old.spec.init_containers),
    ):
        if len(wanted) != len(given):
            yield forbidden(f"spec.{field}", "pod updates may not add or remove containers")
            return
        for index, container in enumerate(wanted):
            if not container.image:
                yield required(f"spec.{field}[{index}].image")
            yield from validate_image_padding(container, f"spec.{field}[{index}]")
    stops = tuple(_deadline_faults(new.spec, old.spec))
    yield from stops
    if stops and new.spec.active_deadline_seconds is not None:
        return
    yield from _toleration_faults(new, old, gates)
    yield from _gate_faults(new.spec, old.spec)
    yield from _spec_faults(new.spec, old.spec)


def _annotation_faults(new: Pod, old: Pod) -> Iterator[Fault]:
    """Check that annotations which stand for more than themselves stay."""
    wanted, given = new.metadata.annotations, old.metadata.annotations
    kinds = ((APPARMOR, "AppArmor annotations"), (MIRROR, "mirror pod annotation"))
    for key in sorted({*wanted, *given}):
        if wanted.get(key) == given.get(key):
            continue
        verb = "may not remove or update" if key in given else "may not add"
        for start, what in kinds:
            if key == MIRROR == start or (start == APPARMOR and key.startswith(APPARMOR)):
                yield forbidden(f"metadata.annotations[{key}]", f"{verb} {what}")
    yield from validate_pod_annotations(wanted, new.spec, "metadata.annotations")


def _deadline_faults(new: PodSpec, old: PodSpec) -> Iterator[Fault]:
    at = "spec.activeDeadlineSeconds"
    wanted, given = new.active_deadline_seconds, old.active_deadline_seconds
    if wanted is None:
        if given is not None:
            yield invalid(at, None, "must not update from a positive integer to nil value")
    elif not 0 <= wanted <= _LARGEST_INT32:
        yield invalid(at, wanted, f"must be between 0 and {_LARGEST_INT32}, inclusive")
    elif given is not None and wanted > given:
        yield invalid(at, wanted, "must be less than or equal to previous value")


def _gate_faults(new: PodSpec, old: PodSpec) -> Iterator[Fault]:
    known = {gate.name for gate in old.scheduling_gates}
    for index, gate in enumerate(new.scheduling_gates):
        if gate.name not in known:
            text = f"only deletion is allowed, but found new scheduling gate '{gate.name}'"
            yield forbidden(f"spec.schedulingGates[{index}].name", text)


def _toleration_faults(new: Pod, old: Pod, gates: Gates) -> Iterator[Fault]:
    kept = {_identity(each) for each in new.spec.tolerations}
    if not all(_identity(each) in kept for each in old.spec.tolerations):
        yield forbidden("spec.tolerations", "existing toleration can not be modified except its tolerationSeconds")
        return
    context = Context(spec=new.spec, metadata=new.metadata, gates=gates)
    yield from validate_tolerations(new.spec.tolerations, "spec.tolerations", context)


def _identity(toleration: Toleration) -> tuple[str | None, ...]:
    return (toleration.key, toleration.operator, toleration.value, toleration.effect)


def _spec_faults(new: PodSpec, old: PodSpec) -> Iterator[Fault]:
    """Check that nothing else has changed; a gated pod may still say more exactly where it wants to be (KEP-3838)."""
    munged = _without_mutable(new, old)
    if old.scheduling_gates:
        if munged.node_selector != old.node_selector:
            if any(munged.node_selector.get(key) != value for key, value in old.node_selector.items()):
                text = "only additions to spec.nodeSelector are allowed (no mutations or deletions)"
                yield invalid("spec.nodeSelector", dict(munged.node_selector), text)
            munged = evolve(munged, node_selector=old.node_selector)
        yield from node_affinity_faults(munged.affinity, old.affinity, "spec.affinity.nodeAffinity")
        munged = evolve(munged, affinity=_with_old_node_affinity(munged.affinity, old.affinity))
    if munged != old:
        yield forbidden("spec", _MUTABLE)


def _with_old_node_affinity(new: Affinity | None, old: Affinity | None) -> Affinity | None:
    """Return the new affinity with the old wishes for nodes; none where nothing else is said."""
    given = old.node_affinity if old is not None else None
    if new is None:
        return None if given is None else evolve(cast("Affinity", old), pod_affinity=None, pod_anti_affinity=None)
    if old is None and new.pod_affinity is None and new.pod_anti_affinity is None:
        return None
    return evolve(new, node_affinity=given)


def _without_mutable(new: PodSpec, old: PodSpec) -> PodSpec:
    """Return the new spec with the old values of what may change."""
    grace_is_mended = (old.termination_grace_period_seconds or 0) < 0 and new.termination_grace_period_seconds == 1
    grace = old.termination_grace_period_seconds if grace_is_mended else new.termination_grace_period_seconds
    return evolve(
        new,
        containers=_with_images(new.containers, old.containers),
        init_containers=_with_images(new.init_containers, old.init_containers),
        active_deadline_seconds=old.active_deadline_seconds,
        scheduling_gates=old.scheduling_gates,
        tolerations=old.tolerations,
        termination_grace_period_seconds=grace,
    )


def _with_images(new: tuple[Container, ...], old: tuple[Container, ...]) -> tuple[Container, ...]:
    return tuple(evolve(one, image=other.image) for one, other in zip(new, old, strict=True))


def node_affinity_faults(new: Affinity | None, old: Affinity | None, path: str) -> Iterator[Fault]:
    """Check that wishes for nodes only become narrower (validateNodeAffinityMutation)."""
    given, wanted = _node_terms(old), _node_terms(new)
    if given is None:
        return
    at = f"{path}.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms"
    if given and len(given) != len(wanted or ()):
        yield invalid(at, wanted or (), "no additions/deletions to non-empty NodeSelectorTerms list are allowed")
        return
    for index, (before, after) in enumerate(zip(given, wanted or (), strict=False)):
        is_added_to = (
            after.match_expressions[: len(before.match_expressions)] == before.match_expressions
            and after.match_fields[: len(before.match_fields)] == before.match_fields
            and bool(before.match_expressions or before.match_fields)
            >= bool(after.match_expressions or after.match_fields)
        )
        if not is_added_to:
            yield invalid(f"{at}[{index}]", after, "only additions are allowed (no mutations or deletions)")


def _node_terms(affinity: Affinity | None) -> tuple[NodeSelectorTerm, ...] | None:
    node = affinity.node_affinity if affinity is not None else None
    wanted = node.required_during_scheduling_ignored_during_execution if node is not None else None
    return None if wanted is None else wanted.node_selector_terms


def ephemeral_update_faults(new: Pod, old: Pod, gates: Gates) -> Iterator[Fault]:
    """Check a change through the ephemeralcontainers subresource (KEP-277): they are only added."""
    yield from validate_metadata_update(new.metadata, old.metadata)
    yield from validate_pod_content(new, gates)
    if MIRROR in new.metadata.annotations:
        yield forbidden("[]", "static pods do not support ephemeral containers")
        return
    wanted = {each.name: each for each in new.spec.ephemeral_containers}
    for each in old.spec.ephemeral_containers:
        found = wanted.get(each.name)
        if found is None:
            text = f"existing ephemeral containers {quote(each.name)} may not be removed"
            yield forbidden("spec.ephemeralContainers", text)
        elif found != each:
            text = f"existing ephemeral containers {quote(each.name)} may not be changed"
            yield forbidden("spec.ephemeralContainers", text)
