"""sed's language: from text to commands with addresses."""

from __future__ import annotations

import enum
import re
from typing import TYPE_CHECKING

from attrs import define, evolve, field, frozen

from runtime.simulated.shell.applets.base import AppletError
from runtime.simulated.shell.applets.regex import BadPatternError

if TYPE_CHECKING:
    from collections.abc import Callable

    Compile = Callable[..., re.Pattern[str]]
    """Compiles a pattern of the basic or the extended kind."""

_WITHOUT_ARGUMENT = frozenset("=dDgGhHlnNpPqx")
_LABEL_END = re.compile(r"[;\n}]")
_FLAGS = re.compile(r"[gpiIe0-9]*")


class Kind(enum.Enum):
    """What an address is."""

    LINE = "line"
    LAST = "last"
    PATTERN = "pattern"
    MORE = "more"


@frozen
class Address:
    """A line number, the last line, a pattern (None is the last one used), or that many lines more."""

    kind: Kind
    number: int = 0
    pattern: re.Pattern[str] | None = None


@frozen
class Command:
    """One command; `target` is where a branch or a block's end leads: the index of a command."""

    name: str
    addresses: tuple[Address, ...] = ()
    is_negated: bool = False
    pattern: re.Pattern[str] | None = None
    text: str = ""
    flags: str = ""
    path: str = ""
    target: int = -1


