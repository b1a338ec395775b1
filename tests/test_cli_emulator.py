"""The session's emulator over a cluster, in virtual time on simulated containers."""

from __future__ import annotations

import signal
from contextlib import asynccontextmanager
from functools import partial
from typing import TYPE_CHECKING

import pytest
import structlog
import trio
from attrs import define, evolve, field

from kubelet_emu.api.batch_v1 import Job
from kubelet_emu.api.meta import ObjectMeta
from kubelet_emu.api.v1 import ConfigMap
from kubelet_emu.cli.emulator import ClusterEmulator, make_node
from kubelet_emu.cli.exit_status import Why
from kubelet_emu.cli.inputs import Inputs
from kubelet_emu.cli.options import NodeCapacity, RunOptions
from kubelet_emu.cli.session import Session
from kubelet_emu.cli.triggers import Trigger
from kubelet_emu.cluster.cluster import Cluster
from kubelet_emu.config.features import FeatureGates
from kubelet_emu.config.kubelet_configuration import KubeletConfiguration
from kubelet_emu.journal.journal import Journal
from kubelet_emu.journal.records import DeletedRecord, LogRecord, NoteRecord, Record, RunRecord
from kubelet_emu.kubelet.node import Node
from kubelet_emu.kubelet.settings import KubeletSettings
from kubelet_emu.kubelet.timebase import Lane, Timebase
from kubelet_emu.manifests import load_text
from kubelet_emu.manifests.validation.objects import prepare
from runtime.api import CRIError, RuntimeStatus
from runtime.simulated import SimulatedRuntime

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from trio.testing import MockClock

    from kubelet_emu.journal.encode import Entry

JOB = """\
apiVersion: batch/v1
kind: Job
metadata: {name: migrate}
spec:
  template:
    spec:
      restartPolicy: Never
      initContainers:
      - {name: sidecar, image: "busybox:1", restartPolicy: Always, command: [sh, -c, "SIDECAR"]}
      containers:
      - {name: main, image: "busybox:1", command: [sh, -c, "MAIN"]}
"""
POLITE = "trap 'exit 0' TERM; while true; do sleep 1; done"
STUBBORN = "trap '' TERM; while true; do sleep 1; done"


def a_job(main: str, sidecar: str = POLITE) -> Job:
    text = JOB.replace("SIDECAR", sidecar).replace("MAIN", main)
    job = prepare(load_text(text).objects[0].object, FeatureGates(), job_uid="job-1")
    assert isinstance(job, Job)
    return evolve(job, metadata=evolve(job.metadata, namespace="default"))


@define(eq=False)
class Bench:
    """A session over a simulated cluster; `seen` is what was recorded."""

    job: Job
    session: Session = field(init=False)
    journal: Journal = field(init=False)
    seen: list[Record] = field(factory=list)

    def take(self, entry: Entry) -> None:
        self.seen.append(entry.record)
        self.session(entry)

    async def run(self, **options: object) -> Why:
        timebase = Timebase(epoch=Timebase.real().epoch, is_virtual=True)
        self.journal = Journal(now=timebase.now, sinks=(self.take,))
        self.session = Session(emit=self.journal.emit, abandon=pytest.fail, **options)  # type: ignore[arg-type]
        return await self.session.run(lambda: self.open(timebase))

    @asynccontextmanager
    async def open(self, timebase: Timebase) -> AsyncIterator[ClusterEmulator]:
        async with SimulatedRuntime(timebase.now, turn=partial(timebase.turn, Lane.PROGRAM)) as runtime:
            cluster = Cluster(
                runtime=runtime,
                timebase=timebase,
                node=Node(name="node1", milli_cpu=4000, memory_bytes=1 << 33),
                settings=KubeletSettings(keep_removed=self.session.keep),
                seed=1,
                emit=self.journal.emit,
                log=structlog.get_logger(),
            )
            stored = ConfigMap(metadata=ObjectMeta(name="settings", namespace="default"))
            yield ClusterEmulator(cluster=cluster, inputs=Inputs(stored=(stored,), runnables=(self.job,)))
            assert bool(await runtime.list_containers()) is self.session.keep
            assert bool(await runtime.list_pod_sandboxes()) is self.session.keep

    def runs(self) -> list[tuple[str, str, int | None]]:
        return [(r.container, r.what, r.code) for r in self.seen if isinstance(r, RunRecord)]


async def test_a_job_runs_to_its_end_and_leaves_nothing(autojump_clock: MockClock) -> None:
    bench = Bench(a_job("echo working; sleep 3; echo done"))
    assert await bench.run() is Why.FINISHED
    assert bench.runs() == [
        ("sidecar", "start", None),
        ("main", "start", None),
        ("main", "exit", 0),
        ("sidecar", "exit", 0),
    ]
    assert [r.line for r in bench.seen if isinstance(r, LogRecord)] == ["working", "done"]
    assert [job.has("Complete") for job in bench.session.facts.jobs.values()] == [True]
    assert {r.ref.kind for r in bench.seen if isinstance(r, DeletedRecord)} >= {"Pod", "Job"}


