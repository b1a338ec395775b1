"""Content of the /etc/hosts that a pod's containers share.

Source: kubelet v1.36 pkg/kubelet/kubelet_pods.go ensureHostsFile, managedHostsFileContent.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kubelet_emu.api.v1 import Container, EphemeralContainer, HostAlias, Pod
    from kubelet_emu.rules.hostname import PodHostname

HOSTS_PATH = "/etc/hosts"

_HEADER = "# Kubernetes-managed hosts file.\n"
_HOST_NETWORK_HEADER = "# Kubernetes-managed hosts file (host network).\n"
_LOCAL = (
    ("127.0.0.1", "localhost"),
    ("::1", "localhost ip6-localhost ip6-loopback"),
    ("fe00::0", "ip6-localnet"),
    ("fe00::0", "ip6-mcastprefix"),
    ("fe00::1", "ip6-allnodes"),
    ("fe00::2", "ip6-allrouters"),
)


def needs_hosts_file(pod: Pod, container: Container | EphemeralContainer, pod_ips: tuple[str, ...]) -> bool:
    """Tell whether the file is mounted: not over a mount of the container's own, not before the pod has an IP.

    Source: kubelet v1.36 shouldMountHostsFile.
    """
    has_own = any(mount.mount_path == HOSTS_PATH for mount in container.volume_mounts)
    return not has_own and (bool(pod_ips) or bool(pod.spec.host_network))


def managed_hosts(pod: Pod, pod_ips: tuple[str, ...], hostname: PodHostname, node_hosts: str = "") -> str:
    """Return the file's content; with the node's network it starts with the node's own file.

    Source: kubelet v1.36 managedHostsFileContent, nodeHostsFileContent.
    """
    aliases = _host_aliases(pod.spec.host_aliases)
    if pod.spec.host_network:
        return _HOST_NETWORK_HEADER + node_hosts + aliases
    names = f"{hostname.fqdn}\t{hostname.name}" if hostname.domain else hostname.name
    local = "".join(f"{ip}\t{name}\n" for ip, name in _LOCAL)
    return _HEADER + local + "".join(f"{ip}\t{names}\n" for ip in pod_ips) + aliases


def _host_aliases(aliases: tuple[HostAlias, ...]) -> str:
    if not aliases:
        return ""
    lines = "".join("\t".join((alias.ip, *alias.hostnames)) + "\n" for alias in aliases)
    return "\n# Entries added by HostAliases.\n" + lines
