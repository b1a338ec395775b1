"""The methods that reach into a container: exec, attach, and a signal from outside."""

from __future__ import annotations

import base64
import binascii
from contextlib import suppress
from typing import TYPE_CHECKING

import trio
from attrs import frozen

from kubelet_emu.control.errors import ControlError, Reason
from kubelet_emu.control.protocol import Params

if TYPE_CHECKING:
    from kubelet_emu.control.desk import Desk
    from kubelet_emu.control.protocol import Message
    from kubelet_emu.control.server import Exchange
    from runtime.api import AttachSession

MOST_SIDE = 10_000
SIGNALS = frozenset({"HUP", "INT", "QUIT", "KILL", "USR1", "USR2", "PIPE", "ALRM", "TERM", "CONT", "STOP", "WINCH"})


@frozen
class Execs:
    """The methods, over a run."""

    desk: Desk

    async def exec(self, params: Params, exchange: Exchange) -> Message:
        """Run a command in a container and return its exit code; ControlError, CRIError.

        Events are `stdout` and `stderr`, in base 64. Input is `stdin`, in base 64, `eof`, and `rows` with `columns`.
        A client that leaves closes the command's streams; the command may go on, as with a kubelet.
        """
        pod, container = self.desk.pod(params), params.text("container")
        command = params.words("command")
        container_id = await self.desk.running(pod, container)
        has_stdin, has_tty = params.flag("stdin"), params.flag("tty")
        self.desk.note_request(
            pod, f"exec in {container}: {command[0]}", {"because": "kubelet-emu exec", "container": container}
        )
        runtime = self.desk.cluster.runtime
        async with runtime.exec_stream(container_id, command, stdin=has_stdin, tty=has_tty) as session:
            await _carry(session, params, exchange)
            return {"exitCode": await session.exit_code()}

    async def attach(self, params: Params, exchange: Exchange) -> Message:
        """Join the streams of a running container until they end; ControlError, CRIError.

        Events and input are as those of `exec`; whether there is a terminal says the container. What the end of the
        input does is the runtime's rule. Source: kubelet v1.36 Kubelet.GetAttach.
        """
        pod, container = self.desk.pod(params), params.text("container")
        missing = f"container {container} not found in pod {pod.metadata.name}_{pod.metadata.namespace}"
        container_id = await self.desk.running(pod, container, missing)
        has_stdin = params.flag("stdin")
        self.desk.note_request(pod, f"attach to {container}", {"because": "kubelet-emu attach", "container": container})
        async with self.desk.cluster.runtime.attach(container_id, stdin=has_stdin) as session:
            await _carry(session, params, exchange)
        return {}

    async def kill(self, params: Params, _: Exchange) -> Message:
        """Send a signal to a running container from outside; ControlError, CRIError."""
        pod, container = self.desk.pod(params), params.text("container")
        signal = _signal(params.text("signal", "SIGKILL"))
        container_id = await self.desk.running(pod, container)
        self.desk.note_request(
            pod, f"{signal} to {container}", {"because": "kubelet-emu kill", "container": container, "signal": signal}
        )
        await self.desk.cluster.runtime.kill_container(container_id, signal)
        return {"signal": signal}


async def _carry(session: AttachSession, params: Params, exchange: Exchange) -> None:
    """Carry the streams both ways until the output ends."""
    await _resize(session, params)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(_hand_in, session, exchange)
        await _hand_out(session, exchange)
        nursery.cancel_scope.cancel()


async def _hand_out(session: AttachSession, exchange: Exchange) -> None:
    """Send the output to its end; who writes it waits while the client doesn't read."""
    while (piece := await session.receive()) is not None:
        stream, data = piece
        await exchange.send({stream: base64.b64encode(data).decode("ascii")})


async def _hand_in(session: AttachSession, exchange: Exchange) -> None:
    """Give a process what the client sends."""
    async for message in exchange.inputs:
        params = Params(given=message)
        with suppress(ControlError, binascii.Error):  # who sends nonsense has sent nothing
            await _resize(session, params)
            if data := params.optional_text("stdin"):
                await session.send(base64.b64decode(data))
            if params.flag("eof"):
                await session.send_eof()


async def _resize(session: AttachSession, params: Params) -> None:
    """Take over the size of a client's terminal; one that has none says 0 (kubelet v1.36 handleResizing)."""
    rows, columns = params.whole("rows", least=0), params.whole("columns", least=0)
    if rows and columns:
        await session.resize(min(rows, MOST_SIDE), min(columns, MOST_SIDE))


def _signal(word: str) -> str:
    """Return a signal's full name from `TERM`, `sigterm` or the like; ControlError."""
    name = word.upper().removeprefix("SIG")
    if name not in SIGNALS:
        raise ControlError(Reason.BAD_REQUEST, f"{word!r} is no signal: use one of {', '.join(sorted(SIGNALS))}")
    return f"SIG{name}"
