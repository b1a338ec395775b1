"""Restarts: policies, back-off, probes, a lost sandbox, RestartAllContainers."""

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
    stops,
    turning,
)

from kubelet_emu.api.v1 import ContainerRestartRule, ContainerRestartRuleOnExitCodes
from kubelet_emu.journal.records import StatusRecord
from kubelet_emu.kubelet.timing import KUBELET, Timing
from runtime.simulated import Line

if TYPE_CHECKING:
    from trio.testing import MockClock


# -- policies


@pytest.mark.parametrize(
    ("policy", "code", "ends"),
    [
        pytest.param("Always", 0, "Running", id="Always restarts after 0"),
        pytest.param("Always", 1, "Running", id="Always restarts after 1"),
        pytest.param("OnFailure", 0, "Succeeded", id="OnFailure is done after 0"),
        pytest.param("OnFailure", 1, "Running", id="OnFailure restarts after 1"),
        pytest.param("Never", 0, "Succeeded", id="Never is done after 0"),
        pytest.param("Never", 1, "Failed", id="Never fails after 1"),
    ],
)
async def test_restart_policy(autojump_clock: MockClock, policy: str, code: int, ends: str) -> None:
    async with a_node({"main": (lives(2, code), lives())}) as node:
        node.create(a_pod(restart_policy=policy))
        await node.until(5)
        assert node.pod().status.phase == ends
        assert len(node.starts("main")) == (2 if ends == "Running" else 1)


async def test_a_container_may_have_a_policy_of_its_own(autojump_clock: MockClock) -> None:
    programs = {"a": (lives(2, 1), lives()), "b": (lives(2, 1),)}
    async with a_node(programs) as node:
        node.create(a_pod(container("a"), container("b", restart_policy="Never"), restart_policy="Always"))
        await node.until(5)
        assert (len(node.starts("a")), len(node.starts("b"))) == (2, 1)
        assert node.pod().status.phase == "Running"
        assert node.condition("Ready").status == "False"


async def test_a_restart_rule_restarts_a_never_container(autojump_clock: MockClock) -> None:
    rule = ContainerRestartRule(
        action="Restart", exit_codes=ContainerRestartRuleOnExitCodes(operator="In", values=(42,))
    )
    async with a_node({"main": (lives(2, 42), lives(2, 1))}) as node:
        main = container("main", restart_policy="Never", restart_policy_rules=(rule,))
        node.create(a_pod(main, restart_policy="Never"))
        await node.phase("Failed")
        assert node.runs() == ["0 main#1 start", "2 main#1 exit 42", "2 main#2 start", "4 main#2 exit 1"]


async def test_a_sidecar_is_restarted_whatever_its_pod_s_policy(autojump_clock: MockClock) -> None:
    async with a_node({"s1": (lives(2), lives(2, 1), lives())}) as node:
        node.create(a_pod(init=[sidecar("s1")], restart_policy="Never"))
        await node.until(30)
        assert node.starts("s1") == [0.0, 2.0, 14.0]
        assert node.starts("main") == [0.0]
        assert node.phases() == ["Pending", "Running"]


# -- back-off


async def test_delays_double_up_to_five_minutes(autojump_clock: MockClock) -> None:
    async with a_node({"main": (lives(1, 1),)}) as node:
        node.create(a_pod(restart_policy="Always"))
        await node.until(1400)
        exits = [float(line.split()[0]) for line in node.runs() if "exit" in line]
        delays = [round(start - exit_) for start, exit_ in zip(node.starts("main")[1:], exits, strict=False)]
        assert delays == [0, 10, 20, 40, 80, 160, 300, 300, 300]


async def test_with_the_kubelets_delays_a_restart_is_up_to_half_a_back_off_late(autojump_clock: MockClock) -> None:
    async with a_node({"main": (lives(1, 1),)}, timing=KUBELET) as node:
        node.create(a_pod(restart_policy="Always"))
        await node.until(400)
        exits = [float(line.split()[0]) for line in node.runs() if "exit" in line]
        delays = [start - exit_ for start, exit_ in zip(node.starts("main")[1:], exits, strict=False)]
        for delay, expected in zip(delays, [0, 10, 20, 40, 80], strict=False):
            assert expected <= delay <= expected * 1.5 + 2


