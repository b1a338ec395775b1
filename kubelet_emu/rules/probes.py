"""What a probe worker does at one tick, and what it makes of an attempt.

A worker belongs to a container's name, not to one instance: its run of equal results outlives a restart, the stored
result doesn't. `step` looks at the container and says whether to probe; `observe` counts the outcome. Both return the
new state and what to store. Source: kubelet v1.36 worker.doProbe (pkg/kubelet/prober/worker.go).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, assert_never

from attrs import evolve, frozen

from kubelet_emu.api import reasons
from kubelet_emu.rules.observed import ProbeKind, ProbeResult
from kubelet_emu.rules.probe_times import probe_times
from kubelet_emu.rules.restart_policy import (
    RESTART_ALL_CONTAINERS,
    container_should_restart,
    find_matching_container_restart_rule,
    is_restartable_init_container,
)
from runtime.api import ContainerID

if TYPE_CHECKING:
    from collections.abc import Collection
    from datetime import datetime

    from kubelet_emu.api.v1 import Container, Pod
    from kubelet_emu.api.v1_handlers import Probe
    from kubelet_emu.api.v1_status import ContainerStatus, PodStatus
    from kubelet_emu.config.features import FeatureGates
    from kubelet_emu.rules.probe_times import ProbeTimes

ADOPTION_MARGIN_SECONDS = 10

INITIAL_RESULTS = {
    ProbeKind.LIVENESS: ProbeResult.SUCCESS,
    ProbeKind.READINESS: ProbeResult.FAILURE,
    ProbeKind.STARTUP: ProbeResult.UNKNOWN,
}
"""What is stored for a new container until its probe decides (kubelet v1.36 newWorker)."""


@frozen(kw_only=True)
class ProbeWorkerState:
    """What a worker keeps from tick to tick; `container_id` is the instance whose result it owns."""

    container_id: ContainerID | None = None
    last_result: ProbeResult = ProbeResult.SUCCESS
    result_run: int = 0
    on_hold: bool = False


@frozen(kw_only=True)
class ProbeTick:
    """What a worker sees at one tick.

    `pod` and `container` are as they were when the worker was made; `status` is the pod's latest status (None: there is
    none yet). `adopted` are the containers that a restarted kubelet found running: they get no initial result.
    """

    pod: Pod
    container: Container
    kind: ProbeKind
    status: PodStatus | None
    now: datetime
    features: FeatureGates
    adopted: Collection[ContainerID] = ()


@frozen(kw_only=True)
class ProbeStep:
    """What to do at one tick: drop a result, store others in order, run the probe, end the worker."""

    state: ProbeWorkerState
    removed: ContainerID | None = None
    stored: tuple[ProbeResult, ...] = ()
    run: bool = False
    goes_on: bool = True

    def is_idle(self, before: ProbeWorkerState) -> bool:
        """Tell whether it is nothing, with a state that stays `before`."""
        return self.state is before and self.goes_on and not (self.run or self.stored or self.removed)


def probe_of(container: Container, kind: ProbeKind) -> Probe | None:
    """Return a container's probe of one kind (kubelet v1.36 prober.probe)."""
    match kind:
        case ProbeKind.LIVENESS:
            return container.liveness_probe
        case ProbeKind.READINESS:
            return container.readiness_probe
        case ProbeKind.STARTUP:
            return container.startup_probe
        case _:
            assert_never(kind)


def probes_of(container: Container) -> tuple[tuple[ProbeKind, Probe], ...]:
    """Return the probes that a container has."""
    probes = (
        (ProbeKind.LIVENESS, container.liveness_probe),
        (ProbeKind.READINESS, container.readiness_probe),
        (ProbeKind.STARTUP, container.startup_probe),
    )
    return tuple((kind, probe) for kind, probe in probes if probe is not None)


def probed_containers(pod: Pod) -> tuple[Container, ...]:
    """Return the containers that may have probes: regular ones, then sidecars (kubelet v1.36 manager.AddPod)."""
    sidecars = (container for container in pod.spec.init_containers if is_restartable_init_container(container))
    return (*pod.spec.containers, *sidecars)


def runtime_id(container_id: str | None) -> ContainerID | None:
    """Return the runtime's id of a status's container id (docker://ID); None when there is none yet.

    Source: kubelet v1.36 ParseContainerID.
    """
    _, _, name = (container_id or "").rpartition("://")
    return ContainerID(name) if name else None


def find_status(status: PodStatus, name: str) -> ContainerStatus | None:
    """Return the status of a regular or init container by name (kubelet v1.36 podutil.GetContainerStatus)."""
    statuses = (*status.container_statuses, *status.init_container_statuses)
    return next((container for container in statuses if container.name == name), None)


def step(state: ProbeWorkerState, tick: ProbeTick) -> ProbeStep:
    """Decide one tick of a worker.

    Source: kubelet v1.36 worker.doProbe, up to the call of the probe.
    """
    if tick.status is None:
        return ProbeStep(state=state)
    if tick.status.phase in {"Failed", "Succeeded"}:
        return ProbeStep(state=state, goes_on=False)
    container = find_status(tick.status, tick.container.name)
    container_id = runtime_id(container.container_id) if container is not None else None
    if container is None or container_id is None:
        return ProbeStep(state=state)
    if container_id == state.container_id:
        return _step_of(state, tick, container)
    taken = _step_of(evolve(state, container_id=container_id, on_hold=False), tick, container)
    return ProbeStep(
        state=taken.state,
        removed=state.container_id,
        stored=(*_initial(tick, container, container_id), *taken.stored),
        run=taken.run,
        goes_on=taken.goes_on,
    )


