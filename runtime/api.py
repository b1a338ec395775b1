"""The container runtime interface: what the kubelet asks of a runtime, in the CRI's words.

Owns the vocabulary (sandboxes, containers, images, volumes) and the `Runtime` protocol. It knows containers, not
pods'
specs: whoever calls it has already decided. Every call is idempotent as the CRI demands (stopping what is stopped or
gone
succeeds), may be cancelled at any await, and fails only with a `CRIError`; a call that was cancelled may still take
effect, and is found again by
its deterministic name. All times are aware UTC datetimes by the runtime's clock.
"""

from __future__ import annotations

import enum
from typing import TYPE_CHECKING, NewType, Protocol, Self

from attrs import field, frozen

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Mapping
    from contextlib import AbstractAsyncContextManager
    from datetime import datetime

    import trio

SandboxID = NewType("SandboxID", str)
ContainerID = NewType("ContainerID", str)
ImageID = NewType("ImageID", str)
VolumeHandle = NewType("VolumeHandle", str)


class PodSandboxState(enum.Enum):
    """Whether a sandbox's own process runs."""

    READY = "ready"
    NOT_READY = "notready"


class ContainerState(enum.Enum):
    """State of one container instance."""

    CREATED = "created"
    RUNNING = "running"
    EXITED = "exited"
    UNKNOWN = "unknown"


class NamespaceMode(enum.Enum):
    """Whose namespace a container joins."""

    POD = "pod"
    CONTAINER = "container"
    NODE = "node"
    TARGET = "target"


@frozen(kw_only=True)
class PodSandboxMetadata:
    """Identity of a sandbox; `attempt` counts the sandboxes of one pod from 0."""

    name: str
    namespace: str
    uid: str
    attempt: int = 0


@frozen(kw_only=True)
class ContainerMetadata:
    """Identity of a container within its pod; `attempt` is the restart count."""

    name: str
    attempt: int = 0


@frozen(kw_only=True)
class PortMapping:
    """A container port published on the host; `host_port` is never 0 here."""

    container_port: int
    host_port: int
    host_ip: str = ""
    protocol: str = "TCP"


@frozen(kw_only=True)
class DNSConfig:
    """Content of the sandbox's resolv.conf."""

    servers: tuple[str, ...] = ()
    searches: tuple[str, ...] = ()
    options: tuple[str, ...] = ()


@frozen(kw_only=True)
class NamespaceOptions:
    """Namespace modes of a sandbox or a container; `target_id` is set when `pid` is TARGET."""

    network: NamespaceMode = NamespaceMode.POD
    pid: NamespaceMode = NamespaceMode.CONTAINER
    ipc: NamespaceMode = NamespaceMode.POD
    target_id: ContainerID | None = None


@frozen(kw_only=True)
class SeccompProfile:
    """Seccomp profile: RuntimeDefault, Unconfined, or Localhost with the profile's JSON text."""

    type: str = "RuntimeDefault"
    localhost_json: str | None = None


@frozen(kw_only=True)
class LinuxSecurityContext:
    """Who a container runs as and what it may do. A None leaves the image's or the runtime's default."""

    run_as_user: int | None = None
    run_as_username: str | None = None
    run_as_group: int | None = None
    supplemental_groups: tuple[int, ...] = ()
    privileged: bool = False
    add_capabilities: tuple[str, ...] = ()
    drop_capabilities: tuple[str, ...] = ()
    readonly_rootfs: bool = False
    no_new_privs: bool = False
    seccomp: SeccompProfile | None = None
    namespaces: NamespaceOptions = field(factory=NamespaceOptions)


@frozen(kw_only=True)
class LinuxContainerResources:
    """Limits of one container: CFS period and quota in microseconds, memory in bytes; None or 0 is no limit."""

    cpu_period: int | None = None
    cpu_quota: int | None = None
    cpu_shares: int | None = None
    memory_limit_bytes: int | None = None
    oom_score_adj: int | None = None
    pids_limit: int | None = None


@frozen(kw_only=True)
class Mount:
    """One mount. Exactly one of `volume` (made by create_volume) and `host_path` (absolute) is set.

    `sub_path` is relative and already checked: no "..", not absolute. It may name a file.
    """

    container_path: str
    volume: VolumeHandle | None = None
    host_path: str | None = None
    sub_path: str = ""
    readonly: bool = False
    propagation: str = "None"


@frozen(kw_only=True)
class PodSandboxConfig:
    """What a sandbox is made from. Labels carry identity, annotations the rest that must survive a restart."""

    metadata: PodSandboxMetadata
    hostname: str = ""
    dns: DNSConfig | None = None
    port_mappings: tuple[PortMapping, ...] = ()
    labels: Mapping[str, str] = field(factory=dict)
    annotations: Mapping[str, str] = field(factory=dict)
    sysctls: Mapping[str, str] = field(factory=dict)
    namespaces: NamespaceOptions = field(factory=NamespaceOptions)
    privileged: bool = False
    security: LinuxSecurityContext | None = None
    cgroup_parent: str = ""


