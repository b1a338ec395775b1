"""One pod's life: sync, terminating, terminated.

A worker runs one step at a time and never goes back. What arrives meanwhile (a probe result, an exit, a deletion) only
wakes it: it reads the latest state when the step in progress is over, so a deletion never cuts a pull, a hook or a kill
short. Every step waits for an observation that is newer than the end of the step before.
Source: kubelet v1.36 pod_workers.go, kubelet.go SyncPod, SyncTerminatingPod, SyncTerminatedPod.
"""

from __future__ import annotations

import enum
from datetime import timedelta
from typing import TYPE_CHECKING

import trio
from attrs import define, field, frozen

from kubelet_emu.api import reasons
from kubelet_emu.journal.deferred import Deferred
from kubelet_emu.journal.records import ObjectRef, SyncRecord
from kubelet_emu.journal.sync_input import describe_input
from kubelet_emu.kubelet.timebase import Lane
from kubelet_emu.rules.actions import compute_pod_actions
from kubelet_emu.rules.disruption import Termination, is_past_active_deadline
from kubelet_emu.rules.observed import StartFailure, SyncInput
from kubelet_emu.rules.statuses import generate_api_pod_status
from kubelet_emu.rules.termination import effective_grace_period
from kubelet_emu.volumes.manager import MountError

if TYPE_CHECKING:
    import random
    from collections.abc import Callable, Mapping

    from kubelet_emu.api.v1 import Pod
    from kubelet_emu.api.v1_status import PodStatus
    from kubelet_emu.kubelet.container_manager import SyncResult
    from kubelet_emu.kubelet.services import NodeServices
    from kubelet_emu.kubelet.timebase import Appointment
    from kubelet_emu.rules.actions import PodActions
    from kubelet_emu.rules.observed import ObservedPod
    from kubelet_emu.rules.statuses import PodStatusOverride

TERMINAL = frozenset({"Succeeded", "Failed"})
MAX_BACKOFF_WAIT_SECONDS = 60.0


class WorkerState(enum.IntEnum):
    """Where a worker is; it only moves forward."""

    SYNC = 0
    TERMINATING = 1
    TERMINATED = 2
    FINISHED = 3


@frozen
class _Seen:
    """What a step works from, and how many changes of the pod had been recorded by then."""

    sync: SyncInput
    changes: int


