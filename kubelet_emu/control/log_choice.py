"""Which run of a container `logs` reads, by the pod's status. Pure.

Source: kubelet v1.36 validateContainerLogStatus.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubelet_emu.control.errors import ControlError, Reason

if TYPE_CHECKING:
    from kubelet_emu.api.v1 import Pod
    from kubelet_emu.api.v1_status import ContainerStateWaiting, ContainerStatus

_PULLS = {
    "ErrImagePull": "image can't be pulled",
    "ImagePullBackOff": "trying and failing to pull image",
}


def container_to_read(pod: Pod, container: str, *, previous: bool) -> str:
    """Return the id, with its runtime in front, of the container whose log is wanted; ControlError (BadRequest)."""
    status = _status_of(pod, container)
    name = f'container "{container}" in pod "{pod.metadata.name}"'
    if status is None:
        raise _refusal(f"{name} is not available")
    last = status.last_state.terminated
    last_id = "" if last is None else last.container_id or ""
    running, ended = status.state.running, status.state.terminated
    if previous:
        if not last_id:
            raise _refusal(f"previous terminated {name} not found")
        return last_id
    if running is not None:
        return status.container_id or ""
    if ended is not None:
        found = ended.container_id or last_id
    elif last is not None:
        found = last_id
    else:
        raise _refusal(f"{name} is waiting to start{_why(status.state.waiting)}")
    if not found:
        raise _refusal(f"{name} is terminated")
    return found


def _status_of(pod: Pod, container: str) -> ContainerStatus | None:
    status = pod.status
    groups = (status.container_statuses, status.init_container_statuses, status.ephemeral_container_statuses)
    return next((each for group in groups for each in group if each.name == container), None)


def _why(waiting: ContainerStateWaiting | None) -> str:
    if waiting is None:
        return " - no logs yet"
    return f": {_PULLS.get(waiting.reason or '', waiting.reason or '')}"


def _refusal(text: str) -> ControlError:
    return ControlError(Reason.BAD_REQUEST, text)
