"""DockerRuntime: the runtime interface on a Docker engine, one method a CRI call.

Theory of operation. The engine is the only store: identity, owner and everything else that must survive this process
stands in names and labels. Short calls go through the SDK in threads (bridge), streams through Trio (http). Deaths are
seen by events, and by asking the engine where events may be lost. Nothing without our labels is ever touched.
"""

from __future__ import annotations

from contextlib import AsyncExitStack
from typing import TYPE_CHECKING, Self

import trio
from attrs import define, field

from runtime.api import (
    CRIError,
    PodSandboxState,
)
from runtime.docker import naming
from runtime.docker.accounts import ImageAccounts
from runtime.docker.attaching import attach
from runtime.docker.bridge import Bridge
from runtime.docker.cleaning import Cleaner
from runtime.docker.containers import Containers
from runtime.docker.dialing import Dialer
from runtime.docker.endpoint import find_endpoint
from runtime.docker.events import EventHub
from runtime.docker.execs import Execs
from runtime.docker.helper_runs import HelperRuns
from runtime.docker.images import Images
from runtime.docker.logs import LogQuery, open_log
from runtime.docker.making import Maker
from runtime.docker.node import EngineNode
from runtime.docker.ooms import SharedOOMs
from runtime.docker.owner import Owner
from runtime.docker.pause import PauseImages
from runtime.docker.pod_cgroups import PodCgroups
from runtime.docker.publishing import Publisher
from runtime.docker.rights import EngineRights
from runtime.docker.sandboxes import Sandboxes
from runtime.docker.stopping import Stopper
from runtime.docker.volumes import Volumes

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Mapping
    from contextlib import AbstractAsyncContextManager
    from datetime import datetime
    from pathlib import Path

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
        Runtime,
        RuntimeEvent,
        RuntimeStatus,
        RuntimeVersion,
        SandboxID,
        VolumeConfig,
        VolumeFile,
        VolumeHandle,
    )
    from runtime.api.accounts import Accounts

    def _is_a_runtime(checked: DockerRuntime) -> Runtime:
        """Let the type checker compare the two."""
        return checked


def _ignore(_note: str) -> None:
    """Take a note and do nothing."""


