"""httpd and nc -l: words that listen."""

from __future__ import annotations

import mimetypes
from typing import TYPE_CHECKING
from urllib.parse import unquote

import trio

from runtime.simulated import access
from runtime.simulated.network import Listener
from runtime.simulated.servers import HttpAnswer, HttpRequest, serve_requests
from runtime.simulated.shell.applets.base import AppletError, options
from runtime.simulated.shell.launch import ProgramMissing, resolve_child
from runtime.simulated.streams import Buffer, Text
from runtime.simulated.tree import Directory, File

if TYPE_CHECKING:
    from runtime.simulated.process import Process

_NOT_FOUND = HttpAnswer(
    404, b"<HTML><HEAD><TITLE>404 Not Found</TITLE></HEAD>\n<BODY><H1>404 Not Found</H1></BODY></HTML>\n"
)


async def httpd(process: Process, name: str, arguments: list[str]) -> int:
    """Serve files and cgi-bin over HTTP: `httpd [-f] [-p port] [-h home]`; without -f it goes into the background."""
    taken = options(arguments, "fvi", "phcur")
    port = int(taken.values.get("p", "80").rsplit(":", 1)[-1])
    home = taken.values.get("h", process.cwd)
    if not isinstance(access.get(process, home), Directory):
        raise AppletError(f"can't change directory to '{home}': No such file or directory")
    server = process if taken.has("f") else process.child(process.argv, process.env)
    _listen(process, port, Listener(process.container, _Site(server, home).serve))
    if server is not process:
        process.container.spawn(server, _stay)
        return 0
    await trio.sleep_forever()
    return 0


async def _stay(process: Process) -> int:
    await trio.sleep_forever()
    return 0


def _listen(process: Process, port: int, listener: Listener) -> None:
    try:
        process.container.listen(port, listener)
    except OSError as error:
        raise AppletError(f"bind: {error.strerror}") from error


class _Site:
    """One directory that is served."""

    def __init__(self, process: Process, home: str) -> None:
        self.process = process
        self.home = home.rstrip("/")

    async def serve(self, stream: trio.abc.Stream) -> None:
        """Answer one connection."""
        await serve_requests(stream, self.answer)

    async def answer(self, request: HttpRequest) -> HttpAnswer:
        """Answer one request as busybox's httpd does."""
        path = unquote(request.target.partition("?")[0])
        if ".." in path.split("/"):
            return HttpAnswer(400, b"bad request\n")
        node = access.get(self.process, f"{self.home}{path}")
        if path.startswith("/cgi-bin/") and isinstance(node, File):
            return await self.run_cgi(request, path)
        if isinstance(node, Directory):
            path = f"{path.rstrip('/')}/index.html"
            node = access.get(self.process, f"{self.home}{path}")
        if not isinstance(node, File):
            return _NOT_FOUND
        kind = mimetypes.guess_type(path)[0] or "application/octet-stream"
        return HttpAnswer(200, bytes(node.data), (("Content-Type", kind),))

    async def run_cgi(self, request: HttpRequest, path: str) -> HttpAnswer:
        """Run a script and answer what it prints: headers, an empty line, the body."""
        file = f"{self.home}{path}"
        environment = {
            **self.process.env,
            "REQUEST_METHOD": request.method,
            "QUERY_STRING": request.target.partition("?")[2],
            "SCRIPT_NAME": path,
            "CONTENT_LENGTH": str(len(request.body)),
            **{f"HTTP_{name.upper().replace('-', '_')}": value for name, value in request.headers},
        }
        child = self.process.child((file,), environment)
        output = Buffer()
        for fd, stream in ((0, Text(request.body)), (1, output)):
            child.replace(fd, stream)
        try:
            code = await child.run(resolve_child(child, (file,)))
        except ProgramMissing:
            return HttpAnswer(500, b"can't run the script\n")
        if code == 0 or output.data:
            return _cgi_answer(bytes(output.data))
        return HttpAnswer(500, b"script failed\n")


def _cgi_answer(output: bytes) -> HttpAnswer:
    status, headers = 200, []
    rest = output
    while rest:
        line, _, rest = rest.partition(b"\n")
        text = line.strip().decode("latin-1")
        if not text:
            break
        name, colon, value = text.partition(":")
        if not colon:
            rest = line + b"\n" + rest
            break
        if name.lower() == "status":
            status = int(value.split()[0])
        else:
            headers.append((name, value.strip()))
    return HttpAnswer(status, rest, tuple(headers))


async def listen_once(process: Process, port: int, *, forever: bool) -> int:
    """Accept connections one after the other: print what comes, send what standard input has (`nc -l`)."""
    arrived: list[trio.abc.Stream] = []
    changed = trio.Event()

    async def serve(stream: trio.abc.Stream) -> None:
        arrived.append(stream)
        changed.set()
        await trio.sleep_forever()

    _listen(process, port, Listener(process.container, serve))
    while True:
        await changed.wait()
        changed = trio.Event()
        while arrived:
            stream = arrived.pop(0)
            data = await access.read_all(process.fds[0]) if 0 in process.fds else b""
            if data:
                await stream.send_all(data)
            if isinstance(stream, trio.StapledStream):
                await stream.send_eof()
            while part := await stream.receive_some():
                await process.write(1, bytes(part))
            await stream.aclose()
            if not forever:
                return 0
