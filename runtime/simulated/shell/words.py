"""Words: from source text to parts, by POSIX's quoting rules.

The grammar says where commands begin and end; what is inside one (quotes, expansions, where a word ends) is read here
from its text, as a shell's own lexer does it.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from attrs import define, field

from runtime.simulated.shell.escapes import unescape
from runtime.simulated.shell.nodes import Arithmetic, Literal, Parameter, Part, Substitution, Word

if TYPE_CHECKING:
    from collections.abc import Callable

    from runtime.simulated.shell.nodes import Script

_SPECIAL = "@*#?$!-"
_CASE = re.compile(r"(?<![^\s;&|(])(?:(case)(?=\s+\S+\s+in\s)|esac(?![^\s;&|)]))")
_TILDE = re.compile(r"~(?=[/\s:;&|<>()]|$)")
_ASSIGNMENT = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)=")
_DOLLAR_QUOTES = re.compile(r"\$'((?:[^'\\]|\\.)*)'", re.DOTALL)
_QUOTE_ESCAPE = re.compile(r"\\(?:([ntrabfve\\'\"?])|x([0-9a-fA-F]{1,2})|([0-7]{1,3})|(c))")
_ESCAPED_IN_QUOTES = frozenset('$`"\\')


class ShellSyntaxError(Exception):
    """A script that can't be parsed."""


def split_words(text: str, parse: Callable[[str], Script]) -> list[Word]:
    """Return the words of one simple command's text."""
    reader = WordReader(text, parse)
    words: list[Word] = []
    while reader.skip_blanks():
        words.append(reader.read_word(" \t\n"))
    return words


def split_command(text: str, parse: Callable[[str], Script]) -> tuple[list[tuple[str, Word]], list[Word]]:
    """Return the assignments before a simple command, and its words."""
    reader = WordReader(text, parse)
    assignments: list[tuple[str, Word]] = []
    words: list[Word] = []
    while reader.skip_blanks():
        match = None if words else _ASSIGNMENT.match(text, reader.at)
        if match is not None:
            reader.at = match.end()
            assignments.append((match[1], reader.read_word(" \t\n", is_assigned=True)))
        else:
            words.append(reader.read_word(" \t\n"))
    return assignments, words


def parse_word(text: str, parse: Callable[[str], Script]) -> Word:
    """Return the word that a text is, whatever blanks it has."""
    return WordReader(text, parse).read_word("")


def parse_heredoc(text: str, parse: Callable[[str], Script]) -> Word:
    """Return a here-document's text, in which only expansions count."""
    reader = WordReader(text, parse)
    reader.read_quoted("", escapes=frozenset("$`\\"))
    return _word(reader.parts)


