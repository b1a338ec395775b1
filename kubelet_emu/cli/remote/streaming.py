"""The streams of a process in a container, carried to this terminal and from it.

Source: kubectl v1.36 pkg/cmd/exec SetupTTY, pkg/util/term.
"""

from __future__ import annotations

import base64
import os
import signal
import sys
import termios
import tty
from contextlib import aclosing, contextmanager, suppress
from typing import TYPE_CHECKING

import click
import trio
from attrs import define, field, frozen

from kubelet_emu.control.errors import ControlError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from kubelet_emu.cli.remote.detaching import DetachKeys
    from kubelet_emu.control.client import ControlClient
    from kubelet_emu.control.protocol import Message

CHUNK_BYTES = 32768
END_SIGNALS = (signal.SIGHUP, signal.SIGTERM, signal.SIGQUIT)
NO_TTY = "Unable to use a TTY - input is not a terminal or the right kind of file"


def uses_terminal(*, has_stdin: bool, wants_tty: bool, is_quiet: bool) -> bool:
    """Tell whether this terminal is the process's: it needs the input, and one that is a terminal."""
    if not (has_stdin and wants_tty):
        return False
    if os.isatty(0):
        return True
    if not is_quiet:
        click.echo(NO_TTY, err=True)
    return False


@frozen(kw_only=True)
class Streams:
    """What is carried: the input if it is wanted, and a terminal's keys and size.

    `redraws` gives the process another size first, so that it draws its screen anew.
    """

    has_stdin: bool
    is_raw: bool
    redraws: bool = False
    detach_keys: DetachKeys | None = None


async def carry(client: ControlClient, method: str, streams: Streams, params: Message) -> Message:
    """Ask for a method that streams and carry until it ends; return its result, empty when detached. ControlError."""
    with _raw_terminal(is_wanted=streams.is_raw):
        return await _Carrier(client, streams).carry(method, params)


@define(eq=False)
class _Carrier:
    """One session."""

    _client: ControlClient
    _streams: Streams
    _is_detached: bool = field(default=False, init=False)

    async def carry(self, method: str, params: Message) -> Message:
        failure: ControlError | None = None
        async with trio.open_nursery() as nursery:
            if self._streams.has_stdin:
                nursery.start_soon(self._carry_stdin, nursery.cancel_scope)
            if self._streams.is_raw:
                nursery.start_soon(self._carry_size)
            try:
                await self._show(method, {**params, "stdin": self._streams.has_stdin, **self._first_size()})
            except ControlError as error:  # as a value: the nursery would put it into a group
                failure = error
            nursery.cancel_scope.cancel()
        if failure is not None:
            raise failure
        return {} if self._is_detached else self._client.result

    def _first_size(self) -> dict[str, int]:
        if not self._streams.is_raw:
            return {}
        size, more = os.get_terminal_size(0), int(self._streams.redraws)
        return {"rows": size.lines + more, "columns": size.columns + more}

    async def _show(self, method: str, params: Message) -> None:
        async with aclosing(self._client.events(method, **params)) as pieces:
            async for piece in pieces:
                for name, stream in (("stdout", sys.stdout.buffer), ("stderr", sys.stderr.buffer)):
                    if name in piece:
                        stream.write(base64.b64decode(str(piece[name])))
                        stream.flush()

    async def _carry_stdin(self, scope: trio.CancelScope) -> None:
        """Hand on what comes from stdin, and its end; keys that detach end the session here."""
        keys = self._streams.detach_keys
        while True:
            try:
                await trio.lowlevel.wait_readable(0)
            except OSError:  # a regular file is always readable, and can't be waited for
                await trio.lowlevel.checkpoint()
            try:
                data = os.read(0, CHUNK_BYTES)
            except OSError:  # the terminal is gone
                data = b""
            is_end = not data
            if keys is not None:
                data, self._is_detached = keys.feed(data)
            if data:
                await self._send({"stdin": base64.b64encode(data).decode("ascii")})
            if self._is_detached:
                scope.cancel()
            if is_end:
                await self._send({"eof": True})
            if is_end or self._is_detached:
                return

    async def _carry_size(self) -> None:
        """Hand on the size of the terminal whenever it changes."""
        with trio.open_signal_receiver(signal.SIGWINCH) as signals:
            if self._streams.redraws:
                await self._send_size()
            async for _ in signals:
                await self._send_size()

    async def _send_size(self) -> None:
        size = os.get_terminal_size(0)
        await self._send({"rows": size.lines, "columns": size.columns})

    async def _send(self, message: Message) -> None:
        """Send input; when nobody takes it any more, who reads the answer learns why."""
        with suppress(ControlError):
            await self._client.send(message)


@contextmanager
def _raw_terminal(*, is_wanted: bool) -> Iterator[None]:
    """Have the terminal hand on each key as it is, Ctrl-C too, and be as it was afterwards, a signal's end included."""
    if not is_wanted:
        yield
        return
    before = termios.tcgetattr(0)

    def restore() -> None:
        with suppress(termios.error):  # it may be gone
            termios.tcsetattr(0, termios.TCSANOW, before)

    with _at_an_end_by_signal(restore):
        tty.setraw(0, termios.TCSANOW)  # what was typed before is not lost
        try:
            yield
        finally:
            restore()


@contextmanager
def _at_an_end_by_signal(do: Callable[[], None]) -> Iterator[None]:
    """Do something before a signal ends this process."""

    def end(number: int, _frame: object) -> None:
        do()
        signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)

    heard = [each for each in END_SIGNALS if signal.getsignal(each) is signal.SIG_DFL]
    for each in heard:
        signal.signal(each, end)
    try:
        yield
    finally:
        for each in heard:
            signal.signal(each, signal.SIG_DFL)
