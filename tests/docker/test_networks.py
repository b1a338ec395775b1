"""Datagrams and IPv6: ports of the machine and pods' addresses, on a real engine, seen from pods' own networks."""

from __future__ import annotations

import secrets
import socket
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import datagrams
import pytest
import trio
from attrs import evolve
from engine_pods import PodMaker, sandbox_config

from runtime.api import PortMapping

if TYPE_CHECKING:
    from collections.abc import Iterator

    from docker import APIClient

    from runtime.api import ImageID, SandboxID
    from runtime.docker import DockerRuntime

pytestmark = pytest.mark.docker

PORT = 5353


def within(engine: APIClient, sandbox_id: SandboxID, *words: str) -> list[str]:
    """Return the command that runs datagrams.py in a sandbox's network."""
    pid = engine.inspect_container(sandbox_id)["State"]["Pid"]
    return ["nsenter", "--target", str(pid), "--net", sys.executable, datagrams.__file__, *words]


@contextmanager
def answering(engine: APIClient, sandbox_id: SandboxID, family: str = "4") -> Iterator[None]:
    """Have somebody answer in a sandbox's network."""
    command = within(engine, sandbox_id, "answer", family, str(PORT))
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        yield
        process.kill()


async def ask_from(engine: APIClient, sandbox_id: SandboxID, address: str) -> str:
    """Return what is answered to a pod that asks at an address."""
    done = await trio.run_process(within(engine, sandbox_id, "ask", address, str(PORT), "hello"), capture_stdout=True)
    return done.stdout.decode()


def free_port() -> int:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as unused:
        unused.bind(("127.0.0.1", 0))
        return int(unused.getsockname()[1])


async def test_datagrams_reach_a_pod_by_its_address_and_by_a_port_of_the_machine(
    engine: APIClient, runtime: DockerRuntime
) -> None:
    host_port = free_port()
    mapping = PortMapping(container_port=PORT, host_port=host_port, host_ip="127.0.0.1", protocol="UDP")
    server = await runtime.run_pod_sandbox(evolve(sandbox_config("server"), port_mappings=(mapping,)))
    client = await runtime.run_pod_sandbox(sandbox_config("client"))
    ips = [(await runtime.pod_sandbox_status(each)).ip for each in (server, client)]
    with answering(engine, server):
        assert await ask_from(engine, client, ips[0]) == f"hello from {ips[1]}"
        answer = await trio.to_thread.run_sync(datagrams.ask, "127.0.0.1", host_port, "hello")
    assert answer.startswith("hello from ")


@pytest.fixture
def network_with_ipv6(engine: APIClient) -> Iterator[str]:
    """Give a network of the engine that has IPv6; a machine without it has the tests skipped, and says so."""
    if not Path("/proc/net/if_inet6").exists():
        pytest.skip("this machine has no IPv6")
    name, part = f"kemu-{secrets.token_hex(4)}", secrets.token_hex(2)
    pools = {"Driver": "default", "Config": [{"Subnet": f"fd00:6b65:6d75:{part}::/64"}]}
    created = engine.create_network(name, driver="bridge", ipam=pools, enable_ipv6=True)
    yield name
    engine.remove_network(created["Id"])


async def test_a_pod_has_the_ipv6_address_of_its_network(
    engine: APIClient, runtime: DockerRuntime, busybox: ImageID, network_with_ipv6: str
) -> None:
    """A network is joined by hand: the engine's own bridge has IPv6 only where its configuration says so."""
    configs = [sandbox_config("server"), sandbox_config("client")]
    server, client = [await runtime.run_pod_sandbox(config) for config in configs]
    for each in (server, client):
        engine.connect_container_to_network(each, network_with_ipv6)
    addresses = [(await runtime.pod_sandbox_status(each)).additional_ips[-1] for each in (server, client)]
    assert all(each.startswith("fd00:6b65:6d75:") for each in addresses)
    with answering(engine, server, "6"):
        assert await ask_from(engine, client, addresses[0]) == f"hello from {addresses[1]}"
    pod = PodMaker(runtime, busybox, configs[0], server)
    web = await pod.start("web", "echo hi > /tmp/index.html; httpd -f -p 8080 -h /tmp")
    fetch = ("wget", "-q", "-O", "-", f"http://[{addresses[0]}]:8080/")
    other = PodMaker(runtime, busybox, configs[1], client)
    script = f"until {' '.join(fetch)} 2>/dev/null; do sleep 0.1; done"
    assert await other.log_of(await other.start("asks", script)) == ["hi"]
    await runtime.remove_container(web)
    for each in (server, client):
        await runtime.remove_pod_sandbox(each)
