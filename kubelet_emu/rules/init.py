"""What to do about init containers and sidecars while the sandbox stays (KEP-753).

The list is walked from its end to its start: the furthest container that has any status decides how far
initialization is; what lies before it is done, and only sidecars among that are kept alive. Once a main container was
created, init containers are never looked at again. A container's start is one index in the result; the next one
"may start" when an init container before it exited 0, or a sidecar before it runs and its startup probe succeeded.
Source: kubelet v1.36 computeInitContainerActions.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, assert_never

from attrs import define, field, frozen

from kubelet_emu.api import reasons
from kubelet_emu.api.labels import annotated_hash, hash_container
from kubelet_emu.rules.observed import ProbeResult
from kubelet_emu.rules.pod_actions import ContainerToKill
from kubelet_emu.rules.resize import ResizeAction, ResourceUpdate, compute_resize_action
from kubelet_emu.rules.restart import should_container_be_restarted
from kubelet_emu.rules.restart_policy import NEVER, is_container_restartable, is_restartable_init_container
from kubelet_emu.rules.termination import ContainerKillReason
from runtime.api import ContainerState

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kubelet_emu.api.v1 import Container, EphemeralContainer, Pod, ResourceRequirements
    from kubelet_emu.rules.observed import ObservedPod, SyncInput
    from runtime.api import ContainerStatus


@frozen(kw_only=True)
class InitContainerActions:
    """What to do, and whether main containers may be looked at (`is_initialized`)."""

    is_initialized: bool = False
    kill_pod: bool = False
    to_start: tuple[int, ...] = ()
    to_kill: tuple[ContainerToKill, ...] = ()
    updates: tuple[ResourceUpdate, ...] = ()


def has_any_regular_container_created(pod: Pod, observed: ObservedPod) -> bool:
    """Tell whether a main container exists that was not seen to end (kubelet v1.36 computeInitContainerActions).

    Exited ones don't count: they may be left from an older sandbox.
    """
    statuses = (observed.find(container.name) for container in pod.spec.containers)
    return any(s is not None and s.state in {ContainerState.CREATED, ContainerState.RUNNING} for s in statuses)


def container_changed(container: Container | EphemeralContainer, status: ContainerStatus) -> bool:
    """Tell whether name or image of the spec differ from what the instance was made from (kubelet containerChanged)."""
    return annotated_hash(status.annotations) != hash_container(container)


def compute_init_container_actions(
    sync: SyncInput, actuated: Mapping[str, ResourceRequirements]
) -> InitContainerActions:
    """Decide what to start, kill or resize among init containers and sidecars.

    Source: kubelet v1.36 computeInitContainerActions (KEP-753).
    """
    containers = sync.pod.spec.init_containers
    if not containers:
        return InitContainerActions(is_initialized=True)
    is_initialized = has_any_regular_container_created(sync.pod, sync.observed)
    walk = _Walk(sync, actuated, is_initialized=is_initialized, is_previous_known=is_initialized)
    for index in reversed(range(len(containers))):
        walk.visit(index)
        if walk.kill_pod:
            return InitContainerActions(kill_pod=True)
    if not walk.is_previous_known:
        walk.to_start.append(0)
    return InitContainerActions(
        is_initialized=walk.is_initialized,
        to_start=tuple(sorted(walk.to_start)),
        to_kill=tuple(walk.to_kill),
        updates=tuple(walk.updates),
    )


@define
class _Walk:
    """The walk from the last init container to the first.

    `is_previous_known`: a later container has a status, or a main container was created.
    """

    sync: SyncInput
    actuated: Mapping[str, ResourceRequirements]
    is_initialized: bool
    is_previous_known: bool
    kill_pod: bool = False
    to_start: list[int] = field(factory=list)
    to_kill: list[ContainerToKill] = field(factory=list)
    updates: list[ResourceUpdate] = field(factory=list)

    def visit(self, index: int) -> None:
        """Look at one container (kubelet v1.36 computeInitContainerActions)."""
        container = self.sync.pod.spec.init_containers[index]
        status, is_sidecar = self.sync.observed.find(container.name), is_restartable_init_container(container)
        if status is None:
            if is_sidecar and self.is_previous_known:
                self.to_start.append(index)
            return
        if is_sidecar:
            self._visit_sidecar(index, container, status)
        elif not self.is_previous_known:
            self._visit_init_container(index, container, status)
        self.is_previous_known = True

    def _visit_sidecar(self, index: int, container: Container, status: ContainerStatus) -> None:
        match status.state:
            case ContainerState.CREATED | ContainerState.EXITED:
                self.to_start.append(index)
            case ContainerState.UNKNOWN:
                self._restart(index, status, reasons.UNKNOWN_STATE_INIT_CONTAINER, ContainerKillReason.UNKNOWN)
            case ContainerState.RUNNING:
                self._visit_running_sidecar(index, container, status)
            case _:
                assert_never(status.state)

    def _visit_running_sidecar(self, index: int, container: Container, status: ContainerStatus) -> None:
        if container.startup_probe is not None:
            result = self.sync.probes.startup.get(status.id, ProbeResult.UNKNOWN)
            if result is ProbeResult.FAILURE:
                text = reasons.failed_startup_probe(container.name, is_init=True)
                self._restart(index, status, text, ContainerKillReason.STARTUP_PROBE)
            if result is not ProbeResult.SUCCESS:
                return
        self._next_may_start(index)
        if container_changed(container, status):
            text = reasons.definition_changed(container.name, is_init=True)
            self._restart(index, status, text, ContainerKillReason.NONE)
        elif self.sync.probes.liveness.get(status.id) is ProbeResult.FAILURE:
            text = reasons.failed_liveness_probe(container.name, is_init=True)
            self._restart(index, status, text, ContainerKillReason.LIVENESS_PROBE)
        else:
            self._resize(index, container, status)

    def _visit_init_container(self, index: int, container: Container, status: ContainerStatus) -> None:
        match status.state:
            case ContainerState.CREATED:
                self.to_start.append(index)
            case ContainerState.RUNNING:
                if self.sync.features.enabled("InPlacePodVerticalScalingInitContainers"):
                    self._resize(index, container, status)
            case ContainerState.UNKNOWN:
                if is_container_restartable(container, self.sync.pod, self.sync.features):
                    self._restart(index, status, reasons.UNKNOWN_STATE_INIT_CONTAINER, ContainerKillReason.UNKNOWN)
                else:
                    self.kill_pod = True
            case ContainerState.EXITED:
                if status.exit_code == 0 and status.reason != reasons.OOM_KILLED:
                    self._next_may_start(index)
                elif self._failed_init_is_restarted(container):
                    self.to_start.append(index)
                else:
                    self.kill_pod = True
            case _:
                assert_never(status.state)

    def _failed_init_is_restarted(self, container: Container) -> bool:
        pod, features = self.sync.pod, self.sync.features
        if not features.enabled("ContainerRestartRules"):
            return pod.spec.restart_policy != NEVER
        return should_container_be_restarted(container, pod, self.sync.observed, features)

    def _next_may_start(self, index: int) -> None:
        if index == len(self.sync.pod.spec.init_containers) - 1:
            self.is_initialized = True
        elif not self.is_previous_known:
            self.to_start.append(index + 1)

    def _restart(self, index: int, status: ContainerStatus, message: str, reason: ContainerKillReason) -> None:
        kill = ContainerToKill(id=status.id, name=status.metadata.name, message=message, reason=reason)
        self.to_kill.append(kill)
        self.to_start.append(index)

    def _resize(self, index: int, container: Container, status: ContainerStatus) -> None:
        action = resize_of(self.sync, container, self.actuated)
        if action.needs_restart:
            self._restart(index, status, reasons.resize_requires_restart(container.name), ContainerKillReason.NONE)
        self.updates += action.updates


def resize_of(sync: SyncInput, container: Container, actuated: Mapping[str, ResourceRequirements]) -> ResizeAction:
    """Return what a running container's resize needs, nothing with the gate off or of a static pod (KEP-1287)."""
    if sync.is_static or not sync.features.enabled("InPlacePodVerticalScaling"):
        return ResizeAction()
    return compute_resize_action(container, actuated.get(container.name))
