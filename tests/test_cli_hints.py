"""Hints for pods that wait for what won't come: what is said, when, and how often."""

from __future__ import annotations

from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import pytest
import trio
from attrs import define, evolve, field
from journal_makers import POD, accepted, at, container, end, entries, running, start, startup_ok, status, waiting

from kubelet_emu.api.v1_status import PodCondition
from kubelet_emu.cli.hint_watch import HintWatch
from kubelet_emu.journal.fold import Facts
from kubelet_emu.journal.records import EventRecord, LogRecord, ManifestRecord, ObjectRef, Record, StatusRecord

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterable

    from trio.testing import MockClock

    from kubelet_emu.api.v1_status import ContainerStatus

OBJECT_FIX = "run it together with the manifest that has the ConfigMap or Secret, or set optional: true"
LABEL_FIX = "--node-label KEY=VALUE gives the node a label"
LOGIN_FIX = "docker login to the registry, or name a pull secret and run its Secret together with the manifest"
LOAD_FIX = "load it into the engine, or set imagePullPolicy: IfNotPresent"
PULL_FIX = "--pull missing takes what the engine has, --registry-mirror HOST=HOST2 pulls from elsewhere"
CREATED = accepted(containers=[container("main", startupProbe={}), container("side")])
NEVER = accepted(containers=[container("main", startupProbe={}), container("side")], restartPolicy="Never")
JOB = ManifestRecord(
    at=at(0), ref=ObjectRef(namespace="default", name="job", uid="job-1", kind="Job"), manifest={"kind": "Job"}
)
OWNED = evolve(
    CREATED,
    manifest={**CREATED.manifest, "metadata": {"ownerReferences": [{"uid": "job-1", "controller": True}]}},
)


def event(reason: str, message: str, name: str | None = None) -> EventRecord:
    return EventRecord(at=at(1), ref=POD, type="Warning", reason=reason, message=message, container=name)


def pending(*containers: ContainerStatus) -> StatusRecord:
    return status(1, "Pending", *containers)


def lost(seconds: float) -> StatusRecord:
    record = status(seconds, "Pending")
    condition = PodCondition(type="PodReadyToStartContainers", status="False")
    return evolve(record, status=evolve(record.status, conditions=(condition,)))


def unscheduled(message: str) -> StatusRecord:
    record = pending()
    condition = PodCondition(type="PodScheduled", status="False", reason="Unschedulable", message=message)
    return evolve(record, status=evolve(record.status, conditions=(condition,)))


