"""The kubelet: which pods there are, a worker for each, and what is cleaned up behind them.

Owns the nurseries. Services (runtime events, relist, housekeeping, hooks that outlive their wait) run in the outer one,
workers in the inner one, so the workers never lose what they need. Leaving `run` leaves all containers alone, as
stopping a real kubelet does; a new Kubelet over the same API server and runtime goes on from there.
Source: kubelet v1.36 kubelet.go syncLoop, HandlePodAdditions, HandlePodCleanups.
"""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Protocol, TypeVar

import trio
from attrs import Factory, define, evolve, field

from kubelet_emu.api.v1 import Pod
from kubelet_emu.apiserver.watches import WatchEventType
from kubelet_emu.journal.records import ObjectRef
from kubelet_emu.kubelet.allocation import AllocationManager
from kubelet_emu.kubelet.assembly import assemble, make_static_pods
from kubelet_emu.kubelet.housekeeping import ORPHAN_GRACE_SECONDS, Housekeeping
from kubelet_emu.kubelet.kept_state import KeptState
from kubelet_emu.kubelet.node_kills import NodeKills
from kubelet_emu.kubelet.node_shutdown import NodeShutdown, configured_groups
from kubelet_emu.kubelet.pod_admission import PodAdmission
from kubelet_emu.kubelet.pod_worker import PodWorker, WorkerState
from kubelet_emu.kubelet.resizer import Allocations
from kubelet_emu.kubelet.run_journal import RunJournal
from kubelet_emu.kubelet.runtime_events import RuntimeEvents
from kubelet_emu.kubelet.static_pods import StaticPodFolder
from kubelet_emu.kubelet.storage_eviction import StorageEviction
from kubelet_emu.kubelet.timebase import Lane
from kubelet_emu.rules.disruption import Termination
from kubelet_emu.rules.phase import is_phase_terminal
from kubelet_emu.rules.pod_updates import differ_semantically, gate_conditions, has_ended_before
from kubelet_emu.rules.static_pods import is_mirror_pod

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    from structlog.typing import FilteringBoundLogger

    from kubelet_emu.apiserver.store import APIServer
    from kubelet_emu.apiserver.watches import WatchEvent
    from kubelet_emu.journal.records import Record
    from kubelet_emu.kubelet.node import Node
    from kubelet_emu.kubelet.services import NodeServices
    from kubelet_emu.kubelet.settings import KubeletSettings
    from kubelet_emu.kubelet.static_pods import StaticPods
    from kubelet_emu.kubelet.timebase import Timebase
    from runtime.api import ContainerID, Runtime

T = TypeVar("T")


class LogFollowing(Protocol):
    """Reads container logs; it outlives a kubelet."""

    def follow(self, container_id: ContainerID, ref: ObjectRef, container: str, run: int) -> None:
        """Begin to read the log of a run that has just started."""

    async def drained(self, container_id: ContainerID) -> None:
        """Wait until every line of a run that has ended was read."""

    def forget_pod(self, uid: str) -> None:
        """Drop what is kept of a pod that is gone."""


