"""What keeps a container from starting, from being ready, or the next one from starting. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubelet_emu.lifecycle.explaining.answer import Answer
from kubelet_emu.lifecycle.history import ContainerKind

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kubelet_emu.api.v1_handlers import Probe
    from kubelet_emu.lifecycle.history import ContainerHistory, PodHistory, RunHistory

ORDINARY_WAITS = frozenset({"", "PodInitializing", "ContainerCreating"})
_IMAGE_WAITS = frozenset({"ErrImagePull", "ImagePullBackOff", "ErrImageNeverPull", "InvalidImageName"})
_SETTING_WAITS = frozenset({"CreateContainerConfigError", "CreateContainerError", "RunContainerError"})


def since(container: ContainerHistory, state: str) -> float | None:
    """Return when the present waiting began: both words for a pull that fails are one wait."""
    same = _IMAGE_WAITS if state.removeprefix("waiting:") in _IMAGE_WAITS else {state.removeprefix("waiting:")}
    at = None
    for change in reversed(container.states):
        if change.state.removeprefix("waiting:") not in same:
            break
        at = change.at.high
    return at


def waiting_answer(pod: PodHistory, container: ContainerHistory, reason: str, message: str, at: float | None) -> Answer:
    """Return what a container's waiting reason means for its pod."""
    name = container.name
    if reason == "CrashLoopBackOff":
        codes = [run.code for run in container.runs if run.code is not None]
        last = f", last with {codes[-1]}," if codes else ""
        wait = message.partition(" restarting failed")[0] or "back-off"
        text = f"{name} has ended {_times(len(container.runs))}{last} and is in {wait}"
        return Answer(pod=pod.name, text=text, since=at, is_stuck=True)
    if reason in _IMAGE_WAITS:
        image = getattr(container.spec, "image", None)
        pulls = [event.message for event in pod.events if event.container == name and event.reason == "Failed"]
        why = next((text for text in reversed(pulls) if text.startswith("Failed to pull")), message or reason)
        return Answer(
            pod=pod.name,
            text=f"{name} can't start, its image {image or ''} can't be had: {why}",
            since=at,
            is_stuck=True,
        )
    if reason in _SETTING_WAITS:
        return Answer(pod=pod.name, text=f"{name} can't start: {message or reason}", since=at, is_stuck=True)
    return Answer(pod=pod.name, text=f"{name} waits: {reason}{f', {message}' if message else ''}", since=at)


def gate_answer(pod: PodHistory, container: ContainerHistory) -> Answer | None:
    """Return what an init container or sidecar holds up, None when the next one may start."""
    run = container.last_run
    if run is None:
        return Answer(pod=pod.name, text=f"{container.name} is about to start")
    started = None if run.started is None else run.started.high
    if container.kind is ContainerKind.INIT:
        if run.exited is None:
            return Answer(pod=pod.name, text=f"init container {container.name} runs and has not ended", since=started)
        if run.code:
            return Answer(
                pod=pod.name,
                text=f"init container {container.name} exited {run.code}",
                since=run.exited.high,
                is_stuck=True,
            )
        return None
    return _sidecar_gate(pod, container, run, started)


def _sidecar_gate(
    pod: PodHistory, container: ContainerHistory, run: RunHistory, started: float | None
) -> Answer | None:
    hook = run.post_start
    if hook is not None and hook.ended is None:
        text = f"the postStart hook of sidecar {container.name} has not ended; nothing behind it starts before"
        return Answer(pod=pod.name, text=text, since=started)
    probe: Probe | None = getattr(container.spec, "startup_probe", None)
    if probe is not None and run.startup_ok is None:
        text = f"sidecar {container.name} has not passed its startup probe{_failure(pod, container, 'Startup')}"
        return Answer(pod=pod.name, text=text, since=started)
    return None


def unready_answer(pod: PodHistory, container: ContainerHistory) -> Answer | None:
    """Return why a container keeps its pod from being ready, None when it doesn't."""
    run = container.last_run
    if run is None or run.exited is not None:
        return None
    started = None if run.started is None else run.started.high
    name, spec = container.name, container.spec
    if getattr(spec, "startup_probe", None) is not None and run.startup_ok is None:
        text = f"{name} has not passed its startup probe{_failure(pod, container, 'Startup')}"
        return Answer(pod=pod.name, text=text, since=started)
    is_ready = run.ready[-1][1] if run.ready else False
    if not is_ready and getattr(spec, "readiness_probe", None) is not None:
        at = run.ready[-1][0].high if run.ready else started
        text = f"{name} is not ready{_failure(pod, container, 'Readiness')}"
        return Answer(pod=pod.name, text=text, since=at)
    return None


def _failure(pod: PodHistory, container: ContainerHistory, probe: str) -> str:
    """Return what the last failed attempt of a probe said."""
    said = [
        event
        for event in pod.events
        if event.container == container.name and event.reason == "Unhealthy" and event.message.startswith(probe)
    ]
    return f": {said[-1].message.strip().rstrip(':')} ({_times(said[-1].count)})" if said else ""


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count} times"


def native_sidecar(containers: Sequence[ContainerHistory]) -> tuple[str, ...]:
    """Return the change that lets a pod end although these containers don't: native sidecars (KEP-753)."""
    return tuple(
        f"if {container.name} is a helper that doesn't end by itself, move it from containers to initContainers "
        "and give it restartPolicy: Always"
        for container in containers
    )
