"""How a pod resolves names. Source: kubernetes v1.36 validatePodDNSConfig, ValidateHostAliases."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubelet_emu.manifests.validation.faults import Fault, invalid, required
from kubelet_emu.manifests.validation.names import ip_errors, relaxed_subdomain_errors, subdomain_errors

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kubelet_emu.api.v1 import PodDNSConfig
    from kubelet_emu.manifests.validation.context import Context, Gates

_MOST_NAMESERVERS = 3
_MOST_SEARCHES = 32
_LONGEST_SEARCHES = 2048


def validate_dns(context: Context, path: str) -> Iterator[Fault]:
    """Check `dnsConfig`, which a pod without a DNS policy needs."""
    config = context.spec.dns_config
    if context.spec.dns_policy == "None":
        if config is None:
            yield required(path, "must provide `dnsConfig` when `dnsPolicy` is None")
        elif not config.nameservers:
            text = "must provide at least one DNS nameserver when `dnsPolicy` is None"
            yield required(f"{path}.nameservers", text)
            return
    if config is not None:
        yield from _validate_config(config, path, context.gates)


def _validate_config(config: PodDNSConfig, path: str, gates: Gates) -> Iterator[Fault]:
    if len(config.nameservers) > _MOST_NAMESERVERS:
        text = f"must not have more than {_MOST_NAMESERVERS} nameservers"
        yield invalid(f"{path}.nameservers", config.nameservers, text)
    for index, server in enumerate(config.nameservers):
        yield from _validate_ip(server, f"{path}.nameservers[{index}]", gates)
    if len(config.searches) > _MOST_SEARCHES:
        text = f"must not have more than {_MOST_SEARCHES} search paths"
        yield invalid(f"{path}.searches", config.searches, text)
    if len(" ".join(config.searches).encode()) > _LONGEST_SEARCHES:
        text = f"must not have more than {_LONGEST_SEARCHES} characters (including spaces) in the search list"
        yield invalid(f"{path}.searches", config.searches, text)
    is_relaxed = gates.enabled("RelaxedDNSSearchValidation")
    errors = relaxed_subdomain_errors if is_relaxed else subdomain_errors
    for index, search in enumerate(config.searches):
        checked = search.removesuffix(".")
        for text in () if is_relaxed and search == "." else errors(checked):
            yield invalid(f"{path}.searches[{index}]", checked, text)
    for index, option in enumerate(config.options):
        if not option.name:
            yield required(f"{path}.options[{index}]", "must not be empty")


def _validate_ip(address: str, path: str, gates: Gates) -> Iterator[Fault]:
    for text in ip_errors(address, strict=gates.enabled("StrictIPCIDRValidation")):
        yield invalid(path, address, text)


def validate_host_aliases(context: Context, path: str) -> Iterator[Fault]:
    """Check lines for /etc/hosts."""
    for index, alias in enumerate(context.spec.host_aliases):
        yield from _validate_ip(alias.ip, f"{path}[{index}].ip", context.gates)
        for number, hostname in enumerate(alias.hostnames):
            for text in subdomain_errors(hostname):
                yield invalid(f"{path}[{index}].hostnames[{number}]", hostname, text)
