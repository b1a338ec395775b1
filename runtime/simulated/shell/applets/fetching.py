"""Clients: wget, curl, nc, and words about the network."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import h11
import trio
from attrs import frozen

from runtime.simulated import access
from runtime.simulated.network import LOOPBACK
from runtime.simulated.shell.applets.base import AppletError, complain, options, put
from runtime.simulated.shell.applets.processes import duration
from runtime.simulated.shell.applets.serving import listen_once

if TYPE_CHECKING:
    from runtime.simulated.process import Process

_URL = re.compile(r"(?:(https?)://)?(?:[^@/]*@)?(\[[^\]]+\]|[^:/?#]+)(?::(\d+))?([^#]*)")
_MAX_REDIRECTS = 5
_WGET_TIMEOUT = 900.0


@frozen
class Response:
    """An HTTP response."""

    status: int
    reason: str
    headers: tuple[tuple[str, str], ...]
    body: bytes

    def header(self, name: str) -> str | None:
        """Return a header's value."""
        return next((value for key, value in self.headers if key == name), None)


def address(process: Process, host: str) -> str | None:
    """Return the address of a host: a number, this pod's names, or a line of /etc/hosts; None for a bad name."""
    host = host.strip("[]")
    if host in LOOPBACK or re.fullmatch(r"[\d.]+|[0-9a-fA-F:]+:[0-9a-fA-F:]*", host):
        return host
    if host == process.container.hostname:
        return "127.0.0.1"
    data = bytes(getattr(access.get(process, "/etc/hosts"), "data", b"")).decode(errors="replace")
    for line in data.splitlines():
        words = line.partition("#")[0].split()
        if host in words[1:]:
            return "127.0.0.1" if words[0] == process.container.sandbox.address else words[0]
    return None


async def connect(process: Process, host: str, port: int) -> trio.abc.Stream:
    """Connect to a host and a port; OSError."""
    here = process.container.network
    own = process.container.sandbox.address
    await trio.lowlevel.checkpoint()
    return process.container.machine.network.connect(here, "127.0.0.1" if host == own else host, port)


@frozen
class Request:
    """What a client asks for."""

    url: str
    method: str = "GET"
    headers: tuple[tuple[str, str], ...] = ()
    body: bytes = b""


class _BadAddressError(Exception):
    """The host has no address."""


async def fetch(process: Process, request: Request) -> Response:
    """Send a request and return the response; OSError, _BadAddressError, AppletError for a URL that isn't one."""
    match = _URL.fullmatch(request.url)
    if match is None:
        raise AppletError(f"not an http or ftp url: {request.url}")
    host = address(process, match[2])
    if host is None:
        raise _BadAddressError(match[2])
    port = int(match[3] or (443 if match[1] == "https" else 80))
    stream = await connect(process, host, port)
    try:
        name = match[2] if match[3] is None else f"{match[2]}:{match[3]}"
        return await _exchange(stream, request, name, match[4] or "/")
    finally:
        await trio.aclose_forcefully(stream)


async def _exchange(stream: trio.abc.Stream, request: Request, host: str, target: str) -> Response:
    connection = h11.Connection(h11.CLIENT)
    headers = [("Host", host), ("Connection", "close"), *request.headers]
    if request.body or request.method in {"POST", "PUT"}:
        headers.append(("Content-Length", str(len(request.body))))
    target = target if target.startswith("/") else f"/{target}"
    data = connection.send(h11.Request(method=request.method, target=target, headers=headers)) or b""
    data += connection.send(h11.Data(data=request.body)) or b""
    data += connection.send(h11.EndOfMessage()) or b""
    head: h11.Response | None = None
    body = b""
    try:
        await stream.send_all(data)
        while True:
            event = connection.next_event()
            if event is h11.NEED_DATA:
                connection.receive_data(bytes(await stream.receive_some()))
            elif isinstance(event, h11.Response):
                head = event
            elif isinstance(event, h11.Data):
                body += bytes(event.data)
            else:
                break
    except (h11.RemoteProtocolError, trio.BrokenResourceError) as error:
        raise ConnectionResetError(104, "Connection reset by peer") from error
    if head is None:
        raise ConnectionResetError(104, "Connection reset by peer")
    pairs = tuple((name.decode(), value.decode("latin-1")) for name, value in head.headers)
    return Response(head.status_code, head.reason.decode(), pairs, body)


