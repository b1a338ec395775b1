"""Job and CronJob (batch/v1).

Field names are the API's in snake case; `kubelet_emu.api.kinds` has the way back.
An absent field is None, an empty tuple or an empty mapping.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from attrs import field, frozen

from kubelet_emu.api.meta import ObjectMeta
from kubelet_emu.api.v1 import PodTemplateSpec

if TYPE_CHECKING:
    from datetime import datetime

    from kubelet_emu.api.meta import LabelSelector
    from kubelet_emu.api.v1 import ObjectReference


@frozen(kw_only=True)
class JobSpec:
    """`JobSpec` of batch.v1."""

    active_deadline_seconds: int | None = None
    backoff_limit: int | None = None
    backoff_limit_per_index: int | None = None
    completion_mode: str | None = None
    completions: int | None = None
    managed_by: str | None = None
    manual_selector: bool | None = None
    max_failed_indexes: int | None = None
    parallelism: int | None = None
    pod_failure_policy: PodFailurePolicy | None = None
    pod_replacement_policy: str | None = None
    selector: LabelSelector | None = None
    success_policy: SuccessPolicy | None = None
    suspend: bool | None = None
    template: PodTemplateSpec = field(factory=PodTemplateSpec)
    ttl_seconds_after_finished: int | None = None


@frozen(kw_only=True)
class JobTemplateSpec:
    """`JobTemplateSpec` of batch.v1."""

    metadata: ObjectMeta = field(factory=ObjectMeta)
    spec: JobSpec = field(factory=JobSpec)


@frozen(kw_only=True)
class CronJobSpec:
    """`CronJobSpec` of batch.v1."""

    concurrency_policy: str | None = None
    failed_jobs_history_limit: int | None = None
    job_template: JobTemplateSpec = field(factory=JobTemplateSpec)
    schedule: str = ""
    starting_deadline_seconds: int | None = None
    successful_jobs_history_limit: int | None = None
    suspend: bool | None = None
    time_zone: str | None = None


@frozen(kw_only=True)
class CronJob:
    """`CronJob` of batch.v1."""

    api_version: str = "batch/v1"
    kind: str = "CronJob"
    metadata: ObjectMeta = field(factory=ObjectMeta)
    spec: CronJobSpec = field(factory=CronJobSpec)
    status: CronJobStatus | None = None


@frozen(kw_only=True)
class CronJobStatus:
    """`CronJobStatus` of batch.v1."""

    active: tuple[ObjectReference, ...] = ()
    last_schedule_time: datetime | None = None
    last_successful_time: datetime | None = None


@frozen(kw_only=True)
class JobStatus:
    """`JobStatus` of batch.v1."""

    active: int | None = None
    completed_indexes: str | None = None
    completion_time: datetime | None = None
    conditions: tuple[JobCondition, ...] = ()
    failed: int | None = None
    failed_indexes: str | None = None
    ready: int | None = None
    start_time: datetime | None = None
    succeeded: int | None = None
    terminating: int | None = None
    uncounted_terminated_pods: UncountedTerminatedPods | None = None


@frozen(kw_only=True)
class Job:
    """`Job` of batch.v1."""

    api_version: str = "batch/v1"
    kind: str = "Job"
    metadata: ObjectMeta = field(factory=ObjectMeta)
    spec: JobSpec = field(factory=JobSpec)
    status: JobStatus = field(factory=JobStatus)


@frozen(kw_only=True)
class JobCondition:
    """`JobCondition` of batch.v1."""

    last_probe_time: datetime | None = None
    last_transition_time: datetime | None = None
    message: str | None = None
    reason: str | None = None
    status: str = ""
    type: str = ""


@frozen(kw_only=True)
class PodFailurePolicy:
    """`PodFailurePolicy` of batch.v1."""

    rules: tuple[PodFailurePolicyRule, ...] = ()


@frozen(kw_only=True)
class PodFailurePolicyOnExitCodesRequirement:
    """`PodFailurePolicyOnExitCodesRequirement` of batch.v1."""

    container_name: str | None = None
    operator: str = ""
    values: tuple[int, ...] = ()


@frozen(kw_only=True)
class PodFailurePolicyOnPodConditionsPattern:
    """`PodFailurePolicyOnPodConditionsPattern` of batch.v1."""

    status: str | None = None
    type: str = ""


@frozen(kw_only=True)
class PodFailurePolicyRule:
    """`PodFailurePolicyRule` of batch.v1."""

    action: str = ""
    on_exit_codes: PodFailurePolicyOnExitCodesRequirement | None = None
    on_pod_conditions: tuple[PodFailurePolicyOnPodConditionsPattern, ...] = ()


@frozen(kw_only=True)
class SuccessPolicy:
    """`SuccessPolicy` of batch.v1."""

    rules: tuple[SuccessPolicyRule, ...] = ()


@frozen(kw_only=True)
class SuccessPolicyRule:
    """`SuccessPolicyRule` of batch.v1."""

    succeeded_count: int | None = None
    succeeded_indexes: str | None = None


@frozen(kw_only=True)
class UncountedTerminatedPods:
    """`UncountedTerminatedPods` of batch.v1."""

    failed: tuple[str, ...] = ()
    succeeded: tuple[str, ...] = ()
