"""`sh` as a program: its options, a script from -c, a file or standard input."""

from __future__ import annotations

from typing import TYPE_CHECKING

from attrs import define, field

from runtime.simulated.access import read_all, read_path
from runtime.simulated.process import Disposition
from runtime.simulated.shell.builtins import BUILTINS
from runtime.simulated.shell.interpreter import Shell
from runtime.simulated.shell.options import LONG_OPTIONS
from runtime.simulated.shell.variables import Variables

if TYPE_CHECKING:
    from runtime.simulated.process import Main, Process


@define
class _Options:
    letters: set[str] = field(factory=set)
    has_command: bool = False
    rest: list[str] = field(factory=list)


def _read_options(arguments: list[str]) -> _Options:
    options = _Options()
    at = 0
    while at < len(arguments) and arguments[at][:1] in {"-", "+"} and len(arguments[at]) > 1:
        word = arguments[at]
        at += 1
        if word in {"--", "--login", "--norc", "--noprofile", "--posix"}:
            if word == "--":
                break
            continue
        for letter in word[1:]:
            if letter == "c":
                options.has_command = True
            elif letter == "o" and at < len(arguments):
                options.letters.add(LONG_OPTIONS.get(arguments[at], arguments[at]))
                at += 1
            else:
                options.letters.add(letter)
    options.rest = arguments[at:]
    return options


async def sh(process: Process, name: str, arguments: list[str]) -> int:
    """Run a shell: `sh [-euxf] [-o option] [-c script [name [arguments]]] [file [arguments]]`."""
    options = _read_options(arguments)
    rest = options.rest
    shell = _shell(process, name)
    shell.options = options.letters - {"s", "l", "i"}
    shell.first_line = shell.line = int(not options.has_command)
    if options.has_command:
        shell.options.add("c")
        if not rest:
            await shell.say("-c requires an argument")
            return 2
        shell.name = rest[1] if len(rest) > 1 else shell.name
        shell.positional = rest[2:]
        return await shell.run_script(rest[0])
    if rest and "s" not in options.letters:
        return await _run_file(shell, rest)
    shell.positional = rest
    return await shell.run_script((await read_all(process.fds[0])).decode() if 0 in process.fds else "")


def _shell(process: Process, name: str) -> Shell:
    shell = Shell(
        process, Variables.from_environment({**process.env, "PWD": process.cwd}), BUILTINS, name, main_pid=process.pid
    )
    ignored = [number for number, each in process.dispositions.items() if each is Disposition.IGNORE]
    shell.traps = dict.fromkeys(ignored, "")
    return shell


async def _run_file(shell: Shell, rest: list[str]) -> int:
    try:
        text = await read_path(shell.process, rest[0])
    except OSError as error:
        await shell.say(f"can't open '{rest[0]}': {error.strerror}")
        return 2
    shell.name, shell.positional = rest[0], rest[1:]
    shell.command = shell.name
    return await shell.run_script(text.decode(errors="surrogateescape"))


def script_main(path: str, argv: tuple[str, ...]) -> Main:
    """Return a program that runs an executable script."""

    async def main(process: Process) -> int:
        return await sh(process, "sh", [path, *argv[1:]])

    return main
