"""The Job controller: one task that watches Jobs and their pods and carries out what `rules.sync` plans.

Owns the work queue and what a controller remembers of failures. It decides nothing: each look at a Job reads the store,
plans, and acts without an await in between, so that a cancelled controller leaves no sync half done. A new one begins
with forgotten delays, as a restarted kube-controller-manager does.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

import trio
from attrs import define, evolve, field

from kubelet_emu.api.batch_v1 import Job
from kubelet_emu.api.v1 import Pod
from kubelet_emu.apiserver.errors import APIError
from kubelet_emu.apiserver.objects import controller_of
from kubelet_emu.apiserver.watches import WatchEventType
from kubelet_emu.jobs.queue import WorkQueue
from kubelet_emu.jobs.rules import words
from kubelet_emu.jobs.rules.backoff import BackoffRecord
from kubelet_emu.jobs.rules.finish import ttl_expires_at
from kubelet_emu.jobs.rules.pods import is_tracked
from kubelet_emu.jobs.rules.sync import is_managed_elsewhere, refuses_status, sync_job
from kubelet_emu.jobs.rules.template import make_pod
from kubelet_emu.journal.records import JobRecord, ObjectRef
from kubelet_emu.kubelet.timebase import Lane
from kubelet_emu.manifests.validation.metadata import selector_matches

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    from kubelet_emu.api.batch_v1 import JobStatus
    from kubelet_emu.apiserver.store import APIServer
    from kubelet_emu.apiserver.watches import WatchEvent
    from kubelet_emu.jobs.rules.manage import PodToCreate
    from kubelet_emu.jobs.rules.sync import JobEvent, SyncPlan
    from kubelet_emu.journal.records import Record
    from kubelet_emu.kubelet.timebase import Timebase


class EventRecorder(Protocol):
    """Where events of Jobs go."""

    def record(self, ref: ObjectRef, type: str, reason: str, message: str, *, source: str) -> None:  # noqa: A002
        """Record an event of an object."""


@define(eq=False, kw_only=True)
class JobController:
    """Runs the Jobs of a store.

    `batch_seconds` is how long changes of pods are gathered before a look (1 s in a real cluster). `make_pod` turns a
    Job into the pod to create. Each status of a Job is one `JobRecord`.
    """

    api: APIServer
    timebase: Timebase
    events: EventRecorder
    emit: Callable[[Record], None]
    batch_seconds: float = 1.0
    make_pod: Callable[[Job, PodToCreate], Pod] = make_pod
    _queue: WorkQueue = field(factory=WorkQueue, init=False)
    _backoff: dict[str, BackoffRecord] = field(factory=dict, init=False)
    _shown: dict[str, JobStatus] = field(factory=dict, init=False)
    _generations: dict[str, int] = field(factory=dict, init=False)

    async def run(self, *, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
        """Look after Jobs until cancelled; a cancelled run can be followed by another of the same store."""
        unsubscribe = self.api.subscribe(self._on_change)
        try:
            for job in self.api.list("Job"):
                self._on_job(job)
            task_status.started()
            while True:
                uid = await self._queue.get()
                await self.timebase.turn(Lane.CONTROLLER, uid)
                self._look_at(uid)
        finally:
            unsubscribe()

    def _on_change(self, event: WatchEvent) -> None:
        """Note what a change in the store asks for."""
        obj = event.object
        if isinstance(obj, Pod):
            self._on_pod(obj)
        elif isinstance(obj, Job) and event.type is WatchEventType.DELETED:
            self._on_job_deleted(obj)
        elif isinstance(obj, Job):
            self._on_job(obj)

    def _on_job(self, job: Job) -> None:
        """Show a new status; look at a new spec at once, at a new status with the next batch (updateJob)."""
        uid, generation = job.metadata.uid or "", job.metadata.generation or 1
        if self._shown.get(uid) != job.status:
            self._shown[uid] = job.status
            self.emit(JobRecord(ref=ObjectRef.of(job.metadata, job.kind), status=job.status))
        is_new_spec = self._generations.get(uid) != generation
        self._generations[uid] = generation
        self._queue.add(uid, 0.0 if is_new_spec else self.batch_seconds)

    def _on_job_deleted(self, job: Job) -> None:
        """Show that a Job is gone, and let its pods go (deleteJob)."""
        uid = job.metadata.uid or ""
        for remembered in (self._shown, self._generations, self._backoff):
            remembered.pop(uid, None)
        self.emit(JobRecord(ref=ObjectRef.of(job.metadata, job.kind), deleted=True))
        self._queue.add(uid)

    def _on_pod(self, pod: Pod) -> None:
        """Gather changes of a Job's pods; a pod that lost its Job is let go at once (updatePod, enqueueOrphanPod)."""
        owner = controller_of(pod)
        if owner is not None and owner.kind == "Job":
            is_orphan = self.api.get_by_uid("Job", owner.uid) is None
            self._queue.add(owner.uid, 0.0 if is_orphan else self.batch_seconds)
        elif owner is None and is_tracked(pod):
            self._queue.add(pod.metadata.uid or "")

    def _look_at(self, uid: str) -> None:
        """Sync a Job; when there is none of that uid, let go the pods that are left of it (syncOrphanPod)."""
        job = self.api.get_by_uid("Job", uid)
        if job is not None:
            self._sync(job)
            return
        left = (self.api.get_by_uid("Pod", uid), *self.api.dependents(uid))
        for pod in left:
            if isinstance(pod, Pod):
                self._release(pod)
        self._queue.forget(uid)

    def _sync(self, job: Job) -> None:
        """Plan and carry out one sync, and say when the next is due."""
        uid = job.metadata.uid or ""
        self._disown_relabelled(job)
        pods = tuple(pod for pod in self.api.dependents(uid) if isinstance(pod, Pod))
        plan = sync_job(job, pods, self.timebase.now(), self._backoff.get(uid, BackoffRecord()))
        if plan is not None:
            self._add_at(uid, plan.sync_at)
            self._add_at(uid, plan.retry_at, at_least_seconds=self.batch_seconds)
        if plan is not None and not self._carry_out(job, plan):
            self._queue.retry(uid)
            return
        self._queue.forget(uid)
        self._expire(uid)

    def _disown_relabelled(self, job: Job) -> None:
        """Let pods go whose labels no longer match the Job's selector (PodControllerRefManager ReleasePod)."""
        selector = job.spec.selector
        if selector is None or is_managed_elsewhere(job):
            return
        for pod in self.api.dependents(job.metadata.uid or ""):
            if isinstance(pod, Pod) and not selector_matches(selector, pod.metadata.labels):
                self._release(pod)
                kept = tuple(ref for ref in pod.metadata.owner_references if ref.uid != job.metadata.uid)
                current = self.api.get_by_uid("Pod", pod.metadata.uid or "")
                if current is not None:
                    self.api.replace(evolve(current, metadata=evolve(current.metadata, owner_references=kept)))

    def _carry_out(self, job: Job, plan: SyncPlan) -> bool:
        """Do what a plan says, in its order; False when something failed and the sync has to be tried again."""
        uid = job.metadata.uid or ""
        for pod in plan.delete:
            self._delete_pod(job, pod, release_first=plan.release_first)
        missing = self._create_pods(job, plan.create)
        self._record_events(job, plan.events)
        if not self._write_status(job, plan.interim, missing):
            return False
        if plan.interim != job.status:
            self._backoff[uid] = plan.backoff
        for pod in plan.release:
            self._release(pod)
        self._write_status(job, plan.final, missing)  # what could be refused stands in the interim status already
        self._record_events(job, plan.finish_events)
        return not missing

    def _delete_pod(self, job: Job, pod: Pod, *, release_first: bool) -> None:
        """Delete a pod with its own grace; one that must not count loses its finalizer before (deleteJobPods)."""
        if release_first:
            self._release(pod)
        name = pod.metadata.name or ""
        self.api.delete("Pod", pod.metadata.namespace or "", name, uid=pod.metadata.uid)
        self._record(job, words.NORMAL, words.SUCCESSFUL_DELETE, words.deleted_pod(name))

    def _create_pods(self, job: Job, wanted: tuple[PodToCreate, ...]) -> int:
        """Create pods until one is refused; return how many are missing (manageJob, slow start)."""
        for created, each in enumerate(wanted):
            try:
                pod = self.api.create(self.make_pod(job, each))
            except APIError as error:
                self._record(job, words.WARNING, words.FAILED_CREATE, words.error_creating(str(error)))
                return len(wanted) - created
            self._record(job, words.NORMAL, words.SUCCESSFUL_CREATE, words.created_pod(pod.metadata.name or ""))
        return 0

    def _write_status(self, job: Job, status: JobStatus, missing: int) -> bool:
        """Write a status, less the pods that could not be created; False when the API server refuses it."""
        metadata = job.metadata
        if missing:
            status = evolve(status, active=max(0, (status.active or 0) - missing) or None)
        stored = self.api.get_by_uid("Job", metadata.uid or "")
        if stored is None or refuses_status(stored.status, status):
            return stored is None
        self.api.update_status("Job", metadata.namespace or "", metadata.name or "", status, uid=metadata.uid or "")
        return True

    def _release(self, pod: Pod) -> None:
        """Take the tracking finalizer off a pod as it is now (removeTrackingFinalizerFromPods)."""
        current = self.api.get_by_uid("Pod", pod.metadata.uid or "")
        if current is None or not is_tracked(current):
            return
        kept = tuple(name for name in current.metadata.finalizers if name != words.TRACKING_FINALIZER)
        self.api.replace(evolve(current, metadata=evolve(current.metadata, finalizers=kept)))

    def _expire(self, uid: str) -> None:
        """Delete a finished Job, pods first, when its time to live is over (ttlafterfinished processJob)."""
        job = self.api.get_by_uid("Job", uid)
        expires_at = None if job is None else ttl_expires_at(job)
        if job is None or expires_at is None or job.metadata.deletion_timestamp is not None:
            return
        if self.timebase.now() < expires_at:
            self._add_at(uid, expires_at)
            return
        metadata = job.metadata
        self.api.delete(
            "Job", metadata.namespace or "", metadata.name or "", uid=metadata.uid, propagation="Foreground"
        )

    def _add_at(self, uid: str, at: datetime | None, *, at_least_seconds: float = 0.0) -> None:
        """Have a Job looked at when that time has come, if there is one (enqueueSyncJobWithDelay)."""
        if at is not None:
            self._queue.add(uid, max(at_least_seconds, (at - self.timebase.now()).total_seconds()))

    def _record_events(self, job: Job, events: tuple[JobEvent, ...]) -> None:
        """Record events of a Job."""
        for event in events:
            self._record(job, event.type, event.reason, event.message)

    def _record(self, job: Job, event_type: str, reason: str, message: str) -> None:
        """Record one event of a Job."""
        self.events.record(
            ObjectRef.of(job.metadata, job.kind), event_type, reason, message, source=words.JOB_CONTROLLER
        )
