"""What the grammar gets to see of a script: its structure, with the inside of words covered.

Quoted text, expansions and the characters of patterns become the letter `x`, byte for byte, so that nothing in them can
be mistaken for structure and every place stays where it was. A here-document's `<<word` becomes a redirection from a
marker file, its body lines become comments. `[` is an ordinary word, as POSIX has it. What the grammar has otherwise
than POSIX (`!`, the head of a function, an empty list of `for`) is taken out and noted with its place.
"""

from __future__ import annotations

import re

from attrs import define, field, frozen

from runtime.simulated.shell.nodes import Script, Sequence
from runtime.simulated.shell.words import ShellSyntaxError, WordReader

NOT = "!"
MARKER = "/.heredoc/"
_START = re.compile(r"<<(-?)[ \t]*")
_BLANKS = " \t\n"
_CLOSING = re.compile(r"(?:\}|then|do|fi|done|else|elif)(?=[\s;&|)]|$)")
_HEAD = re.compile(
    r"(for[ \t]+\w+\s+(in))(?=[ \t]*[;\n])"
    r"|function[ \t]+([A-Za-z_]\w*)(?:[ \t]*\([ \t]*\))?(?=[\s{(])|([A-Za-z_]\w*)[ \t]*\([ \t]*\)"
)
"""A loop over nothing (1, its `in` 2), or a function's head by the two ways to write it (names in 3 and 4)."""
_BEFORE_COMMAND = frozenset({"if", "then", "else", "elif", "while", "until", "do", "{"})
_NEAR = 64
"""How many pieces are looked at for the command before a closing word."""
_BEFORE_WORD = " \t\n;&|("


@frozen
class Heredoc:
    """The body of one here-document; a quoted delimiter means that nothing in it is expanded."""

    text: str
    is_literal: bool


@frozen
class Masked:
    """A script as the grammar sees it, and as the words are read: of the same length in bytes.

    `prefixes` are what was taken out before the command at a place, the outermost first: `!` and names of functions.
    """

    structure: bytes
    source: bytes
    heredocs: tuple[Heredoc, ...]
    prefixes: dict[int, tuple[str, ...]]
    empty_loops: frozenset[int]


def mask(text: str) -> Masked:
    """Return a script ready for the grammar; ShellSyntaxError for a quotation without end."""
    scanner = _Scanner(text, WordReader(text, lambda _: Script(Sequence(()))))
    scanner.run()
    structure, source = "".join(scanner.structure).encode(), "".join(scanner.source).encode()
    return Masked(
        structure,
        source,
        tuple(scanner.heredocs),
        scanner.prefixes,
        frozenset(scanner.empty_loops),
    )


