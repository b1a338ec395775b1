"""The status of a pod as one pass of the kubelet makes it, and the small changes between passes.

`generate_api_pod_status` puts together container statuses, phase, reason, started and ready, conditions and addresses,
in the kubelet's order: the phase still sees `started` of the status before, the conditions see the new one. Changes
between passes are in `rules.status_changes`, what is sent to the API in `rules.status_merge`, the last words about a
pod in `rules.pod_end`.
Source: kubelet v1.36 generateAPIPodStatus, convertStatusToAPIStatus (pkg/kubelet/kubelet_pods.go).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from attrs import evolve, frozen

from kubelet_emu.api import reasons, reasons_node
from kubelet_emu.api.v1_status import HostIP, PodIP, PodStatus
from kubelet_emu.config.features import FeatureGates
from kubelet_emu.rules.conditions import (
    Observation,
    complete_conditions,
    generate_conditions,
)
from kubelet_emu.rules.container_statuses import ContainerList, convert_container_statuses
from kubelet_emu.rules.disruption import (
    DEADLINE_EXCEEDED_STATUS,
    KillStatus,
    apply_kill_status,
    is_past_active_deadline,
)
from kubelet_emu.rules.phase import (
    get_phase,
    has_any_active_regular_container_started,
    is_phase_terminal,
)
from kubelet_emu.rules.pod_end import terminate_pod_status
from kubelet_emu.rules.pod_resource_status import pod_allocated_resources, pod_resources
from kubelet_emu.rules.qos import compute_pod_qos
from kubelet_emu.rules.readiness import started_and_ready
from kubelet_emu.rules.status_changes import (
    set_container_readiness,
    set_container_startup,
    set_ready_to_start_containers,
)
from kubelet_emu.rules.status_merge import check_container_state_transition, is_status_equal, merge_for_api
from runtime.api import PodSandboxState

if TYPE_CHECKING:
    from datetime import datetime

    from kubelet_emu.api.v1 import Pod
    from kubelet_emu.api.v1_status import ContainerStatus
    from kubelet_emu.rules.observed import SyncInput

_V1_36 = FeatureGates()

PodStatusOverride = KillStatus
"""What an eviction, a preemption or a node shutdown writes into the status that a kill begins with."""

__all__ = [
    "PodStatusOverride",
    "check_container_state_transition",
    "generate_api_pod_status",
    "is_status_equal",
    "merge_for_api",
    "rejected_pod_status",
    "set_container_readiness",
    "set_container_startup",
    "set_ready_to_start_containers",
    "terminate_pod_status",
]


def generate_api_pod_status(
    sync: SyncInput,
    *,
    pod_is_terminal: bool,
    host_ips: tuple[str, ...] = (),
    override: PodStatusOverride | None = None,
    runtime_name: str = "docker",
) -> PodStatus:
    """Return the status that this pass makes (kubelet v1.36 generateAPIPodStatus).

    `pod_is_terminal` says that everything was stopped for good; `host_ips` are the node's addresses, primary first;
    `override` is written over the result when a kill begins; `runtime_name` begins container ids.
    """
    converted = _converted(sync, runtime_name)
    phase, reason, message = _phase(sync, converted, pod_is_terminal=pod_is_terminal)
    previous, observation = sync.previous_status, _observation(sync)
    inits, mains = started_and_ready(sync, converted.inits, converted.mains)
    inits = _kept(previous.init_container_statuses, inits)
    mains = _kept(previous.container_statuses, mains)
    conditions = generate_conditions(sync, (*inits, *mains), phase)
    pod_ips = _host_network_ips(sync, host_ips) if sync.pod.spec.host_network else _pod_ips(sync, host_ips)
    status = PodStatus(
        phase=phase,
        reason=reason,
        message=message,
        init_container_statuses=inits,
        container_statuses=mains,
        ephemeral_container_statuses=converted.ephemeral,
        conditions=complete_conditions(conditions, previous.conditions, observation),
        host_ip=host_ips[0] if host_ips else None,
        host_ips=tuple(HostIP(ip=ip) for ip in host_ips),
        pod_ip=pod_ips[0] if pod_ips else None,
        pod_ips=tuple(PodIP(ip=ip) for ip in pod_ips),
        qos_class=previous.qos_class or sync.pod.status.qos_class or compute_pod_qos(sync.pod, sync.features),
        start_time=previous.start_time or sync.pod.status.start_time or sync.now,
        observed_generation=_observed_generation(sync),
        allocated_resources=pod_allocated_resources(sync.pod, sync.features),
        resources=pod_resources(sync.pod, sync.features),
        resource_claim_statuses=previous.resource_claim_statuses or sync.pod.status.resource_claim_statuses,
    )
    if override is not None:
        status = _overridden(sync, status, override, observation)
    return status


def _kept(previous: tuple[ContainerStatus, ...], made: tuple[ContainerStatus, ...]) -> tuple[ContainerStatus, ...]:
    """Return what was made, with the same objects as before where nothing changed: they need no second look."""
    by_name = {status.name: status for status in previous}
    return tuple(old if (old := by_name.get(new.name)) is not None and old == new else new for new in made)


@frozen
class _Converted:
    """Container statuses before `started` and `ready` are filled in: of init, main and ephemeral containers."""

    inits: tuple[ContainerStatus, ...]
    mains: tuple[ContainerStatus, ...]
    ephemeral: tuple[ContainerStatus, ...]


def _converted(sync: SyncInput, runtime_name: str) -> _Converted:
    """Return what the runtime shows of each container (kubelet v1.36 convertStatusToAPIStatus)."""
    spec, previous = sync.pod.spec, sync.previous_status
    inits = ContainerList.of(spec.init_containers, previous.init_container_statuses, is_init=True)
    mains = ContainerList.of(spec.containers, previous.container_statuses)
    ephemeral = ContainerList.of(spec.ephemeral_containers, previous.ephemeral_container_statuses, is_ephemeral=True)
    converted = convert_container_statuses(sync, (inits, mains, ephemeral), runtime_name)
    return _Converted(converted[0], _by_name(converted[1]), _by_name(converted[2]))


def _by_name(statuses: tuple[ContainerStatus, ...]) -> tuple[ContainerStatus, ...]:
    return tuple(sorted(statuses, key=lambda status: status.name))


def _phase(
    sync: SyncInput, converted: _Converted, *, pod_is_terminal: bool
) -> tuple[str | None, str | None, str | None]:
    """Return phase, reason and message: a terminal phase is never left, and a reason lasts as long as its phase."""
    previous, api = sync.previous_status, sync.pod.status
    phase: str | None = get_phase(
        sync.pod,
        (*converted.inits, *converted.mains),
        pod_is_terminal=pod_is_terminal,
        pod_has_initialized=has_any_active_regular_container_started(sync.pod, sync.observed),
        is_static=sync.is_static,
        features=sync.features,
    )
    if not is_phase_terminal(phase):
        phase = next((p for p in (previous.phase, api.phase) if is_phase_terminal(p)), phase)
    reason = message = None
    if phase == previous.phase:
        reason, message = previous.reason or api.reason, previous.message or api.message
    if is_past_active_deadline(sync.pod, previous.start_time or api.start_time, sync.now):
        deadline = DEADLINE_EXCEEDED_STATUS
        phase, reason, message = "Failed", deadline.reason, deadline.message
    if is_phase_terminal(api.phase):
        phase = api.phase
    return phase, reason, message


def _observation(sync: SyncInput) -> Observation:
    return Observation(
        now=sync.now,
        generation=sync.pod.metadata.generation,
        is_tracked=sync.features.enabled("PodObservedGenerationTracking"),
    )


def _observed_generation(sync: SyncInput) -> int | None:
    """Return the pod's generation at this pass; it never falls (kubelet v1.36 CalculatePodStatusObservedGeneration)."""
    previous = sync.previous_status.observed_generation or 0
    if not previous and not sync.features.enabled("PodObservedGenerationTracking"):
        return None
    return max(previous, sync.pod.metadata.generation or 0) or None


