"""A pod as it is rehearsed: all that it waits for is there, and what a plan assumes of its programs holds.

What only a cluster has (nodes to choose from, claims) is left out, for it changes neither order nor end.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, TypeVar, cast

from attrs import evolve

from kubelet_emu.api.kinds import api_type
from kubelet_emu.manifests.changing import changed
from kubelet_emu.manifests.workloads import as_created
from kubelet_emu.simulation.values import Behaviour, Course, Result, Simulation

if TYPE_CHECKING:
    import random
    from collections.abc import Iterable

    from kubelet_emu.advice.subjects import Part, Subject
    from kubelet_emu.api.batch_v1 import Job
    from kubelet_emu.api.v1 import Container, Pod, PodSpec
    from kubelet_emu.api.v1_environment import EnvFromSource, EnvVar
    from kubelet_emu.api.v1_volumes import Volume, VolumeProjection

T = TypeVar("T")
_NO_LIMIT = 2**31 - 1
_KEPT_VOLUMES = ("config_map", "secret", "downward_api", "empty_dir", "projected", "image")
_KEPT_SOURCES = ("config_map", "secret", "downward_api", "service_account_token")


def staged(subject: Subject, rng: random.Random, *, grace: int | None = None) -> Pod | Job:
    """Return what is created: the pod, or a Job that makes it once; `grace` takes the place of its grace period."""
    spec = _spec(subject.spec)
    if grace is not None:
        spec = evolve(spec, termination_grace_period_seconds=grace)
    metadata = evolve(subject.pod.metadata, name=None, generate_name="rehearsed-")
    if subject.job is None:
        return as_created(evolve(subject.pod, metadata=metadata, spec=spec), rng)
    template = evolve(subject.job.template, spec=spec)
    once = evolve(
        subject.job,
        template=template,
        parallelism=1,
        completions=1,
        suspend=False,
        managed_by=None,
        selector=None,
        manual_selector=None,
        active_deadline_seconds=None,
        success_policy=None,
        ttl_seconds_after_finished=None,
        backoff_limit=_NO_LIMIT,
        backoff_limit_per_index=None,
        max_failed_indexes=None,
        pod_failure_policy=None,
    )
    job: Job = api_type("Job")(metadata=metadata, spec=once)
    return as_created(job, rng)


def _spec(spec: PodSpec) -> PodSpec:
    """Return a spec that nothing outside the pod holds back."""
    return evolve(
        spec,
        init_containers=tuple(_container(each) for each in spec.init_containers),
        containers=tuple(_container(each) for each in spec.containers),
        volumes=(*(_volume(each) for each in spec.volumes), *_claimed(spec)),
        active_deadline_seconds=None,
        affinity=None,
        node_selector={},
        overhead={},
        priority=None,
        priority_class_name=None,
        readiness_gates=(),
        resource_claims=(),
        resources=None,
        runtime_class_name=None,
        scheduling_gates=(),
        security_context=None,
        topology_spread_constraints=(),
    )


def _container(container: Container) -> Container:
    return evolve(
        container,
        env=tuple(_variable(each) for each in container.env),
        env_from=tuple(_source(each) for each in container.env_from),
        image_pull_policy="IfNotPresent",
        resources=None,
        security_context=None,
        volume_devices=(),
    )


def _variable(variable: EnvVar) -> EnvVar:
    given = variable.value_from
    if given is None:
        return variable
    if given.file_key_ref is not None:
        return evolve(variable, value_from=None, value="")
    return evolve(
        variable,
        value_from=evolve(
            given,
            config_map_key_ref=_optional(given.config_map_key_ref),
            secret_key_ref=_optional(given.secret_key_ref),
        ),
    )


def _source(source: EnvFromSource) -> EnvFromSource:
    return evolve(source, config_map_ref=_optional(source.config_map_ref), secret_ref=_optional(source.secret_ref))


def _optional(reference: T | None) -> T | None:
    return None if reference is None else changed(reference, optional=True)


def _volume(volume: Volume) -> Volume:
    """Return a volume that can be mounted here: what isn't there is optional, what only a cluster has is empty."""
    if all(getattr(volume, name) is None for name in _KEPT_VOLUMES):
        return _empty(volume.name)
    projected = volume.projected
    if projected is not None:
        sources = tuple(_projection(each) for each in projected.sources if _is_kept(each))
        projected = evolve(projected, sources=sources)
    memory = volume.empty_dir
    if memory is not None:
        memory = evolve(memory, medium=None, size_limit=None)
    return evolve(
        volume,
        config_map=_optional(volume.config_map),
        secret=_optional(volume.secret),
        projected=projected,
        empty_dir=memory,
    )


def _claimed(spec: PodSpec) -> Iterable[Volume]:
    """Return volumes that are mounted but not in the list: those of a StatefulSet's claims."""
    mounts = (each for part in (*spec.init_containers, *spec.containers) for each in part.volume_mounts)
    listed = {volume.name for volume in spec.volumes}
    return tuple(_empty(name) for name in dict.fromkeys(each.name for each in mounts) if name not in listed)


def _empty(name: str) -> Volume:
    return cast("Volume", api_type("Volume")(name=name, empty_dir=api_type("EmptyDirVolumeSource")()))


def _is_kept(source: VolumeProjection) -> bool:
    return any(getattr(source, name) is not None for name in _KEPT_SOURCES)


def _projection(source: VolumeProjection) -> VolumeProjection:
    return evolve(source, config_map=_optional(source.config_map), secret=_optional(source.secret))


def assumptions(subject: Subject, ending: Iterable[str]) -> Simulation:
    """Return what a plan assumes of the programs: those of `ending` end with 0 after a second.

    Servers go on, and commands of hooks and probes succeed in them.
    """
    given = frozenset(ending)
    behaviours = {part.name: behaviour for part in subject.parts if (behaviour := _assumed(part, given))}
    return Simulation(containers=behaviours)


def _assumed(part: Part, ending: frozenset[str]) -> Behaviour | None:
    if part.program.is_server:
        return Behaviour(courses=(Course(seconds=math.inf, commands={"*": ((0.0, Result()),)}),))
    return Behaviour(courses=(Course(seconds=1.0, exit=0),)) if part.name in ending else None
