"""A session's ends: by itself, by a moment, by time, by signals; in virtual time with a node of a few lines."""

from __future__ import annotations

import signal
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import pytest
import trio
from attrs import define, field, frozen
from journal_makers import EPOCH, POD, accepted, container, end, running, sent, start, status
from trio.testing import MockClock, wait_all_tasks_blocked

from kubelet_emu.cli.exit_status import Why
from kubelet_emu.cli.session import Session
from kubelet_emu.cli.triggers import Trigger
from kubelet_emu.journal.journal import Journal
from kubelet_emu.journal.records import (
    DeletedRecord,
    EndRecord,
    NoteRecord,
    ObjectRef,
    ObservedRecord,
    Record,
    RequestRecord,
)
from kubelet_emu.rules.observed import ObservedPod
from runtime.api import PodSandboxMetadata, PodSandboxState, PodSandboxStatus, RuntimeUnavailableError, SandboxID

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

    from kubelet_emu.journal.encode import Entry

CREATED = accepted(containers=[container("main")])


class AbandonedError(Exception):
    """The session left at once."""


def leave(because: str, status_code: int) -> None:
    raise AbandonedError(because, status_code)


@define(eq=False)
class Node:
    """A node with one pod: its main ends by itself after `life`, or `stop_seconds` after its deletion."""

    emit: Callable[[Record], None]
    life: float = 1000.0
    stop_seconds: float = 1.0
    starts_after: float = 0.0
    ready: bool = True
    breaks: bool = False
    obeys: bool = False
    lost_after: float = 1e9
    refuses: bool = False
    leaving_seconds: float = 0.0
    calls: list[str] = field(factory=list)
    _deleted: trio.Event = field(factory=trio.Event)
    _forced: trio.Event = field(factory=trio.Event)
    _created: trio.Event = field(factory=trio.Event)

    async def run(self, *, task_status: trio.TaskStatus[None]) -> None:
        await trio.sleep(self.starts_after)
        task_status.started()
        await self._created.wait()
        self.emit(start(0, "main"))
        self.emit(status(0, "Running", running("main"), ready=self.ready))
        with trio.move_on_after(self.life):
            await self._deleted.wait()
            self.emit(sent(0, "main"))
            with trio.move_on_after(self.stop_seconds):
                await self._forced.wait()
        self.emit(end(0, "main"))
        self.emit(status(0, "Succeeded"))
        if self._deleted.is_set():
            self.emit(DeletedRecord(ref=POD))
        await trio.sleep_forever()

    def create(self) -> None:
        self.calls.append(f"create @{trio.current_time():g}")
        self.emit(CREATED)
        self._created.set()
        if self.breaks:
            raise ZeroDivisionError

    def delete_all(self, grace_period_seconds: int | None) -> None:
        self.calls.append(f"delete {grace_period_seconds} @{trio.current_time():g}")
        self._deleted.set()

    async def bring_down(self, grace_period_seconds: int | None) -> None:
        self.delete_all(grace_period_seconds)
        await trio.lowlevel.checkpoint()

    async def force(self) -> None:
        self.calls.append(f"force @{trio.current_time():g}")
        if self.obeys:
            self._forced.set()

    async def settled(self) -> None:
        self.calls.append("settled")

    async def remove_all(self) -> None:
        self.calls.append(f"remove @{trio.current_time():g}")

    async def answers(self) -> None:
        if trio.current_time() >= self.lost_after:
            if self.refuses:
                raise RuntimeUnavailableError("gone")
            await trio.sleep_forever()
        await trio.lowlevel.checkpoint()


