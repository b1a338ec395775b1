"""Servers that answer on a memory stream: HTTP/1.1 through h11, the gRPC health service through h2."""

from __future__ import annotations

import enum
import struct
from http import HTTPStatus
from typing import TYPE_CHECKING, TypeVar

import h2.config
import h2.connection
import h2.events
import h2.exceptions
import h11
import trio
from attrs import define, field, frozen

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

from runtime.simulated.tls import HANDSHAKE, over_tls

T = TypeVar("T")
Answers = tuple[tuple[float, T], ...]
"""Answers and the time (seconds since the start) from which each holds, earliest first."""

ANY_SERVICE = "*"
HTTP2_PREFACE = b"PRI * HTTP/2.0"
RECEIVE_BYTES = 65536
_WITHOUT_BODY = frozenset({204, 304})
_HEAD = ((":status", "200"), ("content-type", "application/grpc"))


class GrpcAnswer(enum.IntEnum):
    """Serving status of grpc.health.v1; SERVICE_UNKNOWN is the error NOT_FOUND of a check."""

    UNKNOWN = 0
    SERVING = 1
    NOT_SERVING = 2
    SERVICE_UNKNOWN = 3


@frozen
class HttpAnswer:
    """One HTTP response; `takes_seconds` math.inf never comes."""

    status: int = 200
    body: bytes = b"ok\n"
    headers: tuple[tuple[str, str], ...] = ()
    takes_seconds: float = 0.0


@frozen
class HttpRequest:
    """A request as a handler sees it."""

    method: str
    target: str
    headers: tuple[tuple[str, str], ...]
    body: bytes = b""


def latest(answers: Answers[T], age: float) -> T | None:
    """Return the answer that holds at an age, None before the first."""
    found = None
    for since, answer in answers:
        if since <= age:
            found = answer
    return found


async def serve_requests(
    stream: trio.abc.Stream, handle: Callable[[HttpRequest], Awaitable[HttpAnswer]], received: bytes = b""
) -> None:
    """Answer HTTP/1.1 requests until the client closes or asks to; `received` was read already."""
    connection = h11.Connection(h11.SERVER)
    if received:
        connection.receive_data(received)
    try:
        while True:
            request = await _read_request(stream, connection)
            if request is None:
                return
            await _send(stream, connection, await handle(request), has_body=request.method != "HEAD")
            if connection.our_state is h11.MUST_CLOSE:
                return
            connection.start_next_cycle()
    except (h11.RemoteProtocolError, trio.BrokenResourceError, trio.ClosedResourceError):
        return


async def _read_request(stream: trio.abc.Stream, connection: h11.Connection) -> HttpRequest | None:
    head: h11.Request | None = None
    body = b""
    while True:
        event = connection.next_event()
        if event is h11.NEED_DATA:
            connection.receive_data(bytes(await stream.receive_some(RECEIVE_BYTES)))
        elif isinstance(event, h11.Request):
            head = event
        elif isinstance(event, h11.Data):
            body += bytes(event.data)
        elif isinstance(event, h11.EndOfMessage) and head is not None:
            headers = tuple((name.decode(), value.decode("latin-1")) for name, value in head.headers)
            return HttpRequest(head.method.decode(), head.target.decode(), headers, body)
        else:
            return None


async def _send(stream: trio.abc.Stream, connection: h11.Connection, answer: HttpAnswer, *, has_body: bool) -> None:
    body = b"" if answer.status in _WITHOUT_BODY else answer.body
    headers = [*answer.headers, ("Content-Length", str(len(body)))]
    data = (
        connection.send(h11.Response(status_code=answer.status, headers=headers, reason=reason_of(answer.status)))
        or b""
    )
    data += connection.send(h11.Data(data=body if has_body else b"")) or b""
    data += connection.send(h11.EndOfMessage()) or b""
    await stream.send_all(data)


def reason_of(status: int) -> str:
    """Return the phrase of an HTTP status, "" for one that has none."""
    try:
        return HTTPStatus(status).phrase
    except ValueError:
        return ""


