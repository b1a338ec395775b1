"""Probe workers on Trio's virtual clock."""

from __future__ import annotations

from datetime import timedelta
from random import Random
from typing import TYPE_CHECKING

import pytest
import trio
from attrs import define, evolve, field
from kubelet_stubs import EPOCH, StubRuntime
from memory_servers import HealthServer, HTTPServer, Network, Reply, silent

from kubelet_emu.api.meta import ObjectMeta
from kubelet_emu.api.v1 import Container, Pod, PodSpec
from kubelet_emu.api.v1_environment import EnvVar
from kubelet_emu.api.v1_handlers import ExecAction, GRPCAction, HTTPGetAction, Probe, TCPSocketAction
from kubelet_emu.api.v1_status import (
    ContainerState,
    ContainerStateRunning,
    ContainerStateTerminated,
    ContainerStatus,
    PodStatus,
)
from kubelet_emu.config.features import FeatureGates
from kubelet_emu.journal.records import EventRecord, ProbeRecord
from kubelet_emu.kubelet.prober import ProbeManager, ProbeResultsStore
from kubelet_emu.kubelet.recorder import Recorder
from kubelet_emu.kubelet.timebase import Timebase
from kubelet_emu.rules.observed import ProbeKind, ProbeResult, ProbeResults
from runtime.api import ContainerID, ExecResult, ExecStartError, ExecTimeoutError

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable

    from trio.testing import MockClock

    from kubelet_emu.journal.records import Record

LIVENESS, READINESS, STARTUP = ProbeKind.LIVENESS, ProbeKind.READINESS, ProbeKind.STARTUP
SUCCESS, FAILURE, UNKNOWN = ProbeResult.SUCCESS, ProbeResult.FAILURE, ProbeResult.UNKNOWN
EXEC = Probe(exec=ExecAction(command=("check",)), period_seconds=10)
C1 = ContainerID("c1")


def a_pod(*, sidecar: bool = False, env: tuple[EnvVar, ...] = (), **probes: Probe) -> Pod:
    container = Container(name="main", env=env, restart_policy="Always" if sidecar else None, **probes)
    spec = PodSpec(init_containers=(container,)) if sidecar else PodSpec(containers=(container,))
    return Pod(metadata=ObjectMeta(name="p", namespace="n", uid="u"), spec=evolve(spec, restart_policy="Never"))


@define
class _Node:
    """A probe manager with all that it talks to; times are seconds since the node began."""

    nursery: trio.Nursery
    network: Network
    runtime: StubRuntime
    timebase: Timebase
    features: FeatureGates = field(factory=FeatureGates)
    spread_first_attempts: bool = False
    status: PodStatus | None = None
    records: list[Record] = field(factory=list)
    woken: list[tuple[float, ProbeKind]] = field(factory=list)
    _manager: ProbeManager | None = None

    @property
    def manager(self) -> ProbeManager:
        if self._manager is None:
            self._manager = ProbeManager(
                runtime=self.runtime,  # type: ignore[arg-type]
                timebase=self.timebase,
                recorder=Recorder(self.records.append, self.timebase),
                emit=self.records.append,
                store=ProbeResultsStore(),
                on_result=self._wake,
                pod_status=self._status_of,
                rng=Random(1),  # noqa: S311
                features=self.features,
                nursery=self.nursery,
                spread_first_attempts=self.spread_first_attempts,
            )
        return self._manager

    def _wake(self, uid: str, kind: ProbeKind) -> None:
        assert uid == "u"
        self.woken.append((self.now(), kind))

    def _status_of(self, uid: str) -> PodStatus | None:
        return self.status if uid == "u" else None

    def now(self) -> float:
        return round(self.timebase.seconds(), 6)

    def runs(self, *, started: bool = True, container_id: str = "c1", sidecar: bool = False) -> None:
        """Show the container running since this moment."""
        state = ContainerState(running=ContainerStateRunning(started_at=self.timebase.now()))
        self._show(state, started=started, container_id=container_id, sidecar=sidecar)

    def exits(self, exit_code: int = 1) -> None:
        """Show the container terminated."""
        self._show(ContainerState(terminated=ContainerStateTerminated(exit_code=exit_code)), started=False)

    def _show(self, state: ContainerState, *, started: bool, container_id: str = "c1", sidecar: bool = False) -> None:
        status = ContainerStatus(name="main", container_id=f"stub://{container_id}", state=state, started=started)
        self.status = PodStatus(
            phase="Running",
            pod_ip="10.1.0.5",
            container_statuses=() if sidecar else (status,),
            init_container_statuses=(status,) if sidecar else (),
        )

    def attempts(self) -> list[float]:
        return [round(at - self.started_at, 6) for at, _, _ in self.runtime.execs]

    @property
    def started_at(self) -> float:
        return trio.current_time() - self.timebase.seconds()

    def outcomes(self) -> list[str]:
        return [record.outcome for record in self.records if isinstance(record, ProbeRecord)]

    def events(self) -> list[str]:
        return [record.message for record in self.records if isinstance(record, EventRecord)]

    def results(self) -> ProbeResults:
        return self.manager.results((C1, ContainerID("c2")))

    def result(self, kind: ProbeKind, container_id: ContainerID = C1) -> ProbeResult | None:
        return self.manager.store.get(kind, container_id)


