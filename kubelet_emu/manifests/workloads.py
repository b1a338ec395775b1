"""What of the loaded objects runs, what pods may refer to, and what of both is not done.

Generated values (names, uids) come from the caller's random numbers, so that a run can be repeated.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias, TypeVar, cast

from attrs import evolve, frozen

from kubelet_emu.api.kinds import api_type
from kubelet_emu.manifests.changing import changed

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from random import Random

    from kubelet_emu.api.apps_v1 import DaemonSet, Deployment, ReplicaSet, StatefulSet
    from kubelet_emu.api.batch_v1 import CronJob, Job, JobSpec
    from kubelet_emu.api.meta import ObjectMeta
    from kubelet_emu.api.v1 import ConfigMap, Pod, PodSpec, Secret
    from kubelet_emu.api.v1_services import Service
    from kubelet_emu.manifests.loading import Loaded
    from kubelet_emu.manifests.problems import Problem

    Workload: TypeAlias = Pod | Job | CronJob | Deployment | ReplicaSet | StatefulSet | DaemonSet
    """An object that has pods, or is one."""

    Stored: TypeAlias = ConfigMap | Secret | Service
    """An object that pods refer to."""

T = TypeVar("T")

_ALPHABET = "bcdfghjklmnpqrstvwxz2456789"
_SUFFIX_LENGTH = 5
_LONGEST_BASE = 58
_JOB_PREFIX = "batch.kubernetes.io/"
STORED = ("ConfigMap", "Secret", "Service")
"""Kinds that pods refer to."""
_CONTROLLED = ("Deployment", "ReplicaSet", "StatefulSet", "DaemonSet")
_SPEC_PATHS = {"Pod": "spec", "CronJob": "spec.jobTemplate.spec.template.spec"}
_JOB_CONTROLLER = "kubernetes.io/job-controller"
_TEMPLATE_SPEC = "spec.template.spec"


@frozen(kw_only=True)
class Runnable:
    """An object that runs or is stored, where it was written, and where its pod spec stands in that manifest."""

    object: Workload | Stored
    loaded: Loaded
    spec_path: str = "spec"

    @property
    def pod_spec(self) -> PodSpec | None:
        """Return the spec of its pods; None for what is only stored."""
        if self.object.kind in STORED:
            return None
        return pod_spec_of(cast("Workload", self.object))


@frozen(kw_only=True)
class Expansion:
    """What runs, what pods may refer to, and what is not run."""

    runnables: tuple[Runnable, ...] = ()
    stored: tuple[Runnable, ...] = ()
    problems: tuple[Problem, ...] = ()


def expand(loaded: Iterable[Loaded], rng: Random, *, cron_jobs_now: bool = False) -> Expansion:
    """Sort loaded objects into those that run, those that are stored, and warnings for those that do neither.

    `cron_jobs_now`: a CronJob's Job runs once; its schedule is not kept.
    """
    runnables: list[Runnable] = []
    stored: list[Runnable] = []
    problems: list[Problem] = []
    for each in loaded:
        obj = each.object
        problems += [*_dropped_note(each), *_not_done(each)]
        if _is_run(obj, cron_jobs_now=cron_jobs_now):
            path = _SPEC_PATHS.get(obj.kind, _TEMPLATE_SPEC)
            runnables.append(Runnable(object=as_created(obj, rng), loaded=each, spec_path=path))
        elif obj.kind in STORED:
            stored.append(Runnable(object=as_created(obj, rng), loaded=each))
        else:
            problems.append(_not_run(each))
    return Expansion(runnables=tuple(runnables), stored=tuple(stored), problems=tuple(problems))


def _is_run(obj: object, *, cron_jobs_now: bool) -> bool:
    """Tell whether somebody here makes pods of an object."""
    kind = getattr(obj, "kind", "")
    if kind == "Job":
        return cast("Job", obj).spec.managed_by in (None, _JOB_CONTROLLER)
    return kind in ("Pod", *_CONTROLLED) or (kind == "CronJob" and cron_jobs_now)


def pod_spec_of(obj: Workload) -> PodSpec:
    """Return the spec of a pod, or of the pods that a workload makes."""
    if obj.kind == "Pod":
        return cast("Pod", obj).spec
    if obj.kind == "CronJob":
        return cast("CronJob", obj).spec.job_template.spec.template.spec
    return cast("Job", obj).spec.template.spec


def _dropped_note(loaded: Loaded) -> list[Problem]:
    """Say that what a server had filled in is dropped (output of `kubectl get -o yaml`)."""
    names = ("uid", "resourceVersion", "creationTimestamp", "managedFields", "ownerReferences")
    given = [f"metadata.{name}" for name in names if loaded.positions.has(f"metadata.{name}")]
    given += [name for name in ("spec.nodeName", "status") if loaded.positions.has(name)]
    if not any(name in given for name in ("metadata.uid", "metadata.resourceVersion")):
        return []
    return [_note(loaded, given[0], "Ignored", f"set by a server, dropped here: {', '.join(given)}")]


def _not_run(loaded: Loaded) -> Problem:
    name = loaded.object.metadata.name or loaded.object.metadata.generate_name or ""
    text = f"{loaded.object.kind}/{name} is not run"
    if loaded.object.kind == "CronJob":
        text += ": a schedule is not kept, run --now runs its Job once"
    if loaded.object.kind == "Job":
        text += f": it is left to {cast('Job', loaded.object).spec.managed_by} (managedBy)"
    return _note(loaded, "kind", "Not run", text)


def _not_done(loaded: Loaded) -> list[Problem]:
    """Say what a workload asks of its controller that isn't done here."""
    obj, problems = loaded.object, []
    is_from_server = loaded.positions.has("metadata.uid")  # a server fills in strategies: nobody asked for them
    for path in ("spec.strategy", "spec.updateStrategy"):
        if obj.kind in _CONTROLLED and loaded.positions.has(path) and not is_from_server:
            text = f"{path.removeprefix('spec.')} has no effect: a rolling update is not done"
            problems.append(_note(loaded, path, "Not emulated", text))
    problems += [_note(loaded, path, "No pods", text) for path, text in _makes_no_pods(obj)]
    claims = claim_names(cast("StatefulSet", obj)) if obj.kind == "StatefulSet" else ()
    if claims:
        names = ", ".join(claims)
        text = f"volumeClaimTemplates: no claim is made, each pod has an empty folder for {names} that goes with it"
        problems.append(_note(loaded, "spec.volumeClaimTemplates", "Not emulated", text))
    return problems


