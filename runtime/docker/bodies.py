"""Pure: the engine's create and update bodies from sandbox and container configurations (cri-dockerd's mapping)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from runtime.api import ContainerConfig, LinuxContainerResources, LinuxSecurityContext, NamespaceMode
from runtime.api.capabilities import capability_changes
from runtime.api.seccomp import check_seccomp
from runtime.docker import naming

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from runtime.api import NamespaceOptions, PodSandboxConfig, PortMapping, SandboxID

Body = dict[str, Any]

SANDBOX_OOM_SCORE_ADJ = -998
SANDBOX_CPU_SHARES = 2
SHM_BYTES = 64 << 20
_LOG_CONFIG = {"Type": "json-file", "Config": {"max-size": "10m", "max-file": "5"}}
_NO_LOG = {"Type": "none", "Config": {}}


def sandbox_body(
    config: PodSandboxConfig, image: str, own_labels: Mapping[str, str], *, oom_score_adj: int | None
) -> Body:
    """Return the body that creates a sandbox's container.

    The sandbox owns network and IPC (and, where shared, PIDs); it needs no rights of its own.
    Source: cri-dockerd makeSandboxDockerConfig.
    """
    own = {naming.TYPE_LABEL: naming.SANDBOX_TYPE, naming.CONTAINER_NAME_LABEL: naming.SANDBOX_NAME, **own_labels}
    exposed, published = _ports(config.port_mappings)
    host_config: Body = {
        "NetworkMode": "host" if config.namespaces.network is NamespaceMode.NODE else "default",
        "IpcMode": "host" if config.namespaces.ipc is NamespaceMode.NODE else "shareable",
        "PidMode": "host" if config.namespaces.pid is NamespaceMode.NODE else "",
        "PortBindings": published,
        "Sysctls": dict(config.sysctls),
        "CpuShares": SANDBOX_CPU_SHARES,
        "OomScoreAdj": oom_score_adj or 0,
        "CgroupParent": own_labels.get(naming.POD_CGROUP_LABEL, config.cgroup_parent),
        "ShmSize": SHM_BYTES,
        "ReadonlyRootfs": True,
        "SecurityOpt": ["no-new-privileges"],
        "CapDrop": ["ALL"],
        "RestartPolicy": {"Name": "no"},
        "LogConfig": _NO_LOG,
    }
    if config.dns is not None:
        # an empty list would leave the engine's own; "." is no search domain, "" no option
        host_config["Dns"] = list(config.dns.servers)
        host_config["DnsSearch"] = list(config.dns.searches) or ["."]
        host_config["DnsOptions"] = list(config.dns.options) or [""]
    return {
        "Image": image,
        "Hostname": "" if config.namespaces.network is NamespaceMode.NODE else config.hostname,
        "Labels": naming.merged_labels(config.labels, config.annotations, **own),
        "ExposedPorts": exposed,
        "Healthcheck": {"Test": ["NONE"]},
        "HostConfig": host_config,
    }


def _ports(mappings: Sequence[PortMapping]) -> tuple[Body, Body]:
    """Return the exposed ports and their bindings on the host."""
    exposed: Body = {}
    published: Body = {}
    for mapping in mappings:
        port = f"{mapping.container_port}/{mapping.protocol.lower()}"
        exposed[port] = {}
        published.setdefault(port, []).append({"HostIp": mapping.host_ip, "HostPort": str(mapping.host_port)})
    return exposed, published


def container_body(
    config: ContainerConfig, sandbox_id: SandboxID, mounts: Sequence[Body], own_labels: Mapping[str, str]
) -> Body:
    """Return the body that creates a container in a sandbox (cri-dockerd CreateContainer)."""
    own = {
        naming.TYPE_LABEL: naming.CONTAINER_TYPE,
        naming.SANDBOX_ID_LABEL: sandbox_id,
        naming.IMAGE_NAME_LABEL: config.image_name,
        naming.IMAGE_REF_LABEL: config.image_ref,
        **own_labels,
    }
    body: Body = {
        "Image": config.image,
        "Env": [f"{name}={value}" for name, value in config.envs.items()],
        "Tty": config.tty,
        "OpenStdin": config.stdin,
        "StdinOnce": config.stdin_once,
        "User": user(config.security),
        "Labels": naming.merged_labels(config.labels, config.annotations, **own),
        "Healthcheck": {"Test": ["NONE"]},
        "HostConfig": _container_host_config(config, sandbox_id, mounts),
    }
    if parent := own_labels.get(naming.POD_CGROUP_LABEL):
        body["HostConfig"]["CgroupParent"] = parent
    optional = {
        "Entrypoint": None if config.command is None else list(config.command),
        "Cmd": None if config.args is None else list(config.args),
        "WorkingDir": config.working_dir,
        "StopSignal": config.stop_signal,
    }
    return body | {key: value for key, value in optional.items() if value is not None}


def _container_host_config(config: ContainerConfig, sandbox_id: SandboxID, mounts: Sequence[Body]) -> Body:
    """Return namespaces, limits, mounts and rights of a container."""
    security = config.security
    added, dropped = ((), ()) if security.privileged else capability_changes(security)
    host_config: Body = {
        "NetworkMode": f"container:{sandbox_id}",
        "IpcMode": f"container:{sandbox_id}",
        "PidMode": pid_mode(security.namespaces, sandbox_id),
        "Mounts": list(mounts),
        "ShmSize": SHM_BYTES,
        "RestartPolicy": {"Name": "no"},
        "LogConfig": _LOG_CONFIG,
        "Privileged": security.privileged,
        "ReadonlyRootfs": security.readonly_rootfs,
        "GroupAdd": [str(group) for group in security.supplemental_groups],
        "CapAdd": list(added),
        "CapDrop": list(dropped),
        "SecurityOpt": security_options(security),
        "OomScoreAdj": config.resources.oom_score_adj or 0,
        **resources_body(config.resources),
    }
    if security.namespaces.network is NamespaceMode.NODE:
        host_config["UTSMode"] = "host"
    return host_config


def pid_mode(namespaces: NamespaceOptions, sandbox_id: SandboxID) -> str:
    """Return whose process ids a container sees; empty is its own."""
    match namespaces.pid:
        case NamespaceMode.NODE:
            return "host"
        case NamespaceMode.POD:
            return f"container:{sandbox_id}"
        case NamespaceMode.TARGET if namespaces.target_id:
            return f"container:{namespaces.target_id}"
        case _:
            return ""


def user(security: LinuxSecurityContext) -> str:
    """Return the engine's USER text: uid, name, or uid:gid; empty keeps the image's."""
    who = security.run_as_username or ("" if security.run_as_user is None else str(security.run_as_user))
    return f"{who}:{security.run_as_group}" if who and security.run_as_group is not None else who


def security_options(security: LinuxSecurityContext) -> list[str]:
    """Return SecurityOpt: without a profile a container runs unconfined, as Kubernetes' default is.

    CRIError when a profile of the node's own is asked for that can't be read. Differs: whether an AppArmor profile is
    loaded is seen by the engine alone, which says so when the container starts, not when it is made.
    """
    options = ["no-new-privileges"] if security.no_new_privs else []
    if security.app_armor and security.app_armor != "runtime/default":
        options.append(f"apparmor={security.app_armor.removeprefix('localhost/')}")
    profile = security.seccomp
    if security.privileged or profile is None or profile.type == "Unconfined":
        return [*options, "seccomp=unconfined"]
    if profile.type == "Localhost":
        check_seccomp(security)
        return [*options, f"seccomp={profile.localhost_json}"]
    return options


def resources_body(resources: LinuxContainerResources) -> Body:
    """Return the limits as the engine's create and update calls name them; swap is never added.

    Differs: an engine refuses a memory limit below 6 MiB when the container is made.
    """
    body: Body = {
        "CpuPeriod": resources.cpu_period,
        "CpuQuota": resources.cpu_quota,
        "CpuShares": resources.cpu_shares,
        "Memory": resources.memory_limit_bytes,
        "MemorySwap": resources.memory_limit_bytes,
        "PidsLimit": resources.pids_limit,
    }
    return {key: value for key, value in body.items() if value}