BACK_OFF = event("BackOff", "Back-off restarting failed container main in pod web", "main")
NO_PORTS = "1 node(s) didn't have free ports for the requested pod ports."
TAKEN_FIX = "stop what has the port, or name another hostPort"
PORT_FIX = "a host port is for one pod of a node: take it out, or run one pod"
SIZE_FIX = "ask for less, or say that the node has more: --node-capacity cpu=N,memory=N"
HINTS: dict[str, tuple[tuple[Record, ...], list[str]]] = {
    "nothing for a pod that runs": ((start(1, "side"), status(1, "Running", running("side"), ready=True)), []),
    "nothing for one that is being made": ((pending(waiting("main", "ContainerCreating")),), []),
    "a node that doesn't fit": (
        (unscheduled("0/1 nodes are available."),),
        [f"web is not scheduled: {LABEL_FIX}; the scheduler says: 0/1 nodes are available."],
    ),
    "a host port that another pod has": (
        (unscheduled(NO_PORTS),),
        [f"web is not scheduled: {PORT_FIX}; the scheduler says: {NO_PORTS}"],
    ),
    "a node that is too small": (
        (unscheduled("1 Insufficient memory."),),
        [f"web is not scheduled: {SIZE_FIX}; the scheduler says: 1 Insufficient memory."],
    ),
    "a sandbox that was lost for good": (
        (NEVER, start(1, "main"), lost(1), end(3, "main")),
        [
            (
                "web has lost its sandbox, and with restartPolicy Never it gets no other: it neither goes on nor ends: "
                "delete it, or let restartPolicy OnFailure begin it anew"
            )
        ],
    ),
    "one that is lost while something runs": (
        (NEVER, start(1, "main"), startup_ok(1, "main"), start(1, "side"), end(2, "side"), lost(2)),
        [],
    ),
    "one that another follows": ((start(1, "side"), lost(2), end(2, "side")), []),
    "one that was never there": ((NEVER, lost(2)), []),
    "no sandbox": (
        (event("FailedCreatePodSandBox", "no"), pending(waiting("main", "ContainerCreating"))),
        ["web has no sandbox: no"],
    ),
    "no sandbox for a host port": (
        (event("FailedCreatePodSandBox", "host port 1: x has it"), pending(waiting("main", "ContainerCreating"))),
        [f"web has no sandbox: {TAKEN_FIX}; the kubelet says: host port 1: x has it"],
    ),
    "a volume of an object that isn't there": (
        (event("FailedMount", 'secret "s" not found'), pending(waiting("main", "ContainerCreating"))),
        [f'web waits for its volumes: {OBJECT_FIX}; the kubelet says: secret "s" not found'],
    ),
    "a volume that nothing mounts": (
        (event("FailedMount", "no volume plugin matched"), pending()),
        ["web waits for its volumes: no volume plugin matched"],
    ),
    "a volume that was late": ((event("FailedMount", 'secret "s" not found'), start(2, "side"), pending()), []),
    "an object of the environment that isn't there": (
        (pending(waiting("main", "CreateContainerConfigError", 'configmap "c" not found')),),
        [f'web/main can\'t be made: {OBJECT_FIX}; the kubelet says: configmap "c" not found'],
    ),
    "a configuration that can't be": (
        (pending(waiting("main", "CreateContainerConfigError", "container has runAsNonRoot and image is root")),),
        ["web/main can't be made: container has runAsNonRoot and image is root"],
    ),
    "a container that can't be started": (
        (pending(waiting("main", "RunContainerError", "exec: no such file")),),
        ["web/main can't be started: exec: no such file"],
    ),
    "an image that can't be pulled": (
        (pending(waiting("main", "ImagePullBackOff", "Back-off pulling")),),
        [f"web/main has no image: {PULL_FIX}; the kubelet says: Back-off pulling"],
    ),
    "an image that wants a password": (
        (pending(waiting("main", "ErrImagePull", "authorization failed: no basic auth credentials")),),
        [f"web/main has no image: {LOGIN_FIX}; the kubelet says: authorization failed: no basic auth credentials"],
    ),
    "an image's name that is none": (
        (pending(waiting("main", "InvalidImageName", "no name")),),
        ["web/main has no image: mend the name in the manifest; the kubelet says: no name"],
    ),
    "an image that may not be pulled": (
        (pending(waiting("main", "ErrImageNeverPull")),),
        [f"web/main has no image: {LOAD_FIX}; the kubelet says: ErrImageNeverPull"],
    ),
    "a startup probe that fails": (
        (start(1, "main"), event("Unhealthy", "Startup probe failed: \n", "main"), status(1, "Running")),
        ["web/main has not passed its startup probe yet: Startup probe failed:"],
    ),
    "a startup probe that says nothing": (
        (start(1, "main"),),
        ["web/main has not passed its startup probe yet"],
    ),
    "a startup probe that succeeds later": ((start(1, "main"), startup_ok(5, "main")), []),
    "a container that ends well again and again": (
        (start(1, "main"), end(2, "main"), BACK_OFF),
        ["web/main ends with 0 and is started again and again: restartPolicy Never or OnFailure would let the pod end"],
    ),
    "a container that crashes": (
        (start(1, "main"), end(2, "main", 3), BACK_OFF),
        ["web/main exits with 3 again and again, and waits longer each time: its log may say why"],
    ),
    "a back-off that is over": ((start(1, "side"), end(2, "side", 3), BACK_OFF, start(3, "side", run=2)), []),
    "two helpers that are no sidecars": (
        (JOB, OWNED, start(1, "side"), start(1, "main"), startup_ok(1, "main"), end(2, "main")),
        [
            (
                "web: main has ended, side still runs: a Job waits for all; "
                "a helper belongs into initContainers, with restartPolicy: Always"
            )
        ],
    ),
    "the same in a pod of nobody": ((start(1, "side"), start(1, "main"), startup_ok(1, "main"), end(2, "main")), []),
    "a Job's work that failed": (
        (JOB, OWNED, start(1, "side"), start(1, "main"), startup_ok(1, "main"), end(2, "main", 1)),
        [],
    ),
    "a pod that is being stopped": (
        (start(1, "main"), status(2, "Running", deleting=True)),
        [],
    ),
    "a pod that has failed": ((pending(waiting("main", "ErrImagePull", "x")), status(2, "Failed")), []),
    "records that tell nothing of it": (
        (LogRecord(at=at(1), ref=POD, container="main", run=1, line="hello"), event("Odd", "of nobody")),
        ["web/main has not passed its startup probe yet"],
    ),
}


