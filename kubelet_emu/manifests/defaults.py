"""Defaults as the API server sets them on Pods, Jobs and everything with a pod template.

Pure: objects in, objects out; nothing is generated here (names, uids: `workloads`). Some defaults are for Pods alone
and not for templates. Source: kubernetes v1.36 SetDefaults_* of core/v1, batch/v1, apps/v1.
"""

from __future__ import annotations

from decimal import ROUND_CEILING, Decimal
from typing import TYPE_CHECKING, TypeVar, cast

from attrs import evolve

from kubelet_emu.api.image_names import default_pull_policy
from kubelet_emu.api.kinds import api_type
from kubelet_emu.api.quantity import Quantity, format_quantity, parse_quantity, quantity_format
from kubelet_emu.manifests.aggregates import aggregate_requests, is_pod_level_resource
from kubelet_emu.manifests.changing import changed
from kubelet_emu.manifests.volume_defaults import default_volume

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kubelet_emu.api.apps_v1 import Deployment, DeploymentSpec
    from kubelet_emu.api.batch_v1 import CronJob, Job, JobSpec, PodFailurePolicy
    from kubelet_emu.api.v1 import (
        Container,
        ContainerPort,
        EphemeralContainer,
        Pod,
        PodSpec,
        PodTemplateSpec,
        ResourceRequirements,
        Secret,
    )
    from kubelet_emu.api.v1_environment import EnvVar
    from kubelet_emu.api.v1_handlers import HTTPGetAction, Lifecycle, LifecycleHandler, Probe

T = TypeVar("T")
AnyContainer = TypeVar("AnyContainer", "Container", "EphemeralContainer")

_MILLI = Decimal("0.001")
_UNLIMITED_BACKOFF = 2**31 - 1


def set_defaults(obj: T) -> T:
    """Return the object with the API server's defaults; kinds without any are returned as they are."""
    kind = getattr(obj, "kind", "")
    if kind == "Pod":
        pod = cast("Pod", obj)
        return changed(obj, spec=_default_pod_only(default_pod_spec(pod.spec)))
    if kind == "Job":
        return cast("T", default_job(cast("Job", obj)))
    if kind == "CronJob":
        return cast("T", _default_cron_job(cast("CronJob", obj)))
    if kind in ("Deployment", "ReplicaSet", "StatefulSet", "DaemonSet"):
        return changed(obj, spec=_default_workload_spec(cast("Deployment", obj).spec, kind))
    if kind == "Secret":
        return cast("T", _default_secret(cast("Secret", obj)))
    return obj


def _default_secret(secret: Secret) -> Secret:
    """Return the secret with `stringData` put into `data`, which it wins over, and its type (core.v1 conversion)."""
    written = {key: text.encode() for key, text in secret.string_data.items()}
    data = {**secret.data, **written} if written else secret.data
    return changed(secret, data=data, string_data={}, type=secret.type or "Opaque")


def _default_workload_spec(spec: DeploymentSpec, kind: str) -> DeploymentSpec:
    defaulted = changed(spec, template=_default_template(spec.template))
    return defaulted if kind == "DaemonSet" else changed(defaulted, replicas=_or(spec.replicas, 1))


def _default_template(template: PodTemplateSpec) -> PodTemplateSpec:
    return evolve(template, spec=default_pod_spec(template.spec))


def default_job(job: Job) -> Job:
    """Return a Job with defaults (SetDefaults_Job)."""
    spec = default_job_spec(job.spec)
    labels = job.metadata.labels or spec.template.metadata.labels
    return evolve(job, metadata=evolve(job.metadata, labels=labels), spec=spec)


