"""A proxy before a registry that makes requests fail in chosen ways, and holds pulls at a gate to count them."""

from __future__ import annotations

import base64
import enum
import http.client
import re
import socket
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Self

from attrs import define, field, frozen

if TYPE_CHECKING:
    from collections.abc import Sequence

_REPOSITORY = re.compile(r"/v2/(?P<repository>\S+)/(?P<what>manifests|blobs)/")
_SENT = ("Accept", "Authorization", "User-Agent", "Range")
_KEPT = ("Content-Type", "Docker-Content-Digest", "Docker-Distribution-Api-Version", "Etag", "Www-Authenticate")
LIMIT_SECONDS = 30.0
SETTLE_SECONDS = 0.3


class Stage(enum.Enum):
    """Where in a pull a request belongs."""

    PING = "ping"
    MANIFEST = "manifests"
    BLOB = "blobs"


class Fault(enum.Enum):
    """What happens to a request."""

    HANG = "no answer"
    CUT = "the connection ends without an answer"
    CUT_BODY = "the connection ends within the body"
    GARBAGE = "an answer that is no HTTP"
    BAD_BODY = "another body than asked for"
    NOT_FOUND = "404"
    SERVER_ERROR = "500"
    UNAVAILABLE = "503"
    TOO_MANY = "429"
    ECHO = "401 that sends the credentials back"


_STATUS = {Fault.NOT_FOUND: 404, Fault.SERVER_ERROR: 500, Fault.UNAVAILABLE: 503, Fault.TOO_MANY: 429, Fault.ECHO: 401}


@frozen
class Trouble:
    """A fault of one stage; `times` is how often, None for ever."""

    stage: Stage
    fault: Fault
    times: int | None = None


