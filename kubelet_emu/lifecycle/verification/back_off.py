"""The rule that restarts wait for the crash-loop back-off.

The log's starts are walked through with the kubelet's own delays (`rules.backoff`). Where it doesn't tell whether an
entry was doubled, the smaller delay is kept, and from there on nothing is called late: what a log doesn't tell is not
held against it.
Source: kubelet v1.36 doBackOff, GetBackoffKey, newCrashLoopBackOff (KEP-4603).
"""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, cast

from attrs import define, field, frozen

from kubelet_emu.api.codec import encode
from kubelet_emu.api.reasons import (
    ALL_CONTAINERS_RESTARTING,
    FAILED,
    RESIZE_STARTED,
    RESTARTING_ALL_CONTAINERS,
)
from kubelet_emu.journal.facts import ContainerKind
from kubelet_emu.lifecycle.history import StopCause
from kubelet_emu.lifecycle.raw_records import CANNOT_RUN
from kubelet_emu.lifecycle.verification.comparing import not_before, seconds, shown
from kubelet_emu.lifecycle.verification.verdicts import Outcome, Verdict
from kubelet_emu.rules.backoff import EXPIRE_SECONDS, Backoff, crash_loop_backoff

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kubelet_emu.lifecycle.history import ContainerHistory, PodHistory, RunHistory
    from kubelet_emu.lifecycle.raw_records import Interval
    from kubelet_emu.lifecycle.verification.verdicts import Terms

_ORIGIN = datetime(2000, 1, 1, tzinfo=UTC)
_SAME_SYNC_SECONDS = 2.0
_KUBELET_SLACK_SECONDS = 2.0
_HOUSEKEEPING_SECONDS = 2.0
_RULE = "a container that ends again and again waits 0, 10, 20, 40 s ... up to 300 s"
_EARLY_SECONDS = 0.05
_LONGEST_SLEEP_SECONDS = 60.0
_LATE_SECONDS = 10.0
_WARNINGS_TOLD = 20
_RESTARTED_AT_ONCE = frozenset({StopCause.LIVENESS, StopCause.STARTUP, StopCause.CHANGED})
_START_FAILED = "Error: "
_USUAL_WAITS = frozenset({"", "CrashLoopBackOff", "ContainerCreating", "PodInitializing"})


@define
class _Series:
    """The delays of one container; `is_exact` while no entry can be greater than what is known of it."""

    fresh: Backoff
    backoff: Backoff = field(init=False)
    is_exact: bool = True
    key: str = ""

    def __attrs_post_init__(self) -> None:
        self.backoff = self.fresh

    def forget(self, *, is_exact: bool) -> None:
        """Drop all entries: the kubelet did so, or (not exact) nobody knows what became of them."""
        self.backoff, self.is_exact = self.fresh, is_exact

    def delay_after(self, ended: float) -> float:
        """Return how long a start must wait after an exit."""
        until = self.backoff.refused_until(self.key, _at(ended), _at(ended))
        return 0.0 if until is None else (until - _at(ended)).total_seconds()

    def allow(self, ended: float, started: float) -> None:
        """Take a start that was allowed."""
        self.backoff = self.backoff.next(self.key, _at(ended), _at(started))

    def unused_seconds(self, at: float) -> float:
        """Return for how long the entry in force was not touched, 0 where there is none."""
        entry = self.backoff.entries.get(self.key)
        return 0.0 if entry is None else (_at(at) - entry.updated_at).total_seconds()


def _at(time: float) -> datetime:
    return _ORIGIN + timedelta(seconds=time)


@frozen(kw_only=True)
class _Restart:
    """A run and the two before it; `ended` and `started` are the gap that is judged."""

    pod: PodHistory
    container: ContainerHistory
    older: RunHistory | None
    before: RunHistory
    run: RunHistory
    ended: Interval
    started: Interval

    @property
    def since(self) -> float:
        """Return when the run before had surely begun."""
        return self.ended.low if self.before.started is None else self.before.started.low

    @property
    def decided(self) -> float:
        """Return when the sync that started the run may have begun at the earliest, by what else it had to do."""
        busy = [began for began, ended in _busy(self.pod) if began <= self.started.low <= ended + _SAME_SYNC_SECONDS]
        return min([self.started.low, *(began for began in busy if began < self.started.low)])

    @property
    def is_failed_start(self) -> bool:
        """Tell whether the process of the run could not be started."""
        return self.run.started is None

    def has(self, *moments: float) -> bool:
        """Tell whether one of these moments lies between the two starts."""
        return any(self.since <= moment < self.started.high for moment in moments)


