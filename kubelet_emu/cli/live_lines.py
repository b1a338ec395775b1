"""Lines at the bottom of a terminal that are drawn anew as they change; all other text goes above them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from attrs import define, field

if TYPE_CHECKING:
    from kubelet_emu.journal.outlet import Outlet


@define(eq=False)
class LiveLines:
    """Draws on one terminal. A frame that the terminal isn't ready for is left out: the next one shows the same."""

    terminal: Outlet
    _lines: tuple[str, ...] = field(default=(), init=False)

    def show(self, lines: tuple[str, ...]) -> None:
        """Draw these lines in the place of those before."""
        if lines != self._lines and not (lines and self.terminal.is_behind):
            self.terminal.write(self._erased() + _drawn(lines))
            self._lines = lines

    def above(self, outlet: Outlet) -> Above:
        """Return where to write text of an outlet of the same terminal."""
        return Above(self, outlet)

    def write_above(self, outlet: Outlet, text: str) -> None:
        """Write text above the lines."""
        if not self._lines:
            outlet.write(text)
        elif outlet is self.terminal:
            outlet.write(self._erased() + text + _drawn(self._lines))
        else:
            self.terminal.write(self._erased())
            outlet.write(text)
            self.terminal.write(_drawn(self._lines))

    def _erased(self) -> str:
        return f"\x1b[{len(self._lines)}A\x1b[J" if self._lines else ""


@define(eq=False)
class Above:
    """An outlet whose text goes above the live lines."""

    _live: LiveLines
    _outlet: Outlet

    def write(self, text: str, /) -> None:
        """Take some whole lines."""
        self._live.write_above(self._outlet, text)


def _drawn(lines: tuple[str, ...]) -> str:
    return "".join(f"{line}\n" for line in lines)
