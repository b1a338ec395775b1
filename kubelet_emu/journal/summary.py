"""The summary at the end of a run: facts -> SummaryModel -> text.

Pure. For each pod: its phase and how it stopped, its start order with what gated each step, its stop order, and who
ended each run that ended badly.
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

from attrs import frozen

from kubelet_emu.journal.endings import EndedBy, Ending, ending_of
from kubelet_emu.journal.facts import ContainerKind
from kubelet_emu.journal.job_summary import JobSummary, summarize_job, why_deleted

if TYPE_CHECKING:
    from datetime import datetime

    from kubelet_emu.journal.facts import ContainerFacts, PodFacts, RunFacts
    from kubelet_emu.journal.fold import Facts

SLOW_STOP_SECONDS = 0.5
SHOWN_SECONDS = 0.05

_FAILED_OF_ITSELF = frozenset({EndedBy.ITSELF, EndedBy.OUT_OF_MEMORY, EndedBy.OUTSIDE})
_GRACE_SLACK_SECONDS = 0.5


@frozen(kw_only=True)
class StartStep:
    """One container in start order; `seconds` is how long a run that ended took."""

    name: str
    kind: ContainerKind
    has_started: bool
    ending: Ending | None = None
    seconds: float | None = None
    gates: tuple[str, ...] = ()
    restarts: int = 0


@frozen(kw_only=True)
class StopStep:
    """One container in the order they ended; `term_seconds` is from the stop signal to the end."""

    name: str
    kind: ContainerKind
    ending: Ending
    exited_at: datetime
    pre_stop_seconds: float | None = None
    term_seconds: float | None = None
    signalled_at: datetime | None = None


@frozen(kw_only=True)
class BadEnd:
    """A run that ended badly, or a container that never ran: `name` carries #run when there were several.

    `lines` are the last ones of a container's newest run, where it failed of itself.
    """

    name: str
    text: str
    lines: tuple[str, ...] = ()


@frozen(kw_only=True)
class PodSummary:
    """One pod. `stop_seconds` is None when nothing of it was stopped; `order` is empty without sidecars.

    `why` says why its Job deleted it.
    """

    name: str
    phase: str
    reason: str
    starts: tuple[StartStep, ...]
    stops: tuple[StopStep, ...] = ()
    stop_seconds: float | None = None
    grace_seconds: float = 0
    order: str = ""
    why: str = ""
    bad_ends: tuple[BadEnd, ...] = ()


@frozen(kw_only=True)
class SummaryModel:
    """All that the summary says."""

    pods: tuple[PodSummary, ...]
    jobs: tuple[JobSummary, ...] = ()


def summarize(facts: Facts) -> SummaryModel:
    """Return the summary of a run."""
    jobs = tuple(summarize_job(job, facts) for job in facts.jobs.values())
    pods = tuple(_summarize_pod(pod, why_deleted(pod, facts)) for pod in facts.pods.values())
    return SummaryModel(pods=pods, jobs=jobs)


def _summarize_pod(pod: PodFacts, why: str) -> PodSummary:
    stop_at, grace = _stop_start(pod), float(grace_of(pod))
    stops = _stop_steps(pod, stop_at, grace)
    ends = [run.exited_at for c in pod.containers.values() for run in c.runs.values() if run.exited_at is not None]
    return PodSummary(
        name=pod.ref.name,
        phase=pod.phase,
        reason=pod.reason,
        starts=_start_steps(pod, grace),
        stops=stops,
        stop_seconds=max(0.0, (max(ends) - stop_at).total_seconds()) if stops and stop_at is not None else None,
        grace_seconds=grace,
        order=_order(pod, stops, grace, stop_at),
        why=why,
        bad_ends=_bad_ends(pod, stop_at),
    )


def grace_of(pod: PodFacts) -> int:
    """Return the grace that a pod was stopped with, else its own."""
    return pod.grace_seconds if pod.stop_grace_seconds is None else pod.stop_grace_seconds


def _stop_start(pod: PodFacts) -> datetime | None:
    """Return when the pod as a whole began to stop: its deletion, or the end of its last main (KEP-753)."""
    mains = [c.last_run for c in pod.of_kind(ContainerKind.MAIN)]
    ends = [run.exited_at for run in mains if run is not None and run.exited_at is not None]
    finished = max(ends) if ends and len(ends) == len(mains) and pod.phase in {"Succeeded", "Failed"} else None
    known = [at for at in (pod.stop_requested_at, finished) if at is not None]
    return min(known) if known else None


def _start_steps(pod: PodFacts, grace: float) -> tuple[StartStep, ...]:
    inits = [c for c in pod.containers.values() if c.kind in {ContainerKind.INIT, ContainerKind.SIDECAR}]
    followed = {c.name for c in inits[:-1]}
    rest = [c for c in pod.containers.values() if c.kind in {ContainerKind.MAIN, ContainerKind.EPHEMERAL}]
    return tuple(_start_step(c, grace, is_followed=c.name in followed) for c in (*inits, *rest))


def _start_step(container: ContainerFacts, grace: float, *, is_followed: bool) -> StartStep:
    run, restarts = container.last_run, max(0, len(container.runs) - 1)
    first = container.runs[min(container.runs)] if container.runs else None
    ended = None if run is None or _was_stopped(run) else ending_of(container, run, grace)
    return StartStep(
        name=container.name,
        kind=container.kind,
        has_started=run is not None,
        ending=ended,
        seconds=run.seconds if run is not None and ended is not None else None,
        gates=() if first is None else _gates(container, first, is_followed=is_followed),
        restarts=restarts,
    )


def _was_stopped(run: RunFacts) -> bool:
    return run.signalled_at is not None or run.killed_at is not None or run.stop_timeout is not None


def _gates(container: ContainerFacts, run: RunFacts, *, is_followed: bool) -> tuple[str, ...]:
    """Return what the next step waited for at this container (kubelet v1.36 computeInitContainerActions)."""
    gates = []
    if container.has_post_start:
        seconds = run.post_start_seconds or 0.0
        gates.append("postStart" + (f" {seconds:.1f}s" if seconds >= SHOWN_SECONDS else ""))
    if container.has_startup_probe:
        gates.append("startup probe" + _since(run.started_at, run.startup_ok_at))
    if not gates and is_followed and container.kind is ContainerKind.SIDECAR:
        gates.append("no gate")
    return tuple(gates)


def _since(start: datetime | None, end: datetime | None) -> str:
    return " not passed" if end is None else "" if start is None else f" {(end - start).total_seconds():.1f}s"


def _stop_steps(pod: PodFacts, stop_at: datetime | None, grace: float) -> tuple[StopStep, ...]:
    """Return the runs that the pod's stop ended, in the order they ended."""
    if stop_at is None:
        return ()
    steps: list[StopStep] = []
    for container in pod.containers.values():
        run = container.last_run
        if run is None or run.exited_at is None or run.exited_at < stop_at or not _was_stopped(run):
            continue
        if (ending := ending_of(container, run, grace)) is not None:
            steps.append(_stop_step(container, run, ending, run.exited_at))
    return tuple(sorted(steps, key=lambda step: step.exited_at))


