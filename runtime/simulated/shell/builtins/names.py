"""Built-ins about variables: export, readonly, local, unset, read, getopts."""

from __future__ import annotations

from typing import TYPE_CHECKING

import trio

from runtime.simulated.shell import launch
from runtime.simulated.shell.faults import ShellFault
from runtime.simulated.shell.quoting import single_quoted
from runtime.simulated.shell.variables import ReadonlyFault

if TYPE_CHECKING:
    from runtime.simulated.shell.interpreter import Shell


def _names(arguments: list[str]) -> tuple[str, list[str]]:
    flags = ""
    at = 1
    while at < len(arguments) and arguments[at].startswith("-") and len(arguments[at]) > 1:
        at += 1
        if arguments[at - 1] == "--":
            break
        flags += arguments[at - 1][1:]
    return flags, arguments[at:]


def _check_name(command: str, name: str, line: int) -> None:
    if not name.isidentifier() or not name.isascii():
        raise ShellFault(f"{command}: line {line - 1}: {name}: bad variable name")


async def export(shell: Shell, arguments: list[str]) -> int:
    """Mark variables for the environment of children."""
    flags, names = _names(arguments)
    if not names:
        return await _list(shell, "export", shell.variables.exported)
    for each in names:
        name, has_value, value = each.partition("=")
        _check_name("export", name, shell.line)
        if has_value:
            shell.assign(name, value)
        (shell.variables.exported.discard if "n" in flags else shell.variables.exported.add)(name)
    return 0


async def readonly(shell: Shell, arguments: list[str]) -> int:
    """Mark variables as read-only."""
    _, names = _names(arguments)
    if not names:
        return await _list(shell, "readonly", shell.variables.readonly)
    for each in names:
        name, has_value, value = each.partition("=")
        _check_name("readonly", name, shell.line)
        if has_value:
            shell.assign(name, value)
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
        _check_name("local", name, shell.line)
        if not shell.variables.make_local(name):
            raise ShellFault(f"local: line {shell.line - 1}: not in a function")
        if has_value:
            shell.assign(name, value)
    if len(arguments) == 1 and not shell.variables.is_in_function:
        raise ShellFault(f"local: line {shell.line - 1}: not in a function")
    return 0


async def unset(shell: Shell, arguments: list[str]) -> int:
    """Forget variables, or functions with -f."""
    flags, names = _names(arguments)
    for name in names:
        if "f" in flags:
            shell.functions.pop(name, None)
            continue
        _check_name("unset", name, shell.line)
        try:
            shell.variables.unset(name)
        except ReadonlyFault as fault:
            raise ShellFault(f"unset: line {shell.line - 1}: {fault}") from fault
    return 0


async def read(shell: Shell, arguments: list[str]) -> int:
    """Read a line: `read [-r] [-p prompt] [-t seconds] [-n count] [-s] [names]`; 1 at the end of input."""
    flags: set[str] = set()
    names: list[str] = []
    seconds, count = float("inf"), -1
    at = 1
    while at < len(arguments):
        word = arguments[at]
        if word.startswith("-") and len(word) > 1 and not names:
            value = arguments[at + 1] if at + 1 < len(arguments) else ""
            flags.add(word[1])
            if word[1] in "ptn":
                at += not word[2:]
                value = word[2:] or value
                if word[1] == "t":
                    seconds = float(value)
                elif word[1] == "n":
                    count = int(value)
                else:
                    await launch.try_write(shell.process, 2, value.encode())
        else:
            names.append(word)
        at += 1
    line, ended = b"", True
    with trio.move_on_after(seconds) as scope:
        line, ended = await _read_line(shell, raw="r" in flags, count=count)
    _store(shell, names or ["REPLY"], line.decode(errors="replace"), splits=bool(names))
    return 1 if ended or scope.cancelled_caught else 0


async def _read_line(shell: Shell, *, raw: bool, count: int) -> tuple[bytes, bool]:
    """Read up to a newline, byte by byte: the rest stays for others who read the same file."""
    file = shell.process.fds.get(0)
    line = b""
    while file is not None and len(line) != count:
        char = await file.read(1)
        if not char:
            return line, True
        if char == b"\n":
            return line, False
        if char == b"\\" and not raw:
            following = await file.read(1)
            line += b"" if following == b"\n" else b"\0" + following
            continue
        line += char
    return line, file is None


def _store(shell: Shell, names: list[str], line: str, *, splits: bool) -> None:
    separators = shell.variables.values.get("IFS", " \t\n")
    if not splits:
        shell.assign(names[0], line.replace("\0", ""))
        return
    rest = _trim(line, separators)
    for name in names[:-1]:
        value, rest = _take_field(rest, separators)
        shell.assign(name, value.replace("\0", ""))
    shell.assign(names[-1], _last_field(rest, separators).replace("\0", ""))


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
        await shell.say("getopts: usage: getopts optstring var [arg]")
        return 2
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
