"""The one line that says what a pod waits for, as of the end of its log. Pure.

The first thing that holds decides, in the order of a pod's life: over, being deleted, not scheduled, volumes and
images, init containers and gates, readiness, then whether it will ever end.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubelet_emu.api import reasons
from kubelet_emu.journal.facts import LOST_SANDBOX, LOST_SANDBOX_FIX
from kubelet_emu.lifecycle.explaining import gates
from kubelet_emu.lifecycle.explaining.answer import Answer
from kubelet_emu.lifecycle.history import ContainerKind

if TYPE_CHECKING:
    from collections.abc import Callable

    from kubelet_emu.lifecycle.history import ContainerHistory, PodHistory, RunHistory

_PARTS = (ContainerKind.MAIN, ContainerKind.SIDECAR, ContainerKind.INIT, ContainerKind.UNKNOWN)
_OVER = frozenset({"Succeeded", "Failed"})
DEFAULT_GRACE_SECONDS = 30.0
LAST_STEPS_SECONDS = 5.0
"""A pod whose sandbox was stopped at its end has its last phase sooner."""


def explain(pod: PodHistory) -> Answer:
    """Return why a pod is where it is at the end of its log."""
    for ask in _QUESTIONS:
        if (answer := ask(pod)) is not None:
            return answer
    return _untold(pod)


def _untold(pod: PodHistory) -> Answer:
    """Say as much as a log without statuses tells: which containers have ended."""
    running = [c for c in pod.containers if _runs(c)]
    if not pod.containers or not any(c.runs for c in pod.containers):
        return Answer(pod=pod.name, text="the log doesn't tell what it does")
    if running:
        return Answer(pod=pod.name, text=f"runs: {_names(running)}", since=_first_start(running))
    return Answer(pod=pod.name, text="all its containers have ended", since=_last_exit(pod.containers))


def _over(pod: PodHistory) -> Answer | None:
    last = pod.phases[-1] if pod.phases else None
    if last is None or last.phase not in _OVER:
        return None
    why = f": {last.reason}{f', {last.message}' if last.message else ''}" if last.reason else ""
    bad = [f"{c.name} exited {run.code}" for c in pod.of_kind(*_PARTS) if (run := c.last_run) and run.code]
    what = f": {', '.join(bad)}" if bad and last.phase == "Failed" and not why else why
    return Answer(pod=pod.name, text=f"{last.phase}{what}", since=last.at.high)


def _gone(pod: PodHistory) -> Answer | None:
    return Answer(pod=pod.name, text="was deleted", since=pod.gone[-1].high) if pod.gone else None


def _deleting(pod: PodHistory) -> Answer | None:
    if pod.terminating is None:
        return None
    began = pod.terminating.high
    grace = pod.deletions[-1].grace
    if grace is None:
        own = None if pod.spec is None else pod.spec.spec.termination_grace_period_seconds
        grace = DEFAULT_GRACE_SECONDS if own is None else float(own)
    left = began + grace - pod.ended_at
    running = [c for c in pod.containers if _runs(c)]
    hooks = [c.name for c in running if _is_in_pre_stop(c.last_run)]
    waits = (
        f"the preStop hook of {', '.join(hooks)}" if hooks else f"{_names(running)} to end" if running else "clean-up"
    )
    bound = f"; {left:.0f} s of {grace:g} s grace are left, then SIGKILL" if left > 0 and running else ""
    return Answer(pod=pod.name, text=f"is being deleted and waits for {waits}{bound}", since=began)


def _is_in_pre_stop(run: RunHistory | None) -> bool:
    hook = None if run is None or run.stop is None else run.stop.pre_stop
    return hook is not None and hook.began is not None and hook.ended is None


def _unscheduled(pod: PodHistory) -> Answer | None:
    said = [c for c in pod.conditions if c.type == "PodScheduled"]
    if not said or said[-1].status == "True":
        return None
    return Answer(
        pod=pod.name,
        text=f"is not scheduled: {said[-1].message or said[-1].reason}",
        since=said[-1].at.high,
        is_stuck=True,
    )


def _unmounted(pod: PodHistory) -> Answer | None:
    """Name what keeps the sandbox or the volumes from being made, before anything ran."""
    if any(c.runs for c in pod.containers):
        return None
    told = {"FailedMount", "FailedAttachVolume", "FailedCreatePodSandBox"}
    said = [event for event in pod.events if event.reason in told]
    if not said:
        return None
    first = next(event for event in said if event.message == said[-1].message)
    return Answer(pod=pod.name, text=f"can't start: {said[-1].message}", since=first.at.high, is_stuck=True)


def _without_sandbox(pod: PodHistory) -> Answer | None:
    """Say that a pod has lost its sandbox and gets no other (kubelet v1.36 computePodActions)."""
    said = [c for c in pod.conditions if c.type == reasons.POD_READY_TO_START_CONTAINERS]
    if pod.spec is None or pod.spec.spec.restart_policy != "Never" or not said or said[-1].status == "True":
        return None
    since = said[-1].at.high
    has_run = any(c.runs for c in pod.containers) and not any(map(_runs, pod.containers))
    if not has_run or pod.ended_at - since < LAST_STEPS_SECONDS:
        return None
    return Answer(pod=pod.name, text=LOST_SANDBOX, since=since, fix=(LOST_SANDBOX_FIX,), is_stuck=True)


def _waiting(pod: PodHistory) -> Answer | None:
    """Name the container whose waiting state says why."""
    for container in _in_start_order(pod):
        state = container.states[-1] if container.states else None
        reason = "" if state is None else state.state.removeprefix("waiting:")
        if state is None or not state.state.startswith("waiting:") or reason in gates.ORDINARY_WAITS:
            continue
        since = gates.since(container, state.state)
        return gates.waiting_answer(pod, container, reason, state.message, since)
    return None


def _in_start_order(pod: PodHistory) -> tuple[ContainerHistory, ...]:
    inits = pod.of_kind(ContainerKind.INIT, ContainerKind.SIDECAR)
    return (*inits, *pod.of_kind(ContainerKind.MAIN, ContainerKind.UNKNOWN))


def _initializing(pod: PodHistory) -> Answer | None:
    mains = pod.of_kind(ContainerKind.MAIN)
    if not pod.has_kinds or any(main.runs for main in mains):
        return None
    for container in pod.of_kind(ContainerKind.INIT, ContainerKind.SIDECAR):
        if (answer := gates.gate_answer(pod, container)) is not None:
            return answer
    return None


def _starting(pod: PodHistory) -> Answer | None:
    """Say what is being made while nothing of the mains has run: images first, then containers."""
    pulls = [pull for pull in pod.pulls if pull.ended is None]
    if pulls and not any(c.runs for c in pod.of_kind(ContainerKind.MAIN)):
        text = f"waits for the image {pulls[-1].image} of {pulls[-1].container}"
        return Answer(pod=pod.name, text=text, since=pulls[-1].asked.high)
    if pod.containers and not any(c.runs for c in pod.containers):
        return Answer(pod=pod.name, text="is starting", since=None if pod.created is None else pod.created.high)
    return None


def _unready(pod: PodHistory) -> Answer | None:
    said = [c for c in pod.conditions if c.type == "Ready"]
    if not said or said[-1].status == "True":
        return None
    for container in pod.of_kind(ContainerKind.SIDECAR, ContainerKind.MAIN, ContainerKind.UNKNOWN):
        if (answer := gates.unready_answer(pod, container)) is not None:
            return answer
    return None


def _otherwise_unready(pod: PodHistory) -> Answer | None:
    said = [c for c in pod.conditions if c.type == "Ready"]
    if not said or said[-1].status == "True":
        return None
    crashed = [c for c in pod.of_kind(*_PARTS) if not _runs(c) and c.last_run is not None and c.last_run.code]
    if crashed:
        last = crashed[0].last_run
        at = None if last is None or last.exited is None else last.exited.high
        text = f"{crashed[0].name} exited {last.code if last else ''} and is about to be restarted"
        return Answer(pod=pod.name, text=text, since=at)
    return Answer(pod=pod.name, text=f"is not ready: {said[-1].message or said[-1].reason}", since=said[-1].at.high)


def _endless(pod: PodHistory) -> Answer | None:
    """Say whether a pod that ought to end will, and what keeps it."""
    policy = None if pod.spec is None else pod.spec.spec.restart_policy
    if policy not in {"Never", "OnFailure"} or not any(main.states for main in pod.of_kind(ContainerKind.MAIN)):
        return None
    mains = pod.of_kind(ContainerKind.MAIN)
    running = [main for main in mains if _runs(main)]
    if not running:
        sidecars = [c for c in pod.of_kind(ContainerKind.SIDECAR) if _runs(c)]
        text = f"its mains have ended and it waits for {_names(sidecars)} to stop" if sidecars else "is about to end"
        return Answer(pod=pod.name, text=text, since=_last_exit(mains))
    done = [main for main in mains if main not in running and main.last_run is not None and main.last_run.code == 0]
    if done:
        text = f"{_names(done)} is done; the pod ends when {_names(running)} does"
        fix = gates.native_sidecar(running) if pod.owner else ()
        return Answer(pod=pod.name, text=text, since=_last_exit(done), fix=fix, is_stuck=bool(fix))
    return Answer(pod=pod.name, text=f"runs and waits for {_names(running)} to end", since=_first_start(running))


def _last_exit(containers: tuple[ContainerHistory, ...] | list[ContainerHistory]) -> float | None:
    ends = [c.last_run.exited.high for c in containers if c.last_run is not None and c.last_run.exited is not None]
    return max(ends, default=None)


def _first_start(containers: list[ContainerHistory]) -> float | None:
    starts = [c.last_run.started.high for c in containers if c.last_run is not None and c.last_run.started is not None]
    return min(starts, default=None)


def _for_ever(pod: PodHistory) -> Answer | None:
    ready = [c for c in pod.conditions if c.type == "Ready"]
    if not ready or ready[-1].status != "True":
        return None
    text = "runs and is ready; with restartPolicy Always it ends only when it is deleted"
    return Answer(pod=pod.name, text=text, since=ready[-1].at.high)


def _runs(container: ContainerHistory) -> bool:
    run = container.last_run
    return run is not None and run.exited is None


def _names(containers: tuple[ContainerHistory, ...] | list[ContainerHistory]) -> str:
    return ", ".join(container.name for container in containers)


_QUESTIONS: tuple[Callable[[PodHistory], Answer | None], ...] = (
    _over,
    _gone,
    _deleting,
    _unscheduled,
    _unmounted,
    _without_sandbox,
    _waiting,
    _starting,
    _initializing,
    _unready,
    _endless,
    _otherwise_unready,
    _for_ever,
)
