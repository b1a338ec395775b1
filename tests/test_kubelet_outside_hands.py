"""What others do to a pod's things in the runtime, beside its kubelet; docker/test_outside_hands.py is on Docker."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from kubelet_rig import a_node, a_pod, container, lives, sidecar, state_text, stops

from runtime.api import ContainerState
from runtime.simulated import FaultPlan, LostEvents

if TYPE_CHECKING:
    from kubelet_rig import Rig
    from trio.testing import MockClock

POLICIES = ["Always", "OnFailure", "Never"]
CHANGED = ["- SandboxChanged: Pod sandbox changed, it will be killed and re-created."]


async def remove(node: Rig, name: str, state: ContainerState = ContainerState.RUNNING) -> None:
    """Remove a container as somebody else would."""
    found = await node.runtime.list_containers()
    [container_id] = [each.id for each in found if each.metadata.name == name and each.state is state]
    await node.runtime.remove_container(container_id)


async def sandbox_of(node: Rig) -> str:
    [sandbox] = await node.runtime.list_pod_sandboxes()
    return sandbox.id


def told(node: Rig, *reasons_: str) -> list[str]:
    """Return the events of some reasons without their times."""
    return [line.split(" ", 1)[1] for line in node.events(*reasons_)]


@pytest.mark.parametrize("policy", POLICIES)
async def test_a_running_container_that_is_gone_counts_as_killed(autojump_clock: MockClock, policy: str) -> None:
    """Source: kubelet v1.36 convertToAPIContainerStatuses, getPhase."""
    async with a_node() as node:
        node.create(a_pod(restart_policy=policy))
        await node.until(5)
        await remove(node, "main")
        await node.until(8)
        if policy == "Never":
            assert node.pod().status.phase == "Failed"
            assert state_text(node.status("main")) == "terminated:ContainerStatusUnknown:137"
            return
        last = node.status("main").last_state.terminated
        assert last is not None
        assert (node.pod().status.phase, node.status("main").restart_count) == ("Running", 1)
        assert (last.exit_code, last.reason) == (137, "ContainerStatusUnknown")
        assert last.message == (
            "The container could not be located when the pod was deleted.  The container used to be Running"
        )


async def test_a_sidecar_that_is_gone_is_made_anew_whatever_the_policy(autojump_clock: MockClock) -> None:
    async with a_node() as node:
        node.create(a_pod(init=[sidecar("s1")], restart_policy="Never"))
        await node.until(5)
        await remove(node, "s1")
        await node.until(8)
        assert (node.pod().status.phase, node.status("s1").restart_count) == ("Running", 1)
        assert len(node.starts("main")) == 1


@pytest.mark.parametrize("policy", ["OnFailure", "Never"])
async def test_one_that_has_ended_and_is_gone_is_run_again(autojump_clock: MockClock, policy: str) -> None:
    """A kubelet keeps one dead instance of each container for this: without it, nothing says that it has run.

    A removal wakes nobody: the next sync sees it. Source: kubelet v1.36 ShouldContainerBeRestarted.
    """
    async with a_node({"done": (lives(1, 0),)}) as node:
        node.create(a_pod(container("done"), container("main"), restart_policy=policy))
        await node.until(5)
        await remove(node, "done", ContainerState.EXITED)
        await node.until(30)
        assert len(node.starts("done")) == 1
        await node.until(120)
        assert len(node.starts("done")) == 2


@pytest.mark.parametrize("policy", POLICIES)
async def test_a_sandbox_that_is_gone_with_all_in_it(autojump_clock: MockClock, policy: str) -> None:
    """Nothing is left that says that there was a sandbox: the new one is the first, and no event tells of a change.

    Source: kubelet v1.36 PodSandboxChanged, computePodActions.
    """
    async with a_node({"i1": (lives(1),)}) as node:
        node.create(a_pod(init=[container("i1")], restart_policy=policy))
        await node.until(5)
        await node.runtime.remove_pod_sandbox(await sandbox_of(node))  # type: ignore[arg-type]
        await node.until(15)
        assert told(node, "SandboxChanged") == []
        if policy == "Never":
            assert (node.pod().status.phase, len(node.starts("main"))) == ("Failed", 1)
            return
        [sandbox] = await node.runtime.list_pod_sandboxes()
        assert sandbox.metadata.attempt == 0
        assert (node.pod().status.phase, node.status("main").restart_count) == ("Running", 1)
        order = [line.split()[1] for line in node.runs() if line.endswith("start")]
        assert order == ["i1#1", "main#1", "i1#2", "main#2"]


# (policy, exit code of the main container at its stop, whether it is run again, the phase at last)
DEAD_SANDBOXES = [
    ("all begins anew under Always", "Always", 0, True, "Running"),
    ("what was stopped begins anew under OnFailure", "OnFailure", 1, True, "Running"),
    ("a pod that never restarts fails with its containers", "Never", 1, False, "Failed"),
    ("or succeeds with them", "Never", 0, False, "Succeeded"),
]


@pytest.mark.parametrize(
    ("why", "policy", "code", "again", "phase"), DEAD_SANDBOXES, ids=[row[0] for row in DEAD_SANDBOXES]
)
async def test_a_sandbox_that_dies(
    autojump_clock: MockClock, why: str, policy: str, code: int, *, again: bool, phase: str
) -> None:
    async with a_node({"main": (stops(code=code),)}) as node:
        node.create(a_pod(restart_policy=policy))
        await node.until(5)
        await node.runtime.kill_pod_sandbox(await sandbox_of(node))  # type: ignore[arg-type]
        await node.until(30)
        assert node.pod().status.phase == phase
        assert len(node.starts("main")) == 1 + again
        assert told(node, "SandboxChanged") == (CHANGED if again else [])
        assert told(node, "Killing") == ["main Killing: Stopping container main"]


async def test_an_image_that_is_gone_at_a_restart_is_pulled_again(autojump_clock: MockClock) -> None:
    async with a_node({"main": (lives(3, 1), lives())}) as node:
        node.create(a_pod(container("main", image_pull_policy="IfNotPresent")))
        await node.until(2)
        await node.runtime.remove_image("app:1")
        await node.until(20)
        assert told(node, "Pulling") == ['main Pulling: Pulling image "app:1"'] * 2
        assert node.status("main").restart_count == 1


async def test_events_that_are_lost_now_and_then_hide_no_exit(autojump_clock: MockClock) -> None:
    faults = FaultPlan(lost_events=(LostEvents(rate=0.7),))
    async with a_node({"main": (lives(7.3, 1),)}, faults=faults) as node:
        for number in range(10):
            node.create(a_pod(name=f"p{number}", restart_policy="Never"))
        await node.until(9)
        assert [node.pod(f"p{number}").status.phase for number in range(10)] == ["Failed"] * 10
