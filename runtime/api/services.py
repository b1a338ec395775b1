"""The protocols that a runtime fulfils."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, Self, runtime_checkable

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Mapping
    from contextlib import AbstractAsyncContextManager
    from datetime import datetime

    import trio

    from runtime.api.configs import (
        AuthConfig,
        ContainerConfig,
        ContainerID,
        ImageID,
        LinuxContainerResources,
        Mount,
        NamespaceMode,
        PodSandboxConfig,
        SandboxID,
        VolumeConfig,
        VolumeFile,
        VolumeHandle,
    )
    from runtime.api.statuses import (
        ContainerStatus,
        ContainerSummary,
        ExecResult,
        Image,
        LogLine,
        NetworkFiles,
        PodSandboxStatus,
        PullProgress,
        RuntimeEvent,
        RuntimeStatus,
        RuntimeVersion,
    )


class AttachSession(Protocol):
    """The streams of a process in a container."""

    async def send(self, data: bytes) -> None:
        """Write to the process's standard input; what it doesn't read any more is dropped."""

    async def send_eof(self) -> None:
        """Say that no more input comes."""

    async def receive(self) -> tuple[str, bytes] | None:
        """Return the next output as ("stdout" or "stderr", bytes), None at its end; with a terminal all is stdout."""

    async def resize(self, rows: int, columns: int) -> None:
        """Set the size of the process's terminal; one that has ended has none."""


class ExecSession(AttachSession, Protocol):
    """A command that runs in a container, with its streams: the end of its input is the command's."""

    async def exit_code(self) -> int:
        """Return the command's exit code once its output has ended; ExecStartError when it could not start."""


class RuntimeService(Protocol):
    """Sandboxes and containers, as the CRI's RuntimeService."""

    async def version(self) -> RuntimeVersion:
        """Return the runtime's name and versions."""

    async def status(self) -> RuntimeStatus:
        """Return the runtime's readiness."""

    async def network_files(self, network: NamespaceMode) -> NetworkFiles:
        """Return what stands in /etc of a sandbox with the node's network (NODE), or with one of its own (POD)."""

    async def run_pod_sandbox(self, config: PodSandboxConfig) -> SandboxID:
        """Create and start a sandbox and return its id; one of the same name and attempt that exists is adopted."""

    async def stop_pod_sandbox(self, sandbox_id: SandboxID) -> None:
        """Kill what still runs in the sandbox, then the sandbox; its network goes with it."""

    async def remove_pod_sandbox(self, sandbox_id: SandboxID) -> None:
        """Remove the sandbox and every container in it."""

    async def list_pod_sandboxes(self, pod_uid: str | None = None) -> tuple[PodSandboxStatus, ...]:
        """Return the sandboxes of this instance, or of one pod, in every state, newest first. IPs may be missing."""

    async def pod_sandbox_status(self, sandbox_id: SandboxID) -> PodSandboxStatus:
        """Return one sandbox with its IPs; NotFoundError."""

    async def create_container(
        self, sandbox_id: SandboxID, config: ContainerConfig, sandbox_config: PodSandboxConfig
    ) -> ContainerID:
        """Create a container in the sandbox."""

    async def start_container(self, container_id: ContainerID) -> None:
        """Start a created container; StartError when its process can't be started."""

    async def stop_container(self, container_id: ContainerID, timeout_seconds: float) -> None:
        """Send the stop signal, wait until the container is dead, and SIGKILL it after `timeout_seconds`.

        Returns when it is dead. Two calls at once send the signal once; the shorter timeout counts.
        """

    async def kill_container(self, container_id: ContainerID, signal: str) -> None:
        """Send one signal ("SIGKILL") at once, without waiting: for tools and tests, not for the kubelet."""

    async def remove_container(self, container_id: ContainerID, *, keep_logs: bool = False) -> None:
        """Remove a container, killing it if need be."""

    async def list_containers(self, pod_uid: str | None = None) -> tuple[ContainerSummary, ...]:
        """Return the containers of this instance, or of one pod, in every state, newest first; no sandboxes."""

    async def container_status(self, container_id: ContainerID) -> ContainerStatus:
        """Return one container in full; NotFoundError."""

    async def update_container_resources(self, container_id: ContainerID, resources: LinuxContainerResources) -> None:
        """Change the limits of a running container."""

    async def container_disk_usage(self, container_id: ContainerID) -> int:
        """Return the bytes that a container has written: in its own layer of files, and to its log; NotFoundError."""

    async def exec_sync(
        self, container_id: ContainerID, command: tuple[str, ...], timeout_seconds: float | None = None
    ) -> ExecResult:
        """Run a command in a running container and return its outcome.

        ExecTimeoutError after `timeout_seconds` (None: no limit) counted from the command's real start;
        ExecStartError when it can't start.
        """

    def exec_stream(
        self, container_id: ContainerID, command: tuple[str, ...], *, stdin: bool = False, tty: bool = False
    ) -> AbstractAsyncContextManager[ExecSession]:
        """Start a command with its streams open: ExecStartError, NotFoundError. Leaving closes them; it may go on."""

    def attach(self, container_id: ContainerID, *, stdin: bool = False) -> AbstractAsyncContextManager[AttachSession]:
        """Join the streams of a running container's first process, from now on: CRIError, NotFoundError.

        With `stdin` what is sent goes to the container's standard input, where it has one. The end of that, also by
        leaving, closes the container's with `stdin_once` and no terminal, and output goes on; else it ends the session
        and nothing more. Source: containerd ContainerIO.Attach.
        """

    def container_logs(
        self, container_id: ContainerID, *, follow: bool = False, tail: int | None = None, since: datetime | None = None
    ) -> AbstractAsyncContextManager[AsyncIterator[LogLine]]:
        """Open a log from its start, or its last `tail` lines; with `follow` it ends when the container does."""

    async def dial(self, sandbox_id: SandboxID, port: int) -> trio.abc.Stream:
        """Connect to a TCP port in the sandbox's network; OSError (ConnectionRefusedError) when nothing listens."""

    async def dial_host(self, host: str, port: int) -> trio.abc.Stream:
        """Connect to a TCP port of any host from the node, as probes and hooks with a host do; OSError."""

    def events(self) -> AbstractAsyncContextManager[AsyncIterator[RuntimeEvent]]:
        """Subscribe to events from now on; a cut stream reconnects by itself and says RESYNC."""


