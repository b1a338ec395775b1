"""The host name of a pod.

Source: kubelet v1.36 GeneratePodHostNameAndDomain, GetNodenameForKernel; KEP-4762 (hostnameOverride).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from attrs import frozen

from kubelet_emu.api import reasons_creation

if TYPE_CHECKING:
    from kubelet_emu.api.v1 import Pod

HOSTNAME_LIMIT = 63
FQDN_LIMIT = 64


class HostnameError(ValueError):
    """A pod's FQDN doesn't fit into the kernel; the text is the sandbox's error."""


@frozen(kw_only=True)
class PodHostname:
    """Short name and domain of a pod; the domain is empty without a subdomain."""

    name: str
    domain: str = ""

    @property
    def fqdn(self) -> str:
        """Return the full name, the short one without a domain."""
        return f"{self.name}.{self.domain}" if self.domain else self.name


def pod_hostname(pod: Pod, cluster_domain: str) -> PodHostname:
    """Return a pod's host name and domain.

    hostnameOverride comes first and has no domain, then spec.hostname, then the pod's name; each is cut to 63
    characters and loses dashes and dots at its end. Source: kubelet v1.36 GeneratePodHostNameAndDomain.
    """
    spec = pod.spec
    if spec.hostname_override:
        return PodHostname(name=_truncate(spec.hostname_override))
    domain = ""
    if spec.subdomain:
        domain = f"{spec.subdomain}.{pod.metadata.namespace}.svc.{cluster_domain}"
    return PodHostname(name=_truncate(spec.hostname or pod.metadata.name or ""), domain=domain)


def kernel_hostname(pod: Pod, hostname: PodHostname) -> str:
    """Return what the sandbox's kernel is told; HostnameError when the FQDN asked for is longer than 64.

    Source: kubelet v1.36 GetNodenameForKernel (KEP-1797, setHostnameAsFQDN).
    """
    if not (pod.spec.set_hostname_as_fqdn and hostname.domain):
        return hostname.name
    if len(hostname.fqdn) > FQDN_LIMIT:
        raise HostnameError(reasons_creation.FQDN_TOO_LONG.format(fqdn=hostname.fqdn, length=len(hostname.fqdn)))
    return hostname.fqdn


def _truncate(name: str) -> str:
    return name if len(name) <= HOSTNAME_LIMIT else name[:HOSTNAME_LIMIT].rstrip("-.")