async def test_the_words_of_a_back_off(autojump_clock: MockClock) -> None:
    async with a_node({"main": (lives(1, 1),)}) as node:
        node.create(a_pod(restart_policy="Always"))
        await node.until(13.5)
        uid = node.pod().metadata.uid
        assert node.events("BackOff") == [
            f"2 main BackOff: Back-off restarting failed container main in pod p_ns({uid})",
            f"13 main BackOff: Back-off restarting failed container main in pod p_ns({uid})",
        ]
        node.create(a_pod(name="waker"))
        await node.until(40)
        waiting = [
            record.status.container_statuses[0].state.waiting
            for record in node.of(StatusRecord)
            if record.status.container_statuses and record.status.container_statuses[0].state.waiting
        ]
        messages = {each.message for each in waiting if each.reason == "CrashLoopBackOff"}
        assert messages == {
            f"back-off 10s restarting failed container=main pod=p_ns({uid})",
            f"back-off 20s restarting failed container=main pod=p_ns({uid})",
        }


async def test_a_back_off_is_forgotten_after_a_long_run(autojump_clock: MockClock) -> None:
    async with a_node({"main": (lives(1, 1), lives(1, 1), lives(700, 1), lives(1, 1), lives())}) as node:
        node.create(a_pod(restart_policy="Always"))
        await node.until(800)
        assert node.starts("main") == [0.0, 1.0, 12.0, 712.0, 723.0]


async def test_a_restart_is_in_the_status_with_its_last_state(autojump_clock: MockClock) -> None:
    async with a_node({"main": (lives(2, 3), lives())}) as node:
        node.create(a_pod(restart_policy="Always"))
        await node.until(5)
        status = node.status("main")
        assert status.restart_count == 1
        assert status.last_state.terminated is not None
        assert status.last_state.terminated.exit_code == 3
        assert node.states("main") == [
            "0 none",
            "0 waiting:ContainerCreating",
            "0 running#1",
            "2 terminated:Error:3",
            "2 running#2",
        ]


async def test_a_changed_image_restarts_at_once_without_back_off(autojump_clock: MockClock) -> None:
    async with a_node({"main": (lives(1, 1), lives(1, 1), lives(), lives())}) as node:
        node.create(a_pod(restart_policy="Always"))
        await node.until(20)
        pod = node.pod()
        main = evolve(pod.spec.containers[0], image="app:2")
        node.cluster.api.replace(evolve(pod, spec=evolve(pod.spec, containers=(main,))))
        await node.until(25)
        assert node.events("Killing") == ["20 main Killing: Container main definition changed, will be restarted"]
        assert node.starts("main")[-1] == 20.0
        assert node.status("main").restart_count == 3


# -- probes


@BOTH
async def test_a_liveness_failure_restarts_in_the_same_sync(autojump_clock: MockClock, timing: Timing) -> None:
    program = stops(2, code=1, execs=(turning("check", (0, 0), (4.5, 1)),))
    async with a_node({"main": (program, lives(execs=(answers("check"),)))}, timing=timing) as node:
        node.create(a_pod(container("main", liveness_probe=probe(failure_threshold=2))))
        await node.until(15)
        killing = node.events("Killing")
        assert [line.split(" ", 1)[1] for line in killing] == [
            "main Killing: Container main failed liveness probe, will be restarted"
        ]
        killed_at = float(killing[0].split()[0])
        assert 5.5 <= killed_at <= 6.5
        assert node.runs()[1:] == [f"{killed_at + 2:g} main#1 exit 1", f"{killed_at + 2:g} main#2 start"]
        starts = [r for step in node.steps() for r in step.results if r == "StartContainer main: ok"]
        assert len(starts) == 2
        assert [step.results for step in node.steps() if "KillContainer main: ok" in step.results] == [
            ("KillContainer main: ok", "StartContainer main: ok")
        ]


