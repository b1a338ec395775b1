"""Host name, /etc/hosts and resolv.conf of a pod (kubelet v1.36 kubelet_pods.go, network/dns)."""

from __future__ import annotations

import pytest

from kubelet_emu.api.meta import ObjectMeta
from kubelet_emu.api.v1 import Container, HostAlias, Pod, PodDNSConfig, PodDNSConfigOption, PodSpec, VolumeMount
from kubelet_emu.rules.dns import NodeDNS, parse_resolv_conf, pod_dns
from kubelet_emu.rules.hostname import HostnameError, PodHostname, kernel_hostname, pod_hostname
from kubelet_emu.rules.hosts import managed_hosts, needs_hosts_file
from runtime.api import DNSConfig


def a_pod(name: str = "p", **spec: object) -> Pod:
    return Pod(metadata=ObjectMeta(name=name, namespace="ns", uid="u"), spec=PodSpec(**spec))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("pod", "expected"),
    [
        (a_pod(), PodHostname(name="p")),
        (a_pod(hostname="me"), PodHostname(name="me")),
        (a_pod(hostname="me", subdomain="sub"), PodHostname(name="me", domain="sub.ns.svc.cluster.local")),
        (a_pod(hostname_override="x.y", hostname="me", subdomain="sub"), PodHostname(name="x.y")),
        (a_pod("a" * 62 + "-.b"), PodHostname(name="a" * 62)),
        (a_pod("a" * 63), PodHostname(name="a" * 63)),
    ],
)
def test_host_name(pod: Pod, expected: PodHostname) -> None:
    assert pod_hostname(pod, "cluster.local") == expected


def test_the_kernel_is_told_the_short_name_unless_the_pod_wants_the_full_one() -> None:
    full = PodHostname(name="me", domain="sub.ns.svc.cluster.local")
    assert kernel_hostname(a_pod(), full) == "me"
    assert kernel_hostname(a_pod(set_hostname_as_fqdn=True), full) == "me.sub.ns.svc.cluster.local"
    assert kernel_hostname(a_pod(set_hostname_as_fqdn=True), PodHostname(name="me")) == "me"


def test_a_full_name_that_is_too_long_is_refused() -> None:
    name = PodHostname(name="a" * 40, domain="b" * 30)
    with pytest.raises(HostnameError) as raised:
        kernel_hostname(a_pod(set_hostname_as_fqdn=True), name)
    assert str(raised.value) == (
        f"failed to construct FQDN from pod hostname and cluster domain, FQDN {name.fqdn} is too long"
        " (64 characters is the max, 71 characters requested)"
    )


LOCAL = (
    "127.0.0.1\tlocalhost\n::1\tlocalhost ip6-localhost ip6-loopback\nfe00::0\tip6-localnet\n"
    "fe00::0\tip6-mcastprefix\nfe00::1\tip6-allnodes\nfe00::2\tip6-allrouters\n"
)


def test_the_hosts_file_has_a_line_for_each_address() -> None:
    content = managed_hosts(a_pod(), ("10.0.0.7", "fd::7"), PodHostname(name="p"))
    assert content == "# Kubernetes-managed hosts file.\n" + LOCAL + "10.0.0.7\tp\nfd::7\tp\n"


def test_the_hosts_file_has_the_full_name_and_the_aliases() -> None:
    pod = a_pod(host_aliases=(HostAlias(ip="1.2.3.4", hostnames=("a", "b")),))
    content = managed_hosts(pod, ("10.0.0.7",), PodHostname(name="p", domain="d"))
    assert content == (
        "# Kubernetes-managed hosts file.\n"
        + LOCAL
        + "10.0.0.7\tp.d\tp\n\n# Entries added by HostAliases.\n1.2.3.4\ta\tb\n"
    )


def test_the_hosts_file_of_the_nodes_network_is_the_nodes() -> None:
    pod = a_pod(host_network=True, host_aliases=(HostAlias(ip="1.2.3.4", hostnames=("a",)),))
    assert managed_hosts(pod, (), PodHostname(name="p"), "127.0.0.1 node\n") == (
        "# Kubernetes-managed hosts file (host network).\n127.0.0.1 node\n"
        "\n# Entries added by HostAliases.\n1.2.3.4\ta\n"
    )


@pytest.mark.parametrize(
    ("pod", "mounts", "ips", "expected"),
    [
        (a_pod(), (), ("10.0.0.7",), True),
        (a_pod(), (), (), False),
        (a_pod(host_network=True), (), (), True),
        (a_pod(), (VolumeMount(name="v", mount_path="/etc/hosts"),), ("10.0.0.7",), False),
    ],
)
def test_the_hosts_file_gives_way_to_a_mount_of_the_container(
    pod: Pod,
    mounts: tuple[VolumeMount, ...],
    ips: tuple[str, ...],
    expected: bool,  # noqa: FBT001
) -> None:
    assert needs_hosts_file(pod, Container(name="c", volume_mounts=mounts), ips) is expected


