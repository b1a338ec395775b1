"""What the runtime answers: states, statuses, events, images. All times are aware UTC datetimes by its clock."""

from __future__ import annotations

import enum
from typing import TYPE_CHECKING

from attrs import field, frozen

from runtime.api.configs import ContainerID, ContainerMetadata, ImageID, NamespaceMode, PodSandboxMetadata, SandboxID

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from runtime.api.states import ContainerState, PodSandboxState

NO_SANDBOX = SandboxID("")
NO_CONTAINER = ContainerID("")
NO_IMAGE = ImageID("")


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
class LinuxContainerUser:
    """Who the first process of a container is started as; its groups in containerd's order, the primary one too."""

    uid: int
    gid: int
    supplemental_groups: tuple[int, ...] = ()


@frozen(kw_only=True)
class ContainerStatus:
    """A container as the runtime sees it.

    `started_at`, `finished_at` and `exit_code` are None until they happened. `reason` is Completed, Error, OOMKilled
    or StartError; `message` is the runtime's own text of a failed start. `image_ref` is the repository digest where
    there is one. `user` is None where it isn't known.
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
    image_id: ImageID = NO_IMAGE
    labels: Mapping[str, str] = field(factory=dict)
    annotations: Mapping[str, str] = field(factory=dict)
    pid: int | None = None
    stop_signal: str = "SIGTERM"
    user: LinuxContainerUser | None = None


@frozen(kw_only=True)
class ExecResult:
    """Outcome of a command that ran to its end inside a container."""

    exit_code: int
    stdout: bytes = b""
    stderr: bytes = b""


@frozen(kw_only=True)
class LogLine:
    """One line that a container wrote, without its newline; a partial last line counts as one.

    Of an endless line `line` is the beginning, and `cut_bytes` what followed.
    """

    at: datetime
    stream: str
    line: bytes
    cut_bytes: int = 0


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
    this runtime object, not from outside) belong to SIGNALLED; `exit_code` to EXITED.
    """

    type: RuntimeEventType
    at: datetime
    pod_uid: str = ""
    sandbox_id: SandboxID = NO_SANDBOX
    container_id: ContainerID = NO_CONTAINER
    container_name: str = ""
    attempt: int = 0
    exit_code: int | None = None
    signal: str = ""
    own: bool = False


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
class NetworkFiles:
    """The texts of /etc/hosts and /etc/resolv.conf that a sandbox has of which nothing else was asked."""

    hosts: str = ""
    resolv_conf: str = ""


@frozen(kw_only=True)
class RuntimeVersion:
    """Name and versions of what stands behind the runtime."""

    runtime_name: str
    runtime_version: str
    api_version: str = ""


@frozen(kw_only=True)
class RuntimeStatus:
    """Readiness of the runtime, what it can do, and what its machine has.

    `supports_supplemental_groups_policy` is the CRI's RuntimeFeatures; `has_app_armor` is what a kubelet asks its host.
    """

    ready: bool
    network_ready: bool
    message: str = ""
    cpus: int = 1
    memory_bytes: int = 0
    host_ip: str = ""
    clock_offset_seconds: float = 0.0
    cgroup_version: int = 2
    architecture: str = "amd64"
    supports_supplemental_groups_policy: bool = False
    has_app_armor: bool = False
