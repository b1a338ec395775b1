"""TLS of simulated servers: a certificate that nobody trusts, as probes ask for none."""

from __future__ import annotations

import ssl
from functools import cache
from importlib.resources import as_file, files

import trio
from attrs import define, field

HANDSHAKE = 0x16
"""The first byte of a client that speaks TLS."""


@cache
def server_context() -> ssl.SSLContext:
    """Return the context of every server; the certificate is part of the package."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    with as_file(files("runtime.simulated") / "server.pem") as path:
        context.load_cert_chain(path)
    return context


def over_tls(stream: trio.abc.Stream, received: bytes) -> trio.abc.Stream:
    """Return the server's side of TLS on a stream of which something was read already."""
    return trio.SSLStream(_Received(stream, received), server_context(), server_side=True, https_compatible=True)


@define(eq=False)
class _Received(trio.abc.Stream):
    """A stream that gives what was received before once more."""

    stream: trio.abc.Stream
    received: bytes = field(default=b"")

    async def receive_some(self, max_bytes: int | None = None) -> bytes:
        first, self.received = self.received, b""
        return first or bytes(await self.stream.receive_some(max_bytes))

    async def send_all(self, data: bytes | bytearray | memoryview) -> None:
        await self.stream.send_all(data)

    async def wait_send_all_might_not_block(self) -> None:
        await self.stream.wait_send_all_might_not_block()

    async def aclose(self) -> None:
        await self.stream.aclose()
