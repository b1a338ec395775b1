"""Servers on memory streams: HTTP by h11, gRPC health by h2, and odd ones. They run on Trio's clock alone."""

from __future__ import annotations

import errno
from typing import TYPE_CHECKING

import h11
import trio
import trio.testing
from attrs import define, field, frozen
from h2.config import H2Configuration
from h2.connection import H2Connection
from h2.events import DataReceived, RequestReceived, StreamEnded

if TYPE_CHECKING:
    import ssl
    from collections.abc import Awaitable, Callable

    Handler = Callable[[trio.abc.Stream], Awaitable[None]]


@define
class Network:
    """Servers by port; nobody listens anywhere else. `dialed` are the addresses asked for."""

    nursery: trio.Nursery
    servers: dict[int, Handler] = field(factory=dict)
    dialed: list[tuple[str, int]] = field(factory=list)

    async def dial(self, host: str, port: int) -> trio.abc.Stream:
        """Connect to a server."""
        await trio.lowlevel.checkpoint()
        self.dialed.append((host, port))
        if port not in self.servers:
            raise ConnectionRefusedError(errno.ECONNREFUSED, "Connection refused")
        client, server = trio.testing.memory_stream_pair()
        self.nursery.start_soon(self._serve, self.servers[port], server)
        return client

    async def _serve(self, handler: Handler, stream: trio.abc.Stream) -> None:
        try:
            await handler(stream)
        except (trio.BrokenResourceError, trio.ClosedResourceError):
            return  # the client has gone away: its right
        finally:
            await trio.aclose_forcefully(stream)


@frozen
class Reply:
    """One HTTP response; `after` seconds pass before it, `stall` seconds before the second half of its body."""

    status: int = 200
    body: bytes = b""
    headers: tuple[tuple[str, str], ...] = ()
    after: float = 0.0
    stall: float = 0.0


@define
class HTTPServer:
    """Answers each path with its reply, any other with 404; remembers the requests."""

    replies: dict[str, Reply]
    requests: list[h11.Request] = field(factory=list)
    tls: ssl.SSLContext | None = None

    async def __call__(self, transport: trio.abc.Stream) -> None:
        """Serve one request."""
        stream = trio.SSLStream(transport, self.tls, server_side=True) if self.tls is not None else transport
        connection = h11.Connection(h11.SERVER)
        try:
            request = await self._read(stream, connection)
        except h11.RemoteProtocolError:
            await stream.send_all(b"HTTP/1.0 400 Bad Request\r\n\r\n")
            return
        if request is not None:
            await self._answer(stream, connection, request)

    async def _read(self, stream: trio.abc.Stream, connection: h11.Connection) -> h11.Request | None:
        while True:
            event = connection.next_event()
            if event is h11.NEED_DATA:
                connection.receive_data(bytes(await stream.receive_some()))
            elif isinstance(event, h11.Request):
                self.requests.append(event)
                return event
            else:
                return None

    async def _answer(self, stream: trio.abc.Stream, connection: h11.Connection, request: h11.Request) -> None:
        reply = self.replies.get(request.target.decode(), Reply(404))
        await trio.sleep(reply.after)
        headers = [("Content-Length", str(len(reply.body))), *reply.headers]
        response = h11.Response(status_code=reply.status, headers=headers)
        half = len(reply.body) // 2
        await stream.send_all((connection.send(response) or b"") + reply.body[:half])
        await trio.sleep(reply.stall)
        await stream.send_all(reply.body[half:])


def headers_of(request: h11.Request) -> dict[str, str]:
    """Return a request's headers, names in lower case."""
    return {name.decode(): value.decode() for name, value in request.headers}


def says(data: bytes, *, first_read: bool = True) -> Handler:
    """Make a server that sends these bytes and hangs up."""

    async def serve(stream: trio.abc.Stream) -> None:
        if first_read:
            await stream.receive_some()
        await stream.send_all(data)

    return serve


async def silent(stream: trio.abc.Stream) -> None:
    """Accept, read, and never answer."""
    while await stream.receive_some():
        pass


@define
class HealthServer:
    """A gRPC server with a health service: statuses by service name, else error `code` with `message`.

    `answer` False: it connects and then says nothing. `http_status` other than 200: it is no gRPC server.
    """

    statuses: dict[str, int] = field(factory=dict)
    code: int = 5
    message: str = "unknown service"
    answer: bool = True
    http_status: int = 200
    requests: list[dict[str, str]] = field(factory=list)

    async def __call__(self, stream: trio.abc.Stream) -> None:
        """Serve one call."""
        connection = H2Connection(H2Configuration(client_side=False, header_encoding="utf-8"))
        connection.initiate_connection()
        await stream.send_all(connection.data_to_send())
        body = b""
        while data := await stream.receive_some():
            for event in connection.receive_data(bytes(data)):
                if isinstance(event, RequestReceived):
                    self.requests.append({str(name): str(value) for name, value in event.headers or ()})
                elif isinstance(event, DataReceived):
                    body += event.data or b""
                elif isinstance(event, StreamEnded) and self.answer:
                    self._answer(connection, body[7:].decode())
            await stream.send_all(connection.data_to_send())

    def _answer(self, connection: H2Connection, service: str) -> None:
        if self.http_status != 200:
            connection.send_headers(1, [(":status", str(self.http_status))], end_stream=True)
            return
        plain = [(":status", "200"), ("content-type", "application/grpc")]
        if service not in self.statuses:
            trailers = [("grpc-status", str(self.code)), ("grpc-message", self.message)]
            connection.send_headers(1, [*plain, *trailers], end_stream=True)
            return
        status = self.statuses[service]
        message = b"\x08" + bytes([status]) if status else b""
        connection.send_headers(1, plain)
        connection.send_data(1, b"\x00" + len(message).to_bytes(4, "big") + message)
        connection.send_headers(1, [("grpc-status", "0")], end_stream=True)
