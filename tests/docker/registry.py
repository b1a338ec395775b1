"""A registry on loopback for tests, plain or with a password, and a proxy that makes it slow.

Run as a program it serves until ended, with storage of its own: `python tests/docker/registry.py PORT [SLOW_PORT]`.
"""

from __future__ import annotations

import http.client
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Self

from attrs import define, field

if TYPE_CHECKING:
    from collections.abc import Iterator

USER, PASSWORD = "kemu", "secret"
# bcrypt of the password, made once: Python has no bcrypt of its own
_HTPASSWD = f"{USER}:$2b$04$abcdefghijklmnopqrstuu2r9OfJnfCsdneAXAGHnS4UpFFP8WIrW\n"
SLOW_BYTES_PER_SECOND = 700_000
_TICKS = 20
PORT_TRIES = 3
MARK = "X-Kemu-Registry"
_BLOB = re.compile(rb"GET /v2/(\S+)/blobs/")


def free_port() -> int:
    """Return a loopback port that was free a moment ago."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        return int(server.getsockname()[1])


@define(eq=False)
class Registry:
    """A running registry."""

    port: int
    process: subprocess.Popen[bytes]

    @property
    def address(self) -> str:
        """Return host and port, as image names start with them."""
        return f"127.0.0.1:{self.port}"


@contextmanager
def running_registry(*, port: int | None = None, with_password: bool = False) -> Iterator[Registry]:
    """Start a registry and end it with its data; without a port it takes a free one."""
    program = shutil.which("docker-registry")
    if program is None:
        raise RuntimeError("these tests need a registry (Debian: docker-registry)")
    with tempfile.TemporaryDirectory(prefix="kemu-registry-") as name:
        folder = Path(name)
        (folder / "htpasswd").write_text(_HTPASSWD)
        registry = _start(program, folder, port, with_password=with_password)
        try:
            yield registry
        finally:
            registry.process.terminate()
            registry.process.wait(10)


def _start(program: str, folder: Path, port: int | None, *, with_password: bool) -> Registry:
    """Start a registry; a free port that somebody else took meanwhile is tried again with another one."""
    for tries_left in range(0 if port else PORT_TRIES, -1, -1):
        chosen = port or free_port()
        (folder / "config.yml").write_text(_config(folder, chosen, with_password=with_password))
        with (folder / "log").open("wb") as log:
            process = subprocess.Popen([program, "serve", folder / "config.yml"], stdout=log, stderr=log)
        try:
            _wait_until_serving(chosen, process, folder.name)
        except _NotServingError as error:
            process.kill()
            process.wait(10)
            if not tries_left:
                raise RuntimeError(f"{error}: {(folder / 'log').read_text()}") from error
        else:
            return Registry(chosen, process)
    raise AssertionError


def _config(folder: Path, port: int, *, with_password: bool) -> str:
    auth = f"auth:\n  htpasswd:\n    realm: kemu\n    path: {folder / 'htpasswd'}\n" if with_password else ""
    return (
        "version: 0.1\nlog:\n  level: error\n  accesslog:\n    disabled: true\n"
        f"storage:\n  filesystem:\n    rootdirectory: {folder / 'data'}\n  delete:\n    enabled: true\n"
        f"http:\n  addr: 127.0.0.1:{port}\n  headers:\n    {MARK}: [{folder.name}]\n{auth}"
    )


class _NotServingError(Exception):
    """A registry ended, or doesn't answer."""


def _wait_until_serving(port: int, process: subprocess.Popen[bytes], mark: str) -> None:
    """Wait for an answer with this registry's mark: on a port that somebody else took, another one answers."""
    for _ in range(200):
        if process.poll() is not None:
            raise _NotServingError("the registry ended")
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=1)
        try:
            connection.request("GET", "/v2/")
            answer = connection.getresponse()
            answer.read()
        except (OSError, http.client.HTTPException):
            answer = None
        finally:
            connection.close()
        if answer is not None and answer.headers.get(MARK) == mark:
            return
        threading.Event().wait(0.05)
    raise _NotServingError("the registry does not answer")