def _initial(tick: ProbeTick, container: ContainerStatus, container_id: ContainerID) -> tuple[ProbeResult, ...]:
    """Return what is stored for an instance that the worker sees first (kubelet v1.36 worker.doProbe)."""
    if container_id in tick.adopted:
        if tick.kind is ProbeKind.READINESS:
            return ()
        if tick.kind is ProbeKind.STARTUP and container.started:
            return (ProbeResult.SUCCESS,)
    return (INITIAL_RESULTS[tick.kind],)


def _step_of(state: ProbeWorkerState, tick: ProbeTick, container: ContainerStatus) -> ProbeStep:
    """Decide a tick for the instance whose result the worker owns."""
    if state.on_hold:
        return ProbeStep(state=state)
    running = container.state.running
    if running is None:
        return ProbeStep(state=state, stored=(ProbeResult.FAILURE,), goes_on=_may_run_again(tick, container))
    if tick.pod.metadata.deletion_timestamp is not None and tick.kind is not ProbeKind.READINESS:
        return ProbeStep(state=state, stored=(ProbeResult.SUCCESS,), goes_on=False)
    probe = probe_of(tick.container, tick.kind)
    if probe is None:
        return ProbeStep(state=state, goes_on=False)
    # A status has whole seconds, so a container seems to run a little longer than it does.
    started_at = (running.started_at or tick.now).replace(microsecond=0)
    if int((tick.now - started_at).total_seconds()) < probe_times(probe).initial_delay:
        return ProbeStep(state=state)
    return ProbeStep(state=state, run=bool(container.started) is not (tick.kind is ProbeKind.STARTUP))


def _may_run_again(tick: ProbeTick, container: ContainerStatus) -> bool:
    """Tell whether a container that doesn't run may run again (kubelet v1.36 worker.doProbe, KEP-5307, KEP-5532)."""
    terminated = container.state.terminated
    if terminated is None or _is_sidecar(tick):
        return True
    if _restarts_all(tick):
        return True
    return container_should_restart(tick.container, tick.pod, terminated.exit_code, tick.features)


def _is_sidecar(tick: ProbeTick) -> bool:
    return any(init.name == tick.container.name for init in tick.pod.spec.init_containers)


def _restarts_all(tick: ProbeTick) -> bool:
    """Tell whether the end of some container has all of them restarted (KEP-5532)."""
    if tick.status is None or not tick.features.enabled("RestartAllContainersOnContainerExits"):
        return False
    if any(c.type == reasons.ALL_CONTAINERS_RESTARTING and c.status == "True" for c in tick.status.conditions):
        return True
    for container in (*tick.pod.spec.init_containers, *tick.pod.spec.containers):
        status = find_status(tick.status, container.name)
        if status is None or status.state.terminated is None:
            continue
        if status.state.terminated.reason == reasons.RESTARTING_ALL_CONTAINERS:
            return True
        rule = find_matching_container_restart_rule(container, status.state.terminated.exit_code)
        if rule is not None and rule.action == RESTART_ALL_CONTAINERS:
            return True
    return False


def observe(
    state: ProbeWorkerState, kind: ProbeKind, times: ProbeTimes, result: ProbeResult
) -> tuple[ProbeWorkerState, ProbeResult | None]:
    """Count one result and return what is to be stored, None below the threshold.

    A worker that has decided (liveness failed, startup either way) rests until there is a new container.
    Source: kubelet v1.36 worker.doProbe, after the call of the probe.
    """
    run = state.result_run + 1 if result is state.last_result else 1
    threshold = times.failure_threshold if result is ProbeResult.FAILURE else times.success_threshold
    is_told = run >= threshold
    is_decided = is_told and (
        kind is ProbeKind.STARTUP or (kind is ProbeKind.LIVENESS and result is ProbeResult.FAILURE)
    )
    counted = ProbeWorkerState(
        container_id=state.container_id,
        last_result=result,
        result_run=0 if is_decided else run,
        on_hold=state.on_hold or is_decided,
    )
    return counted, result if is_told else None


def needs_readiness_run(status: ContainerStatus, result: ProbeResult | None) -> bool:
    """Tell whether a status pass asks for a readiness run at once: it runs, is started, and is not ready.

    `result` is the stored readiness result. Ask it only of containers with a readiness worker.
    Source: kubelet v1.36 manager.UpdatePodStatus.
    """
    return status.state.running is not None and bool(status.started) and result is not ProbeResult.SUCCESS


def is_adopted(status: ContainerStatus, kubelet_started_at: datetime) -> bool:
    """Tell whether a container ran well before the kubelet did, so that its ready and started stay as they were.

    Source: kubelet v1.36 worker.doProbe with ChangeContainerStatusOnKubeletRestart off.
    """
    running = status.state.running
    if running is None or running.started_at is None:
        return False
    return (kubelet_started_at - running.started_at).total_seconds() > ADOPTION_MARGIN_SECONDS


def is_pod_ready(status: PodStatus) -> bool:
    """Tell whether a pod's condition Ready is True (kubelet v1.36 podutil.IsPodReadyConditionTrue)."""
    return any(each.type == "Ready" and each.status == "True" for each in status.conditions)
