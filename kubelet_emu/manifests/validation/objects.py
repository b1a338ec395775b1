"""The whole way of an object through a server: defaults, dropped fields, generated labels, validation, warnings.

`object_faults` is the server's answer; `validate` is that of loaded objects, each error with its line.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, cast

from attrs import evolve

from kubelet_emu.api.kinds import api_type
from kubelet_emu.manifests.defaults import set_defaults
from kubelet_emu.manifests.validation.configuration import validate_config_map, validate_secret
from kubelet_emu.manifests.validation.create_warnings import pod_warnings
from kubelet_emu.manifests.validation.dropping import drop_disabled_fields
from kubelet_emu.manifests.validation.faults import Fault, required
from kubelet_emu.manifests.validation.job import validate_job, validate_job_spec
from kubelet_emu.manifests.validation.metadata import selector_matches, validate_metadata
from kubelet_emu.manifests.validation.pod import validate_pod, validate_template
from kubelet_emu.manifests.validation.update import (
    ephemeral_update_faults,
    job_update_faults,
    pod_resize_faults,
    pod_update_faults,
)
from kubelet_emu.manifests.workloads import job_labels

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from kubelet_emu.api.apps_v1 import Deployment
    from kubelet_emu.api.batch_v1 import CronJob, Job
    from kubelet_emu.api.v1 import ConfigMap, Pod, PodTemplateSpec, Secret
    from kubelet_emu.api.v1_services import Service
    from kubelet_emu.manifests.loading import APIObject, Loaded
    from kubelet_emu.manifests.problems import Problem, Severity
    from kubelet_emu.manifests.validation.context import Gates

Subresource = Literal["", "resize", "ephemeralcontainers"]

_WORKLOADS = ("Deployment", "ReplicaSet", "StatefulSet", "DaemonSet")


def prepare(obj: APIObject, gates: Gates, *, job_uid: str = "") -> APIObject:
    """Return the object as the server stores it: defaults, without disabled fields, a Job with selector and labels."""
    defaulted = set_defaults(obj)
    if defaulted.kind == "Pod":
        pod = cast("Pod", defaulted)
        return evolve(pod, spec=drop_disabled_fields(pod.spec, gates))
    if defaulted.kind == "Job":
        return _prepare_job(cast("Job", defaulted), gates, job_uid)
    return defaulted


def _prepare_job(job: Job, gates: Gates, uid: str) -> Job:
    template = evolve(job.spec.template, spec=drop_disabled_fields(job.spec.template.spec, gates))
    prepared = evolve(job, spec=evolve(job.spec, template=template))
    if job.spec.manual_selector or not uid:
        return prepared
    selector = job.spec.selector or api_type("LabelSelector")()
    matched = {**selector.match_labels, "batch.kubernetes.io/controller-uid": uid}
    generated = job_labels(job.metadata.name or "", uid)
    own = template.metadata.labels
    labels = {**own, **generated, **{key: own[key] for key in ("job-name", "controller-uid") if key in own}}
    template = evolve(template, metadata=evolve(template.metadata, labels=labels))
    spec = evolve(prepared.spec, selector=evolve(selector, match_labels=matched), template=template)
    return evolve(prepared, metadata=evolve(job.metadata, uid=uid), spec=spec)


def object_faults(obj: APIObject, gates: Gates, *, job_uid: str = "") -> tuple[Fault, ...]:
    """Return what a server refuses at the creation of an object.

    `job_uid` is the uid that the server gives a Job: with it selector and labels are generated and checked.
    """
    prepared = prepare(obj, gates, job_uid=job_uid)
    match prepared.kind:
        case "Pod":
            return tuple(validate_pod(cast("Pod", prepared), gates))
        case "Job":
            return tuple(validate_job(cast("Job", prepared), gates))
        case "CronJob":
            return tuple(_cron_job_faults(cast("CronJob", prepared), gates))
        case "ConfigMap":
            return tuple(validate_config_map(cast("ConfigMap", prepared)))
        case "Secret":
            return tuple(validate_secret(cast("Secret", prepared), cast("Secret", obj)))
        case "Service":
            from kubelet_emu.manifests.validation.service import validate_service  # noqa: PLC0415 - few have one

            return tuple(validate_service(cast("Service", prepared)))
        case kind if kind in _WORKLOADS:
            return tuple(_workload_faults(cast("Deployment", prepared), gates))
        case _:
            return tuple(validate_metadata(prepared.metadata))


def _cron_job_faults(cron_job: CronJob, gates: Gates) -> Iterator[Fault]:
    yield from validate_metadata(cron_job.metadata)
    if not cron_job.spec.schedule:
        yield required("spec.schedule")
    yield from validate_job_spec(cron_job.spec.job_template.spec, "spec.jobTemplate.spec", gates)


def _workload_faults(workload: Deployment, gates: Gates) -> Iterator[Fault]:
    """Check a workload's selector and template (ValidatePodTemplateSpecForReplicaSet)."""
    yield from validate_metadata(workload.metadata)
    selector, template = workload.spec.selector, workload.spec.template
    if not selector.match_labels and not selector.match_expressions:
        yield required("spec.selector")
    elif not selector_matches(selector, template.metadata.labels):
        text = "`selector` does not match template `labels`"
        yield Fault("spec.template.metadata.labels", "Invalid value", f"{dict(template.metadata.labels)}: {text}")
    yield from validate_template(_with_claims(workload), "spec.template", gates)
    if template.spec.restart_policy in ("OnFailure", "Never"):
        at = "spec.template.spec.restartPolicy"
        yield Fault(at, "Unsupported value", f'"{template.spec.restart_policy}": supported values: "Always"')


