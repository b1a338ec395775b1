"""The HTTP/1.1 client of wget and curl."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import trio
from attrs import define, evolve, frozen

from runtime.simulated.shell.applets.base import AppletError
from runtime.simulated.shell.applets.naming import address, connect, port_number

if TYPE_CHECKING:
    from runtime.simulated.process import Process

_URL = re.compile(r"(?:([a-zA-Z]+)://)?(?:[^@/]*@)?(\[[^\]]+\]|[^:/?#]+)(?::([^/?#]*))?([^#]*)(?:#.*)?")
_STATUS = re.compile(rb"HTTP/(\S+) +(\d{3}) ?(.*)")
_HEAD_END = re.compile(rb"\r?\n\r?\n")
_PORTS = {"http": 80, "https": 443}
_MAX_REDIRECTS = 5
REDIRECTS = frozenset({301, 302, 303, 307, 308})


class BadAddressError(Exception):
    """The host has no address."""


@frozen
class Target:
    """Where a URL leads."""

    host: str
    port: int
    path: str
    has_port: bool

    @property
    def header(self) -> str:
        """Return the value of the Host header."""
        return f"{self.host}:{self.port}" if self.has_port else self.host


@frozen
class Request:
    """What a client asks for."""

    url: str
    method: str = "GET"
    headers: tuple[tuple[str, str], ...] = ()
    body: bytes | None = None


@frozen
class Response:
    """An HTTP response; `status_line` is as it came."""

    status: int
    status_line: str
    headers: tuple[tuple[str, str], ...]
    body: bytes

    def header(self, name: str) -> str | None:
        """Return a header's value."""
        return next((value for key, value in self.headers if key.lower() == name), None)


def target_of(url: str) -> Target:
    """Return where a URL leads; AppletError for one that isn't one."""
    match = _URL.fullmatch(url)
    scheme = (match[1] or "http").lower() if match else ""
    if match is None or scheme not in _PORTS:
        raise AppletError(f"not an http or ftp url: {url}")
    port = _PORTS[scheme] if match[3] is None else port_number(match[3])
    path = match[4] or "/"
    return Target(match[2], port, path if path.startswith("/") else f"/{path}", match[3] is not None)


async def fetch(process: Process, request: Request) -> Response:
    """Send a request and return the response.

    OSError (ConnectionResetError when no response comes), BadAddressError, AppletError for a URL that isn't one.
    """
    target = target_of(request.url)
    where = address(process, target.host)
    if where is None:
        raise BadAddressError(target.host)
    stream = await connect(process, where, target.port)
    try:
        await stream.send_all(_head(request, target) + (request.body or b""))
        return await _Reading(stream).response(has_body=request.method != "HEAD")
    except (trio.BrokenResourceError, trio.ClosedResourceError) as error:
        raise ConnectionResetError(104, "Connection reset by peer") from error
    finally:
        await trio.aclose_forcefully(stream)


async def follow(process: Process, request: Request) -> Response:
    """Send a request, and again where the response leads; as `fetch`."""
    response = await fetch(process, request)
    for _ in range(_MAX_REDIRECTS):
        place = response.header("location")
        if response.status not in REDIRECTS or place is None:
            break
        if place.startswith("/"):
            target = target_of(request.url)
            place = f"http://{target.host}:{target.port}{place}" if target.has_port else f"http://{target.host}{place}"
        request = evolve(request, url=place)
        response = await fetch(process, request)
    return response


def _head(request: Request, target: Target) -> bytes:
    own = {name.lower() for name, _ in request.headers}
    headers = [*((("Host", target.header),) if "host" not in own else ()), *request.headers]
    if request.body is not None:
        headers.append(("Content-Length", str(len(request.body))))
        if "content-type" not in own:
            headers.append(("Content-Type", "application/x-www-form-urlencoded"))
    lines = [f"{request.method} {target.path} HTTP/1.1", *(f"{name}: {value}" for name, value in headers)]
    return "".join(f"{line}\r\n" for line in [*lines, "Connection: close", ""]).encode("utf-8", "surrogateescape")


@define
class _Reading:
    """Reads a response, also one that a script made by hand: lines may end without a carriage return."""

    stream: trio.abc.Stream
    data: bytes = b""
    has_ended: bool = False

    async def more(self) -> bool:
        """Receive something; False at the end."""
        part = b"" if self.has_ended else bytes(await self.stream.receive_some())
        self.has_ended = not part
        self.data += part
        return bool(part)

    async def response(self, *, has_body: bool) -> Response:
        while (end := _HEAD_END.search(self.data)) is None and await self.more():
            pass
        head = self.data[: end.start()] if end else self.data
        first, *rest = head.replace(b"\r\n", b"\n").split(b"\n")
        match = _STATUS.fullmatch(first)
        if match is None:
            raise ConnectionResetError(104, "Connection reset by peer")
        self.data = self.data[end.end() :] if end else b""
        pairs = [line.decode("latin-1").partition(":") for line in rest]
        headers = tuple((name, value.strip()) for name, _, value in pairs)
        response = Response(int(match[2]), first.decode("latin-1"), headers, b"")
        return evolve(response, body=await self.body(response) if has_body else b"")

    async def body(self, response: Response) -> bytes:
        length = response.header("content-length")
        if (response.header("transfer-encoding") or "").lower() == "chunked":
            return await self.chunks()
        size = int(length) if length is not None and length.isdecimal() else None
        while (size is None or len(self.data) < size) and await self.more():
            pass
        return self.data if size is None else self.data[:size]

    async def chunks(self) -> bytes:
        found = b""
        while True:
            while b"\r\n" not in self.data and await self.more():
                pass
            line, _, self.data = self.data.partition(b"\r\n")
            size = int(line.partition(b";")[0] or b"0", 16)
            while len(self.data) < size + 2 and await self.more():
                pass
            if size == 0:
                return found
            found += self.data[:size]
            self.data = self.data[size + 2 :]
