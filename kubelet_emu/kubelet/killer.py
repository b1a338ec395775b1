"""Stopping containers: grace, preStop, the order of sidecars, the signal.

Each container of a pod is stopped in a task of its own; all begin at once with their preStop hooks, and only the stop
signal of a sidecar waits for its turn. A hook that outlives its share of the grace is no longer waited for, but isn't
cancelled either: it lives on in the background until the container dies. Source: kubelet v1.36 killContainer,
killContainersWithSyncResult, newTerminationOrdering (KEP-753).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

import trio
from attrs import define, field, frozen

from kubelet_emu.api import reasons
from kubelet_emu.api.v1 import Container
from kubelet_emu.journal.records import ObjectRef, StopRecord
from kubelet_emu.kubelet.timebase import Lane
from kubelet_emu.rules.restart_policy import is_restartable_init_container
from kubelet_emu.rules.termination import (
    ContainerKillReason,
    container_grace_period,
    remaining_grace,
    stop_timeout,
    termination_prerequisites,
)
from runtime.api import CRIError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from kubelet_emu.api.v1 import AnyContainer, Pod
    from kubelet_emu.api.v1_handlers import LifecycleHandler
    from kubelet_emu.journal.records import Record
    from kubelet_emu.kubelet.hooks import HookOutcome
    from kubelet_emu.kubelet.recorder import Recorder
    from kubelet_emu.kubelet.timebase import Timebase
    from kubelet_emu.rules.observed import ObservedPod
    from runtime.api import ContainerID, ContainerStatus, Runtime


class HookRunner(Protocol):
    """Runs one lifecycle handler to its end."""

    async def __call__(
        self,
        pod: Pod,
        container: AnyContainer,
        container_id: ContainerID,
        handler: LifecycleHandler,
        *,
        hook: str,
        run: int,
    ) -> HookOutcome:
        """Return how the handler ended; never raises a CRIError. `hook` is preStop or postStart."""


@frozen(kw_only=True)
class Kill:
    """One container to stop: why, with which text, and an override of the grace (0 runs no preStop)."""

    container: AnyContainer
    status: ContainerStatus
    message: str
    reason: ContainerKillReason = ContainerKillReason.NONE
    grace_override: int | None = None


@define(eq=False)
class TerminationOrder:
    """Whose signal waits for whom in one kill of a pod (kubelet v1.36 terminationOrdering, KEP-753)."""

    prerequisites: Mapping[str, frozenset[str]]
    _gone: dict[str, trio.Event] = field(factory=dict, init=False)

    def __attrs_post_init__(self) -> None:
        """Make an event for every container that somebody waits for."""
        for names in self.prerequisites.values():
            for name in names:
                self._gone.setdefault(name, trio.Event())

    async def wait_for_turn(self, name: str, deadline: float) -> None:
        """Wait until everything before `name` is gone, or until `deadline` (Trio time)."""
        with trio.move_on_at(deadline):
            for before in sorted(self.prerequisites.get(name, ())):
                await self._gone[before].wait()

    def terminated(self, name: str) -> None:
        """Say that a container is gone."""
        if name in self._gone:
            self._gone[name].set()


@define(eq=False)
class Killer:
    """Stops containers and sandboxes on the runtime."""

    runtime: Runtime
    timebase: Timebase
    emit: Callable[[Record], None]
    recorder: Recorder
    run_hook: HookRunner
    background: trio.Nursery

    async def kill_container(self, pod: Pod, kill: Kill, order: TerminationOrder | None = None) -> str:
        """Stop one container and return the runtime's error, empty when it is gone.

        Cancellation leaves the container to the next round. Source: kubelet v1.36 killContainer.
        """
        name = kill.container.name
        grace = container_grace_period(pod, kill.container, kill.reason)
        self.recorder.event(pod, name, reasons.NORMAL, reasons.KILLING, kill.message)
        if kill.grace_override is not None:
            grace = kill.grace_override
        handler = _pre_stop(kill.container)
        if handler is not None and grace > 0:
            grace = remaining_grace(grace, await self._pre_stop(pod, kill, handler, grace))
        if order is not None and grace > 0:
            waiting_since = trio.current_time()
            await order.wait_for_turn(name, waiting_since + grace)
            grace = remaining_grace(grace, trio.current_time() - waiting_since)
        timeout = stop_timeout(grace)
        await self._turn(pod, name)
        self.emit(
            StopRecord(
                ref=ObjectRef.of(pod.metadata),
                what="StopContainer",
                container=name,
                run=kill.status.metadata.attempt + 1,
                timeout=timeout,
            )
        )
        try:
            await self.runtime.stop_container(kill.status.id, timeout)
        except CRIError as error:
            return str(error)
        if order is not None:
            order.terminated(name)
        return ""

    async def _pre_stop(self, pod: Pod, kill: Kill, handler: LifecycleHandler, grace: int) -> float:
        """Run the hook for at most `grace` seconds and return the seconds it took.

        The hook itself is never cut short: it belongs to the background, and its failure is told whenever it comes.
        """
        done = trio.Event()

        async def run() -> None:
            try:
                run_number = kill.status.metadata.attempt + 1
                outcome = await self.run_hook(
                    pod, kill.container, kill.status.id, handler, hook="preStop", run=run_number
                )
            finally:
                done.set()
            if not outcome.ok:
                self.recorder.event(
                    pod,
                    kill.container.name,
                    reasons.WARNING,
                    reasons.FAILED_PRE_STOP_HOOK,
                    reasons.PRE_STOP_HOOK_FAILED,
                )

        started_at = trio.current_time()
        self.background.start_soon(run)
        with trio.move_on_at(started_at + grace):
            await done.wait()
        return trio.current_time() - started_at

    async def kill_pod(self, pod: Pod, observed: ObservedPod, grace_override: int | None = None) -> tuple[str, ...]:
        """Stop every running container, then the sandboxes, and return the error texts.

        Source: kubelet v1.36 killPodWithSyncResult.
        """
        running = observed.running()
        order = _termination_order(pod, running)
        errors: list[str] = []

        async def stop(status: ContainerStatus) -> None:
            container = _find_container(pod, status.metadata.name)
            if container is None:
                container = Container(name=status.metadata.name)
            message = reasons.stopping_container(container.name)
            kill = Kill(container=container, status=status, message=message, grace_override=grace_override)
            await self._turn(pod, container.name)
            if error := await self.kill_container(pod, kill, order):
                errors.append(reasons.failed_action("KillContainer", container.name, "KillContainerError", error))

        async with trio.open_nursery() as nursery:
            for status in running:
                nursery.start_soon(stop, status)
        return tuple(sorted(errors)) + await self.stop_sandboxes(pod, observed)

    async def _turn(self, pod: Pod, name: str) -> None:
        """Wait until it is this container's turn among all that are stopped at this instant."""
        key = f"{pod.metadata.namespace}/{pod.metadata.name}/{_spec_position(pod, name):03d}"
        await self.timebase.turn(Lane.WORKER, key)

    async def stop_sandboxes(self, pod: Pod, observed: ObservedPod) -> tuple[str, ...]:
        """Stop the sandboxes of a pod, also those that are down already: their network may be left."""
        errors = []
        for sandbox in observed.sandboxes:
            self.emit(
                StopRecord(ref=ObjectRef.of(pod.metadata), what="StopPodSandbox", run=sandbox.metadata.attempt + 1)
            )
            try:
                await self.runtime.stop_pod_sandbox(sandbox.id)
            except CRIError as error:
                uid = pod.metadata.uid or ""
                errors.append(reasons.failed_action("KillPodSandbox", uid, "KillPodSandboxError", str(error)))
        return tuple(errors)


def _termination_order(pod: Pod, running: tuple[ContainerStatus, ...]) -> TerminationOrder | None:
    """Return the order of one kill; None for a pod without sidecars, which stops all at once."""
    if not any(is_restartable_init_container(c) for c in pod.spec.init_containers):
        return None
    return TerminationOrder(termination_prerequisites(pod, frozenset(s.metadata.name for s in running)))


def _pre_stop(container: AnyContainer) -> LifecycleHandler | None:
    return container.lifecycle.pre_stop if container.lifecycle else None


def _find_container(pod: Pod, name: str) -> AnyContainer | None:
    everything: tuple[AnyContainer, ...] = (
        *pod.spec.init_containers,
        *pod.spec.containers,
        *pod.spec.ephemeral_containers,
    )
    return next((c for c in everything if c.name == name), None)


def _spec_position(pod: Pod, name: str) -> int:
    """Order in which kills of one round begin.

    Differs: the kubelet leaves it to chance; here it is mains, ephemeral containers, init containers, in spec order.
    """
    names = [
        c.name
        for group in (pod.spec.containers, pod.spec.ephemeral_containers, pod.spec.init_containers)
        for c in group
    ]
    return names.index(name) if name in names else len(names)
