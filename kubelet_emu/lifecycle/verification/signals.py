"""Rules about how one container is stopped: its preStop hook, its signal, its SIGKILL, the grace it was given."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubelet_emu.journal.facts import ContainerKind
from kubelet_emu.lifecycle.history import StopCause
from kubelet_emu.lifecycle.hook_facts import handler_of
from kubelet_emu.lifecycle.raw_records import Interval
from kubelet_emu.lifecycle.verification.comparing import (
    CLOCK_SLACK_SECONDS,
    broken,
    kept,
    not_before,
    order,
    ordered,
    seconds,
    shown,
    unknown,
)
from kubelet_emu.lifecycle.verification.verdicts import Outcome, Verdict
from kubelet_emu.rules.termination import MINIMUM_GRACE_PERIOD_SECONDS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kubelet_emu.lifecycle.history import ContainerHistory, PodHistory, RunHistory, Stop, StopCall
    from kubelet_emu.lifecycle.verification.verdicts import Terms

    Stopped = tuple[ContainerHistory, RunHistory, Stop]

MINIMUM = float(MINIMUM_GRACE_PERIOD_SECONDS)
# A machine under load sends its signals and sees its exits this much late.
LATE_SECONDS = 0.7
EARLY_SECONDS = 0.05
TURN_SECONDS = 1.0
HOOK_RULE = "the stop signal waits for the preStop hook while grace is left"
KILL_RULE = "SIGKILL comes when the grace is over, and at least 2 s after the stop signal"
LATE_RULE = "SIGKILL comes within the grace and 2 s, with 1 s more for a hook and for a wait"
TIMEOUT_RULE = "a stop call gives the grace less the whole seconds of hook and wait, and at least 2 s"


def pre_stop_first(pod: PodHistory, _terms: Terms) -> Iterator[Verdict]:
    """Judge that a preStop hook runs before the stop signal, which waits for it as long as there is grace.

    Source: kubelet v1.36 killContainer, executePreStopHook.
    """
    for container, run, stop in _stopped(pod):
        if handler_of(container.spec, "preStop") is None or stop.cause is StopCause.RESTART_ALL or stop.grace == 0:
            continue
        hook, term = stop.pre_stop, stop.term or _first_call(stop)
        if hook is None or term is None or _was_dead(run, stop, term):
            continue
        if any(_is_within(at, run) for at in pod.kubelet_restarts):
            yield unknown(
                run.name, f"the kubelet was restarted while {run.name} ran: it may have begun its stop twice", term
            )
        elif hook.began is None:
            yield _unseen_hook(pod, run, stop, term)
        else:
            yield _hook_then_term(run, stop, hook.began, term)


def _is_within(at: float, run: RunHistory) -> bool:
    return (run.started is None or run.started.low <= at) and (run.exited is None or at <= run.exited.high)


def _was_dead(run: RunHistory, stop: Stop, call: Interval) -> bool:
    """Tell whether a run had ended by itself when the runtime was told to stop it, which sent no signal."""
    is_silent = stop.is_signal_told and stop.term is None and stop.kill is None
    return is_silent and run.exited is not None and run.exited.high <= call.low


def _unseen_hook(pod: PodHistory, run: RunHistory, stop: Stop, term: Interval) -> Verdict:
    hook = stop.pre_stop
    if hook is None or hook.has_failed:
        return kept(run.name, f"{shown(term)}, its preStop hook failed", term)
    if hook.sleep_seconds is not None:
        return _after_sleep(run, stop, hook.sleep_seconds, term)
    if hook.is_expected and not _may_have_lost_the_spec(pod, stop):
        return broken(run.name, f"{shown(term)}, and its preStop hook never ran", HOOK_RULE, term)
    return unknown(run.name, f"nothing tells when the preStop hook of {run.name} ran", term)


def _may_have_lost_the_spec(pod: PodHistory, stop: Stop) -> bool:
    """Tell whether the kubelet may have stopped a pod that it only knew from the runtime, so without its hooks."""
    return bool(pod.kubelet_restarts) or stop.cause is StopCause.REMOVED


def _after_sleep(run: RunHistory, stop: Stop, sleep: float, term: Interval) -> Verdict:
    if stop.grace is None:
        return unknown(run.name, f"nothing tells what grace the preStop sleep of {run.name} had", term)
    length = min(sleep, stop.grace)
    bound = (stop.began.low + length, stop.began.high + length)
    outcome, margin = not_before(term, bound, EARLY_SECONDS)
    if outcome is Outcome.VIOLATION and not stop.is_grace_told:
        return unknown(run.name, f"nothing tells what grace the preStop sleep of {run.name} had", term)
    text = f"{shown(term)}, {shown(stop.began)}, its preStop hook sleeps {sleep:g} s of {stop.grace:g} s grace"
    moments = (stop.began, term)
    return Verdict(outcome=outcome, subject=run.name, text=text, rule=HOOK_RULE, moments=moments, margin=margin)


def _hook_then_term(run: RunHistory, stop: Stop, began: Interval, term: Interval) -> Verdict:
    first = ordered(run.name, began, term, HOOK_RULE)
    ended = stop.pre_stop.ended if stop.pre_stop is not None else None
    if first.outcome is not Outcome.OK or ended is None:
        return first if first.outcome is not Outcome.OK else _cut_off(run, stop, began, term)
    verdict = ordered(run.name, ended, term, HOOK_RULE)
    return verdict if verdict.outcome is not Outcome.VIOLATION else _cut_off(run, stop, began, term, verdict)


def _cut_off(run: RunHistory, stop: Stop, began: Interval, term: Interval, otherwise: Verdict | None = None) -> Verdict:
    """Judge a hook that hadn't ended when the signal came: it may only be left when its grace is over."""
    text = f"{shown(term)}, {shown(began)}"
    if stop.grace is None:
        return unknown(run.name, f"{text}, and nothing tells whether its grace was over", term)
    bound = Interval(stop.began.low + stop.grace, stop.began.high + stop.grace, "grace over")
    outcome, margin = order(bound, term)
    if outcome is not Outcome.VIOLATION:
        left = f"{text}: the hook was left when its grace of {stop.grace:g} s was over"
        return kept(run.name, left, began, term, margin=margin)
    if otherwise is not None and stop.is_grace_told:
        return otherwise
    return unknown(run.name, f"{text}, and nothing tells when the hook ended", began, term)