def _makes_no_pods(obj: object) -> Iterator[tuple[str, str]]:
    """Yield why a workload makes no pods as it is written: nobody edits it during a run."""
    kind, spec = getattr(obj, "kind", ""), getattr(obj, "spec", None)
    if kind == "Job" and cast("JobSpec", spec).suspend:
        yield "spec.suspend", "the Job is suspended: it makes no pods, and no run waits for it"
    elif kind == "Job" and cast("JobSpec", spec).parallelism == 0:
        yield "spec.parallelism", "parallelism is 0: the Job makes no pods, and no run waits for it"
    elif kind in _CONTROLLED and getattr(spec, "replicas", None) == 0:
        yield "spec.replicas", "replicas is 0: it makes no pods"
    elif kind == "Deployment" and getattr(spec, "paused", None):
        yield "spec.paused", "the Deployment is paused: it makes no pods, and no run waits for it"


def claim_names(stateful_set: StatefulSet) -> tuple[str, ...]:
    """Return the names of a StatefulSet's volumeClaimTemplates."""
    named = (claim.metadata for claim in stateful_set.spec.volume_claim_templates)
    return tuple(metadata.name for metadata in named if metadata is not None and metadata.name)


def _note(loaded: Loaded, path: str, kind: str, text: str) -> Problem:
    return loaded.problem(path, kind, text, severity="warning")


def as_created(obj: T, rng: Random) -> T:
    """Return an object as a create request leaves it: a name, a namespace, nothing that a server had filled in.

    Status, uid, resourceVersion, owners and the like of `kubectl get -o yaml` output are dropped; nodeName of pods too:
    there is one node.
    Source: kubernetes v1.36 rest.BeforeCreate.
    """
    metadata: ObjectMeta = obj.metadata  # type: ignore[attr-defined]
    name = metadata.name or (generate_name(metadata.generate_name, rng) if metadata.generate_name else None)
    created = evolve(
        metadata,
        name=name,
        namespace=metadata.namespace or "default",
        uid=None,
        resource_version=None,
        generation=None,
        creation_timestamp=None,
        deletion_timestamp=None,
        deletion_grace_period_seconds=None,
        self_link=None,
        managed_fields=(),
        owner_references=(),
    )
    result = changed(obj, metadata=created)
    kind = getattr(obj, "kind", "")
    if kind == "Pod":
        spec = cast("Pod", obj).spec
        return changed(result, spec=evolve(spec, node_name=None), status=api_type("PodStatus")())
    if kind == "Job":
        return _for_any_node(changed(result, status=api_type("JobStatus")()))
    if kind in _CONTROLLED:
        return _for_any_node(changed(result, status=None))
    if kind == "CronJob":
        cron = cast("CronJob", obj).spec
        return changed(result, spec=evolve(cron, job_template=_for_any_node(cron.job_template)), status=None)
    return result


def _for_any_node(obj: T) -> T:
    """Return what has a pod template without the name of a node in it."""
    spec = cast("Job", obj).spec
    template = evolve(spec.template, spec=evolve(spec.template.spec, node_name=None))
    return changed(obj, spec=changed(spec, template=template))


def generate_name(base: str, rng: Random) -> str:
    """Return a generateName with its five random characters (names.SimpleNameGenerator)."""
    return base[:_LONGEST_BASE] + random_suffix(rng)


def random_suffix(rng: Random, length: int = _SUFFIX_LENGTH) -> str:
    """Return random characters of the alphabet that Kubernetes makes names of (rand.String)."""
    return "".join(rng.choice(_ALPHABET) for _ in range(length))


def random_uid(rng: Random) -> str:
    """Return a random UUID of version 4."""
    bits = rng.getrandbits(128) & ~(0xF << 76 | 0x3 << 62) | (0x4 << 76 | 0x2 << 62)
    digits = f"{bits:032x}"
    return "-".join((digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:]))


def job_labels(name: str, uid: str) -> Mapping[str, str]:
    """Return the labels by which a Job knows its pods, with and without their prefix."""
    return {
        "controller-uid": uid,
        "job-name": name,
        f"{_JOB_PREFIX}controller-uid": uid,
        f"{_JOB_PREFIX}job-name": name,
    }
