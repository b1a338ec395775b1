"""Probe workers and the results they keep.

One task for each probe of each container that may have one, from the pod's first sync until the pod is gone. A worker
follows its own clock: ticks come every period from the worker's start, a readiness worker may be asked for a run in
between, and then counts from there. What a tick does is `rules.probes`. Source: kubelet v1.36 pkg/kubelet/prober.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import trio
from attrs import define, field

from kubelet_emu.journal.records import ObjectRef, ProbeRecord
from kubelet_emu.kubelet.probing import attempt_probe
from kubelet_emu.kubelet.timebase import Lane
from kubelet_emu.rules.observed import ProbeKind, ProbeResult, ProbeResults
from kubelet_emu.rules.probe_outcomes import counted_result, probe_event
from kubelet_emu.rules.probe_times import ProbeTimes, probe_times
from kubelet_emu.rules.probes import (
    ProbeTick,
    ProbeWorkerState,
    find_status,
    is_adopted,
    is_pod_ready,
    needs_readiness_run,
    observe,
    probed_containers,
    probes_of,
    runtime_id,
    step,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from datetime import datetime
    from random import Random

    from kubelet_emu.api.v1 import Container, Pod
    from kubelet_emu.api.v1_handlers import Probe
    from kubelet_emu.api.v1_status import PodStatus
    from kubelet_emu.config.features import FeatureGates
    from kubelet_emu.journal.records import Record
    from kubelet_emu.kubelet.recorder import Recorder
    from kubelet_emu.kubelet.timebase import Appointment, Timebase
    from kubelet_emu.rules.probe_outcomes import ProbeOutcome
    from kubelet_emu.rules.probes import ProbeStep
    from runtime.api import ContainerID, Runtime

ProbeKey = tuple[str, ProbeKind]
"""Container name and kind: which probe of a pod."""
WorkerKey = tuple[str, str, ProbeKind]
"""Pod uid, container name, kind."""


@define(eq=False)
class ProbeResultsStore:
    """The latest result of each kind by container id (kubelet v1.36 prober/results)."""

    _results: dict[ProbeKind, dict[ContainerID, ProbeResult]] = field(init=False)

    def __attrs_post_init__(self) -> None:
        """Start empty."""
        self._results = {kind: {} for kind in ProbeKind}

    def get(self, kind: ProbeKind, container_id: ContainerID) -> ProbeResult | None:
        """Return a result, None when there is none yet."""
        return self._results[kind].get(container_id)

    def set(self, kind: ProbeKind, container_id: ContainerID, result: ProbeResult) -> bool:
        """Store a result and tell whether that changed anything."""
        changed = self.get(kind, container_id) is not result
        self._results[kind][container_id] = result
        return changed

    def remove(self, kind: ProbeKind, container_id: ContainerID) -> None:
        """Drop a result."""
        self._results[kind].pop(container_id, None)

    def of(self, container_ids: Iterable[ContainerID]) -> ProbeResults:
        """Return the results of some containers as a value."""
        ids = tuple(container_ids)
        return ProbeResults(
            liveness=self._of(ProbeKind.LIVENESS, ids),
            readiness=self._of(ProbeKind.READINESS, ids),
            startup=self._of(ProbeKind.STARTUP, ids),
        )

    def _of(self, kind: ProbeKind, ids: tuple[ContainerID, ...]) -> dict[ContainerID, ProbeResult]:
        results = self._results[kind]
        return {each: results[each] for each in ids if each in results}


@define(eq=False, kw_only=True)
class ProbeManager:
    """Makes, asks and ends the workers of all pods (kubelet v1.36 prober.manager).

    `pod_status` gives the latest status of a pod, None before its first; `on_result` hears of each stored result that
    wakes a sync. `nursery` holds the workers. `spread_first_attempts` is set when the kubelet was started again beside
    running pods: a probe's first attempt then waits a random part of its period while the kubelet is younger than that.
    """

    runtime: Runtime
    timebase: Timebase
    recorder: Recorder
    emit: Callable[[Record], None]
    store: ProbeResultsStore
    on_result: Callable[[str, ProbeKind], None]
    pod_status: Callable[[str], PodStatus | None]
    rng: Random
    features: FeatureGates
    nursery: trio.Nursery
    spread_first_attempts: bool = False
    adopted: set[ContainerID] = field(factory=set, init=False)
    _made_at: float = field(factory=trio.current_time, init=False)
    _workers: dict[str, dict[ProbeKey, ProbeWorker]] = field(factory=dict, init=False)
    _ended: dict[str, dict[ProbeKey, ContainerID | None]] = field(factory=dict, init=False)

    def add_pod(self, pod: Pod) -> None:
        """Make the workers that a pod lacks; called by every sync.

        Differs: a worker that ended with a container that won't run again is not made anew for the same container.
        The kubelet does, and the new worker's initial result wakes the next sync, which makes it anew.
        Source: kubelet v1.36 manager.AddPod.
        """
        uid = pod.metadata.uid or ""
        workers = self._workers.setdefault(uid, {})
        for container in probed_containers(pod):
            for kind, probe in probes_of(container):
                key = (container.name, kind)
                if key in workers or self._is_over(uid, key):
                    continue
                workers[key] = ProbeWorker(
                    manager=self,
                    key=(uid, *key),
                    pod=pod,
                    container=container,
                    probe=probe,
                    first_delay_seconds=self._first_delay(probe_times(probe).period),
                )
                self.nursery.start_soon(workers[key].run)

    def _first_delay(self, period: float) -> float:
        """Spread the first attempts after a restart of the kubelet (kubelet v1.36 worker.run)."""
        if not self.spread_first_attempts or trio.current_time() - self._made_at >= period:
            return 0.0
        return self.rng.random() * period

    def stop_liveness_and_startup(self, uid: str) -> None:
        """End the liveness and startup workers of a pod's regular containers: it terminates.

        Sidecars are probed until they are gone. Source: kubelet v1.36 manager.StopLivenessAndStartup.
        """
        workers = self._workers.get(uid, {})
        for name, kind in [key for key in workers if key[1] is not ProbeKind.READINESS]:
            if any(container.name == name for container in workers[name, kind].pod.spec.containers):
                workers.pop((name, kind)).stop()

    def remove_pod(self, uid: str) -> None:
        """End all workers of a pod and drop their results (kubelet v1.36 manager.RemovePod)."""
        for worker in self._workers.pop(uid, {}).values():
            worker.stop()
            worker.drop_result()
        self._ended.pop(uid, None)

    def results(self, container_ids: Iterable[ContainerID]) -> ProbeResults:
        """Return the stored results of some containers as a value."""
        return self.store.of(container_ids)

    def set_initial(self, pod: Pod, status: PodStatus, kubelet_started_at: datetime) -> None:
        """Take over the containers that ran well before this kubelet did: ready and started stay as the API says.

        Called before the first sync of a pod found running. A sidecar that was started counts so at once, and doesn't
        hold up the next container; of a pod that is ready, containers are so until their probe says otherwise.
        Source: kubelet v1.36 with ChangeContainerStatusOnKubeletRestart off.
        """
        if self.features.enabled("ChangeContainerStatusOnKubeletRestart"):
            return
        for container in probed_containers(pod):
            found = find_status(status, container.name)
            container_id = runtime_id(found.container_id) if found is not None else None
            if found is None or container_id is None or not is_adopted(found, kubelet_started_at):
                continue
            self.adopted.add(container_id)
            if found.started and container.startup_probe is not None:
                self.store.set(ProbeKind.STARTUP, container_id, ProbeResult.SUCCESS)
            if is_pod_ready(status) and container.readiness_probe is not None:
                self.store.set(ProbeKind.READINESS, container_id, ProbeResult.SUCCESS)

    def status_seen(self, pod: Pod, status: PodStatus) -> None:
        """Ask for a readiness run of each container that a status pass found running, started and not ready.

        Source: kubelet v1.36 manager.UpdatePodStatus.
        """
        workers = self._workers.get(pod.metadata.uid or "", {})
        for container in (*status.container_statuses, *status.init_container_statuses):
            worker = workers.get((container.name, ProbeKind.READINESS))
            container_id = runtime_id(container.container_id)
            if worker is None or container_id is None:
                continue
            if needs_readiness_run(container, self.store.get(ProbeKind.READINESS, container_id)):
                worker.trigger()

    def ended(self, worker: ProbeWorker) -> None:
        """Forget a worker whose task is over, and its result; `worker` calls it itself."""
        uid, key = worker.key[0], worker.key[1:]
        workers = self._workers.get(uid, {})
        current = workers.get(key)
        if current is worker:
            del workers[key]
            self._ended.setdefault(uid, {})[key] = worker.state.container_id
        if current is None or current is worker:
            worker.drop_result()

    def store_result(self, key: WorkerKey, container_id: ContainerID, result: ProbeResult) -> bool:
        """Store a result and wake the pod's sync if need be: of liveness only a failure does.

        Source: kubelet v1.36 syncLoopIteration.
        """
        changed = self.store.set(key[2], container_id, result)
        if changed and (key[2] is not ProbeKind.LIVENESS or result is ProbeResult.FAILURE):
            self.on_result(key[0], key[2])
        return changed

    def _is_over(self, uid: str, key: ProbeKey) -> bool:
        """Tell whether a worker ended with the container that the status still shows."""
        ended = self._ended.get(uid, {})
        if key not in ended:
            return False
        status = self.pod_status(uid)
        found = find_status(status, key[0]) if status is not None else None
        return ended[key] == runtime_id(found.container_id if found is not None else None)


@define(eq=False, kw_only=True)
class ProbeWorker:
    """One probe of one container (kubelet v1.36 prober.worker)."""

    manager: ProbeManager
    key: WorkerKey
    pod: Pod
    container: Container
    probe: Probe
    first_delay_seconds: float = 0.0
    state: ProbeWorkerState = field(factory=ProbeWorkerState, init=False)
    _is_stopping: bool = field(default=False, init=False)
    _times: ProbeTimes = field(init=False)
    _ticks: Appointment = field(init=False)

    def __attrs_post_init__(self) -> None:
        """Settle the probe's numbers: a worker keeps those it was made with."""
        self._times = probe_times(self.probe)
        (uid, name, kind), metadata = self.key, self.pod.metadata
        turn_key = f"{metadata.namespace}/{metadata.name}/{uid}/{name}/{kind.value}"
        self._ticks = self.manager.timebase.appointment(Lane.PROBE, turn_key)

    def stop(self) -> None:
        """End after the attempt in progress, which still counts; nothing is cancelled."""
        self._is_stopping = True
        self._ticks.hasten()

    def trigger(self) -> None:
        """Ask for a run at once; the ticks after it are counted from there."""
        self._ticks.hasten()

    def drop_result(self) -> None:
        """Remove the result that this worker keeps."""
        if self.state.container_id is not None:
            self.manager.store.remove(self.key[2], self.state.container_id)
            self.manager.adopted.discard(self.state.container_id)

    async def run(self) -> None:
        """Probe at every tick until the container is over or `stop`; cancellation ends it at once."""
        try:
            first_at = trio.current_time() + self.first_delay_seconds
            await self._ticks.keep(first_at)
            tick_at = trio.current_time() + self._times.period
            while not self._is_stopping and await self._tick():
                tick_at = await self._next_tick(tick_at)
        finally:
            self.manager.ended(self)

    async def _next_tick(self, tick_at: float) -> float:
        """Wait for the next tick that has anything to do and return when the one after it is due.

        A tick that came during an attempt is due at once, others that were missed are lost; the phase stays, unless a
        run was asked for.
        """

        def put_off() -> float | None:
            nonlocal tick_at
            decided = self._decide(self.manager.pod_status(self.key[0]))
            if self._is_stopping or not decided.is_idle(self.state):
                return None
            tick_at = self._after(tick_at)
            return tick_at

        if await self._ticks.keep(tick_at, put_off):
            return trio.current_time() + self._times.period
        return self._after(tick_at)

    def _after(self, tick_at: float) -> float:
        """Return the time of the first tick after now that keeps the phase of another."""
        now = trio.current_time()
        while tick_at <= now:
            tick_at += self._times.period
        return tick_at

    def _decide(self, status: PodStatus | None) -> ProbeStep:
        """Return what a tick at this moment would do."""
        manager = self.manager
        return step(
            self.state,
            ProbeTick(
                pod=self.pod,
                container=self.container,
                kind=self.key[2],
                status=status,
                now=manager.timebase.now(),
                features=manager.features,
                adopted=manager.adopted,
            ),
        )

    async def _tick(self) -> bool:
        """Do one tick and tell whether the worker goes on (kubelet v1.36 worker.doProbe)."""
        manager, (uid, _, kind) = self.manager, self.key
        status = manager.pod_status(uid)
        decided = self._decide(status)
        self.state = decided.state
        if decided.removed is not None:
            manager.store.remove(kind, decided.removed)
        container_id = self.state.container_id
        if container_id is None or status is None:
            return decided.goes_on
        for result in decided.stored:
            manager.store_result(self.key, container_id, result)
        if decided.run:
            await self._probe(container_id, status)
        return decided.goes_on

    async def _probe(self, container_id: ContainerID, status: PodStatus) -> None:
        """Make one attempt, count it, and tell about it."""
        manager, kind = self.manager, self.key[2]
        began_at = trio.current_time()
        outcome = await attempt_probe(
            manager.runtime, self.container, self.probe, container_id, pod_ip=status.pod_ip or ""
        )
        event = probe_event(kind, outcome)
        if event is not None:
            manager.recorder.event(self.pod, self.container.name, "Warning", event.reason, event.message)
        result, changed = counted_result(outcome), False
        if result is not None:
            self.state, stored = observe(self.state, kind, self._times, result)
            changed = stored is not None and manager.store_result(self.key, container_id, stored)
        run = find_status(status, self.container.name)
        self._record(
            container_id,
            outcome,
            run=(run.restart_count if run is not None else 0) + 1,
            changed=changed,
            seconds=trio.current_time() - began_at,
        )

    def _record(
        self, container_id: ContainerID, outcome: ProbeOutcome, *, run: int, changed: bool, seconds: float
    ) -> None:
        stored = self.manager.store.get(self.key[2], container_id)
        self.manager.emit(
            ProbeRecord(
                ref=ObjectRef.of(self.pod.metadata),
                container=self.container.name,
                run=run,
                probe=self.key[2].value,
                outcome=outcome.verdict.value,
                stored=stored.value if stored is not None else "",
                changed=changed,
                message=outcome.output,
                seconds=round(seconds, 6),
            )
        )