@define
class ScriptReader:
    """Reads a whole script."""

    text: str
    compile: Compile
    at: int = 0
    commands: list[Command] = field(factory=list, init=False)
    _open: list[int] = field(factory=list, init=False)
    _labels: dict[str, int] = field(factory=dict, init=False)

    def read(self) -> tuple[Command, ...]:
        """Return the commands, with jumps to indices; AppletError."""
        while True:
            while self.at < len(self.text) and self.text[self.at] in " \t\n;":
                self.at += 1
            if self.at >= len(self.text):
                break
            if self.text[self.at] == "#":
                end = self.text.find("\n", self.at)
                self.at = len(self.text) if end < 0 else end
            else:
                self._command()
        for place in self._open:
            self.commands[place] = evolve(self.commands[place], target=len(self.commands))
        return tuple(self._linked(command) for command in self.commands)

    def _linked(self, command: Command) -> Command:
        if command.name not in {"b", "t", "T"}:
            return command
        if command.text and command.text not in self._labels:
            raise AppletError(f"can't find label for jump to '{command.text}'")
        return evolve(command, target=self._labels.get(command.text, len(self.commands)))

    def _command(self) -> None:
        addresses = self._addresses()
        self._skip()
        is_negated = False
        while self._take("!"):
            is_negated = True
            self._skip()
        if self.at >= len(self.text):
            raise AppletError("missing command")
        name = self.text[self.at]
        self.at += 1
        command = Command(name, addresses, is_negated)
        if name == "{":
            self._open.append(len(self.commands))
        elif name == "}":
            self._close()
        self.commands.append(self._with_argument(command))

    def _close(self) -> None:
        if self._open:
            place = self._open.pop()
            self.commands[place] = evolve(self.commands[place], target=len(self.commands))

    def _with_argument(self, command: Command) -> Command:
        match command.name:
            case "s":
                return self._substitution(command)
            case "y":
                return self._table(command)
            case "i" | "a" | "c":
                return evolve(command, text=self._lines())
            case "r" | "w":
                return evolve(command, path=self._rest("\n"))
            case ":":
                label = self._rest(";\n")
                self._labels[label] = len(self.commands)
                return evolve(command, text=label)
            case "b" | "t" | "T":
                self._skip()
                match = _LABEL_END.search(self.text, self.at)
                end = match.start() if match else len(self.text)
                text, self.at = self.text[self.at : end].strip(), end
                return evolve(command, text=text)
        if command.name not in _WITHOUT_ARGUMENT | {"{", "}"}:
            raise AppletError(f"unsupported command {command.name}")
        return command

    def _rest(self, end: str) -> str:
        self._skip()
        start = self.at
        while self.at < len(self.text) and self.text[self.at] not in end:
            self.at += 1
        return self.text[start : self.at].strip()

    def _lines(self) -> str:
        r"""Read the text of a, i or c, up to a newline without a backslash; blanks behind a first backslash count."""
        self._skip()
        if self._take("\\"):
            self._take("\n")
        start = self.at
        while self.at < len(self.text) and self.text[self.at] != "\n":
            self.at += 2 if self.text[self.at] == "\\" else 1
        self.at = min(self.at, len(self.text))
        return re.sub(r"\\(.)", r"\1", self.text[start : self.at], flags=re.DOTALL)

    def _skip(self) -> None:
        while self.at < len(self.text) and self.text[self.at] in " \t":
            self.at += 1

    def _take(self, char: str) -> bool:
        if self.text.startswith(char, self.at):
            self.at += 1
            return True
        return False

    def _addresses(self) -> tuple[Address, ...]:
        first = self._address()
        if first is None:
            return ()
        self._skip()
        if not self._take(","):
            return (first,)
        self._skip()
        if match := re.compile(r"\+(\d+)").match(self.text, self.at):
            self.at = match.end()
            return (first, Address(Kind.MORE, int(match[1])))
        second = self._address()
        if second is None:
            raise AppletError("no address after comma")
        return (first, second)

    def _address(self) -> Address | None:
        if match := re.compile(r"\d+").match(self.text, self.at):
            self.at = match.end()
            return Address(Kind.LINE, int(match[0]))
        if self._take("$"):
            return Address(Kind.LAST)
        is_chosen = self._take("\\")
        if not is_chosen and not self.text.startswith("/", self.at):
            return None
        pattern = self._part(self.text[self.at : self.at + 1])
        self.at += 1
        return Address(Kind.PATTERN, pattern=self._compiled(pattern, ignores_case=False))

    def _compiled(self, pattern: str, *, ignores_case: bool) -> re.Pattern[str] | None:
        try:
            return self.compile(_with_newlines(pattern), ignores_case=ignores_case) if pattern else None
        except BadPatternError as error:
            raise AppletError(f"{error}: {error.reason}") from error

    def _part(self, delimiter: str) -> str:
        """Read a part behind the delimiter at the position; the position is then at its end."""
        self.at += 1
        start, in_bracket = self.at, False
        while self.at < len(self.text) and (in_bracket or self.text[self.at] != delimiter):
            char = self.text[self.at]
            if char == "\\" and not in_bracket:
                self.at += 1
            elif char == "[" and not in_bracket:
                in_bracket = True
                self.at += self.text[self.at + 1 : self.at + 2] == "^"
                self.at += self.text[self.at + 1 : self.at + 2] == "]"
            elif char == "]":
                in_bracket = False
            self.at += 1
        if self.at >= len(self.text):
            raise AppletError(f"unmatched '{delimiter}'")
        text = self.text[start : self.at]
        return text.replace("\\" + delimiter, delimiter) if delimiter not in ".*[]^$+?(){}|" else text

    def _replacement(self, delimiter: str) -> str:
        """Read a part in which brackets mean nothing."""
        self.at += 1
        start = self.at
        while self.at < len(self.text) and self.text[self.at] != delimiter:
            self.at += 2 if self.text[self.at] == "\\" else 1
        if self.at >= len(self.text):
            raise AppletError(f"unmatched '{delimiter}'")
        text = self.text[start : self.at]
        self.at += 1
        return text.replace("\\" + delimiter, "\\\\" if delimiter == "\\" else delimiter)

    def _substitution(self, command: Command) -> Command:
        delimiter = self.text[self.at : self.at + 1]
        pattern = self._part(delimiter)
        text = self._replacement(delimiter)
        match = _FLAGS.match(self.text, self.at)
        flags = match[0] if match else ""
        self.at += len(flags)
        path = ""
        if self._take("w"):
            path = self._rest("\n")
        elif self.at < len(self.text) and self.text[self.at] not in " \t\n;}#":
            raise AppletError("bad option in substitution expression")
        compiled = self._compiled(pattern, ignores_case="i" in flags.lower())
        return evolve(command, pattern=compiled, text=text, flags=flags, path=path)

    def _table(self, command: Command) -> Command:
        delimiter = self.text[self.at : self.at + 1]
        source = _plain(self._part(delimiter))
        target = _plain(self._replacement(delimiter))
        return evolve(command, text=target[: len(source)], flags=source[: len(target)])


def _plain(text: str) -> str:
    return re.sub(r"\\(.)", lambda match: {"n": "\n", "t": "\t"}.get(match[1], match[1]), text)


def _with_newlines(pattern: str) -> str:
    r"""Return a pattern in which \n and \t are the characters themselves."""
    names = {r"\n": "\n", r"\t": "\t"}
    return re.sub(r"\\(.)", lambda match: names.get(match[0], match[0]), pattern, flags=re.DOTALL)
