"""What of the loaded objects runs: Pods and Jobs as they are, one pod of a Deployment; the objects that pods refer to.

Generated values (names, uids) come from the caller's random numbers, so that a run can be repeated.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypeVar, cast

from attrs import evolve, frozen

from kubelet_emu.api.codec import encode
from kubelet_emu.api.kinds import api_type
from kubelet_emu.manifests.changing import changed

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from random import Random

    from kubelet_emu.api.apps_v1 import Deployment
    from kubelet_emu.api.batch_v1 import Job
    from kubelet_emu.api.meta import ObjectMeta, OwnerReference
    from kubelet_emu.api.v1 import ConfigMap, Container, Pod, PodSpec, PodTemplateSpec, Secret
    from kubelet_emu.api.v1_environment import EnvVar
    from kubelet_emu.manifests.loading import Loaded
    from kubelet_emu.manifests.problems import Problem

T = TypeVar("T")

_ALPHABET = "bcdfghjklmnpqrstvwxz2456789"
_SUFFIX_LENGTH = 5
_LONGEST_BASE = 58
_JOB_PREFIX = "batch.kubernetes.io/"
JOB_TRACKING_FINALIZER = "batch.kubernetes.io/job-tracking"


@frozen(kw_only=True)
class Runnable:
    """An object that runs or is stored, where it was written, and where its pod spec stands in that manifest."""

    object: Pod | Job | ConfigMap | Secret
    loaded: Loaded
    spec_path: str = "spec"

    @property
    def pod_spec(self) -> PodSpec | None:
        """Return the spec of its pods; None for what is only stored."""
        match self.object.kind:
            case "Pod":
                return cast("Pod", self.object).spec
            case "Job":
                return cast("Job", self.object).spec.template.spec
            case _:
                return None


@frozen(kw_only=True)
class Expansion:
    """What runs, what pods may refer to, and what is not run."""

    runnables: tuple[Runnable, ...] = ()
    stored: tuple[Runnable, ...] = ()
    problems: tuple[Problem, ...] = ()


def expand(loaded: Iterable[Loaded], rng: Random) -> Expansion:
    """Sort loaded objects into those that run, those that are stored, and warnings for those that do neither."""
    runnables: list[Runnable] = []
    stored: list[Runnable] = []
    problems: list[Problem] = []
    for each in loaded:
        obj = each.object
        problems += _dropped_note(each)
        match obj.kind:
            case "Pod":
                runnables.append(Runnable(object=as_created(obj, rng), loaded=each))  # type: ignore[arg-type]
            case "Job":
                job = as_created(obj, rng)
                runnables.append(Runnable(object=job, loaded=each, spec_path="spec.template.spec"))  # type: ignore[arg-type]
            case "Deployment":
                pod = pod_of_deployment(obj, rng)  # type: ignore[arg-type]
                runnables.append(Runnable(object=pod, loaded=each, spec_path="spec.template.spec"))
                problems += _replica_note(obj, each)  # type: ignore[arg-type]
            case "ConfigMap" | "Secret":
                stored.append(Runnable(object=as_created(obj, rng), loaded=each))  # type: ignore[arg-type]
            case _:
                problems.append(_not_run(each))
    return Expansion(runnables=tuple(runnables), stored=tuple(stored), problems=tuple(problems))


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
    return _note(loaded, "kind", "Not run", f"{loaded.object.kind}/{name} is not run")


def _replica_note(deployment: Deployment, loaded: Loaded) -> list[Problem]:
    replicas = deployment.spec.replicas
    if replicas in (None, 1):
        return []
    text = f"replicas is {replicas}, one pod of Deployment/{deployment.metadata.name} is run"
    return [_note(loaded, "spec.replicas", "Not emulated", text)]


def _note(loaded: Loaded, path: str, kind: str, text: str) -> Problem:
    return loaded.problem(path, kind, text, severity="warning")


def as_created(obj: T, rng: Random) -> T:
    """Return an object as a create request leaves it: a name, a namespace, nothing that a server had filled in.

    Status, uid, resourceVersion, owners and the like of `kubectl get -o yaml` output are dropped; a pod's nodeName too.
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
        result = changed(result, spec=evolve(spec, node_name=None), status=api_type("PodStatus")())
    elif kind == "Job":
        result = changed(result, status=api_type("JobStatus")())
    return result


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


