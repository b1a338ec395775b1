"""Rules about the order in which a pod's containers start.

Each looks at a container's start and at what had to have happened by then. A pod whose containers were all made anew (a
lost sandbox, a restart of all containers) starts in the same order again.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from kubelet_emu.api.reasons import BACK_OFF
from kubelet_emu.journal.facts import ContainerKind
from kubelet_emu.lifecycle.raw_records import Interval
from kubelet_emu.lifecycle.verification.comparing import broken, kept, ordered, shown, unknown
from kubelet_emu.lifecycle.verification.verdicts import Outcome

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kubelet_emu.lifecycle.history import ContainerHistory, PodHistory, RunHistory
    from kubelet_emu.lifecycle.verification.verdicts import Terms, Verdict

    Begun = tuple[ContainerHistory, RunHistory, Interval]

INIT, SIDECAR, MAIN = ContainerKind.INIT, ContainerKind.SIDECAR, ContainerKind.MAIN
OOM_KILLED = "OOMKilled"
SAME_SYNC_SECONDS = 2.0


def init_order(pod: PodHistory, _terms: Terms) -> Iterator[Verdict]:
    """Judge that an init container or sidecar starts only after every init container before it has succeeded.

    Source: kubelet v1.36 computeInitContainerActions.
    """
    for container, run, started in _starts(pod, INIT, SIDECAR):
        for before in pod.of_kind(INIT):
            if before.index < container.index:
                yield _after_success(pod, before, run, started)


def main_after_init(pod: PodHistory, _terms: Terms) -> Iterator[Verdict]:
    """Judge that no main starts before the pod is initialized: every init container has succeeded.

    Source: kubelet v1.36 computePodActions, HasAnyRegularContainerStarted.
    """
    for _container, run, started in _starts(pod, MAIN):
        for before in pod.of_kind(INIT):
            yield _after_success(pod, before, run, started)


def sidecar_first(pod: PodHistory, _terms: Terms) -> Iterator[Verdict]:
    """Judge that a sidecar has started before the containers after it do.

    Source: KEP-753, kubelet v1.36 computeInitContainerActions.
    """
    for sidecar in pod.of_kind(SIDECAR):
        for run, started in _followers(pod, sidecar):
            rule = f"{sidecar.name} comes before {run.container} in the spec"
            first = next((r.started for r in sidecar.runs if r.started is not None), None)
            fresh = [r for r in sidecar.runs if r.started and _is_since_rebuild(pod, r.started, started)]
            if _is_in_back_off(pod, sidecar, started):
                text = f"{shown(started)}, {sidecar.name} was in back-off: the runtime may have kept what ran before"
                yield unknown(run.name, text, started)
            elif fresh and fresh[0].started is not None:
                yield ordered(run.name, fresh[0].started, started, rule, is_sure=fresh[0].is_start_told)
            elif first is not None:
                yield broken(run.name, f"{shown(started)}, and {sidecar.name} not again yet", rule, first, started)
            else:
                yield _missing(pod, run, started, sidecar, rule)


def startup_gate(pod: PodHistory, _terms: Terms) -> Iterator[Verdict]:
    """Judge that what comes after a sidecar waits for its startup probe.

    Source: KEP-753, kubelet v1.36 computeInitContainerActions.
    """
    for sidecar in pod.of_kind(SIDECAR):
        if sidecar.spec is None or sidecar.spec.startup_probe is None:
            continue
        for run, started in _followers(pod, sidecar):
            if _has_passed(pod, sidecar, run, started):
                yield kept(run.name, f"{shown(started)}: what comes after {sidecar.name} had begun before", started)
            else:
                yield from _behind_startup(sidecar, run, started)


def _has_passed(pod: PodHistory, sidecar: ContainerHistory, run: RunHistory, started: Interval) -> bool:
    """Tell whether a sidecar that had started once was passed: the furthest init container that began decides.

    Source: kubelet v1.36 computeInitContainerActions, which walks from the last to the first.
    """
    follower = pod.container(run.container)
    last = follower.index if follower is not None and follower.kind is not MAIN else math.inf
    between = (c for c in pod.of_kind(INIT, SIDECAR) if sidecar.index < c.index < last)
    has_begun = any(r.started is not None and r.started.high < started.low for c in between for r in c.runs)
    once = (r.startup_ok for r in sidecar.runs if _is_since_rebuild(pod, r.started or started, started))
    return has_begun and any(at is not None and at.high <= started.low for at in once)


def _behind_startup(sidecar: ContainerHistory, run: RunHistory, started: Interval) -> Iterator[Verdict]:
    begun = [each for each in sidecar.runs if each.started is not None and each.started.low <= started.high]
    if not begun:
        return
    current, rule = begun[-1], f"{run.container} waits for the startup probe of {sidecar.name}"
    still = [at for at in current.not_started_seen if at > started.high]
    if current.startup_ok is not None:
        verdict = ordered(run.name, current.startup_ok, started, rule)
        yield _of_same_sync(begun, run, started) or verdict if verdict.outcome is Outcome.VIOLATION else verdict
    elif (same := _of_same_sync(begun, run, started)) is not None:
        yield same
    elif still:
        text = f"{shown(started)}, and at {still[-1]:.3f} the status still had {sidecar.name} as not started"
        yield broken(run.name, text, rule, started, margin=started.high - still[-1])
    else:
        yield unknown(run.name, f"nothing tells when the startup probe of {sidecar.name} succeeded", started)


def _of_same_sync(begun: Sequence[RunHistory], run: RunHistory, started: Interval) -> Verdict | None:
    """Return that a start was right because its sync found the sidecar started, and only then stopped and restarted it.

    Source: kubelet v1.36 computeInitContainerActions, which looks at liveness and the definition last.
    """
    old, new = begun[-2:] if len(begun) > 1 else (None, None)
    if old is None or new is None or old.startup_ok is None or old.stop is None or new.started is None:
        return None
    if started.low - new.started.high >= SAME_SYNC_SECONDS:
        return None
    return kept(run.name, f"{shown(started)}, by the sync that restarted {old.container}", old.startup_ok, started)


def post_start_gate(pod: PodHistory, _terms: Terms) -> Iterator[Verdict]:
    """Judge that no container of the pod starts while a postStart hook runs.

    Source: kubelet v1.36 startContainer, which waits for the hook.
    """
    every = sorted(_starts(pod, *ContainerKind), key=lambda each: each[2].low)
    for container, run, began in every:
        spec = container.spec
        if spec is None or spec.lifecycle is None or spec.lifecycle.post_start is None:
            continue
        later = next((each for each in every if each[2].low > began.high and each[0] is not container), None)
        if later is not None and not any(began.low <= at <= later[2].high for at in pod.kubelet_restarts):
            yield _behind_hook(run, began, later)


def _behind_hook(run: RunHistory, began: Interval, later: Begun) -> Verdict:
    _, other, started = later
    hook, rule = run.post_start, f"no container starts while the postStart hook of {run.name} runs"
    if hook is not None and hook.ended is not None:
        return ordered(other.name, hook.ended, started, rule)
    if hook is not None and hook.sleep_seconds is not None:
        low, high = began.low + hook.sleep_seconds, began.high + hook.sleep_seconds
        return ordered(other.name, Interval(low, high, f"{run.name} postStart ended"), started, rule)
    return unknown(other.name, f"nothing tells when the postStart hook of {run.name} ended", started)


def _starts(pod: PodHistory, *kinds: ContainerKind) -> Iterator[Begun]:
    for container in pod.of_kind(*kinds):
        for run in container.runs:
            if run.started is not None:
                yield container, run, run.started


def _followers(pod: PodHistory, sidecar: ContainerHistory) -> Iterator[tuple[RunHistory, Interval]]:
    """Yield the starts that had to wait for a sidecar: the first of each container, and again after a rebuild."""
    for container in pod.of_kind(INIT, SIDECAR, MAIN):
        if container.kind is not MAIN and container.index <= sidecar.index:
            continue
        last: Interval | None = None
        for _, run, started in _starts(pod, container.kind):
            if run.container == container.name:
                if last is None or any(last.high < at < started.low for at in pod.rebuilds):
                    yield run, started
                last = started


def _is_in_back_off(pod: PodHistory, sidecar: ContainerHistory, started: Interval) -> bool:
    """Tell whether a sidecar was refused a start in a new sandbox, where only what is removed begins anew.

    Source: kubelet v1.36 purgeInitContainers, whose errors stop nothing.
    """
    since = max((at for at in pod.rebuilds if at < started.low), default=math.inf)
    events = (e for e in pod.events if e.reason == BACK_OFF and e.container == sidecar.name)
    return any(since <= event.at.high and event.at.low <= started.high for event in events)


def _is_since_rebuild(pod: PodHistory, sidecar: Interval, started: Interval) -> bool:
    """Tell whether a sidecar's start belongs to the same building of the pod as a later start."""
    rebuilds = [at for at in pod.rebuilds if at < started.low]
    return not rebuilds or sidecar.high >= rebuilds[-1]


