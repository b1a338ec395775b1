"""Rules about what a stop of the whole pod does first and last, and what it keeps from starting (KEP-753)."""

from __future__ import annotations

import math
import signal
from typing import TYPE_CHECKING

from kubelet_emu.journal.facts import ContainerKind
from kubelet_emu.lifecycle.history import StopCause
from kubelet_emu.lifecycle.raw_records import Interval
from kubelet_emu.lifecycle.verification.comparing import (
    CLOCK_SLACK_SECONDS,
    broken,
    kept,
    order,
    ordered,
    seconds,
    shown,
    unknown,
)
from kubelet_emu.lifecycle.verification.signals import LATE_SECONDS, TURN_SECONDS
from kubelet_emu.lifecycle.verification.verdicts import Outcome, Verdict
from kubelet_emu.rules.termination import termination_prerequisites

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kubelet_emu.lifecycle.history import PodHistory, PodStop, RunHistory
    from kubelet_emu.lifecycle.verification.verdicts import Terms

# A sync that was due when the pod was deleted waits for the next relist, and sees what has ended until then.
RELIST_SECONDS = 1.0
TERM_CODE = 128 + signal.SIGTERM
_CLOSE_SECONDS = 0.1
_OF_ITSELF = frozenset({StopCause.ENDED, StopCause.PROBE, StopCause.UNKNOWN})


def sidecars_in_turn(pod: PodHistory, _terms: Terms) -> Iterator[Verdict]:
    """Judge that a sidecar gets its stop signal after all mains and the sidecar behind it, while grace is left.

    Source: KEP-753, kubelet v1.36 newTerminationOrdering, waitForTurn.
    """
    for stop in pod.stops:
        if pod.is_orphan_at(stop.began):
            continue
        for run, others in _turns(pod, stop):
            for other in others:
                yield _in_turn(pod, stop, run, other)


def _turns(pod: PodHistory, stop: PodStop) -> Iterator[tuple[RunHistory, tuple[RunHistory, ...]]]:
    """Yield each sidecar of a stop with the runs that it waits for."""
    if pod.spec is None:
        return
    running = {run.container: run for _, run in pod.runs() if _is_alive(run, stop)}
    needed = termination_prerequisites(pod.spec, running)
    for run in stop.runs:
        if run.container in needed:
            yield run, tuple(other for name, other in running.items() if name in needed[run.container])


def _is_alive(run: RunHistory, stop: PodStop) -> bool:
    """Tell whether a run was surely in progress when a stop began."""
    if run.started is None or run.started.low > stop.began.low:
        return False
    return run.exited is None or run.exited.low > stop.began.high


def _in_turn(pod: PodHistory, stop: PodStop, run: RunHistory, other: RunHistory) -> Verdict:
    signalled, ended = _signalled(run), _end(pod, other)
    if signalled is None:
        return _unsignalled(run, other)
    if ended is None:
        return unknown(run.name, f"nothing tells when {other.name} ended", signalled)
    rule = f"{run.container} is stopped after {other.container} has ended while grace is left"
    verdict = ordered(run.name, ended, signalled, rule, is_sure=_is_sure(other))
    if verdict.outcome is not Outcome.VIOLATION:
        return verdict
    if stop.grace is None:
        return unknown(run.name, f"{verdict.text}, and nothing tells what grace it had", *verdict.moments)
    spent = Interval(stop.began.low + stop.grace, stop.began.high + stop.grace, "grace spent")
    if signalled.high < spent.low - _CLOSE_SECONDS:
        return verdict
    text = f"{shown(signalled)} with {other.name} still running: the grace of {stop.grace:g} s was spent"
    is_surely_spent = signalled.low >= spent.high - _CLOSE_SECONDS
    return (kept if is_surely_spent else unknown)(run.name, text, spent, signalled)


def _signalled(run: RunHistory) -> Interval | None:
    """Return when a run got its stop signal; an exit with 143 says that it had come by then."""
    stop = run.stop
    if stop is None:
        return None
    if stop.term is not None:
        return stop.term
    if stop.first_call is not None:
        return stop.first_call.at
    if run.code == TERM_CODE and run.exited is not None and not stop.is_signal_told:
        return Interval(stop.began.low, run.exited.high, f"{run.name} TERM")
    return None


