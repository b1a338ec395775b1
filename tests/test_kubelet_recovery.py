"""What a kubelet finds and does when it comes back, and what survives a runtime that fails."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
import trio
from attrs import define, field
from kubelet_rig import (
    BOTH,
    a_node,
    a_pod,
    answers,
    container,
    deaf,
    hooks,
    lives,
    probe,
    runs,
    sidecar,
    stops,
    turning,
)

from kubelet_emu.journal.records import StatusRecord
from kubelet_emu.kubelet.timing import FAST, Timing
from kubelet_emu.kubelet.virtual_clock import VirtualClock
from runtime.api import CRIError, RuntimeEventType

if TYPE_CHECKING:
    from collections.abc import Callable

    from kubelet_rig import Rig
    from trio.testing import MockClock

    from kubelet_emu.api.v1 import Pod
    from kubelet_emu.journal.records import Record
    from runtime.simulated import SimulatedRuntime


# -- stop and start again


@BOTH
async def test_running_containers_are_left_alone_and_stay_ready(autojump_clock: MockClock, timing: Timing) -> None:
    program = lives(execs=(answers("check"),))
    programs = {"main": (program,), "s1": (program,), "i1": (lives(1),)}
    async with a_node(programs, timing=timing) as node:
        main = container("main", readiness_probe=probe(period_seconds=5), startup_probe=probe())
        node.create(a_pod(main, init=[container("i1"), sidecar("s1", startup_probe=probe())]))
        await node.until(30)
        before = node.runs()
        count = len(node.of(StatusRecord))
        await node.cluster.stop_kubelet()
        assert not node.cluster.has_kubelet
        with pytest.raises(RuntimeError, match="stopped"):
            _ = node.cluster.kubelet
        await node.until(60)
        await node.cluster.start_kubelet()
        await node.until(120)
        assert len(facts(node, RuntimeEventType.CONTAINER_STARTED)) == 3
        assert list(dict.fromkeys(node.runs())) == before
        later = node.of(StatusRecord)[count:]
        assert {record.status.phase for record in later} <= {"Running"}
        assert all(status.ready for record in later for status in record.status.container_statuses)
        assert node.status("main").ready
        assert node.status("main").started


def facts(node: Rig, kind: RuntimeEventType) -> list[str]:
    """Return what happened in the runtime, as `container#run`, whoever saw it."""
    return [f"{fact.container_name}#{fact.attempt + 1}" for fact in node.facts if fact.type is kind]


async def test_an_exit_during_the_absence_is_restarted_without_back_off(autojump_clock: MockClock) -> None:
    async with a_node({"main": (lives(1, 1), lives(1, 1), lives(1, 1), lives())}) as node:
        node.create(a_pod(restart_policy="Always"))
        await node.until(12.5)
        await node.cluster.stop_kubelet()
        await node.until(20)
        await node.cluster.start_kubelet()
        await node.until(25)
        assert facts(node, RuntimeEventType.CONTAINER_STARTED)[-1] == "main#4"
        assert node.status("main").restart_count == 3
        assert node.starts("main")[-1] == 20.0


async def test_a_pod_that_was_deleted_meanwhile_is_ended_with_its_grace_and_hooks(autojump_clock: MockClock) -> None:
    async with a_node({"main": (stops(1, execs=(answers("bye", takes_seconds=2.0),)),)}) as node:
        node.create(a_pod(container("main", lifecycle=hooks(pre_stop=runs("bye")))))
        await node.until(5)
        await node.cluster.stop_kubelet()
        node.delete(grace=20)
        await node.until(10)
        await node.cluster.start_kubelet()
        assert await node.gone() == 13
        assert node.timeouts() == ["12 main 18"]


@BOTH
async def test_an_orphan_gets_two_seconds_and_no_hook(autojump_clock: MockClock, timing: Timing) -> None:
    async with a_node({"main": (deaf(execs=(answers("bye"),)),)}, timing=timing) as node:
        node.create(a_pod(container("main", lifecycle=hooks(pre_stop=runs("bye"))), init=[sidecar("s1")]))
        await node.until(5)
        await node.cluster.stop_kubelet()
        node.delete(grace=0)
        assert node.find() is None
        await node.until(10)
        await node.cluster.start_kubelet()
        await node.until(20)
        assert await node.runtime.list_containers() == ()
        assert await node.runtime.list_pod_sandboxes() == ()
        assert sorted(line.split(" ", 1)[1] for line in node.timeouts()) == ["main 2", "s1 2"]
        assert [record for record in node.records if record.kind == "effect"] == []
        assert sorted(line.split(" ", 1)[1] for line in node.events("Killing")) == [
            "main Killing: Stopping container main",
            "s1 Killing: Stopping container s1",
        ]


async def test_a_finished_pod_is_not_run_again(autojump_clock: MockClock) -> None:
    async with a_node({"main": (lives(1),)}) as node:
        node.create(a_pod(restart_policy="Never"))
        await node.phase("Succeeded")
        await node.until(5)
        await node.cluster.stop_kubelet()
        await node.cluster.start_kubelet()
        await node.until(70)
        assert facts(node, RuntimeEventType.CONTAINER_STARTED) == ["main#1"]
        assert node.phases() == ["Pending", "Running", "Succeeded"]


async def test_a_kubelet_that_comes_back_in_a_termination_finishes_it(autojump_clock: MockClock) -> None:
    async with a_node({"main": (deaf(),)}) as node:
        node.create(a_pod())
        await node.until(5)
        node.delete(grace=10)
        await node.until(8)
        await node.cluster.stop_kubelet()
        await node.until(9)
        await node.cluster.start_kubelet()
        gone_at = await node.gone()
        assert 15 <= gone_at <= 19
        assert facts(node, RuntimeEventType.CONTAINER_EXITED) == ["main#1"]


async def test_a_pod_made_during_the_absence_is_run(autojump_clock: MockClock) -> None:
    async with a_node() as node:
        await node.cluster.stop_kubelet()
        node.create(a_pod())
        await node.until(5)
        assert node.pod().spec.node_name == "node1"
        await node.cluster.start_kubelet()
        await node.until(6)
        assert node.starts("main") == [5.0]


async def test_a_kubelet_can_not_be_started_twice(autojump_clock: MockClock) -> None:
    async with a_node() as node:
        with pytest.raises(RuntimeError, match="runs already"):
            await node.cluster.start_kubelet()
        await node.cluster.stop_kubelet()
        await node.cluster.stop_kubelet()
        assert not node.cluster.has_kubelet


async def test_first_probes_are_spread_after_a_restart_and_liveness_counts_from_zero(
    autojump_clock: MockClock,
) -> None:
    program = lives(execs=(turning("check", (0, 0), (29.5, 1)),))
    async with a_node({"main": (program,)}) as node:
        liveness = probe(period_seconds=10, failure_threshold=3)
        node.create(a_pod(container("main", liveness_probe=liveness)))
        await node.until(25)
        await node.cluster.stop_kubelet()
        await node.until(60)
        await node.cluster.start_kubelet()
        await node.until(100)
        first = next(node.at(r) for r in node.records if r.kind == "probe" and node.at(r) > 59)
        assert 60 < first < 70
        killing = node.events("Killing")
        assert [float(line.split()[0]) for line in killing] == [pytest.approx(first + 20, abs=0.01)]


async def test_a_cluster_observes_a_pod_without_a_kubelet(autojump_clock: MockClock) -> None:
    async with a_node() as node:
        node.create(a_pod())
        await node.until(5)
        await node.cluster.stop_kubelet()
        observed = await node.cluster.observe(node.pod().metadata.uid or "")
        assert [each.metadata.name for each in observed.running()] == ["main"]
        assert len(observed.sandboxes) == 1


# -- a crash at every boundary, an error at every call

PROGRAMS = {"i1": (lives(1),), "main": (lives(4, 1), lives(3)), "s1": (stops(1, execs=(answers("bye"),)),)}


def the_pod() -> Pod:
    """Return a pod with an init container, a sidecar with a hook, and a main that fails once: about ten seconds."""
    lifecycle = hooks(pre_stop=runs("bye"))
    return a_pod(init=[container("i1"), sidecar("s1", lifecycle=lifecycle)], restart_policy="OnFailure")


def check_ends(node: Rig) -> None:
    """Assert what must hold of that pod whatever went wrong on the way."""
    started = facts(node, RuntimeEventType.CONTAINER_STARTED)
    exited = facts(node, RuntimeEventType.CONTAINER_EXITED)
    assert len(started) == len(set(started)), f"a run was started twice: {started}"
    assert sorted(started) == sorted(exited)
    assert node.pod().status.phase == "Succeeded"
    assert len([run for run in started if run.startswith("i1#")]) == 1
    mains = [int(run[5:]) for run in started if run.startswith("main#")]
    assert mains == sorted(mains)
    assert 1 <= len(mains) <= 2


async def live_on(node: Rig) -> None:
    """Run the pod to its end, starting the kubelet again whenever it is gone."""
    node.create(the_pod())
    while node.find() is None or node.pod().status.phase not in {"Succeeded", "Failed"}:
        with trio.move_on_after(0.25):
            await node.recorded.wait()
        if not node.cluster.has_kubelet:
            await node.cluster.start_kubelet()
    await node.until(node.seconds + 5)


def live_through_a_crash(at_record: int) -> tuple[Rig, bool]:
    """Run the pod with a kubelet that dies with its n-th record; tell whether there were so many."""
    seen: list[Record] = []
    rigs: list[Rig] = []

    def on_record(record: Record) -> None:
        seen.append(record)
        if len(seen) == at_record and rigs:
            rigs[0].cancel_kubelet()

    async def main() -> None:
        async with a_node(PROGRAMS, on_record=on_record) as node:
            rigs.append(node)
            await live_on(node)

    trio.run(main, clock=VirtualClock())
    return rigs[0], len(seen) >= at_record


def test_a_crash_at_any_record_neither_loses_nor_doubles_a_container() -> None:
    at_record, reached = 0, True
    while reached:
        at_record += 1
        node, reached = live_through_a_crash(at_record)
        check_ends(node)
    assert at_record > 40


CALLS = (
    "run_pod_sandbox", "stop_pod_sandbox", "remove_pod_sandbox", "list_pod_sandboxes", "pod_sandbox_status",
    "create_container", "start_container", "stop_container", "remove_container", "list_containers",
    "container_status", "exec_sync", "pull_image", "image_status", "create_volume", "write_volume", "read_volume",
    "remove_volume",
)  # fmt: skip


@define(eq=False)
class FailingRuntime:
    """A runtime whose n-th call fails: before it does something, or after it has and only the answer is lost.

    With `crash` the caller dies at that moment instead.
    """

    inner: SimulatedRuntime
    fails_at: int
    is_late: bool
    crash: Callable[[], None] | None = None
    calls: list[str] = field(factory=list)

    async def _fail(self, message: str) -> None:
        if self.crash is None:
            raise CRIError(message)
        self.crash()
        await trio.lowlevel.checkpoint()

    def changes(self) -> None:
        """Tell nothing, so that each relist is made: any of its calls may fail."""

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401
        """Return a method of the runtime, wrapped if it is a call."""
        method = getattr(self.inner, name)
        if name not in CALLS:
            return method

        async def call(*args: object, **options: object) -> object:
            self.calls.append(name)
            is_mine = len(self.calls) == self.fails_at
            await trio.lowlevel.checkpoint()
            if is_mine and not self.is_late:
                await self._fail(f"{name} fails on purpose")
            result = await method(*args, **options)
            if is_mine:
                await self._fail(f"the answer of {name} is lost on purpose")
            return result

        return call


def live_through_an_error(fails_at: int, *, is_late: bool, timing: Timing) -> tuple[Rig, str]:
    """Run the pod on a runtime whose n-th call fails; return the call's name, empty when there were not so many."""
    wrappers: list[FailingRuntime] = []
    rigs: list[Rig] = []

    def wrap(inner: SimulatedRuntime) -> Any:  # noqa: ANN401
        wrappers.append(FailingRuntime(inner, fails_at, is_late))
        return wrappers[0]

    async def main() -> None:
        async with a_node(PROGRAMS, wrap=wrap, timing=timing) as node:
            rigs.append(node)
            node.create(the_pod())
            with trio.move_on_after(300):
                await node.when(lambda: node.pod().status.phase in {"Succeeded", "Failed"})
            await node.until(node.seconds + 5)
            assert node.cluster.has_kubelet

    trio.run(main, clock=VirtualClock())
    calls = wrappers[0].calls
    return rigs[0], calls[fails_at - 1] if len(calls) >= fails_at else ""