@pytest.fixture
async def node() -> AsyncIterator[_Node]:
    async with trio.open_nursery() as nursery:
        network = Network(nursery)
        timebase = Timebase(epoch=EPOCH, is_virtual=True)
        timebase.seconds()
        nursery.start_soon(timebase.referee)
        yield _Node(nursery, network, StubRuntime(network), timebase)
        nursery.cancel_scope.cancel()


def exits_with(*codes: int, lasts: float = 0) -> Callable[[tuple[str, ...]], Awaitable[ExecResult]]:
    """Make a command that exits with these codes in turn, then with the last one for ever."""
    left = list(codes)

    async def run(command: tuple[str, ...]) -> ExecResult:
        await trio.sleep(lasts)
        return ExecResult(exit_code=left.pop(0) if len(left) > 1 else left[0], stdout=b"out\n")

    return run


async def test_the_first_attempt_is_at_once_then_every_period(autojump_clock: MockClock, node: _Node) -> None:
    node.runs()
    node.manager.add_pod(a_pod(liveness_probe=EXEC))
    await trio.sleep(25)
    assert node.attempts() == [0, 10, 20]
    assert node.runtime.execs[0][1:] == (("check",), 1)


async def test_ticks_count_from_the_workers_start(autojump_clock: MockClock, node: _Node) -> None:
    node.manager.add_pod(a_pod(liveness_probe=EXEC))
    await trio.sleep(3)
    node.runs()
    await trio.sleep(20)
    assert node.attempts() == [10, 20]


async def test_a_long_attempt_delays_the_next_and_keeps_the_phase(autojump_clock: MockClock, node: _Node) -> None:
    node.runtime.on_exec = exits_with(0, lasts=15)
    node.runs()
    node.manager.add_pod(a_pod(liveness_probe=EXEC))
    await trio.sleep(50)
    assert node.attempts() == [0, 15, 30, 45]


async def test_a_readiness_run_that_was_asked_for_moves_the_ticks(autojump_clock: MockClock, node: _Node) -> None:
    node.runtime.on_exec = exits_with(1)
    pod = a_pod(readiness_probe=EXEC)
    node.manager.add_pod(pod)
    await trio.sleep(3)
    node.runs()
    assert node.status is not None
    node.manager.status_seen(pod, node.status)
    await trio.sleep(22)
    assert node.attempts() == [3, 13, 23]


async def test_a_ready_container_is_not_asked_again(autojump_clock: MockClock, node: _Node) -> None:
    node.runs()
    pod = a_pod(readiness_probe=EXEC)
    node.manager.add_pod(pod)
    await trio.sleep(3)
    assert node.status is not None
    node.manager.status_seen(pod, node.status)
    await trio.sleep(3)
    assert (node.attempts(), node.result(READINESS)) == ([0], SUCCESS)


async def test_containers_without_readiness_probe_or_id_are_not_asked(autojump_clock: MockClock, node: _Node) -> None:
    pod = a_pod(liveness_probe=EXEC)
    node.manager.add_pod(pod)
    node.runs(container_id="")
    assert node.status is not None
    node.manager.status_seen(pod, evolve(node.status, init_container_statuses=(ContainerStatus(name="i"),)))
    await trio.sleep(3)
    assert node.attempts() == []


async def test_liveness_wakes_a_sync_only_when_it_fails(autojump_clock: MockClock, node: _Node) -> None:
    node.runtime.on_exec = exits_with(0, 1)
    node.runs()
    node.manager.add_pod(a_pod(liveness_probe=EXEC))
    await trio.sleep(60)
    assert node.woken == [(30, LIVENESS)]
    assert node.attempts() == [0, 10, 20, 30]
    assert node.events() == ["Liveness probe failed: out\n"] * 3