@define(eq=False)
class Bench:
    """A watch over facts; `told` is what was said, each with the second of it."""

    told: list[str] = field(factory=list)
    facts: Facts = field(factory=Facts)
    watch: HintWatch = field(init=False)

    def __attrs_post_init__(self) -> None:
        """Put the watch over the facts."""
        self.watch = HintWatch(self.facts, lambda text: self.told.append(f"{trio.current_time():g} {text}"))

    def feed(self, records: Iterable[Record]) -> None:
        for entry in entries(records):
            self.facts.feed(entry)
            self.watch(entry)


@asynccontextmanager
async def a_bench() -> AsyncIterator[Bench]:
    """Give a watch that runs."""
    bench = Bench()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(bench.watch.run)
        yield bench
        nursery.cancel_scope.cancel()


@pytest.mark.parametrize(("records", "expected"), HINTS.values(), ids=HINTS.keys())
async def test_what_is_said(records: tuple[Record, ...], expected: list[str], autojump_clock: MockClock) -> None:
    async with a_bench() as bench:
        bench.feed((CREATED, *records))
        await trio.sleep(20)
        assert bench.told == [f"10 {text}" for text in expected]


async def test_it_is_said_more_and_more_rarely(autojump_clock: MockClock) -> None:
    async with a_bench() as bench:
        bench.feed((CREATED, start(1, "main")))
        await trio.sleep(10_000)
        assert [line.split()[0] for line in bench.told] == ["10", "60", "360", "2160"]


async def test_a_state_that_ends_within_ten_seconds_is_nobodys_business(autojump_clock: MockClock) -> None:
    async with a_bench() as bench:
        bench.feed((CREATED, pending(waiting("main", "ErrImagePull", "x"))))
        await trio.sleep(9)
        bench.feed((start(9, "side"), status(9, "Running", running("main"))))
        await trio.sleep(100)
        assert bench.told == []


async def test_a_state_that_comes_back_is_not_told_sooner(autojump_clock: MockClock) -> None:
    async with a_bench() as bench:
        for seconds in (0, 25, 50, 75):
            await trio.sleep_until(seconds)
            bench.feed((CREATED, pending(waiting("main", "ErrImagePull", "x"))))
            await trio.sleep(20)
            bench.feed((status(seconds, "Running", running("main")),))
        assert [line.split()[0] for line in bench.told] == ["10", "60"]


async def test_what_is_said_is_the_latest(autojump_clock: MockClock) -> None:
    async with a_bench() as bench:
        bench.feed((CREATED, pending(waiting("main", "ErrImagePull", "first"))))
        await trio.sleep(5)
        bench.feed((pending(waiting("main", "ImagePullBackOff", "second")),))
        await trio.sleep(10)
        assert bench.told == [f"10 web/main has no image: {PULL_FIX}; the kubelet says: second"]
