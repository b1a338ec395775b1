"""Running one scenario on a runtime that is open already.

Makes the cluster, creates the objects, drives the steps, and judges the expectations on what was recorded. At the end
every pod is deleted and nothing of the scenario is left in the runtime.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import structlog
import trio
from attrs import evolve, field, frozen

from kubelet_emu.apiserver.errors import APIError
from kubelet_emu.cluster.cluster import Cluster
from kubelet_emu.journal.journal import Journal
from kubelet_emu.kubelet.configured_node import configured_node
from kubelet_emu.manifests.validation.objects import prepare
from kubelet_emu.scenarios.checks import Verdict, check_all
from kubelet_emu.scenarios.driver import HOLD_FINALIZER, Driver, Recording
from kubelet_emu.scenarios.needs import read_needs
from kubelet_emu.scenarios.steps import StepError, Steps

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from kubelet_emu.apiserver.objects import APIObject
    from kubelet_emu.journal.journal import Sink
    from kubelet_emu.kubelet.node import Node
    from kubelet_emu.kubelet.settings import KubeletSettings
    from kubelet_emu.kubelet.timebase import Timebase
    from kubelet_emu.lifecycle.raw_records import RawRecord
    from kubelet_emu.manifests.loading import APIObject as Written
    from kubelet_emu.scenarios.scenario_file import Scenario
    from runtime.api import Runtime

CLEAN_UP_SECONDS = 60.0
ARRIVAL_SECONDS = 0.37
"""A pod comes at any moment between two relists; at a whole second every tick would fall on the same instant."""


@frozen(kw_only=True)
class World:
    """Where scenarios run: an open runtime, the clock, the node; `settings` before a scenario's own needs.

    `furnish` is called with the cluster before it runs. `is_emptied` says that whoever opened the runtime removes what
    a scenario leaves, so nobody waits for the kubelet.
    """

    runtime: Runtime
    timebase: Timebase
    node: Node
    settings: KubeletSettings
    seed: int
    sinks: Sequence[Sink] = ()
    furnish: Callable[[Cluster], None] = lambda _: None
    is_emptied: bool = False


@frozen(kw_only=True)
class Outcome:
    """How a scenario went.

    `error` is set when it could not be driven as it is written (`error_line`: where in the file), `skipped` when it
    wasn't tried, `note` tells what a reader should know besides. `seconds` are those of the machine, `virtual_seconds`
    those of the pods.
    """

    name: str
    verdicts: tuple[Verdict, ...] = ()
    records: tuple[RawRecord, ...] = ()
    error: str = ""
    error_line: int = 0
    note: str = ""
    skipped: str = ""
    seconds: float = 0.0
    virtual_seconds: float = field(default=0.0)

    @property
    def passed(self) -> bool:
        """Tell whether every expectation holds."""
        return not self.error and not self.skipped and all(verdict.holds for verdict in self.verdicts)


async def run_scenario(scenario: Scenario, world: World) -> Outcome:
    """Run one scenario and return how it went; a bug of ours is raised, a fault of the scenario is told.

    Cancellation leaves clean-up to whoever opened the runtime.
    """
    recording = Recording()
    journal = Journal(world.timebase.now, (recording, *world.sinks))
    needs = read_needs(scenario.needs)
    cluster = Cluster(
        runtime=world.runtime,
        timebase=world.timebase,
        node=configured_node(world.node, needs.configuration),
        settings=evolve(world.settings, configuration=needs.configuration, features=needs.features),
        seed=world.seed,
        emit=journal.emit,
        log=structlog.get_logger(),
    )
    world.furnish(cluster)
    began_at = trio.current_time()
    end = _Ended()
    async with trio.open_nursery() as nursery:
        await _full_second(world.timebase)
        await nursery.start(cluster.run)
        await trio.sleep(ARRIVAL_SECONDS)
        try:
            end = await _drive(scenario, cluster, recording)
        except APIError as fault:
            end = _Ended(error=str(fault))
        if not world.is_emptied:
            await _clean_up(cluster)
        nursery.cancel_scope.cancel()
    return Outcome(
        name=scenario.name,
        verdicts=check_all(recording.trace(), scenario.expect),
        records=tuple(recording.records),
        error=end.error,
        error_line=end.line,
        note=end.note,
        virtual_seconds=trio.current_time() - began_at,
    )


async def _full_second(timebase: Timebase) -> None:
    """Wait until a second of the machine's clock begins, as virtual time does.

    API objects have times in whole seconds, so a deadline or a probe's delay depends on the part of a second at which
    a pod comes: it is the same in every run.
    """
    if not timebase.is_virtual:
        await trio.sleep(-timebase.now().timestamp() % 1)


def objects_of(scenario: Scenario) -> Iterator[APIObject]:
    """Yield the objects of a scenario's manifests as they are created."""
    for loaded in scenario.objects:
        yield cast("APIObject", loaded.object)


@frozen
class _Ended:
    """How the drive of a scenario ended: what could not be done and its line, or what is to be noted."""

    error: str = ""
    line: int = 0
    note: str = ""


async def _drive(scenario: Scenario, cluster: Cluster, recording: Recording) -> _Ended:
    """Drive a scenario to its end; APIError when one of its objects can't be created."""

    def create(obj: APIObject) -> APIObject:
        return cluster.api.create(prepare(cast("Written", obj), cluster.settings.features))

    steps = Steps(
        cluster=cluster,
        folder=scenario.folder,
        create=create,
        pods_seen=lambda: tuple(pod for pod in recording.trace().pods),
    )
    driver = Driver(cluster=cluster, scenario=scenario, recording=recording, do=steps)
    in_time = False
    try:
        await driver.prepare()
        for obj in objects_of(scenario):
            create(obj)
        in_time = await driver.run()
    except (StepError, APIError) as fault:
        if (step := driver.current_step) is None:
            raise
        return _Ended(f"{step}: {fault}", step.line)
    finally:
        driver.end(in_time=in_time)
    within = f"within {scenario.timeout_seconds:g} s"
    if (left := driver.next_step) is not None:
        waits = f"{left.at:g} s" if left.after is None else left.after.source
        return _Ended(f"{left} was not done {within}: it waits for {waits}", left.line)
    return _Ended(note="" if in_time else f"its end ({scenario.end}) did not come {within}")


async def _clean_up(cluster: Cluster) -> None:
    """Delete every workload and pod, take the scenario's finalizer off, and wait until the runtime is empty."""
    with trio.move_on_after(CLEAN_UP_SECONDS):
        if not cluster.has_kubelet:
            await cluster.start_kubelet()
        for name in tuple(cluster.static_folder.files):
            cluster.static_folder.remove(name)
        cluster.delete_workloads()
        for pod in cluster.api.list("Pod"):
            namespace, name = pod.metadata.namespace or "", pod.metadata.name or ""
            cluster.api.delete("Pod", namespace, name, grace_period_seconds=1)
            current = cluster.api.get("Pod", namespace, name)
            if current is not None and HOLD_FINALIZER in current.metadata.finalizers:
                kept = tuple(each for each in current.metadata.finalizers if each != HOLD_FINALIZER)
                cluster.api.replace(evolve(current, metadata=evolve(current.metadata, finalizers=kept)))
        await cluster.kubelet.emptied()
