"""A Job controller with a store, and a kubelet that only sets statuses, all in virtual time."""

from __future__ import annotations

from datetime import UTC, datetime
from itertools import count
from typing import TYPE_CHECKING

import trio
from attrs import define, evolve, field, frozen

from kubelet_emu.api.batch_v1 import Job, JobSpec
from kubelet_emu.api.meta import ObjectMeta
from kubelet_emu.api.v1 import Container, Pod, PodSpec, PodTemplateSpec
from kubelet_emu.api.v1_status import (
    ContainerState,
    ContainerStateRunning,
    ContainerStateTerminated,
    ContainerStatus,
    PodCondition,
    PodStatus,
)
from kubelet_emu.apiserver import APIServer, WatchEvent, WatchEventType
from kubelet_emu.jobs.controller import JobController
from kubelet_emu.jobs.rules.template import make_pod
from kubelet_emu.journal.records import JobRecord, ObjectRef, Record
from kubelet_emu.kubelet.timebase import Timebase

if TYPE_CHECKING:
    from collections.abc import Callable

    from kubelet_emu.api.batch_v1 import JobStatus
    from kubelet_emu.jobs.rules.manage import PodToCreate

EPOCH = datetime(2026, 1, 1, tzinfo=UTC)


@frozen
class Run:
    """What a pod does: it exits after some seconds (None: never), and stops so long after a delete."""

    seconds: float | None = None
    code: int = 0
    stops_after: float = 0.5
    stop_code: int = 143
    restarts: int = 0


def a_job(name: str = "job", **spec: object) -> Job:
    """Return a Job as the API server has it after defaulting."""
    policy = str(spec.pop("restart_policy", "Never"))
    defaults: dict[str, object] = {"parallelism": 1, "completions": 1, "backoff_limit": 6}
    if spec.get("pod_failure_policy") is not None:
        defaults["pod_replacement_policy"] = "Failed"
    template = PodTemplateSpec(spec=PodSpec(restart_policy=policy, containers=(Container(name="main", image="a"),)))
    return Job(
        metadata=ObjectMeta(name=name, namespace="default"),
        spec=JobSpec(template=template, **{**defaults, **spec}),  # type: ignore[arg-type]
    )


@define(eq=False)
class FakeKubelet:
    """Runs each pod as its `Run` says: ready at once, phase set when it ends, removed when it was deleted."""

    api: APIServer
    timebase: Timebase
    run_of: Callable[[Pod, int], Run]
    nursery: trio.Nursery
    deleted: dict[str, trio.Event] = field(factory=dict)

    def __call__(self, event: WatchEvent) -> None:
        """Start a task for a new pod, and tell it of its deletion."""
        pod = event.object
        if not isinstance(pod, Pod):
            return
        uid = pod.metadata.uid or ""
        if event.type is WatchEventType.ADDED and pod.status.phase == "Pending":
            self.deleted[uid] = trio.Event()
            self.nursery.start_soon(self._live, pod, self.run_of(pod, len(self.deleted)))
        elif pod.metadata.deletion_timestamp is not None and uid in self.deleted:
            self.deleted[uid].set()

    async def _live(self, pod: Pod, run: Run) -> None:
        deleted = self.deleted[pod.metadata.uid or ""]
        started_at = self.timebase.now()
        self._set(pod, "Running", ContainerState(running=ContainerStateRunning(started_at=started_at)), run.restarts)
        code = run.code
        with trio.move_on_after(float("inf") if run.seconds is None else run.seconds):
            await deleted.wait()
            await trio.sleep(run.stops_after)
            code = run.stop_code
        ended = ContainerStateTerminated(exit_code=code, finished_at=self.timebase.now().replace(microsecond=0))
        self._set(pod, "Failed" if code else "Succeeded", ContainerState(terminated=ended), run.restarts)
        await deleted.wait()
        if self.api.get_by_uid("Pod", pod.metadata.uid or "") is not None:
            self.api.delete("Pod", "default", pod.metadata.name or "", grace_period_seconds=0)

    def _set(self, pod: Pod, phase: str, state: ContainerState, restarts: int) -> None:
        current = self.api.get_by_uid("Pod", pod.metadata.uid or "")
        if current is None:
            return
        kept = tuple(condition for condition in current.status.conditions if condition.type != "Ready")
        ready = PodCondition(type="Ready", status="True" if phase == "Running" else "False")
        container = ContainerStatus(name="main", state=state, restart_count=restarts)
        status = PodStatus(phase=phase, conditions=(*kept, ready), container_statuses=(container,))
        self.api.update_status("Pod", "default", pod.metadata.name or "", status, uid=pod.metadata.uid or "")


