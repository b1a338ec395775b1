"""Built-ins about variables: export, readonly, local, unset, read, getopts."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING

import trio
from attrs import define

from runtime.simulated.shell import launch
from runtime.simulated.shell.builtins.base import fault, letters
from runtime.simulated.shell.quoting import single_quoted
from runtime.simulated.shell.variables import ReadonlyFault

if TYPE_CHECKING:
    from runtime.simulated.shell.interpreter import Shell


def _check_name(shell: Shell, command: str, name: str) -> None:
    if not name.isidentifier() or not name.isascii():
        raise fault(shell, command, f"{name}: bad variable name")


def _assign(shell: Shell, command: str, name: str, value: str) -> None:
    """Set a variable on behalf of a built-in; ShellFault."""
    try:
        shell.variables.put(name, value)
    except ReadonlyFault as error:
        raise fault(shell, command, str(error)) from error


async def export(shell: Shell, arguments: list[str]) -> int:
    """Mark variables for the environment of children."""
    flags, names = letters(shell, arguments, "np")
    if not names:
        return await _list(shell, "export", shell.variables.exported)
    for each in names:
        name, has_value, value = each.partition("=")
        _check_name(shell, "export", name)
        if has_value:
            _assign(shell, "export", name, value)
        (shell.variables.exported.discard if "n" in flags else shell.variables.exported.add)(name)
    return 0


async def readonly(shell: Shell, arguments: list[str]) -> int:
    """Mark variables as read-only."""
    _, names = letters(shell, arguments, "p")
    if not names:
        return await _list(shell, "readonly", shell.variables.readonly)
    for each in names:
        name, has_value, value = each.partition("=")
        _check_name(shell, "readonly", name)
        if has_value:
            _assign(shell, "readonly", name, value)
        shell.variables.readonly.add(name)
    return 0


async def _list(shell: Shell, word: str, names: set[str]) -> int:
    for name in sorted(names):
        value = shell.variables.values.get(name)
        text = name if value is None else f"{name}={single_quoted(value)}"
        await shell.process.write(1, f"{word} {text}\n".encode())
    return 0


async def local(shell: Shell, arguments: list[str]) -> int:
    """Make variables local to the running function."""
    for each in arguments[1:]:
        name, has_value, value = each.partition("=")
        _check_name(shell, "local", name)
        if not shell.variables.make_local(name):
            raise fault(shell, "local", "not in a function")
        if has_value:
            _assign(shell, "local", name, value)
    if len(arguments) == 1 and not shell.variables.is_in_function:
        raise fault(shell, "local", "not in a function")
    return 0


async def unset(shell: Shell, arguments: list[str]) -> int:
    """Forget variables, or functions with -f."""
    flags, names = letters(shell, arguments, "vf")
    for name in names:
        if "f" in flags:
            shell.functions.pop(name, None)
            continue
        _check_name(shell, "unset", name)
        try:
            shell.variables.unset(name)
        except ReadonlyFault as error:
            raise fault(shell, "unset", str(error)) from error
    return 0


@define
class _Reading:
    """What `read` was asked for."""

    names: list[str]
    is_raw: bool = False
    seconds: float = math.inf
    count: int = -1
    fd: int = 0
    end: bytes = b"\n"

    @classmethod
    def of(cls, shell: Shell, arguments: list[str]) -> _Reading:
        """Read the options; ShellFault."""
        asked = cls(arguments[1:])
        while asked.names and asked.names[0].startswith("-") and len(asked.names[0]) > 1:
            word = asked.names.pop(0)
            if word == "--":
                break
            for place, letter in enumerate(word[1:], start=2):
                if letter in "ptnud":
                    asked.take(shell, letter, word[place:] or (asked.names.pop(0) if asked.names else ""))
                    break
                if letter not in "rs":
                    raise fault(shell, "read", f"illegal option -{letter}")
                asked.is_raw = asked.is_raw or letter == "r"
        return asked

    def take(self, shell: Shell, letter: str, value: str) -> None:
        """Set what an option with a value means; a prompt is for terminals alone."""
        if letter == "d":
            self.end = value[:1].encode() or b"\0"
            return
        kinds = {"t": ("timeout", r"\d+(\.\d*)?|\.\d+"), "n": ("count", r"\d+"), "u": ("file descriptor", r"\d+")}
        what, form = kinds.get(letter, ("prompt", ".*"))
        if not re.fullmatch(form, value, re.DOTALL):
            raise fault(shell, "read", f"invalid {what}")
        if letter == "t":
            self.seconds = float(value)
        elif letter == "n":
            self.count = int(value) or -1
        elif letter == "u":
            self.fd = int(value)


async def read(shell: Shell, arguments: list[str]) -> int:
    """Read a line: `read [-r] [-t seconds] [-n count] [-u fd] [-d end] [-s] [-p prompt] [names]`; 1 at the end."""
    asked = _Reading.of(shell, arguments)
    for name in asked.names:
        if not name.isidentifier():
            await shell.say(f"read: '{name}': bad variable name")
            return 1
    line, has_ended = b"", True
    with trio.move_on_after(asked.seconds) as scope:
        line, has_ended = await _read_line(shell, asked)
    _store(shell, asked.names or ["REPLY"], line.decode(errors="surrogateescape"), splits=bool(asked.names))
    return 1 if has_ended or scope.cancelled_caught else 0


async def _read_line(shell: Shell, asked: _Reading) -> tuple[bytes, bool]:
    """Read up to the end of a line, byte by byte: the rest stays for others who read the same file."""
    file = shell.process.fds.get(asked.fd)
    line = b""
    while file is not None and len(line) != asked.count:
        char = await file.read(1)
        if not char:
            return line, True
        if char == asked.end:
            return line, False
        if char == b"\\" and not asked.is_raw:
            following = await file.read(1)
            line += b"" if following == b"\n" else b"\0" + following
            continue
        line += char
    return line, file is None


def _store(shell: Shell, names: list[str], line: str, *, splits: bool) -> None:
    separators = shell.variables.values.get("IFS", " \t\n")
    if not splits:
        _assign(shell, "read", names[0], line.replace("\0", ""))
        return
    rest = _trim(line, separators)
    for name in names[:-1]:
        value, rest = _take_field(rest, separators)
        _assign(shell, "read", name, value.replace("\0", ""))
    _assign(shell, "read", names[-1], _last_field(rest, separators).replace("\0", ""))


def _blanks(separators: str) -> str:
    return "".join(char for char in separators if char in " \t\n")


def _trim(line: str, separators: str) -> str:
    return line.lstrip(_blanks(separators))


def _take_field(line: str, separators: str) -> tuple[str, str]:
    at = 0
    while at < len(line) and line[at] not in separators:
        at += 2 if line[at] == "\0" else 1
    value, rest = line[:at], line[at:].lstrip(_blanks(separators))
    if rest[:1] and rest[0] in separators and (at >= len(line) or line[at] in separators):
        rest = rest[1:].lstrip(_blanks(separators))
    return value, rest


def _last_field(line: str, separators: str) -> str:
    """Return what is left for the last name: its blanks at the end go, and one separator if it is the only one."""
    text = line.rstrip(_blanks(separators))
    value, rest = _take_field(text, separators)
    return value if not rest else text


async def getopts(shell: Shell, arguments: list[str]) -> int:
    """Take the next option of the positional parameters or of the arguments given."""
    if len(arguments) < 3:
        raise fault(shell, "getopts", "usage: getopts optstring var [arg]")
    options, name = arguments[1], arguments[2]
    words = arguments[3:] or shell.positional
    index, offset = int(shell.variables.values.get("OPTIND") or 1), shell.option_offset
    shell.variables.values.pop("OPTARG", None)
    word = words[index - 1] if 0 < index <= len(words) else ""
    if offset == 0 and (not word.startswith("-") or word in {"-", "--"}):
        shell.assign("OPTIND", str(index + (word == "--")))
        shell.assign(name, "?")
        return 1
    letter = word[offset + 1]
    place = options.find(letter) if letter != ":" else -1
    is_last = offset + 2 >= len(word)
    shell.option_offset = 0 if is_last else offset + 1
    index += is_last
    value: str | None = None
    if place < 0:
        letter, value = await _bad_option(shell, options, letter, f"Illegal option -{letter}", "?")
    elif options[place + 1 : place + 2] == ":":
        shell.option_offset = 0
        if is_last and index > len(words):
            letter, value = await _bad_option(shell, options, letter, f"No arg for -{letter} option", ":")
        else:
            value = words[index - 1] if is_last else word[offset + 2 :]
            index += 1
    if value is not None:
        shell.assign("OPTARG", value)
    shell.assign("OPTIND", str(index))
    shell.assign(name, letter)
    return 0


async def _bad_option(shell: Shell, options: str, letter: str, text: str, silent: str) -> tuple[str, str | None]:
    """Return the name and OPTARG of a wrong option: told in them when the options begin with a colon, else printed."""
    if options.startswith(":"):
        return silent, letter
    await launch.try_write(shell.process, 2, f"{text}\n".encode())
    return "?", None