@define(eq=False, kw_only=True)
class Kubelet:
    """One node's kubelet."""

    runtime: Runtime
    api: APIServer
    emit: Callable[[Record], None]
    timebase: Timebase
    settings: KubeletSettings
    node: Node
    seed: int
    logs: LogFollowing
    log: FilteringBoundLogger
    is_restarted: bool = False
    static_folder: StaticPodFolder = field(factory=StaticPodFolder)
    allocations: Allocations = field(factory=Allocations)
    static_pods: StaticPods = field(init=False)
    runs: RunJournal = field(default=Factory(lambda self: RunJournal(self.emit), takes_self=True))
    started_at: datetime = field(init=False)
    _workers: dict[str, PodWorker] = field(factory=dict, init=False)
    _ended: trio.Event = field(factory=trio.Event, init=False)
    _services: NodeServices | None = field(default=None, init=False)
    _housekeeping: Housekeeping | None = field(default=None, init=False)
    _shutdown: NodeShutdown | None = field(default=None, init=False)
    _admission: PodAdmission | None = field(default=None, init=False)
    _allocation: AllocationManager | None = field(default=None, init=False)

    def __attrs_post_init__(self) -> None:
        """Make what reads the folder of static pods."""
        self.static_pods = make_static_pods(self)

    @property
    def services(self) -> NodeServices:
        """Return what the workers share; only while `run` runs."""
        return _running(self._services)

    @property
    def housekeeping(self) -> Housekeeping:
        """Return who cleans up; only while `run` runs."""
        return _running(self._housekeeping)

    @property
    def shutdown(self) -> NodeShutdown:
        """Return the manager of a node's shutdown; only while `run` runs."""
        return _running(self._shutdown)

    @property
    def admission(self) -> PodAdmission:
        """Return who takes or refuses pods; only while `run` runs."""
        return _running(self._admission)

    @property
    def allocation(self) -> AllocationManager:
        """Return who grants resizes; only while `run` runs."""
        return _running(self._allocation)

    async def run(self, *, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
        """Be a kubelet until cancelled; `started` is called once the runtime's events and the pods are watched.

        Cancellation stops the kubelet, not the containers.
        """
        self.started_at = self.timebase.now()
        async with trio.open_nursery() as services:
            self._services = assemble(self, services)
            kills = self._node_kills()
            self._shutdown = NodeShutdown(
                groups=configured_groups(self.settings.configuration),
                active_pods=self._active_pods,
                kills=kills,
                node_name=self.node.name,
                ended=self._workers_ended,
                nursery=services,
            )
            self._admission = PodAdmission(
                services=self.services,
                node=lambda: evolve(self.node.facts(), is_shutting_down=self.shutdown.is_shutting_down),
                kills=kills,
                active_pods=self._active_pods,
            )
            self._allocation = AllocationManager(
                services=self.services, admission=self.admission, allocations=self.allocations,
                on_change=self._on_allocation,
            )  # fmt: skip
            self._housekeeping = Housekeeping(
                services=self.services,
                kept=KeptState(
                    workers=self._workers,
                    services=self.services,
                    allocation=self._allocation,
                    runs=self.runs,
                    logs=self.logs,
                    keeps_containers=self.settings.keep_removed,
                ),
                static_pods=self.static_pods,
                timing=self.settings.timing,
                unfinished=self._unfinished,
            )
            await services.start(self._runtime_events().follow)
            services.start_soon(self.services.pleg.relist_loop)
            await self.services.pleg.newer_than("", 0)
            services.start_soon(self.housekeeping.run)
            services.start_soon(self.housekeeping.collect_garbage)
            services.start_soon(self._storage_eviction(kills).run)
            services.start_soon(self.allocation.run)
            async with trio.open_nursery() as pods:
                self._read_static_pods(pods)
                services.start_soon(self._watch_static_pods, pods)
                await self._watch_pods(pods, task_status)

    # -- pods

    async def _watch_pods(self, pods: trio.Nursery, task_status: trio.TaskStatus[None]) -> None:
        async with self.api.watch("Pod") as events:
            task_status.started()
            async for event in events:
                await self._on_pod(event, pods)

    async def _on_pod(self, event: WatchEvent, pods: trio.Nursery) -> None:
        pod = event.object
        if not isinstance(pod, Pod) or pod.spec.node_name != self.node.name:
            return
        worker = self._workers.get(pod.metadata.uid or "")
        if is_mirror_pod(pod):
            if worker is not None and worker.is_static and pod.metadata.deletion_timestamp is not None:
                worker.wake()
            return
        if event.type is WatchEventType.DELETED:
            self.admission.forget(pod.metadata.uid or "")
            self._on_removed(pod, worker)
        elif self.admission.is_rejected(pod.metadata.uid or "") and pod.metadata.deletion_timestamp is None:
            return  # never admitted again, and nothing of it runs
        elif worker is None:
            await self._add(pod, pods)
        else:
            self._update(worker, pod)

    async def _add(self, pod: Pod, pods: trio.Nursery, *, is_static: bool = False) -> None:
        """Admit a new pod and give it a worker (kubelet v1.36 HandlePodAdditions).

        A pod that is being deleted when a kubelet starts is admitted, too. One that is refused then is nobody's: what
        runs of it is stopped like that of a pod that nobody knows.
        """
        uid = pod.metadata.uid or ""
        services = self.services
        is_deleted = pod.metadata.deletion_timestamp is not None
        is_over = has_ended_before(pod, services.pleg.get(uid))
        desired, pod = pod, self.allocation.granted(pod)
        is_refused = not is_phase_terminal(pod.status.phase) and await self.admission.refuses(pod)
        if is_refused and not is_deleted:
            return
        services.probes.set_initial(pod, pod.status, self.started_at)
        worker = PodWorker(
            services=services,
            pod=pod,
            rng=self._random("worker", pod),
            is_static=is_static,
            on_terminated=self._on_terminated,
            state=WorkerState.TERMINATED if is_over else WorkerState.SYNC,
        )
        self._workers[uid] = worker
        if not is_over:
            self.admission.take(pod)
            self.allocation.add(desired)
        if is_deleted and not is_over:
            override = ORPHAN_GRACE_SECONDS if is_refused else None
            worker.terminate(Termination(why="deleted", override_seconds=override, is_orphan=is_refused))
        pods.start_soon(self._work, worker)

    def _on_terminated(self, pod: Pod) -> None:
        self.admission.release(pod)
        self.allocation.retry()
        self._tell_end()

    async def _work(self, worker: PodWorker) -> None:
        await worker.run()
        self.housekeeping.untidy(worker.uid)
        self._tell_end()

    def _tell_end(self) -> None:
        self._ended.set()
        self._ended = trio.Event()

    async def _workers_ended(self, uids: tuple[str, ...], state: WorkerState = WorkerState.FINISHED) -> None:
        """Wait until the workers of these pods have come to a state, finished by default, or are gone."""
        while any(uid in self._workers and self._workers[uid].state < state for uid in uids):
            await self._ended.wait()

    def _update(self, worker: PodWorker, pod: Pod) -> None:
        pod = self.allocation.replace(pod) if worker.is_static else self.allocation.update(pod)
        old, worker.pod = worker.pod, pod
        if old.spec is not pod.spec and worker.state < WorkerState.TERMINATED:
            self.admission.take(pod)
        deleting = pod.metadata.deletion_timestamp is not None
        if deleting and old.metadata.deletion_grace_period_seconds != pod.metadata.deletion_grace_period_seconds:
            worker.terminate(Termination(why="deleted"))
        elif (
            differ_semantically(old, pod)
            or old.metadata.generation != pod.metadata.generation  # a size that was not granted: the pod is as it was
            or gate_conditions(old) != gate_conditions(pod)
        ):
            worker.wake()

    def _on_allocation(self, pod: Pod) -> None:
        """Give a worker its pod with another allocation, or have it tell why there is none yet."""
        worker = self._workers.get(pod.metadata.uid or "")
        if worker is not None:
            worker.pod = pod
            worker.wake()

    def _on_removed(self, pod: Pod, worker: PodWorker | None) -> None:
        """End what still runs of an object that is gone from the API (kubelet v1.36 HandlePodRemoves)."""
        if worker is not None and worker.state is WorkerState.SYNC:
            worker.terminate(Termination(why="removed"))
        self.housekeeping.untidy(pod.metadata.uid or "")

    async def _watch_static_pods(self, pods: trio.Nursery) -> None:
        """Follow the folder of static pods until cancelled."""
        while True:
            await self.static_folder.changed.wait()
            self._read_static_pods(pods)

    def _read_static_pods(self, pods: trio.Nursery) -> None:
        """End the workers whose files are gone and start those of new ones (kubelet v1.36 config file source).

        A file that gives its pod a uid changes that pod where it runs.
        """
        new, changed = self.static_pods.read()
        for uid, worker in self._workers.items():
            if worker.is_static and uid not in self.static_pods.wanted and worker.state is WorkerState.SYNC:
                worker.terminate(Termination(why="removed"))
        for pod in changed:
            if (known := self._workers.get(pod.metadata.uid or "")) is not None:
                self._update(known, pod)
        for pod in new:
            pods.start_soon(self._start_static, pod, pods)

    async def _start_static(self, pod: Pod, pods: trio.Nursery) -> None:
        """Give a static pod its worker as soon as its name is free, looked for every 10 to 15 s.

        A pod whose file came back while it was being ended starts again once that is over.
        """
        uid, rng, timing = pod.metadata.uid or "", self._random("static", pod), self.settings.timing
        if uid in self._workers:
            await self._workers_ended((uid,))
            await self.housekeeping.tidied()
            self._workers.pop(uid, None)
            self.services.statuses.forget(uid)
        await self.timebase.turn(Lane.WORKER, uid)
        while uid in self.static_pods.wanted:
            if self.static_pods.may_start(pod, self._unfinished()):
                await self._add(self.static_pods.wanted[uid], pods, is_static=True)
                return
            await trio.sleep(timing.wait(timing.error_retry_seconds, rng))
            await self.timebase.turn(Lane.WORKER, uid)

    def _unfinished(self) -> tuple[Pod, ...]:
        return tuple(w.pod for w in self._workers.values() if w.is_static and w.state < WorkerState.FINISHED)

    def _runtime_events(self) -> RuntimeEvents:
        return RuntimeEvents(
            runtime=self.runtime,
            pleg=self.services.pleg,
            emit=self.emit,
            relists=self.settings.timing.relist_on_events,
            pod=self.pod,
        )

    def _node_kills(self) -> NodeKills:
        async def stopped(uid: str) -> None:
            await self._workers_ended((uid,), WorkerState.TERMINATED)

        return NodeKills(
            recorder=self.services.recorder, timebase=self.timebase, terminate=self.terminate_pod, stopped=stopped
        )

    def _storage_eviction(self, kills: NodeKills) -> StorageEviction:
        return StorageEviction(
            services=self.services,
            runtime=self.runtime,
            syncing_pods=lambda: tuple(w.pod for w in self._workers.values() if w.state is WorkerState.SYNC),
            kills=kills,
            ended=self._workers_ended,
        )

    def _active_pods(self) -> tuple[Pod, ...]:
        return tuple(w.pod for w in self._workers.values() if w.state < WorkerState.TERMINATED)

    def follow_log(self, pod: Pod, container: str, run: int, container_id: ContainerID) -> None:
        """Have the log of a run read that has just started."""
        self.logs.follow(container_id, ObjectRef.of(pod.metadata), container, run)

    def wake(self, uid: str) -> None:
        """Wake the worker of a pod; pods that nobody knows are looked at by the next housekeeping."""
        worker = self._workers.get(uid)
        if worker is not None:
            worker.wake()
        else:
            self.housekeeping.untidy(uid)

    def pod(self, uid: str) -> Pod | None:
        """Return the pod of a worker, as the worker knows it."""
        worker = self._workers.get(uid)
        return worker.pod if worker else None

    def terminate_pod(self, uid: str, termination: Termination) -> None:
        """End a pod from the node's side: eviction, preemption, node shutdown."""
        worker = self._workers.get(uid)
        if worker is not None and worker.state < WorkerState.TERMINATED:
            worker.terminate(termination)

    def _random(self, purpose: str, pod: Pod) -> random.Random:
        """Return numbers of their own for one purpose and pod, so that another pod doesn't change them."""
        return random.Random(f"{self.seed}/{purpose}/{pod.metadata.namespace}/{pod.metadata.name}")  # noqa: S311

    async def emptied(self) -> None:
        """Wait until no pod is left: none with a worker, nothing in the runtime."""
        await self.housekeeping.emptied()


def _running(part: T | None) -> T:
    if part is None:
        raise RuntimeError("the kubelet is not running")
    return part
