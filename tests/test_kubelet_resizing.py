"""Resizes of running pods: granted, carried out or deferred; what the status and the events say of them (KEP-1287)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from attrs import define, evolve, field
from kubelet_rig import NODE, a_node, a_pod, container, lives, sidecar
from pod_makers import requesting

from kubelet_emu.api.v1 import ContainerResizePolicy
from kubelet_emu.config.features import FeatureGates
from kubelet_emu.journal.records import StatusRecord
from kubelet_emu.kubelet.settings import KubeletSettings
from kubelet_emu.lifecycle.replaying import replay
from kubelet_emu.rules.conditions import find_condition
from runtime.api import CRIError

if TYPE_CHECKING:
    from kubelet_rig import Rig
    from trio.testing import MockClock

    from kubelet_emu.api.v1 import Container
    from runtime.api import ContainerID, LinuxContainerResources, Runtime
    from runtime.simulated import SimulatedRuntime

IN_PROGRESS, PENDING = "PodResizeInProgress", "PodResizePending"
SMALL = requesting({"cpu": "50m", "memory": "32Mi"}, {"cpu": "100m", "memory": "64Mi"})


def sized(name: str = "main", **spec: Any) -> Container:  # noqa: ANN401
    return container(name, **({"resources": SMALL} | spec))


def resize(node: Rig, name: str = "p", kind: str = "containers", container: str = "main", **resources: Any) -> None:  # noqa: ANN401
    body = {"spec": {kind: [{"name": container, "resources": resources}]}}
    node.cluster.api.resize("ns", name, body)


def conditions(node: Rig, kind: str, name: str = "p") -> list[str]:
    """Return how a condition came and went: `seconds status/reason generation`, each once in a row."""
    found: list[tuple[float, str]] = []
    for record in node.of(StatusRecord, name):
        condition = find_condition(record.status.conditions, kind)
        text = "-" if condition is None else f"{condition.reason or condition.status} {condition.observed_generation}"
        if not found or found[-1][1] != text:
            found.append((node.at(record), text))
    return [f"{at:g} {text}" for at, text in found]


@define
class Updates:
    """A runtime that tells of its updates, and fails some."""

    runtime: SimulatedRuntime
    calls: list[tuple[int | None, int | None, int | None]] = field(factory=list)
    fails: int = 0

    def __getattr__(self, name: str) -> object:
        """Take all else from the simulated runtime."""
        return getattr(self.runtime, name)

    async def update_container_resources(self, container_id: ContainerID, resources: LinuxContainerResources) -> None:
        if self.fails:
            self.fails -= 1
            raise CRIError("no such cgroup")
        self.calls.append((resources.cpu_shares, resources.cpu_quota, resources.memory_limit_bytes))
        await self.runtime.update_container_resources(container_id, resources)


@define
class Wrapping:
    """Makes the runtime of a test and keeps it."""

    fails: int = 0
    made: list[Updates] = field(factory=list)

    def __call__(self, runtime: SimulatedRuntime) -> Runtime:
        self.made.append(Updates(runtime, fails=self.fails))
        return self.made[0]  # type: ignore[return-value]  # what isn't its own it gets by name

    @property
    def calls(self) -> list[tuple[int | None, int | None, int | None]]:
        return self.made[0].calls


SIZES = '{"containers":[{"name":"main","resources":{"limits":{"cpu":"150m","memory":"64Mi"},'
SIZES += '"requests":{"cpu":"80m","memory":"32Mi"}}}],"generation":2}'


async def test_a_resize_is_carried_out_where_the_container_runs(autojump_clock: MockClock) -> None:
    wrap = Wrapping()
    async with a_node(wrap=wrap) as node:
        node.create(a_pod(sized()))
        await node.until(5)
        resize(node, requests={"cpu": "80m"}, limits={"cpu": "150m"})
        await node.until(10)
        assert wrap.calls == [(81, 15000, 64 << 20)]
        assert node.events("ResizeStarted", "ResizeCompleted", "Killing") == [
            f"5 - ResizeStarted: Pod resize started: {SIZES}",
            f"5 - ResizeCompleted: Pod resize completed: {SIZES}",
        ]
        assert conditions(node, IN_PROGRESS) == ["0 -", "5 True 2", "5 -"]
        found = [r.status for r in node.of(StatusRecord)][-2:]
        shown = [(status.container_statuses[0], status.observed_generation) for status in found]
        assert [status.allocated_resources["cpu"] for status, _ in shown] == ["80m", "80m"]
        assert [status.resources.limits["cpu"] for status, _ in shown] == ["100m", "150m"]
        assert [generation for _, generation in shown] == [2, 2]
        assert node.status("main").restart_count == 0
        again = replay(node.entries)
        assert (again.differences, again.skipped) == ((), ())


async def test_memory_is_resized_before_cpu(autojump_clock: MockClock) -> None:
    wrap = Wrapping()
    async with a_node(wrap=wrap) as node:
        node.create(a_pod(sized()))
        await node.until(5)
        resize(node, limits={"cpu": "200m", "memory": "128Mi"})
        await node.until(10)
        assert wrap.calls == [(51, 10000, 128 << 20), (51, 20000, 128 << 20)]


async def test_a_policy_may_ask_for_a_restart(autojump_clock: MockClock) -> None:
    policy = (ContainerResizePolicy(resource_name="memory", restart_policy="RestartContainer"),)
    wrap = Wrapping()
    async with a_node(wrap=wrap) as node:
        node.create(a_pod(sized(resize_policy=policy)))
        await node.until(5)
        resize(node, limits={"memory": "128Mi"})
        await node.until(10)
        assert node.runs() == ["0 main#1 start", "5 main#1 exit 0", "5 main#2 start"]
        assert wrap.calls == []
        found = [line.split(":")[0] for line in node.events("ResizeStarted", "Killing", "ResizeCompleted")]
        assert found == ["5 - ResizeStarted", "5 main Killing", "5 - ResizeCompleted"]
        assert "resize requires restart" in node.events("Killing")[0]
        assert conditions(node, IN_PROGRESS) == ["0 -", "5 True 2", "5 -"]


async def test_a_sidecar_is_resized_where_it_runs(autojump_clock: MockClock) -> None:
    wrap = Wrapping()
    async with a_node(wrap=wrap) as node:
        node.create(a_pod(init=(sidecar("s", resources=SMALL),)))
        await node.until(5)
        resize(node, kind="initContainers", container="s", limits={"cpu": "200m"})
        await node.until(10)
        assert wrap.calls == [(51, 20000, 64 << 20)]
        assert '"initContainers":[{"name":"s"' in node.events("ResizeCompleted")[0]


async def test_what_does_not_run_is_made_with_its_new_size(autojump_clock: MockClock) -> None:
    async with a_node({"main": (lives(1, 1), lives(1, 1), lives())}) as node:
        node.create(a_pod(sized()))
        await node.until(5)
        resize(node, limits={"cpu": "200m"})
        await node.until(60)
        assert [line.split(":")[0] for line in node.events("ResizeStarted", "ResizeCompleted")] == [
            "5 - ResizeStarted",
            "5 - ResizeCompleted",
        ]
        assert node.status("main").resources.limits["cpu"] == "200m"  # type: ignore[union-attr]


async def test_a_resize_that_fails_is_told_and_tried_again(autojump_clock: MockClock) -> None:
    async with a_node(wrap=Wrapping(fails=1)) as node:
        node.create(a_pod(sized()))
        await node.until(5)
        resize(node, limits={"cpu": "200m"})
        await node.until(30)
        failed = node.events("ResizeError")
        assert len(failed) == 1
        assert failed[0].startswith('5 - ResizeError: Pod resize error: {"containers":[')
        assert failed[0].endswith('"generation":2,"error":"no such cgroup"}')
        (first, then, error, after) = conditions(node, IN_PROGRESS)
        assert (first, then) == ("0 -", "5 True 2")
        assert error.endswith("Error 2")
        assert after.endswith("-")
        assert len(node.events("ResizeCompleted")) == 1


# -- no room


async def test_a_resize_without_room_waits_until_another_pod_ends(autojump_clock: MockClock) -> None:
    async with a_node() as node:
        node.create(a_pod(sized(resources=requesting({"cpu": "3"})), name="other"))
        node.create(a_pod(sized(resources=requesting({"cpu": "1"}))))
        await node.until(5)
        resize(node, requests={"cpu": "2"})
        await node.until(6)
        message = "Node didn't have enough resource: cpu, requested: 2000, used: 3000, capacity: 4000"
        pending = node.condition(PENDING)
        assert (pending.reason, pending.message, pending.observed_generation) == ("Deferred", message, 2)
        sizes = '{"containers":[{"name":"main","resources":{"requests":{"cpu":"2"}}}],"generation":2,"error":"'
        assert node.events("ResizeDeferred") == [
            f'5 - ResizeDeferred: Pod resize OutOfcpu: {sizes}{message}"}}',
        ]
        assert node.status("main").allocated_resources["cpu"] == "1"
        node.delete("other")
        await node.gone("other")
        await node.until(20)
        assert conditions(node, PENDING) == ["0 -", "5 Deferred 2", "6 -"]
        assert [line.split(":")[0] for line in node.events("ResizeStarted")] == ["6 - ResizeStarted"]
        assert node.status("main").allocated_resources["cpu"] == "2"


async def test_a_deferred_resize_that_is_taken_back_waits_no_more(autojump_clock: MockClock) -> None:
    async with a_node() as node:
        node.create(a_pod(sized(resources=requesting({"cpu": "3"})), name="other"))
        node.create(a_pod(sized(resources=requesting({"cpu": "1"}))))
        await node.until(5)
        resize(node, requests={"cpu": "2"})
        await node.until(6)
        resize(node, requests={"cpu": "1"})
        await node.until(10)
        assert conditions(node, PENDING) == ["0 -", "5 Deferred 2", "6 -"]
        assert node.events("ResizeStarted") == []


async def test_a_pod_that_shrinks_makes_room_for_one_that_waits(autojump_clock: MockClock) -> None:
    async with a_node() as node:
        node.create(a_pod(sized(resources=requesting({"cpu": "3"})), name="other"))
        node.create(a_pod(sized(resources=requesting({"cpu": "1"}))))
        await node.until(5)
        resize(node, requests={"cpu": "2"})
        await node.until(6)
        node.cluster.api.patch("Pod", "ns", "p", {"metadata": {"labels": {"a": "b"}}})
        await node.until(7)
        resize(node, "other", requests={"cpu": "1"})
        await node.until(10)
        assert [line.split(":")[0] for line in node.events("ResizeStarted")] == ["7 - ResizeStarted"]
        assert node.status("main").allocated_resources["cpu"] == "2"


async def test_who_waits_is_tried_again_every_three_minutes(autojump_clock: MockClock) -> None:
    async with a_node() as node:
        node.create(a_pod(sized(resources=requesting({"cpu": "1"})), node_selector={}))
        await node.until(5)
        resize(node, requests={"cpu": "5"})
        await node.until(20)
        node.cluster.node = evolve(NODE, milli_cpu=8000)
        node.cluster.kubelet.node = node.cluster.node
        await node.until(179)
        assert node.events("ResizeStarted") == []
        await node.until(181)
        assert [line.split(":")[0] for line in node.events("ResizeStarted")] == ["180 - ResizeStarted"]
        assert len(node.events("ResizeDeferred")) == 1


async def test_those_that_wait_go_by_priority(autojump_clock: MockClock) -> None:
    async with a_node() as node:
        node.create(a_pod(sized(resources=requesting({"cpu": "2"})), name="other"))
        node.create(a_pod(sized(resources=requesting({"cpu": "1"})), name="low"))
        node.create(a_pod(sized(resources=requesting({"cpu": "1"})), name="high", priority=7))
        await node.until(5)
        resize(node, "low", requests={"cpu": "2"})
        await node.until(6)
        resize(node, "high", requests={"cpu": "3"})
        await node.until(7)
        node.delete("other")
        await node.gone("other")
        await node.until(20)
        assert len(node.events("ResizeStarted", name="high")) == 1
        assert node.events("ResizeStarted", name="low") == []


async def test_the_end_of_a_pod_ends_its_wait(autojump_clock: MockClock) -> None:
    async with a_node() as node:
        node.create(a_pod(sized(resources=requesting({"cpu": "1"}))))
        await node.until(5)
        resize(node, requests={"cpu": "5"})
        await node.until(6)
        node.delete()
        await node.gone()
        await node.until(200)
        assert node.events("ResizeStarted") == []


# -- a kubelet that comes back, gates


async def test_what_was_granted_outlives_the_kubelet(autojump_clock: MockClock) -> None:
    wrap = Wrapping()
    async with a_node(wrap=wrap) as node:
        node.create(a_pod(sized(resources=requesting({"cpu": "3"})), name="other"))
        node.create(a_pod(sized(resources=requesting({"cpu": "1"}))))
        await node.until(15)
        resize(node, requests={"cpu": "2"})
        await node.until(16)
        await node.cluster.stop_kubelet()
        await node.cluster.start_kubelet()
        await node.until(20)
        assert node.pod().status.phase == "Running"
        assert node.condition(PENDING).reason == "Deferred"
        await node.cluster.stop_kubelet()
        node.cluster.api.delete("Pod", "ns", "other", grace_period_seconds=0)
        await node.cluster.start_kubelet()
        await node.until(30)
        assert wrap.calls == [(2048, None, None)]
        assert node.status("main").allocated_resources["cpu"] == "2"
        assert node.status("main").restart_count == 0


async def test_without_the_gate_nothing_is_resized(autojump_clock: MockClock) -> None:
    wrap = Wrapping()
    settings = KubeletSettings(features=FeatureGates({"InPlacePodVerticalScaling": False}))
    async with a_node(wrap=wrap, settings=settings) as node:
        node.create(a_pod(sized()))
        await node.until(5)
        resize(node, limits={"cpu": "200m"})
        await node.until(10)
        assert wrap.calls == []
        assert node.events("ResizeStarted", "ResizeCompleted") == []
