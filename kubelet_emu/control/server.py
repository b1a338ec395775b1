"""Serves the control socket of a run: connections, their bounds, and each request to its method.

A client can't hold up the run: it has a task of its own, nothing waits for what it reads, and what it does not read in
time ends its stream (`kubelet_emu.control.watching`). A method that fails answers with an error; it never ends the run.
"""

from __future__ import annotations

import os
import socket
import struct
from contextlib import suppress
from typing import TYPE_CHECKING, Protocol

import structlog
import trio
from attrs import define, field, frozen

from kubelet_emu.apiserver.errors import APIError
from kubelet_emu.control.errors import ControlError, Reason
from kubelet_emu.control.places import SOCKET, short_path
from kubelet_emu.control.protocol import (
    VERSIONS,
    LineReader,
    Message,
    Params,
    Request,
    error_message,
    of_api_error,
    parse_message,
    to_line,
)
from runtime.api import CRIError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

MOST_CLIENTS = 64
MOST_INPUTS = 16
GOODBYE_SECONDS = 1.0
BACKLOG = 32
_LEFT = (trio.BrokenResourceError, trio.ClosedResourceError)
_CREDENTIALS = struct.Struct("3i")

log = structlog.get_logger()


class Method(Protocol):
    """What answers a request: returns the result, or raises ControlError, APIError or CRIError."""

    async def __call__(self, params: Params, exchange: Exchange, /) -> Message:
        """Do it."""


@frozen
class Streaming:
    """A method that sends events before its result, and takes input meanwhile."""

    method: Method


@define(eq=False)
class Exchange:
    """The connection as a method that streams sees it."""

    _stream: trio.abc.SendStream
    inputs: trio.MemoryReceiveChannel[Message]
    ending: trio.Event

    async def send(self, event: Message) -> None:
        """Send an event; waits for a client that is slow. BrokenResourceError when it has gone."""
        await self._stream.send_all(to_line({"event": event}))


@define(eq=False, kw_only=True)
class ControlServer:
    """The methods of a run, served to clients. `greeting` is asked for what the server says of the run at first."""

    methods: Mapping[str, Method | Streaming]
    greeting: Callable[[], Message]
    most_clients: int = MOST_CLIENTS
    _clients: int = field(default=0, init=False)
    _ending: trio.Event = field(factory=trio.Event, init=False)

    async def run(
        self, listener: trio.SocketListener, *, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED
    ) -> None:
        """Serve until cancelled; then streams get a moment to say what has happened last, and their result."""
        shelter = trio.CancelScope(shield=True)
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self._serve_all, listener, shelter)
            task_status.started()
            try:
                await trio.sleep_forever()
            finally:
                self.end()
                shelter.deadline = trio.current_time() + GOODBYE_SECONDS

    def end(self) -> None:
        """Take no more requests, and have streams end with what has happened so far."""
        self._ending.set()

    async def _serve_all(self, listener: trio.SocketListener, shelter: trio.CancelScope) -> None:
        with shelter:
            async with trio.open_nursery() as clients, trio.open_nursery() as door:

                async def welcome_all() -> None:
                    await trio.serve_listeners(self._welcome, [listener], handler_nursery=clients)

                door.start_soon(welcome_all)
                await self._ending.wait()
                door.cancel_scope.cancel()

    async def _welcome(self, stream: trio.SocketStream) -> None:
        if _is_stranger(stream.socket):
            await trio.aclose_forcefully(stream)
            return
        await self.serve(stream)

    async def serve(self, stream: trio.abc.Stream) -> None:
        """Greet a client and answer its requests until it leaves, or the run does."""
        self._clients += 1
        try:
            async with stream:
                with suppress(*_LEFT):
                    await self._converse(stream)
        finally:
            self._clients -= 1

    async def _converse(self, stream: trio.abc.Stream) -> None:
        if self._clients > self.most_clients:
            busy = ControlError(Reason.TOO_MANY, f"{self.most_clients} clients are connected already")
            await stream.send_all(to_line(error_message(busy)))
            return
        await stream.send_all(to_line({"control": "kubelet-emu", "versions": VERSIONS, **self.greeting()}))
        lines = LineReader(stream)
        while (line := await self._next(lines)) is not None:
            try:
                answer: Message = {"result": await self._answer(Request.parse(line), lines, stream)}
            except ControlError as error:
                answer = error_message(error)
            await stream.send_all(to_line(answer))
        if lines.is_too_long:
            too_long = ControlError(Reason.BAD_REQUEST, f"a line has more than {lines.most_bytes} bytes")
            await stream.send_all(to_line(error_message(too_long)))

    async def _next(self, lines: LineReader) -> bytes | None:
        """Return the next request, None when there is none: the client has left, or the run ends."""
        found: bytes | None = None
        async with trio.open_nursery() as nursery:

            async def end() -> None:
                await self._ending.wait()
                nursery.cancel_scope.cancel()

            nursery.start_soon(end)
            found = await lines.next()
            nursery.cancel_scope.cancel()
        return found

    async def _answer(self, request: Request, lines: LineReader, stream: trio.abc.SendStream) -> Message:
        method = self.methods.get(request.method)
        if method is None:
            known = ", ".join(sorted(self.methods))
            raise ControlError(Reason.UNKNOWN_METHOD, f"no method {request.method!r}; there are {known}")
        params = Params(given=request.params)
        send, receive = trio.open_memory_channel[Message](MOST_INPUTS)
        exchange = Exchange(stream, receive, self._ending)
        if not isinstance(method, Streaming):
            return await _safely(method, params, exchange)
        return await _while_listening(_Feed(lines, send), method.method, params, exchange)


