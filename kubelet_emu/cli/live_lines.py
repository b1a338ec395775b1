"""Lines at the bottom of a terminal that are drawn anew as they change; all other text goes above them."""

from __future__ import annotations

import math
import os
import re
import shutil
from itertools import groupby
from typing import TYPE_CHECKING

from attrs import define, field

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TextIO

    from kubelet_emu.journal.outlet import Outlet

_FALLBACK = os.terminal_size((80, 24))
_COLOUR = re.compile(r"\x1b\[[0-9;]*m")


def size_of(stream: TextIO) -> os.terminal_size:
    """Return the size of a terminal as it is now; 80x24 where it tells none."""
    try:
        size = os.get_terminal_size(stream.fileno())
    except (OSError, ValueError):
        return shutil.get_terminal_size(_FALLBACK)
    return os.terminal_size((size.columns or _FALLBACK.columns, size.lines or _FALLBACK.lines))


@define(eq=False)
class LiveLines:
    """Draws on one terminal. A frame that the terminal isn't ready for is left out: the next one shows the same.

    While lines stand there, text for above them waits until they are shown again, so that many lines of text are one
    frame; `on_text` is told of it. `size` tells how large the terminal is: one that has become narrower has wrapped
    what stands there.
    """

    terminal: Outlet
    size: Callable[[], os.terminal_size] = lambda: _FALLBACK
    on_text: Callable[[], None] = lambda: None
    _lines: tuple[str, ...] = field(default=(), init=False)
    _wanted: tuple[str, ...] = field(default=(), init=False)
    _waiting: list[tuple[Outlet, str]] = field(factory=list, init=False)

    def show(self, lines: tuple[str, ...]) -> None:
        """Write the text that waits, and below it these lines in the place of those before."""
        self._wanted = lines
        self.refresh()

    def refresh(self) -> None:
        """Write the text that waits, and bring the terminal up to date with the lines."""
        waiting, self._waiting = self._waiting, []
        lines = self._wanted
        if lines and self.terminal.is_behind:
            lines = () if waiting else self._lines
        if not waiting and lines == self._lines:
            return
        up = self._up()
        first = [(self.terminal, f"{up}\x1b[J")] if waiting and up else []
        last = (self.terminal, ("" if waiting else up) + _frame(lines))
        self._lines = lines
        for outlet, texts in groupby((*first, *waiting, last), key=lambda part: part[0]):
            outlet.write("".join(text for _, text in texts))

    def above(self, outlet: Outlet) -> Above:
        """Return where to write text of an outlet of the same terminal."""
        return Above(self, outlet)

    def write_above(self, outlet: Outlet, text: str) -> None:
        """Write text above the lines, at once where there are none."""
        if self._lines:
            self._waiting.append((outlet, text))
            self.on_text()
        else:
            outlet.write(text)

    def _up(self) -> str:
        """Return what moves the cursor to the first line that stands there."""
        columns = max(1, self.size().columns)
        rows = sum(max(1, math.ceil(len(_COLOUR.sub("", line)) / columns)) for line in self._lines)
        return f"\x1b[{rows}A\r" if rows else ""


def _frame(lines: tuple[str, ...]) -> str:
    """Return lines, each of which clears only what was behind its end, so that nothing flickers."""
    return "".join(f"{line}\x1b[K\n" for line in lines) + "\x1b[J"


@define(eq=False)
class Above:
    """An outlet whose text goes above the live lines."""

    _live: LiveLines
    _outlet: Outlet

    def write(self, text: str, /) -> None:
        """Take some whole lines."""
        self._live.write_above(self._outlet, text)