@pytest.mark.parametrize("is_late", [pytest.param(False, id="fails"), pytest.param(True, id="answer lost")])
def test_an_error_of_any_call_is_survived(*, is_late: bool) -> None:
    fails_at, failed = 0, set[str]()
    while True:
        fails_at += 1
        node, call = live_through_an_error(fails_at, is_late=is_late, timing=FAST)
        if not call:
            break
        failed.add(call)
        phase = node.pod().status.phase
        assert phase == "Succeeded", f"call {fails_at}, {call}: {phase}, {node.runs()}"
        started = facts(node, RuntimeEventType.CONTAINER_STARTED)
        assert len(started) == len(set(started))
        assert sorted(started) == sorted(facts(node, RuntimeEventType.CONTAINER_EXITED))
    assert failed >= {"run_pod_sandbox", "create_container", "start_container", "stop_container", "container_status"}


def live_through_a_crash_in_a_call(at_call: int, *, is_late: bool) -> tuple[Rig, bool]:
    """Run the pod with a kubelet that dies in its n-th call; tell whether there were so many."""
    wrappers: list[FailingRuntime] = []
    rigs: list[Rig] = []

    def wrap(inner: SimulatedRuntime) -> Any:  # noqa: ANN401
        def crash() -> None:
            rigs[0].cancel_kubelet()

        wrappers.append(FailingRuntime(inner, at_call, is_late, crash))
        return wrappers[0]

    async def main() -> None:
        async with a_node(PROGRAMS, wrap=wrap) as node:
            rigs.append(node)
            await live_on(node)

    trio.run(main, clock=VirtualClock())
    return rigs[0], len(wrappers[0].calls) >= at_call


@pytest.mark.parametrize("is_late", [pytest.param(False, id="before"), pytest.param(True, id="after")])
def test_a_crash_in_any_call_neither_loses_nor_doubles_a_container(*, is_late: bool) -> None:
    at_call, reached = 2, True
    while reached:
        at_call += 1
        node, reached = live_through_a_crash_in_a_call(at_call, is_late=is_late)
        check_ends(node)
    assert at_call > 100
