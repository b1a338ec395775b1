"""What advice is about: the pod that an object of a manifest makes, with its defaults, and where it is written."""

from __future__ import annotations

import enum
import random
from typing import TYPE_CHECKING, cast

from attrs import evolve, field, frozen

from kubelet_emu.advice.entry_points import program_of
from kubelet_emu.api.kinds import api_type
from kubelet_emu.manifests.missing_references import needed_references
from kubelet_emu.manifests.validation.objects import prepare
from kubelet_emu.manifests.workloads import expand, pod_spec_of
from kubelet_emu.rules.restart_policy import (
    container_should_restart,
    effective_restart_policy,
    is_restartable_init_container,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

    from kubelet_emu.advice.programs import Program
    from kubelet_emu.api.apps_v1 import Deployment
    from kubelet_emu.api.batch_v1 import CronJob, Job, JobSpec
    from kubelet_emu.api.v1 import Container, Pod, PodSpec, PodTemplateSpec
    from kubelet_emu.api.v1_services import Service
    from kubelet_emu.config.features import FeatureGates
    from kubelet_emu.manifests.loading import Loaded
    from kubelet_emu.manifests.missing_references import Needed
    from kubelet_emu.manifests.problems import Problem
    from kubelet_emu.manifests.workloads import Runnable, Workload

DEFAULT_GRACE_SECONDS = 30


class Role(enum.Enum):
    """The part that a container plays in its pod."""

    INIT = "init"
    SIDECAR = "sidecar"
    MAIN = "main"


@frozen(kw_only=True)
class Part:
    """A container with its role, the path where it is written, and what is known of its program."""

    container: Container = field(repr=False)
    role: Role
    path: str
    program: Program = field(repr=False)

    @property
    def name(self) -> str:
        """Return the container's name."""
        return self.container.name


@frozen(kw_only=True)
class Subject:
    """One pod: `parts` are its containers in the order in which they start.

    `job` is the spec of the Job it is of, `needs` what it refers to and no manifest has, `own_names` are the names of
    Services that lead to it alone, once it is ready.
    """

    loaded: Loaded = field(repr=False)
    pod: Pod = field(repr=False)
    kind: str
    name: str
    spec_path: str
    parts: tuple[Part, ...]
    gates: FeatureGates = field(repr=False)
    job: JobSpec | None = field(default=None, repr=False)
    needs: tuple[Needed, ...] = field(default=(), repr=False)
    own_names: frozenset[str] = field(default=frozenset(), repr=False)

    @property
    def spec(self) -> PodSpec:
        """Return the pod's spec."""
        return self.pod.spec

    @property
    def grace(self) -> int:
        """Return the seconds that a stop may take (terminationGracePeriodSeconds)."""
        seconds = self.spec.termination_grace_period_seconds
        return DEFAULT_GRACE_SECONDS if seconds is None else max(0, seconds)

    @property
    def is_to_end(self) -> bool:
        """Tell whether somebody expects the pod to end by itself."""
        return self.job is not None or self.spec.restart_policy in {"Never", "OnFailure"}

    def of(self, *roles: Role) -> tuple[Part, ...]:
        """Return the containers with one of these roles, in the order of the spec."""
        return tuple(part for part in self.parts if part.role in roles)

    def before(self, part: Part) -> tuple[Part, ...]:
        """Return the containers that start before another."""
        return self.parts[: self.parts.index(part)]

    def after(self, part: Part) -> tuple[Part, ...]:
        """Return the containers that start after another."""
        return self.parts[self.parts.index(part) + 1 :]

    def restart_policy(self, part: Part) -> str:
        """Return by which policy a container runs again (KEP-5307)."""
        return effective_restart_policy(part.container, self.pod, self.gates)

    def runs_again(self, part: Part, exit_code: int) -> bool:
        """Tell whether a container that ended with a code is run again: by its rules, its own policy, the pod's."""
        return container_should_restart(part.container, self.pod, exit_code, self.gates)

    def problem(self, path: str, code: str, text: str, hint: str = "") -> Problem:
        """Return an advice as a warning at a field of the pod's spec; an empty path is the spec itself."""
        where = f"{self.spec_path}.{path}" if path else self.spec_path
        return self.loaded.problem(where, code, text, hint=hint, severity="warning")


def subjects_of(objects: Iterable[Loaded], gates: FeatureGates) -> tuple[Subject, ...]:
    """Return the pods that the objects of manifests make, a pod for each object; of a CronJob that of its next Job."""
    given, names = tuple(objects), random.Random(0)  # noqa: S311 - names, not secrets
    expansion = expand([each for each in given if each.is_whole], names, cron_jobs_now=True)
    there = {(each.object.kind, each.object.metadata.name) for each in given if not each.is_whole}
    needs = tuple(
        each for each in needed_references(expansion) if (each.reference.kind, each.reference.name) not in there
    )
    subjects = tuple(_subject(runnable, needs, gates) for runnable in expansion.runnables)
    services = [cast("Service", each.object) for each in expansion.stored if each.object.kind == "Service"]
    return tuple(evolve(subject, own_names=_own_names(subject, subjects, services)) for subject in subjects)


def _own_names(subject: Subject, subjects: tuple[Subject, ...], services: Iterable[Service]) -> frozenset[str]:
    """Return the names of Services that lead to one pod of the manifests and to no other (DNS for Services, 2.3)."""
    names: set[str] = set()
    for service in services:
        spec, metadata = service.spec, service.metadata
        if spec.type == "ExternalName" or spec.publish_not_ready_addresses:
            continue
        if [each for each in subjects if _is_selected(each, service)] == [subject]:
            short = f"{metadata.name}.{metadata.namespace}"
            names |= {metadata.name or "", short, f"{short}.svc", f"{short}.svc.cluster.local"}
    return frozenset(names)


def _is_selected(subject: Subject, service: Service) -> bool:
    labels, selector = subject.pod.metadata.labels, service.spec.selector
    is_near = subject.pod.metadata.namespace == service.metadata.namespace
    return is_near and bool(selector) and all(labels.get(key) == value for key, value in selector.items())


def _subject(runnable: Runnable, needs: tuple[Needed, ...], gates: FeatureGates) -> Subject:
    workload = cast("Workload", prepare(cast("Workload", runnable.object), gates))
    spec, template = pod_spec_of(workload), _template(workload)
    metadata = api_type("ObjectMeta")(
        name=workload.metadata.name,
        namespace=workload.metadata.namespace,
        labels=template.metadata.labels,
        annotations={**workload.metadata.annotations, **template.metadata.annotations},
    )
    pod: Pod = api_type("Pod")(metadata=metadata, spec=spec)
    return Subject(
        loaded=runnable.loaded,
        pod=pod,
        kind=workload.kind,
        name=workload.metadata.name or "",
        spec_path=runnable.spec_path,
        parts=tuple(_parts(spec)),
        gates=gates,
        job=_job_spec(workload),
        needs=tuple(each for each in needs if each.runnable is runnable),
    )


def _parts(spec: PodSpec) -> Iterable[Part]:
    for index, container in enumerate(spec.init_containers):
        role = Role.SIDECAR if is_restartable_init_container(container) else Role.INIT
        program = program_of(container)
        yield Part(container=container, role=role, path=f"initContainers[{index}]", program=program)
    for index, container in enumerate(spec.containers):
        program = program_of(container)
        yield Part(container=container, role=Role.MAIN, path=f"containers[{index}]", program=program)


def _job_spec(workload: Workload) -> JobSpec | None:
    if workload.kind == "Job":
        return cast("Job", workload).spec
    return cast("CronJob", workload).spec.job_template.spec if workload.kind == "CronJob" else None


def _template(workload: Workload) -> Pod | PodTemplateSpec:
    """Return what has the metadata of the pods of a workload: a pod has its own."""
    if workload.kind == "Pod":
        return cast("Pod", workload)
    return (_job_spec(workload) or cast("Deployment", workload).spec).template