async def test_what_an_attempt_leaves_in_the_journal(autojump_clock: MockClock, node: _Node) -> None:
    node.runtime.on_exec = exits_with(1)
    node.runs()
    node.manager.add_pod(a_pod(readiness_probe=evolve(EXEC, failure_threshold=1)))
    await trio.sleep(1)
    event, probe = node.records
    assert isinstance(event, EventRecord)
    assert (event.type, event.reason, event.field_path) == ("Warning", "Unhealthy", "spec.containers{main}")
    assert isinstance(probe, ProbeRecord)
    assert evolve(probe, ref=event.ref) == ProbeRecord(
        ref=event.ref,
        container="main",
        run=1,
        probe="readiness",
        outcome="failure",
        stored="failure",
        changed=False,
        message="out\n",
    )


async def test_startup_is_decided_once(autojump_clock: MockClock, node: _Node) -> None:
    node.runtime.on_exec = exits_with(1, 1, 0)
    node.runs(started=False)
    node.manager.add_pod(a_pod(startup_probe=EXEC, liveness_probe=EXEC))
    await trio.sleep(60)
    assert node.attempts() == [0, 10, 20]
    assert node.woken == [(0, STARTUP), (20, STARTUP)]
    assert node.results().startup == {C1: SUCCESS}


async def test_a_new_container_starts_anew(autojump_clock: MockClock, node: _Node) -> None:
    node.runs()
    node.manager.add_pod(a_pod(readiness_probe=EXEC))
    await trio.sleep(5)
    node.runtime.on_exec = exits_with(1)
    node.runs(container_id="c2")
    await trio.sleep(10)
    assert node.results().readiness == {ContainerID("c2"): FAILURE}
    assert [kind for _, kind in node.woken] == [READINESS, READINESS, READINESS]


async def test_a_run_of_failures_outlives_the_container(autojump_clock: MockClock, node: _Node) -> None:
    node.runtime.on_exec = exits_with(1)
    node.runs()
    node.manager.add_pod(a_pod(liveness_probe=EXEC))
    await trio.sleep(15)
    node.runs(container_id="c2")
    await trio.sleep(10)
    assert node.result(LIVENESS, ContainerID("c2")) is FAILURE


async def test_an_attempt_that_cannot_be_made_is_repeated_and_thrown_away(
    autojump_clock: MockClock, node: _Node
) -> None:
    async def missing(command: tuple[str, ...]) -> ExecResult:
        raise ExecStartError("no such program")

    node.runtime.on_exec = missing
    node.runs()
    node.manager.add_pod(a_pod(liveness_probe=evolve(EXEC, failure_threshold=1)))
    await trio.sleep(5)
    assert node.attempts() == [0, 0, 0]
    assert node.events() == ["Liveness probe errored and resulted in unknown state: no such program"]
    assert (node.outcomes(), node.result(LIVENESS)) == (["errored"], SUCCESS)


async def test_a_command_that_takes_too_long(autojump_clock: MockClock, node: _Node) -> None:
    async def slow(command: tuple[str, ...]) -> ExecResult:
        raise ExecTimeoutError("too long")

    node.runtime.on_exec = slow
    node.runs()
    node.manager.add_pod(a_pod(liveness_probe=EXEC))
    await trio.sleep(5)
    assert node.events() == ['Liveness probe failed: command timed out: "check" timed out after 1s']


async def test_variables_in_a_command(autojump_clock: MockClock, node: _Node) -> None:
    probe = Probe(exec=ExecAction(command=("check", "$(A)")))
    node.runs()
    node.manager.add_pod(a_pod(liveness_probe=probe, env=(EnvVar(name="A", value="x"),)))
    await trio.sleep(1)
    assert node.runtime.execs[0][1] == ("check", "x")


