"""What the node's own files say about names: its hosts file, and the resolv.conf that pods inherit.

Owns what was read: each is asked of the runtime once, when a pod first needs it, for that may take a container.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import trio
from attrs import define, field

from kubelet_emu.rules.dns import CLUSTER_DOMAIN, NodeDNS, parse_resolv_conf
from runtime.api import NamespaceMode

if TYPE_CHECKING:
    from kubelet_emu.config.kubelet_configuration import KubeletConfiguration
    from runtime.api import DNSConfig, NetworkFiles, RuntimeService


@define(eq=False, kw_only=True)
class NodeFiles:
    """Reads the node's files through its runtime."""

    runtime: RuntimeService
    configuration: KubeletConfiguration
    _known: dict[NamespaceMode, NetworkFiles] = field(factory=dict, init=False)
    _lock: trio.Lock = field(factory=trio.Lock, init=False)

    @property
    def cluster_domain(self) -> str:
        """Return the domain of the cluster's names: a kubelet has none of its own, every cluster sets one."""
        return self.configuration.cluster_domain or CLUSTER_DOMAIN

    @property
    def cluster_dns(self) -> tuple[str, ...]:
        """Return the servers that a cluster's DNS has, as the configuration names them."""
        return self.configuration.cluster_dns

    async def hosts(self) -> str:
        """Return the node's hosts file; CRIError."""
        return (await self._of(NamespaceMode.NODE)).hosts

    async def dns(self, network: NamespaceMode) -> NodeDNS:
        """Return what a pod's DNS is made from; CRIError.

        Differs: the node's part is the resolv.conf that the engine gives to pods of such a network, not a file that the
        configuration names: the servers of the node's own may listen at its loopback alone.
        """
        return NodeDNS(host=await self._host(network), cluster_dns=self.cluster_dns, cluster_domain=self.cluster_domain)

    async def _host(self, network: NamespaceMode) -> DNSConfig:
        return parse_resolv_conf((await self._of(network)).resolv_conf)

    async def _of(self, network: NamespaceMode) -> NetworkFiles:
        async with self._lock:
            if network not in self._known:
                self._known[network] = await self.runtime.network_files(network)
            return self._known[network]
