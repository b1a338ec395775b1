"""From a pod spec to what its sandbox is made from.

Pure. Source: kubelet v1.36 pkg/kubelet/kuberuntime/kuberuntime_sandbox.go generatePodSandboxConfig.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubelet_emu.api.labels import pod_sandbox_labels
from kubelet_emu.api.sysctls import normalize_name
from kubelet_emu.rules.hostname import HostnameError, kernel_hostname, pod_hostname
from kubelet_emu.rules.security import container_namespaces, has_privileged_container, sandbox_security
from runtime.api import PodSandboxConfig, PodSandboxMetadata, PortMapping

if TYPE_CHECKING:
    from kubelet_emu.api.v1 import Pod
    from runtime.api import DNSConfig, LinuxContainerResources

LOOPBACK = "127.0.0.1"
_ANY_ADDRESS = frozenset({"", "0.0.0.0", "::"})  # noqa: S104 - what a manifest may say, not what is bound


class ConfigError(Exception):
    """A sandbox's config can't be made; the text follows `Failed to create pod sandbox: `."""


def generate_pod_sandbox_config(
    pod: Pod,
    attempt: int,
    *,
    dns: DNSConfig | None,
    cluster_domain: str,
    resources: LinuxContainerResources | None = None,
    publish_address: str = LOOPBACK,
) -> PodSandboxConfig:
    """Return the config of a pod's sandbox; ConfigError when its FQDN is too long.

    `dns` is None with a resolv.conf of the runtime's own, `resources` what the pod's cgroup gets.
    """
    try:
        hostname = kernel_hostname(pod, pod_hostname(pod, cluster_domain))
    except HostnameError as error:
        raise ConfigError(str(error)) from error
    meta = pod.metadata
    context = pod.spec.security_context
    return PodSandboxConfig(
        metadata=PodSandboxMetadata(
            name=meta.name or "", namespace=meta.namespace or "", uid=meta.uid or "", attempt=attempt
        ),
        # With the node's network the name is the node's.
        hostname="" if pod.spec.host_network else hostname,
        dns=dns,
        port_mappings=port_mappings(pod, publish_address),
        labels=pod_sandbox_labels(pod),
        annotations=dict(meta.annotations),
        sysctls={normalize_name(sysctl.name): sysctl.value for sysctl in context.sysctls} if context else {},
        namespaces=container_namespaces(pod, None),
        privileged=has_privileged_container(pod),
        security=sandbox_security(pod),
        resources=resources,
    )


def port_mappings(pod: Pod, publish_address: str) -> tuple[PortMapping, ...]:
    """Return the host ports to publish: those of regular containers only, none with the node's network.

    Differs: a port is bound to `publish_address` (loopback unless told otherwise) instead of every address, and to an
    address that the manifest names only when that is loopback too or ports may leave the machine.
    Source: kubelet v1.36 MakePortMappings.
    """
    if pod.spec.host_network:
        return ()
    return tuple(
        PortMapping(
            container_port=port.container_port,
            host_port=port.host_port,
            host_ip=_host_ip(port.host_ip or "", publish_address),
            protocol=port.protocol or "TCP",
        )
        for container in pod.spec.containers
        for port in container.ports
        if port.host_port
    )


def _host_ip(wanted: str, publish_address: str) -> str:
    if wanted in _ANY_ADDRESS or (_is_loopback(publish_address) and not _is_loopback(wanted)):
        return publish_address
    return wanted


def _is_loopback(address: str) -> bool:
    return address.startswith("127.") or address == "::1"
