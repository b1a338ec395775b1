"""A node and its control plane in one object.

Owns the API server and the nursery in which the scheduler, the controllers, the log readers and the kubelet live.
The kubelet can be stopped and started again while the rest goes on: containers live on, as on a real node. The runtime
is given and stays open when the cluster is left.
"""

from __future__ import annotations

import random
import uuid
from functools import partial
from typing import TYPE_CHECKING, TypeVar, cast

import trio
from attrs import define, evolve, field

from kubelet_emu.apiserver.store import APIServer
from kubelet_emu.apiserver.watches import WatchEventType
from kubelet_emu.cluster.update_admission import admit_update
from kubelet_emu.jobs.controller import JobController
from kubelet_emu.journal.logs import LogFollower
from kubelet_emu.journal.records import ObjectRef
from kubelet_emu.kubelet.api_journal import APIJournal
from kubelet_emu.kubelet.kubelet import Kubelet
from kubelet_emu.kubelet.recorder import Recorder
from kubelet_emu.kubelet.resizer import Allocations
from kubelet_emu.kubelet.run_journal import RunJournal
from kubelet_emu.kubelet.scheduler import Scheduler
from kubelet_emu.kubelet.static_pods import StaticPodFolder
from kubelet_emu.rules.observed import ObservedPod
from kubelet_emu.workloads.controller import WorkloadController
from runtime.api import ContainerState

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from datetime import datetime

    from structlog.typing import FilteringBoundLogger

    from kubelet_emu.api.batch_v1 import CronJob
    from kubelet_emu.apiserver.objects import APIObject
    from kubelet_emu.apiserver.watches import WatchEvent
    from kubelet_emu.journal.records import Record
    from kubelet_emu.kubelet.node import Node
    from kubelet_emu.kubelet.settings import KubeletSettings
    from kubelet_emu.kubelet.timebase import Timebase
    from runtime.api import ContainerID, Runtime

T = TypeVar("T", bound="APIObject")
SUFFIX_ALPHABET = "bcdfghjklmnpqrstvwxz2456789"
SUFFIX_LENGTH = 5
WORKLOAD_KINDS = ("CronJob", "Deployment", "ReplicaSet", "StatefulSet", "DaemonSet", "Job")


