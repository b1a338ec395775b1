"""One run from its first object to its end: what ends it, and how it is brought down.

Knows nothing of Docker or of kubelets: it drives an `Emulator` and learns what happens from the records alone. A run
ends when every pod has ended, when a stop was asked for (Ctrl-C, `--delete-when`, a closed output) or when its time is
over. Then pods are deleted gracefully; a second signal deletes with grace 0, a third leaves at once.
"""

from __future__ import annotations

import signal
from contextlib import suppress
from typing import TYPE_CHECKING, Protocol

import trio
from attrs import define, field

from kubelet_emu.cli.exit_status import INTERRUPTED, NO_ENGINE, TIMED_OUT, Why
from kubelet_emu.journal.fold import Facts
from kubelet_emu.journal.records import EndRecord, NoteRecord, ObservedRecord, RequestRecord
from runtime.api import CRIError, PodSandboxState

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractAsyncContextManager

    from kubelet_emu.cli.triggers import Trigger
    from kubelet_emu.journal.encode import Entry
    from kubelet_emu.journal.facts import JobFacts
    from kubelet_emu.journal.records import Record

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
SILENCE_SECONDS = 5.0
LOST_SECONDS = 10.0
ASK_SECONDS = 1.0
GONE_SECONDS = 5.0
OVERTIME_SECONDS = 15.0
BREAK_OFF_SECONDS = 10.0
REMOVE_SECONDS = 60.0


class Emulator(Protocol):
    """A node with its API, as a session drives it. Whatever it does shows in the records."""

    async def run(self, *, task_status: trio.TaskStatus[None]) -> None:
        """Be the node until cancelled; `started` once it takes objects."""

    def create(self) -> None:
        """Create the objects of the manifests."""

    def delete_all(self, grace_period_seconds: int | None) -> None:
        """Delete every workload and pod; None is each pod's own grace."""

    async def bring_down(self, grace_period_seconds: int | None) -> None:
        """Delete every workload and pod in order, those with state last; returns when all have ended."""

    async def force(self) -> None:
        """Delete with grace 0 and end what runs within two seconds, also where a stop has already begun."""

    async def settled(self) -> None:
        """Wait until what has happened is recorded, container logs included."""

    async def remove_all(self) -> None:
        """Delete what is left and wait until the engine holds nothing of it."""

    async def answers(self) -> None:
        """Return once the engine has answered; CRIError, or no return, when it doesn't."""