def back_off(pod: PodHistory, terms: Terms) -> Iterator[Verdict]:
    """Judge that restarts wait as long as the crash-loop back-off says: nothing, 10 s, 20 s, doubling up to 300 s.

    Source: kubelet v1.36 doBackOff, newCrashLoopBackOff (KEP-4603).
    """
    period = terms.configuration.max_container_restart_period_seconds if terms.configuration is not None else None
    for container in pod.containers:
        series = _Series(crash_loop_backoff(terms.gates, period))
        for index in range(1, len(container.runs)):
            restart = _restart(pod, container, index)
            if restart is None:
                series.forget(is_exact=False)
                continue
            yield from _waited(series, restart)


def _restart(pod: PodHistory, container: ContainerHistory, index: int) -> _Restart | None:
    """Return a restart, None where the log doesn't tell when it was."""
    before, run = container.runs[index - 1 : index + 1]
    started = run.exited if run.started is None and run.reason in CANNOT_RUN else run.started
    if started is None or before.exited is None or not (run.is_start_told and before.is_exit_told):
        return None
    return _Restart(
        pod=pod,
        container=container,
        older=container.runs[index - 2] if index > 1 else None,
        before=before,
        run=run,
        ended=before.exited,
        started=started,
    )


def _waited(series: _Series, restart: _Restart) -> Iterator[Verdict]:
    pod = restart.pod
    if restart.has(*pod.remade):
        series.forget(is_exact=True)
    if not _take_key(series, restart) or restart.has(*pod.remade):
        return
    _forget_restarted(series, restart)
    if _restarts_all(restart):
        return
    if restart.has(*pod.rebuilds) or _stopped_for(restart, _SANDBOX):
        series.forget(is_exact=False)
        return
    ended = _counted_exit(series, restart)
    if ended is not None:
        yield from _judged(series, restart, ended)


def _forget_restarted(series: _Series, restart: _Restart) -> None:
    """Drop the entries of a kubelet that was restarted; it may have gone on for a moment when it was told to stop."""
    low, high = restart.since, restart.started.high
    around = [at for at in restart.pod.kubelet_restarts if abs(at - low) <= _KUBELET_SLACK_SECONDS or low <= at <= high]
    around += [at for at in restart.pod.kubelet_restarts if high < at <= high + _KUBELET_SLACK_SECONDS]
    if around:
        series.forget(is_exact=all(low + _KUBELET_SLACK_SECONDS < at <= high for at in around))


_SANDBOX = frozenset({StopCause.SANDBOX})
_RESTART_ALL = frozenset({StopCause.RESTART_ALL})
_UNKNOWN = frozenset({StopCause.UNKNOWN})


def _stopped_for(restart: _Restart, causes: frozenset[StopCause]) -> bool:
    return restart.before.stop is not None and restart.before.stop.cause in causes


def _restarts_all(restart: _Restart) -> bool:
    """Tell whether all containers were restarted: no delay, and no entry is touched (KEP-5532)."""
    if restart.before.reason == RESTARTING_ALL_CONTAINERS or _stopped_for(restart, _RESTART_ALL):
        return True
    conditions = (c for c in restart.pod.conditions if c.type == ALL_CONTAINERS_RESTARTING and c.status == "True")
    return restart.has(*(condition.at.high for condition in conditions))


