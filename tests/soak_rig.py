"""A node that many pods live on for a day of virtual time, and all that happens to it."""

from __future__ import annotations

import random
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, cast

import structlog
import trio
from attrs import define, evolve, field, frozen
from soak_invariants import ENGINE_ERROR, Invariants

from kubelet_emu.apiserver.errors import APIError
from kubelet_emu.cluster.cluster import Cluster
from kubelet_emu.config.kubelet_configuration import KubeletConfiguration
from kubelet_emu.journal.journal import Journal
from kubelet_emu.kubelet.node import Node
from kubelet_emu.kubelet.settings import KubeletSettings
from kubelet_emu.kubelet.timebase import Lane, Timebase
from kubelet_emu.manifests.loading import load
from kubelet_emu.manifests.validation.objects import prepare
from kubelet_emu.rules.phase import is_phase_terminal
from kubelet_emu.simulator.opening import EPOCH
from kubelet_emu.simulator.programs import Programs
from runtime.api import ContainerState, CRIError
from runtime.simulated import TYPICAL, FailingCall, FaultPlan, LostEvents, SimulatedRuntime, SlowStops

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

    from kubelet_emu.api.v1 import Pod
    from kubelet_emu.apiserver.objects import APIObject
    from kubelet_emu.kubelet.timing import Timing
    from kubelet_emu.manifests.loading import APIObject as Written
    from runtime.api import Runtime, RuntimeEvent

SHAPES = Path(__file__).parent.parent / "fixtures" / "soak" / "pods.yaml"
WORKLOADS = frozenset({"Job", "CronJob", "Deployment", "StatefulSet", "DaemonSet"})
MOST_PODS = 2000
FAILING_CALLS = ("RunPodSandbox", "CreateContainer", "StartContainer", "StopContainer", "ListContainers", "ExecSync")
ROUND_SECONDS = 5.0
MOST_DELETION_SECONDS = 600.0
DRAIN_SECONDS = 1800.0
BACKOFF_SECONDS = 700.0
"""After so long back-offs are forgotten."""


@frozen(kw_only=True)
class Plan:
    """How many shapes live on the node (about a fifth more pods), for how long, and how often something is done to one.

    `touched_each` is the mean time between two hands on one shape, the other times are means between such events.
    """

    seed: int
    shapes: int
    seconds: float
    timing: Timing
    touched_each: float = 1200.0
    kubelet_restarts_each: float = 1800.0
    engine_restarts_each: float = 7200.0

    def faults(self) -> FaultPlan:
        """Return what goes wrong by itself."""
        rng, at, restarts = random.Random(f"{self.seed}/engine"), 0.0, []  # noqa: S311
        while (at := at + rng.expovariate(1 / self.engine_restarts_each)) < self.seconds:
            restarts.append((at, rng.uniform(0.5, 20)))
        failing = (FailingCall(call=call, error=ENGINE_ERROR, rate=0.002) for call in FAILING_CALLS)
        return FaultPlan(
            pull_failure_rate=0.05,
            slow_stops=(SlowStops(delay=1.5, rate=0.1),),
            lost_events=(LostEvents(rate=0.05),),
            failing_calls=tuple(failing),
            restarts=tuple(restarts),
        )


@cache
def shapes() -> tuple[tuple[Written, ...], tuple[Written, ...]]:
    """Return the shapes, and what they refer to."""
    objects = [loaded.object for loaded in load([str(SHAPES)]).objects]
    return tuple(o for o in objects if o.kind != "ConfigMap"), tuple(o for o in objects if o.kind == "ConfigMap")


