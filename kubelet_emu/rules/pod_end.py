"""The last words about a pod: no container is left without an end, and the phase is terminal.

Source: kubelet v1.36 status manager TerminatePod, hasPodInitialized, initializedContainers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from attrs import evolve

from kubelet_emu.api import reasons
from kubelet_emu.api.v1_status import ContainerState, ContainerStateTerminated
from kubelet_emu.rules.phase import FAILED, is_phase_terminal
from kubelet_emu.rules.restart_policy import is_restartable_init_container

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kubelet_emu.api.v1 import Pod
    from kubelet_emu.api.v1_status import ContainerStatus, PodStatus

_UNKNOWN_END = ContainerState(
    terminated=ContainerStateTerminated(
        reason=reasons.CONTAINER_STATUS_UNKNOWN, message=reasons.NOT_LOCATED_WHEN_TERMINATED, exit_code=137
    )
)


def terminate_pod_status(
    pod: Pod, status: PodStatus, *, known: PodStatus | None = None, is_static: bool = False
) -> PodStatus:
    """Return the last status of a pod whose containers are all gone (kubelet v1.36 TerminatePod).

    A container that never got an end gets an unknown one, as far as it may have run. How far the pod came is judged on
    `known`, the API's status when its end was asked for (None: on `status`). A static pod keeps its phase.
    """
    mains = status.container_statuses
    if has_pod_initialized(pod, status if known is None else known):
        mains = tuple(map(_ended, mains))
    count = len(_initialized_containers(status.init_container_statuses))
    inits = status.init_container_statuses
    return evolve(
        status,
        container_statuses=mains,
        init_container_statuses=(*map(_ended, inits[:count]), *inits[count:]),
        phase=status.phase if is_static or is_phase_terminal(status.phase) else FAILED,
    )


def has_pod_initialized(pod: Pod, status: PodStatus) -> bool:
    """Tell whether main containers may have run (kubelet v1.36 hasPodInitialized)."""
    if not pod.spec.init_containers:
        return True
    if any(each.state.waiting is None or each.last_state.terminated is not None for each in status.container_statuses):
        return True
    last = next(reversed(status.init_container_statuses), None)
    if last is None:
        return False
    if is_restartable_init_container(pod.spec.init_containers[-1]):
        return last.state.running is not None and bool(last.started)
    ends = (last.last_state.terminated, last.state.terminated)
    return any(end is not None and end.exit_code == 0 for end in ends)


def _initialized_containers(statuses: Sequence[ContainerStatus]) -> Sequence[ContainerStatus]:
    """Return the init containers up to the last that shows signs of a start, at least the first."""
    for count in range(len(statuses), 0, -1):
        status = statuses[count - 1]
        if status.state.waiting is None or status.last_state.terminated is not None:
            return statuses[:count]
    return statuses[:1]


def _ended(status: ContainerStatus) -> ContainerStatus:
    return status if status.state.terminated is not None else evolve(status, state=_UNKNOWN_END)