@define(eq=False, kw_only=True)
class Session:
    """The run of one command. It is a sink of the journal, too: the records wake it.

    `abandon` leaves the process at once and says why; it is called after a third signal, and when a stop was asked for
    and the engine doesn't answer: after ten seconds, after five once there was a second signal. Where nothing happens
    any more although the engine answers, the run is broken off and cleaned up.
    """

    emit: Callable[[Record], None]
    abandon: Callable[[str, int], None]
    delete_when: Trigger | None = None
    timeout: float | None = None
    grace_period: int | None = None
    keep: bool = False
    until: float | None = None
    has_engine: bool = True
    facts: Facts = field(factory=Facts)
    why: Why = Why.FINISHED
    has_left: bool = field(default=False, init=False)
    _changed: trio.Event = field(factory=trio.Event, init=False)
    _stop: trio.Event = field(factory=trio.Event, init=False)
    _emulator: Emulator | None = field(default=None, init=False)
    _scope: trio.CancelScope = field(factory=trio.CancelScope, init=False)
    _has_ended: bool = field(default=False, init=False)
    _answered_at: float = field(default=0.0, init=False)
    _sandboxes: dict[str, str] = field(factory=dict, init=False)

    def __call__(self, entry: Entry) -> None:
        """Take an entry; what comes after the end is clean-up and changes no fact."""
        if isinstance(entry.record, ObservedRecord):
            self._see_sandboxes(entry.record)
        if not self._has_ended:
            self._has_ended = isinstance(entry.record, EndRecord)
            self.facts.feed(entry)
        self._changed.set()
        self._changed = trio.Event()

    def request_stop(self, because: str, why: Why = Why.REQUESTED) -> None:
        """Have all pods deleted gracefully, once; before the node has started, leave without."""
        if self._stop.is_set() or self._has_ended:
            return
        self.why = why
        self._stop.set()
        grace = "own grace" if self.grace_period is None else f"grace {self.grace_period} s"
        self.emit(RequestRecord(what=f"delete all pods, {grace}", details={"because": because}))
        if self._emulator is None:
            self._scope.cancel()

    def leave(self, because: str) -> None:
        """Have all pods deleted gracefully because nobody wants the run any more, nor one after it."""
        self.has_left = True
        if self.why is Why.REPLACED:
            self.why = Why.REQUESTED
            self.emit(NoteRecord(text=f"{because}: this run is the last"))
        self.request_stop(because)

    async def run(self, open_emulator: Callable[[], AbstractAsyncContextManager[Emulator]]) -> Why:
        """Run to the end and return what ended it.

        Errors of the runtime at start, and bugs, come out as they are. Cancellation stops the node and leaves the
        containers to whoever opened the emulator.
        """
        async with trio.open_nursery() as nursery:
            await nursery.start(self._watch_signals, nursery)
            with self._scope:
                async with open_emulator() as emulator, trio.open_nursery() as node:
                    await node.start(emulator.run)
                    self._emulator = emulator
                    if self.has_engine:
                        nursery.start_soon(self._watch_engine, emulator, LOST_SECONDS)
                    await self._drive(emulator)
                    node.cancel_scope.cancel()
            nursery.cancel_scope.cancel()
        return self.why

    async def _drive(self, emulator: Emulator) -> None:
        emulator.create()
        async with trio.open_nursery() as watchers:
            if self.delete_when is not None:
                watchers.start_soon(self._watch_moment, self.delete_when)
            if self.timeout is not None:
                watchers.start_soon(self._watch_time, self.timeout)
            if self.until is not None:
                watchers.start_soon(self._watch_until, self.until)
            watchers.start_soon(self._watch_end)
            await self._stop.wait()
            watchers.cancel_scope.cancel()
        if self.why is not Why.FINISHED:
            await self._stop_pods(emulator)
        await emulator.settled()
        self.emit(EndRecord(why=self.why.value))
        if not self.keep:
            with trio.move_on_after(REMOVE_SECONDS):
                await emulator.remove_all()

    async def _stop_pods(self, emulator: Emulator) -> None:
        """Stop the pods: in order when that was asked for, all at once when the time is over."""
        async with trio.open_nursery() as nursery:
            if self.why in {Why.REQUESTED, Why.MOMENT, Why.REPLACED}:
                nursery.start_soon(emulator.bring_down, self.grace_period)
            elif self.why is Why.TIMEOUT:
                emulator.delete_all(self.grace_period)
            with trio.move_on_after(self._patience()) as scope:
                await self._until(self._have_ended)
            if scope.cancelled_caught:
                self._break_off("the pods have not ended within their grace")
                await trio.lowlevel.checkpoint()
            nursery.cancel_scope.cancel()
        with trio.move_on_after(GONE_SECONDS):
            await self._until(self._are_gone)

    def _patience(self) -> float:
        """Return how long pods may take to stop: after `--timeout` their grace and a little more, else for ever."""
        if self.why is not Why.TIMEOUT:
            return float("inf")
        graces = [pod.grace_seconds for pod in self.facts.pods.values()] if self.grace_period is None else []
        return max([*graces, self.grace_period or 0]) + OVERTIME_SECONDS

    def _break_off(self, because: str) -> None:
        """Leave the run as it is; whoever opened the emulator removes what there is."""
        self.emit(NoteRecord(level="warning", text=f"{because}: removing what is left"))
        self._scope.cancel()

    def _have_ended(self) -> bool:
        return self.facts.all_pods_ended

    def _are_gone(self) -> bool:
        """Tell whether the pods are gone from the API and from the runtime: a delete with grace 0 doesn't wait."""
        return all(pod.is_deleted for pod in self.facts.pods.values()) and not self._running()

    def _is_finished(self) -> bool:
        """Tell whether every pod has ended for good and every Job that makes pods has its verdict."""
        if self.facts.keeps_running:
            return False
        jobs = [job for job in self.facts.jobs.values() if job.status is not None]
        has_begun = bool(self.facts.pods or jobs or self.facts.workloads)
        return has_begun and self._have_ended() and all(job.is_finished or _will_stay_idle(job) for job in jobs)

    async def _until(self, condition: Callable[[], bool]) -> None:
        while not condition():
            await self._changed.wait()

    async def _watch_end(self) -> None:
        await self._until(self._is_finished)
        self._stop.set()

    async def _watch_moment(self, moment: Trigger) -> None:
        await self._until(lambda: moment.has_come(self.facts))
        await trio.sleep(moment.seconds + moment.plus)
        self.request_stop("--delete-when", Why.MOMENT)

    async def _watch_time(self, seconds: float) -> None:
        await trio.sleep(seconds)
        self.request_stop(f"--timeout {seconds:g}", Why.TIMEOUT)

    async def _watch_until(self, seconds: float) -> None:
        await trio.sleep(seconds)
        self.emit(NoteRecord(text=f"{seconds:g} s of virtual time are over: deleting the pods (--until)"))
        self.request_stop(f"--until {seconds:g}")

    async def _watch_signals(
        self, nursery: trio.Nursery, *, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED
    ) -> None:
        with trio.open_signal_receiver(*SIGNALS) as received:
            task_status.started()
            count = 0
            async for number in received:
                count += 1
                self._on_signal(count, signal.Signals(number).name, nursery)

    def _on_signal(self, count: int, name: str, nursery: trio.Nursery) -> None:
        """Take the n-th signal: stop, stop without grace, leave."""
        if count == 1:
            self.leave(name)
        elif count == 2 and self._emulator is not None:
            self.why = Why.FORCED
            self._stop.set()
            self.emit(NoteRecord(level="warning", text=f"{name} again: deleting with grace 0"))
            nursery.start_soon(self._emulator.force)
            nursery.start_soon(self._watch_silence)
            if self.has_engine:
                nursery.start_soon(self._watch_engine, self._emulator, SILENCE_SECONDS)
        else:
            self.abandon(f"{name} again", INTERRUPTED)

    async def _watch_silence(self) -> None:
        """Break off when nothing happens for a while, and leave when that takes too long; runs until cancelled."""
        is_silent = False
        while not is_silent:
            with trio.move_on_after(SILENCE_SECONDS) as scope:
                await self._changed.wait()
            is_silent = scope.cancelled_caught
        self._break_off(f"nothing has happened for {SILENCE_SECONDS:g} s")
        await trio.sleep(BREAK_OFF_SECONDS)
        self.abandon("the engine doesn't come to an end", INTERRUPTED)

    async def _watch_engine(self, emulator: Emulator, seconds: float) -> None:
        """Once a stop was asked for, leave when the engine hasn't answered for so long; runs until cancelled."""
        await self._stop.wait()
        answered_at = trio.current_time()
        while trio.current_time() < answered_at + seconds:
            with trio.move_on_at(answered_at + seconds), suppress(CRIError):
                await emulator.answers()
                answered_at = trio.current_time()
            await trio.sleep(ASK_SECONDS)
        self.abandon(f"the engine has not answered for {seconds:g} s", self._status())

    def _status(self) -> int:
        """Return the exit status of a run whose engine is lost."""
        return {Why.TIMEOUT: TIMED_OUT, Why.FORCED: INTERRUPTED}.get(self.why, NO_ENGINE)

    def _see_sandboxes(self, record: ObservedRecord) -> None:
        """Keep which pods have a sandbox that runs."""
        ref, observed = record.ref, record.observed
        self._sandboxes.pop(ref.uid, None)
        if any(sandbox.state is PodSandboxState.READY for sandbox in observed.sandboxes):
            self._sandboxes[ref.uid] = ref.name

    def left(self) -> tuple[str, ...]:
        """Return what still runs as far as the records tell: containers as POD/CONTAINER, and bare sandboxes."""
        running = self._running()
        whose = {name.partition("/")[0] for name in running}
        return (*running, *(f"{name} (its sandbox)" for name in self._sandboxes.values() if name not in whose))

    def _running(self) -> tuple[str, ...]:
        return tuple(
            f"{pod.ref.name}/{container.name}"
            for pod in self.facts.pods.values()
            for container in pod.containers.values()
            if any(run.started_at is not None and run.exited_at is None for run in container.runs.values())
        )


def _will_stay_idle(job: JobFacts) -> bool:
    """Tell whether a Job that its controller has seen makes no pods: nobody edits it during a run."""
    is_seen = job.status is not None and job.status.start_time is not None
    return job.is_idle and (job.has("Suspended") or is_seen)