async def test_liveness_kills_have_one_free_restart_more_than_crashes(autojump_clock: MockClock) -> None:
    program = stops(code=1, execs=(answers("check", exit_code=1),))
    async with a_node({"main": (program,)}) as node:
        node.create(a_pod(container("main", liveness_probe=probe())))
        await node.until(30)
        gaps = [round(b - a) for a, b in zip(node.starts("main"), node.starts("main")[1:], strict=False)]
        assert gaps[:2] == [1, 1]
        assert node.events("BackOff") == [] or gaps[2] >= 9


async def test_a_liveness_failure_of_a_never_pod_ends_it(autojump_clock: MockClock) -> None:
    program = stops(code=0, execs=(turning("check", (0, 0), (3, 1)),))
    async with a_node({"main": (program,)}) as node:
        node.create(a_pod(container("main", liveness_probe=probe()), restart_policy="Never"))
        await node.phase("Succeeded", "Failed")
        assert [line.split(" ", 1)[1] for line in node.events("Killing")] == ["main Killing: Stopping container main"]
        assert node.pod().status.phase == "Succeeded"


async def test_a_probe_may_have_a_grace_of_its_own(autojump_clock: MockClock) -> None:
    program = deaf(execs=(turning("check", (0, 0), (3, 1)),))
    async with a_node({"main": (program, lives(execs=(answers("check"),)))}) as node:
        liveness = probe(termination_grace_period_seconds=5)
        node.create(a_pod(container("main", liveness_probe=liveness)))
        await node.until(20)
        assert [line.split()[2] for line in node.timeouts()] == ["5"]


async def test_a_startup_failure_kills_and_restarts(autojump_clock: MockClock) -> None:
    program = stops(code=1, execs=(answers("check", exit_code=1, output="not yet"), answers("bye")))
    async with a_node({"main": (program, lives(execs=(answers("check"),)))}) as node:
        startup = probe(failure_threshold=3)
        node.create(a_pod(container("main", startup_probe=startup, lifecycle=hooks(pre_stop=runs("bye")))))
        await node.until(15)
        assert [line.split(" ", 1)[1] for line in node.events("Killing")] == [
            "main Killing: Container main failed startup probe, will be restarted"
        ]
        assert [line.split(" ", 1)[1] for line in node.events("Unhealthy")] == [
            "main Unhealthy: Startup probe failed: not yet"
        ] * 3
        assert node.status("main").started is True
        assert node.condition("Ready").status == "True"


async def test_a_sidecar_whose_startup_probe_fails_is_restarted_before_anything_else(
    autojump_clock: MockClock,
) -> None:
    programs = {"s1": (stops(execs=(answers("check", exit_code=1),)), lives(execs=(answers("check"),)))}
    async with a_node(programs) as node:
        node.create(a_pod(init=[sidecar("s1", startup_probe=probe(failure_threshold=3))]))
        await node.until(15)
        assert [line.split(" ", 1)[1] for line in node.events("Killing")] == [
            "s1 Killing: Init container s1 failed startup probe"
        ]
        assert len(node.starts("s1")) == 2
        assert node.starts("main") > [node.starts("s1")[1]]


async def test_readiness_follows_its_probe_and_restarts_nothing(autojump_clock: MockClock) -> None:
    program = lives(execs=(turning("check", (0, 1), (3.5, 0), (8.5, 1)),))
    async with a_node({"main": (program,)}) as node:
        node.create(a_pod(container("main", readiness_probe=probe())))
        await node.until(12)
        flips: list[tuple[float, bool]] = []
        for record in node.of(StatusRecord):
            for status in record.status.container_statuses:
                if not flips or flips[-1][1] != status.ready:
                    flips.append((node.at(record), status.ready))
        assert [ready for _, ready in flips] == [False, True, False]
        assert 3.5 <= flips[1][0] <= 4.5
        assert 8.5 <= flips[2][0] <= 9.5
        assert len(node.starts("main")) == 1


# -- the sandbox