@frozen(kw_only=True)
class ContainerConfig:
    """What a container is made from.

    `image` is the id to run; `image_name` is what the manifest calls it and what a status shows. `command` replaces
    the image's
    entrypoint and `args` its command, each only when not None.
    """

    metadata: ContainerMetadata
    image: ImageID
    image_name: str
    command: tuple[str, ...] | None = None
    args: tuple[str, ...] | None = None
    working_dir: str | None = None
    envs: Mapping[str, str] = field(factory=dict)
    mounts: tuple[Mount, ...] = ()
    labels: Mapping[str, str] = field(factory=dict)
    annotations: Mapping[str, str] = field(factory=dict)
    stdin: bool = False
    stdin_once: bool = False
    tty: bool = False
    resources: LinuxContainerResources = field(factory=LinuxContainerResources)
    security: LinuxSecurityContext = field(factory=LinuxSecurityContext)
    stop_signal: str | None = None


@frozen(kw_only=True)
class PodSandboxStatus:
    """A sandbox as the runtime sees it. `ip` is empty while unknown and with the node's network."""

    id: SandboxID
    metadata: PodSandboxMetadata
    state: PodSandboxState
    created_at: datetime
    ip: str = ""
    additional_ips: tuple[str, ...] = ()
    network: NamespaceMode = NamespaceMode.POD
    labels: Mapping[str, str] = field(factory=dict)
    annotations: Mapping[str, str] = field(factory=dict)


@frozen(kw_only=True)
class ContainerSummary:
    """A container as a list shows it: cheap, enough to see that something changed."""

    id: ContainerID
    sandbox_id: SandboxID
    metadata: ContainerMetadata
    state: ContainerState
    created_at: datetime
    image_name: str = ""
    labels: Mapping[str, str] = field(factory=dict)
    annotations: Mapping[str, str] = field(factory=dict)


@frozen(kw_only=True)
class ContainerStatus:
    """A container as the runtime sees it.

    `started_at`, `finished_at` and `exit_code` are None until they happened. `reason` is Completed, Error, OOMKilled
    or StartError; `message` is the runtime's own
    text of a failed start. `image_ref` is the repository digest where there is one.
    """

    id: ContainerID
    sandbox_id: SandboxID
    metadata: ContainerMetadata
    state: ContainerState
    created_at: datetime
    started_at: datetime | None = None
    finished_at: datetime | None = None
    exit_code: int | None = None
    reason: str = ""
    message: str = ""
    image_name: str = ""
    image_ref: str = ""
    image_id: ImageID = ImageID("")
    labels: Mapping[str, str] = field(factory=dict)
    annotations: Mapping[str, str] = field(factory=dict)
    pid: int | None = None
    stop_signal: str = "SIGTERM"


@frozen(kw_only=True)
class ExecResult:
    """Outcome of a command that ran to its end inside a container."""

    exit_code: int
    stdout: bytes = b""
    stderr: bytes = b""


@frozen(kw_only=True)
class LogLine:
    """One line that a container wrote, without its newline; a partial last line counts as one."""

    at: datetime
    stream: str
    line: bytes


class RuntimeEventType(enum.Enum):
    """What happened in the runtime."""

    SANDBOX_STARTED = "sandbox started"
    SANDBOX_STOPPED = "sandbox stopped"
    CONTAINER_CREATED = "created"
    CONTAINER_STARTED = "started"
    CONTAINER_OOM = "oom"
    CONTAINER_SIGNALLED = "signalled"
    CONTAINER_EXITED = "exited"
    CONTAINER_REMOVED = "removed"
    RESYNC = "resync"


@frozen(kw_only=True)
class RuntimeEvent:
    """A hint that something happened; events may be lost or repeated, so they only wake a relist.

    `pod_uid` is empty with RESYNC (the stream was cut: look at everything). `signal` ("SIGTERM") and `own` (sent by
    this runtime object, not from outside)
    belong to SIGNALLED; `exit_code` to EXITED.
    """

    type: RuntimeEventType
    at: datetime
    pod_uid: str = ""
    sandbox_id: SandboxID = SandboxID("")
    container_id: ContainerID = ContainerID("")
    container_name: str = ""
    attempt: int = 0
    exit_code: int | None = None
    signal: str = ""
    own: bool = False


@frozen(kw_only=True)
class AuthConfig:
    """Credentials for one registry; never logged, never put into an error."""

    username: str = field(default="", repr=False)
    password: str = field(default="", repr=False)
    identity_token: str = field(default="", repr=False)
    registry_token: str = field(default="", repr=False)


@frozen(kw_only=True)
class PullProgress:
    """State of a pull in bytes; `total_bytes` grows while layers become known."""

    done_bytes: int
    total_bytes: int
    text: str = ""


