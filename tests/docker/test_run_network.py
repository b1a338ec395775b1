"""What a pod spec says about its network, through the command, on a real engine."""

from __future__ import annotations

import contextlib
import socket
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import images
import pytest
from command_line import run

if TYPE_CHECKING:
    from collections.abc import Iterator

    from command_line import Outcome

pytestmark = pytest.mark.docker

LOCAL = """\
127.0.0.1\tlocalhost
::1\tlocalhost ip6-localhost ip6-loopback
fe00::0\tip6-localnet
fe00::0\tip6-mcastprefix
fe00::1\tip6-allnodes
fe00::2\tip6-allrouters
"""
SHOW = "cat /etc/hosts; echo ---; cat /etc/resolv.conf; echo ---; hostname; echo $HOSTNAME; echo $IP $IPS $NODE"
FACTS = """
    env:
    - {name: IP, valueFrom: {fieldRef: {fieldPath: status.podIP}}}
    - {name: IPS, valueFrom: {fieldRef: {fieldPath: status.podIPs}}}
    - {name: NODE, valueFrom: {fieldRef: {fieldPath: status.hostIP}}}
"""
ENDS = ("--timeout", "60", "--grace-period", "0")


def write(folder: Path, *pods: str) -> Path:
    path = folder / "pods.yaml"
    path.write_text("---\n".join(pods).replace("IMAGE", images.BUSYBOX))
    return path


def a_pod(name: str, spec: str, script: str = SHOW, more: str = FACTS) -> str:
    return (
        f"apiVersion: v1\nkind: Pod\nmetadata: {{name: {name}, namespace: ns}}\nspec:\n  restartPolicy: Never\n{spec}"
        f"  containers:\n  - name: {name}\n    image: IMAGE\n    command: [sh, -c, {script!r}]{more or chr(10)}"
    )


def parts(outcome: Outcome, name: str) -> tuple[str, str, list[str]]:
    """Return what SHOW showed: the hosts file, resolv.conf, and the rest by lines."""
    hosts, resolv, rest = "".join(f"{line}\n" for line in outcome.lines(name)).split("---\n")
    return hosts, resolv, rest.splitlines()


def engine_resolv_conf() -> list[str]:
    """Return the lines of the resolv.conf that the engine gives to a container."""
    done = subprocess.run(
        ["docker", "run", "--rm", images.BUSYBOX, "cat", "/etc/resolv.conf"], capture_output=True, text=True, check=True
    )
    return done.stdout.splitlines()


DNS = """\
  dnsPolicy: {policy}
  dnsConfig: {{nameservers: [192.0.2.53], searches: [a.example, b.example], options: [{{name: ndots, value: "3"}}]}}
"""
NAMES = "  hostname: parlour\n  subdomain: house\n  hostAliases: [{ip: 10.1.2.3, hostnames: [a, b]}]\n"


def test_names_and_resolvers_are_as_the_spec_says(tmp_path: Path) -> None:
    manifest = write(
        tmp_path,
        a_pod("plain", ""),
        a_pod("named", NAMES),
        a_pod("full", NAMES + "  setHostnameAsFQDN: true\n"),
        a_pod("override", NAMES + "  hostnameOverride: far.example.org\n"),
        a_pod("none", DNS.format(policy='"None"')),
        a_pod("added", DNS.format(policy="ClusterFirst")),
        a_pod("default", "  dnsPolicy: Default\n"),
    )
    outcome = run(tmp_path, manifest, *ENDS)
    assert outcome.status == 0, outcome.err
    shown = {name: parts(outcome, name) for name in ("plain", "named", "full", "override", "none", "added", "default")}
    ips = {name: rest[2].split()[0] for name, (_, _, rest) in shown.items()}
    header, fqdn = "# Kubernetes-managed hosts file.\n" + LOCAL, "parlour.house.ns.svc.cluster.local"
    aliases = "\n# Entries added by HostAliases.\n10.1.2.3\ta\tb\n"
    assert {name: hosts for name, (hosts, _, _) in shown.items()} == {
        "plain": f"{header}{ips['plain']}\tplain\n",
        "named": f"{header}{ips['named']}\t{fqdn}\tparlour\n{aliases}",
        "full": f"{header}{ips['full']}\t{fqdn}\tparlour\n{aliases}",
        "override": f"{header}{ips['override']}\tfar.example.org\n{aliases}",
        "none": f"{header}{ips['none']}\tnone\n",
        "added": f"{header}{ips['added']}\tadded\n",
        "default": f"{header}{ips['default']}\tdefault\n",
    }
    assert {name: rest[:2] for name, (_, _, rest) in shown.items()} == {
        **{name: [name, name] for name in ("plain", "none", "added", "default")},
        "named": ["parlour", "parlour"],
        "full": [fqdn, fqdn],
        "override": ["far.example.org", "far.example.org"],
    }
    engines = engine_resolv_conf()
    servers = [line for line in engines if line.startswith("nameserver")]
    assert sorted(shown["plain"][1].splitlines()) == sorted(shown["default"][1].splitlines()) == sorted(engines)
    own = ["nameserver 192.0.2.53", "options ndots:3", "search a.example b.example"]
    assert sorted(shown["none"][1].splitlines()) == own
    added = [line for line in shown["added"][1].splitlines() if line.startswith("nameserver")]
    assert added == [*servers, own[0]][:3]


