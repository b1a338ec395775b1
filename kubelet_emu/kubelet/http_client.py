"""One GET of a probe or a hook over a stream, with the kubelet's rules about redirects, TLS, limits and error texts.

No connection is kept and no certificate checked. A response is whatever came last: redirects are followed on the same
host name only. Source: kubelet v1.36 pkg/probe/http, Go net/http.
"""

from __future__ import annotations

import ssl
from typing import TYPE_CHECKING

import h11
import trio
from attrs import define, field

from kubelet_emu.api.gotext import quote
from kubelet_emu.kubelet.network import dial_error, read_error
from kubelet_emu.rules.http_request import (
    MAX_BODY_BYTES,
    MAX_REDIRECTS,
    REDIRECT_STATUSES,
    HTTPOutcome,
    HTTPRequest,
    redirected,
)

if TYPE_CHECKING:
    from kubelet_emu.kubelet.network import Dial

HTTP_RESPONSE_TO_HTTPS = "http: server gave HTTP response to HTTPS client"
_TIMED_OUT = "context deadline exceeded (Client.Timeout exceeded while awaiting headers)"
_BODY_TIMED_OUT = "context deadline exceeded (Client.Timeout or context cancellation while reading body)"
_READ_BYTES = 16 * 1024
_MAX_HEADER_BYTES = 1024 * 1024


class _TransportError(Exception):
    """No response came; the text is Go's."""


@define
class _Exchange:
    """One response while it arrives."""

    status: int | None = None
    location: str = ""
    body: bytearray = field(factory=bytearray)
    body_error: str = ""

    def outcome(self) -> HTTPOutcome:
        return HTTPOutcome(status=self.status, body=bytes(self.body[:MAX_BODY_BYTES]), body_error=self.body_error)


@define(eq=False)
class _FirstBytes(trio.abc.Stream):
    """A stream that remembers how what it received began: a server that answers TLS in plain text shows there."""

    stream: trio.abc.Stream
    received: bytes = b""

    async def send_all(self, data: bytes | bytearray | memoryview) -> None:
        await self.stream.send_all(data)

    async def wait_send_all_might_not_block(self) -> None:
        await self.stream.wait_send_all_might_not_block()

    async def receive_some(self, max_bytes: int | None = None) -> bytes | bytearray:
        data = await self.stream.receive_some(max_bytes)
        if len(self.received) < len(b"HTTP/"):
            self.received += bytes(data)
        return data

    async def aclose(self) -> None:
        await self.stream.aclose()


async def http_get(request: HTTPRequest, dial: Dial, deadline: float) -> HTTPOutcome:
    """Send a GET and return its final response, or the error text of Go's http.Client.

    `deadline` (Trio time) covers everything, the body too. Cancellation closes the connection.
    Source: kubelet v1.36 DoHTTPProbe, RedirectChecker.
    """
    hostname = request.host
    for _ in range(MAX_REDIRECTS):
        exchange = _Exchange()
        try:
            with trio.move_on_at(deadline) as scope:
                await _exchange(request, dial, exchange)
        except _TransportError as error:
            return _failed(request.url, str(error))
        if scope.cancelled_caught:
            if exchange.status is None:
                return _failed(request.url, _TIMED_OUT)
            exchange.body_error = _BODY_TIMED_OUT
        if exchange.status not in REDIRECT_STATUSES or not exchange.location:
            return exchange.outcome()
        try:
            request = redirected(request, exchange.location)
        except ValueError as error:
            text = f"failed to parse Location header {quote(exchange.location)}: {error}"
            return _failed(exchange.location, text)
        if request.host != hostname:
            return exchange.outcome()
    return _failed(exchange.location, f"stopped after {MAX_REDIRECTS} redirects")


def _failed(url: str, text: str) -> HTTPOutcome:
    return HTTPOutcome(error=f'Get "{url}": {text}')


async def _exchange(request: HTTPRequest, dial: Dial, exchange: _Exchange) -> None:
    """Send one request and read its response into `exchange`."""
    try:
        stream = await dial(request.host, request.port)
    except OSError as error:
        raise _TransportError(dial_error(request.host, request.port, error)) from error
    first = _FirstBytes(stream)
    try:
        transport: trio.abc.Stream = first
        if request.scheme == "https":
            context = _unverified()
            transport = trio.SSLStream(first, context, server_hostname=request.host, https_compatible=True)
        await _talk(request, transport, exchange)
    except trio.BrokenResourceError as error:
        raise _TransportError(_broken(request, first.received, error)) from error
    finally:
        await trio.aclose_forcefully(stream)


def _unverified() -> ssl.SSLContext:
    """Return a context that takes any certificate, as the kubelet does for probes and hooks."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    return context


def _broken(request: HTTPRequest, received: bytes, error: trio.BrokenResourceError) -> str:
    """Word a connection that broke. Differs: what is wrong with TLS is said in OpenSSL's words."""
    if request.scheme == "https" and received.startswith(b"HTTP/"):
        return HTTP_RESPONSE_TO_HTTPS
    cause = error.__cause__
    if isinstance(cause, ssl.SSLEOFError):
        return "EOF"
    if isinstance(cause, ssl.SSLError):
        return f"tls: {(cause.reason or str(cause)).lower().replace('_', ' ')}"
    return read_error(request.host, request.port, cause)


async def _talk(request: HTTPRequest, stream: trio.abc.Stream, exchange: _Exchange) -> None:
    connection = h11.Connection(h11.CLIENT, max_incomplete_event_size=_MAX_HEADER_BYTES)
    await stream.send_all(_serialize(request, connection))
    received = b""
    while exchange.body_error == "" and len(exchange.body) < MAX_BODY_BYTES:
        try:
            event = connection.next_event()
        except h11.RemoteProtocolError as error:
            _malformed(exchange, received, error)
            return
        match event:
            case h11.NEED_DATA:
                data = await stream.receive_some(_READ_BYTES)
                received = received or bytes(data)
                connection.receive_data(bytes(data))
            case h11.Response():
                exchange.location = dict(event.headers).get(b"location", b"").decode("latin-1")
                exchange.status = event.status_code
            case h11.Data():
                exchange.body += event.data
            case h11.EndOfMessage() | h11.ConnectionClosed():
                return


def _serialize(request: HTTPRequest, connection: h11.Connection) -> bytes:
    headers = [("Host", request.http_host), *request.headers]
    try:
        event = h11.Request(method="GET", target=request.target, headers=headers)
        return (connection.send(event) or b"") + (connection.send(h11.EndOfMessage()) or b"")
    except h11.LocalProtocolError as error:
        raise _TransportError(f"net/http: {error}") from error


def _malformed(exchange: _Exchange, received: bytes, error: h11.RemoteProtocolError) -> None:
    """Word a response that is none, or one that breaks off."""
    if exchange.status is not None:
        exchange.body_error = "unexpected EOF"
        return
    if not received:
        raise _TransportError("EOF") from error
    line = received.partition(b"\n")[0].rstrip(b"\r").decode("latin-1")
    text = f"malformed HTTP response {quote(line)}"
    raise _TransportError(f"net/http: HTTP/1.x transport connection broken: {text}") from error
