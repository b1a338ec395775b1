"""Connections into a pod's network: straight to its address, or through a relay inside where the host can't reach it.

Which way works is found out once. Where this machine doesn't have the gateway of the pods' network, as with Docker
Desktop, colima, rootless and remote engines, a command in the pod's network carries each connection. Where it seems to
have it, a real connection decides: our helper listens in a pod, and we try to reach it.
"""

from __future__ import annotations

import errno
import functools
import ipaddress
import os
import secrets
import socket
import struct
import sys
from typing import TYPE_CHECKING, Any

import trio
from attrs import define, field

from runtime.api import CRIError
from runtime.docker import convert, helper, naming

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from runtime.api import PodSandboxStatus
    from runtime.docker.execs import Execs, ExecStream
    from runtime.docker.making import Maker
    from runtime.docker.pause import PauseImages
    from runtime.docker.sandboxes import Sandboxes

PROBE_SECONDS = 1.0
FINDING_SECONDS = 5.0
_LINUX_AF_INET6 = 10


def socket_address(address: str, port: int) -> bytes:
    """Return a Linux sockaddr of 28 bytes, as our helper reads it."""
    ip = ipaddress.ip_address(address)
    if isinstance(ip, ipaddress.IPv4Address):
        return struct.pack("=H", socket.AF_INET) + struct.pack(">H", port) + ip.packed + bytes(20)
    return struct.pack("=H", _LINUX_AF_INET6) + struct.pack(">HI", port, 0) + ip.packed + bytes(4)


