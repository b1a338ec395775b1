"""The whole way of an object through a server: defaults, dropped fields, generated labels, validation, warnings.

`object_faults` is the server's answer; `validate` is that of loaded objects, each error with its line.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, cast

from attrs import evolve

from kubelet_emu.api.kinds import api_type
from kubelet_emu.manifests.defaults import set_defaults
from kubelet_emu.manifests.validation.create_warnings import pod_warnings
from kubelet_emu.manifests.validation.dropping import drop_disabled_fields, dropped_fields
from kubelet_emu.manifests.validation.faults import Fault
from kubelet_emu.manifests.validation.pod import validate_pod
from kubelet_emu.manifests.workloads import job_labels

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from kubelet_emu.api.apps_v1 import Deployment
    from kubelet_emu.api.batch_v1 import CronJob, Job
    from kubelet_emu.api.v1 import ConfigMap, Pod, Secret
    from kubelet_emu.api.v1_services import Service
    from kubelet_emu.manifests.loading import APIObject, Loaded
    from kubelet_emu.manifests.problems import Problem, Severity
    from kubelet_emu.manifests.validation.context import Gates
    from kubelet_emu.manifests.validation.dropping import Dropped

Subresource = Literal["", "resize", "ephemeralcontainers"]

_NOTHING = '"": must specify one of'
_WARNINGS = ("Warning", "Dropped")
_WORKLOADS = ("Deployment", "ReplicaSet", "StatefulSet", "DaemonSet")


def prepare(obj: APIObject, gates: Gates, *, job_uid: str = "") -> APIObject:
    """Return the object as the server stores it: defaults, without disabled fields, a Job with selector and labels.

    A field that is dropped gives no defaults to others, and the default of a disabled field isn't kept either.
    """
    prepared = drop_disabled_fields(set_defaults(drop_disabled_fields(obj, gates)), gates)
    return _with_selector(cast("Job", prepared), job_uid) if prepared.kind == "Job" else prepared


def _with_selector(job: Job, uid: str) -> Job:
    """Return a Job with the selector and the labels that are made of its uid, if it has one yet."""
    if job.spec.manual_selector or not uid:
        return job
    selector = job.spec.selector or api_type("LabelSelector")()
    matched = {**selector.match_labels, "batch.kubernetes.io/controller-uid": uid}
    generated = job_labels(job.metadata.name or "", uid)
    template = job.spec.template
    own = template.metadata.labels
    labels = {**own, **generated, **{key: own[key] for key in ("job-name", "controller-uid") if key in own}}
    template = evolve(template, metadata=evolve(template.metadata, labels=labels))
    spec = evolve(job.spec, selector=evolve(selector, match_labels=matched), template=template)
    return evolve(job, metadata=evolve(job.metadata, uid=uid), spec=spec)


def object_faults(obj: APIObject, gates: Gates, *, job_uid: str = "") -> tuple[Fault, ...]:
    """Return what a server refuses at the creation of an object.

    `job_uid` is the uid that the server gives a Job: with it selector and labels are generated and checked.
    """
    prepared = prepare(obj, gates, job_uid=job_uid)
    return tuple(_faults(prepared, obj, gates))


def _faults(prepared: APIObject, written: APIObject, gates: Gates) -> Iterator[Fault]:
    """Check an object by its kind; the checks of a kind are imported with the first object of it."""
    kind = prepared.kind
    if kind == "Pod":
        yield from validate_pod(cast("Pod", prepared), gates)
    elif kind == "Job":
        from kubelet_emu.manifests.validation.job import validate_job  # noqa: PLC0415

        yield from validate_job(cast("Job", prepared), gates)
    elif kind == "CronJob":
        from kubelet_emu.manifests.validation.cron_job import validate_cron_job  # noqa: PLC0415

        yield from validate_cron_job(cast("CronJob", prepared), gates)
    elif kind in _WORKLOADS:
        from kubelet_emu.manifests.validation.workloads import validate_workload  # noqa: PLC0415

        yield from validate_workload(cast("Deployment", prepared), gates)
    elif kind == "Service":
        from kubelet_emu.manifests.validation.service import validate_service  # noqa: PLC0415

        yield from validate_service(cast("Service", prepared))
    else:
        from kubelet_emu.manifests.validation.configuration import validate_config_map, validate_secret  # noqa: PLC0415

        if kind == "ConfigMap":
            yield from validate_config_map(cast("ConfigMap", prepared))
        else:
            yield from validate_secret(cast("Secret", prepared), cast("Secret", written))


def object_warnings(obj: APIObject, gates: Gates) -> tuple[Fault, ...]:
    """Return what a server warns of at the creation of an object."""
    prepared = prepare(obj, gates)
    if prepared.kind == "Pod":
        pod = cast("Pod", prepared)
        return tuple(pod_warnings(pod.spec, pod.metadata))
    if prepared.kind == "Job" or prepared.kind in _WORKLOADS:
        template = cast("Job", prepared).spec.template
        return tuple(pod_warnings(template.spec, template.metadata, "spec.template.spec", is_template=True))
    if prepared.kind == "CronJob":
        from kubelet_emu.manifests.validation.cron_job import refused_jobs  # noqa: PLC0415

        cron_job = cast("CronJob", prepared)
        template = cron_job.spec.job_template.spec.template
        at = "spec.jobTemplate.spec.template.spec"
        warnings = pod_warnings(template.spec, template.metadata, at, is_template=True)
        return (*warnings, *refused_jobs(cron_job, gates))
    return ()


def gate_faults(obj: APIObject, gates: Gates) -> tuple[Fault, ...]:
    """Return a warning for each field whose gate is off, an error for each that the version doesn't know."""
    return tuple(_gate_fault(dropped, gates) for dropped in dropped_fields(obj, gates))