async def wget(process: Process, name: str, arguments: list[str]) -> int:
    """Fetch a URL into a file, or to standard output with -O -."""
    taken = options(
        arguments, "qSc", "OTUtP" "HB", {"spider": "s", "post-data": "B", "header": "H", "timeout": "T", "tries": "t",
        "no-check-certificate": "q", "quiet": "q", "output-document": "O", "no-verbose": "q"}
    )  # fmt: skip
    if not taken.rest:
        raise AppletError("missing URL")
    headers = tuple(_header(each) for each in taken.lists.get("H", []))
    body = taken.values.get("B")
    url = taken.rest[0]
    host = (_URL.match(url) or [None, None, url])[2]
    request = Request(url, "GET" if body is None else "POST", (*headers, ("User-Agent", "Wget")), (body or "").encode())
    response: Response | None = None
    with trio.move_on_after(duration(taken.values["T"]) if "T" in taken.values else _WGET_TIMEOUT):
        try:
            response = await _follow(process, request)
        except _BadAddressError:
            raise AppletError(f"bad address '{host}'") from None
        except OSError as error:
            raise AppletError(f"can't connect to remote host ({host}): {error.strerror}") from error
    if response is None:
        raise AppletError("download timed out")
    if response.status >= 400:
        raise AppletError(f"server returned error: HTTP/1.1 {response.status} {response.reason}")
    if not taken.has("s"):
        await _save(
            process,
            taken.values.get("O") or url.partition("?")[0].rstrip("/").rsplit("/", 1)[-1] or "index.html",
            response.body,
        )
    return 0


async def _follow(process: Process, request: Request) -> Response:
    response = await fetch(process, request)
    for _ in range(_MAX_REDIRECTS):
        target = response.header("location")
        if not 300 <= response.status < 400 or target is None:
            break
        if target.startswith("/"):
            match = _URL.fullmatch(request.url)
            target = request.url[: match.start(4)] + target if match else target
        request = Request(target, headers=request.headers)
        response = await fetch(process, request)
    return response


async def _save(process: Process, path: str, data: bytes) -> None:
    if path == "-":
        await process.write(1, data)
        return
    file = await access.open_file(process, path, "w")
    await file.write(data)
    file.release()


def _header(text: str) -> tuple[str, str]:
    name, _, value = text.partition(":")
    return name.strip(), value.strip()


_CURL_LONG = {
    "silent": "s", "show-error": "S", "fail": "f", "location": "L", "insecure": "k", "output": "o", "request": "X",
    "data": "d", "header": "H", "head": "I", "max-time": "m", "include": "i", "write-out": "w", "verbose": "v",
    "connect-timeout": "C", "retry": "R", "data-raw": "d", "user-agent": "A", "url": "U", "fail-with-body": "f",
}  # fmt: skip


async def curl(process: Process, name: str, arguments: list[str]) -> int:
    """Fetch a URL with curl's exit codes: 6 name, 7 connection, 22 HTTP error with -f, 28 time, 52 empty answer."""
    taken = options(arguments, "sSfLkIivNg", "oXdHmwACRUu", _CURL_LONG)
    urls = [*taken.lists.get("U", []), *taken.rest]
    if not urls:
        raise AppletError("try 'curl --help' for more information", 2)
    body = taken.values.get("d")
    method = taken.values.get("X") or ("HEAD" if taken.has("I") else "GET" if body is None else "POST")
    headers = (("User-Agent", "curl/8"), ("Accept", "*/*"), *(_header(each) for each in taken.lists.get("H", [])))
    request = Request(urls[0], method, headers, (body or "").encode())
    try:
        with trio.fail_after(float(taken.values.get("m", "inf"))):
            response = await (_follow if taken.has("L") else fetch)(process, request)
    except trio.TooSlowError:
        return await _curl_fault(process, taken.flags, 28, "Operation timed out")
    except _BadAddressError as error:
        return await _curl_fault(process, taken.flags, 6, f"Could not resolve host: {error}")
    except ConnectionResetError:
        return await _curl_fault(process, taken.flags, 52, "Empty reply from server")
    except OSError:
        return await _curl_fault(
            process, taken.flags, 7, f"Failed to connect to {urls[0]}: Could not connect to server"
        )
    if taken.has("f") and response.status >= 400:
        return await _curl_fault(process, taken.flags, 22, f"The requested URL returned error: {response.status}")
    await _show(process, taken.values, response, with_head=taken.has("i", "I"))
    return 0


