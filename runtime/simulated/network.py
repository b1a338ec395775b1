"""The simulated network: which port of which pod is answered by what.

A connection is a pair of memory streams; the answering side runs as a task of the container that listens, and dies with
it. Pods with the node's network share one table.
"""

from __future__ import annotations

import errno
from typing import TYPE_CHECKING, Protocol

import trio
import trio.testing
from attrs import define, field, frozen

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    Serve = Callable[[trio.abc.Stream], Awaitable[None]]
    """Answer one connection to its end."""

NODE = "node"
LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1", "0.0.0.0", "ip6-localhost"})  # noqa: S104 - nothing is bound
ANY_PORT = 0
"""A listener on this port answers every port that has none of its own."""


class Owner(Protocol):
    """Who listens: runs a task that ends with it. Known by its identity."""

    def start_service(self, serve: Serve, stream: trio.abc.Stream) -> None:
        """Answer a connection in a task of its own."""


@frozen(eq=False)
class Listener:
    """One listening socket."""

    owner: Owner
    serve: Serve
    refuses: frozenset[int] = frozenset()
    """Ports that a listener on every port leaves to others."""

    def takes(self, port: int) -> bool:
        """Tell whether it answers on a port."""
        return port not in self.refuses


@define(eq=False)
class Network:
    """All listening sockets, by network namespace and port, and the addresses of namespaces."""

    addresses: dict[str, str] = field(factory=dict, init=False)
    _listeners: dict[tuple[str, int], list[Listener]] = field(factory=dict, init=False)
    _places: dict[Owner, set[tuple[str, int]]] = field(factory=dict, init=False)

    def listen(self, namespace: str, port: int, listener: Listener) -> None:
        """Listen on a port; OSError (EADDRINUSE) when it is taken."""
        taken = self._listeners.setdefault((namespace, port), [])
        if taken and port != ANY_PORT:
            raise OSError(errno.EADDRINUSE, "Address already in use")
        taken.append(listener)
        self._places.setdefault(listener.owner, set()).add((namespace, port))

    def close(self, namespace: str, port: int, listener: Listener) -> None:
        """Stop listening; connections that are open go on."""
        waiting = self._listeners.get((namespace, port), [])
        if listener in waiting:
            waiting.remove(listener)

    def forget(self, owner: Owner) -> None:
        """Close all sockets of an owner that is gone."""
        for place in self._places.pop(owner, ()):
            kept = [each for each in self._listeners.pop(place, ()) if each.owner is not owner]
            if kept:
                self._listeners[place] = kept

    def is_listening(self, namespace: str, port: int) -> bool:
        """Tell whether something would answer."""
        return self._find(namespace, port) is not None

    def _find(self, namespace: str, port: int) -> Listener | None:
        """Return who answers on a port: who listens on it, else the first that takes every port."""
        for own in self._listeners.get((namespace, port), []):
            return own
        return next((each for each in self._listeners.get((namespace, ANY_PORT), []) if each.takes(port)), None)

    def dial(self, namespace: str, port: int) -> trio.abc.Stream:
        """Connect to a port of a namespace; ConnectionRefusedError when nothing listens."""
        listener = self._find(namespace, port)
        if listener is None:
            raise ConnectionRefusedError(errno.ECONNREFUSED, "Connection refused")
        client, server = trio.testing.memory_stream_pair()
        listener.owner.start_service(listener.serve, server)
        return client

    def connect(self, here: str, host: str, port: int) -> trio.abc.Stream:
        """Connect from a namespace to a host; OSError (EHOSTUNREACH) when no pod has the address."""
        namespace = here if host in LOOPBACK else self.addresses.get(host)
        if namespace is None:
            raise OSError(errno.EHOSTUNREACH, "No route to host")
        return self.dial(namespace, port)
