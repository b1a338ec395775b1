"""The simulated runtime: `runtime.api.Runtime` on Trio's clock, without threads and I/O.

Everything that exists lives in this object; leaving it ends every process without a trace, as when a machine is
switched off. What happens at one instant is ordered by `turn`, so a run does not depend on Trio's scheduler.
"""

from __future__ import annotations

from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Self

import trio

from runtime.api import (
    ContainerState,
    CRIError,
    RuntimeEvent,
    RuntimeEventType,
    RuntimeUnavailableError,
    RuntimeVersion,
)
from runtime.simulated import signals
from runtime.simulated.attaching import attach
from runtime.simulated.commands import Commands
from runtime.simulated.events import EventHub
from runtime.simulated.exec_session import EndedSession
from runtime.simulated.faults import FaultPlan, Faults
from runtime.simulated.from_node import HOST_ADDRESS, dial_host
from runtime.simulated.images import ImageStore, SimulatedImage
from runtime.simulated.latencies import Latencies
from runtime.simulated.machine import Abilities, Machine
from runtime.simulated.pods import Pods
from runtime.simulated.tree import Directory, Tree, bytes_below
from runtime.simulated.turns import Referee
from runtime.simulated.views import machine_status, status_of, summary_of
from runtime.simulated.volumes import VolumeStore

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Mapping
    from contextlib import AbstractAsyncContextManager
    from datetime import datetime

    from runtime.api import (
        AttachSession,
        AuthConfig,
        ContainerConfig,
        ContainerID,
        ContainerStatus,
        ContainerSummary,
        ExecResult,
        ExecSession,
        Image,
        ImageID,
        LinuxContainerResources,
        LogLine,
        Mount,
        NamespaceMode,
        NetworkFiles,
        PodSandboxConfig,
        PodSandboxStatus,
        PullProgress,
        RuntimeStatus,
        SandboxID,
        VolumeConfig,
        VolumeFile,
        VolumeHandle,
    )
    from runtime.simulated.commands import Adapt
    from runtime.simulated.program import Program
    from runtime.simulated.turns import Turn

NO_LATENCIES = Latencies()
NO_FAULTS = FaultPlan()
ANY_IMAGE = SimulatedImage()
COMMON_ABILITIES = Abilities()