def default_job_spec(spec: JobSpec) -> JobSpec:
    """Return a JobSpec with defaults; completions stay open for a work queue (parallelism alone)."""
    is_plain = spec.completions is None and spec.parallelism is None
    backoff_limit = 6 if spec.backoff_limit_per_index is None else _UNLIMITED_BACKOFF
    return evolve(
        spec,
        template=_default_template(spec.template),
        completions=1 if is_plain else spec.completions,
        parallelism=_or(spec.parallelism, 1),
        backoff_limit=_or(spec.backoff_limit, backoff_limit),
        completion_mode=spec.completion_mode or "NonIndexed",
        suspend=_or(spec.suspend, default=False),
        manual_selector=spec.manual_selector,
        pod_failure_policy=_default_failure_policy(spec.pod_failure_policy),
        pod_replacement_policy=spec.pod_replacement_policy
        or ("Failed" if spec.pod_failure_policy is not None else "TerminatingOrFailed"),
    )


def _default_failure_policy(policy: PodFailurePolicy | None) -> PodFailurePolicy | None:
    if policy is None:
        return None
    rules = tuple(
        evolve(
            rule,
            on_pod_conditions=tuple(evolve(each, status=each.status or "True") for each in rule.on_pod_conditions),
        )
        for rule in policy.rules
    )
    return evolve(policy, rules=rules)


def _default_cron_job(cron_job: CronJob) -> CronJob:
    spec = cron_job.spec
    defaulted = evolve(
        spec,
        job_template=evolve(spec.job_template, spec=default_job_spec(spec.job_template.spec)),
        concurrency_policy=spec.concurrency_policy or "Allow",
        suspend=_or(spec.suspend, default=False),
        successful_jobs_history_limit=_or(spec.successful_jobs_history_limit, 3),
        failed_jobs_history_limit=_or(spec.failed_jobs_history_limit, 1),
    )
    return evolve(cron_job, spec=defaulted)


def default_pod_spec(spec: PodSpec) -> PodSpec:
    """Return a PodSpec with the defaults that Pods and templates share (SetDefaults_PodSpec and below)."""
    return evolve(
        spec,
        containers=tuple(_default_container(each) for each in spec.containers),
        init_containers=tuple(_default_container(each) for each in spec.init_containers),
        ephemeral_containers=tuple(_default_container(each) for each in spec.ephemeral_containers),
        volumes=tuple(default_volume(each) for each in spec.volumes),
        resources=_round_resources(spec.resources),
        overhead=_round_up(spec.overhead),
        dns_policy=spec.dns_policy or "ClusterFirst",
        restart_policy=spec.restart_policy or "Always",
        security_context=_or(spec.security_context, api_type("PodSecurityContext")()),
        termination_grace_period_seconds=_or(spec.termination_grace_period_seconds, 30),
        scheduler_name=spec.scheduler_name or "default-scheduler",
        service_account=spec.service_account_name or spec.service_account,
        service_account_name=spec.service_account_name or spec.service_account,
    )


def _or(value: T | None, default: T) -> T:
    return default if value is None else value


def _default_container(container: AnyContainer) -> AnyContainer:
    return evolve(
        container,
        image_pull_policy=container.image_pull_policy or default_pull_policy(container.image or ""),
        termination_message_path=container.termination_message_path or "/dev/termination-log",
        termination_message_policy=container.termination_message_policy or "File",
        ports=tuple(evolve(each, protocol=each.protocol or "TCP") for each in container.ports),
        env=tuple(_default_env(each) for each in container.env),
        liveness_probe=_default_probe(container.liveness_probe),
        readiness_probe=_default_probe(container.readiness_probe),
        startup_probe=_default_probe(container.startup_probe),
        lifecycle=_default_lifecycle(container.lifecycle),
        resources=_round_resources(container.resources),
    )


def _default_env(variable: EnvVar) -> EnvVar:
    source = variable.value_from
    if source is None:
        return variable
    if source.field_ref is not None:
        source = evolve(source, field_ref=evolve(source.field_ref, api_version=source.field_ref.api_version or "v1"))
    if source.resource_field_ref is not None and source.resource_field_ref.divisor is None:
        source = evolve(source, resource_field_ref=evolve(source.resource_field_ref, divisor=Quantity("0")))
    if source.file_key_ref is not None and source.file_key_ref.optional is None:
        source = evolve(source, file_key_ref=evolve(source.file_key_ref, optional=False))
    return evolve(variable, value_from=source)


