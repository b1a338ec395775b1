"""The scheduler of one node: which pods wait, what they are told, and when they are looked at again."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from attrs import evolve
from kubelet_rig import NODE, a_node, a_pod, container, lives

from kubelet_emu.api.meta import OwnerReference
from kubelet_emu.api.v1 import ContainerPort, Pod, ResourceRequirements
from kubelet_emu.rules.admission import NodeFacts
from kubelet_emu.rules.node_usage import usage_of
from kubelet_emu.rules.scheduling import why_unschedulable

if TYPE_CHECKING:
    from kubelet_rig import Rig
    from trio.testing import MockClock

OWNED = {"owner_references": (OwnerReference(kind="ReplicaSet", name="r", uid="r", controller=True),)}
HELD = {"owner_references": (OwnerReference(kind="Custom", name="r", uid="r"),)}


def on_port(name: str = "p", port: int = 80, metadata: dict[str, object] | None = None, **spec: object) -> Pod:
    ports = (ContainerPort(container_port=80, host_port=port),)
    return a_pod(container("main", ports=ports), name=name, metadata=OWNED if metadata is None else metadata, **spec)


def asks(metadata: dict[str, object] | None = None, **requests: str) -> Pod:
    resources = ResourceRequirements(requests=requests)
    return a_pod(container("main", resources=resources), metadata=OWNED if metadata is None else metadata)


def message(reasons: str, preemption: str = "No preemption victims found for incoming pod.") -> str:
    return (
        f"0/1 nodes are available: {reasons}. no new claims to deallocate, "
        f"preemption: 0/1 nodes are available: 1 {preemption}"
    )


NEVER = "Preemption is not helpful for scheduling."
FACTS = NodeFacts(name="node1", allocatable={"cpu": "4", "memory": "8Gi", "pods": "2"})
TAKEN = usage_of([on_port("other"), asks(cpu="3")])
NO_PORTS = message("1 node(s) didn't have free ports for the requested pod ports")
WAITS = [
    ("a pod that fits", on_port(port=81), usage_of([on_port("other")]), ""),
    ("a host port that is taken", on_port(), usage_of([on_port("other")]), NO_PORTS),
    ("a pod of nobody goes to the kubelet", on_port(metadata={}), TAKEN, ""),
    ("so does one that its owner doesn't replace", on_port(metadata=HELD), TAKEN, ""),
    ("and a critical one", on_port(priority=2_000_000_000), TAKEN, ""),
    ("too little is left", asks(cpu="2"), usage_of([asks(cpu="3")]), message("1 Insufficient cpu")),
    ("there is too little in all", asks(cpu="5"), usage_of([]), message("1 Insufficient cpu", NEVER)),
    (
        "of several in the order of their names",
        asks(memory="9Gi", cpu="5"),
        TAKEN,
        message("1 Insufficient cpu, 1 Insufficient memory, 1 Too many pods", NEVER),
    ),
    ("ports come before resources", on_port(), TAKEN, NO_PORTS),
    (
        "labels before both, and for everybody",
        on_port(node_selector={"disk": "ssd"}, metadata={}),
        TAKEN,
        message("1 node(s) didn't match Pod's node affinity/selector", NEVER),
    ),
]


@pytest.mark.parametrize(("why", "pod", "usage", "expected"), WAITS, ids=[row[0] for row in WAITS])
def test_who_has_to_wait(why: str, pod: Pod, usage: object, expected: str) -> None:
    assert why_unschedulable(pod, FACTS, usage) == expected  # type: ignore[arg-type]


def told(node: Rig, name: str) -> list[str]:
    return [
        line.partition(" - ")[2].partition(":")[0] for line in node.events("FailedScheduling", "Scheduled", name=name)
    ]


async def test_a_pod_waits_until_the_port_is_free(autojump_clock: MockClock) -> None:
    async with a_node() as node:
        for name in ("a", "b", "c"):
            node.create(on_port(name))
        await node.until(5)
        assert [node.pod(name).status.phase for name in ("a", "b", "c")] == ["Running", "Pending", "Pending"]
        assert node.condition("PodScheduled", "b").message == NO_PORTS
        node.delete("a", grace=1)
        await node.gone("a")
        await node.phase("Running", name="b")
        assert node.condition("PodScheduled", "b").status == "True"
        assert (told(node, "b"), told(node, "c")) == (["FailedScheduling", "Scheduled"], ["FailedScheduling"])
        node.delete("c")
        assert node.find("c") is None
        node.delete("b", grace=1)
        await node.gone("b")


async def test_a_pod_that_has_ended_makes_room(autojump_clock: MockClock) -> None:
    async with a_node({"main": (lives(2),)}, node=evolve(NODE, max_pods=1)) as node:
        for name in ("a", "b"):
            node.create(evolve(a_pod(name=name, restart_policy="Never"), metadata=on_port(name).metadata))
        await node.phase("Succeeded", name="b")
        assert told(node, "b") == ["FailedScheduling", "Scheduled"]


async def test_a_label_of_the_node_makes_pods_fit(autojump_clock: MockClock) -> None:
    async with a_node() as node:
        node.create(a_pod(node_selector={"disk": "ssd"}))
        await node.until(2)
        node.cluster.label_node({"disk": "hdd"})
        await node.until(3)
        assert node.condition("PodScheduled").status == "False"
        node.cluster.label_node({"disk": "ssd"})
        await node.phase("Running")
        assert told(node, "p") == ["FailedScheduling", "Scheduled"]