def _told_to_stop(run: RunHistory) -> Interval | None:
    """Return when the kubelet first told the runtime to stop a run, which may be slow to send the signal."""
    call = run.stop.first_call if run.stop is not None else None
    return _signalled(run) if call is None else call.at


def _end(pod: PodHistory, run: RunHistory) -> Interval | None:
    if run.exited is None and pod.is_exact:
        return Interval(pod.ended_at, math.inf, f"the end of {run.name}")
    return run.exited


def _is_sure(run: RunHistory) -> bool:
    """Tell whether a run had surely not ended before its exit: lines tell that only of a container's first run."""
    return run.is_exit_told or run.n == 1


def _unsignalled(run: RunHistory, other: RunHistory) -> Verdict:
    """Judge a sidecar of which no signal is known: one that ended after the other is right either way."""
    if run.exited is not None and other.exited is not None and order(other.exited, run.exited)[0] is Outcome.OK:
        return ordered(run.name, other.exited, run.exited, "")
    text = f"nothing tells whether {run.name} was signalled before {other.name} had ended"
    return unknown(run.name, text, *(at for at in (run.exited, other.exited) if at is not None))


def all_at_once(pod: PodHistory, _terms: Terms) -> Iterator[Verdict]:
    """Judge that sidecars which still wait when the grace is spent get their signal then, all at once.

    Source: kubelet v1.36 waitForTurn, killContainer.
    """
    for stop in pod.stops:
        if stop.grace is None or not stop.is_grace_told or pod.kubelet_restarts:
            continue
        spent = stop.began.high + max(stop.grace, 1.0)
        for run, others in _turns(pod, stop):
            waited = [other for other in others if (end := _end(pod, other)) is not None and end.low > spent]
            signalled = _told_to_stop(run)
            if waited and signalled is not None:
                yield _at_once(run, waited[0], signalled, spent)


def _at_once(run: RunHistory, waited: RunHistory, signalled: Interval, spent: float) -> Verdict:
    limit = spent + TURN_SECONDS + LATE_SECONDS
    margin = limit - signalled.low
    told = f"{shown(signalled)}, the grace was spent at {spent:.3f} with {waited.name} still running"
    if margin < 0:
        return broken(run.name, told, "what still waits is signalled when the grace is spent", signalled, margin=margin)
    return kept(run.name, told, signalled, margin=margin)


def mains_end_first(pod: PodHistory, _terms: Terms) -> Iterator[Verdict]:
    """Judge that nobody stops the sidecars of a pod before its mains have ended, when nothing else stops the pod.

    Source: KEP-753, kubelet v1.36 computePodActions: the pod is stopped once no main runs or is to be started.
    """
    mains = [container.last_run for container in pod.of_kind(ContainerKind.MAIN)]
    for stop in pod.stops:
        is_own_end = stop.cause in _OF_ITSELF and not _stops_mains(pod, stop)
        if not is_own_end or not mains or any(run is None for run in mains):
            continue
        for run in stop.runs:
            container = pod.container(run.container)
            if container is not None and container.kind is ContainerKind.SIDECAR:
                yield from (_after_main(pod, run, main) for main in mains if main is not None)


def _stops_mains(pod: PodHistory, stop: PodStop) -> bool:
    """Tell whether a stop signalled mains too, so that it was no pod's own end."""
    for run in stop.runs:
        container = pod.container(run.container)
        is_main = container is not None and container.kind is ContainerKind.MAIN
        if is_main and run.stop is not None and (run.stop.term or run.stop.calls or run.stop.message):
            return True
    return False


def _after_main(pod: PodHistory, run: RunHistory, main: RunHistory) -> Verdict:
    signalled, ended = _signalled(run), _end(pod, main)
    rule = f"{run.container} is stopped once {main.container} has ended for good"
    if signalled is None or ended is None:
        return unknown(run.name, f"nothing tells whether {run.name} was stopped after {main.name} had ended")
    return ordered(run.name, ended, signalled, rule, is_sure=_is_sure(main))