def _default_probe(probe: Probe | None) -> Probe | None:
    if probe is None:
        return None
    return evolve(
        probe,
        timeout_seconds=probe.timeout_seconds or 1,
        period_seconds=probe.period_seconds or 10,
        success_threshold=probe.success_threshold or 1,
        failure_threshold=probe.failure_threshold or 3,
        http_get=_default_http_get(probe.http_get),
        grpc=None if probe.grpc is None else evolve(probe.grpc, service=probe.grpc.service or ""),
    )


def _default_http_get(action: HTTPGetAction | None) -> HTTPGetAction | None:
    return None if action is None else evolve(action, path=action.path or "/", scheme=action.scheme or "HTTP")


def _default_lifecycle(lifecycle: Lifecycle | None) -> Lifecycle | None:
    if lifecycle is None:
        return None
    return evolve(
        lifecycle,
        post_start=_default_handler(lifecycle.post_start),
        pre_stop=_default_handler(lifecycle.pre_stop),
    )


def _default_handler(handler: LifecycleHandler | None) -> LifecycleHandler | None:
    return None if handler is None else evolve(handler, http_get=_default_http_get(handler.http_get))


def _round_resources(resources: ResourceRequirements | None) -> ResourceRequirements | None:
    if resources is None:
        return None
    return evolve(resources, limits=_round_up(resources.limits), requests=_round_up(resources.requests))


def _round_up(amounts: Mapping[str, Quantity]) -> Mapping[str, Quantity]:
    """Round each quantity up to a thousandth; one that isn't finer stays as it is written."""
    return {name: _round_quantity(text) for name, text in amounts.items()}


def _round_quantity(text: Quantity) -> Quantity:
    value = parse_quantity(text)
    rounded = value.quantize(_MILLI, ROUND_CEILING)
    return text if rounded == value else format_quantity(rounded, quantity_format(text))


def _default_pod_only(spec: PodSpec) -> PodSpec:
    """Add what only a Pod gets, not a template (SetDefaults_Pod)."""
    defaulted = evolve(
        spec,
        containers=tuple(_default_requests(each) for each in spec.containers),
        init_containers=tuple(_default_requests(each) for each in spec.init_containers),
        enable_service_links=_or(spec.enable_service_links, default=True),
    )
    if spec.host_network:
        defaulted = evolve(
            defaulted,
            containers=tuple(_default_host_ports(each) for each in defaulted.containers),
            init_containers=tuple(_default_host_ports(each) for each in defaulted.init_containers),
        )
    return evolve(defaulted, resources=_default_pod_resources(defaulted))


def _default_requests(container: Container) -> Container:
    resources = container.resources
    if resources is None or not resources.limits:
        return container
    return evolve(container, resources=evolve(resources, requests={**resources.limits, **resources.requests}))


def _default_host_ports(container: Container) -> Container:
    return evolve(container, ports=tuple(_default_host_port(each) for each in container.ports))


def _default_host_port(port: ContainerPort) -> ContainerPort:
    return evolve(port, host_port=port.host_port or port.container_port)


def _default_pod_resources(spec: PodSpec) -> ResourceRequirements | None:
    """Fill in pod-level resources from the containers and the limits (KEP-2837)."""
    resources = spec.resources
    if resources is None or not (resources.limits or resources.requests):
        return resources
    limits = dict(resources.limits)
    totals = aggregate_requests(spec, limits=True)
    for name, total in totals.items():
        if name.startswith("hugepages-") and name not in resources.requests and name not in limits:
            limits[name] = total
    requests = dict(resources.requests)
    wanted = aggregate_requests(spec)
    for name, limit in limits.items() if resources.limits else ():
        if is_pod_level_resource(name) and name not in requests:
            requests[name] = limit if name.startswith("hugepages-") else wanted.get(name, limit)
    return evolve(resources, limits=limits, requests=requests)
