"""httpd: serves files, and what the programs of cgi-bin print, word for word as busybox's server does.

One connection carries one request. The programs run as children of the server, with the request in their environment.
"""

from __future__ import annotations

import posixpath
import re
from typing import TYPE_CHECKING
from urllib.parse import unquote

import trio
from attrs import define, frozen

from runtime.simulated import access
from runtime.simulated.network import Listener
from runtime.simulated.servers import reason_of
from runtime.simulated.shell.applets.base import AppletError, options
from runtime.simulated.shell.launch import ProgramMissing, resolve_child
from runtime.simulated.streams import Buffer, Text
from runtime.simulated.tree import Directory, File

if TYPE_CHECKING:
    from runtime.simulated.process import Process

_REQUEST = re.compile(r"(\S+) (/\S*)(?: (HTTP/\S+))?")
_HEAD_END = re.compile(rb"\r?\n\r?\n")
_LIMIT = 1 << 20
_KINDS = {
    "htm": "text/html", "html": "text/html", "txt": "text/plain", "h": "text/plain", "c": "text/plain",
    "cc": "text/plain", "cpp": "text/plain", "jpg": "image/jpeg", "jpeg": "image/jpeg", "gif": "image/gif",
    "png": "image/png", "bmp": "image/bmp", "svg": "image/svg+xml", "css": "text/css", "js": "application/javascript",
    "wav": "audio/wav", "avi": "video/x-msvideo", "qt": "video/quicktime", "mpe": "video/mpeg", "mid": "audio/midi",
    "mp3": "audio/mpeg",
}  # fmt: skip
_TEXTS = {
    400: "Unsupported method", 403: "", 404: "The requested URL was not found",
    501: "The requested method is not recognized",
}  # fmt: skip


@frozen
class _Request:
    method: str
    uri: str
    version: str
    headers: tuple[tuple[str, str], ...]
    body: bytes = b""

    def header(self, name: str) -> str:
        return next((value for key, value in self.headers if key.lower() == name), "")


async def httpd(process: Process, name: str, arguments: list[str]) -> int:
    """Serve files and cgi-bin over HTTP: `httpd [-f] [-p port] [-h home]`; without -f it goes into the background."""
    taken = options(arguments, "fvi", "phcurdem")
    text = taken.values.get("p", "80").rsplit(":", 1)[-1]
    if not text.isdecimal() or not 0 < int(text) < 1 << 16:
        raise AppletError(f"bad port '{text}'")
    home = taken.values.get("h", process.cwd)
    if not isinstance(access.get(process, home), Directory):
        raise AppletError(f"can't change directory to '{home}': No such file or directory")
    server = process if taken.has("f") else process.child(process.argv, process.env)
    server.cwd = access.find(process, home).path
    listener = Listener(process.container, _Site(server, server.cwd).serve)
    try:
        process.container.listen(int(text), listener)
    except OSError as error:
        raise AppletError(f"bind: {error.strerror}") from error

    async def stay(server: Process) -> int:
        try:
            await trio.sleep_forever()
        finally:
            server.container.unlisten(int(text), listener)
        return 0

    if server is process:
        return await stay(process)
    process.container.spawn(server, stay)
    return 0


