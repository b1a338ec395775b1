"""A whole node in virtual time: simulated runtime, API server, kubelet, and everything that was recorded."""

from __future__ import annotations

import math
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING, Any, cast

import pytest
import structlog
import trio
from attrs import define, evolve, field

from kubelet_emu.api.meta import ObjectMeta
from kubelet_emu.api.v1 import Container, Pod, PodSpec
from kubelet_emu.api.v1_handlers import ExecAction, Lifecycle, LifecycleHandler, Probe, SleepAction
from kubelet_emu.cluster.cluster import Cluster
from kubelet_emu.journal.encode import to_line
from kubelet_emu.journal.journal import Journal
from kubelet_emu.journal.records import EventRecord, RunRecord, StatusRecord, StopRecord, SyncRecord
from kubelet_emu.kubelet.node import Node
from kubelet_emu.kubelet.settings import KubeletSettings
from kubelet_emu.kubelet.timebase import Lane, Timebase
from kubelet_emu.kubelet.timing import FAST, KUBELET
from kubelet_emu.manifests.defaults import set_defaults
from runtime.simulated import Exec, ExecAnswer, OnSignal, Run, ScriptedProgram, SimulatedRuntime

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Mapping, MutableMapping

    from kubelet_emu.api.v1_status import ContainerStatus, PodCondition
    from kubelet_emu.apiserver.objects import APIObject
    from kubelet_emu.journal.encode import Entry
    from kubelet_emu.journal.records import Record
    from kubelet_emu.kubelet.timing import Timing
    from runtime.api import ContainerConfig, Runtime, RuntimeEvent

    Programs = Mapping[str, tuple[Run, ...]]

EPOCH = datetime(2026, 1, 1, tzinfo=UTC)
NODE = Node(name="node1", milli_cpu=4000, memory_bytes=8 << 30, host_ips=("10.0.0.1",))
BOTH = pytest.mark.parametrize("timing", [pytest.param(FAST, id="fast"), pytest.param(KUBELET, id="kubelet")])
OBEDIENT: Mapping[str, OnSignal] = {"SIGTERM": OnSignal(0)}

# -- what containers do


def lives(seconds: float = math.inf, code: int = 0, **facts: Any) -> Run:  # noqa: ANN401
    """Run for so long, then exit; on SIGTERM exit 0 at once unless `on_signal` says otherwise."""
    return Run(duration=seconds, exit_code=code, **({"on_signal": OBEDIENT} | facts))


def stops(after: float = 0.0, code: int = 0, **facts: Any) -> Run:  # noqa: ANN401
    """Run until SIGTERM, then take so long to exit."""
    return Run(on_signal={"SIGTERM": OnSignal(code, after)}, **facts)


def deaf(**facts: Any) -> Run:  # noqa: ANN401
    """Run until killed: no handler for SIGTERM."""
    return Run(**facts)


def answers(*command: str, **answer: Any) -> Exec:  # noqa: ANN401
    """Answer one command from the start on."""
    return Exec(command, ((0.0, ExecAnswer(**answer)),))


def turning(command: str, *answers: tuple[float, int]) -> Exec:
    """Answer one command with exit codes from times on."""
    return Exec((command,), tuple((at, ExecAnswer(code)) for at, code in answers))


# -- what pods ask for


def container(name: str, **spec: Any) -> Container:  # noqa: ANN401
    """Return a container with an image that is there."""
    return Container(name=name, **({"image": "app:1"} | spec))


def sidecar(name: str, **spec: Any) -> Container:  # noqa: ANN401
    """Return an init container that is restarted always."""
    return container(name, restart_policy="Always", **spec)


def probe(command: str = "check", **spec: Any) -> Probe:  # noqa: ANN401
    """Return an exec probe that runs each second and fails at the first failure."""
    defaults = {"period_seconds": 1, "failure_threshold": 1, "success_threshold": 1, "timeout_seconds": 1}
    return Probe(exec=ExecAction(command=(command,)), **(defaults | spec))


def runs(*command: str) -> LifecycleHandler:
    """Return a hook that runs a command."""
    return LifecycleHandler(exec=ExecAction(command=command))


def sleeps(seconds: int) -> LifecycleHandler:
    """Return a hook that sleeps."""
    return LifecycleHandler(sleep=SleepAction(seconds=seconds))


def hooks(post_start: LifecycleHandler | None = None, pre_stop: LifecycleHandler | None = None) -> Lifecycle:
    """Return a container's hooks."""
    return Lifecycle(post_start=post_start, pre_stop=pre_stop)


def a_pod(*containers: Container, name: str = "p", metadata: Mapping[str, Any] | None = None, **spec: Any) -> Pod:  # noqa: ANN401
    """Return a pod of namespace ns; `init` are its init containers."""
    init = tuple(spec.pop("init", ()))
    return Pod(
        metadata=ObjectMeta(**({"name": name, "namespace": "ns"} | dict(metadata or {}))),
        spec=PodSpec(containers=containers or (container("main"),), init_containers=init, **spec),
    )


# -- the node