def test_a_pod_of_the_nodes_network_has_the_nodes_names(tmp_path: Path) -> None:
    spec = "  hostNetwork: true\n  hostname: parlour\n  hostAliases: [{ip: 10.1.2.3, hostnames: [a, b]}]\n"
    manifest = write(tmp_path, a_pod("host", spec, more=FACTS + "    ports: [{containerPort: 18555}]\n"))
    outcome = run(tmp_path, manifest, "--allow-host-namespaces", *ENDS)
    assert outcome.status == 0, outcome.err
    hosts, resolv, rest = parts(outcome, "host")
    own = Path("/etc/hosts").read_text()
    assert hosts == (
        f"# Kubernetes-managed hosts file (host network).\n{own}\n# Entries added by HostAliases.\n10.1.2.3\ta\tb\n"
    )
    assert resolv == Path("/etc/resolv.conf").read_text()
    assert rest[:2] == [socket.gethostname()] * 2
    pod_ip, pod_ips, host_ip = rest[2].split()
    assert pod_ip == pod_ips == host_ip


def test_a_name_that_is_too_long_has_no_sandbox(tmp_path: Path) -> None:
    spec = f"  hostname: {'h' * 40}\n  subdomain: house\n  setHostnameAsFQDN: true\n"
    outcome = run(tmp_path, write(tmp_path, a_pod("long", spec)), "--timeout", "3")
    assert outcome.status == 124
    assert (
        f"failed to construct FQDN from pod hostname and cluster domain, FQDN {'h' * 40}.house.ns.svc.cluster.local is "
        "too long (64 characters is the max, 67 characters requested)"
    ) in outcome.err


@contextlib.contextmanager
def listening(kind: socket.SocketKind) -> Iterator[int]:
    """Give a port that this process has."""
    with socket.socket(socket.AF_INET, kind) as taken:
        taken.bind(("127.0.0.1", 0))
        if kind is socket.SOCK_STREAM:
            taken.listen()
        yield taken.getsockname()[1]


def test_a_port_that_another_program_has_is_told_by_its_place(tmp_path: Path) -> None:
    with listening(socket.SOCK_STREAM) as tcp, listening(socket.SOCK_DGRAM) as udp:
        pods = (
            a_pod("tcp", "", more=f"\n    ports: [{{containerPort: 1, hostPort: {tcp}}}]\n"),
            a_pod("udp", "", more=f"\n    ports: [{{containerPort: 1, hostPort: {udp}, protocol: UDP}}]\n"),
        )
        outcome = run(tmp_path, write(tmp_path, *pods), "--timeout", "13")
    assert outcome.status == 124
    because = "can't be opened: another program of the engine's machine has it"
    for name, port in (("tcp", tcp), ("udp", udp)):
        event = f"Failed to create pod sandbox: host port 127.0.0.1:{port} {because}"
        assert f"{name} FailedCreatePodSandBox: {event}" in outcome.err
        assert f"hint: {name} has no sandbox: stop what has the port, or name another hostPort" in outcome.err


SERVES = "mkdir /www; echo hello > /www/index.html; httpd -p 8080 -h /www; exec sleep 100"
ASKS = "wget -q -O - http://127.0.0.1:{port}/index.html"


def test_host_ports_lead_into_the_pod_and_go_to_one_pod_alone(tmp_path: Path) -> None:
    with listening(socket.SOCK_STREAM) as first, listening(socket.SOCK_STREAM) as second:
        pass
    ports = (
        f"{{containerPort: 8080, hostPort: {first}}}, {{containerPort: 8080, hostPort: {second}, hostIP: 127.0.0.2}}, "
        f"{{containerPort: 53, hostPort: {first}, protocol: UDP}}"
    )
    asks = (
        f"until wget -q -O - http://127.0.0.1:{first}/ 2>/dev/null; do sleep 0.2; done; "
        f"wget -q -O - http://127.0.0.2:{second}/; "
        f"wget -q -O - http://127.0.0.1:{second}/ 2>&1 || grep -ci :{first:04X} /proc/net/udp"
    )
    manifest = write(
        tmp_path,
        a_pod("web", "", SERVES, f"\n    ports: [{ports}]\n"),
        a_pod("loser", "", "exit 0", f"\n    ports: [{{containerPort: 1, hostPort: {first}, hostIP: 127.0.0.1}}]\n"),
        a_pod("other", "", "exit 0", f"\n    ports: [{{containerPort: 1, hostPort: {second}, hostIP: 127.0.0.3}}]\n"),
        a_pod("client", "  hostNetwork: true\n", asks, ""),
    )
    outcome = run(tmp_path, manifest, "--allow-host-namespaces", "--delete-when", "client exited", *ENDS)
    assert outcome.lines("client") == [
        "hello",
        "hello",
        "wget: can't connect to remote host (127.0.0.1): Connection refused",
        "1",
    ]
    rejected = "loser NodePorts: Predicate NodePorts failed: node(s) didn't have free ports for the requested pod ports"
    assert rejected in outcome.err
    assert "other NodePorts" not in outcome.err


def test_pods_reach_each_other_by_address_and_by_name(tmp_path: Path) -> None:
    service = (
        "apiVersion: v1\nkind: Service\nmetadata: {name: web, namespace: ns}\n"
        "spec: {selector: {app: web}, ports: [{port: 8080}]}\n"
    )
    web = a_pod("web", "", SERVES, "").replace("namespace: ns}", "namespace: ns, labels: {app: web}}")
    by_address = "wget -q -O - http://$(grep web.ns.svc /etc/hosts | cut -f1):8080/"
    asks = f"until wget -q -O - http://web:8080/ 2>/dev/null; do sleep 0.2; done; {by_address}"
    manifest = write(tmp_path, service, web, a_pod("client", "", asks, ""))
    outcome = run(tmp_path, manifest, "--delete-when", "client exited", *ENDS)
    assert outcome.lines("client") == ["hello", "hello"], outcome.err
