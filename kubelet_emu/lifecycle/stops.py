"""Who stopped the runs of a pod: when, why, with what grace.

A stop shows in the Killing event, the calls and signals of the runtime, the preStop hook, or only in the word that a
container says at its stop signal. What the kubelet stops together (a deletion, the end of the mains) begins together,
so all that tells of one container's stop tells of the others' beginning.
Invariant: a stop of the whole pod lies between two starts, for nothing is started while the pod is being stopped.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from attrs import define, evolve, field

from kubelet_emu.journal.facts import ContainerKind
from kubelet_emu.lifecycle.history import PodStop, Stop, StopCause
from kubelet_emu.lifecycle.raw_records import Interval, interval
from kubelet_emu.lifecycle.stop_causes import cause_of_message, grace_of, pod_wide_cause, untold_cause
from kubelet_emu.lifecycle.stop_evidence import StopEvidence, evidence_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from kubelet_emu.lifecycle.history import ContainerHistory, PodHistory, RunHistory
    from kubelet_emu.lifecycle.pod_records import PodRecords

LINE_SLACK_SECONDS = 2.0
TOGETHER_SECONDS = 1.0


@define(eq=False)
class _Episode:
    """What is known of one stop of the whole pod while it is put together."""

    low: float
    high: float
    runs: list[tuple[ContainerHistory, RunHistory, StopEvidence]] = field(factory=list)


def with_stops(pod: PodHistory, records: PodRecords) -> PodHistory:
    """Return the pod's history with the stops of its runs."""
    found = {(run.container, run.n): evidence for run, evidence in evidence_of(pod, records)}
    stops: dict[tuple[str, int], Stop] = {}
    pod_wide = []
    for container, run in pod.runs():
        evidence = found.get((run.container, run.n))
        if evidence is None:
            continue
        cause = cause_of_message(evidence.message, container)
        if not evidence.message:
            cause = untold_cause(pod, run, evidence.bounds()[1])
        if cause is None:
            pod_wide.append((container, run, evidence))
        else:
            stops[run.container, run.n] = _single(pod, container, evidence, cause)
    pod_stops = [_pod_stop(pod, episode, stops) for episode in _episodes(pod, pod_wide)]
    if not pod_stops and pod.terminating is not None:
        pod_stops = [_pod_stop(pod, _unseen(pod, pod.terminating), stops)]
    return _filled(pod, stops, pod_stops)


def _filled(pod: PodHistory, stops: dict[tuple[str, int], Stop], pod_stops: Sequence[PodStop]) -> PodHistory:
    containers = tuple(
        evolve(c, runs=tuple(evolve(run, stop=stops.get((run.container, run.n))) for run in c.runs))
        for c in pod.containers
    )
    now = {(run.container, run.n): run for container in containers for run in container.runs}
    settled = (evolve(stop, runs=tuple(now[run.container, run.n] for run in stop.runs)) for stop in pod_stops)
    return evolve(pod, containers=containers, stops=tuple(stop for stop in settled if stop.runs))


def _single(pod: PodHistory, container: ContainerHistory, evidence: StopEvidence, cause: StopCause) -> Stop:
    low, high = evidence.bounds()
    grace, is_told = grace_of(pod, cause, container.spec, high)
    return _stop(evidence, cause, interval(low, high, f"stop of {container.name}"), grace, is_told=is_told)


def _stop(evidence: StopEvidence, cause: StopCause, began: Interval, grace: float | None, *, is_told: bool) -> Stop:
    return Stop(
        cause=cause,
        began=began,
        grace=grace,
        is_grace_told=is_told,
        pre_stop=evidence.pre_stop,
        calls=evidence.calls,
        term=evidence.term,
        kill=evidence.kill,
        is_signal_told=evidence.is_signal_told,
        message=evidence.message,
    )


def _episodes(
    pod: PodHistory, stopped: Iterable[tuple[ContainerHistory, RunHistory, StopEvidence]]
) -> Iterator[_Episode]:
    """Yield the stops of the whole pod: what was stopped between the same two starts belongs together."""
    starts = sorted(run.started.low for _, run in pod.runs() if run.started is not None)
    groups: dict[int, _Episode] = {}
    for container, run, evidence in stopped:
        low, high = evidence.bounds()
        turn = sum(start <= high for start in starts)
        last_start = starts[turn - 1] if turn else 0.0
        episode = groups.setdefault(turn, _Episode(low=last_start, high=math.inf))
        episode.low, episode.high = max(episode.low, low), min(episode.high, high)
        episode.runs.append((container, run, evidence))
    yield from groups.values()


def _unseen(pod: PodHistory, terminating: Interval) -> _Episode:
    """Return the stop of a deleted pod of which the log shows nothing but the deletion."""
    return _Episode(low=terminating.low, high=max(terminating.high, pod.ended_at))


def _pod_stop(pod: PodHistory, episode: _Episode, stops: dict[tuple[str, int], Stop]) -> PodStop:
    """Return a stop of the whole pod and write down what it means for each of its runs."""
    cause = pod_wide_cause(pod, episode.high)
    low, high = min(episode.low, episode.high), episode.high
    if cause is StopCause.DELETED and pod.terminating is not None:
        low = min(max(low, pod.terminating.low), high)
    grace, is_told = grace_of(pod, cause, None, high)
    began = interval(low, high, "the stop began")
    seen = {*stops, *((run.container, run.n) for _, run, _ in episode.runs)}
    for _, run, evidence in episode.runs:
        stops[run.container, run.n] = _stop(evidence, cause, began, grace, is_told=is_told)
    unseen = [run for c, run in pod.runs() if (run.container, run.n) not in seen and _is_caught(c, run, cause, began)]
    for run in unseen:
        stops[run.container, run.n] = Stop(cause=cause, began=began, grace=grace, is_grace_told=is_told)
    return PodStop(
        cause=cause,
        began=began,
        grace=grace,
        is_grace_told=is_told,
        runs=(*(run for _, run, _ in episode.runs), *unseen),
    )


def _is_caught(container: ContainerHistory, run: RunHistory, cause: StopCause, began: Interval) -> bool:
    """Tell whether a run of which nothing else is known was in progress when the pod was stopped."""
    if cause is StopCause.ENDED and container.kind in {ContainerKind.MAIN, ContainerKind.UNKNOWN}:
        return False
    if run.started is None or run.started.low > began.high:
        return False
    return run.exited is None or run.exited.low >= began.high