@define(eq=False)
class DockerRuntime:
    """A Docker engine as the kubelet's runtime, for one instance.

    `root` is the folder for volumes (None: they live in the engine); `base_url` overrides DOCKER_HOST and contexts;
    `pause_image` names the sandboxes' image; `engine_operations` bounds writes at a time (None: the engine's cores, at
    most 4), `exec_operations` starts of commands; with `keep` all objects outlive this process; without `claims`
    nothing is written into `root`, and there are no volumes; `on_note` gets a line for each thing a user should know.
    """

    instance: str
    root: Path | None = field(default=None, kw_only=True)
    base_url: str | None = field(default=None, kw_only=True)
    pause_image: str | None = field(default=None, kw_only=True)
    engine_operations: int | None = field(default=None, kw_only=True)
    exec_operations: int = field(default=3, kw_only=True)
    keep: bool = field(default=False, kw_only=True)
    claims: bool = field(default=True, kw_only=True)
    on_note: Callable[[str], None] = field(default=_ignore, kw_only=True)
    bridge: Bridge = field(init=False)
    hub: EventHub = field(init=False)
    cleaner: Cleaner = field(init=False)
    dialer: Dialer = field(init=False)
    _sandboxes: Sandboxes = field(init=False)
    _containers: Containers = field(init=False)
    _images: Images = field(init=False)
    _volumes: Volumes = field(init=False)
    _execs: Execs = field(init=False)
    _stopper: Stopper = field(init=False)
    _pause: PauseImages = field(init=False)
    _rights: EngineRights = field(init=False)
    _known_accounts: dict[str, Accounts] = field(factory=dict, init=False)
    publisher: Publisher = field(init=False)
    _node: EngineNode = field(init=False)
    _opened_by: DockerRuntime | None = field(default=None, init=False)
    _stack: AsyncExitStack = field(factory=AsyncExitStack, init=False)

    def sibling(self, instance: str) -> DockerRuntime:
        """Return a runtime of another instance on this one's connection, to be opened while this one is open.

        It knows only its own objects; limits, clients and what was learned of the engine and its images are shared.
        """
        other = DockerRuntime(
            instance, root=self.root, pause_image=self.pause_image, keep=self.keep, on_note=self.on_note
        )
        other._opened_by = self
        return other

    async def __aenter__(self) -> Self:
        """Reach the engine and open its event stream; RuntimeUnavailableError when it doesn't answer."""
        if (first := self._opened_by) is not None:
            self.bridge, self._pause, self._rights = first.bridge, first._pause, first._rights  # noqa: SLF001
            self._known_accounts = first._known_accounts  # noqa: SLF001
            self._build()
            await self._open()
            return self
        self.bridge = Bridge(
            find_endpoint(self.base_url),
            engine_operations=self.engine_operations,
            exec_operations=self.exec_operations,
        )
        try:
            info = await self.bridge.open()
            self._rights = EngineRights.of_info(info, self.on_note)
            self._pause = PauseImages(self.bridge, str(info.get("Architecture", "")), self.pause_image)
            self._build()
            await self._open()
        except BaseException:
            self.bridge.close()
            raise
        return self

    async def _open(self) -> None:
        """Start what runs beside the calls."""
        async with AsyncExitStack() as stack:
            nursery = await stack.enter_async_context(trio.open_nursery())
            stack.callback(nursery.cancel_scope.cancel)
            if self._opened_by is None:
                nursery.start_soon(self.bridge.watch.run, self.on_note)
            failure = await self._begin(nursery)
            if failure is None:
                self._stack = stack.pop_all()
        if failure is not None:
            raise failure

    async def _begin(self, nursery: trio.Nursery) -> CRIError | None:
        """Open the event stream and claim the instance; return what failed: the nursery would put it into a group."""
        try:
            await nursery.start(self.hub.run)
            if self.claims:
                await self.cleaner.claim()
        except CRIError as error:
            return error
        return None

    async def __aexit__(self, *exc: object) -> None:
        """Close streams and threads, leave containers alone."""
        try:
            await self._stack.aclose()
        finally:
            if self._opened_by is None:
                self.bridge.close()

    def _build(self) -> None:
        """Make the parts; each owns one concern."""
        owner = Owner.current()
        own_labels = {naming.INSTANCE_LABEL: self.instance, **owner.labels()}
        if self.keep:
            own_labels[naming.KEEP_LABEL] = "true"
        if self.root is not None:
            own_labels[naming.ROOT_LABEL] = str(self.root.absolute())
        bridge = self.bridge
        self.hub = EventHub(bridge.http, self.instance, SharedOOMs(self._rights.pod_cgroups.tree.version == 1))
        maker = Maker(bridge, self.instance)
        self._stopper = Stopper(bridge, self.hub)
        self._images = Images(bridge)
        cgroups = PodCgroups(HelperRuns(bridge, maker, self._pause), own_labels, self._rights.pod_cgroups)
        self._sandboxes = Sandboxes(
            bridge, self.hub, maker, self._stopper, self._pause, own_labels, self._rights, cgroups
        )
        accounts = ImageAccounts(bridge, own_labels, self._known_accounts)
        self._containers = Containers(bridge, self.hub, maker, self._images, accounts, self._sandboxes, own_labels)
        self._execs = Execs(bridge)
        self._volumes = Volumes(bridge, maker, self._pause, own_labels, root=self.root, on_note=self.on_note)
        self.publisher = Publisher(bridge, own_labels)
        self._node = EngineNode(bridge, maker, self._pause, own_labels)
        self.dialer = Dialer(self._sandboxes, self._execs, self._pause, maker, own_labels, on_note=self.on_note)
        self.cleaner = Cleaner(bridge, maker, self._volumes, cgroups, owner, self.instance, is_kept=self.keep)

    async def version(self) -> RuntimeVersion:
        """Return the engine's name and versions."""
        return await self._node.version()

    async def status(self) -> RuntimeStatus:
        """Return the engine's readiness and size, and how far its clock is ahead of ours."""
        return await self._node.status()

    async def network_files(self, network: NamespaceMode) -> NetworkFiles:
        """Return what stands in /etc of a sandbox with the node's network (NODE), or with one of its own (POD)."""
        return await self._node.network_files(network)

    async def run_pod_sandbox(self, config: PodSandboxConfig) -> SandboxID:
        """Create and start a sandbox and return its id; one of the same name and attempt that runs is adopted."""
        return await self._sandboxes.run(config)

    async def stop_pod_sandbox(self, sandbox_id: SandboxID) -> None:
        """Kill what still runs in the sandbox, then the sandbox."""
        await self._sandboxes.stop(sandbox_id)

    async def remove_pod_sandbox(self, sandbox_id: SandboxID) -> None:
        """Remove the sandbox and every container in it."""
        await self._sandboxes.remove(sandbox_id)

    async def list_pod_sandboxes(self, pod_uid: str | None = None) -> tuple[PodSandboxStatus, ...]:
        """Return the sandboxes of this instance, or of one pod, newest first."""
        return await self._sandboxes.list(pod_uid)

    async def pod_sandbox_status(self, sandbox_id: SandboxID) -> PodSandboxStatus:
        """Return one sandbox with its IPs; NotFoundError."""
        return await self._sandboxes.status(sandbox_id)

    async def create_container(
        self, sandbox_id: SandboxID, config: ContainerConfig, sandbox_config: PodSandboxConfig
    ) -> ContainerID:
        """Create a container in the sandbox."""
        mounts = await self._volumes.mounts(config.mounts)
        return await self._containers.create(sandbox_id, config, sandbox_config.metadata, mounts)

    async def start_container(self, container_id: ContainerID) -> None:
        """Start a created container; StartError when its process can't be started."""
        await self._containers.start(container_id)

    async def stop_container(self, container_id: ContainerID, timeout_seconds: float) -> None:
        """Send the stop signal, wait for the death, SIGKILL after `timeout_seconds`; what is dead or gone is fine."""
        await self._stopper.stop_by_its_signal(container_id, timeout_seconds)

    async def kill_container(self, container_id: ContainerID, signal: str) -> None:
        """Send one signal at once, as from outside; a container that does not run is an error."""
        if not await self._stopper.send_from_outside(container_id, signal):
            raise CRIError(f"container {container_id!r} does not run")

    async def remove_container(self, container_id: ContainerID, *, keep_logs: bool = False) -> None:
        """Remove a container, killing it if need be.

        Differs: the engine removes a container's log with it, so `keep_logs` can't be fulfilled here.
        """
        del keep_logs
        await self._containers.remove(container_id)

    async def list_containers(self, pod_uid: str | None = None) -> tuple[ContainerSummary, ...]:
        """Return the containers of this instance, or of one pod, newest first, sandboxes left out."""
        return await self._containers.list(pod_uid)

    async def container_status(self, container_id: ContainerID) -> ContainerStatus:
        """Return one container in full; NotFoundError."""
        return await self._containers.status(container_id)

    async def update_container_resources(self, container_id: ContainerID, resources: LinuxContainerResources) -> None:
        """Change the limits of a running container."""
        await self._containers.update_resources(container_id, resources)

    async def container_disk_usage(self, container_id: ContainerID) -> int:
        """Return the bytes of a container's own layer of files (its log's length no engine tells); NotFoundError."""
        return await self._containers.disk_usage(container_id)

    async def exec_sync(
        self, container_id: ContainerID, command: tuple[str, ...], timeout_seconds: float | None = None
    ) -> ExecResult:
        """Run a command in a running container; ExecTimeoutError, ExecStartError, NotFoundError."""
        return await self._execs.run(container_id, command, timeout_seconds)

    def exec_stream(
        self, container_id: ContainerID, command: tuple[str, ...], *, stdin: bool = False, tty: bool = False
    ) -> AbstractAsyncContextManager[ExecSession]:
        """Start a command with its streams open: ExecStartError, NotFoundError. Leaving closes them; it may go on."""
        return self._execs.session(container_id, command, stdin=stdin, tty=tty)

    def attach(self, container_id: ContainerID, *, stdin: bool = False) -> AbstractAsyncContextManager[AttachSession]:
        """Join the streams of a running container's first process, from now on: CRIError, NotFoundError."""
        return attach(self.bridge, self.hub, container_id, stdin=stdin)

    def container_logs(
        self, container_id: ContainerID, *, follow: bool = False, tail: int | None = None, since: datetime | None = None
    ) -> AbstractAsyncContextManager[AsyncIterator[LogLine]]:
        """Open a log; with `follow` it ends when the container does. NotFoundError."""
        query = LogQuery(follow=follow, tail=tail, since=since)
        return open_log(self.bridge, container_id, query)

    async def dial(self, sandbox_id: SandboxID, port: int) -> trio.abc.Stream:
        """Connect to a TCP port in the sandbox's network; OSError when nothing listens or the sandbox is gone."""
        status = await self._sandboxes.status(sandbox_id)
        if status.state is not PodSandboxState.READY:
            raise ConnectionRefusedError(f"sandbox {sandbox_id!r} does not run")
        return await self.dialer.dial(status, port)

    async def dial_host(self, host: str, port: int) -> trio.abc.Stream:
        """Connect to a host from here; OSError."""
        return await trio.open_tcp_stream(host, port)

    def events(self) -> AbstractAsyncContextManager[AsyncIterator[RuntimeEvent]]:
        """Subscribe to events from now on; a cut stream reconnects by itself and says RESYNC."""
        return self.hub.subscribe()

    async def pull_image(
        self,
        image: str,
        *,
        auth: AuthConfig | None = None,
        progress: Callable[[PullProgress], None] | None = None,
    ) -> ImageID:
        """Pull an image and return its id; ImagePullError and its kinds."""
        return await self._images.pull(image, auth, progress)

    async def image_status(self, image: str) -> Image | None:
        """Return the image of a name, digest or id; None when absent."""
        return await self._images.status(image)

    async def list_images(self) -> tuple[Image, ...]:
        """Return all images."""
        return await self._images.list()

    async def remove_image(self, image: str) -> None:
        """Remove the name, and the image with its last name."""
        await self._images.remove(image)

    async def create_volume(self, config: VolumeConfig) -> VolumeHandle:
        """Make an empty directory, or return the one that exists for this pod and name."""
        return await self._volumes.create(config)

    async def write_volume(
        self, handle: VolumeHandle, tree: Mapping[str, VolumeFile], *, remove: tuple[str, ...] = ()
    ) -> None:
        """Put a tree into the volume, file by file, then remove the paths of `remove`; other paths stay."""
        await self._volumes.write(handle, tree, remove)

    async def read_volume(self, handle: VolumeHandle, path: str, *, last_bytes: int) -> bytes:
        """Return the end of one file; empty when there is none."""
        return await self._volumes.read(handle, path, last_bytes)

    async def prepare_sub_path(self, mount: Mount) -> None:
        """Make what a mount's sub path names, unless it is there; SubPathError."""
        await self._volumes.prepare(mount)

    async def volume_usage(self, handle: VolumeHandle) -> int:
        """Return the bytes of the files in a volume, 0 where the engine's files can't be seen; NotFoundError."""
        return await self._volumes.usage(handle)

    async def remove_volume(self, handle: VolumeHandle) -> None:
        """Remove the directory and its content."""
        await self._volumes.remove(handle)

    async def list_volumes(self, pod_uid: str | None = None) -> tuple[tuple[VolumeHandle, VolumeConfig], ...]:
        """Return the volumes of this instance, or those of one pod."""
        volumes = await self._volumes.list()
        return tuple(each for each in volumes if pod_uid in {None, each[1].pod_uid})

    async def sweep_dead_owners(self, *, include_kept: bool = False) -> tuple[str, ...]:
        """Remove what belongs to owners proven dead on this host; see `Cleaner.sweep_dead_owners`."""
        return await self.cleaner.sweep_dead_owners(include_kept=include_kept)

    async def remove_all(self) -> None:
        """Remove every container and volume of this instance."""
        await self.cleaner.remove_instance()

    async def remove_own_pause_image(self) -> None:
        """Remove our own sandbox image unless a container still uses it."""
        await self._pause.remove_own()
