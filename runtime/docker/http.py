"""HTTP/1.1 to the engine on Trio: for what streams (events, logs, pulls, exec), where a thread can't be cancelled.

One connection a request. Closing the connection is the way to end a stream: the engine ends what stands behind it.
"""

from __future__ import annotations

import json
import ssl
import subprocess
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING

import h11
import trio
from attrs import define, field

from runtime.api import RuntimeUnavailableError
from runtime.docker.watch import Call, Watch, name_of

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping

    from runtime.docker.endpoint import Endpoint, TLSFiles

CHUNK_BYTES = 65536
HEAD_SECONDS = 120.0
"""How long the head of an answer may take: a kubelet gives up a call of its runtime after two minutes."""


@define(eq=False)
class EngineConnection:
    """One request's connection: the answer's status and its body as it arrives.

    `is_cut` is set when the body has ended before its end.
    """

    stream: trio.abc.Stream
    status: int
    _protocol: h11.Connection
    _leftover: bytes = b""
    _is_raw: bool = False
    is_cut: bool = False

    async def chunks(self) -> AsyncIterator[bytes]:
        """Yield the body until it ends; a cut connection ends it too."""
        while (chunk := await self.receive()) is not None:
            if chunk:
                yield chunk

    async def receive(self) -> bytes | None:
        """Return the next piece of the body, None at its end."""
        if self._is_raw:
            return await self._receive_raw()
        try:
            event = await _next_event(self._protocol, self.stream)
        except (trio.BrokenResourceError, h11.RemoteProtocolError):
            self.is_cut = True
            return None
        return bytes(event.data) if isinstance(event, h11.Data) else None

    async def send(self, data: bytes) -> None:
        """Send to the other side of an upgraded connection."""
        await self.stream.send_all(data)

    async def send_eof(self) -> None:
        """Tell the other side of an upgraded connection that nothing more comes."""
        if isinstance(self.stream, trio.abc.HalfCloseableStream):
            await self.stream.send_eof()

    async def send_input(self, data: bytes) -> None:
        """Send to a process; what it doesn't read any more is dropped."""
        with suppress(trio.BrokenResourceError, trio.ClosedResourceError):
            await self.send(data)

    async def send_input_eof(self) -> None:
        """Tell a process that no more input comes, as long as it reads any."""
        with suppress(trio.BrokenResourceError, trio.ClosedResourceError):
            await self.send_eof()

    async def aclose(self) -> None:
        """Close the connection at once; what the engine does for it ends."""
        await trio.aclose_forcefully(self.stream)

    async def body(self) -> bytes:
        """Return the whole body."""
        return b"".join([chunk async for chunk in self.chunks()])

    async def _receive_raw(self) -> bytes | None:
        if self._leftover:
            data, self._leftover = self._leftover, b""
            return data
        try:
            return bytes(await self.stream.receive_some(CHUNK_BYTES)) or None
        except trio.BrokenResourceError:
            return None


@define(eq=False)
class EngineHTTP:
    """Opens connections to one engine and sends one request on each."""

    endpoint: Endpoint
    watch: Watch = field(factory=Watch)
    api_version: str = field(default="1.41")

    @asynccontextmanager
    async def request(
        self, method: str, path: str, *, headers: Mapping[str, str] | None = None, body: object = None
    ) -> AsyncIterator[EngineConnection]:
        """Send one request and give its answer; an upgraded connection gives the raw bytes.

        RuntimeUnavailableError when the engine can't be reached or sends no head in time. Leaving the block, also by
        cancellation, closes the connection.
        """
        connection = await self.open(method, path, headers=headers, body=body)
        try:
            yield connection
        finally:
            await connection.aclose()

    async def open(
        self, method: str, path: str, *, headers: Mapping[str, str] | None = None, body: object = None
    ) -> EngineConnection:
        """Send one request and return its answer, which the caller closes; errors as `request`."""
        call = Call(name_of(method, path))
        try:
            with self.watch.waiting(call), trio.fail_after(HEAD_SECONDS):
                return await self.open_patiently(method, path, headers=headers, body=body)
        except trio.TooSlowError as error:
            raise unanswered(self.endpoint, call.name, HEAD_SECONDS) from error

    async def open_patiently(
        self, method: str, path: str, *, headers: Mapping[str, str] | None = None, body: object = None
    ) -> EngineConnection:
        """Send one request as `open` does and wait for its answer without a limit."""
        try:
            stream = await connect(self.endpoint)
        except (OSError, trio.BrokenResourceError) as error:
            raise unavailable(self.endpoint, error) from error
        try:
            return await self._exchange(stream, method, path, headers=headers or {}, body=body)
        except (trio.BrokenResourceError, h11.ProtocolError) as error:
            await trio.aclose_forcefully(stream)
            raise unavailable(self.endpoint, error) from error
        except BaseException:
            await trio.aclose_forcefully(stream)
            raise

    async def _exchange(
        self, stream: trio.abc.Stream, method: str, path: str, *, headers: Mapping[str, str], body: object
    ) -> EngineConnection:
        """Send the request, read the answer's head."""
        payload = b"" if body is None else json.dumps(body).encode()
        all_headers = {
            "Host": "docker",
            "User-Agent": "kubelet-emu",
            "Content-Type": "application/json",
            "Content-Length": str(len(payload)),
            **headers,
        }
        protocol = h11.Connection(h11.CLIENT)
        target = f"/v{self.api_version}{path}"
        request = h11.Request(method=method, target=target, headers=list(all_headers.items()))
        data = protocol.send(request) or b""
        data += protocol.send(h11.Data(data=payload)) or b""
        await stream.send_all(data + (protocol.send(h11.EndOfMessage()) or b""))
        while not isinstance(answer := await _next_event(protocol, stream), h11.Response | h11.InformationalResponse):
            if isinstance(answer, h11.ConnectionClosed):
                raise trio.BrokenResourceError("the engine closed the connection")
        is_raw = answer.status_code == 101 or _is_hijacked(answer)
        connection = EngineConnection(stream, answer.status_code, protocol)
        if is_raw:
            connection._is_raw, connection._leftover = True, bytes(protocol.trailing_data[0])  # noqa: SLF001
        return connection


