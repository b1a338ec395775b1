"""What happened to a pod between two relists, and what of it wakes the pod's worker.

Sandboxes are looked at like containers, as the kubelet does: the start of a sandbox is a ContainerStarted.
"""

from __future__ import annotations

import enum
from typing import TYPE_CHECKING, assert_never

from attrs import frozen

from runtime.api import ContainerState, PodSandboxState

if TYPE_CHECKING:
    from kubelet_emu.rules.observed import ObservedPod


class PodLifecycleEventType(enum.Enum):
    """Kinds of change (kubelet pleg.PodLifeCycleEventType)."""

    CONTAINER_STARTED = "ContainerStarted"
    CONTAINER_DIED = "ContainerDied"
    CONTAINER_REMOVED = "ContainerRemoved"
    CONTAINER_CHANGED = "ContainerChanged"
    POD_SYNC = "PodSync"


@frozen(kw_only=True)
class PodLifecycleEvent:
    """One change; `container_id` names a container or a sandbox, and is empty for PodSync."""

    uid: str
    type: PodLifecycleEventType
    container_id: str = ""


class _State(enum.Enum):
    RUNNING = "running"
    EXITED = "exited"
    UNKNOWN = "unknown"
    NON_EXISTENT = "non-existent"


_WAKING = frozenset(
    {PodLifecycleEventType.CONTAINER_STARTED, PodLifecycleEventType.CONTAINER_DIED, PodLifecycleEventType.POD_SYNC}
)


def diff(old: ObservedPod | None, new: ObservedPod | None) -> tuple[PodLifecycleEvent, ...]:
    """Return what changed from one look at a pod to the next, sandboxes first, then containers as they were listed.

    None is a pod that the runtime doesn't know. Source: kubelet v1.36 generateEvents (pkg/kubelet/pleg/generic.go).
    """
    before, after = _states(old), _states(new)
    uid = next((pod.uid for pod in (new, old) if pod is not None), "")
    return tuple(
        PodLifecycleEvent(uid=uid, type=kind, container_id=container_id)
        for container_id in before | after
        for kind in _changes(
            before.get(container_id, _State.NON_EXISTENT), after.get(container_id, _State.NON_EXISTENT)
        )
    )


def wakes_worker(event: PodLifecycleEvent) -> bool:
    """Tell whether a change wakes the pod's worker: not a removal, nor a container created or of unknown state.

    Source: kubelet v1.36 syncLoopIteration, isSyncPodWorthy.
    """
    return event.type in _WAKING


def _states(pod: ObservedPod | None) -> dict[str, _State]:
    if pod is None:
        return {}
    states: dict[str, _State] = {sandbox.id: _of_sandbox(sandbox.state) for sandbox in pod.sandboxes}
    states.update({container.id: _of_container(container.state) for container in pod.containers})
    return states


def _of_sandbox(state: PodSandboxState) -> _State:
    return _State.RUNNING if state is PodSandboxState.READY else _State.EXITED


def _of_container(state: ContainerState) -> _State:
    match state:
        case ContainerState.RUNNING:
            return _State.RUNNING
        case ContainerState.EXITED:
            return _State.EXITED
        case ContainerState.CREATED | ContainerState.UNKNOWN:
            return _State.UNKNOWN
        case _:
            assert_never(state)


def _changes(old: _State, new: _State) -> tuple[PodLifecycleEventType, ...]:
    if new is old:
        return ()
    match new:
        case _State.RUNNING:
            return (PodLifecycleEventType.CONTAINER_STARTED,)
        case _State.EXITED:
            return (PodLifecycleEventType.CONTAINER_DIED,)
        case _State.UNKNOWN:
            return (PodLifecycleEventType.CONTAINER_CHANGED,)
        case _State.NON_EXISTENT:
            removed = (PodLifecycleEventType.CONTAINER_REMOVED,)
            return removed if old is _State.EXITED else (PodLifecycleEventType.CONTAINER_DIED, *removed)
        case _:
            assert_never(new)
