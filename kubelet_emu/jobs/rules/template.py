"""The pods that a Job makes from its template."""

from __future__ import annotations

from typing import TYPE_CHECKING

from attrs import evolve

from kubelet_emu.api.controller_ref import new_controller_ref
from kubelet_emu.api.meta import LabelSelector, ObjectMeta
from kubelet_emu.api.v1 import Pod
from kubelet_emu.api.v1_environment import EnvVar, EnvVarSource, ObjectFieldSelector
from kubelet_emu.jobs.rules import words
from kubelet_emu.jobs.rules.indexes import pod_generate_name_with_index
from kubelet_emu.manifests.defaults import set_defaults

if TYPE_CHECKING:
    from kubelet_emu.api.batch_v1 import Job
    from kubelet_emu.api.v1 import Container
    from kubelet_emu.jobs.rules.manage import PodToCreate


def job_labels(job: Job) -> dict[str, str]:
    """Return the labels that tie a pod to its Job, both spellings of each (jobStrategy generateSelector)."""
    name, uid = job.metadata.name or "", job.metadata.uid or ""
    return {
        words.CONTROLLER_UID_LABEL: uid,
        words.JOB_NAME_LABEL: name,
        words.LEGACY_CONTROLLER_UID_LABEL: uid,
        words.LEGACY_JOB_NAME_LABEL: name,
    }


def with_generated_selector(job: Job) -> Job:
    """Return a Job as the API server stores it: selector and template labels by its uid, unless manualSelector.

    Source: registry/batch/job generateSelector. The Job needs its uid.
    """
    if job.spec.manual_selector:
        return job
    template = job.spec.template
    labels = {**template.metadata.labels, **job_labels(job)}
    template = evolve(template, metadata=evolve(template.metadata, labels=labels))
    return evolve(job, spec=evolve(job.spec, selector=selector_of(job), template=template))


def selector_of(job: Job) -> LabelSelector:
    """Return the selector that the API server gives a Job, or its own manual one (generateSelector)."""
    if job.spec.manual_selector:
        return job.spec.selector or LabelSelector()
    return LabelSelector(match_labels={words.CONTROLLER_UID_LABEL: job.metadata.uid or ""})


def make_pod(job: Job, wanted: PodToCreate) -> Pod:
    """Return a pod as the controller asks for it and a server completes it, named by generateName.

    Source: pkg/controller/job manageJob, controller GetPodFromTemplate, SetDefaults_Pod.
    """
    spec = with_generated_selector(job).spec.template.spec
    metadata = _metadata(job, wanted)
    if wanted.index is not None:
        spec = evolve(
            spec,
            hostname=f"{job.metadata.name}-{wanted.index}",
            init_containers=tuple(map(_with_index_variable, spec.init_containers)),
            containers=tuple(map(_with_index_variable, spec.containers)),
        )
    return set_defaults(Pod(metadata=metadata, spec=spec))


def _metadata(job: Job, wanted: PodToCreate) -> ObjectMeta:
    """Return labels, annotations, owner and finalizer of a pod (manageJob)."""
    template = with_generated_selector(job).spec.template.metadata
    labels, annotations = dict(template.labels), dict(template.annotations)
    generate_name = f"{job.metadata.name}-"
    if wanted.index is not None:
        labels[words.COMPLETION_INDEX] = annotations[words.COMPLETION_INDEX] = str(wanted.index)
        generate_name = pod_generate_name_with_index(job.metadata.name or "", wanted.index)
    if wanted.failure_count is not None:
        annotations[words.INDEX_FAILURE_COUNT] = str(wanted.failure_count)
    if wanted.ignored_failure_count:
        annotations[words.INDEX_IGNORED_FAILURE_COUNT] = str(wanted.ignored_failure_count)
    finalizers = dict.fromkeys((*template.finalizers, words.TRACKING_FINALIZER))
    return ObjectMeta(
        generate_name=generate_name,
        namespace=job.metadata.namespace,
        labels=labels,
        annotations=annotations,
        finalizers=tuple(finalizers),
        owner_references=(new_controller_ref(job),),
    )


def _with_index_variable(container: Container) -> Container:
    """Add JOB_COMPLETION_INDEX unless the container defines it (addCompletionIndexEnvVariable)."""
    if any(variable.name == words.COMPLETION_INDEX_ENV for variable in container.env):
        return container
    source = ObjectFieldSelector(api_version="v1", field_path=f"metadata.labels['{words.COMPLETION_INDEX}']")
    variable = EnvVar(name=words.COMPLETION_INDEX_ENV, value_from=EnvVarSource(field_ref=source))
    return evolve(container, env=(*container.env, variable))
