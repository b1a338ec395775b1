"""Opens what a node's containers run on: a machine in virtual time, or a Docker engine."""

from __future__ import annotations

import os
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, cast

import trio
from attrs import frozen

from kubelet_emu.embedding.guard import guarded
from kubelet_emu.embedding.instances import default_root, new_instance_id
from kubelet_emu.kubelet.node import Node as NodeFacts
from kubelet_emu.kubelet.timebase import Timebase
from runtime.api import CRIError, RuntimeUnavailableError

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

    from kubelet_emu.cluster.cluster import Cluster
    from kubelet_emu.embedding.options import NodeOptions
    from runtime.api import Runtime, RuntimeStatus
    from runtime.docker import DockerRuntime

NODE_NAME = "node1"
CLEAN_UP_SECONDS = 60.0


@frozen(kw_only=True)
class World:
    """An open runtime with its clock and its node; `furnish` is called with the cluster before it runs."""

    runtime: Runtime
    timebase: Timebase
    node: NodeFacts
    furnish: Callable[[Cluster], None] = lambda _: None


@asynccontextmanager
async def open_world(options: NodeOptions) -> AsyncIterator[World]:
    """Give a runtime; on leaving nothing of it stays. RuntimeUnavailableError when no engine answers, then or later."""
    opened = _simulated(options) if options.is_simulated else _docker(options)
    async with opened as world:
        yield world


@asynccontextmanager
async def _simulated(options: NodeOptions) -> AsyncIterator[World]:
    # half of the programs need the other one
    from kubelet_emu.simulator.opening import Machine, open_machine, virtual_timebase  # noqa: PLC0415

    timebase = virtual_timebase()
    async with open_machine(Machine(seed=options.seed, simulation=options.simulation), timebase) as opened:
        node = _node(options, await opened.runtime.status())
        yield World(runtime=opened.runtime, timebase=timebase, node=node, furnish=opened.furnish)


@asynccontextmanager
async def _docker(options: NodeOptions) -> AsyncIterator[World]:
    from runtime.docker import DockerRuntime  # noqa: PLC0415 - as above

    root, instance = default_root(os.environ, os.getuid()), new_instance_id()
    async with DockerRuntime(instance, root=root) as runtime, guarded(instance, root) as guard:
        await runtime.cleaner.claim()
        try:
            await runtime.sweep_dead_owners()
            given = cast("Runtime", runtime)
            yield World(runtime=given, timebase=Timebase.real(), node=_node(options, await given.status()))
        finally:
            left = await _left_on(runtime, f"kubelet-emu prune --root-dir {root}")
            guard.is_needed = left is not None
    if left is not None:
        raise left


async def _left_on(runtime: DockerRuntime, command: str) -> RuntimeUnavailableError | None:
    """Take away what an instance has on its engine, in a minute; return why that can't be, with what does it later."""
    failure: CRIError | None = None
    with trio.CancelScope(shield=True, deadline=trio.current_time() + CLEAN_UP_SECONDS):
        try:
            await runtime.remove_all()
            await runtime.remove_own_pause_image()
        except CRIError as error:
            failure = error
        else:
            return None
    why = failure or f"it has not answered for {CLEAN_UP_SECONDS:g} s"
    left = RuntimeUnavailableError(
        f"the engine is gone, so what this node had started may be left there: {why}; once the engine is back and "
        f"this program has ended, {command!r} removes it"
    )
    left.__cause__ = failure
    return left


def _node(options: NodeOptions, status: RuntimeStatus) -> NodeFacts:
    return NodeFacts(
        name=NODE_NAME,
        host_ips=(status.host_ip,) if status.host_ip else (),
        labels={"kubernetes.io/hostname": NODE_NAME, "kubernetes.io/os": "linux", "kubernetes.io/arch": "amd64"},
        milli_cpu=status.cpus * 1000,
        memory_bytes=status.memory_bytes,
        ephemeral_storage_bytes=100 << 30,
        seccomp=options.seccomp,
        has_app_armor=status.has_app_armor,
        supports_supplemental_groups_policy=status.supports_supplemental_groups_policy,
    )
