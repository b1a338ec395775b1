"""What one sync does about a pod's sandbox and containers.

`compute_pod_actions` is the kubelet's central decision: from what the runtime shows to what is killed and started.
It looks at no phase: a pod whose phase is already Succeeded or Failed never gets here. Everything that a sync starts is
decided before it begins; what becomes startable by it waits for the next one.
Source: kubelet v1.36 computePodActions (pkg/kubelet/kuberuntime/kuberuntime_manager.go).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from attrs import define, evolve, field

from kubelet_emu.api import reasons
from kubelet_emu.rules.init import (
    InitContainerActions,
    compute_init_container_actions,
    container_changed,
    resize_of,
)
from kubelet_emu.rules.observed import ProbeResult
from kubelet_emu.rules.pod_actions import ContainerToKill, ContainerToReset, PodActions
from kubelet_emu.rules.resize import Resource, ResourceUpdate, order_updates
from kubelet_emu.rules.restart import (
    asks_for_restart_of_all,
    has_any_regular_container_existed,
    restarting_all_containers,
    should_container_be_restarted,
)
from kubelet_emu.rules.restart_policy import NEVER, ON_FAILURE, effective_restart_policy, is_container_restartable
from kubelet_emu.rules.sandbox import pod_sandbox_changed
from kubelet_emu.rules.termination import ContainerKillReason
from runtime.api import ContainerState

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from kubelet_emu.api.v1 import Container, Pod, ResourceRequirements
    from kubelet_emu.rules.observed import ObservedPod, SyncInput
    from runtime.api import ContainerStatus

__all__ = ["ContainerKillReason", "ContainerToKill", "ContainerToReset", "PodActions", "compute_pod_actions"]


def compute_pod_actions(
    sync: SyncInput,
    *,
    restart_all_containers: bool | None = None,
    actuated: Mapping[str, ResourceRequirements] | None = None,
) -> PodActions:
    """Decide what one sync does (kubelet v1.36 computePodActions).

    `restart_all_containers` is condition AllContainersRestarting of the status that this sync has made; None works it
    out from the input. `actuated` holds, by container name, the resources last applied to running containers; None
    takes those of the input.
    """
    change = pod_sandbox_changed(sync.pod, sync.observed)
    actions = PodActions(
        kill_pod=change.changed, create_sandbox=change.changed, sandbox_id=change.sandbox_id, attempt=change.attempt
    )
    if restart_all_containers is None:
        restart_all_containers = restarting_all_containers(sync.pod, sync.observed, sync.previous_status, sync.features)
    if restart_all_containers:
        return evolve(actions, containers_to_reset=_containers_to_reset(sync.pod, sync.observed))
    if change.changed:
        return _in_a_new_sandbox(sync, actions)
    return _in_the_same_sandbox(sync, actions, sync.actuated if actuated is None else actuated)


def _containers_to_reset(pod: Pod, observed: ObservedPod) -> tuple[ContainerToReset, ...]:
    """Return every instance of the pod, those that asked for the restart last (kubelet v1.36 getContainersToReset)."""
    containers = (*pod.spec.containers, *pod.spec.init_containers)
    asking = [container for container in containers if asks_for_restart_of_all(container, observed)]
    others = [container for container in containers if container not in asking]
    return tuple(
        ContainerToReset(id=status.id, name=container.name, kill=status.state is not ContainerState.EXITED)
        for container in (*others, *asking)
        for status in observed.instances(container.name)
    )


def _in_a_new_sandbox(sync: SyncInput, actions: PodActions) -> PodActions:
    """Decide what is started in a new sandbox, or that none is made (kubelet v1.36 computePodActions)."""
    pod, observed = sync.pod, sync.observed
    if pod.spec.restart_policy == NEVER and actions.attempt != 0 and observed.containers:
        # The pod's policy alone decides here: no container policy and no rule brings the pod back.
        return evolve(actions, create_sandbox=False)
    to_start = tuple(
        index for index, container in enumerate(pod.spec.containers) if not _is_done_for_good(sync, container)
    )
    if not to_start and has_any_regular_container_existed(pod, observed):
        return evolve(actions, create_sandbox=False)
    if pod.spec.init_containers:
        return evolve(actions, init_containers_to_start=(0,))
    return evolve(actions, containers_to_start=to_start)


def _is_done_for_good(sync: SyncInput, container: Container) -> bool:
    """Tell whether a main container succeeded and runs once (kubelet v1.36 containerSucceeded).

    Only its exit code is looked at, which is 0 as well for one that was never seen to end: created, or unknown.
    """
    status = sync.observed.find(container.name)
    return (
        status is not None
        and status.state is not ContainerState.RUNNING
        and not status.exit_code
        and effective_restart_policy(container, sync.pod, sync.features) == ON_FAILURE
    )


def _in_the_same_sandbox(
    sync: SyncInput, actions: PodActions, actuated: Mapping[str, ResourceRequirements]
) -> PodActions:
    """Decide about ephemeral containers, then init containers and sidecars, then mains."""
    ephemeral = tuple(
        index
        for index, container in enumerate(sync.pod.spec.ephemeral_containers)
        if sync.observed.find(container.name) is None
    )
    init = compute_init_container_actions(sync, actuated)
    actions = evolve(
        actions,
        kill_pod=init.kill_pod,
        ephemeral_containers_to_start=ephemeral,
        init_containers_to_start=init.to_start,
        containers_to_kill=init.to_kill,
    )
    if init.kill_pod or not init.is_initialized:
        return _with_updates(actions, init.updates)
    return _with_main_containers(sync, actions, init, actuated)


def _with_main_containers(
    sync: SyncInput, actions: PodActions, init: InitContainerActions, actuated: Mapping[str, ResourceRequirements]
) -> PodActions:
    """Add the decisions about main containers; when none is kept or started, the pod is over and is killed."""
    mains = _Mains(sync, actuated)
    for index, container in enumerate(sync.pod.spec.containers):
        status = sync.observed.find(container.name)
        if status is not None and status.state is ContainerState.RUNNING:
            mains.visit_running(index, container, status)
        else:
            mains.visit_not_running(index, container, status)
    is_over = mains.kept == 0 and not mains.to_start
    actions = evolve(
        actions,
        kill_pod=is_over,
        # A sidecar must not keep alive a pod that is over.
        init_containers_to_start=() if is_over else actions.init_containers_to_start,
        containers_to_start=tuple(mains.to_start),
        containers_to_kill=(*actions.containers_to_kill, *mains.to_kill),
    )
    return _with_updates(actions, (*init.updates, *mains.updates))


def _with_updates(actions: PodActions, updates: Iterable[ResourceUpdate]) -> PodActions:
    updates = tuple(updates)
    if not updates:
        return actions
    return evolve(
        actions,
        cpu_updates=order_updates(updates, Resource.CPU),
        memory_updates=order_updates(updates, Resource.MEMORY),
    )


@define
class _Mains:
    """The decisions about main containers, in spec order (kubelet v1.36 computePodActions)."""

    sync: SyncInput
    actuated: Mapping[str, ResourceRequirements]
    kept: int = 0
    to_start: list[int] = field(factory=list)
    to_kill: list[ContainerToKill] = field(factory=list)
    updates: list[ResourceUpdate] = field(factory=list)

    def visit_not_running(self, index: int, container: Container, status: ContainerStatus | None) -> None:
        """Start a container that is absent or has ended, when it should be; an unknown one is killed first."""
        if not should_container_be_restarted(container, self.sync.pod, self.sync.observed, self.sync.features):
            return
        self.to_start.append(index)
        if status is not None and status.state is ContainerState.UNKNOWN:
            self._kill(status, reasons.UNKNOWN_STATE_CONTAINER, ContainerKillReason.UNKNOWN)

    def visit_running(self, index: int, container: Container, status: ContainerStatus) -> None:
        """Keep a running container, or kill it and perhaps start it again in the same sync."""
        probes, can_restart = self.sync.probes, is_container_restartable(container, self.sync.pod, self.sync.features)
        if container_changed(container, status):
            text, reason = reasons.definition_changed(container.name), ContainerKillReason.NONE
            can_restart = True
        elif probes.liveness.get(status.id) is ProbeResult.FAILURE:
            text, reason = reasons.failed_liveness_probe(container.name), ContainerKillReason.LIVENESS_PROBE
        elif probes.startup.get(status.id) is ProbeResult.FAILURE:
            text, reason = reasons.failed_startup_probe(container.name), ContainerKillReason.STARTUP_PROBE
        else:
            self._keep_or_resize(index, container, status)
            return
        if can_restart:
            text = reasons.will_be_restarted(text)
            self.to_start.append(index)
        self._kill(status, text, reason)

    def _keep_or_resize(self, index: int, container: Container, status: ContainerStatus) -> None:
        action = resize_of(self.sync, container, self.actuated)
        if action.needs_restart:
            self._kill(status, reasons.resize_requires_restart(container.name), ContainerKillReason.NONE)
            self.to_start.append(index)
            return
        self.kept += 1
        self.updates += action.updates

    def _kill(self, status: ContainerStatus, message: str, reason: ContainerKillReason) -> None:
        kill = ContainerToKill(id=status.id, name=status.metadata.name, message=message, reason=reason)
        self.to_kill.append(kill)
