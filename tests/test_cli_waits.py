"""What a run is told to wait for: the sentences, who is told together, when, and how often."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
import trio
from attrs import evolve
from journal_makers import POD, accepted, at, container, end, entries, hook, running, start, startup_ok, status, waiting
from test_cli_programs import simulate
from test_cli_workloads import workload

from kubelet_emu.api.v1_status import PodCondition
from kubelet_emu.cli.wait_watch import WaitWatch
from kubelet_emu.cli.waits import Wait, told, waits_of
from kubelet_emu.journal.fold import Facts, facts_of
from kubelet_emu.journal.records import EventRecord, LogRecord, ManifestRecord, ObjectRef, Record

if TYPE_CHECKING:
    from pathlib import Path

    from trio.testing import MockClock

SIDECAR = container("proxy", restartPolicy="Always", startupProbe={}, lifecycle={"postStart": {}})
GATED = accepted(init=[container("init"), SIDECAR], containers=[container("main")])
PLAIN = accepted(containers=[container("main"), container("side")])
ENDED = (start(1, "init"), end(2, "init"))
PROXY = (*ENDED, start(3, "proxy"))
STARTED = (*PROXY, startup_ok(4, "proxy"), hook(4, "proxy", "PostStart", 1.0))
UNSCHEDULED = PodCondition(type="PodScheduled", status="False", reason="Unschedulable")


def with_condition(record: Record, condition: PodCondition = UNSCHEDULED) -> Record:
    return evolve(record, status=evolve(record.status, conditions=(condition,)))  # type: ignore[attr-defined,misc]


def pulls(reason: str, name: str) -> EventRecord:
    return EventRecord(at=at(1), ref=POD, type="Normal", reason=reason, message="", container=name)


PENDING = status(1, "Pending", waiting("main", "PodInitializing"))
RUNNING = status(9, "Running", running("main", ready=False))
READY = status(9, "Running", running("main"), ready=True)
WAITS: dict[str, tuple[tuple[Record, ...], str]] = {
    "nothing before its first status": ((GATED,), ""),
    "a node": ((GATED, with_condition(PENDING)), "for a node"),
    "the start of the first container": ((GATED, PENDING), "for init to start"),
    "an image": ((GATED, status(1, "Pending", waiting("init", "ErrImagePull"))), "for the image of init"),
    "a pull": ((GATED, PENDING, pulls("Pulling", "init")), "for init's image to be pulled"),
    "a pull that has failed": (
        (
            GATED,
            pulls("Pulling", "init"),
            pulls("Failed", "init"),
            status(1, "Pending", waiting("init", "ErrImagePull")),
        ),
        "for the image of init",
    ),
    "the start after a pull": (
        (GATED, PENDING, pulls("Pulling", "init"), pulls("Pulled", "init")),
        "for init to start",
    ),
    "a pull before the stop": (
        (
            PLAIN,
            PENDING,
            pulls("Pulling", "main"),
            status(2, "Pending", waiting("main", "ContainerCreating"), deleting=True),
        ),
        "for the pull of main's image before it stops, as on a node",
    ),
    "an object": (
        (GATED, status(1, "Pending", waiting("init", "CreateContainerConfigError", 'secret "s" not found'))),
        'for what init is made of (secret "s" not found)',
    ),
    "an init container": ((GATED, start(1, "init"), PENDING), "for init container init"),
    "another run of it": ((GATED, start(1, "init"), end(2, "init", 3), PENDING), "for init to run again after exit 3"),
    "a startup probe": ((GATED, *PROXY, PENDING), "for the startup probe of proxy"),
    "a hook": ((GATED, *PROXY, startup_ok(4, "proxy"), PENDING), "for postStart of proxy"),
    "a sidecar that has ended": ((GATED, *STARTED, end(5, "proxy"), PENDING), "for proxy to run again after exit 0"),
    "a main container": ((GATED, *STARTED, PENDING), "for main to start"),
    "readiness": ((GATED, *STARTED, start(5, "main"), RUNNING), "for main to be ready"),
    "another run of a main container": (
        (PLAIN, start(1, "main"), end(2, "main", 1), start(1, "side"), status(3, "Running", running("side"))),
        "for main to run again after exit 1",
    ),
    "nothing when one has done its work": (
        (PLAIN, start(1, "main"), end(2, "main"), start(1, "side"), status(3, "Running", running("side"))),
        "",
    ),
    "the end of a sidecar": (
        (GATED, *STARTED, start(5, "main"), end(6, "main"), status(7, "Running", running("proxy"))),
        "for sidecar proxy to end",
    ),
    "nothing that comes without a sandbox": (
        (
            accepted(init=[container("init")], containers=[container("main")], restartPolicy="Never"),
            *ENDED,
            with_condition(PENDING, PodCondition(type="PodReadyToStartContainers", status="False")),
        ),
        "",
    ),
    "nothing once it is ready": ((GATED, *STARTED, start(5, "main"), evolve(RUNNING, status=READY.status)), ""),
    "nothing once it has ended": ((GATED, status(9, "Succeeded")), ""),
}


@pytest.mark.parametrize(("records", "expected"), WAITS.values(), ids=WAITS.keys())
def test_a_pod_waits_for(records: tuple[Record, ...], expected: str) -> None:
    assert waits_of(facts_of(entries(records))) == ((Wait("web", expected),) if expected else ())


def test_a_pod_that_is_being_deleted_waits_for_nothing() -> None:
    deleted = evolve(PENDING, deleting=True)
    assert waits_of(facts_of(entries([GATED, deleted]))) == ()


TOLD = [
    (["a"], "a for x"),
    (["a", "b"], "a and b for x"),
    (["a", "b", "c"], "a, b and c for x"),
    (["a", "b", "c", "d"], "a, b and 2 more for x"),
]


@pytest.mark.parametrize(("names", "line"), TOLD)
def test_those_that_wait_for_the_same_are_told_together(names: list[str], line: str) -> None:
    assert told([*(Wait(name, "for x") for name in names), Wait("z", "for y")]) == f"{line}; z for y"
    assert told([]) == ""


def test_a_stateful_set_waits_for_the_ordinal_before(tmp_path: Path) -> None:
    manifest = workload("StatefulSet", spec="replicas: 3, ", pod="").replace(
        "{name: c, ", '{name: c, readinessProbe: {initialDelaySeconds: 20, exec: {command: ["true"]}}, '
    )
    seen = simulate(tmp_path, manifest, "", "--until", "15")
    assert "waiting: w-0 for c to be ready; statefulset/w for w-0 before it makes 2 more" in seen.err


def test_all_at_once_nothing_is_held_back(tmp_path: Path) -> None:
    manifest = workload("StatefulSet", spec="replicas: 2, podManagementPolicy: Parallel, ").replace(
        "{name: c, ", '{name: c, readinessProbe: {initialDelaySeconds: 20, exec: {command: ["true"]}}, '
    )
    seen = simulate(tmp_path, manifest, "", "--until", "15")
    assert "waiting: w-0 and w-1 for c to be ready" in seen.err
    assert "statefulset/w for" not in seen.err


def test_a_deployment_makes_its_pods_at_once(tmp_path: Path) -> None:
    seen = simulate(tmp_path, workload("Deployment"), "", "--until", "15")
    assert "waiting:" not in seen.err


async def test_what_has_settled_is_told_and_then_more_rarely(autojump_clock: MockClock) -> None:
    facts, lines = Facts(), []
    watch = WaitWatch(facts, lambda text: lines.append((trio.current_time(), text)))

    def feed(*records: Record) -> None:
        for entry in entries(records):
            facts.feed(entry)
            watch(entry)

    async with trio.open_nursery() as nursery:
        nursery.start_soon(watch.run)
        feed(GATED, PENDING)
        await trio.sleep(1)
        feed(start(1, "init"))
        await trio.sleep(99)
        feed(*ENDED, start(3, "proxy"))
        await trio.sleep(20)
        nursery.cancel_scope.cancel()
    init, proxy = "web for init container init", "web for the startup probe of proxy"
    assert lines == [(4, init), (36, init), (104, proxy)]


async def test_what_a_container_writes_is_no_reason_to_look(autojump_clock: MockClock) -> None:
    lines: list[str] = []
    watch = WaitWatch(facts_of(entries([GATED, PENDING])), lines.append)
    (written,) = entries([LogRecord(at=at(1), ref=POD, container="main", run=1, stream="stdout", line="x")])
    (changed,) = entries([PENDING])
    async with trio.open_nursery() as nursery:
        nursery.start_soon(watch.run)
        watch(written)
        await trio.sleep(50)
        assert lines == []
        watch(changed)
        await trio.sleep(50)
        nursery.cancel_scope.cancel()
    assert lines[0] == "web for init to start"


def test_a_workload_that_is_no_stateful_set_holds_nothing_back() -> None:
    ref = ObjectRef(kind="ReplicaSet", namespace="default", name="web", uid="rs")
    record = ManifestRecord(at=at(0), ref=ref, manifest={"spec": {"replicas": 3}})
    assert waits_of(facts_of(entries([record]))) == ()