@define
class WordReader:
    """Reads parts from a text, position by position."""

    text: str
    parse: Callable[[str], Script]
    at: int = 0
    parts: list[Part] = field(factory=list)

    def skip_blanks(self) -> bool:
        """Skip blanks, joined lines and comments; tell whether something is left."""
        while self.at < len(self.text):
            if self.text[self.at] in " \t\n":
                self.at += 1
            elif self.text.startswith("\\\n", self.at):
                self.at += 2
            elif self.text[self.at] == "#":
                end = self.text.find("\n", self.at)
                self.at = len(self.text) if end < 0 else end
            else:
                return True
        return False

    def read_word(self, end: str, *, is_assigned: bool = False) -> Word:
        """Read up to an unquoted character of `end`, or to the end of the text; a value may have a ~ behind a colon."""
        self.parts = []
        text = self.text
        start = self.at
        while self.at < len(text) and text[self.at] not in end:
            begins = self.at == start or (is_assigned and text[self.at - 1] == ":" and self._has_colon())
            if begins and (match := _TILDE.match(text, self.at)):
                self.parts.append(Parameter("HOME", is_quoted=True))
                self.at = match.end()
            else:
                self.read_one()
        return _word(self.parts)

    def _has_colon(self) -> bool:
        """Tell whether what was read last is an unquoted colon."""
        last = self.parts[-1] if self.parts else None
        return isinstance(last, Literal) and not last.is_quoted and last.text.endswith(":")

    def read_one(self) -> None:
        """Read one character, or one whole quotation or expansion."""
        char = self.text[self.at]
        if char == "\\":
            self._escape()
        elif char == "'":
            close = self._find("'", self.at + 1)
            self._literal(self.text[self.at + 1 : close], is_quoted=True)
            self.at = close + 1
        elif char == '"':
            self.at += 1
            self._literal("", is_quoted=True)
            self.read_quoted('"')
            self.at += 1
        elif char in "$`":
            self._dollar(is_quoted=False)
        else:
            self._literal(char, is_quoted=False)
            self.at += 1

    def read_quoted(self, end: str, escapes: frozenset[str] = _ESCAPED_IN_QUOTES, dropped: str = "") -> None:
        """Read double-quoted text up to (not over) `end`, leaving out characters of `dropped`."""
        while self.at < len(self.text) and self.text[self.at] != end:
            char = self.text[self.at]
            if char == "\\":
                following = self.text[self.at + 1 : self.at + 2]
                if following in escapes and following:
                    self._literal(following, is_quoted=True)
                elif following != "\n":
                    self._literal("\\" + following, is_quoted=True)
                self.at += 2
            elif char in "$`":
                self._dollar(is_quoted=True)
            else:
                self._literal("" if char in dropped else char, is_quoted=True)
                self.at += 1
        if end and self.at >= len(self.text):
            raise ShellSyntaxError("syntax error: unterminated quoted string")

    def _escape(self) -> None:
        following = self.text[self.at + 1 : self.at + 2]
        if following != "\n":
            self._literal(following or "\\", is_quoted=True)
        self.at += 2

    def _literal(self, text: str, *, is_quoted: bool) -> None:
        last = self.parts[-1] if self.parts else None
        if isinstance(last, Literal) and last.is_quoted == is_quoted and (text or not is_quoted):
            self.parts[-1] = Literal(last.text + text, is_quoted)
        else:
            self.parts.append(Literal(text, is_quoted))

    def _find(self, what: str, start: int) -> int:
        found = self.text.find(what, start)
        if found < 0:
            raise ShellSyntaxError("syntax error: unterminated quoted string")
        return found

    def _dollar(self, *, is_quoted: bool) -> None:
        text, at = self.text, self.at
        if text[at] == "`":
            self._backquote(is_quoted=is_quoted)
        elif text.startswith("$((", at) and self._is_arithmetic():
            end = self._close(at + 3, "))")
            self.parts.append(Arithmetic(parse_heredoc(text[at + 3 : end].replace('"', ""), self.parse), is_quoted))
            self.at = end + 2
        elif text.startswith("$(", at):
            end = self._close(at + 2, ")")
            self.parts.append(Substitution(self.parse(text[at + 2 : end]), is_quoted))
            self.at = end + 1
        elif text.startswith("${", at):
            self._braces(is_quoted=is_quoted)
        elif text.startswith("$'", at) and not is_quoted:
            self._dollar_quotes()
        else:
            self._name(is_quoted=is_quoted)

    def _is_arithmetic(self) -> bool:
        try:
            self._close(self.at + 3, "))")
        except ShellSyntaxError:
            return False
        return True

    def _dollar_quotes(self) -> None:
        """Read `$'...'`, in which C's escapes count."""
        match = _DOLLAR_QUOTES.match(self.text, self.at)
        if match is None:
            raise ShellSyntaxError("syntax error: unterminated quoted string")
        self._literal(unescape(match[1], _QUOTE_ESCAPE)[0], is_quoted=True)
        self.at = match.end()

    def _backquote(self, *, is_quoted: bool) -> None:
        at, inner = self.at + 1, ""
        while at < len(self.text) and self.text[at] != "`":
            if self.text[at] == "\\" and self.text[at + 1 : at + 2] in ("`", "\\", "$", '"' if is_quoted else "`"):
                at += 1
            inner += self.text[at]
            at += 1
        if at >= len(self.text):
            raise ShellSyntaxError("syntax error: EOF in backquote substitution")
        self.parts.append(Substitution(self.parse(inner), is_quoted))
        self.at = at + 1

    def _name(self, *, is_quoted: bool) -> None:
        text, start = self.text, self.at + 1
        end = start
        if text[start : start + 1].isdigit() or text[start : start + 1] in tuple(_SPECIAL):
            end = start + 1
        else:
            while end < len(text) and _is_name_character(text[end], first=end == start):
                end += 1
        if end == start:
            self._literal("$", is_quoted=is_quoted)
        else:
            self.parts.append(Parameter(text[start:end], is_quoted=is_quoted))
        self.at = end

    def _braces(self, *, is_quoted: bool) -> None:
        start = self.at + 2
        end = self._close(start, "}")
        self.parts.append(_parameter(self.text[start:end], self.parse, is_quoted=is_quoted))
        self.at = end + 1

    def _close(self, at: int, close: str) -> int:
        """Return where an expansion closes, over nested ones and quotes."""
        text = self.text
        depth = cases = 0
        while at < len(text):
            char = text[at]
            if close == ")" and (match := _CASE.match(text, at)):
                cases = max(0, cases + (1 if match[1] else -1))
                at = match.end() - 1
            elif depth == 0 and not cases and text.startswith(close, at):
                return at
            elif char in "()" and close != "}":
                depth = max(0, depth + (1 if char == "(" else -1))
            else:
                at = self._over(at, close)
            at += 1
        raise ShellSyntaxError(f"syntax error: missing '{close}'")

    def _over(self, at: int, close: str) -> int:
        """Return the last place of what begins here: a quotation, a comment, an expansion or one character."""
        text, char = self.text, self.text[at]
        if char == "\\":
            return at + 1
        if char == "'" and close != "))" and not (close == "}" and self._in_double_quotes(at)):
            return self._find("'", at + 1)
        if char == '"':
            return self._skip_quoted(at + 1)
        if char == "#" and close == ")" and text[at - 1] in " \t\n;(":
            newline = text.find("\n", at)
            return len(text) if newline < 0 else newline
        if char == "`":
            return self._find("`", at + 1)
        if text.startswith(("${", "$("), at):
            return self._close(at + 2, "}" if text[at + 1] == "{" else ")")
        return at

    def _in_double_quotes(self, at: int) -> bool:
        return self.text[:at].count('"') % 2 == 1

    def _skip_quoted(self, at: int) -> int:
        while at < len(self.text) and self.text[at] != '"':
            if self.text[at] == "\\":
                at += 1
            elif self.text.startswith("$(", at):
                at = self._close(at + 2, ")")
            elif self.text.startswith("${", at):
                at = self._close(at + 2, "}")
            at += 1
        if at >= len(self.text):
            raise ShellSyntaxError("syntax error: unterminated quoted string")
        return at