def _stop_step(container: ContainerFacts, run: RunFacts, ending: Ending, exited_at: datetime) -> StopStep:
    since = run.signalled_at
    return StopStep(
        name=container.name,
        kind=container.kind,
        ending=ending,
        pre_stop_seconds=run.pre_stop_seconds,
        exited_at=exited_at,
        term_seconds=None if since is None else (exited_at - since).total_seconds(),
        signalled_at=since,
    )


def _order(pod: PodFacts, stops: tuple[StopStep, ...], grace: float, stop_at: datetime | None) -> str:
    """Return whether each sidecar was signalled after all mains and later sidecars had ended (KEP-753)."""
    if stop_at is None or not any(step.kind is ContainerKind.SIDECAR for step in stops):
        return ""
    rank = {c.name: i + 1 for i, c in enumerate(reversed(pod.of_kind(ContainerKind.SIDECAR)))}
    is_spent = False
    for step, other in itertools.product(stops, stops):
        if rank.get(other.name, 0) >= rank.get(step.name, 0) or step.signalled_at is None:
            continue
        if other.exited_at > step.signalled_at:
            if (step.signalled_at - stop_at).total_seconds() < grace - _GRACE_SLACK_SECONDS:
                return f"{step.name} was stopped before {other.name} had ended"
            is_spent = True
    return "grace spent" if is_spent else "KEP-753"


def _bad_ends(pod: PodFacts, stop_at: datetime | None) -> tuple[BadEnd, ...]:
    bad = []
    for container in pod.containers.values():
        bad += [_bad_end(pod, container, run, stop_at) for run in container.runs.values()]
        if not container.runs and container.waiting_reason not in {"", "PodInitializing", "ContainerCreating"}:
            text = f"never started: {container.waiting_reason}"
            message = f": {container.waiting_message}" if container.waiting_message else ""
            bad.append(BadEnd(name=container.name, text=text + message))
    return tuple(end for end in bad if end is not None)


def _bad_end(pod: PodFacts, container: ContainerFacts, run: RunFacts, stop_at: datetime | None) -> BadEnd | None:
    in_stop = stop_at is not None and run.exited_at is not None and run.exited_at >= stop_at
    own = run.stop_timeout if run.stop_timeout is not None else float(pod.grace_seconds)
    ending = ending_of(container, run, float(grace_of(pod)) if in_stop else own)
    if ending is None or not ending.text:
        return None
    name = container.name if len(container.runs) == 1 else f"{container.name}#{run.run}"
    is_telling = run is container.last_run and ending.by in _FAILED_OF_ITSELF
    return BadEnd(name=name, text=ending.text, lines=tuple(run.last_lines) if is_telling else ())


def killed(pod: PodSummary) -> tuple[str, ...]:
    """Return the containers that needed SIGKILL in the pod's stop."""
    return tuple(step.name for step in pod.stops if step.ending.by is EndedBy.KILL)