class ImageService(Protocol):
    """Images, as the CRI's ImageService."""

    async def pull_image(
        self,
        image: str,
        *,
        auth: AuthConfig | None = None,
        progress: Callable[[PullProgress], None] | None = None,
    ) -> ImageID:
        """Pull `image` from where its name says and return its id; ImagePullError and its kinds."""

    async def image_status(self, image: str) -> Image | None:
        """Return the image known under this name, digest or id, None when absent."""

    async def list_images(self) -> tuple[Image, ...]:
        """Return all images."""

    async def remove_image(self, image: str) -> None:
        """Remove the name, and the image with its last name."""


class VolumeService(Protocol):
    """Directories that pods share: nothing but the runtime touches a disk for a pod."""

    async def create_volume(self, config: VolumeConfig) -> VolumeHandle:
        """Make an empty directory, or return the one that exists for this pod and name."""

    async def write_volume(
        self, handle: VolumeHandle, tree: Mapping[str, VolumeFile], *, remove: tuple[str, ...] = ()
    ) -> None:
        """Put `tree` (relative path to file) into the volume in its order, each through a rename unless in place.

        Then the paths of `remove` go, directories with all that is in them; other paths stay.
        """

    async def read_volume(self, handle: VolumeHandle, path: str, *, last_bytes: int) -> bytes:
        """Return the end of one file, at most `last_bytes`; empty when there is none."""

    async def prepare_sub_path(self, mount: Mount) -> None:
        """Make what a mount's sub path names, unless it is there: a folder with the volume's mode; SubPathError."""

    async def volume_usage(self, handle: VolumeHandle) -> int:
        """Return the bytes of the files in a volume, 0 where that can't be measured; NotFoundError."""

    async def remove_volume(self, handle: VolumeHandle) -> None:
        """Remove the directory and its content."""

    async def list_volumes(self, pod_uid: str | None = None) -> tuple[tuple[VolumeHandle, VolumeConfig], ...]:
        """Return the volumes of this instance, or those of one pod."""


@runtime_checkable
class CountsChanges(Protocol):
    """A runtime that knows without a list whether one would show anything new."""

    def changes(self) -> int | None:
        """Return a number that grows with each change of what the lists show; None while only a list can tell."""


class Runtime(RuntimeService, ImageService, VolumeService, Protocol):
    """One object with the three services.

    The context manager opens what the runtime needs (threads, streams) and on leaving closes it; containers live on.
    """

    async def __aenter__(self) -> Self:
        """Open the runtime; RuntimeUnavailableError when it doesn't answer."""

    async def __aexit__(self, *exc: object) -> bool | None:
        """Close streams and threads, leave containers alone."""