def _take_key(series: _Series, restart: _Restart) -> bool:
    """Set the entry in force, and return whether the log tells which: another image or other resources have their own.

    Source: kubelet v1.36 GetBackoffKey.
    """
    container, run = restart.container, restart.run
    image = _image_of(container, run) or json.loads(series.key or '[""]')[0]
    resources, is_sure = _resources_of(restart)
    key = json.dumps([image, resources], sort_keys=True)
    images = {state.image for state in container.states if state.image}
    is_sure = is_sure and (len(images) <= 1 or bool(_image_of(container, run)))
    if key == series.key and any(
        at.high > restart.since and at.low < restart.started.high for at in restart.pod.spec_changes
    ):
        is_sure = False
    if not is_sure:
        series.forget(is_exact=False)
    series.key = key
    return is_sure


def _image_of(container: ContainerHistory, run: RunHistory) -> str:
    shows = (state.image for state in container.states if state.restart_count == run.n - 1 and state.state == "running")
    return next(shows, "")


def _resources_of(restart: _Restart) -> tuple[object, bool]:
    """Return a container's resources at a start, by its spec and the kubelet's words of resizes, and whether surely.

    A spec that says what the last resize says may be of after it, so what the container began with is unknown.
    """
    spec, name = restart.container.spec, restart.container.name
    resources: object = encode(spec.resources) if spec is not None and spec.resources is not None else {}
    told = [(event.at, _sizes(event.message)) for event in restart.pod.events if event.reason == RESIZE_STARTED]
    sizes = [(at, size[name]) for at, size in told if name in size]
    if sizes and sizes[-1][1] == resources:
        resources = None
    seen: list[object] = [] if resources is None else [resources]
    is_original_known, is_sure = bool(seen), True
    for at, size in sizes:
        if at.low > restart.started.high:
            break
        is_told = at.high <= restart.decided and (is_original_known or size in seen)
        is_sure = is_sure and (is_told or at.high < restart.since)
        resources = size
        seen.append(size)
    return resources, is_sure


def _sizes(message: str) -> dict[str, object]:
    """Return the new resources by container of a resize, from the JSON of its event."""
    try:
        told = json.loads(message[message.index("{") :])
    except ValueError:
        return {}
    each = [*told.get("initContainers", ()), *told.get("containers", ())]
    return {str(size.get("name")): size.get("resources") for size in each}


def _counted_exit(series: _Series, restart: _Restart) -> Interval | None:
    """Return the exit that a start waited for, None where the kubelet saw none.

    The sync that kills a container starts it again, and looks at the exit before that; if it is refused then, the next
    ones look at its own.
    """
    if _stopped_for(restart, _UNKNOWN):
        series.is_exact = False
        return None
    if not _stopped_for(restart, _RESTARTED_AT_ONCE):
        return restart.ended
    older = restart.older
    if older is not None and any(_since(older) <= at < restart.since for at in restart.pod.rebuilds):
        series.is_exact = False
        older = None
    if older is None or older.exited is None:
        series.is_exact = series.is_exact and older is None
        return None
    until = older.exited.high + series.delay_after(older.exited.high)
    if restart.ended.high + _SAME_SYNC_SECONDS < until and _was_signalled(restart.before):
        return restart.ended
    if restart.ended.low < until + _SAME_SYNC_SECONDS:
        series.is_exact = False
    return older.exited


def _since(run: RunHistory) -> float:
    return 0.0 if run.started is None else run.started.low


def _was_signalled(run: RunHistory) -> bool:
    """Tell whether a run ended by its stop signal, at once after the call: a slow runtime may answer only later."""
    stop = run.stop
    return stop is not None and stop.term is not None and run.exited is not None and stop.term.high <= run.exited.low


def _judged(series: _Series, restart: _Restart, ended: Interval) -> Iterator[Verdict]:
    for at in _failed_starts(series, restart):
        series.allow(ended.high, at)
    delay, unused = series.delay_after(ended.high), series.unused_seconds(restart.started.high)
    is_collected = unused > EXPIRE_SECONDS
    if is_collected:
        series.forget(is_exact=series.is_exact and unused > EXPIRE_SECONDS + _HOUSEKEEPING_SECONDS)
    is_exact = series.is_exact
    series.allow(ended.high, restart.started.high)
    if delay and not is_collected and not restart.is_failed_start:
        yield _verdict(restart, ended, delay, is_exact=is_exact)


