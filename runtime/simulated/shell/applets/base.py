"""What all applets share: their signature, their errors, options and inputs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from attrs import define, field

from runtime.simulated import signals
from runtime.simulated.access import CHUNK_BYTES, open_file, read_all
from runtime.simulated.shell.launch import ProgramMissing

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from runtime.simulated.process import Main, Process
    from runtime.simulated.streams import OpenFile

    Applet = Callable[[Process, str, list[str]], Awaitable[int]]
    """A word: its process, its name in messages, its arguments."""


_TERSE = frozenset(
    {"wc", "head", "sort", "grep", "egrep", "fgrep", "sed", "awk", "base64", "cut", "nl", "rev", "tac", "od", "cmp",
     "comm", "fold", "xxd", "hexdump", "paste"}
)  # fmt: skip
"""Words that name a file and its fault without saying that they can't open it."""


_TAKES_HELP = frozenset({"echo", "printf", "test", "[", "[[", "expr", "sh", "ash", "bash", "dash", "curl", "busybox"})
"""Words that have no --help, or their own."""


class AppletError(Exception):
    """An applet ends with a message and a status."""

    def __init__(self, text: str, status: int = 1) -> None:
        """Keep the status."""
        super().__init__(text)
        self.status = status


class UsageError(AppletError):
    """A command line that an applet can't make sense of; the text is its usage."""


def applet_main(applet: Applet, argv: tuple[str, ...]) -> Main:
    """Return an applet as a program."""
    name = argv[0].rsplit("/", 1)[-1]

    async def main(process: Process) -> int:
        if argv[1:] == ("--help",) and name not in _TAKES_HELP:
            await tell(process, f"Usage: {name} [OPTIONS] [ARGUMENTS]")
            return 0
        try:
            return await applet(process, name, list(argv[1:]))
        except UsageError as error:
            await tell(process, f"Usage: {name} {error}")
            return error.status
        except AppletError as error:
            await complain(process, name, str(error))
            return error.status
        except ProgramMissing as missing:
            await complain(process, name, f"can't execute '{process.argv[0]}': {missing.reason}")
            return missing.status
        except ValueError as error:
            await complain(process, name, f"invalid argument: {error}")
            return 1
        except BrokenPipeError:
            process.killed_by = signals.SIGPIPE
            return 128 + signals.SIGPIPE
        except OSError as error:
            subject = error.filename or ("read error" if isinstance(error, IsADirectoryError) else "write error")
            await complain(process, name, f"{subject}: {error.strerror}")
            return 1

    return main


async def complain(process: Process, name: str, text: str) -> None:
    """Write a message to standard error."""
    await tell(process, f"{name}: {text}")


async def tell(process: Process, text: str) -> None:
    """Write a line to standard error."""
    try:
        await process.write(2, f"{text}\n".encode(errors="surrogateescape"))
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
    """Open a file to read, "-" is standard input; complain (unless `name` is "") and return None when it can't be."""
    if path == "-":
        if 0 not in process.fds:
            await complain(process, name, "read error: Bad file descriptor")
        return process.fds.get(0)
    try:
        return await open_file(process, path, "r")
    except OSError as error:
        text = f"{path}: {error.strerror}" if name in _TERSE else f"can't open '{path}': {error.strerror}"
        if name:
            await complain(process, name, text)
        return None


@define
class Inputs:
    """The files of a command line, or standard input, one after the other; `status` is 1 after one that failed."""

    process: Process
    name: str
    paths: list[str]
    status: int = 0
    is_silent: bool = False

    def files(self) -> InputFiles:
        """Return every input, opened when its turn comes."""
        return InputFiles(self, list(self.paths or ["-"]))

    def lines(self) -> InputLines:
        """Return every line of every input with its newline."""
        return InputLines(self.process, self.files())

    async def text(self) -> bytes:
        """Read all inputs."""
        parts = [await read_all(file) async for _, file in self.files()]
        return b"".join(parts)


@define
class InputFiles:
    """Opens inputs one after the other; the last one is closed when the next is asked for."""

    _inputs: Inputs
    _waiting: list[str]
    _open: OpenFile | None = None

    def __aiter__(self) -> InputFiles:
        """Return itself."""
        return self

    async def __anext__(self) -> tuple[str, OpenFile]:
        """Open the next input that can be opened."""
        if self._open is not None:
            self._open.release()
            self._open = None
        while self._waiting:
            path = self._waiting.pop(0)
            file = await open_input(self._inputs.process, "" if self._inputs.is_silent else self._inputs.name, path)
            if file is not None:
                self._open = None if path == "-" else file
                return path, file
            self._inputs.status = 1
        raise StopAsyncIteration


@define
class Lines:
    """The lines of an open file, as they come, each with its newline."""

    _process: Process
    _file: OpenFile
    _whole: list[bytes] = field(factory=list)
    _rest: bytes = b""

    def __aiter__(self) -> Lines:
        """Return itself."""
        return self

    async def __anext__(self) -> bytes:
        """Return the next line; what has no newline is the last."""
        while not self._whole:
            part = await self._file.read(CHUNK_BYTES)
            if not part:
                return self._last()
            self._process.step()
            *whole, self._rest = (self._rest + part).split(b"\n")
            self._whole = [line + b"\n" for line in reversed(whole)]
        return self._whole.pop()

    def _last(self) -> bytes:
        line, self._rest = self._rest, b""
        if not line:
            raise StopAsyncIteration
        return line


@define
class InputLines:
    """The lines of several inputs, each with its path."""

    _process: Process
    _files: InputFiles
    _path: str = ""
    _lines: Lines | None = None

    def __aiter__(self) -> InputLines:
        """Return itself."""
        return self

    async def __anext__(self) -> tuple[str, bytes]:
        """Return the next line of the present input, else of the next."""
        while True:
            if self._lines is None:
                self._path, file = await anext(self._files)
                self._lines = Lines(self._process, file)
            try:
                return self._path, await anext(self._lines)
            except StopAsyncIteration:
                self._lines = None


def whole_number(text: str) -> int:
    """Return a number; AppletError."""
    try:
        return int(text)
    except ValueError:
        raise AppletError(f"invalid number '{text}'") from None
