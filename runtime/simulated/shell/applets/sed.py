"""sed: the commands that scripts use (s, d, p, q, =, i, a, c, y), with addresses."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from attrs import define, field

from runtime.simulated import access
from runtime.simulated.shell.applets.base import AppletError, Inputs, options, put
from runtime.simulated.shell.applets.regex import basic, extended

if TYPE_CHECKING:
    from collections.abc import Callable

    from runtime.simulated.process import Process

    Compile = Callable[[str], re.Pattern[str]]


@define
class _Command:
    addresses: list[str]
    is_negated: bool
    name: str
    pattern: re.Pattern[str] | None = None
    text: str = ""
    flags: str = ""
    is_open: bool = field(default=False, init=False)

    def applies(self, number: int, line: str, *, is_last: bool, compile_: Compile) -> bool:
        return self._is_selected(number, line, is_last=is_last, compile_=compile_) != self.is_negated

    def _is_selected(self, number: int, line: str, *, is_last: bool, compile_: Compile) -> bool:
        if not self.addresses:
            return True
        if len(self.addresses) == 1:
            return _fits(self.addresses[0], number, line, is_last=is_last, compile_=compile_)
        if self.is_open:
            self.is_open = not self._ends(number, line, is_last=is_last, compile_=compile_)
            return True
        if _fits(self.addresses[0], number, line, is_last=is_last, compile_=compile_):
            last = self.addresses[1]
            self.is_open = not (last.isdecimal() and int(last) <= number)
            return True
        return False

    def _ends(self, number: int, line: str, *, is_last: bool, compile_: Compile) -> bool:
        last = self.addresses[1]
        return (
            number >= int(last) if last.isdecimal() else _fits(last, number, line, is_last=is_last, compile_=compile_)
        )


def _fits(address: str, number: int, line: str, *, is_last: bool, compile_: Compile) -> bool:
    if address == "$":
        return is_last
    if address.isdecimal():
        return number == int(address)
    return compile_(address[1:]).search(line) is not None


@define
class _Reader:
    text: str
    compile: Compile
    at: int = 0

    def commands(self) -> list[_Command]:
        found: list[_Command] = []
        while True:
            while self.at < len(self.text) and self.text[self.at] in " \t\n;":
                self.at += 1
            if self.at >= len(self.text):
                return found
            if self.text[self.at] == "#":
                end = self.text.find("\n", self.at)
                self.at = len(self.text) if end < 0 else end
                continue
            found.append(self.command())

    def command(self) -> _Command:
        addresses = []
        while (address := self.address()) is not None:
            addresses.append(address)
            if not self.take(","):
                break
        self.skip()
        is_negated = self.take("!")
        self.skip()
        if self.at >= len(self.text):
            raise AppletError("missing command")
        name = self.text[self.at]
        self.at += 1
        command = _Command(addresses, is_negated, name)
        match name:
            case "s" | "y":
                self.substitution(command)
            case "i" | "a" | "c":
                self.skip()
                end = self.text.find("\n", self.at + 2)
                end = len(self.text) if end < 0 else end
                command.text = re.sub(r"^\\\n?\s*", "", self.text[self.at : end])
                self.at = end
            case "d" | "p" | "q" | "=":
                pass
            case _:
                raise AppletError(f"unsupported command {name}")
        return command

    def skip(self) -> None:
        while self.at < len(self.text) and self.text[self.at] in " \t":
            self.at += 1

    def take(self, char: str) -> bool:
        if self.text.startswith(char, self.at):
            self.at += 1
            return True
        return False

    def address(self) -> str | None:
        self.skip()
        if match := re.compile(r"\d+|\$").match(self.text, self.at):
            self.at = match.end()
            return match[0]
        if self.text.startswith("/", self.at):
            return "/" + self.part("/")
        return None

    def part(self, delimiter: str) -> str:
        """Read a part that begins with the delimiter at the position; its end stays to be read."""
        start = self.at = self.at + 1
        while self.at < len(self.text) and self.text[self.at] != delimiter:
            self.at += 2 if self.text[self.at] == "\\" else 1
        if self.at >= len(self.text):
            raise AppletError("unmatched '" + delimiter + "'")
        text = self.text[start : self.at]
        self.at += 1
        return text.replace("\\" + delimiter, delimiter)

    def substitution(self, command: _Command) -> None:
        delimiter = self.text[self.at : self.at + 1]
        pattern = self.part(delimiter)
        self.at -= 1
        command.text = self.part(delimiter)
        match = re.compile(r"[gpiI0-9]*").match(self.text, self.at)
        command.flags = match[0] if match else ""
        self.at += len(command.flags)
        if command.name == "y":
            command.flags = pattern
        else:
            ignores = "(?i)" if "i" in command.flags.lower() else ""
            compiled = self.compile(pattern)
            command.pattern = re.compile(ignores + compiled.pattern) if ignores else compiled


def _replacement(text: str, match: re.Match[str]) -> str:
    def piece(found: re.Match[str]) -> str:
        if found[0] == "&":
            return match[0]
        if found[1] and found[1].isdigit():
            return match[int(found[1])] or ""
        return {"n": "\n", "t": "\t"}.get(found[1], found[1])

    return re.sub(r"&|\\(.)", piece, text, flags=re.DOTALL)


def _substitute(command: _Command, line: str) -> tuple[str, int]:
    if command.pattern is None:
        return line, 0
    digits = re.sub(r"\D", "", command.flags)
    wanted = int(digits) if digits else 1
    seen = changed = 0

    def piece(match: re.Match[str]) -> str:
        nonlocal seen, changed
        seen += 1
        if seen == wanted or ("g" in command.flags and seen >= wanted):
            changed += 1
            return _replacement(command.text, match)
        return match[0]

    return command.pattern.sub(piece, line), changed


@define
class _Editor:
    process: Process
    commands: list[_Command]
    compile: Compile
    is_quiet: bool
    output: list[str] = field(factory=list)
    has_quit: bool = False

    def run(self, lines: list[str]) -> None:
        for number, line in enumerate(lines, start=1):
            self.process.step()
            self.line(number, line, is_last=number == len(lines))
            if self.has_quit:
                return

    def line(self, number: int, line: str, *, is_last: bool) -> None:
        after: list[str] = []
        for command in self.commands:
            if not command.applies(number, line, is_last=is_last, compile_=self.compile):
                continue
            match command.name:
                case "s" | "y":
                    line = self.change(command, line)
                case "p" | "=" | "i":
                    self.output.append({"p": line, "=": str(number), "i": command.text}[command.name])
                case "a":
                    after.append(command.text)
                case "c" | "d":
                    self.output += [command.text] if command.name == "c" else after
                    return
                case "q":
                    self.has_quit = True
                    break
        if not self.is_quiet:
            self.output.append(line)
        self.output += after

    def change(self, command: _Command, line: str) -> str:
        """Return the line as `s` or `y` leaves it."""
        if command.name == "y":
            return line.translate(str.maketrans(command.flags, command.text))
        line, changed = _substitute(command, line)
        if changed and "p" in command.flags:
            self.output.append(line)
        return line


async def sed(process: Process, name: str, arguments: list[str]) -> int:
    """Edit lines by a script."""
    taken = options(arguments, "nErsi", "ef", {"expression": "e", "quiet": "n"})
    scripts = list(taken.lists.get("e", []))
    scripts += [(await access.read_path(process, path)).decode() for path in taken.lists.get("f", [])]
    rest = list(taken.rest)
    if not scripts:
        if not rest:
            raise AppletError("usage: sed [-inrE] [-f FILE]... [-e CMD]... [FILE]...")
        scripts.append(rest.pop(0))
    compile_: Compile = extended if taken.has("E", "r") else basic
    text = "\n".join(scripts)
    if not taken.has("i"):
        inputs = Inputs(process, name, rest)
        await put(process, _edit(process, text, compile_, await inputs.text(), is_quiet=taken.has("n")))
        return inputs.status
    for path in rest:
        edited = _edit(process, text, compile_, await access.read_path(process, path), is_quiet=taken.has("n"))
        file = await access.open_file(process, path, "w")
        await file.write(edited.encode(errors="surrogateescape"))
        file.release()
    return 0


def _edit(process: Process, script: str, compile_: Compile, data: bytes, *, is_quiet: bool) -> str:
    text = data.decode(errors="surrogateescape")
    lines = text.split("\n")
    ends_open = lines[-1] != ""
    if not ends_open:
        lines.pop()
    editor = _Editor(process, _Reader(script, compile_).commands(), compile_, is_quiet)
    editor.run(lines)
    result = "\n".join(editor.output)
    return result if ends_open or not editor.output else result + "\n"
