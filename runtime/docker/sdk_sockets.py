"""The SDK's way over a Unix socket, which lets go of what it has opened.

The SDK's own leaves its socket open when nobody listens there, until the garbage collector comes: each second one while
an engine is away. And it has a pool for each URL, container ids and all, and keeps the last 25: none is used again.
"""

from __future__ import annotations

import socket
from typing import Any

import docker.transport
from docker.transport.unixconn import UnixHTTPConnection, UnixHTTPConnectionPool


class _Connection(UnixHTTPConnection):
    """Closes its socket when it can't connect."""

    def connect(self) -> None:
        opened = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        opened.settimeout(self.timeout)
        try:
            opened.connect(self.unix_socket)
        except BaseException:
            opened.close()
            raise
        self.sock = opened


class _Pool(UnixHTTPConnectionPool):
    """Has such connections."""

    def _new_conn(self) -> Any:  # noqa: ANN401 - urllib3's types know no connection of the SDK
        timeout: Any = self.timeout
        return _Connection(self.base_url, self.socket_path, timeout)


class OneConnection(docker.transport.UnixHTTPAdapter):
    """Keeps one open connection to a socket."""

    def __init__(self, socket_path: str, timeout: int) -> None:
        """Take the socket's path and the seconds that a connection may take."""
        super().__init__(f"http+unix://{socket_path}", timeout, pool_connections=1, max_pool_size=1)

    def get_connection(self, url: Any, proxies: object = None) -> _Pool:  # noqa: ANN401 - the SDK's
        """Return the pool of a URL, as requests asks for it."""
        del proxies
        with self.pools.lock:
            found: _Pool | None = self.pools.get(url)
            if found is None:
                found = self.pools[url] = _Pool(url, self.socket_path, self.timeout, maxsize=self.max_pool_size)
            return found
