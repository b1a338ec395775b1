"""What all applets share: their signature, their errors, options and inputs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from attrs import define, field

from runtime.simulated import signals
from runtime.simulated.access import CHUNK_BYTES, open_file, read_all

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable

    from runtime.simulated.process import Main, Process
    from runtime.simulated.streams import OpenFile

    Applet = Callable[[Process, str, list[str]], Awaitable[int]]
    """A word: its process, its name in messages, its arguments."""


class AppletError(Exception):
    """An applet ends with a message and a status."""

    def __init__(self, text: str, status: int = 1) -> None:
        """Keep the status."""
        super().__init__(text)
        self.status = status


def applet_main(applet: Applet, argv: tuple[str, ...]) -> Main:
    """Return an applet as a program."""
    name = argv[0].rsplit("/", 1)[-1]

    async def main(process: Process) -> int:
        try:
            return await applet(process, name, list(argv[1:]))
        except AppletError as error:
            await complain(process, name, str(error))
            return error.status
        except BrokenPipeError:
            process.killed_by = signals.SIGPIPE
            return 128 + signals.SIGPIPE
        except OSError as error:
            subject = f"{error.filename}: " if error.filename else ""
            await complain(process, name, f"{subject}{error.strerror}")
            return 1

    return main


async def complain(process: Process, name: str, text: str) -> None:
    """Write a message to standard error."""
    try:
        await process.write(2, f"{name}: {text}\n".encode())
    except OSError:
        return


async def put(process: Process, text: str) -> None:
    """Write a text to standard output."""
    await process.write(1, text.encode(errors="surrogateescape"))


@define
class Options:
    """Flags, values of options and what is left."""

    flags: set[str] = field(factory=set)
    values: dict[str, str] = field(factory=dict)
    rest: list[str] = field(factory=list)
    lists: dict[str, list[str]] = field(factory=dict)

    def has(self, *flags: str) -> bool:
        """Tell whether one of the flags was given."""
        return any(flag in self.flags or flag in self.values for flag in flags)


def options(arguments: list[str], flags: str, valued: str = "", long: dict[str, str] | None = None) -> Options:
    """Read options as getopt does: they may stand after other arguments; AppletError for one that is unknown."""
    found = Options()
    names = long or {}
    waiting = list(arguments)
    while waiting:
        word = waiting.pop(0)
        if word == "--":
            found.rest += waiting
            break
        if word.startswith("--"):
            name, has_value, value = word[2:].partition("=")
            letter = names.get(name)
            if letter is None:
                raise AppletError(f"unrecognized option '{word}'")
            _take(found, letter, valued, value if has_value else None, waiting)
        elif word.startswith("-") and len(word) > 1:
            _letters(found, word[1:], flags, valued, waiting)
        else:
            found.rest.append(word)
    return found


def _letters(found: Options, letters: str, flags: str, valued: str, waiting: list[str]) -> None:
    for place, letter in enumerate(letters):
        if letter in valued:
            _take(found, letter, valued, letters[place + 1 :] or None, waiting)
            return
        if letter not in flags:
            raise AppletError(f"invalid option -- '{letter}'")
        found.flags.add(letter)


def _take(found: Options, letter: str, valued: str, value: str | None, waiting: list[str]) -> None:
    if letter not in valued:
        found.flags.add(letter)
        return
    if value is None:
        if not waiting:
            raise AppletError(f"option requires an argument -- '{letter}'")
        value = waiting.pop(0)
    found.values[letter] = value
    found.lists.setdefault(letter, []).append(value)


async def open_input(process: Process, name: str, path: str) -> OpenFile | None:
    """Open a file to read, "-" is standard input; complain and return None when it can't be."""
    if path == "-":
        return process.fds.get(0)
    try:
        return await open_file(process, path, "r")
    except OSError as error:
        await complain(process, name, f"can't open '{path}': {error.strerror}")
        return None


@define
class Inputs:
    """The files of a command line, or standard input, one after the other; `status` is 1 after one that failed."""

    process: Process
    name: str
    paths: list[str]
    status: int = 0

    async def files(self) -> AsyncIterator[tuple[str, OpenFile]]:
        """Open each input in turn."""
        for path in self.paths or ["-"]:
            file = await open_input(self.process, self.name, path)
            if file is None:
                self.status = 1
                continue
            yield path, file
            if path != "-":
                file.release()

    async def lines(self) -> AsyncIterator[tuple[str, bytes]]:
        """Yield every line with its newline, and where it comes from."""
        async for path, file in self.files():
            async for line in read_lines(self.process, file):
                yield path, line

    async def text(self) -> bytes:
        """Read all inputs."""
        parts = [await read_all(file) async for _, file in self.files()]
        return b"".join(parts)


async def read_lines(process: Process, file: OpenFile) -> AsyncIterator[bytes]:
    """Yield the lines of an open file as they come."""
    rest = b""
    while part := await file.read(CHUNK_BYTES):
        process.step()
        *whole, rest = (rest + part).split(b"\n")
        for line in whole:
            yield line + b"\n"
    if rest:
        yield rest


def whole_number(text: str) -> int:
    """Return a number; AppletError."""
    try:
        return int(text)
    except ValueError:
        raise AppletError(f"invalid number '{text}'") from None
