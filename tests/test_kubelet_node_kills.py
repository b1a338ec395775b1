"""What a node ends by itself: for a critical pod that needs room, over storage, at its shutdown; what it waits for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from attrs import evolve
from kubelet_rig import NODE, a_node, a_pod, container, hooks, lives, sleeps, stops
from pod_makers import requesting

from kubelet_emu.config.kubelet_configuration import KubeletConfiguration
from kubelet_emu.journal.records import EventRecord, StopRecord
from kubelet_emu.kubelet.settings import KubeletSettings

if TYPE_CHECKING:
    from kubelet_rig import Rig
    from trio.testing import MockClock

    from kubelet_emu.api.v1 import Container

CRITICAL = "system-node-critical"
PREEMPTED = "Preempted in order to admit critical pod"


def asking(cpu: str, name: str = "main", **spec: object) -> Container:
    return container(name, resources=requesting({"cpu": cpu}), **spec)


# -- preemption


async def test_others_make_room_for_a_critical_pod(autojump_clock: MockClock) -> None:
    async with a_node({"small/main": (stops(3, 7),)}) as node:
        node.create(a_pod(asking("1"), name="small"))
        node.create(a_pod(asking("2"), name="large"))
        await node.until(5)
        node.create(a_pod(asking("2"), priority_class_name=CRITICAL))
        await node.phase("Running")
        assert node.starts("main") == [8]
        status = node.pod("small").status
        assert (status.phase, status.reason, status.message) == ("Failed", "Preempting", PREEMPTED)
        disruption = node.condition("DisruptionTarget", "small")
        assert (disruption.status, disruption.reason) == ("True", "TerminationByKubelet")
        assert disruption.message == "Pod was preempted by Kubelet to accommodate a critical pod."
        assert node.events("Preempting", name="small") == [f"5 - Preempting: {PREEMPTED}"]
        assert node.pod("large").status.phase == "Running"


async def test_a_preempted_pod_that_exits_with_0_succeeded(autojump_clock: MockClock) -> None:
    async with a_node(node=evolve(NODE, max_pods=1)) as node:
        node.create(a_pod(name="first"))
        await node.until(5)
        node.create(a_pod(priority_class_name=CRITICAL))
        await node.phase("Running")
        status = node.pod("first").status
        assert (status.phase, status.reason, status.message) == ("Succeeded", None, None)


async def test_pods_are_preempted_one_after_another_and_nothing_else_is_admitted(autojump_clock: MockClock) -> None:
    async with a_node({"one/main": (stops(4),), "two/main": (stops(2),)}) as node:
        node.create(a_pod(asking("2"), name="one"))
        node.create(a_pod(asking("2"), name="two"))
        await node.until(5)
        node.create(a_pod(asking("4"), priority_class_name=CRITICAL))
        node.create(a_pod(asking("1"), name="late"))
        await node.until(20)
        assert node.signals("one") == ["5 main SIGTERM"]
        assert node.signals("two") == ["9 main SIGTERM"]
        assert node.starts("main") == [11]
        assert node.pod("late").status.reason == "OutOfcpu"


async def test_a_critical_pod_that_nobody_can_make_room_for_is_refused(autojump_clock: MockClock) -> None:
    async with a_node() as node:
        node.create(a_pod(asking("2"), name="equal", priority_class_name=CRITICAL))
        await node.until(5)
        node.create(a_pod(asking("3"), priority_class_name=CRITICAL))
        await node.until(10)
        status = node.pod().status
        assert (status.phase, status.reason) == ("Failed", "UnexpectedAdmissionError")
        assert status.message == (
            "Pod was rejected: Unexpected error while attempting to recover from admission failure: preemption: "
            "error finding a set of pods to preempt: no set of running pods found to reclaim resources: "
            "[(res: cpu, q: 1000), ]"
        )
        assert node.pod("equal").status.phase == "Running"


STATIC = """
apiVersion: v1
kind: Pod
metadata: {name: web, namespace: ns, uid: mine}
spec:
  containers:
  - {name: main, image: "app:VERSION", resources: {requests: {cpu: "4"}}}