@define(eq=False, kw_only=True)
class Cluster:
    """API server, scheduler, controllers and kubelet over one runtime.

    `restored` are the objects of a process that was killed: the cluster goes on with them and with what the runtime
    has, as a node does after a restart of its kubelet. Logs are read on from `logs_since`.
    """

    runtime: Runtime
    timebase: Timebase
    node: Node
    settings: KubeletSettings
    seed: int
    emit: Callable[[Record], None]
    log: FilteringBoundLogger
    source_of: Callable[[APIObject], str] = lambda _: ""
    restored: tuple[APIObject, ...] = ()
    logs_since: datetime | None = None
    api: APIServer = field(init=False)
    recorder: Recorder = field(init=False)
    _runs: RunJournal = field(init=False)
    logs: LogFollower = field(init=False)
    static_folder: StaticPodFolder = field(factory=StaticPodFolder, init=False)
    allocations: Allocations = field(factory=Allocations, init=False)
    _nursery: trio.Nursery | None = field(default=None, init=False)
    _scheduler: Scheduler | None = field(default=None, init=False)
    _workloads: WorkloadController | None = field(default=None, init=False)
    _kubelet: Kubelet | None = field(default=None, init=False)
    _kubelet_scope: trio.CancelScope | None = field(default=None, init=False)
    _kubelet_gone: trio.Event = field(factory=trio.Event, init=False)
    _starts: int = field(default=0, init=False)
    _uids: dict[str, int] = field(factory=dict, init=False)
    _uids_at: datetime | None = field(default=None, init=False)

    def __attrs_post_init__(self) -> None:
        """Make the API server, with identities that depend on the seed alone."""
        self._runs = RunJournal(self.emit, on_forget=self._forget_log)
        self.recorder = Recorder(emit=self.emit, timebase=self.timebase)
        suffixes = random.Random(f"{self.seed}/suffix")  # noqa: S311
        self.api = APIServer(
            now=self.timebase.now,
            new_uid=self._new_uid,
            suffix=lambda: "".join(suffixes.choices(SUFFIX_ALPHABET, k=SUFFIX_LENGTH)),
            admit_update=partial(admit_update, features=self.settings.features),
        )

    @property
    def kubelet(self) -> Kubelet:
        """Return the running kubelet; RuntimeError while it is stopped."""
        if self._kubelet is None:
            raise RuntimeError("the kubelet is stopped")
        return self._kubelet

    @property
    def has_kubelet(self) -> bool:
        """Tell whether the kubelet runs."""
        return self._kubelet is not None

    def give_up_pulls(self) -> None:
        """End every pull that runs or waits, and each that comes; a stopped kubelet has none."""
        if self._kubelet is not None:
            self._kubelet.services.containers.images.give_up()

    async def run(self, *, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
        """Be a cluster until cancelled; `started` is called once the kubelet watches.

        Cancellation leaves containers running.
        """
        async with trio.open_nursery() as nursery:
            self._nursery = nursery
            self.logs = LogFollower(self.runtime, self.emit, nursery)
            if self.timebase.is_virtual:
                nursery.start_soon(self.timebase.referee)
            self.api.subscribe(APIJournal(self.emit, self.source_of))
            recorder = self.recorder
            self.api.subscribe(self._forget_deleted)
            for obj in self.restored:
                self.api.restore(obj)
            self._scheduler = Scheduler(api=self.api, node=lambda: self.node, recorder=recorder, now=self.timebase.now)
            self.api.subscribe(self._scheduler)
            self._scheduler.begin()
            await self._read_logs_on()
            jobs = JobController(
                api=self.api,
                timebase=self.timebase,
                events=recorder,
                emit=self.emit,
                batch_seconds=self.settings.timing.controller_batch_seconds,
            )
            await nursery.start(jobs.run)
            workloads = WorkloadController(
                api=self.api, timebase=self.timebase, events=recorder, emit=self.emit, node=lambda: self.node
            )
            self._workloads = workloads
            await nursery.start(workloads.run)
            await self.start_kubelet()
            task_status.started()

    async def _read_logs_on(self) -> None:
        """Read on in the logs of restored pods; CRIError."""
        for pod in self.restored:
            if pod.kind != "Pod":
                continue
            for summary in await self.runtime.list_containers(pod.metadata.uid):
                ref, name, run = ObjectRef.of(pod.metadata), summary.metadata.name, summary.metadata.attempt + 1
                if summary.state is not ContainerState.CREATED:
                    self.logs.follow(summary.id, ref, name, run, since=self.logs_since)

    def create(self, obj: T) -> T:
        """Create an object as it was admitted; a CronJob with its Job for now. APIError."""
        created = self.api.create(obj)
        if obj.kind == "CronJob":
            from kubelet_emu.workloads.cron_jobs import start_now  # noqa: PLC0415 - few have one

            start_now(self.api, self.recorder, cast("CronJob", created), self.timebase.now(), self.settings.features)
        return created

    def delete_workloads(self) -> None:
        """Delete everything that makes pods; the garbage collector deletes what they made."""
        for kind in WORKLOAD_KINDS:
            for obj in self.api.list(kind):
                if self.api.get_by_uid(kind, obj.metadata.uid or "") is not None:
                    self.api.delete(kind, obj.metadata.namespace or "", obj.metadata.name or "")

    async def start_kubelet(self) -> None:
        """Start a kubelet that knows only what the API server and the runtime have."""
        if self._nursery is None or self._kubelet is not None:
            raise RuntimeError("the cluster does not run, or its kubelet runs already")
        self._kubelet_gone = trio.Event()
        self._kubelet = Kubelet(
            runtime=self.runtime,
            api=self.api,
            emit=self.emit,
            timebase=self.timebase,
            settings=self.settings,
            node=self.node,
            seed=self.seed,
            logs=self.logs,
            log=self.log,
            is_restarted=self._starts > 0 or bool(self.restored),
            static_folder=self.static_folder,
            allocations=self.allocations,
            runs=self._runs,
        )
        self._starts += 1
        await self._nursery.start(self._run_kubelet, self._kubelet)

    def _forget_deleted(self, event: WatchEvent) -> None:
        """Drop what the control plane's recorder keeps of an object that is gone: nothing more is told of it."""
        if event.type is WatchEventType.DELETED:
            self.recorder.forget(event.object.metadata.uid or "")

    def _forget_log(self, container_id: ContainerID) -> None:
        """Drop what the log reader keeps of a container that is gone."""
        self.logs.forget(container_id)

    def label_node(self, labels: Mapping[str, str | None]) -> None:
        """Set labels of the node, or take away those that are None; the kubelet sees it at once."""
        kept = {key: value for key, value in {**self.node.labels, **labels}.items() if value is not None}
        self.node = evolve(self.node, labels=kept)
        if self._kubelet is not None:
            self._kubelet.node = self.node
        if self._scheduler is not None:
            self._scheduler.look_again()
        if self._workloads is not None:
            self._workloads.look_again()

    async def stop_kubelet(self) -> None:
        """Stop the kubelet and leave its containers running."""
        if self._kubelet_scope is not None:
            self._kubelet_scope.cancel()
            await self._kubelet_gone.wait()

    async def _run_kubelet(
        self, kubelet: Kubelet, *, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED
    ) -> None:
        with trio.CancelScope() as scope:
            self._kubelet_scope = scope
            try:
                await kubelet.run(task_status=task_status)
            finally:
                self._kubelet, self._kubelet_scope = None, None
                self._kubelet_gone.set()

    async def observe(self, uid: str) -> ObservedPod:
        """Look at a pod in the runtime itself, whether or not a kubelet runs; CRIError."""
        sandboxes = await self.runtime.list_pod_sandboxes(uid)
        listed = await self.runtime.list_containers(uid)
        containers = tuple([await self.runtime.container_status(summary.id) for summary in listed])
        return ObservedPod(uid=uid, sandboxes=sandboxes, containers=containers)

    async def ended_logs_read(self) -> None:
        """Wait until the log of every container that has ended is in the journal; CRIError."""
        for summary in await self.runtime.list_containers():
            if summary.state is ContainerState.EXITED:
                await self.logs.drained(summary.id)

    def _new_uid(self, key: str) -> str:
        """Return the uid of an object that is created now; another of its name at the same instant has another one."""
        now = self.timebase.now()
        if now != self._uids_at:
            self._uids, self._uids_at = {}, now
        n = self._uids[key] = self._uids.get(key, 0) + 1
        numbers = random.Random(f"{self.seed}/uid/{key}/{now.isoformat()}/{n}")  # noqa: S311
        return str(uuid.UUID(int=numbers.getrandbits(128), version=4))
