"""Why the kubelet stopped a container, and with what grace.

Source: kubelet v1.36 killContainer, setTerminationGracePeriod, calculateEffectiveGracePeriod.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from kubelet_emu.api.reasons import ALL_CONTAINERS_RESTARTING, SANDBOX_CHANGED
from kubelet_emu.journal.facts import DEFAULT_GRACE_SECONDS, ContainerKind
from kubelet_emu.lifecycle.history import StopCause
from kubelet_emu.lifecycle.pod_records import are_held_back
from kubelet_emu.rules.restart_policy import ALWAYS, ON_FAILURE

if TYPE_CHECKING:
    from kubelet_emu.api.v1 import Container, EphemeralContainer
    from kubelet_emu.lifecycle.history import ContainerHistory, PodHistory, RunHistory

_WORDS = (
    ("failed liveness probe", StopCause.LIVENESS),
    ("failed startup probe", StopCause.STARTUP),
    ("FailedPostStartHook", StopCause.POST_START),
    ("definition changed", StopCause.CHANGED),
    ("resize requires restart", StopCause.CHANGED),
    ("state, try killing it", StopCause.CHANGED),
)
_RESTART_ALL = "killing"
_FAILED_PROBES = ("Liveness probe failed", "Startup probe failed")
_OF_PROBE = {"Liveness": StopCause.LIVENESS, "Startup": StopCause.STARTUP}
_NEAR_SECONDS = 2.0
_SYNC_SECONDS = 1.0
# A stop may be seen this much before the deletion that it is for.
_SEEN_SECONDS = 0.05
_OF_STATUS = {
    "DeadlineExceeded": StopCause.DEADLINE,
    "Evicted": StopCause.EVICTED,
    "Preempting": StopCause.EVICTED,
    "Terminated": StopCause.SHUTDOWN,
}


def cause_of_message(message: str, container: ContainerHistory) -> StopCause | None:
    """Return why one container was stopped by itself, from its Killing event; None for a stop of the whole pod."""
    if message == _RESTART_ALL:
        return StopCause.RESTART_ALL
    text = message.replace(f"ontainer {container.name}", "", 1)
    return next((cause for words, cause in _WORDS if words in text), None)


def untold_cause(pod: PodHistory, run: RunHistory, at: float) -> StopCause | None:
    """Return why one container was stopped by itself where no Killing event tells, None for a stop of the whole pod.

    A kubelet sends 25 Normal events of a pod at once and then one in five minutes, so that many are never told.
    Source: KEP-5532 (the condition); kubelet v1.36 computePodActions; client-go EventSourceObjectSpamFilter.
    """
    if _restarts_all(pod, at):
        return StopCause.RESTART_ALL
    container = pod.container(run.container)
    starts = [] if container is None else [later.started for later in container.runs if later.n == run.n + 1]
    is_followed = any(start is None or not any(at < again < start.high for again in pod.remade) for start in starts)
    is_whole = pod.terminating is not None and pod.terminating.low <= at and not is_followed
    since = 0.0 if run.started is None else run.started.low
    changed = (e.at.high for e in pod.events if e.reason == SANDBOX_CHANGED)
    is_whole = is_whole or any(since <= change and abs(change - at) <= _NEAR_SECONDS for change in changed)
    if is_whole or not (is_followed or (are_held_back(pod.events, at) and not _have_ended(pod, at))):
        return None
    near = (e for e in pod.events if e.container == run.container and e.at.low <= at <= e.at.high + _SYNC_SECONDS)
    words = {f"{name} probe failed": cause for name, cause in _OF_PROBE.items()}
    found = (cause for e in near for text, cause in words.items() if is_followed and e.message.startswith(text))
    return next(found, StopCause.UNKNOWN)


def _restarts_all(pod: PodHistory, at: float) -> bool:
    changes = [c for c in pod.conditions if c.type == ALL_CONTAINERS_RESTARTING]
    ends = [change.at.high for change in changes[1:]] + [math.inf]
    return any(
        c.status == "True" and c.at.high - _SEEN_SECONDS <= at <= end for c, end in zip(changes, ends, strict=False)
    )


def pod_wide_cause(pod: PodHistory, at: float) -> StopCause:
    """Return why a whole pod was stopped at a time."""
    if pod.terminating is not None and pod.terminating.low <= at:
        return StopCause.DELETED
    if any(e.reason == "SandboxChanged" and abs(e.at.high - at) <= _NEAR_SECONDS for e in pod.events):
        return StopCause.SANDBOX
    for event in pod.events:
        if event.reason in {"DeadlineExceeded", "Evicted", "Preempting"} and event.at.low <= at:
            return _OF_STATUS[event.reason]
    if (reason := _disruption(pod)) in _OF_STATUS:
        return _OF_STATUS[reason]
    if _have_ended(pod, at):
        return StopCause.ENDED
    if any(
        e.reason == "Unhealthy" and e.message.startswith(_FAILED_PROBES) and abs(e.at.high - at) <= _NEAR_SECONDS
        for e in pod.events
    ):
        return StopCause.PROBE
    if pod.is_mirror:
        return StopCause.REMOVED
    return StopCause.INIT_FAILED if _has_failed_init(pod, at) else StopCause.UNKNOWN


def _disruption(pod: PodHistory) -> str:
    """Return the reason that the pod's status ends with; a pod that ends well keeps only the condition."""
    for condition in pod.conditions:
        if condition.type == "DisruptionTarget" and condition.status == "True":
            return "Terminated" if "node shutdown" in condition.message else "Evicted"
    return next((change.reason for change in reversed(pod.phases) if change.reason), "")


