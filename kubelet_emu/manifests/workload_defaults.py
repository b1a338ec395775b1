"""Defaults of what makes pods: Jobs, CronJobs, Deployments, ReplicaSets, StatefulSets and DaemonSets.

Those of their pods' specs are in `pod_defaults`. Source: kubernetes v1.36 SetDefaults_* of batch/v1, apps/v1.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar, cast

from attrs import evolve

from kubelet_emu.api.kinds import api_type
from kubelet_emu.manifests.pod_defaults import default_pod_spec
from kubelet_emu.manifests.volume_defaults import default_claim_spec

if TYPE_CHECKING:
    from kubelet_emu.api.apps_v1 import (
        DaemonSet,
        DaemonSetUpdateStrategy,
        Deployment,
        DeploymentStrategy,
        ReplicaSet,
        StatefulSet,
        StatefulSetPersistentVolumeClaimRetentionPolicy,
        StatefulSetUpdateStrategy,
    )
    from kubelet_emu.api.batch_v1 import CronJob, Job, JobSpec, PodFailurePolicy
    from kubelet_emu.api.quantity import IntOrString
    from kubelet_emu.api.v1 import PodTemplateSpec
    from kubelet_emu.api.v1_claims import PersistentVolumeClaim

    Workload = Job | CronJob | Deployment | ReplicaSet | StatefulSet | DaemonSet

T = TypeVar("T")

_UNLIMITED_BACKOFF = 2**31 - 1
_HISTORY = 10
_ROLLING = "RollingUpdate"


def default_workload(obj: Workload) -> Workload:
    """Return an object that makes pods, with its defaults."""
    match obj.kind:
        case "Job":
            return _default_job(cast("Job", obj))
        case "CronJob":
            return _default_cron_job(cast("CronJob", obj))
        case "Deployment":
            return _default_deployment(cast("Deployment", obj))
        case "StatefulSet":
            return _default_stateful_set(cast("StatefulSet", obj))
        case "DaemonSet":
            return _default_daemon_set(cast("DaemonSet", obj))
        case _:
            return _default_replica_set(cast("ReplicaSet", obj))


def _or(value: T | None, default: T) -> T:
    return default if value is None else value


def _or_one(value: IntOrString | None) -> IntOrString:
    return 1 if value is None else value


def _default_template(template: PodTemplateSpec) -> PodTemplateSpec:
    return evolve(template, spec=default_pod_spec(template.spec))


# -- batch/v1


def _default_job(job: Job) -> Job:
    """Return a Job with defaults; one without labels gets those of its template (SetDefaults_Job)."""
    labels = job.metadata.labels or job.spec.template.metadata.labels
    return evolve(job, metadata=evolve(job.metadata, labels=labels), spec=_default_job_spec(job.spec))


def _default_job_spec(spec: JobSpec) -> JobSpec:
    """Return the spec of a Job; completions stay open for a work queue (parallelism alone)."""
    is_plain = spec.completions is None and spec.parallelism is None
    backoff_limit = 6 if spec.backoff_limit_per_index is None else _UNLIMITED_BACKOFF
    replacement = "TerminatingOrFailed" if spec.pod_failure_policy is None else "Failed"
    return evolve(
        _default_nested(spec),
        completions=1 if is_plain else spec.completions,
        parallelism=_or(spec.parallelism, 1),
        backoff_limit=_or(spec.backoff_limit, backoff_limit),
        completion_mode=spec.completion_mode or "NonIndexed",
        suspend=_or(spec.suspend, default=False),
        manual_selector=_or(spec.manual_selector, default=False),
        pod_replacement_policy=spec.pod_replacement_policy or replacement,
    )


def _default_nested(spec: JobSpec) -> JobSpec:
    """Return the spec of a Job with the defaults of what is inside, as a CronJob keeps it: its Jobs get the rest."""
    policy = _default_failure_policy(spec.pod_failure_policy)
    return evolve(spec, template=_default_template(spec.template), pod_failure_policy=policy)


def _default_failure_policy(policy: PodFailurePolicy | None) -> PodFailurePolicy | None:
    """Set the status that a condition must have (SetDefaults_PodFailurePolicyOnPodConditionsPattern)."""
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
    """Return a CronJob with defaults (SetDefaults_CronJob)."""
    spec = cron_job.spec
    defaulted = evolve(
        spec,
        job_template=evolve(spec.job_template, spec=_default_nested(spec.job_template.spec)),
        concurrency_policy=spec.concurrency_policy or "Allow",
        suspend=_or(spec.suspend, default=False),
        successful_jobs_history_limit=_or(spec.successful_jobs_history_limit, 3),
        failed_jobs_history_limit=_or(spec.failed_jobs_history_limit, 1),
    )
    return evolve(cron_job, spec=defaulted)


# -- apps/v1


def _default_deployment(deployment: Deployment) -> Deployment:
    """Return a Deployment with defaults (SetDefaults_Deployment)."""
    spec = deployment.spec
    defaulted = evolve(
        spec,
        template=_default_template(spec.template),
        replicas=_or(spec.replicas, 1),
        strategy=_default_strategy(spec.strategy),
        revision_history_limit=_or(spec.revision_history_limit, _HISTORY),
        progress_deadline_seconds=_or(spec.progress_deadline_seconds, 600),
    )
    return evolve(deployment, spec=defaulted)


def _default_strategy(given: DeploymentStrategy | None) -> DeploymentStrategy:
    strategy: DeploymentStrategy = given or api_type("DeploymentStrategy")()
    strategy = evolve(strategy, type=strategy.type or _ROLLING)
    if strategy.type != _ROLLING:
        return strategy
    rolling = strategy.rolling_update or api_type("RollingUpdateDeployment")()
    rolling = evolve(
        rolling, max_unavailable=_or(rolling.max_unavailable, "25%"), max_surge=_or(rolling.max_surge, "25%")
    )
    return evolve(strategy, rolling_update=rolling)


def _default_replica_set(replica_set: ReplicaSet) -> ReplicaSet:
    """Return a ReplicaSet with defaults (SetDefaults_ReplicaSet)."""
    spec = replica_set.spec
    template = _default_template(spec.template)
    return evolve(replica_set, spec=evolve(spec, template=template, replicas=_or(spec.replicas, 1)))


def _default_stateful_set(stateful_set: StatefulSet) -> StatefulSet:
    """Return a StatefulSet with defaults (SetDefaults_StatefulSet)."""
    spec = stateful_set.spec
    defaulted = evolve(
        spec,
        template=_default_template(spec.template),
        replicas=_or(spec.replicas, 1),
        pod_management_policy=spec.pod_management_policy or "OrderedReady",
        update_strategy=_default_set_strategy(spec.update_strategy),
        persistent_volume_claim_retention_policy=_default_retention(spec.persistent_volume_claim_retention_policy),
        revision_history_limit=_or(spec.revision_history_limit, _HISTORY),
        volume_claim_templates=tuple(map(_default_claim, spec.volume_claim_templates)),
    )
    return evolve(stateful_set, spec=defaulted)


def _default_set_strategy(given: StatefulSetUpdateStrategy | None) -> StatefulSetUpdateStrategy:
    """Return the update strategy; `type: RollingUpdate` that is written without rollingUpdate stays without it."""
    strategy: StatefulSetUpdateStrategy = given or api_type("StatefulSetUpdateStrategy")()
    rolling = strategy.rolling_update
    if not strategy.type:
        rolling = rolling or api_type("RollingUpdateStatefulSetStrategy")()
        strategy = evolve(strategy, type=_ROLLING)
    if strategy.type == _ROLLING and rolling is not None:
        partition = _or(rolling.partition, 0)
        rolling = evolve(rolling, partition=partition, max_unavailable=_or_one(rolling.max_unavailable))
    return evolve(strategy, rolling_update=rolling)


def _default_retention(
    given: StatefulSetPersistentVolumeClaimRetentionPolicy | None,
) -> StatefulSetPersistentVolumeClaimRetentionPolicy:
    policy: StatefulSetPersistentVolumeClaimRetentionPolicy = (
        given or api_type("StatefulSetPersistentVolumeClaimRetentionPolicy")()
    )
    return evolve(policy, when_deleted=policy.when_deleted or "Retain", when_scaled=policy.when_scaled or "Retain")


def _default_claim(claim: PersistentVolumeClaim) -> PersistentVolumeClaim:
    """Return a claim with defaults (SetDefaults_PersistentVolumeClaim and of its spec)."""
    status = claim.status or api_type("PersistentVolumeClaimStatus")()
    return evolve(
        claim,
        spec=None if claim.spec is None else default_claim_spec(claim.spec),
        status=evolve(status, phase=status.phase or "Pending"),
    )


def _default_daemon_set(daemon_set: DaemonSet) -> DaemonSet:
    """Return a DaemonSet with defaults (SetDefaults_DaemonSet)."""
    spec = daemon_set.spec
    defaulted = evolve(
        spec,
        template=_default_template(spec.template),
        update_strategy=_default_daemon_strategy(spec.update_strategy),
        revision_history_limit=_or(spec.revision_history_limit, _HISTORY),
    )
    return evolve(daemon_set, spec=defaulted)


def _default_daemon_strategy(given: DaemonSetUpdateStrategy | None) -> DaemonSetUpdateStrategy:
    strategy: DaemonSetUpdateStrategy = given or api_type("DaemonSetUpdateStrategy")()
    strategy = evolve(strategy, type=strategy.type or _ROLLING)
    if strategy.type != _ROLLING:
        return strategy
    rolling = strategy.rolling_update or api_type("RollingUpdateDaemonSet")()
    rolling = evolve(rolling, max_unavailable=_or_one(rolling.max_unavailable), max_surge=_or(rolling.max_surge, 0))
    return evolve(strategy, rolling_update=rolling)
