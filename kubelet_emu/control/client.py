"""The other end of the control socket: one connection, one request at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import trio
from attrs import define, field

from kubelet_emu.control.errors import ControlError, Reason
from kubelet_emu.control.places import short_path
from kubelet_emu.control.protocol import VERSION, LineReader, Message, Request, parse_message, raise_error, to_line

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator
    from pathlib import Path

LOST = "lost connection to the run: its process is gone"
MOST_ANSWER_BYTES = 64 << 20
GREETING_SECONDS = 10.0


@define(eq=False)
class ControlClient:
    """A connection to a run. `greeting` is what the run says of itself."""

    stream: trio.abc.Stream
    greeting: Message
    _lines: LineReader
    result: Message = field(factory=dict, init=False)
    _sending: trio.Lock = field(factory=trio.Lock, init=False)

    @classmethod
    async def greet(cls, stream: trio.abc.Stream) -> ControlClient:
        """Read the greeting of a run; ControlError for one that speaks another version, or doesn't answer."""
        lines = LineReader(stream, MOST_ANSWER_BYTES)
        with trio.move_on_after(GREETING_SECONDS) as scope:
            line = await lines.next()
        if scope.cancelled_caught:
            raise ControlError(Reason.ENDED, f"the run has not answered for {GREETING_SECONDS:g} s")
        if line is None:
            raise ControlError(Reason.ENDED, "the run has just ended")
        greeting = parse_message(line)
        raise_error(greeting)
        versions = greeting.get("versions")
        if not isinstance(versions, list) or VERSION not in versions:
            text = f"the run is of kubelet-emu {greeting.get('program')} and speaks {versions}, not {VERSION}"
            raise ControlError(Reason.UNSUPPORTED_VERSION, f"{text}: use the same version here")
        return cls(stream, greeting, lines)

    async def call(self, method: str, **params: object) -> Message:
        """Send a request and return its result; ControlError."""
        async for _ in self.events(method, **params):
            pass
        return self.result

    async def events(self, method: str, **params: object) -> AsyncGenerator[Message, None]:
        """Send a request and yield its events; its `result` is kept when they have ended. ControlError."""
        await self.send(Request(method=method, params=params).to_message())
        while (line := await self._lines.next()) is not None:
            message = parse_message(line)
            raise_error(message)
            if "result" in message:
                self.result = cast("Message", message["result"])
                return
            yield cast("Message", message.get("event", {}))
        raise ControlError(Reason.LOST, LOST)

    async def aclose(self) -> None:
        """Leave."""
        await self.stream.aclose()

    async def send(self, message: Message) -> None:
        """Send a line: a request, or input of one that streams; ControlError when nobody takes it any more.

        Of several at once each is sent whole, in the order in which they were asked for.
        """
        try:
            async with self._sending:
                await self.stream.send_all(to_line(message))
        except (trio.BrokenResourceError, trio.ClosedResourceError) as error:
            raise ControlError(Reason.LOST, LOST) from error


async def connect(folder: Path) -> ControlClient:
    """Connect to the run of a state folder; OSError when nobody listens there, ControlError."""
    place = trio.socket.socket(trio.socket.AF_UNIX, trio.socket.SOCK_STREAM)
    try:
        with short_path(folder) as path:
            await place.connect(path)
        return await ControlClient.greet(trio.SocketStream(place))
    except BaseException:
        place.close()
        raise
