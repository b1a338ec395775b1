"""What may change on an object that exists.

Source: kubernetes v1.36 ValidatePodUpdate, ValidatePodResize, ValidatePodEphemeralContainersUpdate, ValidateJobUpdate.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from attrs import evolve

from kubelet_emu.manifests.aggregates import qos_class
from kubelet_emu.manifests.validation.faults import Fault, forbidden, invalid, required

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from kubelet_emu.api.batch_v1 import Job
    from kubelet_emu.api.v1 import Container, Pod, PodSpec, PodTemplateSpec
    from kubelet_emu.api.v1_scheduling import Toleration

_MUTABLE = (
    "pod updates may not change fields other than `spec.containers[*].image`,`spec.initContainers[*].image`,"
    "`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations),"
    "`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)"
)
_RESIZABLE = ("cpu", "memory")


def pod_update_faults(new: Pod, old: Pod) -> Iterator[Fault]:
    """Check a change of a Pod's spec."""
    if len(new.spec.containers) != len(old.spec.containers):
        yield forbidden("spec.containers", "pod updates may not add or remove containers")
        return
    if len(new.spec.init_containers) != len(old.spec.init_containers):
        yield forbidden("spec.initContainers", "pod updates may not add or remove containers")
        return
    for field, containers in (("containers", new.spec.containers), ("initContainers", new.spec.init_containers)):
        for index, container in enumerate(containers):
            if not container.image:
                yield required(f"spec.{field}[{index}].image")
    yield from _deadline_faults(new.spec, old.spec)
    yield from _gate_faults(new.spec, old.spec)
    if not _only_adds(new.spec.tolerations, old.spec.tolerations):
        yield forbidden("spec.tolerations", "existing toleration can not be modified except its tolerationSeconds")
    if _without_mutable(new.spec, old.spec) != old.spec:
        yield forbidden("spec", _MUTABLE)


def _deadline_faults(new: PodSpec, old: PodSpec) -> Iterator[Fault]:
    at = "spec.activeDeadlineSeconds"
    wanted, given = new.active_deadline_seconds, old.active_deadline_seconds
    if given is None or wanted == given:
        return
    if wanted is None:
        yield invalid(at, None, "must not update from a positive integer to nil value")
    elif wanted > given:
        yield invalid(at, wanted, "must be less than or equal to previous value")


def _gate_faults(new: PodSpec, old: PodSpec) -> Iterator[Fault]:
    known = {gate.name for gate in old.scheduling_gates}
    for index, gate in enumerate(new.scheduling_gates):
        if gate.name not in known:
            text = f"only deletion is allowed, but found new scheduling gate '{gate.name}'"
            yield forbidden(f"spec.schedulingGates[{index}].name", text)


def _only_adds(new: tuple[Toleration, ...], old: tuple[Toleration, ...]) -> bool:
    kept = {_identity(each) for each in new}
    return all(_identity(each) in kept for each in old)


def _identity(toleration: Toleration) -> tuple[str | None, ...]:
    return (toleration.key, toleration.operator, toleration.value, toleration.effect)


def _without_mutable(new: PodSpec, old: PodSpec) -> PodSpec:
    """Return the new spec with the old values of what may change."""
    grace_is_mended = (old.termination_grace_period_seconds or 0) < 0 and new.termination_grace_period_seconds == 1
    grace = old.termination_grace_period_seconds if grace_is_mended else new.termination_grace_period_seconds
    is_gated = bool(old.scheduling_gates)
    return evolve(
        new,
        containers=_with_images(new.containers, old.containers),
        init_containers=_with_images(new.init_containers, old.init_containers),
        active_deadline_seconds=old.active_deadline_seconds,
        scheduling_gates=old.scheduling_gates,
        tolerations=old.tolerations,
        termination_grace_period_seconds=grace,
        node_selector=old.node_selector if is_gated else new.node_selector,
        affinity=old.affinity if is_gated else new.affinity,
    )


def _with_images(new: tuple[Container, ...], old: tuple[Container, ...]) -> tuple[Container, ...]:
    return tuple(evolve(one, image=other.image) for one, other in zip(new, old, strict=True))


def pod_resize_faults(new: Pod, old: Pod) -> Iterator[Fault]:
    """Check a change through the resize subresource (KEP-1287)."""
    lists = (
        ("containers", new.spec.containers, old.spec.containers),
        ("initContainers", new.spec.init_containers, old.spec.init_containers),
    )
    for field, wanted, given in lists:
        if len(wanted) != len(given):
            yield forbidden(f"spec.{field}", "containers may not be added or removed on resize")
            return
        for index, (one, other) in enumerate(zip(wanted, given, strict=True)):
            if one.name != other.name:
                yield forbidden(f"spec.{field}[{index}].name", "containers may not be renamed or reordered on resize")
                return
    for field, wanted, given in lists:
        for index, (one, other) in enumerate(zip(wanted, given, strict=True)):
            yield from _removal_faults(one, other, f"spec.{field}[{index}].resources")
    if (before := qos_class(old.spec)) != qos_class(new.spec):
        yield invalid("spec", before, "Pod QOS Class may not change as a result of resizing")
    if _without_resizable(new.spec) != _without_resizable(old.spec):
        yield forbidden("spec", "only cpu and memory resources are mutable")


