"""What may change on a Job that exists. Source: kubernetes v1.36 ValidateJobSpecUpdate, validatePodTemplateUpdate."""

from __future__ import annotations

from typing import TYPE_CHECKING

from attrs import evolve

from kubelet_emu.manifests.validation.faults import Fault, invalid
from kubelet_emu.manifests.validation.job import validate_job_selector, validate_job_spec
from kubelet_emu.manifests.validation.metadata import IMMUTABLE, validate_metadata_update

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kubelet_emu.api.batch_v1 import Job
    from kubelet_emu.api.v1 import Container, PodTemplateSpec
    from kubelet_emu.api.v1_scheduling import Affinity
    from kubelet_emu.manifests.validation.context import Gates


def job_update_faults(new: Job, old: Job, gates: Gates) -> Iterator[Fault]:
    """Check a change of a Job."""
    yield from validate_metadata_update(new.metadata, old.metadata)
    yield from validate_job_spec(new.spec, "spec", gates)
    yield from validate_job_selector(new.spec, "spec")
    yield from _completions_faults(new, old)
    wanted, given = new.spec, old.spec
    fields = (
        ("selector", wanted.selector, given.selector),
        ("template", _with_what_may_change(new, old), old.spec.template),
        ("completionMode", wanted.completion_mode, given.completion_mode),
        ("podFailurePolicy", wanted.pod_failure_policy, given.pod_failure_policy),
        ("backoffLimitPerIndex", wanted.backoff_limit_per_index, given.backoff_limit_per_index),
        ("managedBy", wanted.managed_by, given.managed_by),
        ("successPolicy", wanted.success_policy, given.success_policy),
    )
    for name, value, before in fields:
        if value != before:
            yield invalid(f"spec.{name}", value, IMMUTABLE)


def _completions_faults(new: Job, old: Job) -> Iterator[Fault]:
    """Check completions: those of an Indexed Job change together with its parallelism (KEP-3715)."""
    at = "spec.completions"
    wanted, given = new.spec.completions, old.spec.completions
    if wanted == given:
        return
    if new.spec.completion_mode != "Indexed":
        yield invalid(at, wanted, IMMUTABLE)
    elif wanted is not None and wanted != new.spec.parallelism:
        yield invalid(at, wanted, "can only be modified in tandem with spec.parallelism")


def _with_what_may_change(new: Job, old: Job) -> PodTemplateSpec:
    """Return the new template with the old values of what may change while a Job is suspended and has no pods.

    That is scheduling directives (KEP-2926, KEP-5440) and resources of containers
    (MutablePodResourcesForSuspendedJobs). Source: jobStrategy.ValidateUpdate.
    """
    wanted, given = new.spec.template, old.spec.template
    if not old.spec.suspend or old.status.start_time is not None or old.status.active:
        return wanted
    spec = evolve(
        wanted.spec,
        node_selector=given.spec.node_selector,
        tolerations=given.spec.tolerations,
        affinity=_with_old_node_affinity(wanted.spec.affinity, given.spec.affinity),
        scheduling_gates=given.spec.scheduling_gates,
        containers=_with_resources(wanted.spec.containers, given.spec.containers),
        init_containers=_with_resources(wanted.spec.init_containers, given.spec.init_containers),
    )
    metadata = evolve(wanted.metadata, labels=given.metadata.labels, annotations=given.metadata.annotations)
    return evolve(wanted, metadata=metadata, spec=spec)


def _with_old_node_affinity(new: Affinity | None, old: Affinity | None) -> Affinity | None:
    """Return the new affinity with the old wishes for nodes; the old one where nothing else stands in either."""
    if new is None:
        return old if old is None or (old.pod_affinity is None and old.pod_anti_affinity is None) else None
    if old is None:
        return None if new.pod_affinity is None and new.pod_anti_affinity is None else new
    return evolve(new, node_affinity=old.node_affinity)


def _with_resources(new: tuple[Container, ...], old: tuple[Container, ...]) -> tuple[Container, ...]:
    """Return the new containers with the old resources; where their number differs they are another template."""
    if len(new) != len(old):
        return new
    return tuple(
        evolve(one, resources=other.resources) if one.name == other.name else one
        for one, other in zip(new, old, strict=True)
    )
