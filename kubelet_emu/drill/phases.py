"""The phases of a pod's life in which a drill deletes it, found in the history of an undisturbed run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from attrs import frozen

from kubelet_emu.api.reasons import CRASH_LOOP_BACK_OFF
from kubelet_emu.lifecycle.history import ContainerKind

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kubelet_emu.lifecycle.history import ContainerHistory, PodHistory, RunHistory
    from kubelet_emu.lifecycle.raw_records import Interval

AFTER_READY_SECONDS = 1.0
RESTART_AFTER_SECONDS = 0.5
BRIEF_SECONDS = 0.2
"""Into a phase whose length is not known."""


@frozen(kw_only=True)
class Delete:
    """Delete the pod, with its own grace unless `grace_period_seconds` says otherwise."""

    grace_period_seconds: int | None = None


@frozen(kw_only=True)
class Wait:
    """Wait for a moment (empty: none), then so many seconds."""

    moment: str = ""
    seconds: float = 0.0


@frozen(kw_only=True)
class Kill:
    """Kill a container from outside."""

    container: str


@frozen(kw_only=True)
class RestartKubelet:
    """Stop the kubelet and start it again; containers live on."""


Action = Delete | Wait | Kill | RestartKubelet


@frozen(kw_only=True)
class Phase:
    """One phase: `name` says when the pod is deleted, `actions` are done one after the other."""

    name: str
    actions: tuple[Action, ...]


def phases_of(pod: PodHistory) -> tuple[Phase, ...]:
    """Return the phases of a pod that ran undisturbed, in the order of its life."""
    ready = _ready(pod)
    found = [*_inits(pod), *_gates(pod), *_post_starts(pod)]
    if ready is not None:
        found.append(Phase(name="when ready", actions=(ready, Delete())))
        found += _pre_stops(pod, ready)
        found += _back_offs(pod, ready)
        found.append(
            Phase(name="kubelet restarts meanwhile", actions=(ready, Delete(), Wait(seconds=0.5), RestartKubelet()))
        )
    found += _own_exits(pod)
    return tuple(found)


def _ready(pod: PodHistory) -> Wait | None:
    """Return the wait for a pod that does its work: Ready, or at least one main running."""
    if any(c.type == "Ready" and c.status == "True" for c in pod.conditions):
        return Wait(moment="pod ready", seconds=AFTER_READY_SECONDS)
    mains = [main.name for main in pod.of_kind(ContainerKind.MAIN) if main.runs]
    return Wait(moment=f"{mains[-1]} started", seconds=BRIEF_SECONDS) if mains else None


def _inits(pod: PodHistory) -> Iterator[Phase]:
    for container in pod.of_kind(ContainerKind.INIT):
        if container.runs:
            run = container.runs[0]
            yield Phase(name=f"init {container.name}", actions=(_within(container, run.started, run.exited), Delete()))


def _gates(pod: PodHistory) -> Iterator[Phase]:
    """Yield the sidecars whose startup probe is waited for."""
    for container in pod.of_kind(ContainerKind.SIDECAR):
        if container.runs and getattr(container.spec, "startup_probe", None) is not None:
            run = container.runs[0]
            wait = _within(container, run.started, run.startup_ok)
            yield Phase(name=f"gate of {container.name}", actions=(wait, Delete()))


def _post_starts(pod: PodHistory) -> Iterator[Phase]:
    for container in pod.containers:
        run = container.runs[0] if container.runs else None
        if run is not None and run.post_start is not None:
            wait = _within(container, run.started, run.post_start.ended)
            yield Phase(name=f"postStart of {container.name}", actions=(wait, Delete()))


def _within(container: ContainerHistory, start: Interval | None, end: Interval | None) -> Wait:
    """Return the wait for the middle of something that began with the container's start."""
    length = BRIEF_SECONDS * 2 if start is None or end is None else max(0.0, end.high - start.high)
    return Wait(moment=f"{container.name} started", seconds=round(length / 2, 3))


def _pre_stops(pod: PodHistory, ready: Wait) -> Iterator[Phase]:
    """Yield the phase in which the pod is deleted again, with less grace, while preStop hooks run."""
    hooks = [c for c in pod.containers if getattr(getattr(c.spec, "lifecycle", None), "pre_stop", None) is not None]
    grace = pod.spec.spec.termination_grace_period_seconds if pod.spec is not None else None
    if hooks:
        again = Delete(grace_period_seconds=max(1, (30 if grace is None else grace) // 2))
        actions = (ready, Delete(), Wait(seconds=BRIEF_SECONDS), again)
        yield Phase(name="again during preStop", actions=actions)


def _back_offs(pod: PodHistory, ready: Wait) -> Iterator[Phase]:
    for container in pod.of_kind(ContainerKind.SIDECAR):
        if container.runs:
            name = container.name
            crashes = (
                ready,
                Kill(container=name),
                Wait(moment=f"{name}#2 started", seconds=BRIEF_SECONDS),
                Kill(container=name),
            )
            waiting = Wait(moment=f"{name} waiting({CRASH_LOOP_BACK_OFF})", seconds=BRIEF_SECONDS)
            before = () if _was_in_back_off(container) else crashes
            yield Phase(name=f"{name} in back-off", actions=(*before, waiting, Delete()))


def _was_in_back_off(container: ContainerHistory) -> bool:
    """Tell whether a container got there by itself."""
    return any(change.state == f"waiting:{CRASH_LOOP_BACK_OFF}" for change in container.states)


def _own_exits(pod: PodHistory) -> Iterator[Phase]:
    for container in pod.of_kind(ContainerKind.MAIN):
        run = container.runs[0] if container.runs else None
        if run is not None and _ended_by_itself(run):
            wait = Wait(moment=f"{container.name} exited")
            yield Phase(name=f"{container.name} exits itself", actions=(wait, Delete()))


def _ended_by_itself(run: RunHistory) -> bool:
    return run.exited is not None and run.stop is None
