"""The health check of a grpc probe: one unary call of grpc.health.v1.Health/Check over a stream, in plain text.

A connection counts once the server has sent its HTTP/2 settings; until then it is tried again, as a gRPC client does,
so that a closed port costs the whole timeout. Source: kubelet v1.36 pkg/probe/grpc, grpc-go.
"""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import unquote

import trio
from attrs import define, field
from h2.config import H2Configuration
from h2.connection import H2Connection
from h2.events import (
    ConnectionTerminated,
    DataReceived,
    RemoteSettingsChanged,
    ResponseReceived,
    StreamEnded,
    StreamReset,
    TrailersReceived,
)
from h2.exceptions import ProtocolError

from kubelet_emu.rules.http_request import KUBE_PROBE_AGENT, join_host_port
from kubelet_emu.rules.probe_outcomes import GRPCOutcome

if TYPE_CHECKING:
    from collections.abc import Mapping

    from h2.events import Event

    from kubelet_emu.kubelet.network import Dial

METHOD = "/grpc.health.v1.Health/Check"
_BACKOFF_SECONDS = 1.0
_BACKOFF_FACTOR = 1.6
_READ_BYTES = 16 * 1024
_CODE_OF_HTTP_STATUS = {400: 13, 401: 16, 403: 7, 404: 12, 429: 14, 502: 14, 503: 14, 504: 14}
_UNKNOWN, _DEADLINE_EXCEEDED, _INTERNAL, _UNAVAILABLE = 2, 4, 13, 14


class _NotConnectedError(Exception):
    """No HTTP/2 connection came about."""


@define
class _Call:
    """The call while its answer arrives."""

    connected: bool = False
    headers: dict[str, str] = field(factory=dict)
    body: bytearray = field(factory=bytearray)
    ended: bool = False
    lost: str = ""

    def outcome(self) -> GRPCOutcome:
        if self.lost:
            return GRPCOutcome(code=_UNAVAILABLE, message=self.lost)
        return read_answer(self.headers, bytes(self.body))


async def grpc_health_check(host: str, port: int, service: str, dial: Dial, deadline: float) -> GRPCOutcome:
    """Ask a server for the health of a service; `deadline` is Trio time and covers connecting too.

    Cancellation closes the connection. Source: kubelet v1.36 grpcProber.Probe.
    """
    call = _Call()
    with trio.move_on_at(deadline):
        backoff = _BACKOFF_SECONDS
        while True:
            try:
                return await _attempt(host, port, service, dial, call)
            except (OSError, _NotConnectedError):
                # Differs: without jitter.
                await trio.sleep(backoff)
                backoff *= _BACKOFF_FACTOR
    if not call.connected:
        return GRPCOutcome(connected=False)
    return GRPCOutcome(code=_DEADLINE_EXCEEDED, message="context deadline exceeded")


async def _attempt(host: str, port: int, service: str, dial: Dial, call: _Call) -> GRPCOutcome:
    stream = await dial(host, port)
    try:
        await _converse(stream, join_host_port(host, port), service, call)
    except trio.BrokenResourceError as error:
        if not call.connected:
            raise _NotConnectedError from error
        call.lost = "error reading from server: connection reset by peer"
    finally:
        await trio.aclose_forcefully(stream)
    return call.outcome()


async def _converse(stream: trio.abc.Stream, authority: str, service: str, call: _Call) -> None:
    connection = H2Connection(H2Configuration(client_side=True, header_encoding="utf-8"))
    connection.initiate_connection()
    await stream.send_all(connection.data_to_send())
    while not call.ended:
        data = await stream.receive_some(_READ_BYTES)
        if not data:
            _end_of_stream(call)
            return
        try:
            events = connection.receive_data(bytes(data))
        except ProtocolError as error:
            if not call.connected:
                raise _NotConnectedError from error
            call.lost = f"connection error: {error}"
            return
        for event in events:
            _take(event, connection, authority, service, call)
        await stream.send_all(connection.data_to_send())


def _end_of_stream(call: _Call) -> None:
    if not call.connected:
        raise _NotConnectedError
    call.lost = "error reading from server: EOF"


def _take(event: Event, connection: H2Connection, authority: str, service: str, call: _Call) -> None:
    match event:
        case RemoteSettingsChanged() if not call.connected:
            call.connected = True
            _ask(connection, authority, service)
        case ResponseReceived() | TrailersReceived():
            call.headers.update((str(name), str(value)) for name, value in event.headers or ())
        case DataReceived():
            call.body += event.data or b""
            connection.acknowledge_received_data(event.flow_controlled_length or 0, event.stream_id or 1)
        case StreamEnded():
            call.ended = True
        case StreamReset():
            code = int(event.error_code or 0)
            call.headers.update(
                {"grpc-status": str(_INTERNAL), "grpc-message": f"stream terminated by RST_STREAM: {code}"}
            )
            call.ended = True
        case ConnectionTerminated():
            call.lost = "closing transport due to: connection error: received GOAWAY"
            call.ended = True


def _ask(connection: H2Connection, authority: str, service: str) -> None:
    headers = [
        (":method", "POST"),
        (":scheme", "http"),
        (":path", METHOD),
        (":authority", authority),
        ("content-type", "application/grpc"),
        ("user-agent", KUBE_PROBE_AGENT),
        ("te", "trailers"),
    ]
    connection.send_headers(1, headers)
    message = encode_request(service)
    connection.send_data(1, b"\x00" + len(message).to_bytes(4, "big") + message, end_stream=True)


def encode_request(service: str) -> bytes:
    """Return a HealthCheckRequest (grpc.health.v1) in protobuf's wire format."""
    name = service.encode()
    return b"\x0a" + _varint(len(name)) + name if name else b""


def _varint(number: int) -> bytes:
    out = bytearray()
    while number > 0x7F:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    out.append(number)
    return bytes(out)


def read_answer(headers: Mapping[str, str], body: bytes) -> GRPCOutcome:
    """Return what headers, trailers and body of an ended call say (grpc-go's http2Client)."""
    http_status = headers.get(":status", "200")
    if http_status != "200" and "grpc-status" not in headers:
        code = _CODE_OF_HTTP_STATUS.get(int(http_status), _UNKNOWN)
        return GRPCOutcome(code=code, message=f"unexpected HTTP status code received from server: {http_status}")
    code = int(headers.get("grpc-status", str(_INTERNAL)))
    if code:
        message = headers.get("grpc-message", "server closed the stream without sending trailers")
        return GRPCOutcome(code=code, message=unquote(message))
    return GRPCOutcome(status=_decode_status(body[5:]))


def _decode_status(message: bytes) -> int:
    """Return the first field of a HealthCheckResponse; absent is 0, as in protobuf."""
    if message[:1] != b"\x08":
        return 0
    status = 0
    for position, byte in enumerate(message[1:]):
        status |= (byte & 0x7F) << (7 * position)
        if byte < 0x80:
            break
    return status
