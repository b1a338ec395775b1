"""Listening on ports of this machine, and carrying each connection to a port of a pod.

Source: client-go v1.36 tools/portforward: its lines, and which end ends a connection.
"""

from __future__ import annotations

import functools
import os
from typing import TYPE_CHECKING

import trio
from attrs import define, frozen

from runtime.api import CRIError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from kubelet_emu.cli.forwarding.targets import Port

LOCALHOST = ("127.0.0.1", "::1")
_CHUNK_BYTES = 65536


class NothingListensError(Exception):
    """None of the local ports could be opened; the text says why."""


@frozen
class Place:
    """A listening socket, and the port that it leads to."""

    listener: trio.SocketListener
    local: int
    remote: int


async def open_places(
    ports: Sequence[Port], addresses: Sequence[str], say: Callable[[str], None], complain: Callable[[str], None]
) -> list[Place]:
    """Listen on every port at every address, and say so; NothingListensError when no port could be opened.

    A port that can't be opened at one address counts when it can at another one, as `localhost` is two. Cancellation
    closes what is open.
    """
    places: list[Place] = []
    try:
        for port in ports:
            opened, failures = await _open(port, addresses)
            places += opened
            for place in opened:
                host = place.listener.socket.getsockname()[0]
                shown = f"[{host}]" if ":" in host else host
                say(f"Forwarding from {shown}:{place.local} -> {place.remote}")
            if not opened:
                complain(f"Unable to listen on port {port.local}: {'; '.join(failures)}")
    except BaseException:
        await close(places)
        raise
    if not places:
        wanted = ", ".join(f"{port.local}:{port.remote}" for port in ports)
        raise NothingListensError(f"unable to listen on any of the requested ports: {wanted}")
    return places


async def _open(port: Port, addresses: Sequence[str]) -> tuple[list[Place], list[str]]:
    """Listen on one port; a free one that the first address gives is the port of the others, too."""
    opened: list[Place] = []
    failures: list[str] = []
    local = port.local
    for address in addresses:
        try:
            listeners = await trio.open_tcp_listeners(local, host=address)
        except OSError as error:
            failures.append(f"{address}: {_reason(error)}")
            continue
        for listener in listeners:
            local = local or listener.socket.getsockname()[1]
            opened.append(Place(listener, local, port.remote))
    return opened, failures


def _reason(error: OSError) -> str:
    inner = error.__cause__.exceptions[0] if isinstance(error.__cause__, BaseExceptionGroup) else error
    number = getattr(inner, "errno", None)
    return os.strerror(number).lower() if number is not None and number > 0 else str(error)


async def close(places: Sequence[Place]) -> None:
    """Close listening sockets."""
    for place in places:
        await place.listener.aclose()


@define(eq=False, kw_only=True)
class Carrier:
    """Carries connections into one pod. `dial` opens a stream to a port of it: OSError, CRIError."""

    pod: str
    dial: Callable[[int], Awaitable[trio.abc.Stream]]
    say: Callable[[str], None]
    complain: Callable[[str], None]

    async def serve(self, places: Sequence[Place]) -> None:
        """Carry what comes until cancelled, which cuts the connections; then the sockets are closed."""
        async with trio.open_nursery() as nursery:
            for place in places:
                handler = functools.partial(self.carry, local=place.local, remote=place.remote)
                nursery.start_soon(trio.serve_listeners, handler, [place.listener])

    async def carry(self, client: trio.abc.HalfCloseableStream, *, local: int, remote: int) -> None:
        """Carry one connection to its end: the pod's, or a failure of either side."""
        self.say(f"Handling connection for {local}")
        try:
            server = await self.dial(remote)
        except (OSError, CRIError, trio.BrokenResourceError) as error:
            self.complain(f"an error occurred forwarding {local} -> {remote}: {self._failure(remote, error)}")
            return
        async with server, trio.open_nursery() as nursery:
            nursery.start_soon(_pump, client, server)
            await _pump(server, client)
            nursery.cancel_scope.cancel()

    def _failure(self, remote: int, error: BaseException) -> str:
        if isinstance(error, ConnectionRefusedError):
            return f"nothing listens on port {remote} of pod {self.pod} (connection refused)"
        return str(error)


async def _pump(source: trio.abc.ReceiveStream, sink: trio.abc.Stream) -> None:
    """Copy bytes until the source ends, and tell the sink so; a side that breaks off ends it, too."""
    try:
        while chunk := await source.receive_some(_CHUNK_BYTES):
            await sink.send_all(chunk)
        if isinstance(sink, trio.abc.HalfCloseableStream):
            await sink.send_eof()
    except (trio.BrokenResourceError, trio.ClosedResourceError):
        return