@BOTH
async def test_a_lost_sandbox_starts_the_pod_anew(autojump_clock: MockClock, timing: Timing) -> None:
    async with a_node({"i1": (lives(1),), "main": (stops(2),)}, timing=timing) as node:
        node.create(a_pod(init=[container("i1"), sidecar("s1")]))
        await node.until(10)
        sandbox = (await node.runtime.list_pod_sandboxes())[0]
        await node.runtime.kill_pod_sandbox(sandbox.id)
        await node.until(30)
        assert [line.split(" ", 1)[1] for line in node.events("SandboxChanged")] == [
            "- SandboxChanged: Pod sandbox changed, it will be killed and re-created."
        ]
        assert [line.split()[1:] for line in node.signals()] == [["main", "SIGTERM"], ["s1", "SIGTERM"]]
        order = [line.split()[1] for line in node.runs() if line.endswith("start")]
        assert order == ["i1#1", "s1#1", "main#1", "i1#2", "s1#2", "main#2"]
        assert [node.status(name).restart_count for name in ("i1", "s1", "main")] == [1, 1, 1]
        assert node.phases()[:3] == ["Pending", "Running", "Pending"]
        assert node.phases()[-1] == "Running"
        sandboxes = await node.runtime.list_pod_sandboxes()
        assert [s.metadata.attempt for s in sandboxes if s.state.value == "ready"] == [1]


async def test_a_never_pod_does_not_come_back_from_a_lost_sandbox(autojump_clock: MockClock) -> None:
    async with a_node({"main": (stops(code=143),)}) as node:
        node.create(a_pod(restart_policy="Never"))
        await node.until(5)
        sandbox = (await node.runtime.list_pod_sandboxes())[0]
        await node.runtime.kill_pod_sandbox(sandbox.id)
        await node.phase("Failed")
        assert len(node.starts("main")) == 1


async def test_a_container_that_somebody_removed_is_made_again(autojump_clock: MockClock) -> None:
    async with a_node() as node:
        node.create(a_pod())
        await node.until(5)
        await node.runtime.remove_container((await node.runtime.list_containers())[0].id)
        await node.until(8)
        assert node.pod().status.phase == "Running"
        assert node.status("main").restart_count == 1


# -- RestartAllContainers


async def test_restart_all_containers_begins_again_in_the_same_sandbox(autojump_clock: MockClock) -> None:
    rule = ContainerRestartRule(
        action="RestartAllContainers", exit_codes=ContainerRestartRuleOnExitCodes(operator="In", values=(42,))
    )
    programs = {
        "i1": (lives(1),),
        "main": (lives(3, 42), lives()),
        "other": (deaf(execs=(answers("bye"),), lines=(Line(0, "hello"),)),),
    }
    async with a_node(programs) as node:
        main = container("main", restart_policy="Never", restart_policy_rules=(rule,))
        other = container("other", lifecycle=hooks(pre_stop=runs("bye")))
        node.create(a_pod(main, other, init=[container("i1")]))
        await node.until(20)
        assert node.runs() == [
            "0 i1#1 start",
            "1 i1#1 exit 0",
            "1 main#1 start",
            "1 other#1 start",
            "4 main#1 exit 42",
            "6 other#1 exit 137",
            "6 i1#2 start",
            "7 i1#2 exit 0",
            "7 main#2 start",
            "7 other#2 start",
        ]
        assert node.events("Killing") == ["4 other Killing: killing"]
        assert node.timeouts() == ["4 other 2"]
        assert len(await node.runtime.list_pod_sandboxes()) == 1
        condition = node.condition("AllContainersRestarting")
        assert condition.status == "False"
        last = node.status("main").last_state.terminated
        assert last is not None
        assert (last.reason, last.exit_code) == ("RestartingAllContainers", 137)


async def test_restart_all_containers_knows_no_back_off(autojump_clock: MockClock) -> None:
    rule = ContainerRestartRule(
        action="RestartAllContainers", exit_codes=ContainerRestartRuleOnExitCodes(operator="In", values=(42,))
    )
    async with a_node({"main": (lives(2, 42),)}) as node:
        main = container("main", restart_policy="Never", restart_policy_rules=(rule,))
        node.create(a_pod(main, restart_policy="Never"))
        await node.until(21)
        assert node.starts("main") == [float(at) for at in range(0, 21, 2)]
        assert node.events("BackOff") == []