def _after_success(pod: PodHistory, before: ContainerHistory, run: RunHistory, started: Interval) -> Verdict:
    rule = f"{run.container} starts after {before.name} has succeeded"
    begun = [each for each in before.runs if each.started is None or each.started.low <= started.high]
    if not begun:
        return _missing(pod, run, started, before, rule)
    last = begun[-1]
    if last.exited is None and pod.is_exact:
        return broken(run.name, f"{shown(started)}, and {last.name} had not ended", rule, started)
    if last.exited is None:
        return unknown(run.name, f"nothing tells when {last.name} ended", started)
    if last.exited.low <= started.high and (last.code or last.reason == OOM_KILLED):
        text = f"{shown(started)}, after {shown(last.exited)} had failed"
        return broken(run.name, text, rule, last.exited, started)
    return ordered(run.name, last.exited, started, rule, is_sure=last.is_exit_told or len(before.runs) == 1)


def _missing(pod: PodHistory, run: RunHistory, started: Interval, before: ContainerHistory, rule: str) -> Verdict:
    """Return the verdict on a start before which something should have run that the log doesn't show at all."""
    if pod.is_seen_from_start and pod.is_exact:
        return broken(run.name, f"{shown(started)}, and {before.name} had not run", rule, started)
    return unknown(run.name, f"the log doesn't show what ran before {run.name}", started)