@define(eq=False)
class Bench:
    """A session with its journal and its node."""

    session: Session = field(init=False)
    node: Node = field(init=False)
    seen: list[Record] = field(factory=list)

    @classmethod
    def make(cls, node: dict[str, object] | None = None, **options: object) -> Bench:
        bench = cls()
        journal = Journal(now=lambda: EPOCH, sinks=(bench.take,))
        bench.session = Session(emit=journal.emit, abandon=leave, **options)  # type: ignore[arg-type]
        bench.node = Node(journal.emit, **(node or {}))  # type: ignore[arg-type]
        return bench

    def take(self, entry: Entry) -> None:
        self.seen.append(entry.record)
        self.session(entry)

    @asynccontextmanager
    async def open(self) -> AsyncIterator[Node]:
        try:
            yield self.node
        finally:
            with trio.CancelScope(shield=True):
                await trio.sleep(self.node.leaving_seconds)

    async def run(self) -> Why:
        return await self.session.run(self.open)

    def notes(self) -> list[str]:
        return [r.text for r in self.seen if isinstance(r, NoteRecord)]

    def reasons(self) -> list[object]:
        return [r.details["because"] for r in self.seen if isinstance(r, RequestRecord)]


async def test_a_run_ends_when_its_pods_have_ended(autojump_clock: MockClock) -> None:
    bench = Bench.make({"life": 7.0})
    assert await bench.run() is Why.FINISHED
    assert bench.node.calls == ["create @0", "settled", "remove @7"]
    assert bench.seen[-1] == EndRecord(why="everything has ended")
    assert bench.reasons() == []


async def test_keep_removes_nothing(autojump_clock: MockClock) -> None:
    bench = Bench.make({"life": 7.0}, keep=True)
    await bench.run()
    assert bench.node.calls == ["create @0", "settled"]


MOMENTS = {
    "when it is ready and some seconds more": ("ready+2", ["delete None @2", "remove @3"]),
    "after seconds": ("5", ["delete None @5", "remove @6"]),
    "when a container has started": ("main started", ["delete None @0", "remove @1"]),
}


@pytest.mark.parametrize(("moment", "expected"), MOMENTS.values(), ids=MOMENTS.keys())
async def test_a_moment_deletes_the_pods(moment: str, expected: list[str], autojump_clock: MockClock) -> None:
    bench = Bench.make(delete_when=Trigger.parse(moment))
    assert await bench.run() is Why.MOMENT
    assert [call for call in bench.node.calls if call[0] in "dr"] == expected
    assert bench.reasons() == ["--delete-when"]


async def test_a_moment_that_never_comes_holds_nothing_up(autojump_clock: MockClock) -> None:
    bench = Bench.make({"life": 7.0, "ready": False}, delete_when=Trigger.parse("ready"))
    assert await bench.run() is Why.FINISHED


async def test_the_time_is_over(autojump_clock: MockClock) -> None:
    bench = Bench.make(timeout=4.0, grace_period=9)
    assert await bench.run() is Why.TIMEOUT
    assert "delete 9 @4" in bench.node.calls
    assert bench.reasons() == ["--timeout 4"]


async def interrupt(after: float, *numbers: signal.Signals) -> None:
    """Send signals to this process, one a second."""
    await trio.sleep(after)
    for number in numbers:
        signal.raise_signal(number)
        await trio.sleep(1)


async def talk(bench: Bench) -> None:
    """Let something happen each second."""
    for seconds in range(40):
        await trio.sleep(1)
        bench.node.emit(status(seconds, "Running", running("main")))


def told(error: BaseExceptionGroup[AbandonedError]) -> tuple[object, ...]:
    """Return what the one error in a group says."""
    inner: BaseException = error
    while isinstance(inner, BaseExceptionGroup):
        inner = inner.exceptions[0]
    return inner.args


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP], ids=lambda number: number.name)
async def test_a_first_signal_deletes_gracefully(number: signal.Signals, autojump_clock: MockClock) -> None:
    bench = Bench.make({"stop_seconds": 3.0})
    async with trio.open_nursery() as nursery:
        nursery.start_soon(interrupt, 5.0, number)
        assert await bench.run() is Why.REQUESTED
    assert bench.node.calls == ["create @0", "delete None @5", "settled", "remove @8"]
    assert bench.reasons() == [number.name]


async def test_a_second_signal_takes_the_grace_away(autojump_clock: MockClock) -> None:
    bench = Bench.make({"stop_seconds": 30.0, "obeys": True})
    async with trio.open_nursery() as nursery:
        nursery.start_soon(interrupt, 5.0, signal.SIGINT, signal.SIGINT)
        assert await bench.run() is Why.FORCED
    assert bench.node.calls == ["create @0", "delete None @5", "force @6", "settled", "remove @6"]


