"""The workload controllers: one task that gives each ReplicaSet, Deployment, StatefulSet and DaemonSet its pods.

Owns the queue and what is remembered of failed daemon pods. It decides nothing: each look reads the store, asks the
rules of the kind, and acts without an await in between. It keeps no statuses: nobody here reads them.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, cast

import trio
from attrs import define, evolve, field

from kubelet_emu.api.v1 import Pod
from kubelet_emu.apiserver.errors import APIError
from kubelet_emu.apiserver.objects import controller_of
from kubelet_emu.apiserver.watches import WatchEventType
from kubelet_emu.jobs.queue import WorkQueue
from kubelet_emu.jobs.rules.conditions import finished_condition
from kubelet_emu.journal.records import NoteRecord, ObjectRef
from kubelet_emu.kubelet.timebase import Lane
from kubelet_emu.rules.node_fit import node_labels
from kubelet_emu.workloads.claiming import claim, claimants
from kubelet_emu.workloads.rules import words
from kubelet_emu.workloads.rules.plan import NOTHING, Plan
from kubelet_emu.workloads.rules.refusals import is_refused, waits_until

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    from kubelet_emu.api.apps_v1 import DaemonSet, Deployment, ReplicaSet, StatefulSet
    from kubelet_emu.api.batch_v1 import Job
    from kubelet_emu.api.meta import OwnerReference
    from kubelet_emu.api.v1 import PodTemplateSpec
    from kubelet_emu.apiserver.objects import APIObject
    from kubelet_emu.apiserver.store import APIServer
    from kubelet_emu.apiserver.watches import WatchEvent
    from kubelet_emu.jobs.controller import EventRecorder
    from kubelet_emu.journal.records import Record
    from kubelet_emu.kubelet.node import Node
    from kubelet_emu.kubelet.timebase import Timebase

KINDS = ("Deployment", "ReplicaSet", "StatefulSet", "DaemonSet")
MOST_KILLS = 64
"""Of so many failed pods of a DaemonSet the times are kept: long before that their back-off grows no more."""


@define(eq=False, kw_only=True)
class WorkloadController:
    """Runs the workloads of a store on one node."""

    api: APIServer
    timebase: Timebase
    events: EventRecorder
    emit: Callable[[Record], None]
    node: Callable[[], Node]
    _queue: WorkQueue = field(factory=WorkQueue, init=False)
    _templates: dict[str, PodTemplateSpec] = field(factory=dict, init=False)
    _noted: dict[str, str] = field(factory=dict, init=False)
    _seen: set[str] = field(factory=set, init=False)
    _killed_at: dict[str, deque[datetime]] = field(factory=dict, init=False)
    _refused_at: dict[str, dict[str, datetime]] = field(factory=dict, init=False)

    async def run(self, *, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
        """Look after workloads until cancelled; a cancelled run can be followed by another of the same store."""
        unsubscribe = self.api.subscribe(self._on_change)
        try:
            self.look_again()
            task_status.started()
            while True:
                uid = await self._queue.get()
                await self.timebase.turn(Lane.CONTROLLER, uid)
                self._look_at(uid)
        finally:
            unsubscribe()

    def _on_change(self, event: WatchEvent) -> None:
        """Note what a change in the store asks for: a look at the workload, and at what controls the object."""
        obj = event.object
        if obj.kind in KINDS and event.type is WatchEventType.DELETED:
            for remembered in (self._templates, self._killed_at, self._noted, self._refused_at):
                remembered.pop(obj.metadata.uid or "", None)
        elif obj.kind in KINDS:
            self._queue.add(obj.metadata.uid or "")
        owner = controller_of(obj)
        if owner is not None and owner.kind in KINDS:
            self._queue.add(owner.uid)
            if isinstance(obj, Pod) and event.type is not WatchEventType.DELETED:
                self._see_pod(owner, obj)
        elif obj.kind == "Job" and event.type is WatchEventType.DELETED:
            self._seen.discard(obj.metadata.uid or "")
        elif owner is not None and owner.kind == "CronJob" and obj.kind == "Job":
            self._see_job(owner, cast("Job", obj))
        elif isinstance(obj, Pod):
            self._on_stray(obj, event)

    def look_again(self) -> None:
        """Look at every workload: the node has changed."""
        self._refused_at.clear()
        for kind in KINDS:
            for obj in self.api.list(kind):
                self._queue.add(obj.metadata.uid or "")

    def _see_pod(self, owner: OwnerReference, pod: Pod) -> None:
        """Remember of a pod that the node has refused it, until it takes one or its owner is gone."""
        if is_refused(pod) and self.api.get_by_uid(owner.kind, owner.uid) is not None:
            self._refused_at.setdefault(owner.uid, {}).setdefault(pod.metadata.uid or "", self.timebase.now())
        elif pod.status.phase == "Running":
            self._refused_at.pop(owner.uid, None)

    def _on_stray(self, pod: Pod, event: WatchEvent) -> None:
        """Have a pod without a controller looked at by those that may want it, and by the one that has let it go."""
        if event.type is not WatchEventType.DELETED:
            for obj in claimants(self.api, pod):
                self._queue.add(obj.metadata.uid or "")

    def _see_job(self, owner: OwnerReference, job: Job) -> None:
        """Tell once that a Job of a CronJob has its verdict (cronjob syncCronJob)."""
        cron_job = self.api.get_by_uid("CronJob", owner.uid)
        verdict = finished_condition(job)
        if cron_job is not None and verdict is not None and job.metadata.uid not in self._seen:
            self._seen.add(job.metadata.uid or "")
            message = words.saw_completed_job(job.metadata.name or "", verdict.type)
            self._record(cron_job, words.NORMAL, words.SAW_COMPLETED_JOB, message)

    def _look_at(self, uid: str) -> None:
        """Plan and carry out one step of a workload that is there and is not being deleted."""
        obj = next((found for kind in KINDS if (found := self.api.get_by_uid(kind, uid)) is not None), None)
        if obj is None or obj.metadata.deletion_timestamp is not None:
            return
        self._note_new_template(obj)
        claim(self.api, obj)
        plan = self._plan(obj)
        self._note(obj, plan.note)
        if plan.look_at is not None:
            self._queue.add(uid, (plan.look_at - self.timebase.now()).total_seconds())
        if self._carry_out(obj, plan):
            self._queue.forget(uid)
        else:
            self._queue.retry(uid)

    def _plan(self, obj: APIObject) -> Plan:
        """Ask the rules of the kind."""
        uid, now = obj.metadata.uid or "", self.timebase.now()
        owned = self.api.dependents(uid)
        pods = tuple(each for each in owned if isinstance(each, Pod))
        match obj.kind:
            case "Deployment":
                from kubelet_emu.workloads.rules.deployment import sync_deployment  # noqa: PLC0415 - by kind

                sets = [cast("ReplicaSet", each) for each in owned if each.kind == "ReplicaSet"]
                return sync_deployment(cast("Deployment", obj), sets)
            case "ReplicaSet":
                from kubelet_emu.workloads.rules.replica_set import manage_replicas  # noqa: PLC0415 - by kind

                plan = manage_replicas(cast("ReplicaSet", obj), pods, now)
                return self._later(uid, plan, makes_pods=bool(plan.create))
            case "StatefulSet":
                from kubelet_emu.workloads.rules.stateful_set import sync_stateful_set  # noqa: PLC0415 - by kind

                plan = sync_stateful_set(cast("StatefulSet", obj), pods, now)
                return self._later(uid, plan, makes_pods=bool(plan.create or plan.events))
            case _:
                return self._plan_daemon_set(cast("DaemonSet", obj), pods, now)

    def _later(self, uid: str, plan: Plan, *, makes_pods: bool) -> Plan:
        """Return a plan, or the waiting for its time where it makes pods and the node has refused the last ones."""
        until = waits_until(self._refused_at.get(uid, {}).values())
        if until is None:
            return plan
        if makes_pods and self.timebase.now() < until:
            plan = Plan(look_at=until)
        return evolve(plan, note=words.NODE_REFUSES)

    def _plan_daemon_set(self, daemon_set: DaemonSet, pods: tuple[Pod, ...], now: datetime) -> Plan:
        from kubelet_emu.workloads.rules.daemon_set import sync_daemon_set  # noqa: PLC0415 - by kind

        node, killed_at = (
            self.node(),
            self._killed_at.setdefault(daemon_set.metadata.uid or "", deque(maxlen=MOST_KILLS)),
        )
        labels = node_labels(node.name, node.labels, node.facts().os)
        plan = sync_daemon_set(daemon_set, pods, node.name, labels, killed_at=killed_at, now=now)
        if any(event.reason == words.FAILED_DAEMON_POD for event in plan.events):
            killed_at.append(now)
        return plan

    def _note_new_template(self, obj: APIObject) -> None:
        """Say that pods stay as they are when the template of a workload changes."""
        uid, template = obj.metadata.uid or "", cast("Deployment", obj).spec.template
        if self._templates.setdefault(uid, template) != template:
            self._templates[uid] = template
            self._warn(obj, words.NO_ROLLING_UPDATE)

    def _note(self, obj: APIObject, text: str) -> None:
        """Say why a workload makes no pods, once until that changes."""
        uid = obj.metadata.uid or ""
        if text and self._noted.get(uid) != text:
            self._warn(obj, text)
        self._noted[uid] = text

    def _warn(self, obj: APIObject, text: str) -> None:
        self.emit(NoteRecord(ref=ObjectRef.of(obj.metadata, obj.kind), level="warning", text=text))

    def _carry_out(self, obj: APIObject, plan: Plan) -> bool:
        """Do what a plan says, in its order; False when a pod was refused and the look has to be tried again."""
        if plan is NOTHING:
            return True
        if plan.replica_set is not None and not self._write(obj, plan.replica_set):
            return False
        for event in plan.events:
            self._record(obj, event.type, event.reason, event.message)
        name = obj.metadata.name or ""
        for pod in plan.delete:
            self.api.delete("Pod", pod.metadata.namespace or "", pod.metadata.name or "", uid=pod.metadata.uid)
            message = words.deleted_pod(obj.kind, name, pod.metadata.name or "")
            self._record(obj, words.NORMAL, words.SUCCESSFUL_DELETE, message)
        return all(self._create(obj, pod) for pod in plan.create)

    def _write(self, obj: APIObject, replica_set: ReplicaSet) -> bool:
        """Create a ReplicaSet, or change the one that there is; tell whether it was taken."""
        try:
            if replica_set.metadata.uid is None:
                self.api.create(replica_set)
            else:
                self.api.replace(replica_set)
        except APIError as error:
            message = words.error_creating_replica_set(replica_set.metadata.name or "", str(error))
            self._record(obj, words.WARNING, words.REPLICA_SET_CREATE_ERROR, message)
            return False
        return True

    def _create(self, obj: APIObject, pod: Pod) -> bool:
        """Create a pod; tell whether it was taken."""
        name = obj.metadata.name or ""
        try:
            created = self.api.create(pod)
        except APIError as error:
            message = words.error_creating(obj.kind, name, pod.metadata.name or "", str(error))
            self._record(obj, words.WARNING, words.FAILED_CREATE, message)
            return False
        message = words.created_pod(obj.kind, name, created.metadata.name or "")
        self._record(obj, words.NORMAL, words.SUCCESSFUL_CREATE, message)
        return True

    def _record(self, obj: APIObject, event_type: str, reason: str, message: str) -> None:
        """Record one event of a workload."""
        ref = ObjectRef.of(obj.metadata, obj.kind)
        self.events.record(ref, event_type, reason, message, source=words.SOURCES[obj.kind])