HANDLERS = [
    ("http", Probe(http_get=HTTPGetAction(path="/ok", port=80)), "success", []),
    (
        "http that fails",
        Probe(http_get=HTTPGetAction(path="/no", port=80)),
        "failure",
        ["Liveness probe failed: HTTP probe failed with statuscode: 404"],
    ),
    (
        "http redirect elsewhere",
        Probe(http_get=HTTPGetAction(path="/away", port=80)),
        "warning",
        ["Liveness probe warning: Probe terminated redirects, Response body: "],
    ),
    (
        "http bad port",
        Probe(http_get=HTTPGetAction(path="/ok", port="web")),
        "errored",
        ['Liveness probe errored and resulted in unknown state: strconv.Atoi: parsing "web": invalid syntax'],
    ),
    ("tcp", Probe(tcp_socket=TCPSocketAction(port=81)), "success", []),
    (
        "tcp refused",
        Probe(tcp_socket=TCPSocketAction(port=99)),
        "failure",
        ["Liveness probe failed: dial tcp 10.1.0.5:99: connect: connection refused"],
    ),
    (
        "tcp bad port",
        Probe(tcp_socket=TCPSocketAction(port=0)),
        "errored",
        ["Liveness probe errored and resulted in unknown state: invalid port number: 0"],
    ),
    ("grpc", Probe(grpc=GRPCAction(port=9000, service="live")), "success", []),
    (
        "grpc that is not serving",
        Probe(grpc=GRPCAction(port=9000)),
        "failure",
        ['Liveness probe failed: service unhealthy (responded with "NOT_SERVING")'],
    ),
    (
        "no handler",
        Probe(),
        "errored",
        ["Liveness probe errored and resulted in unknown state: missing probe handler for main"],
    ),
]


@pytest.mark.parametrize(
    ("probe", "outcome", "events"), [row[1:] for row in HANDLERS], ids=[row[0] for row in HANDLERS]
)
async def test_handlers(autojump_clock: MockClock, node: _Node, probe: Probe, outcome: str, events: list[str]) -> None:
    replies = {"/ok": Reply(), "/away": Reply(302, headers=(("Location", "http://elsewhere/"),))}
    node.network.servers = {80: HTTPServer(replies), 81: silent, 9000: HealthServer({"live": 1, "": 2})}
    node.runs()
    node.manager.add_pod(a_pod(liveness_probe=probe))
    await trio.sleep(5)
    assert (node.outcomes(), node.events()) == ([outcome], events)


async def test_a_container_that_is_gone_cannot_be_probed(autojump_clock: MockClock, node: _Node) -> None:
    node.runtime.gone.add(C1)
    node.runs()
    node.manager.add_pod(a_pod(liveness_probe=Probe(tcp_socket=TCPSocketAction(port=81))))
    await trio.sleep(5)
    assert node.events() == ["Liveness probe errored and resulted in unknown state: no such container: c1"]


ALL = {"liveness_probe": EXEC, "readiness_probe": EXEC, "startup_probe": EXEC}


async def test_termination_ends_liveness_and_startup_of_regular_containers(
    autojump_clock: MockClock, node: _Node
) -> None:
    node.runs()
    node.manager.add_pod(a_pod(**ALL))
    await trio.sleep(5)
    node.manager.stop_liveness_and_startup("u")
    await trio.sleep(10)
    results = node.results()
    assert (results.liveness, results.readiness, results.startup) == ({}, {C1: SUCCESS}, {})
    assert node.attempts() == [0, 0, 10]


async def test_sidecars_are_probed_until_they_are_gone(autojump_clock: MockClock, node: _Node) -> None:
    node.runs(sidecar=True)
    node.manager.add_pod(a_pod(sidecar=True, **ALL))
    await trio.sleep(5)
    node.manager.stop_liveness_and_startup("u")
    await trio.sleep(10)
    assert node.attempts() == [0, 0, 10, 10]


async def test_another_pods_termination_changes_nothing(autojump_clock: MockClock, node: _Node) -> None:
    node.runs()
    node.manager.add_pod(a_pod(liveness_probe=EXEC))
    node.manager.stop_liveness_and_startup("v")
    node.manager.remove_pod("v")
    await trio.sleep(15)
    assert node.attempts() == [0, 10]


async def test_a_removed_pod_leaves_nothing(autojump_clock: MockClock, node: _Node) -> None:
    node.runs()
    pod = a_pod(**ALL)
    node.manager.add_pod(pod)
    await trio.sleep(5)
    node.manager.remove_pod("u")
    results = node.results()
    await trio.sleep(60)
    assert (results.liveness, results.readiness, results.startup) == ({}, {}, {})
    assert node.attempts() == [0, 0]


async def test_an_attempt_in_progress_is_finished(autojump_clock: MockClock, node: _Node) -> None:
    node.runtime.on_exec = exits_with(1, lasts=3)
    node.runs()
    node.manager.add_pod(a_pod(liveness_probe=EXEC))
    await trio.sleep(1)
    node.manager.stop_liveness_and_startup("u")
    await trio.sleep(20)
    assert (node.events(), node.attempts()) == (["Liveness probe failed: out\n"], [0])