def kill_not_early(pod: PodHistory, _terms: Terms) -> Iterator[Verdict]:
    """Judge that SIGKILL comes when the grace is over, and never within two seconds of the stop signal.

    Source: kubelet v1.36 killContainer, minimumGracePeriodInSeconds.
    """
    for container, run, stop in _stopped(pod):
        if stop.kill is None or _is_of_sandbox(pod, stop.kill, stop) or _stops_with_kill(container, stop):
            continue
        if not stop.is_signal_told:
            yield _untold_kill(run, stop, stop.kill)
            continue
        bounds = list(_earliest(stop))
        if not bounds:
            yield unknown(run.name, f"{shown(stop.kill)}, and nothing tells when its stop began", stop.kill)
            continue
        yield _not_early(run, stop.kill, max(bounds, key=lambda bound: bound[0]))


def _not_early(run: RunHistory, kill: Interval, bound: tuple[float, float, str]) -> Verdict:
    outcome, margin = not_before(kill, bound[:2], EARLY_SECONDS)
    text = f"{shown(kill)}, {seconds(abs(margin))} {'before' if margin < 0 else 'after'} {bound[2]}"
    return Verdict(outcome=outcome, subject=run.name, text=text, rule=KILL_RULE, moments=(kill,), margin=margin)


def _untold_kill(run: RunHistory, stop: Stop, kill: Interval) -> Verdict:
    """Judge an exit with 137 where nothing tells who sent SIGKILL: late enough it is right, else unknown."""
    bounds = list(_earliest(stop))
    verdict = _not_early(run, kill, max(bounds, key=lambda bound: bound[0])) if bounds else None
    if verdict is not None and verdict.outcome is Outcome.OK:
        return verdict
    return unknown(run.name, f"{run.name} ended with 137, and nothing tells who sent SIGKILL and when", kill)


def _earliest(stop: Stop) -> Iterator[tuple[float, float, str]]:
    """Yield what SIGKILL may not come before: two times between which each bound lies, and its name."""
    if stop.term is not None and stop.is_signal_told:
        yield stop.term.low + MINIMUM, stop.term.high + MINIMUM, f"2 s after {shown(stop.term)}"
    ends = [(call.at, call.timeout) for call in stop.calls if call.timeout is not None]
    if ends:
        at, timeout = min(ends, key=lambda each: each[0].low + each[1])
        yield at.low + timeout, at.high + timeout, f"the timeout of {timeout:g} s of its stop call was over"
    if stop.grace is not None and stop.is_grace_told:
        told = f"the grace of {stop.grace:g} s from the beginning of the stop was over"
        yield stop.began.low + stop.grace, stop.began.high + stop.grace, told


def _is_of_sandbox(pod: PodHistory, kill: Interval, stop: Stop) -> bool:
    """Tell whether the runtime killed a container because its sandbox was stopped, as that of a pod nobody knows."""
    is_lost = _may_have_lost_the_spec(pod, stop)
    return is_lost and any(at.low <= kill.high and kill.low - at.high < TURN_SECONDS for at in pod.sandbox_stops)


def _stops_with_kill(container: ContainerHistory, stop: Stop) -> bool:
    """Tell whether SIGKILL is the container's own stop signal (KEP-4960)."""
    lifecycle = container.spec.lifecycle if container.spec is not None else None
    return stop.term is None and lifecycle is not None and lifecycle.stop_signal == "SIGKILL"


