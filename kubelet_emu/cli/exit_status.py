"""The exit status of a run, from what became of it. Pure.

First match: 2 bad manifest, bad options or nothing to run; 3 the engine can't be reached, or was lost; 124 the time was
over; 130 a second Ctrl-C; 1 something of `--fail-on` happened, or stdout or a file of records could not be written; for
a stop that was asked for 0 if each pod had been Ready or has Succeeded, no init container failed and no Job was stopped
before its end, which only `--delete-when` may do, else 1; otherwise 0 only if everything succeeded.
"""

from __future__ import annotations

import enum
from typing import TYPE_CHECKING

from attrs import frozen

from kubelet_emu.journal.facts import ContainerKind, JobFacts, PodFacts

if TYPE_CHECKING:
    from kubelet_emu.journal.fold import Facts

OK = 0
FAILED = 1
BAD_INPUT = 2
NO_ENGINE = 3
TIMED_OUT = 124
INTERRUPTED = 130


class FailOn(enum.Enum):
    """What `--fail-on` can name."""

    KILLED = "killed"
    RESTARTED = "restarted"
    WARNING = "warning"


class Why(enum.Enum):
    """What ended a run."""

    FINISHED = "everything has ended"
    REQUESTED = "a stop was asked for"
    MOMENT = "the moment of --delete-when had come"
    TIMEOUT = "the time was over"
    REPLACED = "a manifest was saved"
    FORCED = "interrupted twice"


@frozen(kw_only=True)
class PodOutcome:
    """What became of one pod that no finished Job answers for."""

    has_succeeded: bool
    was_ready: bool = False
    has_failed_init: bool = False


@frozen(kw_only=True)
class RunOutcome:
    """What became of a run that came to its end; `happened` is what `--fail-on` may ask about."""

    why: Why
    pods: tuple[PodOutcome, ...] = ()
    jobs_succeeded: tuple[bool, ...] = ()
    has_unfinished_job: bool = False
    has_idle_job: bool = False
    happened: frozenset[FailOn] = frozenset()
    has_lost_records: bool = False


def exit_status(outcome: RunOutcome, fail_on: frozenset[FailOn] = frozenset()) -> int:
    """Return the exit status of a run that had something to run and an engine."""
    if outcome.why is Why.TIMEOUT:
        return TIMED_OUT
    if outcome.why is Why.FORCED:
        return INTERRUPTED
    if outcome.happened & fail_on or outcome.has_lost_records:
        return FAILED
    if outcome.why in {Why.REQUESTED, Why.REPLACED} and outcome.has_unfinished_job:
        return FAILED
    if outcome.why in {Why.REQUESTED, Why.REPLACED, Why.MOMENT}:
        has_begun = bool(outcome.pods or outcome.jobs_succeeded)
        is_good = all((pod.was_ready or pod.has_succeeded) and not pod.has_failed_init for pod in outcome.pods)
        return OK if has_begun and is_good and all(outcome.jobs_succeeded) else FAILED
    has_succeeded = all(outcome.jobs_succeeded) and all(pod.has_succeeded for pod in outcome.pods)
    return OK if has_succeeded and not outcome.has_idle_job else FAILED


def outcome_of(facts: Facts, why: Why) -> RunOutcome:
    """Return the outcome that the facts of a run tell."""
    finished = {uid for uid, job in facts.jobs.items() if job.has_verdict}
    pods = tuple(_pod_outcome(pod) for pod in facts.pods.values() if pod.owner not in finished)
    jobs = tuple(_has_succeeded(facts.jobs[uid]) for uid in finished)
    open_jobs = [job for job in facts.jobs.values() if not job.has_verdict]
    return RunOutcome(
        why=why,
        pods=pods,
        jobs_succeeded=jobs,
        has_unfinished_job=any(not job.is_idle for job in open_jobs),
        has_idle_job=any(job.is_idle for job in open_jobs),
        happened=_happened(facts),
    )


def _has_succeeded(job: JobFacts) -> bool:
    return job.has("Complete")


def _pod_outcome(pod: PodFacts) -> PodOutcome:
    last_runs = [container.last_run for container in pod.of_kind(ContainerKind.INIT)]
    has_failed_init = any(run is not None and run.code not in {None, 0} for run in last_runs)
    return PodOutcome(has_succeeded=pod.phase == "Succeeded", was_ready=pod.was_ready, has_failed_init=has_failed_init)


def _happened(facts: Facts) -> frozenset[FailOn]:
    containers = [container for pod in facts.pods.values() for container in pod.containers.values()]
    found = {
        FailOn.KILLED: any(run.killed_at is not None for c in containers for run in c.runs.values()),
        FailOn.RESTARTED: any(len(c.runs) > 1 or c.restarts > 0 for c in containers),
        FailOn.WARNING: bool(facts.warnings),
    }
    return frozenset(kind for kind, has_happened in found.items() if has_happened)
