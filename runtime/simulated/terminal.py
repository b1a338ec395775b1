"""The terminal of a container with `tty`: keys become lines, are shown, and some of them are signals.

It is what Linux's terminals are at first (termios(3): ICANON, ECHO, ISIG, ICRNL, ONLCR); no program can change that.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from attrs import define, field

from runtime.simulated import signals

if TYPE_CHECKING:
    from collections.abc import Callable

    from runtime.simulated.streams import StandardInput

END, ERASE, KILL = 0x04, 0x7F, 0x15
SIGNALS = {0x03: signals.SIGINT, 0x1C: signals.SIGQUIT}
_RUB_OUT = b"\b \b"


@define(eq=False)
class Terminal:
    """One terminal: what it shows goes to `show`, and its signals to `signal`."""

    input: StandardInput
    show: Callable[[bytes], None]
    signal: Callable[[int], None]
    _line: bytearray = field(factory=bytearray, init=False)

    async def type(self, keys: bytes) -> None:
        """Press keys; waits for a reader that is far behind."""
        for key in keys:
            await self._press(key)

    async def _press(self, key: int) -> None:
        if key in SIGNALS:
            self._line.clear()
            self.show(_shown(key))
            self.signal(SIGNALS[key])
        elif key in b"\r\n":
            self.show(b"\n")
            await self._hand_in(b"\n")
        elif key == END:
            await self._hand_in(b"")
        elif key in {ERASE, KILL}:
            gone = len(self._line) if key == KILL else min(1, len(self._line))
            del self._line[len(self._line) - gone :]
            self.show(_RUB_OUT * gone)
        else:
            self._line.append(key)
            self.show(_shown(key))

    async def _hand_in(self, end: bytes) -> None:
        """Give the reader the line; one of nothing and without an end is the end of the file."""
        line = bytes(self._line) + end
        self._line.clear()
        await self.input.put(line)


def _shown(key: int) -> bytes:
    """Return how a key is shown: `^C` for one that has no sign."""
    return bytes([ord("^"), key ^ 0x40]) if key < ord(" ") and key != ord("\t") else bytes([key])