@define(eq=False)
class Dialer:
    """Opens connections to ports of pods."""

    sandboxes: Sandboxes
    execs: Execs
    pause: PauseImages
    maker: Maker
    own_labels: Mapping[str, str]
    on_note: Callable[[str], None]
    is_direct: bool | None = field(default=None)
    _helpers: dict[str, str] = field(factory=dict, init=False)
    _lock: trio.Lock = field(factory=trio.Lock, init=False)

    async def dial(self, sandbox: PodSandboxStatus, port: int) -> trio.abc.Stream:
        """Connect to a TCP port of a pod; OSError when nothing listens. Cancellation gives up at once."""
        address = sandbox.ip or "127.0.0.1"
        if await self._goes_direct(sandbox):
            return await connect_directly(address, port)
        return await self._relay(sandbox, address, port)

    async def dial_loopback(self, sandbox: PodSandboxStatus, port: int) -> trio.abc.Stream:
        """Connect to a port as a process in the pod would, at 127.0.0.1, else at ::1; OSError when nothing listens.

        So servers are reached that listen at the pod's loopback alone. Source: containerd's portforward.
        """
        try:
            return await self._relay(sandbox, "127.0.0.1", port)
        except ConnectionRefusedError as refused:
            try:
                return await self._relay(sandbox, "::1", port)
            except OSError:
                raise refused from None

    async def remove_carriers(self) -> None:
        """Remove the containers that were made to carry connections, which are cut; CRIError."""
        while self._helpers:
            _, carrier = self._helpers.popitem()
            await self.maker.remove(carrier)

    async def _goes_direct(self, sandbox: PodSandboxStatus) -> bool:
        """Tell which way to go, found out once."""
        async with self._lock:
            if self.is_direct is None:
                # who dials first may have less time than this takes, and so may everybody after it
                with trio.CancelScope(shield=True, deadline=trio.current_time() + FINDING_SECONDS):
                    self.is_direct = await self._has_gateway(sandbox) and await self._probe(sandbox)
                self.is_direct = bool(self.is_direct)  # no answer in time is one, too
                if not self.is_direct:
                    self.on_note("pods can't be reached from here: connections go through a relay in each pod")
            return self.is_direct

    async def _has_gateway(self, sandbox: PodSandboxStatus) -> bool:
        """Tell whether this machine's way to a pod begins at its gateway; of the node's network that can't be told."""
        if not sandbox.ip:
            return True
        try:
            gateways = convert.gateways_of(await self.sandboxes.inspect(sandbox.id))
        except CRIError:
            return True
        return source_address(sandbox.ip) in gateways

    async def _probe(self, sandbox: PodSandboxStatus) -> bool:
        """Have our helper listen in the pod and try to reach it; where it can't listen, trust the direct way."""
        address, port = sandbox.ip or "127.0.0.1", 32768 + secrets.randbelow(28000)
        try:
            stream = await self._command(sandbox, helper.LISTEN, address, port)
        except (CRIError, OSError):
            return True
        async with stream:
            with trio.move_on_after(PROBE_SECONDS):
                try:
                    connection = await connect_directly(address, port)
                except OSError:
                    return False
                async with connection:
                    return True
        return False

    async def _relay(self, sandbox: PodSandboxStatus, address: str, port: int) -> trio.abc.Stream:
        """Connect through our helper in the pod's network."""
        try:
            return await self._command(sandbox, helper.RELAY, address, port)
        except CRIError as error:
            raise ConnectionRefusedError(errno.ECONNREFUSED, f"no relay in sandbox {sandbox.id}: {error}") from error

    async def _command(
        self, sandbox: PodSandboxStatus, command: tuple[str, ...], address: str, port: int
    ) -> ExecStream:
        """Start our helper with an address and return its stream once it answers that it has connected or listens."""
        carrier = await self._carrier(sandbox)
        stream = await self.execs.open(carrier, command)
        try:
            await stream.send_all(socket_address(address, port))
            answer = await stream.receive_some(1)
        except BaseException:
            await trio.aclose_forcefully(stream)
            raise
        if answer == b"\0":
            return stream
        await trio.aclose_forcefully(stream)
        number = answer[0] if answer else errno.ECONNREFUSED
        raise _os_error(number, f"{address}:{port}")

    async def _carrier(self, sandbox: PodSandboxStatus) -> str:
        """Return a container in the pod's network that has our helper: the sandbox itself, or one made for it."""
        inspected = await self.sandboxes.inspect(sandbox.id)
        if inspected.get("Image") == await self.pause.helper_image():
            return sandbox.id
        if sandbox.id not in self._helpers:
            make = functools.partial(self._make_carrier, sandbox)
            self._helpers[sandbox.id] = await self.pause.with_helper_image(make)
        return self._helpers[sandbox.id]

    async def _make_carrier(self, sandbox: PodSandboxStatus, image: str) -> str:
        labels = {
            **self.own_labels,
            naming.TYPE_LABEL: naming.HELPER_TYPE,
            naming.SANDBOX_ID_LABEL: sandbox.id,
        }
        body: dict[str, Any] = {
            "Image": image,
            "Labels": labels,
            "HostConfig": {
                "NetworkMode": f"container:{sandbox.id}",
                "LogConfig": {"Type": "none", "Config": {}},
                "CapDrop": ["ALL"],
                "ReadonlyRootfs": True,
            },
        }
        metadata = sandbox.metadata
        owner = self.own_labels.get(naming.PID_LABEL, "")  # another process may have one of its own for this pod
        base = f"kemu_relay_{metadata.name}_{metadata.uid}_{metadata.attempt}_{owner}"
        carrier = await self.maker.create(lambda suffix: f"{base}_{suffix}" if suffix else base, body)
        await self.sandboxes.bridge.write(lambda client: client.start(carrier))
        return carrier


def source_address(address: str) -> str:
    """Return this machine's own address on the way to another one, empty where there is no way; sends nothing."""
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    try:
        with socket.socket(family, socket.SOCK_DGRAM) as probe:
            probe.connect((address, 9))
            return str(probe.getsockname()[0])
    except OSError:
        return ""


async def connect_directly(address: str, port: int) -> trio.SocketStream:
    """Open one TCP connection; OSError with the system's own number."""
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    connection = trio.socket.socket(family, socket.SOCK_STREAM)
    try:
        await connection.connect((address, port))
    except BaseException:
        connection.close()
        raise
    return trio.SocketStream(connection)


def _os_error(linux_number: int, where: str) -> OSError:
    """Return the error for a number of the engine's Linux, which may differ from this machine's."""
    if sys.platform == "linux":
        return OSError(linux_number, os.strerror(linux_number), where)
    if linux_number == 111:
        return ConnectionRefusedError(errno.ECONNREFUSED, os.strerror(errno.ECONNREFUSED), where)
    return OSError(f"connection to {where} failed with Linux error {linux_number}")
