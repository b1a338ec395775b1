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
from kubelet_emu.jobs.rules.claims import Claim, adopted, claim_of, disowned, without_finalizer
from kubelet_emu.jobs.rules.conditions import is_job_finished
from kubelet_emu.jobs.rules.finish import ttl_expires_at
from kubelet_emu.jobs.rules.manage import slow_start_batches
from kubelet_emu.jobs.rules.pods import is_tracked
from kubelet_emu.jobs.rules.sync import is_left_alone, is_managed_elsewhere, refuses_status, sync_job
from kubelet_emu.jobs.rules.template import make_pod
from kubelet_emu.journal.records import JobRecord, ObjectRef
from kubelet_emu.kubelet.timebase import Lane

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
    _orphans: dict[str, None] = field(factory=dict, init=False)

    async def run(self, *, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
        """Look after Jobs until cancelled; a cancelled run can be followed by another of the same store."""
        unsubscribe = self.api.subscribe(self._on_change)
        try:
            for pod in self.api.list("Pod"):
                self._on_pod(pod)
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
        if isinstance(obj, Pod) and event.type is WatchEventType.DELETED:
            self._orphans.pop(obj.metadata.uid or "", None)
            self._on_owned_pod(obj)
        elif isinstance(obj, Pod):
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
        """Gather changes of a Job's pods; have one without an owner let go, and looked at by the Jobs that it fits."""
        uid = pod.metadata.uid or ""
        if controller_of(pod) is not None:
            self._orphans.pop(uid, None)
            self._on_owned_pod(pod)
            return
        self._orphans[uid] = None
        if is_tracked(pod):
            self._queue.add(uid)
        for job in self.api.list("Job", pod.metadata.namespace):
            if claim_of(job, pod) is Claim.ADOPT:
                self._queue.add(job.metadata.uid or "", self.batch_seconds)

    def _on_owned_pod(self, pod: Pod) -> None:
        """Gather changes of a Job's pods; that of a Job which is gone or over is let go at once (updatePod)."""
        owner = controller_of(pod)
        if owner is not None and owner.kind == "Job":
            self._queue.add(owner.uid, 0.0 if self._is_orphan(pod) else self.batch_seconds)

    def _is_orphan(self, pod: Pod) -> bool:
        """Tell whether a pod still carries the finalizer and no Job will take it off (syncOrphanPod)."""
        owner = controller_of(pod)
        if not is_tracked(pod) or (owner is not None and owner.kind != "Job"):
            return False
        job = None if owner is None else self.api.get_by_uid("Job", owner.uid)
        return job is None or (is_job_finished(job) and not is_managed_elsewhere(job))

    def _look_at(self, uid: str) -> None:
        """Sync a Job; when it is over or gone, let go the pods that are left of it (syncOrphanPod)."""
        job = self.api.get_by_uid("Job", uid)
        if job is None or is_job_finished(job):
            self._backoff.pop(uid, None)
            self._queue.forget(uid)
            for pod in (self.api.get_by_uid("Pod", uid), *self.api.dependents(uid)):
                if isinstance(pod, Pod) and self._is_orphan(pod):
                    self._release(pod)
        if job is not None and (is_left_alone(job) or self._sync(job)):
            self._expire(uid)

    def _sync(self, job: Job) -> bool:
        """Plan and carry out one sync, and say when the next is due; False when it has to be tried again."""
        uid = job.metadata.uid or ""
        plan = sync_job(job, self._claimed_pods(job), self.timebase.now(), self._backoff.get(uid, BackoffRecord()))
        self._add_at(uid, plan.sync_at)
        self._add_at(uid, plan.retry_at, at_least_seconds=self.batch_seconds)
        if not self._carry_out(job, plan):
            self._queue.retry(uid)
            return False
        self._queue.forget(uid)
        return True

    def _claimed_pods(self, job: Job) -> tuple[Pod, ...]:
        """Return the Job's pods after adopting what fits and disowning what doesn't any more (getPodsForJob)."""
        uid = job.metadata.uid or ""
        orphans = (self.api.get_by_uid("Pod", orphan) for orphan in tuple(self._orphans))
        for pod in (each for each in (*self.api.dependents(uid), *orphans) if isinstance(each, Pod)):
            claim = claim_of(job, pod)
            if claim is Claim.ADOPT:
                self.api.replace(adopted(job, pod))
            elif claim is Claim.DISOWN:
                self.api.replace(disowned(job, pod))
        mine = (pod for pod in self.api.dependents(uid) if isinstance(pod, Pod))
        return tuple(pod for pod in mine if claim_of(job, pod) is Claim.OWN)

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
        """Create pods in growing batches until one has a refusal; return how many are missing (manageJob)."""
        missing = len(wanted)
        for batch in slow_start_batches(wanted):
            created = sum([self._create_pod(job, each) for each in batch])
            missing -= created
            if created < len(batch):
                break
        return missing

    def _create_pod(self, job: Job, wanted: PodToCreate) -> bool:
        """Create one pod; False when the API server refuses it (RealPodControl.createPods)."""
        try:
            pod = self.api.create(self.make_pod(job, wanted))
        except APIError as error:
            self._record(job, words.WARNING, words.FAILED_CREATE, words.error_creating(str(error)))
            return False
        self._record(job, words.NORMAL, words.SUCCESSFUL_CREATE, words.created_pod(pod.metadata.name or ""))
        return True

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
        self.api.replace(without_finalizer(current))

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