@define(eq=False)
class SlowProxy:
    """Forwards connections to a port with so many bytes a second each way back, and counts downloads of blobs.

    `peak` is the highest number of blobs that were on their way at once; `history` has, for each change, when it was
    and which repositories had a blob on its way from then on.
    """

    upstream_port: int
    bytes_per_second: int = SLOW_BYTES_PER_SECOND
    port: int = 0
    active: int = field(default=0, init=False)
    peak: int = field(default=0, init=False)
    history: list[tuple[float, frozenset[str]]] = field(factory=list, init=False)
    idle: threading.Event = field(factory=threading.Event, init=False)
    _server: socket.socket = field(init=False)
    _open: set[socket.socket] = field(factory=set, init=False)
    _repositories: Counter[str] = field(factory=Counter, init=False)
    _lock: threading.Lock = field(factory=threading.Lock, init=False)
    _threads: list[threading.Thread] = field(factory=list, init=False)
    _ended: threading.Event = field(factory=threading.Event, init=False)

    @property
    def address(self) -> str:
        """Return host and port, as image names start with them."""
        return f"127.0.0.1:{self.port}"

    def __enter__(self) -> Self:
        """Listen."""
        self._server = socket.create_server(("127.0.0.1", self.port))
        self.port = self._server.getsockname()[1]
        self._start(self._accept)
        return self

    def __exit__(self, *exc: object) -> None:
        """Close everything and wait for the threads."""
        self._ended.set()
        with self._lock:
            sockets = [self._server, *self._open]
        for one in sockets:
            _hang_up(one)
        for thread in self._threads:
            thread.join(5)
        self._server.close()

    def _start(self, target: object, *args: object) -> None:
        thread = threading.Thread(target=target, args=args, daemon=True)  # type: ignore[arg-type]
        self._threads.append(thread)
        thread.start()

    def _accept(self) -> None:
        while not self._ended.is_set():
            try:
                client, _ = self._server.accept()
            except OSError:
                return
            upstream = socket.create_connection(("127.0.0.1", self.upstream_port))
            with self._lock:
                self._open |= {client, upstream}
            downloads: list[str] = []
            self._start(self._upwards, client, upstream, downloads)
            self._start(self._downwards, upstream, client, downloads)

    def _upwards(self, client: socket.socket, upstream: socket.socket, downloads: list[str]) -> None:
        """Forward requests, noting those for blobs."""
        try:
            while data := client.recv(65536):
                if blob := _BLOB.match(data):
                    downloads.append(blob[1].decode())
                    self._count(blob[1].decode(), 1)
                upstream.sendall(data)
        except OSError:
            pass
        finally:
            _hang_up(upstream)

    def _downwards(self, upstream: socket.socket, client: socket.socket, downloads: list[str]) -> None:
        """Forward answers slowly; a download is over when its announced length has passed."""
        step, left = max(1, self.bytes_per_second // _TICKS), 0
        try:
            while data := upstream.recv(step):
                client.sendall(data)
                left = _left_after(data, left)
                if left <= 0 and downloads:
                    self._count(downloads.pop(), -1)
                self._ended.wait(len(data) / self.bytes_per_second)
        except OSError:
            pass
        finally:
            while downloads:
                self._count(downloads.pop(), -1)
            _hang_up(client)
            with self._lock:
                self._open -= {client, upstream}
            client.close()
            upstream.close()

    def _count(self, repository: str, change: int) -> None:
        with self._lock:
            self.active += change
            self.peak = max(self.peak, self.active)
            self._repositories[repository] += change
            now = time.monotonic()  # noqa: TID251 - threads of a test, without Trio
            self.history.append((now, frozenset(+self._repositories)))
            if self.active:
                self.idle.clear()
            else:
                self.idle.set()


def _left_after(data: bytes, left: int) -> int:
    """Return how many bytes of the present answer are still to come after `data`."""
    if left > 0 or not data.startswith(b"HTTP/1.1 "):
        return left - len(data)
    head, _, body = data.partition(b"\r\n\r\n")
    for line in head.split(b"\r\n"):
        name, _, value = line.partition(b":")
        if name.lower() == b"content-length":
            return int(value) - len(body)
    return 0


def _hang_up(one: socket.socket) -> None:
    try:
        one.shutdown(socket.SHUT_RDWR)
    except OSError:
        return


def main() -> None:
    """Serve on a port, and slowly on a second one, until ended."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    port = int(sys.argv[1])
    with running_registry(port=port) as registry:
        if len(sys.argv) > 2:
            with SlowProxy(port, port=int(sys.argv[2])):
                registry.process.wait()
        else:
            registry.process.wait()


if __name__ == "__main__":
    main()
