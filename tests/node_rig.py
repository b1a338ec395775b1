"""A whole node over the simulated runtime: put a pod on it, let time pass, look at what was recorded."""

from __future__ import annotations

from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING

import structlog
import trio
import trio.testing
from attrs import define, field

from kubelet_emu.cluster.cluster import Cluster
from kubelet_emu.journal.records import EffectRecord, EventRecord, RunRecord, StopRecord
from kubelet_emu.kubelet.node import Node
from kubelet_emu.kubelet.settings import KubeletSettings
from kubelet_emu.kubelet.timebase import Lane, Timebase
from kubelet_emu.kubelet.timing import KUBELET
from runtime.simulated import Port, Run, ScriptedProgram, SimulatedRuntime
from runtime.simulated.program import OnSignal

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from kubelet_emu.api.v1 import Pod
    from kubelet_emu.api.v1_status import PodStatus
    from kubelet_emu.journal.records import Record
    from runtime.api import ContainerConfig

EPOCH = datetime(2026, 1, 1, tzinfo=UTC)
OBEDIENT = Run(on_signal={"SIGTERM": OnSignal(0)})


@define
class NodeRun:
    """What happened on the node, with the seconds since it began."""

    records: list[tuple[float, Record]] = field(factory=list)
    statuses: list[PodStatus] = field(factory=list)

    def events(self) -> list[tuple[float, str, str, str | None]]:
        """Return time, reason, message and container of every event."""
        return [
            (at, record.reason, record.message, record.container)
            for at, record in self.records
            if isinstance(record, EventRecord)
        ]

    def effects(self, call: str) -> list[tuple[float, str, EffectRecord]]:
        """Return time, what ("started", "finished", "failed") and record of a kind of call."""
        return [
            (at, record.what, record)
            for at, record in self.records
            if isinstance(record, EffectRecord) and record.call == call
        ]

    def stops(self) -> list[tuple[float, StopRecord]]:
        """Return the stop calls of containers."""
        return [
            (at, record)
            for at, record in self.records
            if isinstance(record, StopRecord) and record.what == "StopContainer"
        ]

    def exits(self) -> list[tuple[float, RunRecord]]:
        """Return the exits of containers."""
        return [(at, record) for at, record in self.records if isinstance(record, RunRecord) and record.what == "exit"]


def on_a_node(pod: Pod, act: Callable[[Cluster], Awaitable[None]], runs: dict[str, Run] | None = None) -> NodeRun:
    """Create a pod on a new node, let `act` do something and wait, and return what happened.

    Containers obey SIGTERM unless `runs` says by name what they do.
    """
    return trio.run(_on_a_node, pod, act, runs or {}, clock=trio.testing.MockClock(autojump_threshold=0))


async def _on_a_node(pod: Pod, act: Callable[[Cluster], Awaitable[None]], runs: dict[str, Run]) -> NodeRun:
    timebase = Timebase(epoch=EPOCH, is_virtual=True)
    seen = NodeRun()

    def program(config: ContainerConfig) -> ScriptedProgram:
        return ScriptedProgram((runs.get(config.metadata.name, OBEDIENT),))

    async with SimulatedRuntime(timebase.now, programs=program, turn=partial(timebase.turn, Lane.PROGRAM)) as runtime:
        cluster = Cluster(
            runtime=runtime,
            timebase=timebase,
            node=Node(name="node1", milli_cpu=4000, memory_bytes=1 << 33, host_ips=("10.0.0.1",)),
            settings=KubeletSettings(timing=KUBELET),
            seed=1,
            emit=lambda record: seen.records.append((timebase.seconds(), record)),
            log=structlog.get_logger(),
        )
        async with trio.open_nursery() as nursery:
            await nursery.start(cluster.run)
            cluster.api.create(pod)
            await act(cluster)
            seen.statuses = [stored.status for stored in cluster.api.list("Pod")]
            nursery.cancel_scope.cancel()
    return seen


def listens(port: int, http: dict[str, object] | None = None) -> Run:
    """Return a run that obeys SIGTERM and listens on a port."""
    return Run(on_signal=OBEDIENT.on_signal, ports=(Port(port, http=http or {}),))  # type: ignore[arg-type]