async def test_a_third_signal_leaves_at_once(autojump_clock: MockClock) -> None:
    bench = Bench.make({"stop_seconds": 300.0})
    with pytest.RaisesGroup(AbandonedError, flatten_subgroups=True):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(interrupt, 5.0, signal.SIGINT, signal.SIGINT, signal.SIGTERM)
            await bench.run()
    assert bench.session.left() == ("web/main",)
    assert trio.current_time() == 7


async def test_where_nothing_happens_after_the_second_signal_the_run_is_broken_off(autojump_clock: MockClock) -> None:
    bench = Bench.make({"stop_seconds": 300.0})
    async with trio.open_nursery() as nursery:
        nursery.start_soon(interrupt, 5.0, signal.SIGINT, signal.SIGINT)
        assert await bench.run() is Why.FORCED
    assert trio.current_time() == 11
    assert bench.notes()[-1] == "nothing has happened for 5 s: removing what is left"
    assert "remove @11" not in bench.node.calls, "who opened the emulator removes"


async def test_what_then_takes_too_long_is_left(autojump_clock: MockClock) -> None:
    bench = Bench.make({"stop_seconds": 300.0, "leaving_seconds": 60.0})
    with pytest.RaisesGroup(AbandonedError, flatten_subgroups=True) as caught:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(interrupt, 5.0, signal.SIGINT, signal.SIGINT)
            await bench.run()
    assert told(caught.value) == ("the engine doesn't come to an end", 130)


@frozen
class Loss:
    """An engine that is lost after so long, and when and how it is left."""

    after: float
    left_at: float
    told: tuple[str, int]
    timeout: float | None = None
    signals: int = 0


FIVE, TEN = (f"the engine has not answered for {seconds} s" for seconds in (5, 10))
LOST = {
    "after a signal": Loss(5, 15, (TEN, 3), signals=1),
    "after two": Loss(5, 11, (FIVE, 130), signals=2),
    "after the time": Loss(7, 17, (TEN, 124), timeout=7.0),
    "during the stop": Loss(9, 19, (TEN, 124), timeout=4.0),
}


@pytest.mark.parametrize("refuses", [True, False], ids=["refuses", "hangs"])
@pytest.mark.parametrize("loss", LOST.values(), ids=LOST.keys())
async def test_a_lost_engine_is_left(
    loss: Loss,
    refuses: bool,  # noqa: FBT001 - a table's column
    autojump_clock: MockClock,
) -> None:
    bench = Bench.make({"stop_seconds": 300.0, "lost_after": loss.after, "refuses": refuses}, timeout=loss.timeout)
    with pytest.RaisesGroup(AbandonedError, flatten_subgroups=True) as caught:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(talk, bench)
            nursery.start_soon(interrupt, 5.0, *[signal.SIGINT] * loss.signals)
            await bench.run()
    assert told(caught.value) == loss.told
    assert loss.left_at - 1 <= trio.current_time() <= loss.left_at + 1


async def test_an_engine_that_comes_back_is_waited_for(autojump_clock: MockClock) -> None:
    bench = Bench.make({"stop_seconds": 30.0, "lost_after": 5.0}, timeout=4.0)

    async def come_back() -> None:
        await trio.sleep(12)
        bench.node.lost_after = 1e9

    bench.node.refuses = True
    async with trio.open_nursery() as nursery:
        nursery.start_soon(come_back)
        assert await bench.run() is Why.TIMEOUT
    assert "remove @34" in bench.node.calls


async def test_a_simulation_is_never_lost(autojump_clock: MockClock) -> None:
    bench = Bench.make({"stop_seconds": 60.0, "lost_after": 0.0}, has_engine=False)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(interrupt, 5.0, signal.SIGINT)
        assert await bench.run() is Why.REQUESTED


