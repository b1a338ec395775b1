"""Short calls on connections that are kept open: what is asked often costs neither a thread nor a new connection.

A connection serves one call at a time, and goes back to the idle ones when its answer was read to the end. One that
the engine has closed meanwhile, as at its restart, is seen before it is used.
"""

from __future__ import annotations

import select
from typing import TYPE_CHECKING

import h11
import trio
from attrs import define, field, frozen

from runtime.docker.http import connect, next_event, unavailable

if TYPE_CHECKING:
    from collections.abc import Mapping

    from runtime.docker.calls import Request
    from runtime.docker.http import EngineHTTP


@frozen(kw_only=True)
class Answer:
    """An answer, read to its end."""

    status: int
    headers: Mapping[bytes, bytes]
    body: bytes


@define(eq=False)
class _Connection:
    """One open connection."""

    stream: trio.abc.Stream
    protocol: h11.Connection = field(factory=lambda: h11.Connection(h11.CLIENT))

    async def exchange(self, request: Request, headers: Mapping[str, str], target: str) -> Answer:
        """Send a request and read its answer; BrokenResourceError, ProtocolError."""
        payload, protocol = request.payload, self.protocol
        all_headers = [*headers.items(), ("Content-Type", request.content_type), ("Content-Length", str(len(payload)))]
        data = protocol.send(h11.Request(method=request.method, target=target, headers=all_headers)) or b""
        if payload:
            data += protocol.send(h11.Data(data=payload)) or b""
        await self.stream.send_all(data + (protocol.send(h11.EndOfMessage()) or b""))
        head, body = await self._head(), bytearray()
        while isinstance(event := await next_event(protocol, self.stream), h11.Data):
            body += event.data
        if not isinstance(event, h11.EndOfMessage):
            raise trio.BrokenResourceError("the engine closed the connection")
        return Answer(status=head.status_code, headers=dict(head.headers), body=bytes(body))

    async def _head(self) -> h11.Response:
        while not isinstance(event := await next_event(self.protocol, self.stream), h11.Response):
            if isinstance(event, h11.ConnectionClosed):
                raise trio.BrokenResourceError("the engine closed the connection")
        return event

    def is_ready_again(self) -> bool:
        """Make ready for the next request; False when the engine wants no other."""
        if self.protocol.our_state is not h11.DONE or self.protocol.their_state is not h11.DONE:
            return False
        self.protocol.start_next_cycle()
        return True

    def is_dropped(self) -> bool:
        """Tell whether the engine has closed a connection that is idle: then there is something to read."""
        poll = select.poll()
        poll.register(_readable(self.stream), select.POLLIN)
        return bool(poll.poll(0))


def _readable(stream: trio.abc.ReceiveStream) -> int:
    """Return the file descriptor that a stream reads from."""
    match stream:
        case trio.SocketStream():
            return stream.socket.fileno()
        case trio.SSLStream():
            return _readable(stream.transport_stream)
        case _:
            return int(stream.fileno())  # type: ignore[attr-defined]  # a process's output


@define(eq=False)
class KeptConnections:
    """The connections to one engine that short calls go over."""

    http: EngineHTTP
    _idle: list[_Connection] = field(factory=list, init=False)
    _is_closed: bool = field(default=False, init=False)

    async def exchange(self, request: Request) -> Answer:
        """Make one call; RuntimeUnavailableError. Cancellation closes its connection."""
        try:
            connection = await self._taken() or _Connection(await connect(self.http.endpoint))
        except (OSError, trio.BrokenResourceError) as error:
            raise unavailable(self.http.endpoint, error) from error
        target = f"/v{self.http.api_version}{request.target}" if request.has_version else request.target
        try:
            answer = await connection.exchange(request, self.http.headers, target)
        except (trio.BrokenResourceError, h11.ProtocolError) as error:
            await trio.aclose_forcefully(connection.stream)
            raise unavailable(self.http.endpoint, error) from error
        except BaseException:
            await trio.aclose_forcefully(connection.stream)
            raise
        if connection.is_ready_again() and not self._is_closed:
            self._idle.append(connection)
        else:
            await trio.aclose_forcefully(connection.stream)
        return answer

    def put(self, stream: trio.abc.Stream) -> None:
        """Take in a connection that was opened elsewhere."""
        self._idle.append(_Connection(stream))

    async def _taken(self) -> _Connection | None:
        """Return an idle connection that is still open."""
        while self._idle:
            connection = self._idle.pop()
            if not connection.is_dropped():
                return connection
            await trio.aclose_forcefully(connection.stream)
        return None

    async def aclose(self) -> None:
        """Close the idle connections; those in use are closed when their call ends."""
        self._is_closed = True
        while self._idle:
            await trio.aclose_forcefully(self._idle.pop().stream)