def _have_ended(pod: PodHistory, at: float) -> bool:
    mains = pod.of_kind(ContainerKind.MAIN)
    return bool(mains) and all(_is_over(c.last_run, at) and not _will_restart(pod, c) for c in mains)


def _will_restart(pod: PodHistory, container: ContainerHistory) -> bool:
    """Tell whether a container's policy has it run again after its last exit; its rules are left out."""
    own = getattr(container.spec, "restart_policy", None)
    if pod.spec is None or container.last_run is None:
        return False
    policy = own or pod.spec.spec.restart_policy or ALWAYS
    return policy == ALWAYS or (policy == ON_FAILURE and bool(container.last_run.code))


def _is_over(run: RunHistory | None, at: float) -> bool:
    return run is not None and run.exited is not None and run.exited.low <= at


def _has_failed_init(pod: PodHistory, at: float) -> bool:
    runs = (container.last_run for container in pod.of_kind(ContainerKind.INIT))
    return any(run is not None and _is_over(run, at) and run.code not in {0, None} for run in runs)


def grace_of(
    pod: PodHistory, cause: StopCause, container: Container | EphemeralContainer | None, at: float
) -> tuple[float | None, bool]:
    """Return the grace of a stop that began at a time, and whether the log or the spec is sure about it.

    A deletion counts with what the object said when the stop began: a shorter one later comes too late.
    """
    spec = None if pod.spec is None else pod.spec.spec.termination_grace_period_seconds
    own = None if pod.spec is None else float(DEFAULT_GRACE_SECONDS if spec is None else spec)
    match cause:
        case StopCause.DELETED:
            first = pod.deletions[0].at.high if pod.deletions else at
            asked = [d.grace for d in pod.deletions if d.at.high <= max(at, first) and d.grace is not None]
            return (max(asked[-1], 1.0), at >= first - _SEEN_SECONDS) if asked else (own, False)
        case StopCause.RESTART_ALL:
            return 0.0, True
        case StopCause.LIVENESS | StopCause.STARTUP if container is not None:
            probe = container.liveness_probe if cause is StopCause.LIVENESS else container.startup_probe
            seconds = probe.termination_grace_period_seconds if probe is not None else None
            return (float(seconds), True) if seconds is not None else (own, own is not None)
        case StopCause.REMOVED | StopCause.UNKNOWN:
            return own, False
        case StopCause.EVICTED | StopCause.SHUTDOWN:
            return None, False
        case _:
            return own, own is not None