async def test_pods_that_outlast_their_grace_dont_outlast_the_time(autojump_clock: MockClock) -> None:
    bench = Bench.make({"stop_seconds": 300.0}, timeout=4.0, grace_period=9)
    assert await bench.run() is Why.TIMEOUT
    assert trio.current_time() == 4 + 9 + 15
    assert bench.notes() == ["the pods have not ended within their grace: removing what is left"]


async def test_a_bare_sandbox_is_named(autojump_clock: MockClock) -> None:
    bench = Bench.make({"life": 3.0})
    sandbox = PodSandboxStatus(
        id=SandboxID("s"),
        metadata=PodSandboxMetadata(name="other", namespace="ns", uid="uid-2"),
        state=PodSandboxState.READY,
        created_at=EPOCH,
    )
    other = ObjectRef(namespace="ns", name="other", uid="uid-2")
    bench.node.emit(ObservedRecord(ref=other, observed=ObservedPod(uid="uid-2", sandboxes=(sandbox,))))
    bench.node.emit(ObservedRecord(ref=POD, observed=ObservedPod(uid=POD.uid, sandboxes=(sandbox,))))
    bench.node.emit(CREATED)
    bench.node.emit(start(0, "main"))
    assert bench.session.left() == ("web/main", "other (its sandbox)")
    bench.node.emit(ObservedRecord(ref=other, observed=ObservedPod(uid="uid-2")))
    assert bench.session.left() == ("web/main",)


async def test_a_talking_engine_is_waited_for(autojump_clock: MockClock) -> None:
    bench = Bench.make({"stop_seconds": 12.0})
    async with trio.open_nursery() as nursery:
        nursery.start_soon(talk, bench)
        nursery.start_soon(interrupt, 1.0, signal.SIGINT, signal.SIGINT)
        assert await bench.run() is Why.FORCED
        nursery.cancel_scope.cancel()
    assert "remove @13" in bench.node.calls


async def test_a_signal_before_the_node_is_up_leaves_without_pods(autojump_clock: MockClock) -> None:
    bench = Bench.make({"starts_after": 60.0})
    async with trio.open_nursery() as nursery:
        nursery.start_soon(interrupt, 2.0, signal.SIGINT)
        assert await bench.run() is Why.REQUESTED
        assert trio.current_time() == 2
    assert bench.node.calls == []


async def test_a_second_signal_before_the_node_is_up_leaves_at_once(autojump_clock: MockClock) -> None:
    bench = Bench.make()

    @asynccontextmanager
    async def hang() -> AsyncIterator[Node]:
        with trio.CancelScope(shield=True):
            await trio.sleep(60)
        yield bench.node

    with pytest.RaisesGroup(AbandonedError, flatten_subgroups=True):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(interrupt, 2.0, signal.SIGINT, signal.SIGINT)
            await bench.session.run(hang)


async def test_a_stop_is_asked_for_once(autojump_clock: MockClock) -> None:
    bench = Bench.make()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(bench.run)
        await wait_all_tasks_blocked()
        bench.session.request_stop("first")
        bench.session.request_stop("second", Why.TIMEOUT)
    assert bench.session.why is Why.REQUESTED
    assert bench.reasons() == ["first"]


async def test_what_happens_after_the_end_changes_no_fact(autojump_clock: MockClock) -> None:
    bench = Bench.make({"life": 3.0})
    await bench.run()
    bench.node.emit(status(9, "Failed"))
    bench.session.request_stop("late")
    assert bench.session.facts.pods[POD.uid].phase == "Succeeded"
    assert bench.reasons() == []


async def test_a_pod_that_stays_in_the_api_is_waited_for_in_vain_for_five_seconds(autojump_clock: MockClock) -> None:
    bench = Bench.make(timeout=4.0)
    emit = bench.node.emit
    bench.node.emit = lambda record: None if isinstance(record, DeletedRecord) else emit(record)
    await bench.run()
    assert bench.node.calls[-1] == "remove @10"


async def test_a_failing_node_is_not_hidden(autojump_clock: MockClock) -> None:
    bench = Bench.make({"breaks": True})
    with pytest.RaisesGroup(ZeroDivisionError, flatten_subgroups=True):
        await bench.run()