async def test_a_stop_of_a_job_makes_no_new_pod(autojump_clock: MockClock) -> None:
    bench = Bench(a_job(POLITE))
    assert await bench.run(delete_when=Trigger.parse("ready+5")) is Why.MOMENT
    assert len(bench.session.facts.pods) == 1
    assert [code for _, what, code in bench.runs() if what == "exit"] == [0, 0]


async def test_force_ends_a_stop_that_has_begun(autojump_clock: MockClock) -> None:
    bench = Bench(a_job(STUBBORN, STUBBORN))
    async with trio.open_nursery() as nursery:
        nursery.start_soon(interrupt_twice)
        assert await bench.run(keep=True) is Why.FORCED
    assert trio.current_time() < 20
    assert sorted(bench.runs()[-2:]) == [("main", "exit", 137), ("sidecar", "exit", 137)]


async def interrupt_twice() -> None:
    """Send two signals to this process."""
    for seconds in (10, 1):
        await trio.sleep(seconds)
        signal.raise_signal(signal.SIGINT)


class Refusing:
    """A runtime that can't stop anything."""

    def __init__(self, *, lists: bool) -> None:
        """Say whether it can at least list."""
        self.lists = lists

    async def list_containers(self) -> tuple[object, ...]:
        if not self.lists:
            raise CRIError("no list")
        return ()


async def test_an_engine_that_refuses_is_told_not_raised(autojump_clock: MockClock) -> None:
    seen: list[Record] = []
    timebase = Timebase(epoch=Timebase.real().epoch)
    cluster = Cluster(
        runtime=Refusing(lists=False),  # type: ignore[arg-type]
        timebase=timebase,
        node=Node(name="node1"),
        settings=KubeletSettings(),
        seed=1,
        emit=seen.append,
        log=structlog.get_logger(),
    )
    await ClusterEmulator(cluster=cluster, inputs=Inputs()).force()
    assert seen == [NoteRecord(level="warning", text="could not list what runs: no list")]


STATUS = RuntimeStatus(ready=True, network_ready=True, cpus=8, memory_bytes=1 << 34, host_ip="172.17.0.1")


def test_a_node_has_what_the_engine_has() -> None:
    node = make_node(RunOptions(manifests=()), KubeletConfiguration(), STATUS)
    assert (node.milli_cpu, node.memory_bytes, node.max_pods, node.host_ips) == (8000, 1 << 34, 110, ("172.17.0.1",))
    assert node.labels == {
        "kubernetes.io/hostname": node.name,
        "kubernetes.io/os": "linux",
        "kubernetes.io/arch": "amd64",
    }
    assert node.ephemeral_storage_bytes > 0


def test_a_node_has_what_the_user_says() -> None:
    capacity = NodeCapacity(milli_cpu=500, memory_bytes=1000, ephemeral_storage_bytes=2000, max_pods=3)
    options = RunOptions(manifests=(), node_name="node1", node_capacity=capacity, node_labels={"zone": "a"})
    node = make_node(options, KubeletConfiguration(max_pods=9), evolve(STATUS, host_ip=""))
    assert (node.milli_cpu, node.memory_bytes, node.ephemeral_storage_bytes, node.max_pods) == (500, 1000, 2000, 3)
    assert (node.name, node.labels["zone"], node.host_ips) == ("node1", "a", ())


@pytest.mark.parametrize(
    ("fields", "has"),
    [
        pytest.param({"max_pods": 7}, {"pods": "7"}, id="fewer pods"),
        pytest.param(
            {"kube_reserved": {"cpu": "500m", "memory": "1Gi"}, "system_reserved": {"cpu": "1", "pid": "100"}},
            {"cpu": "6500m", "memory": f"{15 << 30}"},
            id="what the system and the kubelet need",
        ),
        pytest.param(
            {"eviction_hard": {"memory.available": "50%", "nodefs.available": "10%", "nodefs.inodesFree": "5%"}},
            {"memory": f"{8 << 30}", "ephemeral-storage": "900"},
            id="shares that are kept free",
        ),
        pytest.param({"eviction_hard": {"memory.available": "32Gi"}}, {"memory": "0"}, id="more than there is"),
    ],
)
def test_a_configuration_leaves_less_to_pods(fields: dict[str, object], has: dict[str, str]) -> None:
    options = RunOptions(manifests=(), node_capacity=NodeCapacity(ephemeral_storage_bytes=1000))
    node = make_node(options, KubeletConfiguration(**fields), STATUS)  # type: ignore[arg-type]  # a table's row
    assert {name: node.allocatable()[name] for name in has} == has


def test_a_configuration_reaches_containers_and_admission() -> None:
    configuration = KubeletConfiguration(
        pod_pids_limit=12, cpu_cfs_quota=False, seccomp_default=True, allowed_unsafe_sysctls=("kernel.msg*",)
    )
    node = make_node(RunOptions(manifests=()), configuration, STATUS)
    assert (node.resources().pids_limit, node.resources().cfs_quota) == (12, False)
    assert (node.facts().allowed_unsafe_sysctls, node.seccomp.is_default) == (("kernel.msg*",), True)
