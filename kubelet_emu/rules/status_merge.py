"""From the kubelet's own status to what the API gets.

A status is sent when it differs in what the kubelet owns. Times lose their fractions; conditions of others stay as
they are in the API; a terminal phase waits until no container can be running. A step that no container may take drops
the whole update. Source: kubelet v1.36 pkg/kubelet/status/status_manager.go.
"""

from __future__ import annotations

from operator import attrgetter
from typing import TYPE_CHECKING

from attrs import evolve, fields

from kubelet_emu.api import reasons
from kubelet_emu.api.v1_status import PodStatus
from kubelet_emu.rules.conditions import OWNED_BY_KUBELET, Observation, complete_conditions, find_condition
from kubelet_emu.rules.phase import FAILED, is_phase_terminal
from kubelet_emu.rules.restart_policy import (
    ALWAYS,
    all_containers_could_restart,
    container_should_restart,
    is_restartable_init_container,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from datetime import datetime

    from kubelet_emu.api.v1 import Container, Pod
    from kubelet_emu.api.v1_status import ContainerState, ContainerStatus, PodCondition
    from kubelet_emu.config.features import FeatureGates

_rest_of = attrgetter(*(field.name for field in fields(PodStatus) if field.name != "conditions"))


def is_status_equal(old: PodStatus, new: PodStatus) -> bool:
    """Tell whether two statuses are the same to the kubelet (kubelet v1.36 isPodStatusByKubeletEqual).

    Transition and probe times don't count, nor conditions of others.
    """
    return old is new or (_are_conditions_equal(old.conditions, new.conditions) and _rest_of(old) == _rest_of(new))


def _are_conditions_equal(old: tuple[PodCondition, ...], new: tuple[PodCondition, ...]) -> bool:
    before = {condition.type: condition for condition in old if _is_compared(condition)}
    compared = [condition for condition in new if _is_compared(condition)]
    if before.keys() != {condition.type for condition in compared}:
        return False
    for condition in compared:
        known = before[condition.type]
        if known is not condition and _without_times(known) != _without_times(condition):
            return False
    return True


def _is_compared(condition: PodCondition) -> bool:
    return condition.type in OWNED_BY_KUBELET or condition.type == reasons.DISRUPTION_TARGET


def _without_times(condition: PodCondition) -> tuple[object, ...]:
    """Return what counts of a condition."""
    return (condition.type, condition.status, condition.reason, condition.message, condition.observed_generation)


def normalize_status(status: PodStatus) -> PodStatus:
    """Return the status with all times cut to whole seconds, the same object where they are.

    Source: kubelet v1.36 normalizeStatus.
    """
    if all(map(_is_whole, _times_of(status))):
        return status
    return evolve(
        status,
        start_time=_whole(status.start_time),
        conditions=tuple(map(_normalize_condition, status.conditions)),
        container_statuses=tuple(map(_normalize_container, status.container_statuses)),
        init_container_statuses=tuple(map(_normalize_container, status.init_container_statuses)),
        ephemeral_container_statuses=tuple(map(_normalize_container, status.ephemeral_container_statuses)),
    )


def _times_of(status: PodStatus) -> Iterator[datetime | None]:
    yield status.start_time
    for condition in status.conditions:
        yield condition.last_transition_time
        yield condition.last_probe_time
    for statuses in (status.init_container_statuses, status.container_statuses, status.ephemeral_container_statuses):
        for container in statuses:
            for state in (container.state, container.last_state):
                if state.running is not None:
                    yield state.running.started_at
                if state.terminated is not None:
                    yield state.terminated.started_at
                    yield state.terminated.finished_at


def _normalize_condition(condition: PodCondition) -> PodCondition:
    transition, probe = _whole(condition.last_transition_time), _whole(condition.last_probe_time)
    if transition is condition.last_transition_time and probe is condition.last_probe_time:
        return condition
    return evolve(condition, last_transition_time=transition, last_probe_time=probe)


def _normalize_container(status: ContainerStatus) -> ContainerStatus:
    return evolve(status, state=_normalize_state(status.state), last_state=_normalize_state(status.last_state))


def _normalize_state(state: ContainerState) -> ContainerState:
    running, ended = state.running, state.terminated
    if running is not None:
        running = evolve(running, started_at=_whole(running.started_at))
    if ended is not None:
        ended = evolve(ended, started_at=_whole(ended.started_at), finished_at=_whole(ended.finished_at))
    return evolve(state, running=running, terminated=ended)


def _is_whole(moment: datetime | None) -> bool:
    return moment is None or moment.microsecond == 0


def _whole(moment: datetime | None) -> datetime | None:
    """Return a time in whole seconds, the same object where it is."""
    return moment if moment is None or moment.microsecond == 0 else moment.replace(microsecond=0)


def merge_for_api(
    pod: Pod, api_status: PodStatus, status: PodStatus, *, could_have_running_containers: bool, now: datetime
) -> PodStatus:
    """Return what is written over `api_status`, times in whole seconds (kubelet v1.36 mergePodStatus)."""
    is_ending = is_phase_terminal(status.phase) and not is_phase_terminal(api_status.phase)
    is_withheld = is_ending and could_have_running_containers
    conditions = _merge_conditions(api_status, status, with_disruption=is_ending and not is_withheld)
    claims, merged = api_status.resource_claim_statuses, status
    if conditions != status.conditions or claims != status.resource_claim_statuses:
        merged = evolve(status, conditions=conditions, resource_claim_statuses=claims)
    if is_withheld:
        merged = evolve(merged, phase=api_status.phase, reason=api_status.reason, message=api_status.message)
    if is_phase_terminal(merged.phase):
        merged = _unready(pod, merged, now)
    return normalize_status(merged)


def _merge_conditions(api_status: PodStatus, status: PodStatus, *, with_disruption: bool) -> tuple[PodCondition, ...]:
    """Return the API's conditions of others, then the kubelet's; DisruptionTarget is shared and goes with the phase."""
    kept = {c.type: c for c in api_status.conditions if c.type not in OWNED_BY_KUBELET}
    disruption = find_condition(status.conditions, reasons.DISRUPTION_TARGET)
    if with_disruption and disruption is not None:
        kept[disruption.type] = disruption
    return (*kept.values(), *(c for c in status.conditions if c.type in OWNED_BY_KUBELET))


def _unready(pod: Pod, status: PodStatus, now: datetime) -> PodStatus:
    """Make sure that a pod that is over is not called ready (kubelet v1.36 mergePodStatus)."""
    types = (reasons.READY, reasons.CONTAINERS_READY)
    if not any(c.type in types and c.status == "True" for c in status.conditions):
        return status
    reason = reasons.POD_FAILED if status.phase == FAILED else reasons.POD_COMPLETED
    conditions = tuple(
        evolve(c, status="False", reason=reason, message=None) if c.type in types else c for c in status.conditions
    )
    observation = Observation(now=now, generation=pod.metadata.generation, is_tracked=bool(status.observed_generation))
    return evolve(status, conditions=complete_conditions(conditions, status.conditions, observation))


def check_container_state_transition(old: PodStatus, new: PodStatus, pod: Pod, features: FeatureGates) -> str | None:
    """Return why an update must be dropped: a container that is over for good runs or waits again.

    Source: kubelet v1.36 checkContainerStateTransition.
    """
    if (pod.spec.restart_policy or ALWAYS) == ALWAYS or all_containers_could_restart(pod, features):
        return None
    spec = {c.name: c for c in (*pod.spec.init_containers, *pod.spec.containers)}
    mains = _revived(spec, old.container_statuses, new.container_statuses, pod, features)
    inits = _revived(spec, old.init_container_statuses, new.init_container_statuses, pod, features)
    plain = [name for name in inits if not is_restartable_init_container(spec[name])]
    if mains:
        return f"terminated container {mains[0]} attempted illegal transition to non-terminated state"
    if plain:
        return f"terminated init container {plain[0]} attempted illegal transition to non-terminated state"
    return None


def _revived(
    spec: dict[str, Container],
    old: Iterable[ContainerStatus],
    new: Iterable[ContainerStatus],
    pod: Pod,
    features: FeatureGates,
) -> list[str]:
    """Return the containers that were over for good and are not any more."""
    ended = {status.name for status in new if status.state.terminated is not None}
    known = {status.name for status in new} & set(spec)
    return [
        status.name
        for status in old
        if status.state.terminated is not None
        and status.name in known - ended
        and not container_should_restart(spec[status.name], pod, status.state.terminated.exit_code, features)
    ]