@define(eq=False)
class Rig:
    """What tests look at: events and statuses with their times."""

    run_of: Callable[[Pod, int], Run]
    batch_seconds: float = 1.0
    timebase: Timebase = field(factory=lambda: Timebase(epoch=EPOCH, is_virtual=True))
    api: APIServer = field(init=False)
    controller: JobController = field(init=False)
    events: list[str] = field(factory=list, init=False)
    warnings: list[str] = field(factory=list, init=False)
    records: list[tuple[float, JobRecord]] = field(factory=list, init=False)

    def __attrs_post_init__(self) -> None:
        """Put the store and the controller together."""
        uids, suffixes = count(1), count(1)
        self.api = APIServer(
            now=self.timebase.now, new_uid=lambda _: f"uid-{next(uids)}", suffix=lambda: f"{next(suffixes):05d}"
        )
        self.controller = self.a_controller()

    def a_controller(self) -> JobController:
        """Return a controller of this store that remembers nothing."""
        return JobController(
            api=self.api,
            timebase=self.timebase,
            events=self,
            emit=self.emit,
            batch_seconds=self.batch_seconds,
            make_pod=_make_bound_pod,
        )

    def record(self, _ref: ObjectRef, type: str, reason: str, message: str, *, source: str) -> None:  # noqa: A002
        """Note an event as `seconds reason: message`."""
        assert source == "job-controller"
        self.events.append(f"{self._time():g} {reason}: {message}")
        if type == "Warning":
            self.warnings.append(reason)

    def emit(self, record: Record) -> None:
        """Note a Job's status."""
        assert isinstance(record, JobRecord)
        self.records.append((self._time(), record))

    def _time(self) -> float:
        return round(self.timebase.seconds(), 3)

    @property
    def statuses(self) -> list[tuple[float, JobStatus]]:
        """Return the statuses of the Job with their times."""
        return [(at, record.status) for at, record in self.records if record.status is not None]

    @property
    def status(self) -> JobStatus:
        """Return the last status."""
        return self.statuses[-1][1]

    def condition_times(self) -> list[str]:
        """Return when each condition was first seen, as `seconds Type=Status Reason`."""
        seen: dict[str, float] = {}
        for at, status in self.statuses:
            for condition in status.conditions:
                seen.setdefault(f"{condition.type}={condition.status} {condition.reason}", at)
        return [f"{at:g} {text}" for text, at in seen.items()]

    async def run(self, job: Job, seconds: float, *steps: tuple[float, Callable[[], object]]) -> None:
        """Run a Job for so long, with steps at their times."""
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self.timebase.referee)
            self.timebase.seconds()
            self.api.subscribe(FakeKubelet(self.api, self.timebase, self.run_of, nursery))
            await nursery.start(self.controller.run)
            self.api.create(job)
            for at, step in steps:
                await trio.sleep(at - self.timebase.seconds())
                step()
            await trio.sleep(seconds - self.timebase.seconds())
            nursery.cancel_scope.cancel()


def _make_bound_pod(job: Job, wanted: PodToCreate) -> Pod:
    pod = make_pod(job, wanted)
    return evolve(pod, spec=evolve(pod.spec, node_name="node1", termination_grace_period_seconds=30))


def always(run: Run) -> Callable[[Pod, int], Run]:
    """Have every pod do the same."""
    return lambda _pod, _n: run


def in_turn(*runs: Run) -> Callable[[Pod, int], Run]:
    """Have the n-th pod do the n-th thing, and those after the last as the last."""
    return lambda _pod, n: runs[min(n, len(runs)) - 1]