async def _show(process: Process, values: dict[str, str], response: Response, *, with_head: bool) -> None:
    head = f"HTTP/1.1 {response.status} {response.reason}\r\n"
    head += "".join(f"{name}: {value}\r\n" for name, value in response.headers) + "\r\n"
    await _save(process, values.get("o", "-"), (head.encode() if with_head else b"") + response.body)
    if "w" in values:
        text = (
            values["w"].replace("%{http_code}", str(response.status)).replace("%{response_code}", str(response.status))
        )
        await put(process, text.replace("\\n", "\n"))


async def _curl_fault(process: Process, flags: set[str], code: int, text: str) -> int:
    if "s" not in flags or "S" in flags:
        await complain(process, "curl", f"({code}) {text}")
    return code


async def nc(process: Process, name: str, arguments: list[str]) -> int:
    """Connect, or listen with -l; with -z only try the port."""
    taken = options(
        [word for word in arguments if word != "-lk"] + (["-l", "-k"] if "-lk" in arguments else []),
        "zvlkunN46",
        "wpisq",
    )
    if taken.has("l"):
        port = taken.values.get("p") or (taken.rest[-1] if taken.rest else "")
        return await listen_once(process, int(port), forever=taken.has("k"))
    if len(taken.rest) < 2:
        raise AppletError("usage: nc [-z] HOST PORT")
    host, port = taken.rest[0], taken.rest[1]
    resolved = address(process, host)
    if resolved is None:
        raise AppletError(f"bad address '{host}'")
    try:
        stream = await connect(process, resolved, int(port))
    except OSError as error:
        if taken.has("v") or not taken.has("z"):
            await complain(process, name, f"{host} ({resolved}:{port}): {error.strerror}")
        return 1
    if taken.has("v"):
        await process.write(2, f"{host} ({resolved}:{port}) open\n".encode())
    with trio.move_on_after(float(taken.values.get("w", "inf"))):
        await _talk(process, stream, only_tries=taken.has("z"))
    await trio.aclose_forcefully(stream)
    return 0


async def _talk(process: Process, stream: trio.abc.Stream, *, only_tries: bool) -> None:
    if only_tries:
        return
    data = await access.read_all(process.fds[0]) if 0 in process.fds else b""
    if data:
        await stream.send_all(data)
    if isinstance(stream, trio.StapledStream):
        await stream.send_eof()
    while part := await stream.receive_some():
        await process.write(1, bytes(part))


async def ip(process: Process, name: str, arguments: list[str]) -> int:
    """Show addresses; changing anything needs NET_ADMIN."""
    changes = {"add", "del", "set", "replace", "flush", "change"}
    if changes & set(arguments):
        added = {each.removeprefix("CAP_") for each in process.container.config.security.add_capabilities}
        if process.container.config.security.privileged or (
            process.container.uid == 0 and added & {"NET_ADMIN", "ALL"}
        ):
            return 0
        await put_error(process, "RTNETLINK answers: Operation not permitted")
        return 2
    own = process.container.sandbox.address
    await put(process, "1: lo: <LOOPBACK,UP> mtu 65536\n    inet 127.0.0.1/8 scope host lo\n")
    if own:
        await put(process, f"2: eth0: <BROADCAST,UP> mtu 1500\n    inet {own}/16 scope global eth0\n")
    return 0


async def put_error(process: Process, text: str) -> None:
    """Write a line to standard error without a name in front."""
    await process.write(2, f"ip: {text}\n".encode())


async def nslookup(process: Process, name: str, arguments: list[str]) -> int:
    """Look a name up."""
    words = [word for word in arguments if not word.startswith("-")]
    found = address(process, words[0]) if words else None
    if found is None:
        await complain(process, name, f"can't resolve '{words[0] if words else ''}'")
        return 1
    await put(process, f"Name:\t{words[0]}\nAddress: {found}\n")
    return 0


async def ping(process: Process, name: str, arguments: list[str]) -> int:
    """Tell whether an address is a pod's."""
    words = [word for word in arguments if not word.startswith("-") and not word.isdecimal()]
    found = address(process, words[-1]) if words else None
    if found is None:
        raise AppletError(f"bad address '{words[-1] if words else ''}'")
    is_there = found in LOOPBACK or found in process.container.machine.network.addresses
    await put(process, f"{words[-1]} is {'alive' if is_there else 'unreachable'}\n")
    return int(not is_there)
