"""Rules about running a container again: whether it may, one run at a time."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from kubelet_emu.api.reasons import RESTARTING_ALL_CONTAINERS
from kubelet_emu.journal.facts import ContainerKind
from kubelet_emu.lifecycle.history import StopCause
from kubelet_emu.lifecycle.verification.comparing import broken, kept, ordered, shown, unknown
from kubelet_emu.rules.restart_policy import NEVER, container_should_restart, effective_restart_policy

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kubelet_emu.lifecycle.history import ContainerHistory, PodHistory, RunHistory, StateChange
    from kubelet_emu.lifecycle.verification.verdicts import Terms, Verdict

    Restart = tuple[RunHistory, RunHistory]

OOM_KILLED = "OOMKilled"
STATUS_UNKNOWN = "ContainerStatusUnknown"
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