async def test_a_pod_that_comes_again_is_probed_again(autojump_clock: MockClock, node: _Node) -> None:
    node.runtime.on_exec = exits_with(0, lasts=3)
    node.runs()
    node.manager.add_pod(a_pod(liveness_probe=EXEC))
    await trio.sleep(1)
    node.manager.remove_pod("u")
    node.manager.add_pod(a_pod(liveness_probe=EXEC))
    await trio.sleep(4)
    assert (node.attempts(), node.result(LIVENESS)) == ([0, 1], SUCCESS)


async def test_a_container_that_is_over_ends_its_worker_for_good(autojump_clock: MockClock, node: _Node) -> None:
    node.runs()
    pod = a_pod(readiness_probe=EXEC)
    node.manager.add_pod(pod)
    await trio.sleep(5)
    node.exits()
    await trio.sleep(10)
    woken = len(node.woken)
    node.manager.add_pod(pod)
    await trio.sleep(30)
    assert (len(node.woken), node.results().readiness) == (woken, {})


async def test_a_container_that_comes_back_gets_a_new_worker(autojump_clock: MockClock, node: _Node) -> None:
    node.exits()
    pod = a_pod(readiness_probe=EXEC)
    node.manager.add_pod(pod)
    await trio.sleep(5)
    node.runs(container_id="c2")
    node.manager.add_pod(pod)
    await trio.sleep(1)
    assert node.results().readiness == {ContainerID("c2"): SUCCESS}


async def test_a_worker_is_made_once(autojump_clock: MockClock, node: _Node) -> None:
    node.runs()
    for _ in range(3):
        node.manager.add_pod(a_pod(liveness_probe=EXEC))
    await trio.sleep(1)
    assert node.attempts() == [0]


async def test_a_worker_of_a_pod_whose_status_is_not_known_yet(autojump_clock: MockClock, node: _Node) -> None:
    node.status = PodStatus(phase="Failed")
    pod = a_pod(liveness_probe=EXEC)
    node.manager.add_pod(pod)
    await trio.sleep(1)
    node.status = None
    node.manager.add_pod(pod)
    await trio.sleep(1)
    assert node.attempts() == []


async def test_after_a_restart_of_the_kubelet_first_attempts_are_spread(autojump_clock: MockClock, node: _Node) -> None:
    node.spread_first_attempts = True
    node.runs()
    node.manager.add_pod(a_pod(liveness_probe=EXEC))
    await trio.sleep(25)
    first = round(Random(1).random() * 10, 6)  # noqa: S311
    assert node.attempts() == [first, first + 10, first + 20]


async def test_an_older_kubelet_spreads_nothing(autojump_clock: MockClock, node: _Node) -> None:
    node.spread_first_attempts = True
    manager = node.manager
    await trio.sleep(10)
    node.runs()
    manager.add_pod(a_pod(liveness_probe=EXEC))
    await trio.sleep(1)
    assert node.attempts() == [10]


def adopt(node: _Node, pod: Pod) -> None:
    assert node.status is not None
    node.manager.set_initial(pod, node.status, EPOCH + timedelta(seconds=60))


async def test_a_container_older_than_the_kubelet_keeps_its_state(autojump_clock: MockClock, node: _Node) -> None:
    node.runtime.on_exec = exits_with(1)
    node.runs(sidecar=True)
    pod = a_pod(sidecar=True, **ALL)
    adopt(node, pod)
    assert node.results().startup == {C1: SUCCESS}
    node.manager.add_pod(pod)
    await trio.sleep(5)
    results = node.results()
    assert (results.liveness, results.readiness, results.startup) == ({C1: SUCCESS}, {}, {C1: SUCCESS})
    await trio.sleep(20)
    assert node.result(READINESS) is FAILURE


async def test_one_that_is_not_started_begins_anew(autojump_clock: MockClock, node: _Node) -> None:
    node.runs(started=False)
    pod = a_pod(**ALL)
    adopt(node, pod)
    assert node.results().startup == {}


@pytest.mark.parametrize("gate", [True, False])
async def test_who_is_taken_over(autojump_clock: MockClock, node: _Node, gate: bool) -> None:  # noqa: FBT001
    node.features = FeatureGates({"ChangeContainerStatusOnKubeletRestart": gate})
    node.runs()
    pod = a_pod(**ALL)
    adopt(node, pod)
    assert node.manager.adopted == (set() if gate else {C1})


async def test_containers_that_do_not_run_are_not_taken_over(autojump_clock: MockClock, node: _Node) -> None:
    node.exits()
    adopt(node, a_pod(**ALL))
    node.status = PodStatus()
    adopt(node, a_pod(**ALL))
    assert node.manager.adopted == set()