@define
class _Scanner:
    text: str
    reader: WordReader
    at: int = 0
    structure: list[str] = field(factory=list)
    source: list[str] = field(factory=list)
    waiting: list[tuple[str, bool, bool]] = field(factory=list)
    heredocs: list[Heredoc] = field(factory=list)
    prefixes: dict[int, tuple[str, ...]] = field(factory=dict)
    empty_loops: set[int] = field(factory=set)

    def run(self) -> None:  # noqa: C901, PLR0912 - one arm a kind
        text = self.text
        while self.at < len(text):
            char = text[self.at]
            if char == "\n" and self.waiting:
                self._bodies()
            elif char == "#" and self._begins_word():
                end = text.find("\n", self.at)
                self._copy(len(text) if end < 0 else end)
            elif text.startswith("\\\n", self.at):
                self._joined_line()
            elif char in "'\"\\$`":
                self.reader.at = self.at
                self.reader.read_one()
                self._cover(min(self.reader.at, len(text)))
            elif text.startswith("<<", self.at) and text[self.at + 2 : self.at + 3] != "<":
                self._heredoc()
            elif char == "0" and self._begins_word() and text[self.at + 1 : self.at + 2] in ("<", ">"):
                self._cover(self.at + 1, "1")
            elif self._is_inside_word(char):
                self._cover(self.at + 1)
            elif char == "[":
                self._double_brackets()
            elif text.startswith("<>", self.at):
                self._cover(self.at + 2, "< ")
            elif text.startswith(("<&-", ">&-"), self.at):
                self._cover(self.at + 3, char + "&1")
            elif char == "!" and self._begins_word() and text[self.at + 1 : self.at + 2] in _BLANKS:
                self._negation()
            elif self._begins_word() and (match := _HEAD.match(text, self.at)) and self._begins_command():
                self._head(match)
            elif (match := _CLOSING.match(text, self.at)) and self._begins_word():
                self._end_command(match)
            else:
                self._copy(self.at + 1)
        self.heredocs += [Heredoc("", is_literal=True)] * len(self.waiting)

    def _begins_word(self) -> bool:
        return self.at == 0 or self.text[self.at - 1] in _BEFORE_WORD

    def _ends_word(self, end: int) -> bool:
        return end >= len(self.text) or self.text[end] in " \t\n;&|)"

    def _is_inside_word(self, char: str) -> bool:
        """Tell whether a character that may be structure is part of a word here."""
        if char in "[]":
            return not (
                self.text.startswith(char * 2, self.at) and self._begins_word() and self._ends_word(self.at + 2)
            )
        if char == "{":
            return not (self._begins_word() and self._ends_word(self.at + 1))
        if char == "}":
            return not self._begins_word()
        return char in "]*?+@%^~=,-" or ord(char) > 126

    def _copy(self, end: int) -> None:
        part = self.text[self.at : end]
        self.structure.append(part)
        self.source.append(part)
        self.at = end

    def _cover(self, end: int, cover: str | None = None) -> None:
        part = self.text[self.at : end]
        self.source.append(part)
        self.structure.append("x" * len(part.encode()) if cover is None else cover)
        self.at = end

    def _negation(self) -> None:
        """Take a `!` out."""
        if self._begins_command():
            self._take_prefix(self.at + 1, NOT)
        else:
            self._copy(self.at + 1)

    def _head(self, match: re.Match[str]) -> None:
        """Take the head of a function out, or the `in` of a loop over nothing."""
        if match[1]:
            self.empty_loops.add(self._place())
            self._copy(match.start(2))
            self._cover(match.end(1), "  ")
        else:
            self._take_prefix(match.end(), match[3] or match[4])

    def _take_prefix(self, end: int, prefix: str) -> None:
        """Take out what stands before a command, and note it for where the command begins."""
        before = self.prefixes.pop(self._place(), ())
        self._cover(end, re.sub(r"[^\n]", " ", self.text[self.at : end]))
        self._copy(self._after_blanks())
        self.prefixes[self._place()] = (*before, prefix)

    def _begins_command(self) -> bool:
        before = "".join(self.structure[-_NEAR:]).rstrip(" \t")
        return not before or before[-1] in ";&|(){\n" or before.rsplit(None, 1)[-1] in _BEFORE_COMMAND

    def _after_blanks(self) -> int:
        end = self.at
        while end < len(self.text) and self.text[end] in _BLANKS:
            end += 1
        return end

    def _place(self) -> int:
        return len("".join(self.structure).encode())

    def _joined_line(self) -> None:
        """Cover a newline that a backslash takes out where it joins two parts of one word."""
        if self._begins_word() or self._ends_word(self.at + 2):
            self._copy(self.at + 2)
        else:
            self._cover(self.at + 2)

    def _end_command(self, match: re.Match[str]) -> None:
        """End the command before a closing word where POSIX needs no semicolon but the grammar does."""
        before = "".join(self.structure[-_NEAR:]).rstrip(" \t")
        is_needed = before.endswith(("}", ")")) or before.rsplit(None, 1)[-1:] in (["fi"], ["done"], ["esac"])
        if is_needed and self.structure[-1].endswith((" ", "\t")):
            self.structure[-1] = self.structure[-1][:-1] + ";"
        self._copy(match.end())

    def _double_brackets(self) -> None:
        """Cover a whole `[[ ... ]]`, whose && and < are not the shell's."""
        self.reader.at = self.at
        while self.reader.at < len(self.text):
            if self.text.startswith("]]", self.reader.at) and self._ends_word(self.reader.at + 2):
                self._cover(self.reader.at + 2)
                return
            self.reader.read_one()
        raise ShellSyntaxError("syntax error: missing ]]")

    def _heredoc(self) -> None:
        match = _START.match(self.text, self.at)
        start = match.end() if match is not None else self.at
        self.reader.at = start
        word = self.reader.read_word(" \t\n;&|<>()")
        raw = self.text[start : self.reader.at]
        if not raw:
            raise ShellSyntaxError("syntax error: a here-document has no end word")
        marker = f"<{MARKER}{len(self.heredocs) + len(self.waiting)}"
        self.structure.append(marker)
        self.source.append(marker)
        is_literal = any(char in raw for char in "'\"\\")
        self.waiting.append((word.plain or raw, bool(match and match[1]), is_literal))
        self.at = self.reader.at

    def _bodies(self) -> None:
        self.at += 1
        for delimiter, strips_tabs, is_literal in self.waiting:
            lines: list[str] = []
            while self.at < len(self.text):
                end = self.text.find("\n", self.at)
                end = len(self.text) if end < 0 else end
                line = self.text[self.at : end].lstrip("\t") if strips_tabs else self.text[self.at : end]
                self.at = end + 1
                self.structure.append("\n#")
                self.source.append("\n#")
                if line == delimiter:
                    break
                lines.append(line + ("\n" if self.at <= len(self.text) else ""))
            self.heredocs.append(Heredoc("".join(lines), is_literal))
        self.waiting.clear()
        self.structure.append("\n")
        self.source.append("\n")
        self.at = min(self.at, len(self.text))