def kill_not_late(pod: PodHistory, _terms: Terms) -> Iterator[Verdict]:
    """Judge that nothing outlives its grace by more than the two seconds each container gets at least.

    A hook and a wait for others may each cost up to a second more, for they are counted in whole seconds.
    Source: kubelet v1.36 killContainer.
    """
    for container, run, stop in _stopped(pod):
        limits = list(_latest(pod, container, stop))
        if not limits:
            continue
        limit, name = min(limits)
        end = stop.kill or run.exited
        if end is None and run.exited is None and pod.is_exact and stop.is_signal_told:
            end = Interval(pod.ended_at, pod.ended_at, f"{run.name} still running at the end of the log")
            if end.high <= limit:
                continue
        if end is None:
            yield unknown(run.name, f"nothing tells when {run.name} ended", stop.began)
            continue
        yield _not_late(run, end, limit, name)


def _not_late(run: RunHistory, end: Interval, limit: float, name: str) -> Verdict:
    margin = limit - end.high
    if end.low > limit:
        text = f"{shown(end)}, {seconds(end.low - limit)} too late: {name}"
        return broken(run.name, text, LATE_RULE, end, margin=limit - end.low)
    text = f"{shown(end)}, {name}"
    return kept(run.name, text, end, margin=margin) if margin >= 0 else unknown(run.name, text, end)


def _latest(pod: PodHistory, container: ContainerHistory, stop: Stop) -> Iterator[tuple[float, str]]:
    """Yield the latest moments at which a container may get SIGKILL, each with its reason."""
    if stop.is_signal_told and stop.calls and stop.term is None and not _stops_with_kill(container, stop):
        return  # nothing tells when the runtime, which may be slow or fail, did what it was told
    late = _lateness(stop)
    if stop.calls and stop.calls[-1].timeout is not None:
        last = stop.calls[-1]
        yield last.at.high + stop.calls[-1].timeout + late + LATE_SECONDS, f"its stop call gave it {last.timeout:g} s"
    is_interrupted = any(stop.began.low <= at for at in pod.kubelet_restarts)
    if stop.grace is None or not stop.is_grace_told or is_interrupted or len(stop.calls) > 1:
        return
    turns = (handler_of(container.spec, "preStop") is not None) + _waits(pod, container)
    limit = stop.began.high + stop.grace + MINIMUM + turns * TURN_SECONDS + late + LATE_SECONDS
    yield limit, f"its grace was {stop.grace:g} s, {shown(stop.began)}"


def _lateness(stop: Stop) -> float:
    """Return by how much a slow runtime sent the stop signal after it was told to, from when on it counts."""
    if stop.term is None or not stop.calls or not stop.is_signal_told:
        return 0.0
    before = [call.at.low for call in stop.calls if call.at.low <= stop.term.high]
    return max(0.0, stop.term.high - before[-1]) if before else 0.0


def _waits(pod: PodHistory, container: ContainerHistory) -> bool:
    """Tell whether a container may have to wait for others; without a spec it may."""
    return container.kind not in {ContainerKind.MAIN, ContainerKind.INIT} or not pod.has_kinds


def stop_timeout(pod: PodHistory, _terms: Terms) -> Iterator[Verdict]:
    """Judge that the stop call gives what is left of the grace, at least two seconds.

    Source: kubelet v1.36 killContainer, setTerminationGracePeriod.
    """
    for container, run, stop in _stopped(pod):
        call = stop.first_call
        if call is None or call.timeout is None or any(stop.began.low <= at for at in pod.kubelet_restarts):
            continue
        if stop.grace is None or not stop.is_grace_told:
            yield unknown(run.name, f"nothing tells what grace {run.name} had", call.at)
        elif pod.kubelet_restarts and call.timeout == MINIMUM:
            yield unknown(run.name, f"a kubelet that was restarted may not have known the spec of {run.name}", call.at)
        else:
            yield _call_of(pod, container, run, stop, call)


def _call_of(pod: PodHistory, container: ContainerHistory, run: RunHistory, stop: Stop, call: StopCall) -> Verdict:
    given, grace = call.timeout or 0.0, stop.grace or 0.0
    turns = (handler_of(container.spec, "preStop") is not None) + _waits(pod, container)
    shortest, longest = max(0.0, call.at.low - stop.began.high), call.at.high - stop.began.low
    least = max(MINIMUM, grace - longest) if turns else max(MINIMUM, grace)
    most = max(MINIMUM, grace - shortest + turns) if turns else least
    told = f"stop call of {run.name} at {call.at.high:.3f} with {given:g} s, of a grace of {grace:g} s"
    margin = min(given - least, most - given)
    if margin >= -CLOCK_SLACK_SECONDS:
        return kept(run.name, told, stop.began, call.at, margin=margin)
    left = f"at least {least:.2f}" if given < least else f"no more than {most:.2f}"
    return broken(run.name, f"{told}: {left} s were left", TIMEOUT_RULE, stop.began, call.at, margin=margin)


def _stopped(pod: PodHistory) -> Iterator[Stopped]:
    for container, run in pod.runs():
        if run.stop is not None:
            yield container, run, run.stop


def _first_call(stop: Stop) -> Interval | None:
    return stop.first_call.at if stop.first_call is not None else None
