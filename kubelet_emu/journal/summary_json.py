"""The summary of a run as one JSON object, for programs: the last line of `-o json`.

Fields are added, never renamed. Seconds are lengths but `t`, which counts as in the trace.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubelet_emu.journal.endings import ending_of
from kubelet_emu.journal.job_summary import summarize_job
from kubelet_emu.journal.summary import grace_of, summarize

if TYPE_CHECKING:
    from datetime import datetime

    from kubelet_emu.journal.facts import ContainerFacts, JobFacts, PodFacts, RunFacts
    from kubelet_emu.journal.fold import Facts
    from kubelet_emu.journal.summary import PodSummary

JsonObject = dict[str, object]


def summary_object(facts: Facts, why: str, now: datetime) -> JsonObject:
    """Return what became of a run that ended now because of `why`: its Jobs, its pods, each run of each container."""
    created = [at for at in (*(pod.created_at for pod in facts.pods.values()), *_created(facts)) if at is not None]
    seconds = (now - min(created, default=now)).total_seconds()
    pods = zip(facts.pods.values(), summarize(facts).pods, strict=True)
    return {
        "t": round(max(0.0, seconds), 6),
        "kind": "summary",
        "why": why,
        "jobs": [_job(job, facts) for job in facts.jobs.values()],
        "pods": [_pod(pod, summary, facts) for pod, summary in pods],
    }


def _created(facts: Facts) -> tuple[datetime | None, ...]:
    return tuple(job.created_at for job in facts.jobs.values())


def _job(job: JobFacts, facts: Facts) -> JsonObject:
    found = summarize_job(job, facts)
    return {
        "name": found.name,
        "namespace": job.ref.namespace,
        "verdict": found.verdict,
        "because": found.why,
        "succeeded": found.succeeded,
        "failed": found.failed,
        "seconds": _rounded(found.seconds),
        "sidecar_seconds": _rounded(found.sidecar_seconds),
    }


def _pod(pod: PodFacts, summary: PodSummary, facts: Facts) -> JsonObject:
    return {
        "name": pod.ref.name,
        "namespace": pod.ref.namespace,
        "owners": list(facts.owners_of(pod)),
        "phase": pod.phase,
        "reason": pod.reason,
        "was_ready": pod.was_ready,
        "stop_seconds": _rounded(summary.stop_seconds),
        "grace_seconds": summary.grace_seconds,
        "order": summary.order,
        "because": summary.why,
        "containers": [_container(container, float(grace_of(pod))) for container in pod.containers.values()],
    }


def _container(container: ContainerFacts, grace_seconds: float) -> JsonObject:
    return {
        "name": container.name,
        "part": container.kind.value,
        "restarts": max(container.restarts, len(container.runs) - 1, 0),
        "waiting": container.waiting_reason,
        "runs": [_run(container, run, grace_seconds) for run in container.runs.values()],
    }


def _run(container: ContainerFacts, run: RunFacts, grace_seconds: float) -> JsonObject:
    """Return one run: how long it took, its exit code, and who ended it."""
    ending = ending_of(container, run, grace_seconds if run.stop_timeout is None else run.stop_timeout)
    return {
        "run": run.run,
        "seconds": _rounded(run.seconds),
        "exit": run.code,
        "ended_by": "" if ending is None else ending.by.value,
        "because": "" if ending is None else ending.text,
    }


def _rounded(seconds: float | None) -> float | None:
    return None if seconds is None else round(seconds, 6)