@define
class _Site:
    """One directory that is served."""

    process: Process
    home: str

    async def serve(self, stream: trio.abc.Stream) -> None:
        """Answer one connection."""
        try:
            request = await _read(stream)
            await stream.send_all(self._error(400) if request is None else await self.answer(request))
            await stream.aclose()
        except (trio.BrokenResourceError, trio.ClosedResourceError):
            return

    async def answer(self, request: _Request) -> bytes:
        """Return the whole response to a request."""
        path = unquote(request.uri.partition("?")[0])
        if ".." in path.split("/"):
            return self._error(400)
        if path.startswith("/cgi-bin/"):
            return await self._cgi(request, path)
        if request.method not in {"GET", "HEAD"}:
            return self._error(501)
        node = access.get(self.process, self.home + path)
        if isinstance(node, Directory) and not path.endswith("/"):
            return self._head(302, ("Location", f"{path}/"))
        if isinstance(node, Directory):
            path += "index.html"
            node = access.get(self.process, self.home + path)
        return self._file(path, node) if isinstance(node, File) else self._error(404)

    def _head(self, status: int, *headers: tuple[str, str], kind: str | None = "text/html") -> bytes:
        now = self.process.container.machine.now()
        rows = [("Date", f"{now:%a, %d %b %Y %H:%M:%S} GMT"), ("Connection", "close")]
        rows += [("Content-type", kind)] if kind is not None else []
        lines = [
            f"HTTP/1.1 {status} {reason_of(status)}",
            *(f"{name}: {value}" for name, value in [*rows, *headers]),
            "",
        ]
        return "".join(f"{line}\r\n" for line in lines).encode()

    def _error(self, status: int) -> bytes:
        title = f"{status} {reason_of(status)}"
        body = f"<HTML><HEAD><TITLE>{title}</TITLE></HEAD>\n<BODY><H1>{title}</H1>\n{_TEXTS[status]}\n</BODY></HTML>\n"
        return self._head(status) + body.encode()

    def _file(self, path: str, node: File) -> bytes:
        data = bytes(node.data)
        kind = _KINDS.get(path.rpartition(".")[2]) if "." in posixpath.basename(path) else None
        etag = f'"{int(node.mtime):x}-{len(data):x}"'
        rows = (("Accept-Ranges", "bytes"), ("ETag", etag), ("Content-Length", str(len(data))))
        return self._head(200, *rows, kind=kind) + data

    async def _cgi(self, request: _Request, path: str) -> bytes:
        """Run a program of cgi-bin; the part of the path behind its name is its PATH_INFO."""
        parts = path.split("/")
        script = "/".join(parts[:3])
        node = access.get(self.process, self.home + script)
        if not parts[2]:
            return self._error(403)
        if not isinstance(node, File) or not node.mode & 0o111:
            return self._error(404)
        info = "".join(f"/{part}" for part in parts[3:])
        return _from_program(await self._run(request, script, info))

    async def _run(self, request: _Request, script: str, info: str) -> bytes:
        file = self.home + script
        child = self.process.child((file,), self.process.env | _environment(request, script, info))
        child.cwd = posixpath.dirname(file)
        output = Buffer()
        for fd, stream in ((0, Text(request.body)), (1, output)):
            child.replace(fd, stream)
        try:
            await child.run(resolve_child(child, (file,)))
        except ProgramMissing:
            return b""
        return bytes(output.data)


def _from_program(output: bytes) -> bytes:
    """Return what the server sends of a program's output: all of it, behind a status line if it has none."""
    if not output or output.startswith(b"HTTP/1."):
        return output
    if output.startswith(b"Status: "):
        return b"HTTP/1.1 " + output.removeprefix(b"Status: ")
    return b"HTTP/1.1 200 OK\r\n" + output


def _environment(request: _Request, script: str, info: str) -> dict[str, str]:
    found = {
        "REQUEST_METHOD": request.method,
        "REQUEST_URI": request.uri,
        "QUERY_STRING": request.uri.partition("?")[2],
        "SCRIPT_NAME": script,
        "PATH_INFO": info,
        "SERVER_PROTOCOL": request.version,
        "SERVER_SOFTWARE": "busybox httpd/1.36.1",
        "GATEWAY_INTERFACE": "CGI/1.1",
        "REMOTE_ADDR": "127.0.0.1",
        "REMOTE_PORT": "40000",
    }
    for name, value in request.headers:
        key = name.upper().replace("-", "_")
        if key in {"CONTENT_LENGTH", "CONTENT_TYPE"}:
            found[key] = value
        elif key not in {"CONNECTION", "TRANSFER_ENCODING"}:
            found[f"HTTP_{key}"] = value
    return found


async def _read(stream: trio.abc.Stream) -> _Request | None:
    """Read a request; None when it isn't one."""
    data = b""
    while (end := _HEAD_END.search(data)) is None:
        part = await stream.receive_some()
        if not part or len(data) > _LIMIT:
            return None
        data += bytes(part)
    first, *rest = data[: end.start()].decode("latin-1").replace("\r\n", "\n").split("\n")
    match = _REQUEST.fullmatch(first)
    if match is None:
        return None
    pairs = [line.partition(":") for line in rest]
    request = _Request(match[1], match[2], match[3] or "", tuple((name, value.strip()) for name, _, value in pairs))
    body, size = data[end.end() :], request.header("content-length")
    while size.isdecimal() and len(body) < int(size) and (part := await stream.receive_some()):
        body += bytes(part)
    return _Request(request.method, request.uri, request.version, request.headers, body)