def _failed_starts(series: _Series, restart: _Restart) -> Iterator[float]:
    """Yield when starts were allowed that then failed without a run: each doubles the delay.

    Source: kubelet v1.36 doBackOff, which is asked before the image is pulled and the container created.
    """
    pod, name = restart.pod, restart.container.name
    first = max([restart.ended.high, *(at for at in pod.kubelet_restarts if at < restart.started.low)])
    lasting = (first, restart.started.low)
    failures = [
        event
        for event in pod.events
        if event.reason == FAILED and event.container == name and event.message.startswith(_START_FAILED)
    ]
    told = [event for event in failures if lasting[0] < event.at.low and event.at.high < lasting[1]]
    near = [event for event in failures if event.at.high >= first and event.at.low <= restart.started.high]
    states = (state.state for state in restart.container.states if _is_between(state.at, lasting))
    waits = {state.removeprefix("waiting:") for state in states if state.startswith("waiting:")}
    is_unsure = len(near) > len(told) + restart.is_failed_start or (not told and not waits <= _USUAL_WAITS)
    if is_unsure or sum(event.type == "Warning" for event in pod.events) >= _WARNINGS_TOLD:
        series.is_exact = False
    yield from (event.at.high for event in told)


def _is_between(at: Interval, lasting: tuple[float, float]) -> bool:
    return lasting[0] < at.low and at.high < lasting[1]


def _verdict(restart: _Restart, ended: Interval, delay: float, *, is_exact: bool) -> Verdict:
    started = restart.started
    outcome, margin = not_before(started, (ended.low + delay, ended.high + delay), _EARLY_SECONDS)
    text = f"{shown(started)}, {seconds(started.high - ended.high)} after {shown(ended)}, of a back-off of {delay:g} s"
    latest = ended.high + delay + min(delay, _LONGEST_SLEEP_SECONDS) / 2 + _LATE_SECONDS
    is_late = outcome is Outcome.OK and started.low > latest
    if is_late and is_exact and not _is_held_up(restart) and not _waits_for_sidecar(restart):
        outcome, margin = Outcome.VIOLATION, latest - started.low
    return Verdict(
        outcome=outcome, subject=restart.run.name, text=text, rule=_RULE, moments=(ended, started), margin=margin
    )


def _waits_for_sidecar(restart: _Restart) -> bool:
    """Tell whether a main had to wait for a sidecar that was down, too, or not started yet.

    Source: kubelet v1.36 computeInitContainerActions: without a running main the last init container comes first.
    """
    if restart.container.kind is not ContainerKind.MAIN:
        return False
    sidecars = restart.pod.of_kind(ContainerKind.SIDECAR, ContainerKind.UNKNOWN)
    low, high = restart.ended.low, restart.started.high
    ends = [run.exited for container in sidecars for run in container.runs if run.exited is not None]
    starts = [run.started for container in sidecars for run in container.runs if run.started is not None]
    return any(at.high >= low and at.low <= high for at in (*ends, *starts))


def _is_held_up(restart: _Restart) -> bool:
    """Tell whether something else may have kept the pod's worker busy: a pull, a hook, a stop, a restart."""
    low, high = restart.ended.low, restart.started.high
    is_busy = any(began <= high and ended >= low for began, ended in _busy(restart.pod))
    return is_busy or any(low <= at <= high for at in restart.pod.kubelet_restarts)


def _busy(pod: PodHistory) -> Iterator[tuple[float, float]]:
    """Yield the times through which the pod's worker was or may have been at something else."""
    infinity = float("inf")
    for _, run in pod.runs():
        if run.stop is not None:
            yield run.stop.began.low, infinity if run.exited is None else run.exited.high
        hook = run.post_start
        if hook is not None and (hook.began or run.started) is not None:
            began = cast("Interval", hook.began or run.started)
            yield began.low, began.high if hook.ended is None else hook.ended.high
    for pull in pod.pulls:
        yield pull.asked.low, infinity if pull.ended is None else pull.ended.high