def template_hash(template: PodTemplateSpec) -> str:
    """Return a short hash of a pod template, as pod-template-hash labels have it.

    Differs: the controller hashes Go's print of the struct, this one hashes the API's JSON form.
    """
    import json  # noqa: PLC0415 - start-up is felt first

    text = json.dumps(encode(template), sort_keys=True, separators=(",", ":"))
    value = 0x811C9DC5
    for byte in text.encode():
        value = ((value ^ byte) * 0x01000193) & 0xFFFFFFFF
    return "".join(_ALPHABET[ord(digit) % len(_ALPHABET)] for digit in str(value))


def pod_of_deployment(deployment: Deployment, rng: Random) -> Pod:
    """Return one pod as the Deployment's ReplicaSet would make it: NAME-HASH-RANDOM, with its labels and owner."""
    template = deployment.spec.template
    digest = template_hash(template)
    name = deployment.metadata.name or generate_name(deployment.metadata.generate_name or "deployment-", rng)
    owner = _owner("apps/v1", "ReplicaSet", f"{name}-{digest}", random_uid(rng))
    labels = {**template.metadata.labels, "pod-template-hash": digest}
    namespace = deployment.metadata.namespace
    return pod_from_template(
        template, generate=f"{name}-{digest}-", namespace=namespace, owner=owner, labels=labels, rng=rng
    )


def pod_of_job(job: Job, rng: Random, *, index: int | None = None) -> Pod:
    """Return a pod as the Job controller makes it; `index` is the completion index of an Indexed Job.

    The Job needs its name and uid. Source: kubernetes v1.36 job controller newPodTemplate and manageJob.
    """
    name, uid = job.metadata.name or "", job.metadata.uid or ""
    labels = {**job.spec.template.metadata.labels, **job_labels(name, uid)}
    template = job.spec.template
    stem = name
    if index is not None:
        key = f"{_JOB_PREFIX}job-completion-index"
        labels[key] = str(index)
        annotations = {**template.metadata.annotations, key: str(index)}
        hostname = template.spec.hostname or f"{name}-{index}"
        template = evolve(
            template,
            metadata=evolve(template.metadata, annotations=annotations),
            spec=_with_completion_index(evolve(template.spec, hostname=hostname)),
        )
        stem = f"{name}-{index}"
    owner = _owner("batch/v1", "Job", name, uid)
    pod = pod_from_template(
        template, generate=f"{stem}-", namespace=job.metadata.namespace, owner=owner, labels=labels, rng=rng
    )
    finalizers = (*pod.metadata.finalizers, JOB_TRACKING_FINALIZER)
    return evolve(pod, metadata=evolve(pod.metadata, finalizers=finalizers))


def job_labels(name: str, uid: str) -> Mapping[str, str]:
    """Return the labels by which a Job knows its pods, with and without their prefix."""
    return {
        "controller-uid": uid,
        "job-name": name,
        f"{_JOB_PREFIX}controller-uid": uid,
        f"{_JOB_PREFIX}job-name": name,
    }


def _with_completion_index(spec: PodSpec) -> PodSpec:
    label = f"metadata.labels['{_JOB_PREFIX}job-completion-index']"
    field_ref = api_type("ObjectFieldSelector")(api_version="v1", field_path=label)
    variable: EnvVar = api_type("EnvVar")(
        name="JOB_COMPLETION_INDEX", value_from=api_type("EnvVarSource")(field_ref=field_ref)
    )
    return evolve(
        spec,
        containers=tuple(_with_variable(each, variable) for each in spec.containers),
        init_containers=tuple(_with_variable(each, variable) for each in spec.init_containers),
    )


def _with_variable(container: Container, variable: EnvVar) -> Container:
    if any(each.name == variable.name for each in container.env):
        return container
    return evolve(container, env=(*container.env, variable))


def pod_from_template(
    template: PodTemplateSpec,
    *,
    generate: str,
    namespace: str | None,
    owner: OwnerReference,
    labels: Mapping[str, str],
    rng: Random,
) -> Pod:
    """Return a pod of a template, owned by a controller, named `generate` plus five random characters.

    Source: kubernetes v1.36 controller.GetPodFromTemplate.
    """
    metadata = api_type("ObjectMeta")(
        name=generate_name(generate, rng),
        generate_name=generate,
        namespace=namespace or "default",
        labels=dict(labels),
        annotations=dict(template.metadata.annotations),
        finalizers=template.metadata.finalizers,
        owner_references=(owner,),
    )
    pod: Pod = api_type("Pod")(metadata=metadata, spec=template.spec)
    return pod


def _owner(api_version: str, kind: Literal["Job", "ReplicaSet"], name: str, uid: str) -> OwnerReference:
    owner: OwnerReference = api_type("OwnerReference")(
        api_version=api_version, kind=kind, name=name, uid=uid, controller=True, block_owner_deletion=True
    )
    return owner
