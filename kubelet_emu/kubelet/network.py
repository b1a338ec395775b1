"""Connections to a pod, or to wherever a probe or hook names a host.

A `Dial` opens a stream to (host, port), through the runtime: it knows the pod's network, and what the node reaches.
Errors stay OSErrors; `dial_error` words them as Go does.
"""

from __future__ import annotations

import os
import socket
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

import trio
from attrs import frozen

from kubelet_emu.rules.http_request import join_host_port
from runtime.api import CRIError

if TYPE_CHECKING:
    from runtime.api import Runtime, SandboxID

Dial = Callable[[str, int], Awaitable[trio.abc.Stream]]


@frozen
class PodDialer:
    """Dials a pod's address inside its sandbox, any other from the node."""

    runtime: Runtime
    sandbox_id: SandboxID
    pod_ip: str

    async def __call__(self, host: str, port: int) -> trio.abc.Stream:
        """Open a stream; OSError when that fails, also when the sandbox is gone. Cancellation leaves nothing open."""
        try:
            if host != self.pod_ip:
                return await self.runtime.dial_host(host, port)
            return await self.runtime.dial(self.sandbox_id, port)
        except CRIError as error:
            raise OSError(str(error)) from error


async def tcp_connect(host: str, port: int, dial: Dial, deadline: float) -> str:
    """Connect and close again; return the error text, empty on success. `deadline` is Trio time.

    Source: kubelet v1.36 DoTCPProbe.
    """
    with trio.move_on_at(deadline):
        try:
            stream = await dial(host, port)
        except OSError as error:
            return dial_error(host, port, error)
        await trio.aclose_forcefully(stream)
        return ""
    return f"dial tcp {join_host_port(host, port)}: i/o timeout"


def dial_error(host: str, port: int, error: OSError) -> str:
    """Return the text of a connection that failed, as Go's net.OpError words it."""
    cause = _root_cause(error)
    if isinstance(cause, socket.gaierror):
        return f"dial tcp: lookup {host}: no such host"
    return f"dial tcp {join_host_port(host, port)}: connect: {_words(cause)}"


def read_error(host: str, port: int, error: BaseException | None) -> str:
    """Return the text of a connection that broke, as Go's net.OpError words it.

    Differs: the node's own end of the connection is left out, its port is another each time.
    """
    cause = _root_cause(error) if isinstance(error, OSError) else None
    words = _words(cause) if cause is not None else "connection reset by peer"
    return f"read tcp {join_host_port(host, port)}: read: {words}"


def _root_cause(error: OSError) -> OSError:
    """Return the error behind the one that trio.open_tcp_stream makes of all its attempts."""
    cause: BaseException | None = error.__cause__
    while isinstance(cause, BaseExceptionGroup):
        cause = cause.exceptions[0]
    return cause if isinstance(cause, OSError) else error


def _words(error: OSError) -> str:
    if error.errno is not None:
        return os.strerror(error.errno).lower()
    return "connection refused" if isinstance(error, ConnectionRefusedError) else str(error)
