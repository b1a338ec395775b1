"""The tables of a simulated engine: sandboxes and containers, by id and by pod."""

from __future__ import annotations

from typing import TYPE_CHECKING

from attrs import define, field

from runtime.api import (
    ContainerID,
    ContainerState,
    NamespaceMode,
    NotFoundError,
    PodSandboxState,
    RuntimeEvent,
    RuntimeEventType,
    SandboxID,
)
from runtime.simulated import signals
from runtime.simulated.container import Container
from runtime.simulated.identity import make_address, make_id
from runtime.simulated.network import NODE
from runtime.simulated.process import PidNamespace
from runtime.simulated.sandbox import Sandbox

if TYPE_CHECKING:
    from runtime.api import ContainerConfig, PodSandboxConfig
    from runtime.simulated.commands import Commands
    from runtime.simulated.machine import Machine


@define(eq=False)
class Pods:
    """Sandboxes and containers; ids follow from identity, so the order of creation does not matter."""

    machine: Machine
    commands: Commands
    seed: int
    sandboxes: dict[SandboxID, Sandbox] = field(factory=dict, init=False)
    containers: dict[ContainerID, Container] = field(factory=dict, init=False)
    _by_uid: dict[str, list[Sandbox]] = field(factory=dict, init=False)

    def sandbox(self, sandbox_id: SandboxID) -> Sandbox:
        """Return a sandbox; NotFoundError."""
        if sandbox_id not in self.sandboxes:
            raise NotFoundError(f"no such sandbox: {sandbox_id}")
        return self.sandboxes[sandbox_id]

    def container(self, container_id: ContainerID) -> Container:
        """Return a container; NotFoundError."""
        if container_id not in self.containers:
            raise NotFoundError(f"no such container: {container_id}")
        return self.containers[container_id]

    def sandboxes_of(self, pod_uid: str | None) -> tuple[Sandbox, ...]:
        """Return all sandboxes or one pod's, newest first."""
        found = self.sandboxes.values() if pod_uid is None else self._by_uid.get(pod_uid, ())
        return tuple(found)[::-1]

    def containers_of(self, pod_uid: str | None) -> tuple[Container, ...]:
        """Return all containers or one pod's, newest first."""
        if pod_uid is None:
            return tuple(self.containers.values())[::-1]
        return tuple(c for sandbox in self.sandboxes_of(pod_uid) for c in reversed(sandbox.containers))

    def add_sandbox(self, config: PodSandboxConfig) -> Sandbox:
        """Start a sandbox, or return the one of the same name and attempt."""
        meta = config.metadata
        sandbox_id = SandboxID(make_id(self.seed, "sandbox", meta.namespace, meta.name, meta.uid, meta.attempt))
        if sandbox_id in self.sandboxes:
            return self.sandboxes[sandbox_id]
        limit = config.resources.memory_limit_bytes if config.resources is not None else None
        sandbox = Sandbox(sandbox_id, config, self.machine.now(), memory_limit_bytes=limit)
        if sandbox.network != NODE:
            addresses = self.machine.network.addresses
            sandbox.address = make_address(self.seed, meta.uid, meta.attempt, addresses.keys())
            addresses[sandbox.address] = sandbox.network
        self.sandboxes[sandbox_id] = sandbox
        self._by_uid.setdefault(meta.uid, []).append(sandbox)
        self._emit(sandbox, RuntimeEventType.SANDBOX_STARTED)
        return sandbox

    def end_sandbox(self, sandbox: Sandbox) -> None:
        """End a sandbox's own process; its address is free again."""
        if sandbox.state is PodSandboxState.NOT_READY:
            return
        sandbox.state = PodSandboxState.NOT_READY
        self.machine.network.addresses.pop(sandbox.address, None)
        for container in sandbox.containers:
            if container.shares_pids and container.first is not None:
                container.first.die(signals.SIGKILL)
        self._emit(sandbox, RuntimeEventType.SANDBOX_STOPPED)

    async def stop_sandbox(self, sandbox: Sandbox) -> None:
        """Kill the containers that still run, wait for their ends, then end the sandbox."""
        for container in sandbox.containers:
            container.signal(signals.SIGKILL, own=False)
        for container in tuple(sandbox.containers):
            if container.state is ContainerState.RUNNING:
                await container.ended.wait()
        self.end_sandbox(sandbox)

    def remove_sandbox(self, sandbox: Sandbox) -> None:
        """Forget a stopped sandbox and its containers."""
        for container in tuple(sandbox.containers):
            self.remove_container(container)
        self.sandboxes.pop(sandbox.id, None)
        self.machine.events.changes += 1  # no event tells of it
        mine = self._by_uid.get(sandbox.config.metadata.uid, [])
        if sandbox in mine:
            mine.remove(sandbox)
        if not mine:
            self._by_uid.pop(sandbox.config.metadata.uid, None)

    def add_container(self, sandbox: Sandbox, config: ContainerConfig) -> Container:
        """Create a container, or return the one of the same name and attempt."""
        meta = config.metadata
        container_id = ContainerID(make_id(self.seed, "container", sandbox.id, meta.name, meta.attempt))
        if container_id in self.containers:
            return self.containers[container_id]
        image = self.commands.image_of(config)
        program = self.commands.program_of(config, image)
        pids = self._pids(sandbox, config)
        stop_signal = signals.signal_number(config.stop_signal or image.stop_signal or "SIGTERM")
        limit = config.resources.memory_limit_bytes
        container = Container(
            container_id, sandbox, config, image, self.machine, program, self.commands, self.machine.now(), pids,
            stop_signal, limit,
        )  # fmt: skip
        self.containers[container_id] = container
        sandbox.containers.append(container)
        container.emit(RuntimeEventType.CONTAINER_CREATED)
        return container

    def _pids(self, sandbox: Sandbox, config: ContainerConfig) -> PidNamespace:
        options = config.security.namespaces
        if options.pid is NamespaceMode.TARGET and options.target_id in self.containers:
            return self.containers[options.target_id].pids
        return sandbox.pids if options.pid is NamespaceMode.POD else PidNamespace()

    def remove_container(self, container: Container) -> None:
        """Forget a container that does not run."""
        if self.containers.pop(container.id, None) is not None:
            container.sandbox.containers.remove(container)
            container.emit(RuntimeEventType.CONTAINER_REMOVED)

    def _emit(self, sandbox: Sandbox, kind: RuntimeEventType) -> None:
        uid = sandbox.config.metadata.uid
        event = RuntimeEvent(type=kind, at=self.machine.now(), pod_uid=uid, sandbox_id=sandbox.id)
        self.machine.events.publish(event)
