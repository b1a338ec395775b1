"""What is kept and what goes: events, dead containers, termination messages, volumes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from attrs import define
from kubelet_rig import NODE, a_node, a_pod, answers, container, lives, probe

from kubelet_emu.journal.records import EventRecord, NoteRecord
from kubelet_emu.kubelet.settings import KubeletSettings
from kubelet_emu.kubelet.timing import FAST, KUBELET, timing_named
from runtime.api import CRIError
from runtime.simulated import Exec, ExecAnswer, FaultPlan, Line, LostEvents

if TYPE_CHECKING:
    from trio.testing import MockClock

    from runtime.simulated import SimulatedRuntime


# -- garbage


async def test_one_dead_instance_of_a_name_is_kept(autojump_clock: MockClock) -> None:
    async with a_node({"main": (lives(1, 1),)}) as node:
        node.create(a_pod(restart_policy="Always"))
        await node.until(50)
        assert len(await node.runtime.list_containers()) > 3
        await node.until(61)
        states = [each.state.value for each in await node.runtime.list_containers()]
        assert states.count("exited") == 1
        assert node.status("main").restart_count >= 3


async def test_a_dead_sandbox_goes_when_nothing_is_left_in_it(autojump_clock: MockClock) -> None:
    async with a_node() as node:
        node.create(a_pod())
        await node.until(5)
        await node.runtime.kill_pod_sandbox((await node.runtime.list_pod_sandboxes())[0].id)
        await node.until(10)
        assert len(await node.runtime.list_pod_sandboxes()) == 2
        await node.runtime.remove_container((await node.runtime.list_containers())[-1].id)
        await node.until(61)
        assert [each.metadata.attempt for each in await node.runtime.list_pod_sandboxes()] == [1]


async def test_all_of_a_deleted_pod_goes(autojump_clock: MockClock) -> None:
    async with a_node({"i1": (lives(1),)}) as node:
        node.create(a_pod(init=[container("i1")]))
        await node.until(5)
        node.delete()
        await node.gone()
        await node.cluster.kubelet.emptied()
        assert await node.runtime.list_containers() == ()
        assert await node.runtime.list_pod_sandboxes() == ()
        assert await node.runtime.list_volumes() == ()
        assert node.cluster.kubelet.pod("uid") is None


async def test_containers_may_be_kept_for_a_look_at_them(autojump_clock: MockClock) -> None:
    async with a_node(settings=KubeletSettings(keep_removed=True)) as node:
        node.create(a_pod())
        await node.until(5)
        node.delete()
        await node.gone()
        await node.cluster.kubelet.emptied()
        assert [each.state.value for each in await node.runtime.list_containers()] == ["exited"]


async def test_a_removal_that_fails_is_tried_again(autojump_clock: MockClock) -> None:
    failures = ["remove_container", "remove_pod_sandbox"]

    def wrap(inner: SimulatedRuntime) -> Stubborn:
        return Stubborn(inner, failures)

    async with a_node(wrap=wrap) as node:  # type: ignore[arg-type]
        node.create(a_pod())
        await node.until(5)
        node.delete()
        await node.gone()
        await node.cluster.kubelet.emptied()
        assert failures == []
        assert await node.runtime.list_pod_sandboxes() == ()
        assert [entry["what"] for entry in node.log] == ["remove container", "remove sandbox"]


@define(eq=False)
class Stubborn:
    """A runtime in which each of these calls fails once."""

    inner: SimulatedRuntime
    failures: list[str]

    def __getattr__(self, name: str) -> object:
        """Return a method of the runtime, or one that fails."""
        if name not in self.failures:
            return getattr(self.inner, name)

        async def fail(*_args: object, **_options: object) -> None:
            self.failures.remove(name)
            raise CRIError(f"{name} fails")

        return fail


async def test_the_engine_may_be_away_for_a_while(autojump_clock: MockClock) -> None:
    faults = FaultPlan(restarts=((3.5, 10.0),))
    async with a_node({"main": (lives(5, 1), lives())}, faults=faults) as node:
        node.create(a_pod(restart_policy="Always"))
        await node.until(30)
        assert node.runs() == ["0 main#1 start", "5 main#1 exit 1", "13.5 main#2 start"]
        notes = [record.text for record in node.records if isinstance(record, NoteRecord)]
        assert notes == [
            "the simulated engine does not answer; pods stay as they are until it is back",
            "the runtime is back after 10 s",
        ]
        assert node.pod().status.phase == "Running"


async def test_lost_events_cost_a_second(autojump_clock: MockClock) -> None:
    faults = FaultPlan(lost_events=(LostEvents(),))
    async with a_node({"main": (lives(2.5, 1), lives())}, faults=faults) as node:
        node.create(a_pod(restart_policy="Always"))
        await node.until(10)
        assert node.runs() == ["0 main#1 start", "2.5 main#1 exit 1", "3 main#2 start"]


# -- events


async def test_repeats_of_an_event_are_counted(autojump_clock: MockClock) -> None:
    async with a_node({"main": (lives(execs=(answers("check", exit_code=1, output="no"),)),)}) as node:
        node.create(a_pod(container("main", readiness_probe=probe(period_seconds=10))))
        await node.until(45)
        counts = [record.count for record in node.of(EventRecord) if record.reason == "Unhealthy"]
        assert counts == list(range(1, len(counts) + 1))
        assert len(counts) >= 4


async def test_ten_different_texts_of_a_reason_are_combined(autojump_clock: MockClock) -> None:
    outputs = Exec(("check",), tuple((float(at), ExecAnswer(1, f"no {at}")) for at in range(40)))
    async with a_node({"main": (lives(execs=(outputs,)),)}) as node:
        node.create(a_pod(container("main", liveness_probe=probe(failure_threshold=100))))
        await node.until(16)
        messages = [record.message for record in node.of(EventRecord) if record.reason == "Unhealthy"]
        assert messages[0].startswith("Liveness probe failed: no ")
        assert messages[8].startswith("Liveness probe failed: no ")
        assert messages[9].startswith("(combined from similar events): Liveness probe failed: no ")


async def test_after_25_warnings_a_pod_is_silent(autojump_clock: MockClock) -> None:
    async with a_node({"main": (lives(execs=(answers("check", exit_code=1),)),)}) as node:
        node.create(a_pod(container("main", liveness_probe=probe(failure_threshold=1000))))
        await node.until(200)
        warnings = [record for record in node.of(EventRecord) if record.type == "Warning"]
        assert len(warnings) == 25


# -- termination messages


async def test_the_log_stands_in_for_a_message(autojump_clock: MockClock) -> None:
    lines = tuple(Line(0.5, f"line {number}") for number in range(100))
    async with a_node({"main": (lives(1, 3, lines=lines),)}) as node:
        main = container("main", termination_message_policy="FallbackToLogsOnError")
        node.create(a_pod(main, restart_policy="Never"))
        await node.phase("Failed")
        ended = node.status("main").state.terminated
        assert ended is not None
        assert ended.message is not None
        assert ended.message.splitlines() == [f"line {number}" for number in range(20, 100)]


@pytest.mark.parametrize(
    ("policy", "code"),
    [
        pytest.param("File", 3, id="policy File"),
        pytest.param("FallbackToLogsOnError", 0, id="no error"),
    ],
)
async def test_the_log_stands_in_for_nothing_else(autojump_clock: MockClock, policy: str, code: int) -> None:
    async with a_node({"main": (lives(1, code, lines=(Line(0.5, "line"),)),)}) as node:
        node.create(a_pod(container("main", termination_message_policy=policy), restart_policy="Never"))
        await node.phase("Failed", "Succeeded")
        ended = node.status("main").state.terminated
        assert ended is not None
        assert not ended.message


async def test_a_message_file_is_read(autojump_clock: MockClock) -> None:
    async with a_node({"shell": ()}) as node:
        script = ("sh", "-c", "printf 'all is lost' > /dev/termination-log; exit 3")
        node.create(a_pod(container("shell", image="busybox:1", command=script), restart_policy="Never"))
        await node.phase("Failed")
        ended = node.status("shell").state.terminated
        assert ended is not None
        assert ended.message == "all is lost"


# -- small things


async def test_names_of_timings() -> None:
    assert (timing_named("fast"), timing_named("kubelet")) == (FAST, KUBELET)
    with pytest.raises(KeyError):
        timing_named("slow")


async def test_the_pods_of_a_node_share_its_facts(autojump_clock: MockClock) -> None:
    async with a_node() as node:
        node.create(a_pod())
        await node.until(1)
        status = node.pod().status
        assert (status.host_ip, status.qos_class) == (NODE.host_ips[0], "BestEffort")
        assert status.pod_ip
        assert status.start_time is not None


# -- what the kubelet keeps of pods that are gone


async def test_nothing_is_kept_of_a_pod_that_was_refused(autojump_clock: MockClock) -> None:
    async with a_node() as node:
        node.create(a_pod(node_name="node1", node_selector={"disk": "fast"}))
        await node.phase("Failed")
        kept = node.cluster.kubelet.housekeeping.kept
        uid = node.pod().metadata.uid
        assert list(kept.uids()) == [uid]
        node.delete(grace=0)
        await node.until(20)
        assert list(kept.uids()) == []


async def test_nothing_is_kept_of_a_pod_that_went_while_no_kubelet_ran(autojump_clock: MockClock) -> None:
    async with a_node() as node:
        node.create(a_pod())
        await node.until(5)
        await node.cluster.stop_kubelet()
        node.delete(grace=0)
        for sandbox in await node.runtime.list_pod_sandboxes():
            await node.runtime.remove_pod_sandbox(sandbox.id)
        assert node.cluster.allocations.pods()
        await node.cluster.start_kubelet()
        await node.until(20)
        assert list(node.cluster.kubelet.housekeeping.kept.uids()) == []


async def test_nothing_is_kept_of_a_pod_that_only_the_runtime_knew(autojump_clock: MockClock) -> None:
    async with a_node() as node:
        node.create(a_pod())
        await node.until(5)
        await node.cluster.stop_kubelet()
        node.delete(grace=0)
        await node.cluster.start_kubelet()
        await node.until(20)
        assert await node.runtime.list_pod_sandboxes() == ()
        assert node.events("Killing") != []
        assert list(node.cluster.kubelet.housekeeping.kept.uids()) == []


async def test_volumes_go_with_a_pod_whose_containers_went_before(autojump_clock: MockClock) -> None:
    async with a_node() as node:
        node.create(a_pod(restart_policy="Never"))
        await node.until(5)
        for sandbox in await node.runtime.list_pod_sandboxes():
            await node.runtime.remove_pod_sandbox(sandbox.id)
        await node.phase("Failed")
        await node.until(30)
        assert await node.runtime.list_volumes() != ()
        node.delete()
        await node.gone()
        await node.until(130)
        assert await node.runtime.list_volumes() == ()


async def test_an_event_that_comes_late_is_forgotten_too(autojump_clock: MockClock) -> None:
    async with a_node() as node:
        node.create(a_pod())
        await node.until(5)
        pod = node.pod()
        node.delete()
        await node.gone()
        await node.cluster.kubelet.emptied()
        node.cluster.kubelet.services.recorder.event(pod, None, "Normal", "Late", "too late")
        kept = node.cluster.kubelet.housekeeping.kept
        assert list(kept.uids()) == [pod.metadata.uid]
        await node.until(node.seconds + 20)
        assert list(kept.uids()) == []


async def test_kept_containers_are_told_once(autojump_clock: MockClock) -> None:
    async with a_node(settings=KubeletSettings(keep_removed=True)) as node:
        node.create(a_pod())
        await node.until(5)
        node.delete()
        await node.gone()
        await node.until(60)
        assert len(await node.runtime.list_containers()) == 1
        assert len(node.runs()) == 2