@define(eq=False, kw_only=True)
class Rig:
    """A running node and what was recorded of it. Times are seconds since its start."""

    cluster: Cluster
    runtime: SimulatedRuntime
    timebase: Timebase
    nursery: trio.Nursery
    entries: list[Entry]
    facts: list[RuntimeEvent]
    log: list[dict[str, Any]]
    recorded: trio.Event = field(factory=trio.Event, init=False)

    def tell(self) -> None:
        """Wake those who wait for a record."""
        self.recorded.set()
        self.recorded = trio.Event()

    @property
    def records(self) -> list[Record]:
        """Return all records in the order they were emitted."""
        return [evolve(entry.record, at=entry.at) for entry in self.entries]

    def create(self, obj: APIObject) -> APIObject:
        """Create an object as a user does."""
        return self.cluster.api.create(set_defaults(obj))

    def delete(self, name: str = "p", grace: int | None = None) -> None:
        """Ask for a pod's end."""
        self.cluster.api.delete("Pod", "ns", name, grace_period_seconds=grace)

    async def until(self, seconds: float) -> None:
        """Sleep until a time, and until all that happens at that instant is over."""
        await trio.sleep_until(self.timebase.trio_time(seconds))
        await self.timebase.turn(Lane.CONTROLLER, "~")

    async def gone(self, name: str = "p") -> float:
        """Wait until the API has the pod no more and return the time."""
        return await self.when(lambda: self.find(name) is None)

    async def phase(self, *phases: str, name: str = "p") -> float:
        """Wait until the pod is in one of these phases and return the time."""
        return await self.when(lambda: self.pod(name).status.phase in phases)

    async def when(self, holds: Callable[[], bool]) -> float:
        """Wait for the record after which something holds and return the time."""
        while not holds():
            await self.recorded.wait()
        return self.seconds

    def cancel_kubelet(self) -> None:
        """Stop the kubelet between two of its steps, without waiting for it."""
        scope = self.cluster._kubelet_scope  # noqa: SLF001 - a crash at an exact point
        if scope is not None:
            scope.cancel()

    @property
    def seconds(self) -> float:
        """Return the time."""
        return round(self.timebase.seconds(), 3)

    # -- the API

    def find(self, name: str = "p") -> Pod | None:
        """Return a pod as the API has it, None when it is gone."""
        return self.cluster.api.get("Pod", "ns", name)

    def pod(self, name: str = "p") -> Pod:
        """Return a pod as the API has it."""
        pod = self.find(name)
        assert pod is not None, f"no pod {name}"
        return pod

    def status(self, container: str, name: str = "p") -> ContainerStatus:
        """Return the status of one container."""
        return status_of(self.pod(name), container)

    def condition(self, kind: str, name: str = "p") -> PodCondition:
        """Return a condition of a pod."""
        return next(each for each in self.pod(name).status.conditions if each.type == kind)

    # -- what was recorded

    def at(self, record: Record) -> float:
        """Return when something happened."""
        assert record.at is not None
        return round((record.at - EPOCH).total_seconds(), 3)

    def of(self, kind: type[Any], name: str = "p") -> list[Any]:
        """Return a pod's records of one class."""
        return [r for r in self.records if isinstance(r, kind) and r.ref.name == name]

    def runs(self, name: str = "p") -> list[str]:
        """Return starts and exits, as `seconds container#run start`."""
        found = sorted(self.of(RunRecord, name), key=self.at)
        return [
            f"{self.at(r):g} {r.container}#{r.run} " + ("start" if r.what == "start" else f"exit {r.code}")
            for r in found
        ]

    def starts(self, *containers: str, name: str = "p") -> list[float]:
        """Return when containers started."""
        return [self.at(r) for r in self.of(RunRecord, name) if r.what == "start" and r.container in containers]

    def signals(self, name: str = "p") -> list[str]:
        """Return the signals, as `seconds container SIGNAL`."""
        found = [r for r in self.of(StopRecord, name) if r.what == "signal" and r.container != "POD"]
        return [f"{self.at(r):g} {r.container} {r.signal}" for r in found]

    def timeouts(self, name: str = "p") -> list[str]:
        """Return the stop calls, as `seconds container timeout`."""
        found = [r for r in self.of(StopRecord, name) if r.what == "StopContainer"]
        return [f"{self.at(r):g} {r.container} {r.timeout:g}" for r in found]

    def events(self, *reasons: str, name: str = "p") -> list[str]:
        """Return the events of these reasons, as `seconds container Reason: message`."""
        return [
            f"{self.at(r):g} {r.container or '-'} {r.reason}: {r.message}"
            for r in self.of(EventRecord, name)
            if r.reason in reasons
        ]

    def states(self, container: str, name: str = "p") -> list[str]:
        """Return the states that the API showed of a container, as `seconds state`, each once in a row."""
        found: list[tuple[float, str]] = []
        for record in self.of(StatusRecord, name):
            statuses = {s.name: s for s in all_statuses(record.status)}
            text = state_text(statuses[container]) if container in statuses else "none"
            if not found or found[-1][1] != text:
                found.append((self.at(record), text))
        return [f"{at:g} {text}" for at, text in found]

    def phases(self, name: str = "p") -> list[str]:
        """Return the phases that the API showed, each once in a row."""
        found: list[str] = []
        for record in self.of(StatusRecord, name):
            if not found or found[-1] != record.status.phase:
                found.append(record.status.phase)
        return found

    def steps(self, name: str = "p") -> list[SyncRecord]:
        """Return the steps of the pod's worker."""
        return self.of(SyncRecord, name)

    def lines(self) -> list[str]:
        """Return the journal as it would stand in a file."""
        return [to_line(entry, EPOCH) for entry in self.entries]


