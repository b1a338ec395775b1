"""The conditions that the kubelet owns.

Each function makes one condition without times; `complete_conditions` adds the generation and the transition times, by
comparing with the conditions before. Source: kubelet v1.36 pkg/kubelet/status/generate.go.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from attrs import evolve, frozen

from kubelet_emu.api import reasons
from kubelet_emu.api.v1_status import PodCondition
from kubelet_emu.rules.phase import FAILED, SUCCEEDED
from kubelet_emu.rules.restart import restarting_all_containers
from kubelet_emu.rules.restart_policy import all_containers_could_restart, is_restartable_init_container
from kubelet_emu.rules.sandbox import pod_sandbox_changed

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from datetime import datetime

    from kubelet_emu.api.v1 import Container, Pod
    from kubelet_emu.api.v1_status import ContainerStatus
    from kubelet_emu.rules.observed import SyncInput

OWNED_BY_KUBELET = frozenset(
    {
        reasons.POD_SCHEDULED,
        reasons.READY,
        reasons.INITIALIZED,
        reasons.CONTAINERS_READY,
        reasons.POD_READY_TO_START_CONTAINERS,
        reasons.POD_RESIZE_PENDING,
        reasons.POD_RESIZE_IN_PROGRESS,
        reasons.ALL_CONTAINERS_RESTARTING,
    }
)
"""Condition types that only the kubelet writes (kubelet v1.36 PodConditionByKubelet)."""

_TERMINAL_REASONS = {SUCCEEDED: reasons.POD_COMPLETED, FAILED: reasons.POD_FAILED}
_RESIZE = (reasons.POD_RESIZE_PENDING, reasons.POD_RESIZE_IN_PROGRESS)
_INITIALIZED = PodCondition(type=reasons.INITIALIZED, status="True")
_SCHEDULED = PodCondition(type=reasons.POD_SCHEDULED, status="True")
_NOT_KEPT = OWNED_BY_KUBELET | {reasons.DISRUPTION_TARGET}


def find_condition(conditions: Iterable[PodCondition], condition_type: str) -> PodCondition | None:
    """Return the condition of one type (kubelet v1.36 podutil.GetPodConditionFromList)."""
    return next((condition for condition in conditions if condition.type == condition_type), None)


def containers_ready_condition(pod: Pod, statuses: Sequence[ContainerStatus] | None, phase: str | None) -> PodCondition:
    """Make ContainersReady: every main container and sidecar is ready (GenerateContainersReadyCondition)."""
    if statuses is None:
        return _not_ready(reasons.UNKNOWN_CONTAINER_STATUSES)
    by_name = {status.name: status for status in statuses}
    sidecars = tuple(c for c in pod.spec.init_containers if is_restartable_init_container(c))
    names = [container.name for container in (*sidecars, *pod.spec.containers)]
    unknown = [name for name in names if name not in by_name]
    unready = [name for name in names if name in by_name and not by_name[name].ready]
    if phase == FAILED or (phase == SUCCEEDED and not unknown):
        return _not_ready(_TERMINAL_REASONS[phase])
    parts = [reasons.containers_with_unknown_status(unknown)] if unknown else []
    parts += [reasons.containers_with_unready_status(unready)] if unready else []
    if parts:
        return _not_ready(reasons.CONTAINERS_NOT_READY, ", ".join(parts))
    return PodCondition(type=reasons.CONTAINERS_READY, status="True")


def _not_ready(reason: str, message: str | None = None) -> PodCondition:
    return PodCondition(type=reasons.CONTAINERS_READY, status="False", reason=reason, message=message)


def ready_condition(pod: Pod, conditions: Iterable[PodCondition], containers_ready: PodCondition) -> PodCondition:
    """Make Ready: ContainersReady and every readiness gate are True (GeneratePodReadyCondition)."""
    if containers_ready.status != "True":
        return PodCondition(
            type=reasons.READY, status="False", reason=containers_ready.reason, message=containers_ready.message
        )
    by_type = {condition.type: condition for condition in conditions}
    messages = []
    for gate in pod.spec.readiness_gates:
        condition = by_type.get(gate.condition_type)
        if condition is None:
            messages.append(reasons.readiness_gate_missing(gate.condition_type))
        elif condition.status != "True":
            messages.append(reasons.readiness_gate_not_true(gate.condition_type, condition.status))
    if not messages:
        return PodCondition(type=reasons.READY, status="True")
    return PodCondition(
        type=reasons.READY, status="False", reason=reasons.READINESS_GATES_NOT_READY, message=", ".join(messages)
    )


def initialized_condition(
    pod: Pod, statuses: Sequence[ContainerStatus] | None, phase: str | None, *, was_initialized: bool
) -> PodCondition:
    """Make Initialized; once True it stays so when `was_initialized` says it was (GeneratePodInitializedCondition)."""
    if statuses is None:
        if not pod.spec.init_containers:
            return _INITIALIZED
        return _not_initialized(reasons.UNKNOWN_CONTAINER_STATUSES)
    by_name = {status.name: status for status in statuses}
    unknown = [c.name for c in pod.spec.init_containers if c.name not in by_name]
    incomplete = [
        c.name for c in pod.spec.init_containers if c.name in by_name and not _is_initialized(c, by_name[c.name])
    ]
    if phase == SUCCEEDED and not unknown:
        return evolve(_INITIALIZED, reason=reasons.POD_COMPLETED)
    if has_any_regular_container_started(pod, statuses) or not (unknown or incomplete) or was_initialized:
        return _INITIALIZED
    parts = [reasons.containers_with_unknown_status(unknown)] if unknown else []
    parts += [reasons.containers_with_incomplete_status(incomplete)] if incomplete else []
    return _not_initialized(reasons.CONTAINERS_NOT_INITIALIZED, ", ".join(parts))


def _not_initialized(reason: str, message: str | None = None) -> PodCondition:
    return PodCondition(type=reasons.INITIALIZED, status="False", reason=reason, message=message)


def has_any_regular_container_started(pod: Pod, statuses: Iterable[ContainerStatus]) -> bool:
    """Tell whether a main container runs or has run (kubelet v1.36 HasAnyRegularContainerStarted)."""
    names = {container.name for container in pod.spec.containers}
    return any(
        status.name in names and (status.state.running is not None or status.state.terminated is not None)
        for status in statuses
    )


def _is_initialized(container: Container, status: ContainerStatus) -> bool:
    """Tell whether an init container is done, or a sidecar started (kubelet v1.36 isInitContainerInitialized)."""
    return bool(status.started) if is_restartable_init_container(container) else status.ready


def ready_to_start_containers_condition(sync: SyncInput) -> PodCondition:
    """Make PodReadyToStartContainers: the pod has its sandbox and network (KEP-3085).

    Source: kubelet v1.36 GeneratePodReadyToStartContainersCondition.
    """
    needs_sandbox = pod_sandbox_changed(sync.pod, sync.observed).changed
    return PodCondition(type=reasons.POD_READY_TO_START_CONTAINERS, status="False" if needs_sandbox else "True")


def all_containers_restarting_condition(sync: SyncInput, phase: str | None) -> PodCondition | None:
    """Make AllContainersRestarting, None for a pod that has no such rule (GenerateAllContainersRestartingCondition)."""
    if not all_containers_could_restart(sync.pod, sync.features):
        return None
    condition = PodCondition(type=reasons.ALL_CONTAINERS_RESTARTING, status="False")
    if phase in _TERMINAL_REASONS:
        return evolve(condition, reason=_TERMINAL_REASONS[phase])
    if not restarting_all_containers(sync.pod, sync.observed, sync.previous_status, sync.features):
        return condition
    return evolve(
        condition,
        status="True",
        reason=reasons.RESTART_ALL_CONTAINERS_STARTED,
        message=reasons.RESTART_ALL_CONTAINERS_EXITED,
    )


def generate_conditions(
    sync: SyncInput, statuses: Sequence[ContainerStatus], phase: str | None
) -> tuple[PodCondition, ...]:
    """Make all conditions of a status, in the kubelet's order, without times (kubelet v1.36 generateAPIPodStatus).

    Foreign ones come first, as the API has them; a DisruptionTarget that this kubelet has set wins over the API's.
    """
    pod, previous = sync.pod, sync.previous_status.conditions
    kept = [c for c in pod.status.conditions if c.type not in _NOT_KEPT]
    kept += [c for kind in _RESIZE for c in previous if c.type == kind]
    disruption = find_condition(previous, reasons.DISRUPTION_TARGET) or find_condition(
        pod.status.conditions, reasons.DISRUPTION_TARGET
    )
    kept += [disruption] if disruption is not None else []
    was_initialized = _was_initialized(sync)
    containers_ready = containers_ready_condition(pod, statuses, phase)
    made: list[PodCondition] = []
    if sync.features.enabled("PodReadyToStartContainersCondition"):
        made.append(ready_to_start_containers_condition(sync))
    made += [
        initialized_condition(pod, statuses, phase, was_initialized=was_initialized),
        ready_condition(pod, kept, containers_ready),
        containers_ready,
        _SCHEDULED,
    ]
    restarting = all_containers_restarting_condition(sync, phase)
    return (*kept, *made, *([restarting] if restarting is not None else []))


def _was_initialized(sync: SyncInput) -> bool:
    if not sync.features.enabled("RestartAllContainersOnContainerExits"):
        return False
    old = find_condition(sync.previous_status.conditions, reasons.INITIALIZED)
    return old is not None and old.status == "True"


@frozen(kw_only=True)
class Observation:
    """When, and at which generation of the pod, conditions are made; `is_tracked`: PodObservedGenerationTracking."""

    now: datetime
    generation: int | None
    is_tracked: bool = True

    def observed_generation(self, previous: int | None) -> int | None:
        """Return the generation to write; untracked ones are only brought up to date where there is one.

        Source: kubelet v1.36 podutil.CalculatePodConditionObservedGeneration.
        """
        return (self.generation or None) if self.is_tracked or previous else None


def complete_conditions(
    conditions: Iterable[PodCondition], previous: Iterable[PodCondition], observation: Observation
) -> tuple[PodCondition, ...]:
    """Add generation and transition times to conditions of the kubelet's that were just made; others stay.

    A transition is a change of the status; reason and message may change without one.
    Source: kubelet v1.36 updateLastTransitionTime.
    """
    by_type = {condition.type: condition for condition in previous}
    return tuple(_complete(condition, by_type.get(condition.type), observation) for condition in conditions)


def _complete(condition: PodCondition, previous: PodCondition | None, observation: Observation) -> PodCondition:
    if condition.type not in OWNED_BY_KUBELET or condition.type in _RESIZE:
        return condition
    generation = observation.observed_generation(previous.observed_generation if previous is not None else None)
    changed_at = observation.now
    if previous is not None and previous.status == condition.status and previous.last_transition_time is not None:
        changed_at = previous.last_transition_time
    completed = PodCondition(
        type=condition.type,
        status=condition.status,
        reason=condition.reason,
        message=condition.message,
        last_probe_time=condition.last_probe_time,
        last_transition_time=changed_at,
        observed_generation=None if condition.type == reasons.ALL_CONTAINERS_RESTARTING else generation,
    )
    return previous if previous is not None and previous == completed else completed