def nothing_starts(pod: PodHistory, _terms: Terms) -> Iterator[Verdict]:
    """Judge that nothing is started once the pod is terminating; only a sync that already ran may go on to its end.

    Source: kubelet v1.36 pod worker: terminating never goes back to sync; computePodActions.
    """
    over = _terminal(pod)
    if pod.terminating is None and over is None:
        return
    for container, run in pod.runs():
        if run.started is None or any(run.started.low > again for again in pod.remade):
            continue
        if not run.is_start_told and run.started.low > _stopping_since(pod, over):
            yield unknown(run.name, f"{run.name} wrote its first line at {run.started.low:.3f}", run.started)
            continue
        previous = next((r for r in container.runs if r.n == run.n - 1), None)
        yield from _not_started(pod, run, run.started, previous, over)


def _stopping_since(pod: PodHistory, over: Interval | None) -> float:
    return min(at.low for at in (pod.terminating, over) if at is not None)


def _not_started(
    pod: PodHistory, run: RunHistory, started: Interval, previous: RunHistory | None, over: Interval | None
) -> Iterator[Verdict]:
    since = pod.terminating
    if over is not None and started.low > over.high + CLOCK_SLACK_SECONDS:
        yield _started_late(run, started, over, "a pod whose phase is terminal starts nothing")
    elif since is not None and started.high > since.low:
        yield _during(pod, run, started, since, previous)
    else:
        begun = since or over
        told = "" if begun is None else f", {seconds(begun.low - started.high)} before {shown(begun)}"
        yield kept(run.name, f"{shown(started)}{told}", started)


def _during(
    pod: PodHistory, run: RunHistory, started: Interval, since: Interval, previous: RunHistory | None
) -> Verdict:
    """Judge a start at about or after the deletion."""
    rule = "a pod that is being stopped starts nothing"
    stop = next((stop for stop in pod.stops if stop.cause is StopCause.DELETED), None)
    bounds = [at for at in pod.sandbox_stops if at.low >= since.low][_is_being_rebuilt(pod, since) :]
    if stop is not None and stop.began.high < pod.ended_at:
        bounds.append(stop.began)
    for bound in bounds:
        if started.low > bound.high + CLOCK_SLACK_SECONDS:
            return _started_late(run, started, bound, rule)
    ended = previous.exited if previous is not None and previous.stop is None else None
    if ended is not None and ended.low > since.high + RELIST_SECONDS + LATE_SECONDS and started.low > since.high:
        return _started_late(run, started, ended, rule)
    if started.low <= since.high:
        return kept(run.name, f"{shown(started)}, {shown(since)}: by the sync that already ran", since, started)
    if not bounds:
        return unknown(
            run.name, f"{shown(started)} after the deletion: nothing tells when the stop began", since, started
        )
    margin = seconds(started.low - since.high)
    text = f"{shown(started)}, {margin} after the deletion and before the stop: by the sync that already ran"
    return kept(run.name, text, since, started)


def _is_being_rebuilt(pod: PodHistory, since: Interval) -> bool:
    """Tell whether the sync that ran at a time was at making the pod anew, and so first ended its old sandbox."""
    for stop in pod.stops:
        ends = [run.exited.high for run in stop.runs if run.exited is not None]
        if stop.cause is StopCause.SANDBOX and stop.began.low <= since.high and max(ends, default=0.0) >= since.low:
            return True
    return False


def _started_late(run: RunHistory, started: Interval, bound: Interval, rule: str) -> Verdict:
    margin = bound.high - started.low
    text = f"{shown(started)}, {seconds(-margin)} after {shown(bound)}"
    return broken(run.name, text, rule, bound, started, margin=margin)


def _terminal(pod: PodHistory) -> Interval | None:
    return next((change.at for change in pod.phases if change.phase in {"Succeeded", "Failed"}), None)
