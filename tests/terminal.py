"""A terminal for tests: it understands what live lines send, and shows what a user would see."""

from __future__ import annotations

import io
import re

_MOVES = re.compile(r"\x1b\[(\d*)([A-Za-z])|(\n)|(\r)")


class Terminal(io.StringIO):
    """Keeps what was written; its lines are as wide as they like."""

    def screen(self) -> list[str]:
        """Return the lines that stand there, the last one being that of the cursor."""
        lines, row, column = [""], 0, 0
        for piece in _pieces(self.getvalue()):
            found = _MOVES.fullmatch(piece)
            if found is None:
                lines[row] = lines[row][:column].ljust(column) + piece + lines[row][column + len(piece) :]
                column += len(piece)
            elif piece == "\n":
                row, column = row + 1, 0
                lines += [""] * (row + 1 - len(lines))
            elif piece == "\r":
                column = 0
            elif found[2] == "A":
                row = max(0, row - int(found[1] or 1))
            elif found[2] == "K":
                lines[row] = lines[row][:column]
            elif found[2] == "J":
                lines = [*lines[:row], lines[row][:column]]
            elif found[2] != "m":
                raise AssertionError(f"what is {piece!r}?")
        return lines


def _pieces(text: str) -> list[str]:
    """Return text, and each movement by itself, in order."""
    pieces, at = [], 0
    for found in _MOVES.finditer(text):
        pieces += [text[at : found.start()], found[0]]
        at = found.end()
    return [piece for piece in (*pieces, text[at:]) if piece]
