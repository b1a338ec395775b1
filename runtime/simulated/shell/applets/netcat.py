"""nc: a client or a server of any TCP port."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import trio
from attrs import define, field

from runtime.simulated.access import CHUNK_BYTES
from runtime.simulated.network import Listener
from runtime.simulated.shell.applets.base import AppletError, UsageError, options, tell
from runtime.simulated.shell.applets.naming import connect, need_address, port_number
from runtime.simulated.shell.applets.processes import duration
from runtime.simulated.shell.launch import resolve_child
from runtime.simulated.streams import Buffer, Text

if TYPE_CHECKING:
    from runtime.simulated.process import Process
    from runtime.simulated.shell.applets.base import Options


async def nc(process: Process, name: str, arguments: list[str]) -> int:
    """Connect, or listen with -l; with -z only try the port, with -e let a program talk."""
    words, program = arguments, tuple[str, ...]()
    if "-e" in arguments:
        place = arguments.index("-e")
        words, program = arguments[:place], tuple(arguments[place + 1 :])
    stays = any(word.startswith("-") and (word.count("l") > 1 or "k" in word) for word in words)
    taken = options(words, "zvlkunN46", "wpisqf")
    if taken.has("l"):
        text = taken.values.get("p") or (taken.rest[-1] if taken.rest else "")
        return await _listen(process, port_number(text), program, stays=stays)
    if len(taken.rest) < 2:
        raise UsageError("[-iN] [-wN] [-l] [-p PORT] [-f FILE|IPADDR PORT] [-e PROG]")
    return await _connect(process, taken, program)


async def _connect(process: Process, taken: Options, program: tuple[str, ...]) -> int:
    host, port = taken.rest[0], port_number(taken.rest[1])
    where = need_address(process, host)
    try:
        stream = await connect(process, where, port)
    except OSError as error:
        if taken.has("v"):
            await tell(process, f"nc: {host} ({where}:{port}): {error.strerror}")
        elif not taken.has("z"):
            raise AppletError(f"can't connect to remote host ({where}): {error.strerror}") from error
        return 1
    if taken.has("v"):
        await tell(process, f"{host} ({where}:{port}) open")
    with trio.move_on_after(duration(taken.values["w"]) if "w" in taken.values else math.inf):
        if program:
            await _let_talk(process, stream, program)
        elif not taken.has("z"):
            await _talk(process, stream)
    await trio.aclose_forcefully(stream)
    return 0


async def _talk(process: Process, stream: trio.abc.Stream) -> None:
    """Send what standard input has and print what comes; the other side's end is the end.

    What standard input has already goes out first, so that a side that has nothing to say doesn't cut it off.
    """
    source = process.fds.get(0)
    first = b""
    with trio.move_on_after(0):
        first = await source.read(CHUNK_BYTES) if source is not None else b""
    if first:
        await stream.send_all(first)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(_send_input, process, stream)
        while part := await stream.receive_some():
            await process.write(1, bytes(part))
        nursery.cancel_scope.cancel()


async def _send_input(process: Process, stream: trio.abc.Stream) -> None:
    source = process.fds.get(0)
    try:
        while source is not None and (part := await source.read(CHUNK_BYTES)):
            await stream.send_all(part)
        if isinstance(stream, trio.StapledStream):
            await stream.send_eof()
    except (trio.BrokenResourceError, trio.ClosedResourceError):
        return


async def _let_talk(process: Process, stream: trio.abc.Stream, program: tuple[str, ...]) -> None:
    """Give a program what comes as its input, and send what it prints."""
    received = b""
    if isinstance(stream, trio.StapledStream) and program[0] not in {"echo", "true", "false"}:
        while part := await stream.receive_some():
            received += bytes(part)
    child = process.child(program, process.env)
    output = Buffer()
    child.replace(0, Text(received))
    child.replace(1, output)
    await child.run(resolve_child(child, program))
    await stream.send_all(bytes(output.data))


@define
class _Door:
    """Connections that have come and wait to be served."""

    arrived: list[trio.abc.Stream] = field(factory=list)
    changed: trio.Event = field(factory=trio.Event)

    async def serve(self, stream: trio.abc.Stream) -> None:
        """Take a connection in; it stays open until it is served."""
        self.arrived.append(stream)
        self.changed.set()
        await trio.sleep_forever()

    async def next(self) -> trio.abc.Stream:
        """Wait for a connection."""
        while not self.arrived:
            await self.changed.wait()
            self.changed = trio.Event()
        return self.arrived.pop(0)


async def _listen(process: Process, port: int, program: tuple[str, ...], *, stays: bool) -> int:
    door = _Door()
    listener = Listener(process.container, door.serve)
    try:
        process.container.listen(port, listener)
    except OSError as error:
        raise AppletError(f"bind: {error.strerror}") from error
    try:
        while True:
            stream = await door.next()
            if not stays:
                process.container.unlisten(port, listener)
            await (_let_talk(process, stream, program) if program else _talk(process, stream))
            await stream.aclose()
            if not stays:
                return 0
    finally:
        process.container.unlisten(port, listener)
