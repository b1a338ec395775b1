"""Here-documents, taken out of a script before the grammar sees it.

Each `<<word` becomes a redirection from a marker file, and the lines of its body become comments, so that every other
line keeps its number.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from attrs import define, field, frozen

from runtime.simulated.shell.words import WordReader

if TYPE_CHECKING:
    from collections.abc import Callable

    from runtime.simulated.shell.nodes import Script

MARKER = "/.heredoc/"
_START = re.compile(r"<<(-?)[ \t]*")


@frozen
class Heredoc:
    """The body of one here-document; a quoted delimiter means that nothing in it is expanded."""

    text: str
    is_literal: bool


@define
class _Scanner:
    text: str
    parse: Callable[[str], Script]
    at: int = 0
    copied: int = 0
    output: list[str] = field(factory=list)
    waiting: list[tuple[str, bool, bool]] = field(factory=list)
    found: list[Heredoc] = field(factory=list)

    def run(self) -> tuple[str, tuple[Heredoc, ...]]:
        reader = WordReader(self.text, self.parse)
        while self.at < len(self.text):
            char = self.text[self.at]
            if char == "\n" and self.waiting:
                self._bodies()
            elif char == "#" and (self.at == 0 or self.text[self.at - 1] in " \t\n;&|("):
                end = self.text.find("\n", self.at)
                self.at = len(self.text) if end < 0 else end
            elif char in "'\"\\$`":
                reader.at = self.at
                reader.read_one()
                self.at = reader.at
            elif self.text.startswith("<<", self.at) and self.text[self.at + 2 : self.at + 3] != "<":
                self._start(reader)
            else:
                self.at += 1
        self.output.append(self.text[self.copied :])
        return "".join(self.output), tuple(self.found)

    def _start(self, reader: WordReader) -> None:
        match = _START.match(self.text, self.at)
        if match is None:
            return
        self.output.append(self.text[self.copied : self.at])
        self.output.append(f"<{MARKER}{len(self.found) + len(self.waiting)}")
        reader.at = match.end()
        raw_start = reader.at
        word = reader.read_word(" \t\n;&|<>()")
        raw = self.text[raw_start : reader.at]
        self.waiting.append((word.plain or raw, bool(match[1]), any(char in raw for char in "'\"\\")))
        self.at = self.copied = reader.at

    def _bodies(self) -> None:
        self.output.append(self.text[self.copied : self.at])
        self.at += 1
        for delimiter, strips_tabs, is_literal in self.waiting:
            lines: list[str] = []
            while self.at < len(self.text):
                end = self.text.find("\n", self.at)
                end = len(self.text) if end < 0 else end
                line = self.text[self.at : end]
                self.at = end + 1
                self.output.append("\n#")
                line = line.lstrip("\t") if strips_tabs else line
                if line == delimiter:
                    break
                lines.append(line + "\n")
            self.found.append(Heredoc("".join(lines), is_literal))
        self.waiting.clear()
        self.output.append("\n")
        self.copied = min(self.at, len(self.text))


def take_heredocs(text: str, parse: Callable[[str], Script]) -> tuple[str, tuple[Heredoc, ...]]:
    """Return the script without its here-documents, and these in order."""
    if "<<" not in text:
        return text, ()
    return _Scanner(text, parse).run()
