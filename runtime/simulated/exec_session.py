"""A command of a simulated container that has run to its end, with its output: see `runtime.api.ExecSession`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import trio
from attrs import define, field

if TYPE_CHECKING:
    from runtime.api import ExecResult


@define(eq=False)
class EndedSession:
    """Hands out what a command wrote; it takes no input and has no terminal."""

    _result: ExecResult
    _output: list[tuple[str, bytes]] = field(init=False)

    def __attrs_post_init__(self) -> None:
        """Put the output into its order."""
        streams = (("stderr", self._result.stderr), ("stdout", self._result.stdout))
        self._output = [each for each in streams if each[1]]

    async def send(self, data: bytes) -> None:
        """Drop what would be input."""
        del data
        await trio.lowlevel.checkpoint()

    async def send_eof(self) -> None:
        """Do nothing: the input has been empty."""
        await trio.lowlevel.checkpoint()

    async def receive(self) -> tuple[str, bytes] | None:
        """Return the next output, None when there is no more."""
        await trio.lowlevel.checkpoint()
        return self._output.pop() if self._output else None

    async def resize(self, rows: int, columns: int) -> None:
        """Do nothing: there is no terminal."""
        del rows, columns
        await trio.lowlevel.checkpoint()

    async def exit_code(self) -> int:
        """Return the exit code."""
        await trio.lowlevel.checkpoint()
        return self._result.exit_code
