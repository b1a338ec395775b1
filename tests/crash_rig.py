"""A node whose whole process is killed in virtual time, as `kill -9` does, and started again over the same machine.

The process sees the machine through `MortalRuntime`. When its time has come no call of it ever comes back, nothing it
does is kept, and its tasks go; what the engine had begun is done.
"""

from __future__ import annotations

from collections import Counter
from functools import partial
from typing import TYPE_CHECKING, Any, cast

import pytest
import structlog
import trio
from attrs import define, evolve, field

from kubelet_emu.api.batch_v1 import Job
from kubelet_emu.api.v1 import Pod
from kubelet_emu.apiserver.keeping import ObjectKeeper, read_kept
from kubelet_emu.apiserver.objects import key_of
from kubelet_emu.cli.worlds import simulated_images
from kubelet_emu.cluster.cluster import Cluster
from kubelet_emu.journal.journal import Journal
from kubelet_emu.kubelet.settings import KubeletSettings
from kubelet_emu.kubelet.virtual_clock import VirtualClock
from kubelet_emu.manifests.validation.objects import prepare
from kubelet_emu.rules.phase import is_phase_terminal
from kubelet_emu.scenarios.needs import APP_ARMOR, CGROUP_V2, read_needs
from kubelet_emu.scenarios.node import scenario_node
from kubelet_emu.scenarios.runner import objects_of
from kubelet_emu.simulation.reading import files_beside, read_file
from kubelet_emu.simulation.values import Simulation
from kubelet_emu.simulator.opening import Machine, open_machine, virtual_timebase
from runtime.api import RuntimeEventType

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from kubelet_emu.apiserver.keeping import Kept
    from kubelet_emu.apiserver.watches import WatchEvent
    from kubelet_emu.journal.encode import Entry
    from kubelet_emu.kubelet.timebase import Timebase
    from kubelet_emu.manifests.loading import APIObject as Written
    from kubelet_emu.scenarios.scenario_file import Scenario
    from kubelet_emu.simulator.opening import OpenMachine
    from runtime.api import ContainerID, Runtime, RuntimeEvent, RuntimeStatus

SENT = frozenset({"run_pod_sandbox", "create_container", "start_container", "remove_container"})
"""What the engine does to the end once it was asked; of a stop that waits it knows nothing but the signal."""
LIMIT_SECONDS = 900.0
HOST_IP = "10.0.0.1"
DOWN_SECONDS = 0.5


@define(eq=False)
class Life:
    """Whether a process still lives; its records are counted, and the n-th is its last."""

    last_record: int | None = None
    records: int = 0
    is_over: bool = False
    scope: trio.CancelScope = field(factory=trio.CancelScope)

    def __call__(self, _entry: Entry) -> None:
        """Count a record; at the last one the process is no more."""
        self.records += 1
        if self.records == self.last_record:
            self.is_over = True
            self.scope.cancel()


@define(eq=False)
class MortalRuntime:
    """The runtime as one process sees it."""

    inner: Runtime
    life: Life

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - stands for every method
        """Return a method of the runtime that doesn't come back to a process which is no more."""
        method = getattr(self.inner, name)
        if name in {"events", "container_logs", "changes"}:
            return method

        async def call(*arguments: object, **named: object) -> object:
            if self.life.is_over:
                await trio.sleep_forever()
            with trio.CancelScope(shield=name in SENT):
                result = await method(*arguments, **named)
            if self.life.is_over:
                await trio.sleep_forever()
            return result

        return call


@define(eq=False)
class Watch:
    """What the machine saw: how often each instance of a container was started, and how many ran at once."""

    runtime: Runtime
    starts: Counter[tuple[str, str, int]] = field(factory=Counter)
    most_at_once: int = 0
    _running: dict[ContainerID, tuple[str, str]] = field(factory=dict)

    async def run(self, *, task_status: trio.TaskStatus[None]) -> None:
        """Follow the runtime's events until cancelled."""
        async with self.runtime.events() as events:
            task_status.started()
            async for event in events:
                self._see(event)

    def _see(self, event: RuntimeEvent) -> None:
        if event.type is RuntimeEventType.CONTAINER_STARTED:
            whose = (event.pod_uid, event.container_name)
            self.starts[(*whose, event.attempt)] += 1
            self._running[event.container_id] = whose
            self.most_at_once = max(self.most_at_once, *Counter(self._running.values()).values())
        elif event.type in {RuntimeEventType.CONTAINER_EXITED, RuntimeEventType.CONTAINER_REMOVED}:
            self._running.pop(event.container_id, None)


@define(eq=False, kw_only=True)
class Story:
    """What was seen of a run, whoever of its processes saw it; keys of pods and Jobs are their names."""

    records: int = 0
    uids: dict[str, set[str]] = field(factory=dict)
    phases: dict[str, str] = field(factory=dict)
    restarts: dict[tuple[str, str], int] = field(factory=dict)
    jobs: dict[str, str] = field(factory=dict)
    left: list[str] = field(factory=list)

    def see(self, event: WatchEvent) -> None:
        """Take a change of the API."""
        obj = event.object
        if isinstance(obj, Pod):
            uid = obj.metadata.uid or ""
            self.uids.setdefault(obj.metadata.name or "", set()).add(uid)
            self.phases[obj.metadata.name or ""] = obj.status.phase or ""
            for status in (*obj.status.init_container_statuses, *obj.status.container_statuses):
                self.restarts[uid, status.name] = status.restart_count
        elif isinstance(obj, Job):
            ends = [each.type or "" for each in obj.status.conditions if each.status == "True"]
            self.jobs[obj.metadata.name or ""] = next((each for each in ends if each in {"Complete", "Failed"}), "")