async def serve_http(
    stream: trio.abc.Stream,
    paths: Mapping[str, Answers[HttpAnswer]],
    age: Callable[[], float],
    received: bytes = b"",
) -> None:
    """Answer HTTP by path: the path itself, else the answers of "", else 404; 503 before the first answer's time."""

    async def handle(request: HttpRequest) -> HttpAnswer:
        path = request.target.partition("?")[0]
        answers = paths.get(path, paths.get(""))
        if answers is None:
            return HttpAnswer(404, b"not found\n")
        answer = latest(answers, age()) or HttpAnswer(503, b"starting\n")
        if answer.takes_seconds:
            await trio.sleep(answer.takes_seconds)
        return answer

    await serve_requests(stream, handle, received)


async def serve_any(
    stream: trio.abc.Stream,
    paths: Mapping[str, Answers[HttpAnswer]],
    services: Mapping[str, Answers[GrpcAnswer]],
    age: Callable[[], float],
) -> None:
    """Answer HTTP, HTTPS or gRPC, whichever the client speaks."""
    received = b""
    while len(received) < len(HTTP2_PREFACE) and HTTP2_PREFACE.startswith(received):
        part = await stream.receive_some(RECEIVE_BYTES)
        if not part:
            return
        received += part
    if received[0] == HANDSHAKE:
        await serve_http(over_tls(stream, received), paths, age)
    elif received.startswith(HTTP2_PREFACE):
        await serve_grpc(stream, services, age, received)
    else:
        await serve_http(stream, paths, age, received)


async def serve_grpc(
    stream: trio.abc.Stream,
    services: Mapping[str, Answers[GrpcAnswer]],
    age: Callable[[], float],
    received: bytes = b"",
) -> None:
    """Answer grpc.health.v1.Health/Check by service name, ANY_SERVICE for all others.

    A service without an answer is the error NOT_FOUND.
    """
    await _GrpcServer(stream, services, age).run(received)


@define(eq=False)
class _GrpcServer:
    stream: trio.abc.Stream
    services: Mapping[str, Answers[GrpcAnswer]]
    age: Callable[[], float]
    _h2: h2.connection.H2Connection = field(init=False)
    _bodies: dict[int, bytes] = field(factory=dict, init=False)

    async def run(self, received: bytes) -> None:
        self._h2 = h2.connection.H2Connection(h2.config.H2Configuration(client_side=False))
        self._h2.initiate_connection()
        try:
            await self.stream.send_all(self._h2.data_to_send())
            data = received or await self.stream.receive_some(RECEIVE_BYTES)
            while data:
                for event in self._h2.receive_data(data):
                    self._take(event)
                await self.stream.send_all(self._h2.data_to_send())
                data = await self.stream.receive_some(RECEIVE_BYTES)
        except (h2.exceptions.ProtocolError, trio.BrokenResourceError, trio.ClosedResourceError):
            return

    def _take(self, event: h2.events.Event) -> None:
        if isinstance(event, h2.events.DataReceived):
            self._bodies[event.stream_id] = self._bodies.get(event.stream_id, b"") + event.data
            self._h2.acknowledge_received_data(event.flow_controlled_length, event.stream_id)
        elif isinstance(event, h2.events.StreamEnded):
            self._answer(event.stream_id, _service_of(self._bodies.pop(event.stream_id, b"")))

    def _answer(self, stream_id: int, service: str) -> None:
        answers = self.services.get(service, self.services.get(ANY_SERVICE))
        if answers is None:
            self._refuse(stream_id)
            return
        status = latest(answers, self.age())
        if status is GrpcAnswer.SERVICE_UNKNOWN:
            self._refuse(stream_id)
            return
        message = b"\x08" + bytes([GrpcAnswer.NOT_SERVING if status is None else status])
        self._h2.send_headers(stream_id, list(_HEAD))
        self._h2.send_data(stream_id, struct.pack(">?I", False, len(message)) + message)
        self._h2.send_headers(stream_id, [("grpc-status", "0")], end_stream=True)

    def _refuse(self, stream_id: int) -> None:
        trailer = (("grpc-status", "5"), ("grpc-message", "unknown service"))
        self._h2.send_headers(stream_id, [*_HEAD, *trailer], end_stream=True)


def _service_of(body: bytes) -> str:
    """Return the service of a HealthCheckRequest: field 1, a string shorter than 128 bytes."""
    message = body[5:]
    if len(message) < 2 or message[0] != 0x0A:
        return ""
    return message[2 : 2 + message[1]].decode()