@define(eq=False, kw_only=True)
class PodWorker:
    """Runs the steps of one pod; `on_terminated` hears that nothing of it can be running any more.

    A pod that was over already when the kubelet first saw it begins in state TERMINATED.
    """

    services: NodeServices
    pod: Pod
    rng: random.Random
    is_static: bool = False
    on_terminated: Callable[[Pod], None]
    state: WorkerState = WorkerState.SYNC
    _visits: Appointment = field(init=False)
    _is_its_turn: bool = field(default=False, init=False)
    _termination: Termination | None = field(default=None, init=False)
    _requested: trio.Event = field(factory=trio.Event, init=False)
    _status_when_requested: PodStatus | None = field(default=None, init=False)
    _grace_seconds: int = field(default=0, init=False)
    _last_look: int = field(default=0, init=False)
    _start_failures: dict[str, StartFailure] = field(factory=dict, init=False)
    _steps: int = field(default=0, init=False)
    _seen: _Seen | None = field(default=None, init=False)
    _told: SyncInput | None = field(default=None, init=False)

    def __attrs_post_init__(self) -> None:
        """Make what the worker waits with."""
        self._visits = self.services.timebase.appointment(Lane.WORKER, self.key)

    @property
    def uid(self) -> str:
        """Return the pod's uid."""
        return self.pod.metadata.uid or ""

    @property
    def key(self) -> str:
        """Return what orders this pod among others at one instant."""
        return f"{self.pod.metadata.namespace}/{self.pod.metadata.name}"

    def wake(self) -> None:
        """Say that something changed; the worker looks for itself what."""
        self._visits.hasten()

    def terminate(self, termination: Termination) -> None:
        """Ask for the end. A later request may shorten the grace of a round that has not begun, never of one that runs.

        What an earlier one says of the status stays unless the later one says something itself.
        Source: kubelet v1.36 UpdatePod, calculateEffectiveGracePeriod, acknowledgeTerminating.
        """
        decision = effective_grace_period(
            self._grace_seconds,
            self.pod.metadata.deletion_grace_period_seconds,
            termination.override_seconds,
            self.pod.spec.termination_grace_period_seconds,
        )
        self._grace_seconds = decision.grace
        self._termination = termination.after(self._termination)
        self._status_when_requested = self.pod.status
        self._requested.set()
        self.wake()

    async def run(self) -> None:
        """Live until the pod is finished. Cancellation leaves its containers running."""
        try:
            known = self.pod.status
            if self.state < WorkerState.TERMINATED:
                await self._sync_until_terminal()
                self.state = WorkerState.TERMINATING
                known = self.pod.status
                await self._sync_terminating_pod()
                self.state = WorkerState.TERMINATED
                self.on_terminated(self.pod)
            await self._sync_terminated_pod(self._status_when_requested or known)
            self.state = WorkerState.FINISHED
        except Exception as error:
            error.add_note(f"pod {self.key} (uid {self.uid}), state {self.state.name}, step {self._steps}")
            raise

    async def _sync_until_terminal(self) -> None:
        """Sync whenever woken or due, until the phase is terminal or the end was asked for."""
        if self.pod.status.phase in TERMINAL:
            return
        due = self.services.timebase.seconds()
        while self._termination is None:
            await self._visits.keep(self.services.timebase.trio_time(due))
            self._is_its_turn = True
            if self._termination is not None:
                return
            pod, observed = await self._next_step()
            terminal, wait = await self._sync_pod(pod, observed)
            if terminal:
                return
            due = self._due(pod, wait)

    async def _next_step(self) -> tuple[Pod, ObservedPod]:
        """Return what the next step works on: the pod as it is now, and a look at the runtime after the last step."""
        pleg, timebase = self.services.pleg, self.services.timebase
        if not self._is_its_turn:
            await timebase.turn(Lane.WORKER, self.key)
        self._is_its_turn = False
        self._visits.catch_up()
        pod = self.pod
        if not pleg.has_newer(self.uid, self._last_look):
            await pleg.newer_than(self.uid, self._last_look)
            await timebase.turn(Lane.WORKER, self.key)
        self._steps += 1
        return pod, pleg.get(self.uid)

    def _due(self, pod: Pod, wait: float) -> float:
        """Return when the next sync is due at the latest: after `wait`, or at the pod's deadline."""
        services = self.services
        due = services.timebase.seconds() + wait
        start_time = services.statuses.get(pod).start_time
        if pod.spec.active_deadline_seconds is not None and start_time is not None:
            deadline = start_time + timedelta(seconds=pod.spec.active_deadline_seconds)
            if (at := services.timebase.seconds_of(deadline)) > services.timebase.seconds():
                due = min(due, at)
        return services.timing.due(due)

    async def _sync_pod(self, pod: Pod, observed: ObservedPod) -> tuple[bool, float]:
        """Do one sync; return whether the pod is over, and the longest wait until the next one.

        Source: kubelet v1.36 SyncPod.
        """
        services, timing = self.services, self.services.timing
        if not self.is_static:
            services.resizer.follow(pod, observed)
        sync = self._input(pod, observed)
        status = self._generate_status(sync)
        self._publish(pod, status)
        if status.phase in TERMINAL:
            self._record("terminal", None, ())
            self._last_look = services.pleg.last_look()
            return True, 0.0
        if self.is_static and services.reconcile_mirror(pod) and self._steps > 1:
            self._publish(pod, status)
        if not await self._mounted(pod):
            self._last_look = services.pleg.last_look()
            return False, timing.wait(timing.error_retry_seconds, self.rng)
        services.probes.add_pod(pod)
        actions = compute_pod_actions(sync)
        results = await services.containers.sync_pod(pod, actions, observed, self._requested.is_set)
        self._remember(results)
        self._record("sync", actions, results)
        self._last_look = services.pleg.last_look()
        return False, self._after(results)

    def _after(self, results: tuple[SyncResult, ...]) -> float:
        """Return the wait after a sync and, when it did something without an error, ask for a look at once."""
        timing, services = self.services.timing, self.services
        failed = [result for result in results if result.failed]
        if any(result.action in {"RemoveContainer", "ResizePod"} for result in results) and not failed:
            services.pleg.request(self.uid)
            self.wake()
            return 0.0
        if not failed:
            if results:
                services.pleg.request(self.uid)
            return timing.wait(timing.resync_seconds, self.rng)
        retries = [result.retry_at for result in failed if result.retry_at is not None]
        if not retries:
            return timing.wait(timing.error_retry_seconds, self.rng)
        left = services.timebase.seconds_of(min(retries)) - services.timebase.seconds() + 1e-6
        return timing.wait(min(max(left, 0.0), MAX_BACKOFF_WAIT_SECONDS), self.rng)

    async def _mounted(self, pod: Pod) -> bool:
        """Wait for the pod's volumes; a request to end the pod cuts the wait short."""
        if not pod.spec.volumes:
            return True
        mounted = False
        async with trio.open_nursery() as nursery:

            async def give_up() -> None:
                await self._requested.wait()
                nursery.cancel_scope.cancel()

            nursery.start_soon(give_up)
            try:
                await self.services.volumes.wait_for_attach_and_mount(pod)
                mounted = True
            except MountError as error:
                self._record("mount", None, (), str(error))
            nursery.cancel_scope.cancel()
        return mounted

    async def _sync_terminating_pod(self) -> None:
        """Stop everything; on a failure try again until nothing runs.

        Source: kubelet v1.36 SyncTerminatingPod.
        """
        services = self.services
        while True:
            pod, observed = await self._next_step()
            errors = await self._kill_round(pod, observed)
            if errors:
                message = reasons.error_killing_pod(errors)
                services.recorder.event(pod, None, reasons.WARNING, reasons.FAILED_KILL_POD, message)
            else:
                services.probes.remove_pod(self.uid)
                observed = await self._look_again()
                if not any(observed.running()):
                    break
                services.log.error("running containers after a kill", pod=self.key)  # the runtime broke its word
            self._last_look = services.pleg.last_look()
            await trio.sleep(services.timing.wait(services.timing.error_retry_seconds, self.rng))
        if not self._is_orphan:
            services.statuses.containers_stopped(self.uid)
            self._publish(pod, self._final_status(pod, observed))
        self._last_look = services.pleg.last_look()

    async def _kill_round(self, pod: Pod, observed: ObservedPod) -> tuple[str, ...]:
        """Publish the status, quieten the probes of main containers and kill the pod once."""
        services = self.services
        override = self._termination.status if self._termination else None
        if not self._is_orphan:
            self._publish(pod, self._generate_status(self._input(pod, observed), override=override))
        services.probes.stop_liveness_and_startup(self.uid)
        grace = self._grace_seconds if self._termination is not None else None
        errors = await services.killer.kill_pod(pod, observed, grace)
        self._record("terminating", None, (), *errors)
        return errors

    async def _look_again(self) -> ObservedPod:
        pleg = self.services.pleg
        last = pleg.last_look()
        pleg.request(self.uid)
        observed = await pleg.newer_than(self.uid, last)
        await self.services.timebase.turn(Lane.WORKER, self.key)
        return observed

    async def _sync_terminated_pod(self, known: PodStatus) -> None:
        """Publish once more, take the volumes away, and say the last word (kubelet v1.36 SyncTerminatedPod).

        `known` is the API's status when the end was asked for: the kubelet judges on that copy how far the pod came.
        """
        _, observed = await self._next_step()
        pod = self.pod
        self._publish(pod, self._final_status(pod, observed))
        await self.services.volumes.unmount(pod)
        if self._termination is not None and self._termination.removes_containers:
            await self.services.remover.remove_containers(observed)
        self._record("terminated", None, ())
        self.services.statuses.terminate_pod(self.pod, known, is_static=self.is_static, has_mirror=self._has_mirror)

    def _final_status(self, pod: Pod, observed: ObservedPod) -> PodStatus:
        return self._generate_status(self._input(pod, observed), pod_is_terminal=True)

    def _generate_status(
        self, sync: SyncInput, *, pod_is_terminal: bool = False, override: PodStatusOverride | None = None
    ) -> PodStatus:
        """Return the status of this step; each past the deadline tells so (activeDeadlineHandler)."""
        start_time = sync.previous_status.start_time or sync.pod.status.start_time
        if is_past_active_deadline(sync.pod, start_time, sync.now):
            self.services.recorder.event(
                sync.pod, None, reasons.NORMAL, reasons.DEADLINE_EXCEEDED, reasons.POD_DEADLINE_EXCEEDED
            )
        host_ips = self.services.host_ips()
        return generate_api_pod_status(sync, pod_is_terminal=pod_is_terminal, host_ips=host_ips, override=override)

    def _input(self, pod: Pod, observed: ObservedPod) -> SyncInput:
        services = self.services
        sync = SyncInput(
            pod=pod,
            observed=observed,
            probes=services.probes.results(container.id for container in observed.containers),
            previous_status=services.statuses.get(pod),
            start_failures=dict(self._start_failures),
            now=services.timebase.now(),
            features=services.features,
            is_static=self.is_static,
            actuated=services.resizer.actuated(self.uid),
        )
        self._seen = _Seen(sync, services.pleg.changes(self.uid))
        return sync

    @property
    def _is_orphan(self) -> bool:
        return self._termination is not None and self._termination.is_orphan

    @property
    def _has_mirror(self) -> bool:
        """Tell whether what the API has under the pod's name is the pod, or stands for it."""
        return not (self.is_static and self._termination is not None and self._termination.why == "removed")

    def _publish(self, pod: Pod, status: PodStatus) -> None:
        self.services.statuses.set_pod_status(pod, status, has_mirror=self._has_mirror)
        self.services.probes.status_seen(pod, status)

    def _remember(self, results: tuple[SyncResult, ...]) -> None:
        """Keep why starts failed, for the next status (kubelet v1.36 reasonCache.Update)."""
        for result in results:
            if result.action != "StartContainer":
                continue
            if result.failed:
                self._start_failures[result.target] = StartFailure(reason=result.reason, message=result.message)
            else:
                self._start_failures.pop(result.target, None)

    def _record(self, step: str, actions: PodActions | None, results: tuple[SyncResult, ...], *errors: str) -> None:
        outcomes = tuple(f"{r.action} {r.target}: {r.reason or 'ok'}" for r in results)
        self.services.emit(
            SyncRecord(
                ref=ObjectRef.of(self.pod.metadata),
                n=self._steps,
                step=step,
                actions=actions.describe() if actions else {},
                input=self._facts(),
                results=outcomes + errors,
            )
        )

    def _facts(self) -> Mapping[str, object] | Deferred:
        """Return what this step decided from, written out only if somebody writes the record down."""
        seen, before = self._seen, self._told
        if seen is None:
            return {}
        self._told = seen.sync
        behind = max(0, self.services.pleg.changes(self.uid) - seen.changes)
        return Deferred(lambda: describe_input(seen.sync, before, behind))