@define(eq=False, kw_only=True)
class Node:
    """The machine on which one process after the other runs a scenario's manifests."""

    scenario: Scenario
    folder: Path
    opened: OpenMachine
    status: RuntimeStatus
    timebase: Timebase
    delete_at: float
    story: Story = field(factory=Story)

    async def live(self, number: int, last_record: int | None) -> bool:
        """Be the n-th process, until it is killed or everything has ended and is gone; tell whether it was killed."""
        life, kept = Life(last_record), read_kept(self.folder)
        cluster = self._cluster(number, life, kept)
        with life.scope:
            async with trio.open_nursery() as nursery:
                await nursery.start(cluster.run)
                self._create(cluster, kept)
                with trio.move_on_at(self.delete_at):
                    await _until_ended(cluster)
                _delete_all(cluster)
                with trio.fail_after(LIMIT_SECONDS):
                    await cluster.kubelet.emptied()
                nursery.cancel_scope.cancel()
        self.story.records += life.records
        return life.is_over

    def _cluster(self, number: int, life: Life, kept: Kept) -> Cluster:
        needs, status = read_needs(self.scenario.needs), self.status
        journal = Journal(self.timebase.now, (life,))
        cluster = Cluster(
            runtime=cast("Runtime", MortalRuntime(self.opened.runtime, life)),
            timebase=self.timebase,
            node=scenario_node(
                status,
                host_ip=HOST_IP,
                has_app_armor=status.has_app_armor,
                seccomp_profile_root=self.scenario.seccomp_profile_root,
            ),
            settings=evolve(KubeletSettings(), configuration=needs.configuration, features=needs.features),
            seed=number,
            emit=lambda record: None if life.is_over else journal.emit(record),
            log=structlog.get_logger(),
            restored=kept.objects,
        )
        keeper = ObjectKeeper(self.folder, on_failure=pytest.fail, files=dict(kept.files))
        for listener in (keeper, self.story.see):
            cluster.api.subscribe(partial(_tell, listener, life))
        self.opened.furnish(cluster)
        return cluster

    def _create(self, cluster: Cluster, kept: Kept) -> None:
        for obj in objects_of(self.scenario):
            if key_of(obj) not in kept.files:
                cluster.api.create(prepare(cast("Written", obj), cluster.settings.features))


def _tell(listener: Callable[[WatchEvent], None], life: Life, event: WatchEvent) -> None:
    """Let a listener hear what a living process does."""
    if not life.is_over:
        listener(event)


async def _until_ended(cluster: Cluster) -> None:
    """Wait until each pod has ended and each Job has its verdict."""
    changed = trio.Event()

    def wake(_event: WatchEvent) -> None:
        nonlocal changed
        changed.set()
        changed = trio.Event()

    unsubscribe = cluster.api.subscribe(wake)
    while not _has_ended(cluster):
        await changed.wait()
    unsubscribe()


def _has_ended(cluster: Cluster) -> bool:
    pods, jobs = cluster.api.list("Pod"), cluster.api.list("Job")
    verdicts = [any(each.type in {"Complete", "Failed"} for each in job.status.conditions) for job in jobs]
    return all(is_phase_terminal(pod.status.phase) for pod in pods) and all(verdicts)


def _delete_all(cluster: Cluster) -> None:
    for pod in cluster.api.list("Pod"):
        cluster.api.delete("Pod", pod.metadata.namespace or "", pod.metadata.name or "")
    cluster.delete_workloads()


async def _lived(scenario: Scenario, folder: Path, kills: tuple[int, ...], delete_at: float) -> tuple[Story, Watch]:
    timebase = virtual_timebase()
    places = read_needs(scenario.needs).places
    machine = Machine(
        seed=1,
        simulation=_simulation_of(scenario),
        images=simulated_images(scenario),
        oom_kills_group=CGROUP_V2 in places,
        has_app_armor=APP_ARMOR in places,
    )
    async with open_machine(machine, timebase) as opened, trio.open_nursery() as nursery:
        nursery.start_soon(timebase.referee)  # the machine's time goes on while no process lives
        watch = Watch(opened.runtime)
        await nursery.start(watch.run)
        status = await opened.runtime.status()
        node = Node(
            scenario=scenario, folder=folder, opened=opened, status=status, timebase=timebase, delete_at=delete_at
        )
        for number, last_record in enumerate((*kills, None)):
            if not await node.live(number, last_record):
                break
            await trio.sleep(DOWN_SECONDS)
        node.story.left += [each.metadata.name for each in await opened.runtime.list_containers()]
        node.story.left += [each.metadata.name for each in await opened.runtime.list_pod_sandboxes()]
        node.story.left += [handle for handle, _ in await opened.runtime.list_volumes()]
        nursery.cancel_scope.cancel()
    return node.story, watch


def lived(scenario: Scenario, folder: Path, *kills: int, delete_at: float = LIMIT_SECONDS) -> tuple[Story, Watch]:
    """Run a scenario's manifests with a process that is killed at its n-th record, then the next one, and so on."""
    return trio.run(_lived, scenario, folder, kills, delete_at, clock=VirtualClock())


def _simulation_of(scenario: Scenario) -> Simulation:
    value = Simulation()
    for path in files_beside([str(scenario.path), *(loaded.source.file for loaded in scenario.objects)]):
        value += read_file(path).value
    return value