def all_statuses(status: Any) -> tuple[ContainerStatus, ...]:  # noqa: ANN401
    """Return the statuses of all containers of a pod."""
    return (*status.init_container_statuses, *status.container_statuses, *status.ephemeral_container_statuses)


def status_of(pod: Pod, container: str) -> ContainerStatus:
    """Return the status of one container."""
    return next(each for each in all_statuses(pod.status) if each.name == container)


def state_text(status: ContainerStatus) -> str:
    """Return a state in one word: `running#2`, `waiting:CrashLoopBackOff`, `terminated:Error:1`."""
    state = status.state
    if state.running is not None:
        return f"running#{status.restart_count + 1}"
    if state.terminated is not None:
        return f"terminated:{state.terminated.reason}:{state.terminated.exit_code}"
    return f"waiting:{state.waiting.reason}" if state.waiting is not None else "none"


@define(eq=False)
class Watchdog(trio.abc.Instrument):
    """Ends a test that waits for what never comes, which in virtual time takes no time at all, or for ever."""

    scope: trio.CancelScope
    max_steps: int
    steps: int = 0

    def before_task_step(self, task: trio.lowlevel.Task) -> None:  # noqa: ARG002 - the interface
        """Count one step."""
        self.steps += 1
        if self.steps == self.max_steps:
            self.scope.cancel()


@asynccontextmanager
async def a_node(  # noqa: PLR0913 - a node has many knobs, all with defaults
    programs: Programs | None = None,
    *,
    timing: Timing = FAST,
    settings: KubeletSettings | None = None,
    wrap: Callable[[SimulatedRuntime], Runtime] | None = None,
    on_record: Callable[[Record], None] | None = None,
    node: Node = NODE,
    seed: int = 1,
    max_steps: int = 300_000,
    wall: Callable[[], datetime] | None = None,
    **options: Any,  # noqa: ANN401
) -> AsyncIterator[Rig]:
    """Run a node; `programs` says by container name (or "pod/container") what its runs are, () leaves it to the image.

    `wrap` puts something between kubelet and runtime; `wall` is a clock that steps; `on_record` is called with each
    record; `options` are the simulated runtime's.
    """
    entries: list[Entry] = []
    facts: list[RuntimeEvent] = []
    log: list[dict[str, Any]] = []
    timebase = Timebase(epoch=EPOCH, is_virtual=True, wall=wall)
    journal = Journal(timebase.now, (entries.append,))
    rigs: list[Rig] = []

    def emit(record: Record) -> None:
        journal.emit(record)
        for rig in rigs:
            rig.tell()
        if on_record is not None:
            on_record(record)

    def program(config: ContainerConfig) -> ScriptedProgram | None:
        known, meta = programs or {}, config.metadata
        name = f"{config.labels['io.kubernetes.pod.name']}/{meta.name}"
        courses = known.get(name, known.get(meta.name, (lives(),)))
        return ScriptedProgram(courses, meta.attempt) if courses else None

    def capture(_logger: object, method: str, event: MutableMapping[str, Any]) -> str:
        log.append({"level": method, **event})
        raise structlog.DropEvent

    async with SimulatedRuntime(
        timebase.now, seed=seed, turn=partial(timebase.turn, Lane.PROGRAM), programs=program, **options
    ) as runtime:
        cluster = Cluster(
            runtime=wrap(runtime) if wrap else cast("Runtime", runtime),
            timebase=timebase,
            node=node,
            settings=evolve(settings or KubeletSettings(), timing=timing),
            seed=seed,
            emit=emit,
            log=structlog.wrap_logger(None, processors=[capture], wrapper_class=structlog.BoundLogger),
        )
        async with trio.open_nursery() as nursery:
            rig = Rig(
                cluster=cluster,
                runtime=runtime,
                timebase=timebase,
                nursery=nursery,
                entries=entries,
                facts=facts,
                log=log,
            )
            rigs.append(rig)
            trio.lowlevel.add_instrument(watchdog := Watchdog(nursery.cancel_scope, max_steps))
            nursery.start_soon(_collect, runtime, facts)
            await nursery.start(cluster.run)
            yield rig
            trio.lowlevel.remove_instrument(watchdog)
            nursery.cancel_scope.cancel()
        assert watchdog.steps < max_steps, f"{max_steps} steps and no end at {rig.seconds:g} s"


async def _collect(runtime: SimulatedRuntime, facts: list[RuntimeEvent]) -> None:
    async with runtime.events() as events:
        async for event in events:
            facts.append(event)  # noqa: PERF401 - the end is a cancellation
