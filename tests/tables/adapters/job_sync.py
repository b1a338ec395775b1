"""One sync of a Job: pods created and deleted, counts, condition."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from attrs import evolve
from job_inputs import (
    NOW,
    a_condition,
    a_container,
    a_job,
    a_pod,
    an_exit_code_rule,
    counts,
    pods_in,
    shown_condition,
    synced,
    with_failure_policy,
)
from table_rows import TableError

from kubelet_emu.api.batch_v1 import (
    Job,
    JobCondition,
    JobStatus,
    PodFailurePolicy,
    PodFailurePolicyOnPodConditionsPattern,
    PodFailurePolicyRule,
    SuccessPolicy,
    SuccessPolicyRule,
)
from kubelet_emu.jobs.rules import words
from kubelet_emu.jobs.rules.backoff import BackoffRecord

if TYPE_CHECKING:
    from collections.abc import Mapping

    from table_rows import Fields

    from kubelet_emu.api.v1 import Pod
    from kubelet_emu.jobs.rules.sync import SyncPlan

REPLACEMENT = {"Failed": "Failed", "TerminatingOrFailed": "TerminatingOrFailed"}
INDEXED = {True: "Indexed", False: "NonIndexed"}
ON_EXIT_5 = an_exit_code_rule("FailJob In [5]")
IGNORE_DISRUPTION = PodFailurePolicy(
    rules=(
        PodFailurePolicyRule(
            action="Ignore", on_pod_conditions=(PodFailurePolicyOnPodConditionsPattern(type="DisruptionTarget"),)
        ),
    )
)
POLICIES = {
    None: None,
    "any": ON_EXIT_5,
    "FailJob on 5": ON_EXIT_5,
    "FailJob would match": ON_EXIT_5,
    "Ignore DisruptionTarget": IGNORE_DISRUPTION,
}
SUCCESS_POLICIES = dict.fromkeys(("met", "met now"), SuccessPolicy(rules=(SuccessPolicyRule(succeeded_count=1),)))


def check(row: Fields, shared: Mapping[str, Any]) -> None:
    given, out = row.part("in"), row.part("out")
    policy = given.choice("podFailurePolicy", POLICIES, None)
    success = given.choice("successPolicy", {None: None, **SUCCESS_POLICIES}, None)
    job = _a_job(given, is_indexed=success is not None)
    job = evolve(job, spec=evolve(job.spec, success_policy=success))
    if policy is not None:
        job = with_failure_policy(job, policy)
    pods = _counted_pods(given) + _described_pods(given, job)
    if given.values.get("podFailurePolicy") == "FailJob would match":
        pods.append(a_pod("matching", "Failed", index=0, mains=[a_container("main", 5)]))
    if success is not None:
        pods.append(a_pod("success", "Succeeded", index=0))
    plan = synced(job, pods, record=_record(given))
    out.check(_outcome(job, pods, plan, out))


def _a_job(given: Fields, *, is_indexed: bool) -> Job:
    completions = None if given.flag("wq") else given.take("completions", 3 if is_indexed else 1)
    index_failed = given.choice("some_index", {None: False, "failed beyond backoffLimit": True}, None)
    job = a_job(
        parallelism=given.take("parallelism", 1),
        completions=completions,
        completion_mode=INDEXED[given.flag("indexed", default=is_indexed)],
        backoff_limit=given.take("backoffLimit", 0 if index_failed else 6),
        suspend=given.flag("suspend"),
        active_deadline_seconds=given.take("activeDeadlineSeconds", None),
        pod_replacement_policy=given.choice("replacement", REPLACEMENT, "TerminatingOrFailed"),
        managed_by=given.take("managedBy", None),
        status=_a_status(given),
    )
    if given.flag("deleting"):
        job = evolve(job, metadata=evolve(job.metadata, deletion_timestamp=NOW, finalizers=("foregroundDeletion",)))
    return job


def _a_status(given: Fields) -> JobStatus:
    conditions = []
    if given.flag("was_suspended"):
        conditions.append(JobCondition(type="Suspended", status="True", reason="JobSuspended"))
    if (has := given.take("has", None)) is not None:
        found = a_condition(has)
        conditions.append(JobCondition(type=found.type, status=found.status, reason="Given", message="given"))
    running_for = given.take("running_for", None)
    started_at = None if running_for is None else NOW - timedelta(seconds=running_for)
    return JobStatus(conditions=tuple(conditions), start_time=started_at)


def _counted_pods(given: Fields) -> list[Pod]:
    return [
        *pods_in("Running", given.take("active", 0)),
        *pods_in("Running", given.take("terminating", 0), is_deleted=True),
        *pods_in("Succeeded", given.take("succeeded", 0)),
        *pods_in("Failed", given.take("failed", 0)),
    ]


def _described_pods(given: Fields, job: Job) -> list[Pod]:
    pods = []
    for n, text in enumerate(given.take("pods", [])):
        index, _, phase = text.partition(" ")
        is_deleted = phase == "Terminating"
        pods.append(a_pod(f"pod-{n}", "Running" if is_deleted else phase, index=int(index), is_deleted=is_deleted))
    match given.take("pod", None):
        case None:
            pass
        case "deletionTimestamp set, phase Running":
            pods.append(a_pod("pod", "Running", is_deleted=True))
        case "phase Running, one container exited 5":
            pods.append(a_pod("pod", "Running", mains=[a_container("a", 5), a_container("b", None)]))
        case other:
            raise TableError(f"unknown pod {other!r}")
    if (condition := given.take("failed_pod", None)) is not None:
        mains = [a_container("main", 137, NOW)]
        pods.append(a_pod("failed", "Failed", mains=mains, conditions=[a_condition(condition)]))
    if job.spec.backoff_limit == 0 and "some_index" in given:
        pods.append(a_pod("lost", "Failed", index=1))
    return pods


def _record(given: Fields) -> BackoffRecord:
    text = given.take("backoff", None)
    if text is None:
        return BackoffRecord()
    match = re.fullmatch(r"(\d+) failures? just now", text)
    if match is None:
        raise TableError(f"unknown backoff {text!r}")
    return BackoffRecord(failures_after_last_success=int(match[1]), last_failure_at=NOW)


def _outcome(job: Job, pods: list[Pod], plan: SyncPlan | None, out: Fields) -> dict[str, object]:
    if plan is None:
        return {"create": 0, "delete": 0, "status_written": False}
    conditions = plan.final.conditions
    actual = counts(plan) | {
        "condition": shown_condition(out, conditions),
        "Failed_set": any(condition.type == words.FAILED for condition in conditions),
        "status_written": job.status not in (plan.interim, plan.final),
    }
    if isinstance(out.values.get("create"), str):
        actual["create"] = _delayed_creation(job, pods, plan)
    if isinstance(out.values.get("condition"), str) and out.values["condition"].startswith("stays "):
        first, last = conditions[0], conditions[-1]
        actual["condition"] = f"stays {first.type}, then {last.type}" if len(conditions) == 2 else conditions
    return actual


def _delayed_creation(job: Job, pods: list[Pod], plan: SyncPlan) -> str | int:
    """Say when pods are created that this sync did not create, from a second sync at the time that the plan names."""
    if plan.create or plan.retry_at is None:
        return len(plan.create)
    released = {pod.metadata.uid for pod in plan.release}
    left = [evolve(pod, metadata=evolve(pod.metadata, finalizers=())) for pod in pods if pod.metadata.uid in released]
    later = synced(evolve(job, status=plan.final), left, now=plan.retry_at, record=plan.backoff)
    assert later is not None
    assert later.create
    return f"after the {(plan.retry_at - NOW).total_seconds():g} s delay"