HOST = DNSConfig(servers=("192.0.2.53",), searches=("example.com", "cluster.local"), options=("timeout:1",))
CLUSTER = NodeDNS(host=HOST, cluster_dns=("10.96.0.10",))
CLUSTER_SEARCHES = ("ns.svc.cluster.local", "svc.cluster.local", "cluster.local", "example.com")


@pytest.mark.parametrize(
    ("pod", "expected"),
    [
        pytest.param(
            a_pod(),
            DNSConfig(servers=("10.96.0.10",), searches=CLUSTER_SEARCHES, options=("ndots:5",)),
            id="ClusterFirst is the default",
        ),
        pytest.param(a_pod(host_network=True), HOST, id="ClusterFirst with the node's network is the node's"),
        pytest.param(
            a_pod(host_network=True, dns_policy="ClusterFirstWithHostNet"),
            DNSConfig(servers=("10.96.0.10",), searches=CLUSTER_SEARCHES, options=("ndots:5",)),
            id="ClusterFirstWithHostNet",
        ),
        pytest.param(a_pod(dns_policy="Default"), HOST, id="Default is the node's"),
        pytest.param(a_pod(dns_policy="None"), DNSConfig(), id="None is empty"),
        pytest.param(
            a_pod(
                dns_policy="Default",
                dns_config=PodDNSConfig(
                    nameservers=("192.0.2.53", "1.1.1.1"),
                    searches=("extra",),
                    options=(PodDNSConfigOption(name="timeout", value="9"), PodDNSConfigOption(name="edns0")),
                ),
            ),
            DNSConfig(
                servers=("192.0.2.53", "1.1.1.1"),
                searches=("example.com", "cluster.local", "extra"),
                options=("timeout:9", "edns0"),
            ),
            id="dnsConfig is appended, options by name",
        ),
    ],
)
def test_dns(pod: Pod, expected: DNSConfig) -> None:
    made = pod_dns(pod, CLUSTER)
    assert made.config == expected
    assert made.warnings == ()


def test_no_cluster_dns_is_told_and_the_nodes_is_used() -> None:
    made = pod_dns(a_pod(), NodeDNS(host=HOST))
    assert made.config == HOST
    assert made.warnings == (
        (
            "MissingClusterDNS",
            (
                'pod: "p_ns(u)". kubelet does not have ClusterDNS IP configured and cannot create Pod using'
                ' "ClusterFirst" policy. Falling back to "Default" policy.'
            ),
        ),
    )


def test_without_a_cluster_domain_only_the_nodes_searches_are_left() -> None:
    made = pod_dns(a_pod(), NodeDNS(host=HOST, cluster_dns=("10.96.0.10",), cluster_domain=""))
    assert made.config.searches == HOST.searches


def test_what_is_beyond_the_limits_is_cut_and_told() -> None:
    config = PodDNSConfig(
        nameservers=("1.1.1.1", "2.2.2.2", "3.3.3.3", "4.4.4.4"), searches=tuple(f"s{n}" for n in range(33))
    )
    made = pod_dns(a_pod(dns_policy="None", dns_config=config), CLUSTER)
    assert made.config.servers == ("1.1.1.1", "2.2.2.2", "3.3.3.3")
    assert len(made.config.searches) == 32
    assert made.warnings == (
        (
            "DNSConfigForming",
            (
                "Nameserver limits were exceeded, some nameservers have been omitted,"
                " the applied nameserver line is: 1.1.1.1 2.2.2.2 3.3.3.3"
            ),
        ),
        (
            "DNSConfigForming",
            (
                "Search Line limits were exceeded, some search paths have been omitted,"
                f" the applied search line is: {' '.join(made.config.searches)}"
            ),
        ),
    )


def test_a_search_line_has_at_most_2048_characters() -> None:
    config = PodDNSConfig(searches=tuple("x" * 200 + str(n) for n in range(12)))
    made = pod_dns(a_pod(dns_policy="None", dns_config=config), CLUSTER)
    assert len(" ".join(made.config.searches)) <= 2048
    assert len(made.config.searches) == 10


def test_a_search_path_that_would_make_resolvers_abort_is_left_out() -> None:
    fits, too_long = "x" * 253, "y" * 254
    made = pod_dns(a_pod(dns_policy="None", dns_config=PodDNSConfig(searches=("a", too_long, fits))), CLUSTER)
    assert made.config.searches == ("a", fits)
    assert made.warnings[0][1].endswith(f"the applied search line is: a {fits}")


def test_a_resolv_conf_is_read() -> None:
    text = (
        "# made by hand\nnameserver 1.1.1.1\nnameserver\nsearch a.b. c\nsearch d .\n"
        "options ndots:1 rotate ; x\noptions rotate ndots:2\nsortlist 1\n\n"
    )
    assert parse_resolv_conf(text) == DNSConfig(
        servers=("1.1.1.1",), searches=("d", "."), options=("ndots:2", "rotate")
    )