@define(eq=False, kw_only=True)
class Soak:
    """The node, who lives on it, and the hands that are laid on it."""

    plan: Plan
    cluster: Cluster
    runtime: SimulatedRuntime
    timebase: Timebase
    invariants: Invariants
    done: dict[str, int] = field(factory=dict)
    _rng: random.Random = field(init=False)
    _is_calm: bool = field(default=False, init=False)

    def __attrs_post_init__(self) -> None:
        """Begin with the plan's numbers."""
        self._rng = random.Random(f"{self.plan.seed}/hands")  # noqa: S311

    # -- who lives there

    def fill(self) -> None:
        """Make every shape that isn't there."""
        kinds, _ = shapes()
        for n in range(self.plan.shapes):
            shape = kinds[n % len(kinds)]
            name = f"{shape.metadata.name}-{n}"
            if self.cluster.api.get(shape.kind, "default", name) is None:
                metadata = evolve(shape.metadata, name=name)
                self.create(evolve(shape, metadata=metadata))  # type: ignore[arg-type]

    def create(self, obj: APIObject) -> None:
        """Create an object as a user does."""
        self.cluster.create(prepare(cast("Written", obj), self.cluster.settings.features))

    def _top(self) -> list[APIObject]:
        """Return what no controller made."""
        api = self.cluster.api
        pods = [each for each in api.list("Pod") if not each.metadata.owner_references]
        return [
            *pods,
            *(each for kind in sorted(WORKLOADS) for each in api.list(kind) if not each.metadata.owner_references),
        ]

    def delete(self, obj: APIObject, grace: int | None = None) -> None:
        """Delete an object as a user does."""
        namespace, name = obj.metadata.namespace or "", obj.metadata.name or ""
        if self.cluster.api.get_by_uid(obj.kind, obj.metadata.uid or "") is not None:
            self.cluster.api.delete(obj.kind, namespace, name, grace_period_seconds=grace)

    # -- hands

    async def keep_full(self) -> None:
        """Replace what has ended, as long as it isn't to be calm."""
        while True:
            await self._wait(ROUND_SECONDS)
            if not self._is_calm:
                ended = [pod for pod in self.cluster.api.list("Pod") if is_phase_terminal(pod.status.phase)]
                for pod in ended:
                    if not pod.metadata.owner_references and self._rng.random() < ROUND_SECONDS / 300:
                        self.delete(pod)
                self.fill()

    async def lay_hands(self) -> None:
        """Do one thing after the other to what is there."""
        acts: Mapping[str, Callable[[], Awaitable[None]]] = {
            "delete": self._delete_any,
            "delete at once": self._force_any,
            "evict": self._evict_any,
            "delete a workload": self._delete_workload,
            "resize": self._resize,
            "kill a container": self._kill_container,
            "remove a container": self._remove_container,
            "kill a sandbox": self._kill_sandbox,
            "remove a sandbox": self._remove_sandbox,
            "remove an image": self._remove_image,
        }
        while True:
            await self._wait(self._rng.expovariate(self.plan.shapes / self.plan.touched_each))
            if self._is_calm:
                continue
            name = self._rng.choice(tuple(acts))
            self.done[name] = self.done.get(name, 0) + 1
            try:
                await acts[name]()
            except (CRIError, APIError):
                self.done["failed"] = self.done.get("failed", 0) + 1

    async def restart_kubelets(self) -> None:
        """Kill the kubelet now and then, and start another one some time later."""
        while True:
            await self._wait(self._rng.expovariate(1 / self.plan.kubelet_restarts_each))
            if self._is_calm:
                continue
            self.invariants.disturb_all()
            self.done["kubelet restarts"] = self.done.get("kubelet restarts", 0) + 1
            await self.cluster.stop_kubelet()
            await self._wait(self._rng.uniform(0, 30))
            await self.cluster.start_kubelet()

    async def follow_engine(self) -> None:
        """Say when the engine is away: its pods are no matter of the rules then."""
        for start, _ in self.plan.faults().restarts:
            await trio.sleep_until(self.timebase.trio_time(start))
            self.invariants.disturb_all()

    async def _wait(self, seconds: float) -> None:
        await trio.sleep(seconds)
        await self.timebase.turn(Lane.CONTROLLER, "~hands")

    def _any_pod(self) -> Pod | None:
        pods = self.cluster.api.list("Pod")
        return self._rng.choice(pods) if pods else None

    async def _delete_any(self) -> None:
        if (pod := self._any_pod()) is not None:
            self.delete(pod, self._rng.choice((None, None, 1, 5)))

    async def _force_any(self) -> None:
        if (pod := self._any_pod()) is not None:
            self.invariants.disturb(pod.metadata.uid or "")
            self.delete(pod, 0)

    async def _evict_any(self) -> None:
        if (pod := self._any_pod()) is not None:
            self.cluster.api.evict(pod.metadata.namespace or "", pod.metadata.name or "")

    async def _delete_workload(self) -> None:
        found = [each for each in self._top() if each.kind in WORKLOADS]
        if found:
            self.delete(self._rng.choice(found))

    async def _resize(self) -> None:
        pods = [each for each in self.cluster.api.list("Pod") if each.spec.containers[0].resources is not None]
        pods = [each for each in pods if each.spec.containers[0].resources.limits and each.status.phase == "Running"]
        if pods:
            pod = self._rng.choice(pods)
            self.invariants.disturb(pod.metadata.uid or "")  # another size begins a new series of back-offs
            memory = f"{self._rng.choice((64, 72, 96))}Mi"
            resources = {"requests": {"memory": memory}, "limits": {"memory": memory}}
            body = {"spec": {"containers": [{"name": pod.spec.containers[0].name, "resources": resources}]}}
            self.cluster.api.resize(pod.metadata.namespace or "", pod.metadata.name or "", body)

    async def _kill_container(self) -> None:
        found = [each for each in await self.runtime.list_containers() if each.state is ContainerState.RUNNING]
        if found:
            chosen = self._rng.choice(found)
            self.invariants.disturb(chosen.labels["io.kubernetes.pod.uid"])
            await self.runtime.kill_container(chosen.id, self._rng.choice(("SIGKILL", "SIGTERM")))

    async def _remove_container(self) -> None:
        found = await self.runtime.list_containers()
        if found:
            chosen = self._rng.choice(found)
            self.invariants.disturb(chosen.labels["io.kubernetes.pod.uid"])
            await self.runtime.remove_container(chosen.id)

    async def _kill_sandbox(self) -> None:
        found = await self.runtime.list_pod_sandboxes()
        if found:
            chosen = self._rng.choice(found)
            self.invariants.disturb(chosen.metadata.uid)
            await self.runtime.kill_pod_sandbox(chosen.id)

    async def _remove_sandbox(self) -> None:
        found = await self.runtime.list_pod_sandboxes()
        if found:
            chosen = self._rng.choice(found)
            self.invariants.disturb(chosen.metadata.uid)
            await self.runtime.remove_pod_sandbox(chosen.id)

    async def _remove_image(self) -> None:
        images = sorted(name for image in await self.runtime.list_images() for name in image.repo_tags)
        if images:
            await self.runtime.remove_image(self._rng.choice(images))

    # -- quiet

    async def drain(self) -> None:
        """Delete everything and wait until nothing is left of it; TooSlowError."""
        self._is_calm = True
        with trio.fail_after(DRAIN_SECONDS):
            while not self.cluster.has_kubelet:
                await self._wait(1)
            for obj in self._top():
                self.delete(obj)
            self.cluster.delete_workloads()
            while self.cluster.api.list("Pod"):
                await self._wait(1)
            await self.cluster.kubelet.emptied()
            await self._wait(BACKOFF_SECONDS)
        await self.look()

    async def left(self) -> tuple[object, ...]:
        """Return what the runtime has."""
        runtime = self.runtime
        volumes = await runtime.list_volumes()
        return (*self.runtime._pods.sandboxes, *self.runtime._pods.containers, *volumes)  # noqa: SLF001 - the same

    def go_on(self) -> None:
        """Let life begin again."""
        self._is_calm = False

    async def look(self) -> None:
        """Have what is gone judged."""
        pods = self.runtime._pods  # noqa: SLF001 - without the engine's faults
        self.invariants.look(frozenset(each.config.metadata.uid for each in pods.sandboxes.values()))

    async def watch(self) -> None:
        """Look every minute."""
        while True:
            await self._wait(60)
            await self.look()


