"""What a pod's resolv.conf says: dnsPolicy, dnsConfig, limits.

Source: kubelet v1.36 pkg/kubelet/network/dns.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from attrs import field, frozen

from kubelet_emu.api import reasons_creation
from kubelet_emu.api.gotext import quote
from kubelet_emu.api.labels import format_pod
from runtime.api import DNSConfig

if TYPE_CHECKING:
    from kubelet_emu.api.v1 import Pod, PodDNSConfig, PodDNSConfigOption

CLUSTER_DOMAIN = "cluster.local"
MAX_NAMESERVERS = 3
MAX_SEARCHES = 32
MAX_SEARCH_CHARACTERS = 2048
MAX_DOMAIN_CHARACTERS = 253  # a longer one makes some resolvers abort


@frozen(kw_only=True)
class NodeDNS:
    """The node's resolv.conf, and the cluster's DNS where there is one."""

    host: DNSConfig = field(factory=DNSConfig)
    cluster_dns: tuple[str, ...] = ()
    cluster_domain: str = CLUSTER_DOMAIN


@frozen(kw_only=True)
class PodDNS:
    """A pod's DNS config; `warnings` are reason and message of Warning events of the pod."""

    config: DNSConfig
    warnings: tuple[tuple[str, str], ...] = ()


def pod_dns(pod: Pod, node: NodeDNS) -> PodDNS:
    """Return what goes into a pod's resolv.conf.

    Source: kubelet v1.36 Configurer.GetPodDNS: the policy's base, dnsConfig appended, then the limits.
    """
    base, warnings = _base(pod, node)
    merged = _merge(base, pod.spec.dns_config)
    config, limits = _limited(merged)
    return PodDNS(config=config, warnings=(*warnings, *limits))


def parse_resolv_conf(text: str) -> DNSConfig:
    """Read a resolv.conf: nameservers add up, the last search line counts, and of an option the last value.

    Source: kubelet v1.36 parseResolvConf, appendOptions.
    """
    servers: list[str] = []
    searches: tuple[str, ...] = ()
    options: dict[str, str] = {}
    for line in text.splitlines():
        keyword, *values = line.split("#", 1)[0].split(";", 1)[0].split() or [""]
        if keyword == "nameserver" and values:
            servers.append(values[0])
        elif keyword == "search":
            searches = tuple(value.rstrip(".") if value != "." else value for value in values)
        elif keyword == "options":
            options.update((value.partition(":")[0], value) for value in values)
    return DNSConfig(servers=tuple(servers), searches=searches, options=tuple(options.values()))


def _base(pod: Pod, node: NodeDNS) -> tuple[DNSConfig, tuple[tuple[str, str], ...]]:
    policy = pod.spec.dns_policy or "ClusterFirst"
    if policy == "None":
        return DNSConfig(), ()
    is_host = policy == "Default" or (policy == "ClusterFirst" and pod.spec.host_network)
    if is_host:
        return node.host, ()
    if not node.cluster_dns:
        text = reasons_creation.CLUSTER_DNS_NOT_CONFIGURED.format(pod=quote(format_pod(pod)))
        return node.host, ((reasons_creation.MISSING_CLUSTER_DNS, text),)
    domain = node.cluster_domain
    searches: tuple[str, ...] = ()
    if domain:
        searches = (f"{pod.metadata.namespace}.svc.{domain}", f"svc.{domain}", domain)
    return DNSConfig(
        servers=node.cluster_dns,
        searches=tuple(dict.fromkeys((*searches, *node.host.searches))),
        options=("ndots:5",),
    ), ()


def _merge(base: DNSConfig, extra: PodDNSConfig | None) -> DNSConfig:
    if extra is None:
        return base
    return DNSConfig(
        servers=tuple(dict.fromkeys((*base.servers, *extra.nameservers))),
        searches=tuple(dict.fromkeys((*base.searches, *extra.searches))),
        options=_merge_options(base.options, extra.options),
    )


def _merge_options(base: tuple[str, ...], extra: tuple[PodDNSConfigOption, ...]) -> tuple[str, ...]:
    values = {name: value for name, _, value in (option.partition(":") for option in base)}
    values.update((option.name or "", option.value or "") for option in extra)
    return tuple(f"{name}:{value}" if value else name for name, value in values.items())


def _limited(config: DNSConfig) -> tuple[DNSConfig, tuple[tuple[str, str], ...]]:
    """Cut what is beyond the limits and say so (kubelet formDNSNameserversFitsLimits, formDNSSearchFitsLimits)."""
    servers = config.servers[:MAX_NAMESERVERS]
    counted = config.searches[:MAX_SEARCHES]
    searches = tuple(search for search in counted if len(search) <= MAX_DOMAIN_CHARACTERS)
    while len(" ".join(searches)) > MAX_SEARCH_CHARACTERS:
        searches = searches[:-1]
    warnings = []
    if servers != config.servers:
        warnings.append(
            (reasons_creation.DNS_CONFIG_FORMING, reasons_creation.NAMESERVERS_EXCEEDED.format(line=" ".join(servers)))
        )
    if searches != config.searches:
        warnings.append(
            (reasons_creation.DNS_CONFIG_FORMING, reasons_creation.SEARCHES_EXCEEDED.format(line=" ".join(searches)))
        )
    return DNSConfig(servers=servers, searches=searches, options=config.options), tuple(warnings)
