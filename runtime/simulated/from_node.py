"""What a simulated node reaches by itself: its own ports, those that pods publish, and pods. Nothing beyond."""

from __future__ import annotations

import ipaddress
import socket
from typing import TYPE_CHECKING

from runtime.api import PodSandboxState
from runtime.simulated.network import LOOPBACK, NODE

if TYPE_CHECKING:
    import trio

    from runtime.simulated.pods import Pods
    from runtime.simulated.sandbox import Sandbox

HOST_ADDRESS = "10.244.0.1"


def dial_host(pods: Pods, host: str, port: int) -> trio.abc.Stream:
    """Connect from the node to a host; OSError as a machine without any other network gives it."""
    network = pods.machine.network
    if host in LOOPBACK or host == HOST_ADDRESS:
        published = None if network.is_listening(NODE, port) else _published(pods, port)
        return network.dial(*(published or (NODE, port)))
    try:
        ipaddress.ip_address(host)
    except ValueError as error:
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known") from error
    return network.connect(NODE, host, port)


def _published(pods: Pods, port: int) -> tuple[str, int] | None:
    """Return where a host port leads: the network of a running sandbox, and a port there."""
    for sandbox in pods.sandboxes.values():
        for mapping in sandbox.config.port_mappings:
            if _is_up(sandbox) and (mapping.host_port, mapping.protocol) == (port, "TCP"):
                return sandbox.network, mapping.container_port
    return None


def _is_up(sandbox: Sandbox) -> bool:
    return sandbox.state is PodSandboxState.READY