async def soak(plan: Plan, during: Callable[[Soak], Awaitable[None]]) -> Soak:
    """Run a node with its life and its faults for as long as `during` runs; return it."""
    timebase = Timebase(epoch=EPOCH, is_virtual=True)
    programs = Programs()
    async with SimulatedRuntime(
        timebase.now,
        seed=plan.seed,
        turn=partial(timebase.turn, Lane.PROGRAM),
        latencies=TYPICAL,
        faults=plan.faults(),
        adapt=programs,
    ) as runtime:
        invariants = Invariants(seconds=timebase.seconds, most_seconds=MOST_DELETION_SECONDS)
        _listen(runtime, invariants)
        journal = Journal(timebase.now, (invariants.on_entry,))
        cluster = Cluster(
            runtime=cast("Runtime", runtime),
            timebase=timebase,
            node=Node(
                name="node1", milli_cpu=256_000, memory_bytes=1 << 38, host_ips=("10.0.0.1",), max_pods=MOST_PODS
            ),
            settings=KubeletSettings(timing=plan.timing, configuration=KubeletConfiguration(max_pods=MOST_PODS)),
            seed=plan.seed,
            emit=journal.emit,
            log=structlog.wrap_logger(None, processors=[_drop], wrapper_class=structlog.BoundLogger),
        )
        programs.furnish(cluster)
        cluster.api.subscribe(invariants.on_change)
        async with trio.open_nursery() as nursery:
            await nursery.start(cluster.run)
            world = Soak(plan=plan, cluster=cluster, runtime=runtime, timebase=timebase, invariants=invariants)
            for obj in shapes()[1]:
                world.create(obj)
            world.fill()
            for task in (world.keep_full, world.lay_hands, world.restart_kubelets, world.follow_engine, world.watch):
                nursery.start_soon(task)
            await during(world)
            nursery.cancel_scope.cancel()
    return world


def _listen(runtime: SimulatedRuntime, invariants: Invariants) -> None:
    """Have every event of the runtime seen, those too that get lost on their way."""
    hub = runtime.machine.events
    is_lost = hub.is_lost

    def see(event: RuntimeEvent) -> bool:
        invariants.on_event(event)
        return is_lost(event)

    hub.is_lost = see


def _drop(*_: object) -> str:
    raise structlog.DropEvent