def _gate_fault(dropped: Dropped, gates: Gates) -> Fault:
    gated, name, version = dropped.gated, dropped.path.rpartition(".")[2], f"Kubernetes 1.{gates.minor}"
    on_since = gates.on_since(gated.gate)
    if gates.minor < gated.since:
        first = f"--kubernetes 1.{on_since or gated.since}"
        hint = f"leave it out, or choose {first}" + (", where it is on by default" if on_since else "")
        what = f"{name} but {gated.unless}: others" if gated.unless else f"{name}: it"
        return Fault(dropped.path, "Unknown field", f"{version} has no {what} came with 1.{gated.since}", hint=hint)
    text = f"{name} has no effect: its feature gate {gated.gate} is off in {version}"
    first = "" if on_since is None or on_since <= gates.minor else f"it is on by default since 1.{on_since}; "
    hint = f"{first}featureGates: {{{gated.gate}: true}} in a file for --config switches it on"
    return Fault(dropped.path, "Dropped", text, hint=hint)


def update_faults(new: APIObject, old: APIObject, gates: Gates, subresource: Subresource = "") -> tuple[Fault, ...]:
    """Return what a server refuses at a change; both objects as they are written, without defaults."""
    uid = "11111111-2222-3333-4444-555555555555"
    from kubelet_emu.manifests.validation.canonical import canonical  # noqa: PLC0415

    wanted, given = (canonical(prepare(each, gates, job_uid=uid)) for each in (new, old))
    if wanted.kind == "Job":
        from kubelet_emu.manifests.validation.job_update import job_update_faults  # noqa: PLC0415

        return tuple(job_update_faults(cast("Job", wanted), cast("Job", given), gates))
    from kubelet_emu.manifests.validation import resize, update  # noqa: PLC0415

    pod, before = cast("Pod", wanted), cast("Pod", given)
    match subresource:
        case "resize":
            return tuple(resize.pod_resize_faults(pod, before, gates))
        case "ephemeralcontainers":
            return tuple(update.ephemeral_update_faults(pod, before, gates))
        case _:
            return tuple(update.pod_update_faults(pod, before, gates))


def validate(loaded: Iterable[Loaded], gates: Gates) -> tuple[Problem, ...]:
    """Return errors and warnings of loaded objects, each at its line, as the default cluster would have them.

    Pods get the service account `default` first, as its admission does.
    """
    problems: dict[Problem, None] = {}
    for each in loaded:
        obj = _admit(each.object)
        faults = (*object_faults(obj, gates), *object_warnings(obj, gates), *gate_faults(each.object, gates))
        refused = {fault.path for fault in faults if fault.type not in _WARNINGS}
        told = [
            _problem(each, fault)
            for fault in faults
            if not _is_consequence(fault, each) and not (fault.type == "Warning" and fault.path in refused)
        ]
        problems.update(dict.fromkeys(sorted(told, key=lambda one: (one.line, one.column))))
    return tuple(problems)


def _is_consequence(fault: Fault, loaded: Loaded) -> bool:
    """Tell whether a fault only follows from another one: a field that could not be read, or a defaulted request."""
    path = fault.at or fault.path
    for faulty in loaded.faulty_paths:
        if path == faulty or path.startswith((f"{faulty}.", f"{faulty}[")):
            return True
        is_of_nothing = fault.type == "Required value" or fault.detail.startswith(_NOTHING)
        if is_of_nothing and faulty.startswith((f"{path}.", f"{path}[")):
            return True
    limit = path.replace(".requests[", ".limits[")
    return limit != path and not loaded.positions.has(path) and loaded.positions.has(limit)


def _admit(obj: APIObject) -> APIObject:
    if obj.kind != "Pod":
        return obj
    pod = cast("Pod", obj)
    name = pod.spec.service_account_name or pod.spec.service_account or "default"
    return evolve(pod, spec=evolve(pod.spec, service_account_name=name))


def _problem(loaded: Loaded, fault: Fault) -> Problem:
    from kubelet_emu.manifests.validation.hints import hint_of  # noqa: PLC0415 - only a faulty manifest pays for it

    severity: Severity = "warning" if fault.type in _WARNINGS else "error"
    problem = loaded.problem(fault.at or fault.path, fault.type, fault.detail, hint=hint_of(fault), severity=severity)
    return evolve(problem, path=fault.path)
