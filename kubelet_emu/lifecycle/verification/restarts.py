"""Rules about running a container again: whether, when, one run at a time."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import TYPE_CHECKING

from attrs import define, field

from kubelet_emu.api.reasons import RESTARTING_ALL_CONTAINERS
from kubelet_emu.journal.facts import ContainerKind
from kubelet_emu.lifecycle.history import StopCause
from kubelet_emu.lifecycle.verification.comparing import broken, kept, not_before, ordered, seconds, shown, unknown
from kubelet_emu.lifecycle.verification.verdicts import Outcome, Verdict
from kubelet_emu.rules.backoff import EXPIRE_SECONDS, Backoff, crash_loop_backoff
from kubelet_emu.rules.restart_policy import NEVER, container_should_restart, effective_restart_policy

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kubelet_emu.lifecycle.history import ContainerHistory, PodHistory, RunHistory, StateChange
    from kubelet_emu.lifecycle.raw_records import Interval
    from kubelet_emu.lifecycle.verification.verdicts import Terms

    Restart = tuple[RunHistory, RunHistory]
    Restarted = tuple[RunHistory | None, RunHistory, RunHistory]

OOM_KILLED = "OOMKilled"
STATUS_UNKNOWN = "ContainerStatusUnknown"
_ORIGIN = datetime(2000, 1, 1, tzinfo=UTC)
_KEY = ""
_SAME_SYNC_SECONDS = 2.0
_BACK_OFF_RULE = "a container that ends again and again waits 0, 10, 20, 40 s ... up to 300 s"
_EARLY_SECONDS = 0.05
_LONGEST_SLEEP_SECONDS = 60.0
_LATE_SECONDS = 10.0
_PROBE_CAUSES = frozenset({StopCause.LIVENESS, StopCause.STARTUP})


def may_restart(pod: PodHistory, terms: Terms) -> Iterator[Verdict]:
    """Judge that only what may run again does: by the policies, the rules and the exit code.

    Source: kubelet v1.36 ShouldContainerBeRestarted, computeInitContainerActions; KEP-753, KEP-5307.
    """
    for container in pod.containers:
        for before, run in pairwise(container.runs):
            if run.started is not None and not _is_made_anew(pod, container, before, run):
                yield _may_restart(pod, terms, container, (before, run))


def _may_restart(pod: PodHistory, terms: Terms, container: ContainerHistory, restart: Restart) -> Verdict:
    before, run = restart
    moments = tuple(at for at in (before.exited, run.started) if at is not None)
    allowed = _is_allowed(pod, terms, container, before)
    ended = shown(before.exited) if before.exited is not None else f"{before.name} ended"
    if allowed is None:
        text = f"nothing tells with what {before.name} ended, or what its policy is"
        return unknown(run.name, text, *moments)
    if allowed:
        return kept(run.name, f"{ended} and may run again", *moments)
    text = f"{ended} and was run again at {moments[-1].high:.3f}"
    return broken(run.name, text, _why_not(pod, terms, container), *moments)


def _is_allowed(pod: PodHistory, terms: Terms, container: ContainerHistory, before: RunHistory) -> bool | None:
    """Tell whether a container may run again after a run; None where the facts are missing."""
    if container.kind is ContainerKind.SIDECAR or before.reason == STATUS_UNKNOWN:
        return True
    if container.kind is ContainerKind.EPHEMERAL:
        return False
    if container.spec is None or pod.spec is None or before.code is None:
        return None
    if container.kind is ContainerKind.INIT and before.code == 0 and before.reason != OOM_KILLED:
        return None if pod.kubelet_restarts else False
    policy = effective_restart_policy(container.spec, pod.spec, terms.gates)
    if before.stop is not None and before.stop.cause in _PROBE_CAUSES and policy != NEVER:
        return True
    return container_should_restart(container.spec, pod.spec, before.code, terms.gates)


def _why_not(pod: PodHistory, terms: Terms, container: ContainerHistory) -> str:
    if container.kind is ContainerKind.EPHEMERAL:
        return "an ephemeral container runs once"
    if container.spec is None or pod.spec is None:
        return ""
    policy = effective_restart_policy(container.spec, pod.spec, terms.gates)
    if container.kind is ContainerKind.INIT:
        return f"an init container that is done is not run again (restartPolicy {policy})"
    return f"its restartPolicy is {policy}"


def _is_made_anew(pod: PodHistory, container: ContainerHistory, before: RunHistory, run: RunHistory) -> bool:
    """Tell whether a run is no restart of the one before: the pod was rebuilt, deleted and made anew, or changed."""
    started = run.started
    if started is None:
        return False
    if before.reason == RESTARTING_ALL_CONTAINERS:
        return True
    if before.stop is not None and before.stop.cause in {StopCause.CHANGED, StopCause.RESTART_ALL, StopCause.SANDBOX}:
        return True
    since = before.started.high if before.started is not None else 0.0
    anew = (*pod.rebuilds, *pod.remade)
    return any(since < at < started.low for at in anew) or _has_new_image(container, before, run)


def _has_new_image(container: ContainerHistory, before: RunHistory, run: RunHistory) -> bool:
    images = {_image_of(container, before), _image_of(container, run)}
    return len(images) > 1 and "" not in images


def _image_of(container: ContainerHistory, run: RunHistory) -> str:
    shows = (state.image for state in container.states if state.restart_count == run.n - 1 and state.state == "running")
    return next(shows, "")


def one_run_at_a_time(pod: PodHistory, _terms: Terms) -> Iterator[Verdict]:
    """Judge that a container has one run at a time.

    Source: kubelet v1.36 SyncPod, which kills before it starts again.
    """
    for container in pod.containers:
        for before, run in pairwise(container.runs):
            if run.started is None:
                continue
            if before.exited is not None:
                rule = f"{container.name} has one run at a time"
                yield ordered(run.name, before.exited, run.started, rule, is_sure=before.is_exit_told)
            else:
                yield unknown(run.name, f"nothing tells when {before.name} ended", run.started)


def restart_count_rises(pod: PodHistory, _terms: Terms) -> Iterator[Verdict]:
    """Judge that a container's restartCount never falls.

    Source: kubelet v1.36 startContainer, generateContainerStatus.
    """
    for container in pod.containers:
        falls = [pair for pair in pairwise(container.states) if _falls(pod, *pair)]
        for old, new in falls:
            fall = f"from {old.restart_count} to {new.restart_count}"
            text = f"restartCount of {container.name} fell {fall} at {new.at.high:.3f}"
            yield broken(container.name, text, "it only rises", old.at, new.at)
        if container.states and not falls:
            yield kept(container.name, f"restartCount of {container.name}: {container.states[-1].restart_count}")


def _falls(pod: PodHistory, old: StateChange, new: StateChange) -> bool:
    is_remade = any(old.at.low <= again <= new.at.high for again in pod.remade)
    return new.restart_count < old.restart_count and not is_remade


@define
class _Series:
    """The back-off of one container while its restarts are walked through."""

    backoff: Backoff
    fresh: Backoff = field(init=False)

    def __attrs_post_init__(self) -> None:
        self.fresh = self.backoff

    def forget(self) -> None:
        """Start a new series: another image, or a kubelet that was restarted."""
        self.backoff = self.fresh

    def delay_after(self, ended: float) -> float:
        """Return how long a start must wait after an exit."""
        until = self.backoff.refused_until(_KEY, _at(ended), _at(ended))
        return 0.0 if until is None else (until - _at(ended)).total_seconds()

    def allow(self, ended: float, started: float) -> None:
        """Take a start that was allowed."""
        self.backoff = self.backoff.next(_KEY, _at(ended), _at(started))

    def is_collected(self, at: float) -> bool:
        """Tell whether housekeeping may have dropped the entry by then."""
        entry = self.backoff.entries.get(_KEY)
        return entry is not None and (_at(at) - entry.updated_at).total_seconds() > EXPIRE_SECONDS


def _at(time: float) -> datetime:
    return _ORIGIN + timedelta(seconds=time)


def back_off(pod: PodHistory, terms: Terms) -> Iterator[Verdict]:
    """Judge that restarts wait as long as the crash-loop back-off says: nothing, 10 s, 20 s, doubling up to 300 s.

    Source: kubelet v1.36 doBackOff, newCrashLoopBackOff (KEP-4603).
    """
    period = terms.configuration.max_container_restart_period_seconds if terms.configuration is not None else None
    for container in pod.containers:
        series = _Series(crash_loop_backoff(terms.gates, period))
        for index, (before, run) in enumerate(pairwise(container.runs)):
            older = container.runs[index - 1] if index else None
            if run.started is None or before.exited is None or not (run.is_start_told and before.is_exit_told):
                series.forget()
                continue
            yield from _waited(pod, container, series, (older, before, run))


def _waited(
    pod: PodHistory,
    container: ContainerHistory,
    series: _Series,
    runs: tuple[RunHistory | None, RunHistory, RunHistory],
) -> Iterator[Verdict]:
    older, before, run = runs
    ended, started = before.exited, run.started
    if ended is None or started is None:
        return
    if _is_made_anew(pod, container, before, run):
        series.forget()
        return
    if any(ended.low <= at <= started.high for at in pod.kubelet_restarts):
        series.forget()
    if _is_in_kill_sync(before, ended, started):
        if older is None or older.exited is None:
            return
        ended = older.exited
    delay = series.delay_after(ended.high)
    collected = series.is_collected(started.high)
    series.allow(ended.high, started.high)
    if delay and not collected:
        yield _judged(pod, run, (ended, started), delay)


def _is_in_kill_sync(before: RunHistory, ended: Interval, started: Interval) -> bool:
    """Tell whether the sync that killed a container started it again: that one looks at the exit before."""
    is_killed = before.stop is not None and before.stop.cause in _PROBE_CAUSES
    return is_killed and started.low - ended.high < _SAME_SYNC_SECONDS


def _judged(pod: PodHistory, run: RunHistory, gap: tuple[Interval, Interval], delay: float) -> Verdict:
    ended, started = gap
    outcome, margin = not_before(started, (ended.low + delay, ended.high + delay), _EARLY_SECONDS)
    text = f"{shown(started)}, {seconds(started.high - ended.high)} after {shown(ended)}, of a back-off of {delay:g} s"
    latest = ended.high + delay + min(delay, _LONGEST_SLEEP_SECONDS) / 2 + _LATE_SECONDS
    if outcome is Outcome.OK and started.low > latest and not _is_held_up(pod, ended, started):
        outcome, margin = Outcome.VIOLATION, latest - started.low
    return Verdict(
        outcome=outcome, subject=run.name, text=text, rule=_BACK_OFF_RULE, moments=(ended, started), margin=margin
    )


def _is_held_up(pod: PodHistory, ended: Interval, started: Interval) -> bool:
    """Tell whether something else may have kept the pod's worker busy: a pull, a hook, a stop, a restart."""
    others = [run.stop.began for _, run in pod.runs() if run.stop is not None]
    others += [run.post_start.began for _, run in pod.runs() if run.post_start is not None and run.post_start.began]
    others += [pull.asked for pull in pod.pulls]
    is_busy = any(at.high >= ended.low and at.low <= started.high for at in others)
    return is_busy or any(ended.low <= at <= started.high for at in pod.kubelet_restarts)
