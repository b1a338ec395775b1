"""A stand-in for an engine: passes requests on to the real one, and answers some of them itself.

It listens on a loopback port, with TLS where it is given a context.
"""

from __future__ import annotations

import enum
import functools
import http
import json
import re
from typing import TYPE_CHECKING

import trio
from attrs import define, field

if TYPE_CHECKING:
    import ssl

SOCKET = "/var/run/docker.sock"
_LENGTH = re.compile(rb"content-length: *(\d+)", re.IGNORECASE)


@define(eq=False)
class Answer:
    """An answer of our own to requests whose `METHOD path?query` matches; `times` is how often, None for ever."""

    pattern: str
    status: int
    body: object = b""
    times: int | None = None
    content_type: str = "application/json"

    def take(self, request: str) -> bool:
        """Tell whether this request gets our answer."""
        if self.times == 0 or not re.search(self.pattern, request):
            return False
        self.times = None if self.times is None else self.times - 1
        return True

    def encoded(self) -> bytes:
        """Return the whole answer; a body that is no bytes is sent as JSON, status 0 is a connection that ends."""
        if self.status == 0:
            return b""
        body = self.body if isinstance(self.body, bytes) else json.dumps(self.body).encode()
        phrase = http.HTTPStatus(self.status).phrase
        head = (
            f"HTTP/1.1 {self.status} {phrase}\r\nContent-Type: {self.content_type}\r\nContent-Length: {len(body)}\r\n"
        )
        return head.encode() + b"Connection: close\r\n\r\n" + (b"" if self.status in {204, 304} else body)


class Way(enum.Enum):
    """How an engine is lost, if it is."""

    PRESENT = "present"
    SILENT = "silent"
    GONE = "gone"


@define(eq=False)
class StandIn:
    """The stand-in; `requests` are those that it saw. `way` is how it meets requests, set by `be`."""

    answers: list[Answer] = field(factory=list)
    tls: ssl.SSLContext | None = None
    port: int = 0
    requests: list[str] = field(factory=list, init=False)
    held: dict[str, trio.Event] = field(factory=dict, init=False)
    way: Way = field(default=Way.PRESENT, init=False)
    _open: set[trio.CancelScope] = field(factory=set, init=False)

    @property
    def url(self) -> str:
        """Return the address in Docker's form."""
        return f"tcp://localhost:{self.port}"

    def answer(self, pattern: str, status: int, body: object = b"", **more: object) -> Answer:
        """Answer matching requests from now on; the latest rule counts."""
        made = Answer(pattern, status, body, **more)  # type: ignore[arg-type]
        self.answers.insert(0, made)
        return made

    def refuse(self, pattern: str, status: int, message: str, **more: object) -> Answer:
        """Refuse matching requests as the engine does."""
        return self.answer(pattern, status, {"message": message}, **more)

    def hold(self, pattern: str) -> trio.Event:
        """Take matching requests and pass them on only when the event is set."""
        return self.held.setdefault(pattern, trio.Event())

    def be(self, way: Way) -> None:
        """Meet requests this way from now on; a lost engine answers none, and cuts what is open when it goes."""
        self.way = way
        if way is Way.GONE:
            for scope in self._open:
                scope.cancel()

    async def serve(self, *, task_status: trio.TaskStatus[None]) -> None:
        """Serve connections until cancelled."""
        async with trio.open_nursery() as nursery:
            serve = functools.partial(trio.serve_tcp, self._connection, 0, host="127.0.0.1")
            [listener] = await nursery.start(serve)
            self.port = listener.socket.getsockname()[1]
            task_status.started()

    async def _connection(self, plain: trio.SocketStream) -> None:
        client: trio.abc.Stream = plain
        if self.tls is not None:
            client = trio.SSLStream(plain, self.tls, server_side=True, https_compatible=True)
        try:
            with trio.CancelScope() as scope:
                self._open.add(scope)
                async with client:
                    await self._exchange(client)
        except* (trio.BrokenResourceError, trio.ClosedResourceError):
            pass
        finally:
            self._open.discard(scope)

    async def _exchange(self, client: trio.abc.Stream) -> None:
        """Serve one request: ours to answer, or the engine's."""
        if self.way is not Way.PRESENT:
            await self._be_lost()
            return
        data = b""
        while b"\r\n\r\n" not in data:
            if not (part := await client.receive_some()):
                return
            data += part
        head, _, rest = data.partition(b"\r\n\r\n")
        request = b" ".join(head.split(b" ", 2)[:2]).decode()
        self.requests.append(request)
        if own := next((answer for answer in self.answers if answer.take(request)), None):
            length = _LENGTH.search(head)
            while length and len(rest) < int(length[1]):
                rest += await client.receive_some()
            await client.send_all(own.encoded())
            return
        for pattern, release in self.held.items():
            if re.search(pattern, request):
                await release.wait()
        if b"upgrade:" not in head.lower():
            head = re.sub(rb"\r\nConnection: [^\r]*", b"", head) + b"\r\nConnection: close"
        await self._forward(client, head + b"\r\n\r\n" + rest)

    async def _be_lost(self) -> None:
        if self.way is Way.SILENT:
            await trio.sleep_forever()

    async def _forward(self, client: trio.abc.Stream, data: bytes) -> None:
        engine = await trio.open_unix_socket(SOCKET)
        async with engine, trio.open_nursery() as nursery:
            await engine.send_all(data)
            nursery.start_soon(_copy, client, engine)
            async for part in engine:
                await client.send_all(part)
            nursery.cancel_scope.cancel()


async def _copy(source: trio.abc.Stream, target: trio.SocketStream) -> None:
    try:
        async for data in source:
            await target.send_all(data)
        await target.send_eof()
    except (trio.BrokenResourceError, trio.ClosedResourceError):
        return