@define(eq=False)
class FaultyRegistry:
    """Passes requests on to the registry at a port, but for those that have `troubles`.

    Of a closed gate each repository's first request for a manifest waits until it is let in. With `credentials`
    (USER:PASSWORD) every request needs them.
    """

    upstream_port: int
    troubles: list[Trouble] = field(factory=list)
    is_gated: bool = False
    credentials: str = ""
    waiting: list[str] = field(factory=list, init=False)
    requests: list[str] = field(factory=list, init=False)
    authorizations: set[str] = field(factory=set, init=False)
    _let_in: set[str] = field(factory=set, init=False)
    _changed: threading.Condition = field(factory=threading.Condition, init=False)
    _ended: threading.Event = field(factory=threading.Event, init=False)
    _server: ThreadingHTTPServer = field(init=False)
    _thread: threading.Thread = field(init=False)

    @property
    def address(self) -> str:
        """Return host and port, as image names start with them."""
        return f"127.0.0.1:{self._server.server_address[1]}"

    @property
    def encoded_credentials(self) -> str:
        """Return the credentials as they are sent."""
        return base64.b64encode(self.credentials.encode()).decode()

    def __enter__(self) -> Self:
        """Serve."""
        registry = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            timeout = LIMIT_SECONDS

            def do_GET(self) -> None:
                registry.answer(self)

            def do_HEAD(self) -> None:
                registry.answer(self)

            def log_message(self, *args: object) -> None:
                """Say nothing."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self._server.block_on_close = False
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.05})
        self._thread.start()
        return self

    def __exit__(self, *exc: object) -> None:
        """End everything that hangs, and stop."""
        self._ended.set()
        with self._changed:
            self._changed.notify_all()
        self._server.shutdown()
        self._thread.join(LIMIT_SECONDS)
        self._server.server_close()

    def let_in(self, count: int) -> list[str]:
        """Wait until so many pulls are at the gate, and no more come for a moment; let them in, return them all."""
        with self._changed:
            assert self._changed.wait_for(lambda: len(self.waiting) >= count, LIMIT_SECONDS), self.waiting
            self._changed.wait_for(lambda: len(self.waiting) > count, SETTLE_SECONDS)
            inside = list(self.waiting)
            self.waiting.clear()
            self._let_in |= set(inside)
            self._changed.notify_all()
        return inside

    def wait_for_request(self, part: str) -> None:
        """Wait until something with this in its path was asked for."""
        with self._changed:
            assert self._changed.wait_for(lambda: any(part in each for each in self.requests), LIMIT_SECONDS)

    def answer(self, request: BaseHTTPRequestHandler) -> None:
        """Answer one request, or not."""
        found = _REPOSITORY.match(request.path)
        stage = Stage(found["what"]) if found else Stage.PING
        with self._changed:
            self.requests.append(f"{request.command} {request.path}")
            self._changed.notify_all()
            self.authorizations.add(request.headers.get("Authorization", ""))
        if self.credentials and request.headers.get("Authorization") != f"Basic {self.encoded_credentials}":
            challenge = ("Www-Authenticate", 'Basic realm="kemu"')
            body = b'{"errors": [{"code": "UNAUTHORIZED", "message": "authentication required"}]}'
            _send(request, 401, body, headers=(challenge, ("Content-Type", "application/json")))
            return
        if found and stage is Stage.MANIFEST and self.is_gated:
            self._wait_at_the_gate(found["repository"])
        trouble = self._trouble(stage)
        if trouble is None:
            self._pass_on(request, None)
        else:
            self._fail(request, trouble)

    def _wait_at_the_gate(self, repository: str) -> None:
        with self._changed:
            if repository in self._let_in or repository in self.waiting:
                return
            self.waiting.append(repository)
            self._changed.notify_all()
            self._changed.wait_for(lambda: repository in self._let_in or self._ended.is_set())

    def _trouble(self, stage: Stage) -> Fault | None:
        with self._changed:
            for index, trouble in enumerate(self.troubles):
                if trouble.stage is stage and trouble.times != 0:
                    left = None if trouble.times is None else trouble.times - 1
                    self.troubles[index] = Trouble(stage, trouble.fault, left)
                    return trouble.fault
        return None

    def _fail(self, request: BaseHTTPRequestHandler, fault: Fault) -> None:
        match fault:
            case Fault.HANG:
                self._ended.wait(LIMIT_SECONDS * 10)
                _hang_up(request)
            case Fault.CUT:
                _hang_up(request)
            case Fault.GARBAGE:
                request.wfile.write(b"\x00\xff this is no HTTP \r\n\r\n")
                _hang_up(request)
            case Fault.CUT_BODY | Fault.BAD_BODY:
                self._pass_on(request, fault)
            case _:
                _send(request, _STATUS[fault], self._error_body(request, fault))

    def _error_body(self, request: BaseHTTPRequestHandler, fault: Fault) -> bytes:
        if fault is not Fault.ECHO:
            return b'{"errors": [{"code": "UNKNOWN", "message": "this is the proxy"}]}'
        told = request.headers.get("Authorization", "nothing")
        return f'{{"errors": [{{"code": "UNAUTHORIZED", "message": "you sent {told}"}}]}}'.encode()

    def _pass_on(self, request: BaseHTTPRequestHandler, fault: Fault | None) -> None:
        upstream = http.client.HTTPConnection("127.0.0.1", self.upstream_port, timeout=LIMIT_SECONDS)
        try:
            sent = {name: request.headers.get_all(name, []) for name in _SENT}
            headers = {name: ", ".join(values) for name, values in sent.items() if values}
            upstream.request(request.command, request.path, headers=headers)
            answer = upstream.getresponse()
            body = answer.read()
            kept = [(name, answer.headers[name]) for name in _KEPT if name in answer.headers]
            length = answer.headers.get("Content-Length", str(len(body)))
            if fault is Fault.BAD_BODY:
                body = bytes(byte ^ 1 for byte in body)
            cut = len(body) // 2 if fault is Fault.CUT_BODY else len(body)
            _send(request, answer.status, body[:cut], headers=kept, length=length)
            if fault is Fault.CUT_BODY:
                _hang_up(request)
        finally:
            upstream.close()


def _send(
    request: BaseHTTPRequestHandler,
    status: int,
    body: bytes,
    *,
    headers: Sequence[tuple[str, str]] = (("Content-Type", "application/json"),),
    length: str | None = None,
) -> None:
    try:
        request.send_response(status)
        for name, value in headers:
            request.send_header(name, value)
        request.send_header("Content-Length", str(len(body)) if length is None else length)
        request.end_headers()
        request.wfile.write(b"" if request.command == "HEAD" else body)
        request.wfile.flush()
    except OSError:
        request.close_connection = True


def _hang_up(request: BaseHTTPRequestHandler) -> None:
    request.close_connection = True
    try:
        request.connection.shutdown(socket.SHUT_RDWR)
    except OSError:
        return
