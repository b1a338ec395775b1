"""One run from its first object to its end: what ends it, and how it is brought down.

Knows nothing of Docker or of kubelets: it drives an `Emulator` and learns what happens from the records alone. A run
ends when every pod has ended, when a stop was asked for (Ctrl-C, `--delete-when`, a closed output) or when its time is
over. Then pods are deleted gracefully; a second signal deletes with grace 0, a third leaves at once.
"""

from __future__ import annotations

import signal
from typing import TYPE_CHECKING, Protocol

import trio
from attrs import define, field

from kubelet_emu.cli.exit_status import Why
from kubelet_emu.journal.facts import Facts
from kubelet_emu.journal.records import EndRecord, NoteRecord, RequestRecord

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractAsyncContextManager

    from kubelet_emu.cli.triggers import Trigger
    from kubelet_emu.journal.encode import Entry
    from kubelet_emu.journal.records import Record

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
SILENCE_SECONDS = 5.0
GONE_SECONDS = 5.0


class Emulator(Protocol):
    """A node with its API, as a session drives it. Whatever it does shows in the records."""

    async def run(self, *, task_status: trio.TaskStatus[None]) -> None:
        """Be the node until cancelled; `started` once it takes objects."""

    def create(self) -> None:
        """Create the objects of the manifests."""

    def delete_all(self, grace_period_seconds: int | None) -> None:
        """Delete every workload and pod; None is each pod's own grace."""

    async def force(self) -> None:
        """Delete with grace 0 and end what runs within two seconds, also where a stop has already begun."""

    async def settled(self) -> None:
        """Wait until what has happened is recorded, container logs included."""

    async def remove_all(self) -> None:
        """Delete what is left and wait until the engine holds nothing of it."""


@define(eq=False, kw_only=True)
class Session:
    """The run of one command. It is a sink of the journal, too: the records wake it.

    `abandon` leaves the process at once; it is called after a third signal, or when the engine stays silent after a
    second one.
    """

    emit: Callable[[Record], None]
    abandon: Callable[[], None]
    delete_when: Trigger | None = None
    timeout: float | None = None
    grace_period: int | None = None
    keep: bool = False
    until: float | None = None
    facts: Facts = field(factory=Facts)
    why: Why = Why.FINISHED
    _changed: trio.Event = field(factory=trio.Event, init=False)
    _stop: trio.Event = field(factory=trio.Event, init=False)
    _emulator: Emulator | None = field(default=None, init=False)
    _scope: trio.CancelScope = field(factory=trio.CancelScope, init=False)
    _has_ended: bool = field(default=False, init=False)

    def __call__(self, entry: Entry) -> None:
        """Take an entry; what comes after the end is clean-up and changes no fact."""
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
            await emulator.remove_all()

    async def _stop_pods(self, emulator: Emulator) -> None:
        if self.why is not Why.FORCED:
            emulator.delete_all(self.grace_period)
        await self._until(self._have_ended)
        with trio.move_on_after(GONE_SECONDS):
            await self._until(self._are_gone)

    def _have_ended(self) -> bool:
        return all(pod.is_terminal for pod in self.facts.pods.values())

    def _are_gone(self) -> bool:
        """Tell whether the pods are gone from the API and from the runtime: a delete with grace 0 doesn't wait."""
        return all(pod.is_deleted for pod in self.facts.pods.values()) and not self.left()

    def _is_finished(self) -> bool:
        """Tell whether every pod has ended and every Job that somebody controls has its verdict."""
        jobs = [job for job in self.facts.jobs.values() if job.status is not None]
        return bool(self.facts.pods or jobs) and self._have_ended() and all(job.is_finished for job in jobs)

    async def _until(self, condition: Callable[[], bool]) -> None:
        while not condition():
            await self._changed.wait()

    async def _watch_end(self) -> None:
        await self._until(self._is_finished)
        self._stop.set()

    async def _watch_moment(self, moment: Trigger) -> None:
        await self._until(lambda: moment.has_come(self.facts))
        await trio.sleep(moment.seconds + moment.plus)
        self.request_stop("--delete-when")

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
            self.request_stop(name)
        elif count == 2 and self._emulator is not None:
            self.why = Why.FORCED
            self._stop.set()
            self.emit(NoteRecord(level="warning", text=f"{name} again: deleting with grace 0"))
            nursery.start_soon(self._emulator.force)
            nursery.start_soon(self._watch_silence)
        else:
            self.abandon()

    async def _watch_silence(self) -> None:
        """Leave when nothing is heard of the engine for a while; runs until cancelled."""
        is_silent = False
        while not is_silent:
            with trio.move_on_after(SILENCE_SECONDS) as scope:
                await self._changed.wait()
            is_silent = scope.cancelled_caught
        self.abandon()

    def left(self) -> tuple[str, ...]:
        """Return the containers that still run as far as the records tell, as POD/CONTAINER."""
        return tuple(
            f"{pod.ref.name}/{container.name}"
            for pod in self.facts.pods.values()
            for container in pod.containers.values()
            if any(run.started_at is not None and run.exited_at is None for run in container.runs.values())
        )
