"""The emulator of a session on Docker: a cluster of one node over DockerRuntime."""

from __future__ import annotations

import os
import shutil
import socket
from contextlib import AsyncExitStack, asynccontextmanager
from typing import TYPE_CHECKING, cast

import structlog
import trio
from attrs import define, evolve

from kubelet_emu.apiserver.keeping import ObjectKeeper
from kubelet_emu.apiserver.objects import key_of
from kubelet_emu.cli.going_on import objects_folder
from kubelet_emu.cluster.bringing_down import bring_down
from kubelet_emu.cluster.cluster import Cluster
from kubelet_emu.images.docker_config import DockerCredentials, docker_config_path
from kubelet_emu.journal.records import NoteRecord
from kubelet_emu.kubelet.configured_node import configured_node
from kubelet_emu.kubelet.node import Node
from kubelet_emu.kubelet.seccomp_profiles import profiles_of_machine
from kubelet_emu.kubelet.settings import KubeletSettings
from kubelet_emu.kubelet.timing import timing_named
from runtime.api import ContainerState, CRIError

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Container
    from contextlib import AbstractAsyncContextManager

    from kubelet_emu.apiserver.objects import ObjectKey
    from kubelet_emu.apiserver.store import APIServer
    from kubelet_emu.cli.inputs import Inputs
    from kubelet_emu.cli.options import RunOptions
    from kubelet_emu.cli.run_plan import Running
    from kubelet_emu.config.kubelet_configuration import KubeletConfiguration
    from kubelet_emu.control.serving import Control
    from runtime.api import ContainerID, Runtime, RuntimeStatus
    from runtime.docker import DockerRuntime

SIMULATED_NODE = "node1"
CLEAN_UP_SECONDS = 60.0
FORCED_STOP_SECONDS = 2.0
CLOCK_WARNING_SECONDS = 0.5


@define(eq=False, kw_only=True)
class ClusterEmulator:
    """A cluster of one node with the objects of a run; see `kubelet_emu.cli.session.Emulator`."""

    cluster: Cluster
    inputs: Inputs
    control: Control | None = None
    created: Container[ObjectKey] = frozenset()

    async def run(self, *, task_status: trio.TaskStatus[None]) -> None:
        """Be the cluster until cancelled, and answer second terminals; containers live on."""
        async with trio.open_nursery() as nursery:
            await nursery.start(self.cluster.run)
            if self.control is not None:
                await nursery.start(self.control.serve, self.cluster)
            task_status.started()

    def create(self) -> None:
        """Create what pods refer to, then the pods and workloads; not what a process before had created."""
        for obj in (*self.inputs.stored, *self.inputs.runnables):
            if key_of(obj) not in self.created:
                self.cluster.create(obj)

    def delete_all(self, grace_period_seconds: int | None) -> None:
        """Delete every pod, then the workloads; in one step, so that no controller makes a new pod in between."""
        api = self.cluster.api
        for pod in api.list("Pod"):
            namespace, name = pod.metadata.namespace or "", pod.metadata.name or ""
            api.delete("Pod", namespace, name, grace_period_seconds=grace_period_seconds)
        self.cluster.delete_workloads()

    async def bring_down(self, grace_period_seconds: int | None) -> None:
        """Delete every pod and workload, StatefulSets last; returns when all have ended."""
        await bring_down(self.cluster, grace_period_seconds)

    async def force(self) -> None:
        """Delete with grace 0, give up pulls, and kill in two seconds what is being stopped with more.

        Differs: a kubelet that has begun a stop keeps to its grace whatever a second delete says; who interrupts
        twice wants to leave.
        """
        self.delete_all(0)
        self.cluster.give_up_pulls()
        try:
            running = await self.cluster.runtime.list_containers()
            async with trio.open_nursery() as nursery:
                for container in running:
                    if container.state is ContainerState.RUNNING:
                        nursery.start_soon(self._stop, container.id)
        except CRIError as error:
            self.cluster.emit(NoteRecord(level="warning", text=f"could not list what runs: {error}"))

    async def _stop(self, container_id: ContainerID) -> None:
        try:
            await self.cluster.runtime.stop_container(container_id, FORCED_STOP_SECONDS)
        except CRIError as error:
            self.cluster.emit(NoteRecord(level="warning", text=f"could not stop {container_id}: {error}"))

    async def settled(self) -> None:
        """Wait until the container logs are read."""
        await self.cluster.logs.all_drained()

    async def remove_all(self) -> None:
        """Delete what is left, finalizers or not, and wait until the engine holds nothing of it."""
        self.delete_all(None)
        for pod in self.cluster.api.list("Pod"):
            if pod.metadata.finalizers:
                self.cluster.api.replace(evolve(pod, metadata=evolve(pod.metadata, finalizers=())))
        await self.cluster.kubelet.emptied()

    async def answers(self) -> None:
        """Return once the runtime has answered; CRIError."""
        await self.cluster.runtime.version()


