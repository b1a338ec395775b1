"""sed: runs a script on lines, with its pattern space and its hold space."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from attrs import define, field

from runtime.simulated import access
from runtime.simulated.shell.applets.base import AppletError, Inputs, UsageError, options
from runtime.simulated.shell.applets.regex import basic, extended
from runtime.simulated.shell.applets.sed_script import Command, Kind, ScriptReader

if TYPE_CHECKING:
    from runtime.simulated.process import Process
    from runtime.simulated.shell.applets.sed_script import Address

_NEWLINE = "\n"


@define
class _Editor:
    """One run over the lines of all inputs; `output` collects what is printed."""

    process: Process
    commands: tuple[Command, ...]
    is_quiet: bool
    lines: list[str]
    ends_open: bool
    output: list[str] = field(factory=list)
    number: int = 0
    space: str = ""
    hold: str = ""
    has_quit: bool = False
    has_changed: bool = False
    _after: list[str] = field(factory=list)
    _ranges: dict[int, int] = field(factory=dict)
    _last_pattern: re.Pattern[str] | None = None
    _written: dict[str, list[str]] = field(factory=dict)

    async def run(self) -> None:
        """Edit all lines; a `q` ends it."""
        restarts = False
        while not self.has_quit and (restarts or self._next()):
            self.process.step()
            restarts = await self._cycle()
        for path, lines in self._written.items():
            file = await access.open_file(self.process, path, "w")
            await file.write("".join(lines).encode(errors="surrogateescape"))
            file.release()

    @property
    def is_last(self) -> bool:
        """Tell whether the present line is the last one."""
        return self.number == len(self.lines)

    def _next(self) -> bool:
        if self.is_last:
            return False
        self.space = self.lines[self.number]
        self.number += 1
        return True

    def _print(self, text: str) -> None:
        """Print a line, behind a newline if what was printed before had none."""
        if self.output and not self.output[-1].endswith(_NEWLINE):
            self.output.append(_NEWLINE)
        self.output.append(text + _NEWLINE)

    def _print_space(self) -> None:
        """Print the pattern space, without a newline when the last line of the input has none."""
        self._print(self.space)
        if self.is_last and self.ends_open:
            self.output[-1] = self.space

    def _flush(self) -> None:
        """Print the pattern space and what waits behind it."""
        if not self.is_quiet:
            self._print_space()
        self._print_after()

    def _print_after(self) -> None:
        for text in self._after:
            self._print(text.removesuffix(_NEWLINE))
        self._after.clear()

    async def _cycle(self) -> bool:
        """Run the script on the pattern space; True when `D` wants it again without a new line."""
        self.has_changed = False
        at = 0
        while at < len(self.commands):
            command = self.commands[at]
            if not self._applies(at, command):
                at = command.target if command.name == "{" else at + 1
                continue
            match command.name:
                case "d":
                    self._print_after()
                    return False
                case "D":
                    head, newline, rest = self.space.partition(_NEWLINE)
                    self._print_after()
                    self.space = rest if newline else head
                    return bool(newline)
                case "n" | "N":
                    if not self._more(command.name):
                        return False
                case "c":
                    if not self._is_inside(at, command):
                        self._print(command.text)
                    return False
                case "q":
                    self.has_quit = True
                    self._flush()
                    return False
                case "b" | "t" | "T":
                    at = self._jump(at, command)
                    continue
                case _:
                    await self._simple(command)
            at += 1
        self._flush()
        return False

    def _jump(self, at: int, command: Command) -> int:
        if command.name == "b" or self.has_changed == (command.name == "t"):
            self.has_changed = self.has_changed and command.name == "b"
            return command.target
        self.has_changed = False
        return at + 1

    def _is_inside(self, at: int, command: Command) -> bool:
        """Tell whether a range goes on behind this line: `c` prints at its end."""
        return len(command.addresses) > 1 and not command.is_negated and at in self._ranges

    def _more(self, name: str) -> bool:
        """Take the next line, in place of the pattern space or behind it; False when there is none."""
        if self.is_last:
            self._flush()
            return False
        before = self.space
        if name == "n":
            self._flush()
        self._next()
        if name == "N":
            self.space = f"{before}{_NEWLINE}{self.space}"
        return True

    async def _simple(self, command: Command) -> None:  # noqa: C901, PLR0912 - one arm a command
        match command.name:
            case "s":
                await self._substitute(command)
            case "y":
                self.space = self.space.translate(str.maketrans(command.flags, command.text))
            case "p":
                self._print_space()
            case "P":
                self._print(self.space.partition(_NEWLINE)[0])
            case "=":
                self._print(str(self.number))
            case "i":
                self._print(command.text)
            case "a":
                self._after.append(command.text + _NEWLINE)
            case "r":
                if text := await self._file(command.path):
                    self._after.append(text)
            case "w":
                self._written.setdefault(command.path, []).append(self.space + _NEWLINE)
            case "h":
                self.hold = self.space
            case "H":
                self.hold += _NEWLINE + self.space
            case "g":
                self.space = self.hold
            case "G":
                self.space += _NEWLINE + self.hold
            case "x":
                self.space, self.hold = self.hold, self.space

    async def _file(self, path: str) -> str:
        try:
            return (await access.read_path(self.process, path)).decode(errors="surrogateescape")
        except OSError:
            return ""

    def _applies(self, at: int, command: Command) -> bool:
        if command.name in {":", "}"}:
            return False
        return self._is_selected(at, command.addresses) != command.is_negated

    def _is_selected(self, at: int, addresses: tuple[Address, ...]) -> bool:
        if not addresses:
            return True
        if len(addresses) == 1:
            return self._fits(addresses[0])
        first, last = addresses
        if at in self._ranges:
            return self._goes_on(at, last)
        if not self._fits(first):
            return False
        if last.kind is Kind.MORE:
            if last.number:
                self._ranges[at] = self.number + last.number
        elif not (last.kind is Kind.LINE and last.number <= self.number):
            self._ranges[at] = 0
        return True

    def _goes_on(self, at: int, last: Address) -> bool:
        """Tell whether an open range still holds, and close it at its end."""
        if last.kind is Kind.LINE and self.number > last.number:
            del self._ranges[at]
            return False
        is_over = self.number >= self._ranges[at] if last.kind is Kind.MORE else self._fits(last)
        if is_over:
            del self._ranges[at]
        return True

    def _fits(self, address: Address) -> bool:
        match address.kind:
            case Kind.LINE:
                return self.number == address.number
            case Kind.LAST:
                return self.is_last
            case Kind.PATTERN:
                return self._pattern(address.pattern).search(self.space) is not None
            case Kind.MORE:
                return False

    def _pattern(self, pattern: re.Pattern[str] | None) -> re.Pattern[str]:
        """Return a pattern; an empty one means the last that was used."""
        pattern = pattern or self._last_pattern
        if pattern is None:
            raise AppletError("no previous regexp")
        self._last_pattern = pattern
        return pattern

    async def _substitute(self, command: Command) -> None:
        pattern = self._pattern(command.pattern)
        digits = re.sub(r"\D", "", command.flags)
        self.space, changed = replace(
            self.space, pattern, command.text, first=int(digits or "1"), everywhere="g" in command.flags
        )
        if changed:
            self.has_changed = True
            if "p" in command.flags:
                self._print_space()
            if command.path:
                self._written.setdefault(command.path, []).append(self.space + _NEWLINE)
        elif command.path:
            self._written.setdefault(command.path, [])


def replace(text: str, pattern: re.Pattern[str], by: str, *, first: int, everywhere: bool) -> tuple[str, bool]:
    """Replace the n-th match, or all from it on; an empty match right behind another one is none."""
    result, at, seen, end = "", 0, 0, -1
    while at <= len(text) and (match := pattern.search(text, at)) is not None:
        if match.end() == match.start() == end:
            result += text[at : at + 1]
            at, end = at + 1, -1
            continue
        seen += 1
        result += text[at : match.start()]
        result += _replacement(by, match) if seen >= first else match[0]
        end = match.end()
        at = end
        if match.end() == match.start():
            result += text[at : at + 1]
            at += 1
        if seen >= first and not everywhere:
            break
    return result + text[at:], seen >= first


def _replacement(text: str, match: re.Match[str]) -> str:
    def piece(found: re.Match[str]) -> str:
        if found[0] == "&":
            return match[0]
        if found[1].isdigit():
            number = int(found[1])
            if number > match.re.groups:
                raise AppletError(f"bad regex reference \\{number}")
            return match[number] or ""
        return {"n": "\n", "t": "\t"}.get(found[1], found[1])

    return re.sub(r"&|\\(.)", piece, text, flags=re.DOTALL)


async def sed(process: Process, name: str, arguments: list[str]) -> int:
    """Edit lines by a script."""
    if arguments[:1] == ["--version"]:
        await process.write(1, b"This is not GNU sed version 4.0\n")
        return 0
    arguments, suffix = _in_place(arguments)
    taken = options(arguments, "nErz", "ef", {"expression": "e", "quiet": "n", "silent": "n", "regexp-extended": "E"})
    scripts = list(taken.lists.get("e", []))
    scripts += [
        (await access.read_path(process, path)).decode().removesuffix("\n") for path in taken.lists.get("f", [])
    ]
    rest = list(taken.rest)
    if not scripts:
        if not rest:
            raise UsageError("[-i[SFX]] [-nrE] [-f FILE]... [-e CMD]... [FILE]...")
        scripts.append(rest.pop(0))
    commands = ScriptReader("\n".join(scripts), extended if taken.has("E", "r") else basic).read()
    if suffix is not None:
        return await _edit_in_place(process, name, commands, rest, suffix, is_quiet=taken.has("n"))
    inputs = Inputs(process, name, rest)
    parts = [await access.read_all(file) async for _, file in inputs.files()]
    data = b"".join(part if part.endswith(b"\n") or not part else part + b"\n" for part in parts[:-1]) + b"".join(
        parts[-1:]
    )
    editor = _editor(process, commands, data, is_quiet=taken.has("n"))
    await editor.run()
    await process.write(1, _result(editor))
    return inputs.status


def _in_place(arguments: list[str]) -> tuple[list[str], str | None]:
    """Take -i out of the arguments: its suffix follows at once, "" for none; None without it."""
    suffix: str | None = None
    kept: list[str] = []
    for place, word in enumerate(arguments):
        if word == "--":
            return kept + arguments[place:], suffix
        match = re.fullmatch(r"-([nErsz]*)i(.*)", word)
        if match is None or (place and arguments[place - 1] in {"-e", "-f"}):
            kept.append(word)
            continue
        suffix = match[2]
        kept += [f"-{match[1]}"] if match[1] else []
    return kept, suffix


async def _edit_in_place(
    process: Process, name: str, commands: tuple[Command, ...], paths: list[str], suffix: str, *, is_quiet: bool
) -> int:
    inputs = Inputs(process, name, paths)
    for path in paths:
        node = access.get(process, path)
        if node is None:
            inputs.status = 1
            await process.write(2, f"{name}: {path}: No such file or directory\n".encode())
            continue
        data = await access.read_path(process, path)
        editor = _editor(process, commands, data, is_quiet=is_quiet)
        await editor.run()
        if suffix:
            await _write(process, path + suffix, data)
        await _write(process, path, _result(editor))
    return inputs.status


async def _write(process: Process, path: str, data: bytes) -> None:
    file = await access.open_file(process, path, "w")
    await file.write(data)
    file.release()


def _editor(process: Process, commands: tuple[Command, ...], data: bytes, *, is_quiet: bool) -> _Editor:
    lines = data.decode(errors="surrogateescape").split(_NEWLINE)
    ends_open = lines[-1] != ""
    if not ends_open:
        lines.pop()
    return _Editor(process, commands, is_quiet, lines, ends_open)


def _result(editor: _Editor) -> bytes:
    return "".join(editor.output).encode(errors="surrogateescape")