def _amounts(container: Container, kind: str) -> Mapping[str, str]:
    amounts: Mapping[str, str] = getattr(container.resources, kind, {})
    return amounts


def _removal_faults(new: Container, old: Container, path: str) -> Iterator[Fault]:
    for kind in ("requests", "limits"):
        gone = [name for name in _amounts(old, kind) if name in _RESIZABLE and name not in _amounts(new, kind)]
        if gone:
            yield forbidden(f"{path}.{kind}", f"resource {kind} cannot be removed")


def _without_resizable(spec: PodSpec) -> PodSpec:
    return evolve(
        spec,
        containers=tuple(_without_amounts(each) for each in spec.containers),
        init_containers=tuple(_without_amounts(each) for each in spec.init_containers),
        resources=None,
    )


def _without_amounts(container: Container) -> Container:
    if container.resources is None:
        return container
    kept = [
        {name: text for name, text in amounts.items() if name not in _RESIZABLE}
        for amounts in (container.resources.limits, container.resources.requests)
    ]
    is_empty = not any(kept) and not container.resources.claims
    resources = None if is_empty else evolve(container.resources, limits=kept[0], requests=kept[1])
    return evolve(container, resources=resources, resize_policy=())


def ephemeral_update_faults(new: Pod, old: Pod) -> Iterator[Fault]:
    """Check a change through the ephemeralcontainers subresource (KEP-277): they are only added."""
    wanted = {each.name: each for each in new.spec.ephemeral_containers}
    for each in old.spec.ephemeral_containers:
        found = wanted.get(each.name)
        if found is None:
            yield forbidden(
                "spec.ephemeralContainers", f'existing ephemeral containers "{each.name}" may not be removed'
            )
        elif found != each:
            yield forbidden(
                "spec.ephemeralContainers", f'existing ephemeral containers "{each.name}" may not be changed'
            )


def job_update_faults(new: Job, old: Job) -> Iterator[Fault]:
    """Check a change of a Job's spec."""
    wanted, given = new.spec, old.spec
    is_elastic = wanted.completion_mode == "Indexed" and wanted.completions is not None
    if wanted.completions != given.completions and not (is_elastic and wanted.completions == wanted.parallelism):
        yield invalid("spec.completions", wanted.completions, "field is immutable")
    fields = (
        ("selector", wanted.selector, given.selector),
        ("template", _fixed_template(new, old), given.template),
        ("completionMode", wanted.completion_mode, given.completion_mode),
        ("podFailurePolicy", wanted.pod_failure_policy, given.pod_failure_policy),
        ("backoffLimitPerIndex", wanted.backoff_limit_per_index, given.backoff_limit_per_index),
        ("managedBy", wanted.managed_by, given.managed_by),
        ("successPolicy", wanted.success_policy, given.success_policy),
    )
    for name, value, before in fields:
        if value != before:
            yield invalid(f"spec.{name}", value, "field is immutable")


def _fixed_template(new: Job, old: Job) -> PodTemplateSpec:
    """Return the new template with the old values of what may change while a Job is suspended and has no pods.

    Scheduling directives (KEP-2926, KEP-5440) and resources of containers
    (MutablePodResourcesForSuspendedJobs). Source: jobStrategy.ValidateUpdate.
    """
    wanted, given = new.spec.template, old.spec.template
    if not old.spec.suspend or old.status.start_time is not None or old.status.active:
        return wanted
    spec = evolve(
        wanted.spec,
        node_selector=given.spec.node_selector,
        tolerations=given.spec.tolerations,
        affinity=given.spec.affinity,
        scheduling_gates=given.spec.scheduling_gates,
        containers=_with_resources(wanted.spec.containers, given.spec.containers),
        init_containers=_with_resources(wanted.spec.init_containers, given.spec.init_containers),
    )
    metadata = evolve(wanted.metadata, labels=given.metadata.labels, annotations=given.metadata.annotations)
    return evolve(wanted, metadata=metadata, spec=spec)


def _with_resources(new: tuple[Container, ...], old: tuple[Container, ...]) -> tuple[Container, ...]:
    """Return the new containers with the old resources; where their number differs they are another template."""
    if len(new) != len(old):
        return new
    return tuple(evolve(one, resources=other.resources) for one, other in zip(new, old, strict=True))