@define(eq=False)
class _Feed:
    """Hands what a client sends to the method that runs."""

    _lines: LineReader
    _send: trio.MemorySendChannel[Message]

    async def run(self, scope: trio.CancelScope) -> None:
        """Take lines until cancelled; one that is no message, or the end, ends the method: the client has left."""
        with suppress(ControlError, trio.BrokenResourceError):
            while (line := await self._lines.next()) is not None:
                await self._send.send(parse_message(line))
        scope.cancel()


async def _while_listening(feed: _Feed, method: Method, params: Params, exchange: Exchange) -> Message:
    """Do a method that streams; BrokenResourceError when the client leaves before its end."""
    result: Message | Exception | None = None
    async with trio.open_nursery() as nursery:
        nursery.start_soon(feed.run, nursery.cancel_scope)
        try:
            result = await _safely(method, params, exchange)
        except (ControlError, *_LEFT) as error:
            result = error  # as a value: the nursery would put it into a group
        nursery.cancel_scope.cancel()
    if result is None:
        raise trio.BrokenResourceError
    if isinstance(result, Exception):
        raise result
    return result


async def _safely(method: Method, params: Params, exchange: Exchange) -> Message:
    """Do a method; whatever fails in it is the answer's error, but a client that has left."""
    try:
        return await method(params, exchange)
    except (ControlError, *_LEFT):
        raise
    except APIError as error:
        raise of_api_error(error) from error
    except CRIError as error:
        raise ControlError(Reason.RUNTIME, str(error)) from error
    except Exception as error:
        if isinstance(error, ExceptionGroup) and error.split(_LEFT)[1] is None:
            raise trio.BrokenResourceError from error
        log.exception("a control request failed")
        raise ControlError(Reason.INTERNAL, f"{type(error).__name__}: {error}") from error


def _is_stranger(connection: trio.socket.SocketType) -> bool:
    """Tell whether the other side is a process of another user; root may look. Where that can't be told: no."""
    option = getattr(socket, "SO_PEERCRED", None)
    if option is None:
        return False
    _pid, uid, _gid = _CREDENTIALS.unpack(connection.getsockopt(socket.SOL_SOCKET, option, _CREDENTIALS.size))
    return uid not in {0, os.getuid()}


def open_socket(folder: Path) -> socket.socket:
    """Listen at the socket of a state folder, mode 0600; OSError.

    Whoever connects before the run serves it waits for the greeting.

    The folder is its user's alone, so nobody comes in before the mode is set.
    """
    place = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        with short_path(folder) as path:
            place.bind(path)
        (folder / SOCKET).chmod(0o600)
        place.listen(BACKLOG)
    except BaseException:
        place.close()
        raise
    return place