@asynccontextmanager
async def open_emulator(
    running: Running, prepare: Callable[[DockerRuntime], AbstractAsyncContextManager[None]] | None = None
) -> AsyncIterator[ClusterEmulator]:
    """Open the engine, remove what dead runs left, and give a node; on leaving nothing of this run stays, unless kept.

    `prepare` may load images first and take them away last. RuntimeUnavailableError when no engine answers.
    """
    from runtime.docker import DockerRuntime

    plan, emit = running.plan, running.emit
    runtime = DockerRuntime(
        plan.instance.id,
        root=plan.instance.root,
        keep=plan.options.keep,
        on_note=lambda text: emit(NoteRecord(text=text)),
    )
    async with AsyncExitStack() as stack:
        await stack.enter_async_context(runtime)
        await runtime.cleaner.claim()
        for name in await runtime.sweep_dead_owners():
            emit(NoteRecord(text=f"removed what the dead run {name} had left"))
        if prepare is not None:
            await stack.enter_async_context(prepare(runtime))
        if not plan.options.keep:
            stack.push_async_callback(_clean_up, runtime)
        status = await runtime.status()
        _check_clock(status, running)
        emulator = make_cluster(running, cast("Runtime", runtime), status)
        _keep_objects(running, emulator.cluster.api)
        yield emulator


def _keep_objects(running: Running, api: APIServer) -> None:
    """Have the API's objects kept for whoever goes on with this run if it is killed."""
    plan = running.plan

    def warn(text: str) -> None:
        running.emit(NoteRecord(level="warning", text=text))

    files = {} if plan.dead is None else dict(plan.dead.kept.files)
    folder = objects_folder(plan.instance)
    api.subscribe(ObjectKeeper(folder, on_failure=warn, files=files, clean=running.clean))


async def _clean_up(runtime: DockerRuntime) -> None:
    """Remove everything of this run, also when it is being cancelled or has failed."""
    with trio.CancelScope(shield=True, deadline=trio.current_time() + CLEAN_UP_SECONDS):
        await runtime.remove_all()
        await runtime.remove_own_pause_image()


def _check_clock(status: RuntimeStatus, running: Running) -> None:
    offset = status.clock_offset_seconds
    if abs(offset) > CLOCK_WARNING_SECONDS:
        text = f"the engine's clock is {offset:+.1f} s from this machine's"
        running.emit(NoteRecord(level="warning", text=text))


def make_cluster(running: Running, runtime: Runtime, status: RuntimeStatus) -> ClusterEmulator:
    """Return a cluster over an open runtime with the objects of a run."""
    plan = running.plan
    dead = plan.dead
    cluster = Cluster(
        runtime=runtime,
        timebase=running.timebase,
        node=make_node(plan.options, plan.configuration, status),
        settings=make_settings(running),
        seed=plan.cluster_seed,
        emit=running.emit,
        log=structlog.get_logger(),
        restored=() if dead is None else dead.kept.objects,
        logs_since=None if dead is None else dead.logs_since,
    )
    created = frozenset() if dead is None else dead.kept.files
    return ClusterEmulator(cluster=cluster, inputs=plan.inputs, control=running.control, created=created)


def make_settings(running: Running) -> KubeletSettings:
    """Return how the kubelet is to behave; a simulated one reads nothing of this machine."""
    plan, options = running.plan, running.plan.options

    def warn(text: str) -> None:
        running.emit(NoteRecord(level="warning", text=text))

    return KubeletSettings(
        configuration=plan.configuration,
        features=plan.features,
        timing=timing_named(options.timing_name),
        mirrors=plan.mirrors,
        node_credentials=None
        if options.is_simulated
        else DockerCredentials(path=docker_config_path(os.environ), warn=warn),
        pull_override=options.pull,
        on_pull=running.on_pull,
        publish_address=options.publish_address,
        keep_removed=options.keep,
    )


def make_node(options: RunOptions, configuration: KubeletConfiguration, status: RuntimeStatus) -> Node:
    """Return the node: what the options say, else what the engine has, less what the configuration reserves."""
    capacity, name = (
        options.node_capacity,
        options.node_name or (SIMULATED_NODE if options.is_simulated else socket.gethostname().lower()),
    )
    own = {"hostname": name, "os": "linux", "arch": status.architecture}
    labels = {**{f"kubernetes.io/{key}": value for key, value in own.items()}, **options.node_labels}
    node = Node(
        name=name,
        host_ips=(status.host_ip,) if status.host_ip else (),
        labels=labels,
        milli_cpu=status.cpus * 1000 if capacity.milli_cpu is None else capacity.milli_cpu,
        memory_bytes=status.memory_bytes if capacity.memory_bytes is None else capacity.memory_bytes,
        ephemeral_storage_bytes=shutil.disk_usage("/").total
        if capacity.ephemeral_storage_bytes is None
        else capacity.ephemeral_storage_bytes,
        max_pods=configuration.max_pods if capacity.max_pods is None else capacity.max_pods,
        seccomp=profiles_of_machine(options.seccomp_profile_root, is_simulated=options.is_simulated),
        has_app_armor=status.has_app_armor,
        supports_supplemental_groups_policy=status.supports_supplemental_groups_policy,
    )
    return configured_node(node, configuration)