class SimulatedRuntime:
    """A container runtime in memory.

    `now` is the wall time of every timestamp; `turn` orders what happens at one instant (by default an own referee
    does). `programs` says what a container runs; None leaves it to its image and command. What these give, `adapt` may
    change; it gets the words of the container's shell, too.
    """

    def __init__(  # noqa: PLR0913 - the parts of a machine, all with defaults
        self,
        now: Callable[[], datetime],
        *,
        seed: int = 0,
        turn: Turn | None = None,
        programs: Callable[[ContainerConfig], Program | None] | None = None,
        images: Mapping[str, SimulatedImage] | None = None,
        default_image: SimulatedImage = ANY_IMAGE,
        latencies: Latencies = NO_LATENCIES,
        faults: FaultPlan = NO_FAULTS,
        abilities: Abilities = COMMON_ABILITIES,
        exit_code_on_term: int | None = 0,
        adapt: Adapt | None = None,
        hostname: str = "node1",
    ) -> None:
        """Make a machine with nothing on it but the images that are present from the start."""
        self._latencies = latencies
        self._faults = Faults(faults, seed)
        self._referee = Referee()
        self._has_own_turns = turn is None
        host = Tree(Directory(), lambda: now().timestamp())
        hub = EventHub(lambda event: bool(faults.lost_events) and self._faults.is_lost(event, self._age()))
        turns = turn or self._referee.turn
        self.machine = Machine(
            now, turns, hub, host, abilities=abilities, boot_seconds=latencies.boot, hostname=hostname
        )
        self._images = ImageStore(images or {}, default_image, seed, self._faults, turns)
        self._volumes = VolumeStore(host.now)
        commands = Commands(self._images, self._volumes, programs, exit_code_on_term, adapt)
        self._pods = Pods(self.machine, commands, seed)
        self._nursery_manager: AbstractAsyncContextManager[trio.Nursery] | None = None
        self._nursery: trio.Nursery | None = None
        self._opened_at = 0.0
        self._calls = 0

    async def __aenter__(self) -> Self:
        """Switch the machine on."""
        self._nursery_manager = trio.open_nursery()
        self._nursery = await self._nursery_manager.__aenter__()
        self._opened_at = trio.current_time()
        if self._has_own_turns:
            self._nursery.start_soon(self._referee.run)
        for start, seconds in self._faults.plan.restarts:
            self._nursery.start_soon(self._come_back, self._opened_at + start + seconds)
        return self

    async def __aexit__(self, *exc: object) -> bool | None:
        """Switch it off: every process is gone."""
        if self._nursery is None or self._nursery_manager is None:
            return None
        self._nursery.cancel_scope.cancel()
        self._nursery = None
        return await self._nursery_manager.__aexit__(*exc)  # type: ignore[arg-type]

    async def _come_back(self, at: float) -> None:
        await trio.sleep_until(at)
        self.machine.events.publish(RuntimeEvent(type=RuntimeEventType.RESYNC, at=self.machine.now()))

    async def _enter(self, seconds: float = 0.0, *, call: str = "", settles: bool = False) -> trio.Nursery:
        """Take a call's time, one that `settles` at least until all that happens now has; CRIError when it is to fail.

        RuntimeUnavailableError while the engine is away or the runtime is not open. Calls that end at one instant go
        on in the order in which they were made.
        """
        if seconds or settles:
            self._calls += 1
            await self.machine.turn(f"{self._calls:012d}", trio.current_time() + seconds)
        else:
            await trio.lowlevel.checkpoint()
        return self._opened(call)

    async def _look(self, call: str) -> None:
        """Take the time of a call that only reads; where that is none, nobody else runs meanwhile."""
        if self._latencies.query:
            await self._enter(self._latencies.query, call=call)
        else:
            await trio.lowlevel.checkpoint_if_cancelled()
            self._opened(call)

    def _opened(self, call: str) -> trio.Nursery:
        """Return the nursery of processes; CRIError, RuntimeUnavailableError."""
        if self._nursery is None:
            raise RuntimeUnavailableError("the simulated runtime is not open")
        if self._faults.plan.restarts and self._faults.is_away(self._age()):
            raise RuntimeUnavailableError("the simulated engine does not answer")
        if self._faults.plan.failing_calls and (error := self._faults.call_error(call, self._age())) is not None:
            raise CRIError(error)
        return self._nursery

    def _age(self) -> float:
        return trio.current_time() - self._opened_at

    def changes(self) -> int | None:
        """Return how often what the lists show may have changed; None where a list takes time or may fail."""
        is_unsure = self._latencies.query or self._faults.plan.breaks_calls or self._nursery is None
        return None if is_unsure else self.machine.events.changes

    async def version(self) -> RuntimeVersion:
        """Return the runtime's name and versions."""
        await self._enter()
        return RuntimeVersion(runtime_name="simulated", runtime_version="1", api_version="v1")

    async def status(self) -> RuntimeStatus:
        """Return the runtime's readiness."""
        await self._enter()
        return machine_status(self.machine, HOST_ADDRESS)

    async def network_files(self, network: NamespaceMode) -> NetworkFiles:
        """Return what stands in /etc of a sandbox with the node's network, or with one of its own."""
        await self._enter()
        return self.machine.files(network)

    async def run_pod_sandbox(self, config: PodSandboxConfig) -> SandboxID:
        """Create and start a sandbox and return its id; one of the same name and attempt that exists is adopted."""
        await self._enter(self._latencies.run_sandbox, call="RunPodSandbox")
        return self._pods.add_sandbox(config).id

    async def stop_pod_sandbox(self, sandbox_id: SandboxID) -> None:
        """Kill what still runs in the sandbox, then the sandbox; its network goes with it."""
        await self._enter(self._latencies.stop_sandbox, call="StopPodSandbox")
        if sandbox_id in self._pods.sandboxes:
            await self._pods.stop_sandbox(self._pods.sandbox(sandbox_id))

    async def kill_pod_sandbox(self, sandbox_id: SandboxID) -> None:
        """End a sandbox's own process, from outside; containers go on, unless they share its process ids."""
        await self._enter()
        self._pods.end_sandbox(self._pods.sandbox(sandbox_id))

    async def remove_pod_sandbox(self, sandbox_id: SandboxID) -> None:
        """Remove the sandbox and every container in it."""
        await self._enter(self._latencies.remove, call="RemovePodSandbox")
        if sandbox_id in self._pods.sandboxes:
            sandbox = self._pods.sandbox(sandbox_id)
            await self._pods.stop_sandbox(sandbox)
            self._pods.remove_sandbox(sandbox)

    async def list_pod_sandboxes(self, pod_uid: str | None = None) -> tuple[PodSandboxStatus, ...]:
        """Return the sandboxes, or those of one pod, newest first."""
        await self._look("ListPodSandbox")
        return tuple(sandbox.status() for sandbox in self._pods.sandboxes_of(pod_uid))

    async def pod_sandbox_status(self, sandbox_id: SandboxID) -> PodSandboxStatus:
        """Return one sandbox; NotFoundError."""
        await self._look("PodSandboxStatus")
        return self._pods.sandbox(sandbox_id).status()

    async def create_container(
        self,
        sandbox_id: SandboxID,
        config: ContainerConfig,
        sandbox_config: PodSandboxConfig,  # noqa: ARG002 - the protocol has it
    ) -> ContainerID:
        """Create a container in the sandbox; NotFoundError for what isn't there, CRIError without its profile."""
        await self._enter(self._latencies.create, call="CreateContainer")
        self.machine.abilities.check(config.security)
        return self._pods.add_container(self._pods.sandbox(sandbox_id), config).id

    async def start_container(self, container_id: ContainerID) -> None:
        """Start a created container; StartError when its process can't be started."""
        nursery = await self._enter(self._latencies.start, call="StartContainer")
        container = self._pods.container(container_id)
        if container.state is ContainerState.CREATED:
            container.start(nursery)

    async def stop_container(self, container_id: ContainerID, timeout_seconds: float) -> None:
        """Send the stop signal once, wait until the container is dead, and SIGKILL it after `timeout_seconds`."""
        await self._enter(self._latencies.stop, call="StopContainer")
        container = self._pods.containers.get(container_id)
        if container is not None and container.state is ContainerState.RUNNING:
            await container.stop(timeout_seconds, self._faults.stop_delay(container.turn_key, self._age()))
            await self._enter(self._latencies.reap)

    async def kill_container(self, container_id: ContainerID, signal: str) -> None:
        """Send one signal at once, as from outside, without waiting."""
        await self._enter()
        self._pods.container(container_id).signal(signals.signal_number(signal), own=False)

    async def remove_container(self, container_id: ContainerID, *, keep_logs: bool = False) -> None:  # noqa: ARG002 - the protocol has it
        """Remove a container, killing it if need be."""
        await self._enter(self._latencies.remove, call="RemoveContainer")
        container = self._pods.containers.get(container_id)
        if container is None:
            return
        if container.state is ContainerState.RUNNING:
            container.signal(signals.SIGKILL, own=True)
            await container.ended.wait()
        self._pods.remove_container(container)

    async def list_containers(self, pod_uid: str | None = None) -> tuple[ContainerSummary, ...]:
        """Return the containers, or those of one pod, newest first."""
        await self._look("ListContainers")
        return tuple(summary_of(container) for container in self._pods.containers_of(pod_uid))

    async def container_status(self, container_id: ContainerID) -> ContainerStatus:
        """Return one container in full; NotFoundError."""
        await self._look("ContainerStatus")
        return status_of(self._pods.container(container_id))

    async def update_container_resources(self, container_id: ContainerID, resources: LinuxContainerResources) -> None:
        """Change the limits of a running container."""
        await self._enter(call="UpdateContainerResources")
        container = self._pods.container(container_id)
        if resources.memory_limit_bytes is not None:
            container.memory_limit_bytes = resources.memory_limit_bytes

    async def container_disk_usage(self, container_id: ContainerID) -> int:
        """Return the bytes that a container has written: in its own layer of files, and to its log; NotFoundError."""
        await self._enter()
        container = self._pods.container(container_id)
        return bytes_below(container.tree.root) - container.tree.image_bytes + container.log.size_bytes

    async def exec_sync(
        self, container_id: ContainerID, command: tuple[str, ...], timeout_seconds: float | None = None
    ) -> ExecResult:
        """Run a command in a running container; ExecTimeoutError, ExecStartError. Cancellation lets it go on."""
        await self._enter(self._latencies.exec, call="ExecSync")
        result = await self._pods.container(container_id).exec(command, timeout_seconds)
        await self._enter(self._latencies.exec_end)
        return result

    @asynccontextmanager
    async def exec_stream(
        self, container_id: ContainerID, command: tuple[str, ...], *, stdin: bool = False, tty: bool = False
    ) -> AsyncIterator[ExecSession]:
        """Run a command to its end: its input is empty, its output comes whole; ExecStartError."""
        del stdin, tty
        yield EndedSession(await self.exec_sync(container_id, command))

    def attach(self, container_id: ContainerID, *, stdin: bool = False) -> AbstractAsyncContextManager[AttachSession]:
        """Join the streams of a running container's first process: CRIError, NotFoundError."""
        return attach(self._pods.container(container_id), stdin=stdin)

    def container_logs(
        self, container_id: ContainerID, *, follow: bool = False, tail: int | None = None, since: datetime | None = None
    ) -> AbstractAsyncContextManager[AsyncIterator[LogLine]]:
        """Open a log; NotFoundError."""
        return self._pods.container(container_id).log.open(follow=follow, tail=tail, since=since)

    async def dial(self, sandbox_id: SandboxID, port: int) -> trio.abc.Stream:
        """Connect to a TCP port in the sandbox's network; ConnectionRefusedError when nothing listens."""
        await self._enter(self._latencies.dial, settles=True)
        return self.machine.network.dial(self._pods.sandbox(sandbox_id).network, port)

    async def dial_host(self, host: str, port: int) -> trio.abc.Stream:
        """Connect from the node to a host; OSError. Nothing real is ever reached."""
        await self._enter(self._latencies.dial, settles=True)
        return dial_host(self._pods, host, port)

    def events(self) -> AbstractAsyncContextManager[AsyncIterator[RuntimeEvent]]:
        """Subscribe to events from now on."""
        return self.machine.events.subscribe()

    async def pull_image(
        self,
        image: str,
        *,
        auth: AuthConfig | None = None,
        progress: Callable[[PullProgress], None] | None = None,
    ) -> ImageID:
        """Pull an image as the table says; ImagePullError and its kinds. Cancellation leaves nothing behind."""
        await self._enter()
        return await self._images.pull(image, auth, progress)

    async def image_status(self, image: str) -> Image | None:
        """Return the image known under this name, digest or id, None when absent."""
        await self._look("ImageStatus")
        return self._images.get(image)

    async def list_images(self) -> tuple[Image, ...]:
        """Return all images on the node."""
        await self._look("ListImages")
        return self._images.all()

    async def remove_image(self, image: str) -> None:
        """Remove the name, and the image with its last name."""
        await self._enter(self._latencies.remove, call="RemoveImage")
        self._images.remove(image)

    async def create_volume(self, config: VolumeConfig) -> VolumeHandle:
        """Make an empty directory, or return the one that exists for this pod and name."""
        await self._enter()
        return self._volumes.create(config)

    async def write_volume(
        self, handle: VolumeHandle, tree: Mapping[str, VolumeFile], *, remove: tuple[str, ...] = ()
    ) -> None:
        """Put files into the volume, then take the paths of `remove` out; NotFoundError."""
        await self._enter()
        self._volumes.write(handle, tree, remove)

    async def read_volume(self, handle: VolumeHandle, path: str, *, last_bytes: int) -> bytes:
        """Return the end of one file, at most `last_bytes`; empty when there is none."""
        await self._enter()
        return self._volumes.read(handle, path, last_bytes)

    async def prepare_sub_path(self, mount: Mount) -> None:
        """Make what a mount's sub path names, unless it is there; SubPathError."""
        await self._enter()
        self._volumes.prepare_sub_path(mount, self.machine.host)

    async def volume_usage(self, handle: VolumeHandle) -> int:
        """Return the bytes of the files in a volume; NotFoundError."""
        await self._enter()
        return bytes_below(self._volumes.tree(handle).root)

    async def remove_volume(self, handle: VolumeHandle) -> None:
        """Remove the directory and its content."""
        await self._enter()
        self._volumes.remove(handle)

    async def list_volumes(self, pod_uid: str | None = None) -> tuple[tuple[VolumeHandle, VolumeConfig], ...]:
        """Return every volume, or those of one pod."""
        await self._enter()
        return self._volumes.all() if pod_uid is None else self._volumes.of(pod_uid)
