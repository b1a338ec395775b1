"""The emulator of a session on Docker: runtime, API server and kubelet put together."""

from __future__ import annotations

import random
import socket
from contextlib import AsyncExitStack, asynccontextmanager
from typing import TYPE_CHECKING, cast

import structlog
import trio
from attrs import define, evolve

from kubelet_emu.apiserver.store import APIServer
from kubelet_emu.journal.logs import LogFollower
from kubelet_emu.journal.records import NoteRecord
from kubelet_emu.kubelet.api_journal import APIJournal
from kubelet_emu.kubelet.kubelet import Kubelet
from kubelet_emu.kubelet.node import Node
from kubelet_emu.kubelet.settings import KubeletSettings
from kubelet_emu.kubelet.timing import timing_named
from kubelet_emu.manifests.workloads import pod_of_job, random_suffix, random_uid

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable
    from contextlib import AbstractAsyncContextManager

    from kubelet_emu.api.batch_v1 import Job
    from kubelet_emu.cli.execution import Plan, Running
    from kubelet_emu.cli.inputs import Inputs
    from kubelet_emu.cli.options import RunOptions
    from runtime.api import Runtime, RuntimeStatus
    from runtime.docker import DockerRuntime

CLEAN_UP_SECONDS = 60.0
CLOCK_WARNING_SECONDS = 0.5


@define(eq=False, kw_only=True)
class NodeEmulator:
    """A node with its API server; see `kubelet_emu.cli.session.Emulator`."""

    kubelet: Kubelet
    api: APIServer
    logs: LogFollower
    inputs: Inputs
    rng: random.Random

    async def run(self, *, task_status: trio.TaskStatus[None]) -> None:
        """Be the node until cancelled."""
        await self.kubelet.run(task_status=task_status)

    def create(self) -> None:
        """Create what pods refer to, then the pods and Jobs."""
        for obj in self.inputs.stored:
            self.api.create(obj)
        for runnable in self.inputs.runnables:
            created = self.api.create(runnable)
            if created.kind == "Job":
                self._create_pod(cast("Job", created))

    def _create_pod(self, job: Job) -> None:
        """Create the one pod of a Job. No controller tracks it, so nothing would take off the tracking finalizer."""
        pod = pod_of_job(job, self.rng)
        self.api.create(evolve(pod, metadata=evolve(pod.metadata, finalizers=())))

    def delete_all(self, grace_period_seconds: int | None) -> None:
        """Delete every pod and Job."""
        for pod in self.api.list("Pod"):
            namespace, name = pod.metadata.namespace or "", pod.metadata.name or ""
            self.api.delete("Pod", namespace, name, grace_period_seconds=grace_period_seconds)
        for job in self.api.list("Job"):
            self.api.delete("Job", job.metadata.namespace or "", job.metadata.name or "")

    async def settled(self) -> None:
        """Wait until the container logs are read."""
        await self.logs.all_drained()

    async def remove_all(self) -> None:
        """Delete what is left, finalizers or not, and wait until the engine holds nothing of it."""
        self.delete_all(None)
        for pod in self.api.list("Pod"):
            if pod.metadata.finalizers:
                self.api.replace(evolve(pod, metadata=evolve(pod.metadata, finalizers=())))
        await self.kubelet.emptied()


@asynccontextmanager
async def open_emulator(
    running: Running, prepare: Callable[[DockerRuntime], AbstractAsyncContextManager[None]] | None = None
) -> AsyncIterator[NodeEmulator]:
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
        async with trio.open_nursery() as nursery:
            yield _assemble(running, cast("Runtime", runtime), status, nursery)
            nursery.cancel_scope.cancel()


async def _clean_up(runtime: DockerRuntime) -> None:
    """Remove everything of this run, also when it is being cancelled or has failed."""
    with trio.CancelScope(shield=True, deadline=trio.current_time() + CLEAN_UP_SECONDS):
        await runtime.remove_all()


def _check_clock(status: RuntimeStatus, running: Running) -> None:
    offset = status.clock_offset_seconds
    if abs(offset) > CLOCK_WARNING_SECONDS:
        text = f"the engine's clock is {offset:+.1f} s from this machine's"
        running.emit(NoteRecord(level="warning", text=text))


def _assemble(running: Running, runtime: Runtime, status: RuntimeStatus, nursery: trio.Nursery) -> NodeEmulator:
    plan = running.plan
    rng = random.Random(f"{plan.seed}/api")  # noqa: S311 - names, not secrets
    api = APIServer(now=running.timebase.now, new_uid=lambda _key: random_uid(rng), suffix=lambda: random_suffix(rng))
    api.subscribe(APIJournal(emit=running.emit, source_of=lambda _obj: ""))
    logs = LogFollower(runtime, running.emit, nursery)
    kubelet = Kubelet(
        runtime=runtime,
        api=api,
        emit=running.emit,
        timebase=running.timebase,
        settings=make_settings(plan),
        node=make_node(plan.options, status),
        seed=plan.seed,
        logs=logs,
        log=structlog.get_logger(),
    )
    return NodeEmulator(kubelet=kubelet, api=api, logs=logs, inputs=plan.inputs, rng=rng)


def make_settings(plan: Plan) -> KubeletSettings:
    """Return how the kubelet is to behave."""
    options = plan.options
    return KubeletSettings(
        configuration=plan.configuration,
        features=plan.features,
        timing=timing_named(options.timing),
        mirrors=options.registry_mirrors,
        pull_override=options.pull,
        publish_address=options.publish_address,
        keep_removed=options.keep,
    )


def make_node(options: RunOptions, status: RuntimeStatus) -> Node:
    """Return the node: what the options say, else what the engine has."""
    capacity, name = options.node_capacity, options.node_name or socket.gethostname().lower()
    labels = {"kubernetes.io/hostname": name, "kubernetes.io/os": "linux", **options.node_labels}
    return Node(
        name=name,
        host_ips=(status.host_ip,) if status.host_ip else (),
        labels=labels,
        milli_cpu=status.cpus * 1000 if capacity.milli_cpu is None else capacity.milli_cpu,
        memory_bytes=status.memory_bytes if capacity.memory_bytes is None else capacity.memory_bytes,
        ephemeral_storage_bytes=capacity.ephemeral_storage_bytes or 0,
        max_pods=110 if capacity.max_pods is None else capacity.max_pods,
    )
