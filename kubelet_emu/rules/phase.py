"""The phase of a pod, from its container statuses.

Main containers decide; init containers hold the pod Pending and may fail it; sidecars only keep it Running. Exit codes
of sidecars and all that ephemeral containers do never count.
Source: kubelet v1.36 getPhase (pkg/kubelet/kubelet_pods.go), KEP-753, KEP-5307, KEP-5532.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from attrs import define

from kubelet_emu.api import reasons
from kubelet_emu.rules.restart_policy import container_should_restart, is_restartable_init_container

if TYPE_CHECKING:
    from collections.abc import Iterable

    from kubelet_emu.api.v1 import Container, Pod
    from kubelet_emu.api.v1_status import ContainerStateTerminated, ContainerStatus
    from kubelet_emu.config.features import FeatureGates
    from kubelet_emu.rules.observed import ObservedPod

PENDING = "Pending"
RUNNING = "Running"
SUCCEEDED = "Succeeded"
FAILED = "Failed"


def is_phase_terminal(phase: str | None) -> bool:
    """Tell whether a pod of this phase is over (kubelet v1.36 podutil.IsPodPhaseTerminal)."""
    return phase in {SUCCEEDED, FAILED}


def has_any_active_regular_container_started(pod: Pod, observed: ObservedPod) -> bool:
    """Tell whether a main container exists in the newest, ready sandbox.

    Source: kubelet v1.36 HasAnyActiveRegularContainerStarted.
    """
    if not observed.has_ready_sandbox:
        return False
    active, names = observed.sandboxes[0].id, {container.name for container in pod.spec.containers}
    return any(status.sandbox_id == active and status.metadata.name in names for status in observed.containers)


def get_phase(
    pod: Pod,
    statuses: Iterable[ContainerStatus],
    *,
    pod_is_terminal: bool,
    pod_has_initialized: bool,
    is_static: bool,
    features: FeatureGates,
) -> str:
    """Return the phase (kubelet v1.36 getPhase).

    `statuses` are those of init and main containers; `pod_is_terminal` says that everything was stopped for good;
    `pod_has_initialized` that a main container exists in the current sandbox.
    """
    count = _Count(pod, features)
    by_name = {status.name: status for status in statuses}
    for container in pod.spec.init_containers:
        if is_restartable_init_container(container):
            count.sidecar(by_name.get(container.name))
        else:
            count.init_container(container, by_name.get(container.name))
    for container in pod.spec.containers:
        count.main_container(container, by_name.get(container.name))
    if count.init_failed_for_good:
        return FAILED
    if count.pending_init or (count.pending_sidecars and not pod_has_initialized) or count.waiting:
        return PENDING
    if count.unknown:
        return PENDING
    if count.running:
        return RUNNING
    return count.phase_of_stopped(pod_is_terminal=pod_is_terminal and not is_static) if count.stopped else PENDING


@define
class _Count:
    """How many containers are how far (the counters of kubelet v1.36 getPhase)."""

    pod: Pod
    features: FeatureGates
    init_failed_for_good: int = 0
    pending_init: int = 0
    pending_sidecars: int = 0
    unknown: int = 0
    running: int = 0
    waiting: int = 0
    stopped: int = 0
    stopped_for_good: int = 0
    succeeded: int = 0

    def init_container(self, container: Container, status: ContainerStatus | None) -> None:
        """Count an init container that is no sidecar."""
        ended = _ended(status)
        if ended is None:
            self.pending_init += 1
        elif ended.exit_code != 0 and not self._restarts(container, ended):
            self.init_failed_for_good += 1

    def sidecar(self, status: ContainerStatus | None) -> None:
        """Count a sidecar (KEP-753)."""
        if status is None:
            self.unknown += 1
        elif status.state.running is not None:
            self.running += 1
            self.pending_sidecars += not status.started
        elif status.state.waiting is not None:
            is_new = status.last_state.terminated is None
            self.waiting += is_new
            self.pending_sidecars += is_new
        elif status.state.terminated is None:
            self.unknown += 1
            self.pending_sidecars += 1

    def main_container(self, container: Container, status: ContainerStatus | None) -> None:
        """Count a main container."""
        ended = _ended(status)
        if ended is not None:
            self.stopped += 1
            self.stopped_for_good += not self._restarts(container, ended)
            self.succeeded += ended.exit_code == 0 and status is not None and status.state.terminated is not None
        elif status is not None and status.state.running is not None:
            self.running += 1
        elif status is not None and status.state.waiting is not None:
            self.waiting += 1
        else:
            self.unknown += 1

    def phase_of_stopped(self, *, pod_is_terminal: bool) -> str:
        """Return the phase of a pod of which no container runs or waits for its first start."""
        if not pod_is_terminal and self.stopped != self.stopped_for_good:
            return RUNNING
        return SUCCEEDED if self.stopped == self.succeeded else FAILED

    def _restarts(self, container: Container, ended: ContainerStateTerminated) -> bool:
        return ended.reason == reasons.RESTARTING_ALL_CONTAINERS or container_should_restart(
            container, self.pod, ended.exit_code, self.features
        )


def _ended(status: ContainerStatus | None) -> ContainerStateTerminated | None:
    """Return how a container ended: its state, or its last state while it waits."""
    if status is None:
        return None
    if status.state.waiting is not None:
        return status.last_state.terminated
    return status.state.terminated
