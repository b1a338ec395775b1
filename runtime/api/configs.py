"""What a call to the runtime asks for: identities, namespaces, mounts, sandboxes, containers, volumes."""

from __future__ import annotations

import enum
from typing import TYPE_CHECKING, NewType

from attrs import field, frozen

if TYPE_CHECKING:
    from collections.abc import Mapping


SandboxID = NewType("SandboxID", str)

ContainerID = NewType("ContainerID", str)

ImageID = NewType("ImageID", str)

VolumeHandle = NewType("VolumeHandle", str)


class NamespaceMode(enum.Enum):
    """Whose namespace a container joins."""

    POD = "pod"
    CONTAINER = "container"
    NODE = "node"
    TARGET = "target"


VOLUME_FOLDER_MODE = 0o755  # of folders that the files written into a volume need (kubelet AtomicWriter)


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
    """Seccomp profile: RuntimeDefault, Unconfined, or Localhost with its path on the node and its JSON text.

    Without a text, `localhost_error` says why it could not be read.
    """

    type: str = "RuntimeDefault"
    localhost_path: str = ""
    localhost_json: str | None = None
    localhost_error: str = "no such file or directory"


@frozen(kw_only=True)
class LinuxSecurityContext:
    """Who a container runs as and what it may do. A None leaves the image's or the runtime's default.

    `supplemental_groups_policy` is Merge (the groups that the image has for the user come, too) or Strict.
    `app_armor` is unconfined, runtime/default, localhost/NAME, or empty for the runtime's own choice.
    """

    run_as_user: int | None = None
    run_as_username: str | None = None
    run_as_group: int | None = None
    supplemental_groups: tuple[int, ...] = ()
    supplemental_groups_policy: str = "Merge"
    privileged: bool = False
    add_capabilities: tuple[str, ...] = ()
    drop_capabilities: tuple[str, ...] = ()
    readonly_rootfs: bool = False
    no_new_privs: bool = False
    seccomp: SeccompProfile | None = None
    app_armor: str = ""
    namespaces: NamespaceOptions = field(factory=NamespaceOptions)


@frozen(kw_only=True)
class LinuxContainerResources:
    """Limits of one container, or of a pod as a whole.

    CFS period and quota are in microseconds, memory in bytes; None or 0 is no limit.
    """

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
    """What a sandbox is made from. Labels carry identity, annotations the rest that must survive a restart.

    `resources` is what all of the pod together may use; None: its containers need nothing over them.
    """

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
    resources: LinuxContainerResources | None = None


@frozen(kw_only=True)
class ContainerConfig:
    """What a container is made from.

    `image` is the id to run; `image_name` is what the manifest calls it, `image_ref` what a status shows as its
    digest (empty: the runtime's own choice). `command` replaces the image's entrypoint and `args` its command, each
    only when not None.
    """

    metadata: ContainerMetadata
    image: ImageID
    image_name: str
    image_ref: str = ""
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
class AuthConfig:
    """Credentials for one registry; never logged, never put into an error."""

    username: str = field(default="", repr=False)
    password: str = field(default="", repr=False)
    identity_token: str = field(default="", repr=False)
    registry_token: str = field(default="", repr=False)


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
    """One file of a volume's tree: `target` set makes it a symbolic link, `is_folder` an empty folder (mode 0755).

    `in_place` puts text into the file that is there, so that containers which have it alone mounted see the change.
    """

    data: bytes = b""
    mode: int = 0o644
    uid: int | None = None
    gid: int | None = None
    target: str | None = None
    in_place: bool = False
    is_folder: bool = False