def _with_claims(workload: Deployment) -> PodTemplateSpec:
    """Return the template with a volume for each claim that a StatefulSet makes.

    Differs: a server doesn't check a StatefulSet's pod spec at all; its pods are refused later.
    """
    template = workload.spec.template
    claims = getattr(workload.spec, "volume_claim_templates", ())
    source = api_type("PersistentVolumeClaimVolumeSource")
    volumes = [
        api_type("Volume")(name=each.metadata.name, persistent_volume_claim=source(claim_name=each.metadata.name))
        for each in claims
        if each.metadata is not None and each.metadata.name
    ]
    return evolve(template, spec=evolve(template.spec, volumes=(*template.spec.volumes, *volumes)))


def object_warnings(obj: APIObject, gates: Gates) -> tuple[Fault, ...]:
    """Return what a server warns of at the creation of an object."""
    prepared = prepare(obj, gates)
    if prepared.kind == "Pod":
        pod = cast("Pod", prepared)
        return tuple(pod_warnings(pod.spec, pod.metadata))
    if prepared.kind == "Job" or prepared.kind in _WORKLOADS:
        template = cast("Job", prepared).spec.template
        return tuple(pod_warnings(template.spec, template.metadata, "spec.template.spec", is_template=True))
    return ()


def update_faults(new: APIObject, old: APIObject, gates: Gates, subresource: Subresource = "") -> tuple[Fault, ...]:
    """Return what a server refuses at a change; both objects as they are written, without defaults."""
    uid = "11111111-2222-3333-4444-555555555555"
    wanted, given = prepare(new, gates, job_uid=uid), prepare(old, gates, job_uid=uid)
    if wanted.kind == "Job":
        changes = job_update_faults(cast("Job", wanted), cast("Job", given))
        return (*validate_job(cast("Job", wanted), gates), *changes)
    pod, before = cast("Pod", wanted), cast("Pod", given)
    created = tuple(each for each in validate_pod(pod, gates) if each.detail != "cannot be set on create")
    match subresource:
        case "resize":
            return (*created, *pod_resize_faults(pod, before))
        case "ephemeralcontainers":
            return (*created, *ephemeral_update_faults(pod, before))
        case _:
            return (*created, *pod_update_faults(pod, before))


def validate(loaded: Iterable[Loaded], gates: Gates) -> tuple[Problem, ...]:
    """Return errors and warnings of loaded objects, each at its line, as the default cluster would have them.

    Pods get the service account `default` first, as its admission does.
    """
    problems: dict[Problem, None] = {}
    for each in loaded:
        obj = _admit(each.object)
        faults = (*object_faults(obj, gates), *object_warnings(obj, gates))
        told = [_problem(each, fault) for fault in faults if not _is_consequence(fault, each)]
        problems.update(dict.fromkeys(sorted(told, key=lambda one: (one.line, one.column))))
    return tuple(problems)


def _is_consequence(fault: Fault, loaded: Loaded) -> bool:
    """Tell whether a fault only follows from another one: a field that could not be read, or a defaulted request."""
    path = fault.at or fault.path
    for faulty in loaded.faulty_paths:
        if path == faulty or path.startswith((f"{faulty}.", f"{faulty}[")):
            return True
        if fault.type == "Required value" and faulty.startswith((f"{path}.", f"{path}[")):
            return True
    limit = path.replace(".requests[", ".limits[")
    return limit != path and not loaded.positions.has(path) and loaded.positions.has(limit)


def _admit(obj: APIObject) -> APIObject:
    if obj.kind != "Pod":
        return obj
    pod = cast("Pod", obj)
    name = pod.spec.service_account_name or pod.spec.service_account or "default"
    return evolve(pod, spec=evolve(pod.spec, service_account_name=name, node_name=None))


def _problem(loaded: Loaded, fault: Fault) -> Problem:
    severity: Severity = "warning" if fault.type == "Warning" else "error"
    problem = loaded.problem(fault.at or fault.path, fault.type, fault.detail, hint=fault.hint, severity=severity)
    return evolve(problem, path=fault.path)
