"""Driving one scenario: creating its objects, doing its steps at their moments, knowing when it has ended.

Works on a cluster that runs already and on the trace that its journal writes. Source: docs/SCENARIOS.md.
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Protocol

import trio
from attrs import define, field

from kubelet_emu.journal.records import EndRecord, StepRecord
from kubelet_emu.journal.trace import Projection
from kubelet_emu.kubelet.timebase import Lane
from kubelet_emu.lifecycle.trace import MissingError, Trace
from kubelet_emu.scenarios.moments import find_moment

if TYPE_CHECKING:
    from kubelet_emu.cluster.cluster import Cluster
    from kubelet_emu.journal.encode import Entry
    from kubelet_emu.lifecycle.raw_records import RawRecord
    from kubelet_emu.scenarios.expectations import MomentExpression
    from kubelet_emu.scenarios.scenario_file import End, Scenario, Step

REQUEST_SECONDS = 0.001
"""A request takes its time to arrive, so that what it brings about happens after its step."""
HOLD_FINALIZER = "kemu.test/hold"


class StepRunner(Protocol):
    """Does what a step says."""

    async def __call__(self, step: Step) -> None:
        """Carry out one step; StepError."""


@define(eq=False)
class Recording:
    """The trace up to the end of the scenario; a sink of the journal."""

    records: list[RawRecord] = field(factory=list)
    _is_over: bool = field(default=False, init=False)
    _projection: Projection = field(factory=Projection, init=False)
    _more: trio.Event = field(factory=trio.Event, init=False)

    def __call__(self, entry: Entry) -> None:
        """Add an entry's trace record; what comes after the end is clean-up."""
        if self._is_over:
            return
        self._is_over = isinstance(entry.record, EndRecord)
        record = self._projection.feed(entry)
        if record is not None:
            self.records.append(record)
            self._more.set()
            self._more = trio.Event()

    @property
    def more(self) -> trio.Event:
        """Return the event that the next record sets."""
        return self._more

    def trace(self) -> Trace:
        """Return what was recorded as a trace."""
        return Trace.of(self.records)


@define(eq=False, kw_only=True)
class Driver:
    """Runs one scenario to its end."""

    cluster: Cluster
    scenario: Scenario
    recording: Recording
    do: StepRunner
    _created_at: float = field(default=0.0, init=False)
    _begun: int = field(default=0, init=False)

    @property
    def current_step(self) -> Step | None:
        """Return the step that was begun last."""
        return self.scenario.steps[self._begun - 1] if self._begun else None

    @property
    def next_step(self) -> Step | None:
        """Return the first step that was not begun."""
        return next(iter(self.scenario.steps[self._begun :]), None)

    async def prepare(self) -> None:
        """Do the first steps that are about the node and due at once: pods are to find it so."""
        for step in itertools.takewhile(lambda step: step.at == 0 and step.action == "node", self.scenario.steps):
            self._begin(step)
            await self.do(step)

    def _begin(self, step: Step) -> None:
        self._begun += 1
        self.cluster.emit(StepRecord(n=self._begun, what=step.action))

    async def run(self) -> bool:
        """Do every step that is left and wait for the end; False when the time-out came first.

        The objects must have been created just now. Cancellation stops where it is.
        """
        self._created_at = trio.current_time()
        in_time = False
        with trio.move_on_at(self._created_at + self.scenario.timeout_seconds):
            for step in self.scenario.steps[self._begun :]:
                await self._wait_for_step(step)
                self._begin(step)
                await self._sleep_until(trio.current_time() + REQUEST_SECONDS)
                await self.do(step)
            await self._wait_for_end(self.scenario.end)
            in_time = True
        if in_time and self.scenario.linger_seconds:
            await self._sleep_until(trio.current_time() + self.scenario.linger_seconds)
        if not self.cluster.timebase.is_virtual:
            await self.cluster.ended_logs_read()
        return in_time

    def end(self, *, in_time: bool) -> None:
        """Close the recording."""
        self.cluster.emit(EndRecord(why="end" if in_time else "timeout"))

    async def _wait_for_step(self, step: Step) -> None:
        if step.at is not None:
            await self._sleep_until(self._created_at + step.at)
        elif step.after is not None:
            await self._wait_for_moment(step.after, step.plus)

    async def _wait_for_moment(self, moment: MomentExpression, plus: float) -> None:
        """Wait until a moment was seen, then until it is `plus` seconds ago; one that lies behind counts."""
        while True:
            more = self.recording.more
            try:
                found = find_moment(self.recording.trace(), moment)
            except MissingError:
                await more.wait()
                continue
            await self._sleep_until(self._created_at + found.high + plus)
            return

    async def _wait_for_end(self, end: End) -> None:
        if end.seconds is not None:
            await self._sleep_until(self._created_at + end.seconds)
        elif end.after is not None:
            await self._wait_for_moment(end.after, end.plus)
        else:
            is_over = self._all_terminal if end.condition == "pod terminal" else self._all_deleted
            while not is_over():
                await self.recording.more.wait()
        # What else happens at this instant belongs to the recording, whoever of the tasks was woken first.
        await self.cluster.timebase.turn(Lane.CONTROLLER, self.scenario.name)

    async def _sleep_until(self, at: float) -> None:
        await trio.sleep_until(at)
        await self.cluster.timebase.turn(Lane.CONTROLLER, self.scenario.name)

    def _all_terminal(self) -> bool:
        """Tell whether every pod is over and every Job finished; a deleted one is over too."""
        pods = self.cluster.api.list("Pod")
        jobs = self.cluster.api.list("Job")
        if any(pod.status.phase not in {"Succeeded", "Failed"} for pod in pods):
            return False
        finished = {"Complete", "Failed"}
        return bool(self.recording.records) and all(
            any(c.type in finished and c.status == "True" for c in job.status.conditions) for job in jobs
        )

    def _all_deleted(self) -> bool:
        """Tell whether every pod is gone, or held by nothing but the scenario's own finalizer."""
        return all(
            pod.metadata.deletion_grace_period_seconds == 0
            and set(pod.metadata.finalizers) <= {HOLD_FINALIZER}
            and pod.status.phase in {"Succeeded", "Failed"}
            for pod in self.cluster.api.list("Pod")
        )