def _is_hijacked(answer: h11.Response | h11.InformationalResponse) -> bool:
    """Tell whether the engine answered an upgrade with 200 and a raw stream, as it may."""
    kind = dict(answer.headers).get(b"content-type", b"")
    return answer.status_code == 200 and kind == b"application/vnd.docker.raw-stream" and not _is_framed(answer)


def _is_framed(answer: h11.Response | h11.InformationalResponse) -> bool:
    """Tell whether HTTP itself delimits the body."""
    return any(name in {b"transfer-encoding", b"content-length"} for name, _ in answer.headers)


async def _next_event(protocol: h11.Connection, stream: trio.abc.ReceiveStream) -> h11.Event:
    """Return the next h11 event, reading as needed."""
    while True:
        event = protocol.next_event()
        if event is h11.NEED_DATA:
            protocol.receive_data(bytes(await stream.receive_some(CHUNK_BYTES)))
        elif event is h11.PAUSED:
            return h11.ConnectionClosed()
        elif not isinstance(event, type):
            return event


def unavailable(endpoint: Endpoint, error: BaseException | str, said: str = "") -> RuntimeUnavailableError:
    """Return the error for an engine that does not answer; `said` is who named it."""
    return RuntimeUnavailableError(f"the Docker engine at {endpoint.url}{said} does not answer: {error}")


def unanswered(endpoint: Endpoint, call: str, seconds: float) -> RuntimeUnavailableError:
    """Return the error for an engine that takes a call and says nothing."""
    return RuntimeUnavailableError(f"the Docker engine at {endpoint.url} has not answered {call} for {seconds:g} s")


async def connect(endpoint: Endpoint) -> trio.abc.Stream:
    """Open a byte stream to the engine; OSError when it is not there."""
    match endpoint.scheme:
        case "unix":
            return await trio.open_unix_socket(endpoint.socket_path)
        case "ssh":
            return await _connect_ssh(endpoint)
        case _:
            return await _connect_tcp(endpoint)


async def _connect_tcp(endpoint: Endpoint) -> trio.abc.Stream:
    """Connect over TCP, with TLS where the endpoint has it."""
    stream = await trio.open_tcp_stream(endpoint.host, endpoint.port or 2375)
    if endpoint.tls is None:
        return stream
    try:
        return await _secured(stream, endpoint, endpoint.tls)
    except BaseException:
        await trio.aclose_forcefully(stream)
        raise


async def _secured(stream: trio.abc.Stream, endpoint: Endpoint, tls: TLSFiles) -> trio.abc.Stream:
    """Do the handshake of TLS; SSLError, OSError."""
    context = ssl.create_default_context(cafile=tls.ca)
    if not tls.verify:
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    if tls.cert is not None:
        context.load_cert_chain(tls.cert, tls.key)
    secured = trio.SSLStream(stream, context, server_hostname=endpoint.host, https_compatible=True)
    await secured.do_handshake()
    return secured


@define(eq=False)
class _ProcessStream(trio.abc.HalfCloseableStream):
    """Standard input and output of a process as one stream; closing it ends the process."""

    process: trio.Process

    async def send_all(self, data: bytes | bytearray | memoryview) -> None:
        await self._stdio().send_all(data)

    async def wait_send_all_might_not_block(self) -> None:
        await self._stdio().wait_send_all_might_not_block()

    async def receive_some(self, max_bytes: int | None = None) -> bytes | bytearray:
        return await self._stdio().receive_some(max_bytes)

    async def send_eof(self) -> None:
        await self._stdio().send_eof()

    async def aclose(self) -> None:
        self.process.terminate()
        with trio.CancelScope(shield=True, deadline=trio.current_time() + 1):
            await self.process.wait()
        await trio.aclose_forcefully(self._stdio())

    def _stdio(self) -> trio.StapledStream[trio.abc.SendStream, trio.abc.ReceiveStream]:
        assert self.process.stdio is not None  # noqa: S101 - opened with both pipes
        return self.process.stdio


async def _connect_ssh(endpoint: Endpoint) -> trio.abc.Stream:
    """Reach a remote engine as the docker command does: through its `system dial-stdio` at the other end."""
    command = ["ssh", "-T"]
    command += ["-l", endpoint.user] if endpoint.user else []
    command += ["-p", str(endpoint.port)] if endpoint.port else []
    command += ["--", endpoint.host, "docker", "system", "dial-stdio"]
    process = await trio.lowlevel.open_process(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, start_new_session=True
    )
    return _ProcessStream(process)