@frozen(kw_only=True)
class Image:
    """An image that the runtime holds. `user` is the image's USER text; `username` is set when that is not a number."""

    id: ImageID
    repo_tags: tuple[str, ...] = ()
    repo_digests: tuple[str, ...] = ()
    size_bytes: int = 0
    uid: int | None = None
    username: str = ""
    entrypoint: tuple[str, ...] = ()
    cmd: tuple[str, ...] = ()
    env: Mapping[str, str] = field(factory=dict)
    stop_signal: str = ""


@frozen(kw_only=True)
class VolumeConfig:
    """A directory for one pod. `medium` is "" (disk) or "Memory"; `size_limit_bytes` counts for Memory only."""

    pod_uid: str
    name: str
    medium: str = ""
    size_limit_bytes: int | None = None
    mode: int = 0o777
    gid: int | None = None
    labels: Mapping[str, str] = field(factory=dict)


@frozen(kw_only=True)
class VolumeFile:
    """One file of a volume's tree: `target` set makes it a symbolic link."""

    data: bytes = b""
    mode: int = 0o644
    uid: int | None = None
    gid: int | None = None
    target: str | None = None


@frozen(kw_only=True)
class RuntimeVersion:
    """Name and versions of what stands behind the runtime."""

    runtime_name: str
    runtime_version: str
    api_version: str = ""


@frozen(kw_only=True)
class RuntimeStatus:
    """Readiness of the runtime, and what its machine has."""

    ready: bool
    network_ready: bool
    message: str = ""
    cpus: int = 1
    memory_bytes: int = 0
    host_ip: str = ""
    clock_offset_seconds: float = 0.0


class CRIError(Exception):
    """A runtime call failed; the text is the runtime's own. Expected: callers turn it into statuses and events."""


class NotFoundError(CRIError):
    """What the call names does not exist."""


class AlreadyExistsError(CRIError):
    """The name is taken by something that can't be adopted."""


class RuntimeUnavailableError(CRIError):
    """The runtime does not answer."""


class StartError(CRIError):
    """The container's process could not be started; the container is EXITED with 128 and reason StartError."""


class ExecTimeoutError(CRIError):
    """The command ran longer than its timeout and was killed; `output` is what it had printed."""

    def __init__(self, message: str, output: bytes = b"") -> None:
        """Keep the output beside the message."""
        super().__init__(message)
        self.output = output


class ExecStartError(CRIError):
    """The command could not be started at all (no such program, container not running)."""


class ImagePullError(CRIError):
    """A pull failed."""


class ImageNotFoundError(ImagePullError):
    """The registry has no such image or tag."""


class RegistryUnavailableError(ImagePullError):
    """The registry could not be reached or refuses to serve."""


class SignatureValidationError(ImagePullError):
    """The image's signature was refused."""


class RuntimeService(Protocol):
    """Sandboxes and containers, as the CRI's RuntimeService."""

    async def version(self) -> RuntimeVersion:
        """Return the runtime's name and versions."""

    async def status(self) -> RuntimeStatus:
        """Return the runtime's readiness."""

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

    async def exec_sync(
        self, container_id: ContainerID, command: tuple[str, ...], timeout_seconds: float | None = None
    ) -> ExecResult:
        """Run a command in a running container and return its outcome.

        ExecTimeoutError after `timeout_seconds` (None: no limit) counted from the command's real start;
        ExecStartError when it can't start.
        """

    def container_logs(
        self, container_id: ContainerID, *, follow: bool = False, tail: int | None = None, since: datetime | None = None
    ) -> AbstractAsyncContextManager[AsyncIterator[LogLine]]:
        """Open a log from its start, or its last `tail` lines; with `follow` it ends when the container does."""

    async def dial(self, sandbox_id: SandboxID, port: int) -> trio.abc.Stream:
        """Connect to a TCP port in the sandbox's network; OSError (ConnectionRefusedError) when nothing listens."""

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
        """Put `tree` (relative path to file) into the volume in its order, file by file through a rename.

        Then the paths of `remove` go, directories with all that is in them; other paths stay.
        """

    async def read_volume(self, handle: VolumeHandle, path: str, *, last_bytes: int) -> bytes:
        """Return the end of one file, at most `last_bytes`; empty when there is none."""

    async def remove_volume(self, handle: VolumeHandle) -> None:
        """Remove the directory and its content."""

    async def list_volumes(self) -> tuple[tuple[VolumeHandle, VolumeConfig], ...]:
        """Return the volumes of this instance."""


class Runtime(RuntimeService, ImageService, VolumeService, Protocol):
    """One object with the three services.

    The context manager opens what the runtime needs (threads, streams) and on leaving closes it; containers live on.
    """

    async def __aenter__(self) -> Self:
        """Open the runtime; RuntimeUnavailableError when it doesn't answer."""

    async def __aexit__(self, *exc: object) -> bool | None:
        """Close streams and threads, leave containers alone."""
