"""How a pod ends: grace, hooks, order of signals, and what a deletion must wait for."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from attrs import evolve
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
    sleeps,
    stops,
    turning,
)

from kubelet_emu.api import reasons
from kubelet_emu.journal.records import EffectRecord, ProbeRecord, StatusRecord
from kubelet_emu.rules.disruption import Termination
from kubelet_emu.rules.statuses import PodStatusOverride
from runtime.simulated import FaultPlan, SimulatedImage, SlowStops

if TYPE_CHECKING:
    from trio.testing import MockClock

    from kubelet_emu.kubelet.timing import Timing


# -- order and grace


@BOTH
async def test_sidecars_get_their_signal_in_reverse_order_after_the_mains(
    autojump_clock: MockClock, timing: Timing
) -> None:
    programs = {"a": (stops(2),), "b": (stops(1),), "s1": (stops(1),), "s2": (stops(3),)}
    async with a_node(programs, timing=timing) as node:
        pod = a_pod(container("a"), container("b"), init=[sidecar("s1"), sidecar("s2")])
        node.create(pod)
        await node.until(10)
        node.delete()
        await node.gone()
        assert node.signals() == ["10 a SIGTERM", "10 b SIGTERM", "12 s2 SIGTERM", "15 s1 SIGTERM"]
        assert node.timeouts() == ["10 a 30", "10 b 30", "12 s2 28", "15 s1 25"]
        assert node.events("Killing") == [
            f"10 {name} Killing: Stopping container {name}" for name in ("a", "b", "s1", "s2")
        ]
        assert node.phases() == ["Pending", "Running", "Succeeded"]


async def test_with_the_grace_spent_all_sidecars_are_stopped_at_once_with_two_seconds(
    autojump_clock: MockClock,
) -> None:
    programs = {"main": (deaf(),), "s1": (deaf(),), "s2": (deaf(),)}
    async with a_node(programs) as node:
        node.create(a_pod(init=[sidecar("s1"), sidecar("s2")]))
        await node.until(10)
        node.delete(grace=4)
        await node.gone()
        assert sorted(node.signals()) == [
            "10 main SIGTERM",
            "14 main SIGKILL",
            "14 s1 SIGTERM",
            "14 s2 SIGTERM",
            "16 s1 SIGKILL",
            "16 s2 SIGKILL",
        ]
        assert node.timeouts() == ["10 main 4", "14 s1 2", "14 s2 2"]
        assert node.phases()[-1] == "Failed"


@pytest.mark.parametrize(
    ("spec", "asked", "seconds"),
    [
        pytest.param(30, None, 30, id="the spec's grace"),
        pytest.param(30, 5, 5, id="a shorter one is asked for"),
        pytest.param(5, 60, 60, id="a longer one is asked for"),
        pytest.param(30, 1, 2, id="one second means two"),
        pytest.param(30, -1, 2, id="a negative one is one second"),
    ],
)
async def test_the_grace_of_a_deletion(autojump_clock: MockClock, spec: int, asked: int | None, seconds: int) -> None:
    async with a_node({"main": (deaf(),)}) as node:
        node.create(a_pod(termination_grace_period_seconds=spec))
        await node.until(5)
        node.delete(grace=asked)
        assert await node.gone() == 5 + seconds
        assert node.timeouts() == [f"5 main {seconds}"]
        assert node.signals() == ["5 main SIGTERM", f"{5 + seconds} main SIGKILL"]


async def test_the_time_of_a_pre_stop_hook_comes_off_the_grace(autojump_clock: MockClock) -> None:
    async with a_node({"main": (stops(execs=(answers("bye", takes_seconds=4.7),)),)}) as node:
        node.create(a_pod(container("main", lifecycle=hooks(pre_stop=runs("bye")))))
        await node.until(5)
        node.delete()
        await node.gone()
        assert node.timeouts() == ["9.7 main 26"]


async def test_hooks_of_sidecars_begin_with_the_termination(autojump_clock: MockClock) -> None:
    async with a_node({"main": (stops(3),)}) as node:
        node.create(a_pod(init=[sidecar("s1", lifecycle=hooks(pre_stop=sleeps(5)))]))
        await node.until(10)
        node.delete()
        await node.gone()
        effects = [(node.at(r), r.call, r.what) for r in node.of(EffectRecord) if r.call == "preStop"]
        assert effects == [(10.0, "preStop", "started"), (15.0, "preStop", "finished")]
        assert node.timeouts() == ["10 main 30", "15 s1 25"]


async def test_a_hook_that_eats_the_grace_is_no_longer_waited_for(autojump_clock: MockClock) -> None:
    hanging = answers("hang", takes_seconds=1000.0)
    async with a_node({"main": (deaf(execs=(hanging,)),)}) as node:
        node.create(a_pod(container("main", lifecycle=hooks(pre_stop=runs("hang")))))
        await node.until(5)
        node.delete(grace=4)
        await node.gone()
        await node.until(20)
        assert node.timeouts() == ["9 main 2"]
        assert node.signals() == ["9 main SIGTERM", "11 main SIGKILL"]
        assert node.events("FailedPreStopHook") == ["11 main FailedPreStopHook: PreStopHook failed"]


async def test_a_hook_that_fails_changes_only_an_event(autojump_clock: MockClock) -> None:
    async with a_node({"main": (stops(execs=(answers("bye", exit_code=1),)),)}) as node:
        node.create(a_pod(container("main", lifecycle=hooks(pre_stop=runs("bye")))))
        await node.until(5)
        node.delete()
        assert await node.gone() == 5
        assert node.events("FailedPreStopHook") == ["5 main FailedPreStopHook: PreStopHook failed"]
        assert node.phases()[-1] == "Succeeded"


async def test_a_container_that_exits_by_itself_runs_no_pre_stop_hook(autojump_clock: MockClock) -> None:
    async with a_node({"main": (lives(2, execs=(answers("bye"),)),)}) as node:
        node.create(a_pod(container("main", lifecycle=hooks(pre_stop=runs("bye"))), restart_policy="Never"))
        await node.phase("Succeeded")
        assert [r for r in node.of(EffectRecord) if r.call == "preStop"] == []


async def test_a_sidecar_that_dies_while_it_waits_is_not_restarted(autojump_clock: MockClock) -> None:
    async with a_node({"main": (stops(6),), "s1": (lives(12, 1),)}) as node:
        node.create(a_pod(init=[sidecar("s1")]))
        await node.until(10)
        node.delete()
        await node.gone()
        assert node.signals() == ["10 main SIGTERM"]
        assert node.timeouts() == ["10 main 30", "16 s1 24"]
        assert len(node.starts("s1")) == 1


# -- what a deletion waits for


async def test_a_pod_deleted_during_a_pull_is_pulled_started_and_then_stopped(autojump_clock: MockClock) -> None:
    slow = SimulatedImage(size_bytes=3200, bytes_per_second=100)
    async with a_node({"main": (stops(1),)}, images={"slow:1": slow}) as node:
        node.create(a_pod(container("main", image="slow:1")))
        await node.until(5)
        node.delete(grace=5)
        await node.gone()
        assert node.runs() == ["32 main#1 start", "33 main#1 exit 0"]
        assert node.timeouts() == ["32 main 5"]
        assert node.events("Killing") == ["32 main Killing: Stopping container main"]


async def test_a_pod_deleted_during_a_post_start_hook_is_not_touched_before_its_end(autojump_clock: MockClock) -> None:
    async with a_node({"main": (stops(execs=(answers("setup", takes_seconds=20.0),)),)}) as node:
        node.create(a_pod(container("main", lifecycle=hooks(post_start=runs("setup")))))
        await node.until(5)
        node.delete(grace=3)
        await node.gone()
        assert node.signals() == ["20 main SIGTERM"]
        assert node.timeouts() == ["20 main 3"]


async def test_a_post_start_hook_without_end_blocks_the_deletion(autojump_clock: MockClock) -> None:
    async with a_node({"main": (stops(execs=(answers("setup", takes_seconds=1e9),)),)}) as node:
        node.create(a_pod(container("main", lifecycle=hooks(post_start=runs("setup")))))
        await node.until(5)
        node.delete(grace=1)
        await node.until(10_000)
        assert node.signals() == []
        assert node.pod().metadata.deletion_grace_period_seconds == 1


async def test_a_second_shorter_deletion_does_not_shorten_the_stop_in_progress(autojump_clock: MockClock) -> None:
    async with a_node({"main": (deaf(),)}) as node:
        node.create(a_pod())
        await node.until(5)
        node.delete(grace=20)
        await node.until(8)
        node.delete(grace=2)
        assert node.pod().metadata.deletion_grace_period_seconds == 1
        assert await node.gone() == 25
        assert node.signals() == ["5 main SIGTERM", "25 main SIGKILL"]


async def test_a_forced_deletion_takes_the_object_at_once_and_gives_two_seconds(autojump_clock: MockClock) -> None:
    async with a_node({"main": (deaf(),)}) as node:
        node.create(a_pod())
        await node.until(5)
        node.delete(grace=0)
        assert node.find() is None
        await node.cluster.kubelet.emptied()
        assert node.seconds == 7
        assert node.signals() == ["5 main SIGTERM", "7 main SIGKILL"]
        assert await node.runtime.list_pod_sandboxes() == ()


async def test_a_forced_deletion_of_a_pod_that_stops_leaves_its_stop_alone(autojump_clock: MockClock) -> None:
    async with a_node({"main": (deaf(),)}) as node:
        node.create(a_pod())
        await node.until(5)
        node.delete(grace=30)
        await node.until(10)
        node.delete(grace=0)
        assert node.find() is None
        await node.cluster.kubelet.emptied()
        assert node.signals() == ["5 main SIGTERM", "35 main SIGKILL"]


async def test_a_grace_of_zero_in_the_spec_makes_every_deletion_a_forced_one(autojump_clock: MockClock) -> None:
    async with a_node({"main": (deaf(),)}) as node:
        node.create(a_pod(termination_grace_period_seconds=0))
        await node.until(5)
        node.delete()
        assert node.find() is None
        await node.until(8)
        assert node.signals() == ["5 main SIGTERM", "7 main SIGKILL"]


async def test_a_deletion_during_a_liveness_kill_waits_for_that_kill(autojump_clock: MockClock) -> None:
    program = deaf(execs=(turning("check", (0, 0), (3, 1)),))
    async with a_node({"main": (program,), "other": (stops(),)}) as node:
        pod = a_pod(container("main", liveness_probe=probe()), container("other"))
        node.create(pod)
        await node.until(10)
        node.delete(grace=5)
        await node.gone()
        signals = node.signals()
        killed_at = float(signals[0].split()[0])
        assert signals[:2] == [f"{killed_at:g} main SIGTERM", f"{killed_at + 30:g} main SIGKILL"]
        assert "other SIGTERM" in " ".join(signals[2:])


async def test_an_object_with_a_finalizer_stays_with_its_terminal_status(autojump_clock: MockClock) -> None:
    async with a_node() as node:
        node.create(a_pod(metadata={"finalizers": ("example.com/keep",)}))
        await node.until(5)
        node.delete()
        await node.until(20)
        pod = node.pod()
        assert (pod.status.phase, pod.metadata.deletion_grace_period_seconds) == ("Succeeded", 0)
        released = evolve(pod, metadata=evolve(pod.metadata, finalizers=()))
        node.cluster.api.replace(released)
        await node.cluster.kubelet.emptied()
        assert node.find() is None


# -- other ends


@BOTH
@pytest.mark.parametrize(("code", "phase"), [pytest.param(0, "Succeeded", id="0"), pytest.param(3, "Failed", id="3")])
async def test_when_the_mains_are_done_the_sidecars_are_stopped_and_do_not_count(
    autojump_clock: MockClock, timing: Timing, code: int, phase: str
) -> None:
    programs = {"main": (lives(5, code),), "s1": (stops(2, code=7),), "s2": (stops(1, code=9),)}
    async with a_node(programs, timing=timing) as node:
        node.create(a_pod(init=[sidecar("s1"), sidecar("s2")], restart_policy="Never"))
        await node.phase(phase)
        assert node.signals() == ["5 s2 SIGTERM", "6 s1 SIGTERM"]
        assert node.timeouts() == ["5 s2 30", "6 s1 29"]
        assert node.phases() == ["Pending", "Running", phase]
        assert node.find() is not None


async def test_a_deletion_during_a_natural_end_waits_for_its_full_grace(autojump_clock: MockClock) -> None:
    async with a_node({"main": (lives(5),), "s1": (deaf(),)}) as node:
        node.create(a_pod(init=[sidecar("s1")], restart_policy="Never"))
        await node.until(10)
        node.delete(grace=1)
        assert await node.gone() == 35
        assert node.signals() == ["5 s1 SIGTERM", "35 s1 SIGKILL"]


async def test_a_pod_past_its_deadline_fails_and_is_stopped(autojump_clock: MockClock) -> None:
    async with a_node({"main": (stops(2),)}) as node:
        node.create(a_pod(active_deadline_seconds=5))
        await node.phase("Failed")
        status = node.pod().status
        assert (node.seconds, status.reason) == (7, "DeadlineExceeded")
        assert status.message == "Pod was active on the node longer than the specified deadline"
        assert node.signals() == ["5 main SIGTERM"]
        assert node.timeouts() == ["5 main 30"]
        assert node.events("DeadlineExceeded")[0] == f"5 - DeadlineExceeded: {status.message}"
        assert node.states("main")[-1] == "7 terminated:Completed:0"


async def test_a_deadline_counts_from_the_whole_second_of_the_status(autojump_clock: MockClock) -> None:
    async with a_node({"main": (stops(2),)}) as node:
        await node.until(0.6)
        node.create(a_pod(active_deadline_seconds=5))
        await node.phase("Failed")
        assert node.pod().status.start_time == node.cluster.timebase.epoch
        assert node.signals() == ["5 main SIGTERM"]


async def test_an_evicted_pod_fails_with_the_evictions_words(autojump_clock: MockClock) -> None:
    async with a_node({"main": (deaf(),)}) as node:
        node.create(a_pod())
        await node.until(5)
        override = PodStatusOverride(reason="Evicted", message="The node was low on memory. ")
        uid = node.pod().metadata.uid or ""
        node.cluster.kubelet.terminate_pod(uid, Termination(why="evicted", override_seconds=1, status=override))
        await node.phase("Failed")
        status = node.pod().status
        assert (status.reason, status.message) == ("Evicted", "The node was low on memory. ")
        assert node.signals() == ["5 main SIGTERM", "7 main SIGKILL"]


async def test_a_deletion_of_an_evicted_pod_leaves_the_evictions_words(autojump_clock: MockClock) -> None:
    async with a_node({"main": (deaf(),)}) as node:
        node.create(a_pod(container("main", lifecycle=hooks(post_start=sleeps(10)))))
        await node.until(5)
        override = PodStatusOverride(reason="Evicted", message="The node was low on memory. ")
        uid = node.pod().metadata.uid or ""
        node.cluster.kubelet.terminate_pod(uid, Termination(why="evicted", override_seconds=5, status=override))
        node.delete(grace=20)
        await node.phase("Failed")
        status = node.pod().status
        assert (status.reason, status.message) == ("Evicted", "The node was low on memory. ")
        assert node.signals() == ["10 main SIGTERM", "15 main SIGKILL"]


async def test_a_pod_in_back_off_is_deleted_without_a_kill(autojump_clock: MockClock) -> None:
    async with a_node({"main": (lives(1, 3),)}) as node:
        node.create(a_pod(restart_policy="Always"))
        await node.until(5)
        node.delete()
        assert await node.gone() == 5
        assert node.events("Killing") == []
        assert node.states("main")[-1].endswith(" terminated:Error:3")
        assert node.phases()[-1] == "Failed"


async def test_a_pod_deleted_while_an_init_container_runs_fails(autojump_clock: MockClock) -> None:
    async with a_node({"i1": (stops(1),)}) as node:
        node.create(a_pod(init=[sidecar("s1"), container("i1"), container("i2")]))
        await node.until(5)
        node.delete()
        await node.gone()
        assert sorted(node.signals()) == ["5 i1 SIGTERM", "5 s1 SIGTERM"]
        assert node.states("main") == ["0 none", "0 waiting:PodInitializing"]
        assert node.phases() == ["Pending", "Failed"]


async def test_deleting_a_finished_pod_takes_it_away_at_once(autojump_clock: MockClock) -> None:
    async with a_node({"main": (lives(1),)}) as node:
        node.create(a_pod(restart_policy="Never"))
        await node.phase("Succeeded")
        await node.until(3)
        node.delete()
        assert node.find() is None
        await node.cluster.kubelet.emptied()
        assert await node.runtime.list_containers() == ()
        assert await node.runtime.list_volumes() == ()


async def test_readiness_is_probed_to_the_end_liveness_is_not(autojump_clock: MockClock) -> None:
    check = turning("check", (0, 0), (8, 1))
    program = stops(6, execs=(check,))
    async with a_node({"main": (program,)}) as node:
        main = container("main", liveness_probe=probe(), readiness_probe=probe())
        node.create(a_pod(main))
        await node.until(5.5)
        node.delete()
        await node.gone()
        kinds = {r.probe for r in node.of(ProbeRecord) if node.at(r) > 6}
        assert kinds == {"readiness"}
        ready = [r.status.container_statuses[0].ready for r in node.of(StatusRecord) if node.at(r) == 8]
        assert ready == [False]


async def test_a_slow_stop_call_does_not_bring_the_object_away_early(autojump_clock: MockClock) -> None:
    faults = FaultPlan(slow_stops=(SlowStops(delay=1.5),))
    async with a_node(faults=faults) as node:
        node.create(a_pod())
        await node.until(5)
        node.delete()
        assert await node.gone() == 6.5


async def test_a_status_of_a_stop_comes_in_one_piece(autojump_clock: MockClock) -> None:
    """While a kill runs only probes change the status; all ends are told together."""
    async with a_node({"a": (stops(1),), "b": (stops(8),)}) as node:
        node.create(a_pod(container("a"), container("b")))
        await node.until(5)
        node.delete()
        await node.gone()
        assert node.states("a")[-1] == f"13 terminated:{reasons.COMPLETED}:0"
        assert node.states("b")[-1] == f"13 terminated:{reasons.COMPLETED}:0"
