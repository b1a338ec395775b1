"""The main input of an awk program: its files one after the other, and the assignments between them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from attrs import define, field

from runtime.simulated.shell.applets.base import Lines, open_input
from runtime.simulated.shell.awk.lexer import unescaped
from runtime.simulated.shell.awk.values import seen

if TYPE_CHECKING:
    from runtime.simulated.process import Process
    from runtime.simulated.shell.awk.variables import Variables

_ASSIGNMENT = re.compile(r"([A-Za-z_]\w*)=(.*)", re.DOTALL)


@define
class Input:
    """Reads records; `status` is 1 after a file that can't be opened."""

    process: Process
    waiting: list[str]
    status: int = 0
    _lines: Lines | None = field(default=None, init=False)
    _has_opened: bool = field(default=False, init=False)
    _rest: list[str] | None = field(default=None, init=False)

    async def line(self, variables: Variables) -> str | None:
        """Return the next record without its end, None behind the last."""
        while True:
            if self._lines is None and not await self._open(variables):
                return None
            found = await self._record(variables)
            if found is not None:
                return found
            self._lines = None
            self._rest = None

    async def _record(self, variables: Variables) -> str | None:
        separator = variables.string("RS")
        if self._lines is None:
            return None
        if separator == "\n":
            raw = await anext(self._lines, None)
            return None if raw is None else raw.decode(errors="surrogateescape").removesuffix("\n")
        if self._rest is None:
            data = b"".join([line async for line in self._lines]).decode(errors="surrogateescape").removesuffix("\n")
            self._rest = re.split(r"\n\n+", data.strip("\n")) if not separator else data.split(separator)
        return self._rest.pop(0) if self._rest else None

    async def _open(self, variables: Variables) -> bool:
        """Open the next file; without any, standard input once."""
        while self.waiting:
            word = self.waiting.pop(0)
            if match := _ASSIGNMENT.fullmatch(word):
                variables.put(match[1], seen(unescaped(match[2])))
                continue
            self._has_opened = True
            file = await open_input(self.process, "awk", word)
            if file is None:
                self.status = 1
                continue
            variables.put("FILENAME", word)
            variables.put("FNR", 0.0)
            self._lines = Lines(self.process, file)
            return True
        if self._has_opened:
            return False
        self._has_opened = True
        file = self.process.fds.get(0)
        self._lines = None if file is None else Lines(self.process, file)
        return self._lines is not None