"""


async def test_a_static_pod_is_critical(autojump_clock: MockClock) -> None:
    async with a_node() as node:
        node.create(a_pod(asking("1")))
        await node.until(5)
        node.cluster.static_folder.write("web.yaml", STATIC.replace("VERSION", "1"))
        await node.until(10)
        assert node.pod("web-node1").status.phase == "Running"
        assert node.signals() == ["5 main SIGTERM"]


async def test_who_was_preempted_leaves_no_containers(autojump_clock: MockClock) -> None:
    async with a_node({"first/main": (stops(code=3),)}, node=evolve(NODE, max_pods=1)) as node:
        node.create(a_pod(name="first"))
        await node.until(5)
        uid = node.pod("first").metadata.uid or ""
        node.create(a_pod(priority_class_name=CRITICAL))
        await node.until(10)
        assert await node.runtime.list_containers(uid) == ()
        assert node.pod("first").status.container_statuses[0].state.terminated is not None


# -- an end that takes too long


async def test_a_preemption_that_takes_too_long_is_told_and_waits_no_more(autojump_clock: MockClock) -> None:
    slow = container("main", lifecycle=hooks(post_start=sleeps(60)))
    async with a_node(node=evolve(NODE, max_pods=1)) as node:
        node.create(a_pod(slow, name="first", termination_grace_period_seconds=15))
        await node.until(5)
        node.create(a_pod(priority_class_name=CRITICAL))
        await node.phase("Running")
        assert node.starts("main") == [27]
        assert node.events("ExceededGracePeriod", name="first") == [
            "27 - ExceededGracePeriod: Container runtime did not kill the pod within specified grace period."
        ]
        assert node.pod("first").status.phase == "Pending"
        await node.phase("Succeeded", name="first")
        assert node.seconds == 60


# -- node shutdown


def shutting_down(**configuration: object) -> KubeletSettings:
    return KubeletSettings(configuration=KubeletConfiguration(**configuration))  # type: ignore[arg-type]


def told(node: Rig) -> list[str]:
    return [f"{r.ref.kind} {r.reason}: {r.message}" for r in node.of(EventRecord, "node1")]


async def test_a_shutdown_and_its_end_are_events_of_the_node(autojump_clock: MockClock) -> None:
    async with a_node(settings=shutting_down(shutdown_grace_period_seconds=10.0)) as node:
        node.cluster.kubelet.shutdown.cancel()
        assert told(node) == []
        node.cluster.kubelet.shutdown.begin()
        assert told(node) == ["Node Shutdown: Shutdown manager detected shutdown event"]
        node.cluster.kubelet.shutdown.cancel()
        assert told(node)[1:] == ["Node Shutdown: Shutdown manager detected shutdown cancellation"]


async def test_a_node_without_a_shutdown_grace_tells_nothing(autojump_clock: MockClock) -> None:
    async with a_node() as node:
        node.cluster.kubelet.shutdown.begin()
        assert told(node) == []


async def test_a_pod_that_outlasts_its_share_of_a_shutdown_is_told(autojump_clock: MockClock) -> None:
    slow = container("main", lifecycle=hooks(post_start=sleeps(60)))
    async with a_node(settings=shutting_down(shutdown_grace_period_seconds=4.0)) as node:
        node.create(a_pod(slow))
        await node.until(5)
        node.cluster.kubelet.shutdown.begin()
        await node.until(20)
        assert [line.split(":")[0] for line in node.events("ExceededGracePeriod")] == ["15 - ExceededGracePeriod"]


# -- static pods that give their uid


async def test_a_static_pod_with_a_uid_of_its_own_is_changed_where_it_runs(autojump_clock: MockClock) -> None:
    async with a_node() as node:
        node.cluster.static_folder.write("web.yaml", STATIC.replace("VERSION", "1"))
        await node.until(5)
        node.cluster.static_folder.write("web.yaml", STATIC.replace("VERSION", "2"))
        await node.until(10)
        assert node.runs("web-node1") == ["0 main#1 start", "5 main#1 exit 0", "5 main#2 start"]
        assert [line.split(" ", 1)[1] for line in node.events("Killing", name="web-node1")] == [
            "main Killing: Container main definition changed, will be restarted"
        ]
        status = node.status("main", "web-node1")
        assert (status.image, status.restart_count) == ("docker.io/library/app:2", 1)


async def test_of_two_static_pods_of_one_name_the_second_is_ignored(autojump_clock: MockClock) -> None:
    first = STATIC.replace("VERSION", "1").replace("uid: mine", "uid: first")
    second = first.replace("uid: first", "uid: second").replace('cpu: "4"', 'cpu: "1"')
    async with a_node() as node:
        node.cluster.static_folder.write("a.yaml", first)
        node.cluster.static_folder.write("b.yaml", second)
        await node.until(10)
        assert node.pod("web-node1").metadata.uid == "first"
        (told,) = node.events("FailedValidation", name="web-node1")
        assert told == (
            "0 - FailedValidation: Error validating pod web-node1_ns(second) from file "
            'due to duplicate pod name "web-node1", ignoring'
        )
        node.cluster.static_folder.remove("a.yaml")
        await node.until(40)
        assert node.pod("web-node1").metadata.uid == "second"
        assert len(node.starts("main", name="web-node1")) == 2


async def test_a_static_pod_that_waits_for_its_name_starts_as_its_file_is_then(autojump_clock: MockClock) -> None:
    async with a_node({"main": (stops(8),)}) as node:
        folder = node.cluster.static_folder
        folder.write("web.yaml", STATIC.replace("mine", "first").replace("VERSION", "1"))
        await node.until(5)
        folder.write("web.yaml", STATIC.replace("VERSION", "2"))
        await node.until(6)
        folder.write("web.yaml", STATIC.replace("VERSION", "3"))
        await node.until(60)
        assert node.status("main", "web-node1").image == "docker.io/library/app:3"


# -- a kubelet that comes back


async def test_a_pod_that_was_over_before_is_neither_stopped_nor_counted(autojump_clock: MockClock) -> None:
    async with a_node({"first/main": (lives(1),)}, node=evolve(NODE, max_pods=1)) as node:
        node.create(a_pod(name="first", restart_policy="Never"))
        await node.phase("Succeeded", name="first")
        await node.until(5)
        stops_before = node.of(StopRecord, "first")
        node.create(a_pod())
        await node.until(10)
        await node.cluster.stop_kubelet()
        await node.cluster.start_kubelet()
        await node.until(15)
        assert node.pod().status.phase == "Running"
        assert node.of(StopRecord, "first") == stops_before