def _host_network_ips(sync: SyncInput, host_ips: tuple[str, ...]) -> tuple[str, ...]:
    """Return the node's addresses as they were first written; a second one may still be added."""
    known = tuple(each.ip for each in sync.previous_status.pod_ips) or host_ips[:1]
    return (*known, host_ips[1]) if len(host_ips) == 2 and len(known) == 1 else known


def _pod_ips(sync: SyncInput, host_ips: tuple[str, ...]) -> tuple[str, ...]:
    """Return the addresses of the newest ready sandbox, or the last known ones once no sandbox is ready.

    One of each family, the node's primary family first. Source: kubelet v1.36 sortPodIPs, GenericPLEG.getPodIPs.
    """
    sandboxes = sync.observed.sandboxes
    if sandboxes and sandboxes[0].state is PodSandboxState.READY and sandboxes[0].ip:
        ips = (sandboxes[0].ip, *sandboxes[0].additional_ips)
        is_v6_first = bool(host_ips) and ":" in host_ips[0]
        families = [next((ip for ip in ips if (":" in ip) is is_v6), "") for is_v6 in (is_v6_first, not is_v6_first)]
        return tuple(filter(None, families))
    if any(sandbox.state is PodSandboxState.READY for sandbox in sandboxes):
        return ()
    return tuple(each.ip for each in sync.previous_status.pod_ips)


def _overridden(sync: SyncInput, status: PodStatus, override: PodStatusOverride, observation: Observation) -> PodStatus:
    """Write what ends the pod into its status (kubelet v1.36 SyncTerminatingPod, podStatusFn)."""
    status = apply_kill_status(status, override, sync.now)
    conditions = tuple(
        evolve(c, observed_generation=observation.observed_generation(c.observed_generation))
        if c.type == reasons.DISRUPTION_TARGET
        else c
        for c in status.conditions
    )
    return evolve(status, conditions=conditions)


def rejected_pod_status(
    pod: Pod, reason: str, message: str, now: datetime, features: FeatureGates = _V1_36
) -> PodStatus:
    """Return the whole status of a pod that admission refused: no containers, no conditions.

    `message` is the event's text. Source: kubelet v1.36 rejectPod.
    """
    is_tracked = features.enabled("PodObservedGenerationTracking")
    return PodStatus(
        phase="Failed",
        reason=reason,
        message=reasons_node.pod_was_rejected(message),
        qos_class=pod.status.qos_class or compute_pod_qos(pod, features),
        start_time=pod.status.start_time or now,
        observed_generation=(pod.metadata.generation or None) if is_tracked else None,
    )