def _word(parts: list[Part]) -> Word:
    plain: str | None = ""
    for part in parts:
        if not isinstance(part, Literal) or (not part.is_quoted and _may_be_pattern(part.text)):
            return Word(tuple(parts))
        plain = (plain or "") + part.text
    return Word(tuple(parts), plain)


def _may_be_pattern(text: str) -> bool:
    return "*" in text or "?" in text or ("[" in text and "]" in text)


def _is_name_character(char: str, *, first: bool) -> bool:
    return char == "_" or (char.isascii() and (char.isalpha() or (char.isdigit() and not first)))


def _parameter(text: str, parse: Callable[[str], Script], *, is_quoted: bool) -> Parameter:
    """Return what stands between the braces of `${...}`."""
    if text.startswith("#") and len(text) > 1 and (text[1:] in _SPECIAL or _name_length(text[1:]) == len(text) - 1):
        return Parameter(text[1:], "len", is_quoted=is_quoted)
    length = _name_length(text)
    name, rest = text[:length], text[length:]
    if not name:
        raise ShellSyntaxError("syntax error: bad substitution")
    if not rest:
        return Parameter(name, is_quoted=is_quoted)
    for op in (":-", ":=", ":?", ":+", "-", "=", "?", "+", "##", "#", "%%", "%", "//", "/", ":"):
        if rest.startswith(op):
            return _operation(Parameter(name, op, is_quoted=is_quoted), rest[len(op) :], parse)
    raise ShellSyntaxError("syntax error: bad substitution")


def _operation(parameter: Parameter, argument: str, parse: Callable[[str], Script]) -> Parameter:
    op, is_quoted = parameter.op, parameter.is_quoted
    if op in {"/", "//"}:
        pattern, _, replacement = _partition(argument)
        return Parameter(
            parameter.name, op, parse_word(pattern, parse), parse_word(replacement, parse), is_quoted=is_quoted
        )
    if op in {"#", "##", "%", "%%", ":"} or not is_quoted:
        word = parse_word(argument, parse)
    else:
        word = _quoted_word(argument, parse)
    return Parameter(parameter.name, op, word, is_quoted=is_quoted)


def _quoted_word(text: str, parse: Callable[[str], Script]) -> Word:
    """Return the argument of an expansion in double quotes: inner double quotes go, single ones stay."""
    reader = WordReader(text, parse)
    reader.read_quoted("", escapes=_ESCAPED_IN_QUOTES | {"}"}, dropped='"')
    return _word(reader.parts)


def _partition(text: str) -> tuple[str, str, str]:
    at = 0
    while at < len(text):
        if text[at] == "\\":
            at += 1
        elif text[at] == "/":
            return text[:at].replace("\\/", "/"), "/", text[at + 1 :]
        at += 1
    return text.replace("\\/", "/"), "", ""


def _name_length(text: str) -> int:
    if text[:1] in tuple(_SPECIAL):
        return 1
    if text[:1].isdigit():
        return len(text) - len(text.lstrip("0123456789"))
    at = 0
    while at < len(text) and _is_name_character(text[at], first=at == 0):
        at += 1
    return at
