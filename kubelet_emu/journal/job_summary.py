"""What the summary says of a Job: its verdict and why, its time, and how much of that its sidecars took. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from attrs import frozen

from kubelet_emu.journal.facts import ContainerKind

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from datetime import datetime

    from kubelet_emu.journal.facts import JobFacts, PodFacts
    from kubelet_emu.journal.fold import Facts

_CRITERIA = ("FailureTarget", "SuccessCriteriaMet")
_VERDICTS = ("Complete", "Failed", "Suspended")


@frozen(kw_only=True)
class JobSummary:
    """One Job: its verdict with its reason, its counts, and its time from creation to verdict.

    `sidecar_seconds` are those between the end of its last main container and that of its last sidecar.
    """

    name: str
    verdict: str
    why: str = ""
    succeeded: int = 0
    failed: int = 0
    seconds: float | None = None
    sidecar_seconds: float = 0.0


def summarize_job(job: JobFacts, facts: Facts) -> JobSummary:
    """Return what there is to say of a Job and its pods."""
    pods = [pod for pod in facts.pods.values() if pod.owner == job.ref.uid]
    verdict = next((condition for condition in _VERDICTS if job.has(condition)), "not finished")
    status = job.status
    return JobSummary(
        name=job.ref.name,
        verdict=verdict,
        why=_why(job, verdict) or (next(_kept_alive(pods), "") if not job.has_verdict else ""),
        succeeded=(status.succeeded or 0) if status is not None else 0,
        failed=(status.failed or 0) if status is not None else 0,
        seconds=_between(job.created_at, job.finished_at),
        sidecar_seconds=_sidecar_seconds(pods),
    )


def why_deleted(pod: PodFacts, facts: Facts) -> str:
    """Return why a pod's Job deleted it before its verdict, empty when it did not or has not said so."""
    job, deleted_at = facts.jobs.get(pod.owner), pod.stop_requested_at
    if job is None or job.status is None or deleted_at is None:
        return ""
    if job.finished_at is not None and deleted_at > job.finished_at:
        return ""
    criteria = (each for each in job.status.conditions if each.type in _CRITERIA and each.status == "True")
    return next((f"deleted by its Job: {each.reason}" for each in criteria if each.reason), "")


def _why(job: JobFacts, verdict: str) -> str:
    """Return reason and message of a condition; a Job that is Complete needs none."""
    conditions = () if job.status is None or verdict == "Complete" else job.status.conditions
    found = next((each for each in conditions if each.type == verdict and each.status == "True"), None)
    return "" if found is None else ": ".join(each for each in (found.reason, found.message) if each)


def _kept_alive(pods: Iterable[PodFacts]) -> Iterator[str]:
    """Yield which containers went on, up to a pod's deletion, when others had done their work."""
    for pod in pods:
        runs = [(each.name, each.last_run) for each in pod.of_kind(ContainerKind.MAIN)]
        until = pod.stop_requested_at
        ends = {name: run.exited_at for name, run in runs if run is not None}
        done = [name for name, run in runs if run is not None and run.code == 0 and _is_before(ends[name], until)]
        going = [name for name, at in ends.items() if not _is_before(at, until)]
        if done and going:
            verb = "was" if len(done) == 1 else "were"
            fix = "a helper belongs into initContainers, with restartPolicy: Always"
            yield f"{' and '.join(done)} {verb} done, {' and '.join(going)} ran on, and a Job waits for all; {fix}"


def _is_before(at: datetime | None, until: datetime | None) -> bool:
    return at is not None and (until is None or at <= until)


def _sidecar_seconds(pods: Iterable[PodFacts]) -> float:
    """Return how long the last sidecar went on after the last main container of pods that were not deleted."""
    whole = [pod for pod in pods if pod.of_kind(ContainerKind.SIDECAR)]
    mains = [at for pod in whole for at in _ends(pod, ContainerKind.MAIN)]
    sidecars = [at for pod in whole for at in _ends(pod, ContainerKind.SIDECAR)]
    seconds = _between(max(mains, default=None), max(sidecars, default=None))
    return max(0.0, seconds or 0.0)


def _ends(pod: PodFacts, kind: ContainerKind) -> Iterator[datetime]:
    for container in pod.of_kind(kind):
        run = container.last_run
        if run is not None and run.exited_at is not None:
            yield run.exited_at


def _between(start: datetime | None, end: datetime | None) -> float | None:
    return None if start is None or end is None else (end - start).total_seconds()
