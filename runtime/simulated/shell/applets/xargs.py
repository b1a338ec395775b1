"""xargs."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from runtime.simulated import access
from runtime.simulated.shell.applets.base import AppletError, complain, tell, whole_number
from runtime.simulated.shell.launch import NOT_FOUND, ProgramMissing, resolve_child

if TYPE_CHECKING:
    from runtime.simulated.process import Process

_MAX_ARGUMENTS = 5000
_FAILED, _ABORTED, _GIVE_UP = 123, 124, 255
_ITEM = re.compile(r"""(?:[^\s'"\\]|\\.|'[^'\n]*'|"[^"\n]*")+""", re.DOTALL)
_QUOTED = re.compile(r"""\\(.)|'([^']*)'|"([^"]*)\"""", re.DOTALL)


async def xargs(process: Process, name: str, arguments: list[str]) -> int:
    """Run a command with words from standard input as its arguments."""
    words, settings = _options(arguments)
    data = await access.read_all(process.fds[0]) if 0 in process.fds else b""
    status = 0
    for argv in _command_lines(words, settings, data.decode(errors="surrogateescape")):
        if "t" in settings:
            await tell(process, " ".join(argv))
        code = await _run_one(process, name, argv)
        if code == NOT_FOUND:
            return NOT_FOUND
        if code == _GIVE_UP:
            await complain(process, name, f"{argv[0]}: exited with status {_GIVE_UP}; aborting")
            return _ABORTED
        status = _FAILED if code else status
    return status


def _command_lines(words: list[str], settings: dict[str, str], text: str) -> list[tuple[str, ...]]:
    """Return the argument vectors to run; AppletError for a quotation without end."""
    if "I" in settings:
        lines = text.split("\0") if "0" in settings else text.split("\n")
        mark = settings["I"]
        return [tuple(word.replace(mark, line.strip()) for word in words) for line in lines if line.strip()]
    items = [each for each in text.split("\0") if each] if "0" in settings else _items(text)
    size = max(1, whole_number(settings.get("n", str(_MAX_ARGUMENTS))))
    groups = [items[place : place + size] for place in range(0, len(items), size)]
    if not groups and "r" not in settings:
        groups = [[]]
    return [(*words, *group) for group in groups]


def _items(text: str) -> list[str]:
    """Return the items of a text, in which quotes and backslashes count."""
    found: list[str] = []
    at = 0
    while (at := at + len(text[at:]) - len(text[at:].lstrip())) < len(text):
        match = _ITEM.match(text, at)
        if match is None or text[match.end() : match.end() + 1] in {"'", '"'}:
            kind = "single" if text[match.end() if match else at] == "'" else "double"
            raise AppletError(f"unmatched {kind} quote")
        found.append(_QUOTED.sub(lambda part: part[1] or part[2] or part[3] or "", match[0]))
        at = match.end()
    return found


def _options(arguments: list[str]) -> tuple[list[str], dict[str, str]]:
    words, settings = list(arguments), dict[str, str]()
    while words and words[0].startswith("-") and len(words[0]) > 1:
        word = words.pop(0)
        if word == "--":
            break
        for place, letter in enumerate(word[1:], start=2):
            if letter in "InPsEa":
                settings[letter] = word[place:] or (words.pop(0) if words else "")
                break
            if letter not in "0rtpx":
                raise AppletError(f"invalid option -- '{letter}'")
            settings[letter] = ""
    return words or ["echo"], settings


async def _run_one(process: Process, name: str, argv: tuple[str, ...]) -> int:
    child = process.child(argv, process.env)
    try:
        main = resolve_child(child, argv)
    except ProgramMissing as missing:
        await complain(process, name, f"{argv[0]}: {missing.reason}")
        return missing.status
    return await child.run(main)
