"""grep, xargs, and sums of files."""

from __future__ import annotations

import base64 as encoding
import hashlib
import re
import shlex
from typing import TYPE_CHECKING

from runtime.simulated import access
from runtime.simulated.shell.applets.base import AppletError, Inputs, Lines, complain, options, put, whole_number
from runtime.simulated.shell.applets.regex import basic, extended
from runtime.simulated.shell.launch import NOT_FOUND, ProgramMissing, resolve_child
from runtime.simulated.tree import Directory, File

if TYPE_CHECKING:
    from runtime.simulated.process import Process
    from runtime.simulated.shell.applets.base import Options
    from runtime.simulated.streams import OpenFile

_WRAP = 76
_MAX_ARGUMENTS = 5000


def _patterns(taken: Options, name: str) -> tuple[list[re.Pattern[str]], list[str]]:
    """Return the compiled patterns of grep and the files that are left."""
    rest = list(taken.rest)
    texts = list(taken.lists.get("e", []))
    if not texts:
        if not rest:
            raise AppletError("usage: grep [OPTIONS] PATTERN [FILE]...", 2)
        texts = [rest.pop(0)]
    is_fixed, is_extended = taken.has("F") or name == "fgrep", taken.has("E") or name == "egrep"
    found = []
    for text in "\n".join(texts).split("\n"):
        if is_fixed:
            pattern = re.compile(re.escape(text), re.IGNORECASE if taken.has("i") else re.NOFLAG)
        else:
            pattern = (extended if is_extended else basic)(text, ignores_case=taken.has("i"))
        if taken.has("w", "x"):
            edge = (r"\A(?:", r")\Z") if taken.has("x") else (r"\b(?:", r")\b")
            pattern = re.compile(edge[0] + pattern.pattern + edge[1], pattern.flags)
        found.append(pattern)
    return found, rest


async def grep(process: Process, name: str, arguments: list[str]) -> int:
    """Print the lines that match; 1 when none does."""
    taken = options(
        arguments, "EFivclqnsxwohHrRzay", "emABC", {"quiet": "q", "count": "c", "ignore-case": "i", "line-number": "n"}
    )
    patterns, paths = _patterns(taken, name)
    if taken.has("r", "R"):
        paths = _below(process, paths or ["."])
    inputs = Inputs(process, name, paths)
    limit = whole_number(taken.values["m"]) if "m" in taken.values else -1
    with_names = (len(paths) > 1 or taken.has("H", "r", "R")) and not taken.has("h")
    total = 0
    async for path, file in inputs.files():
        count = await _grep_file(process, taken, (patterns, file, f"{_shown(path)}:" if with_names else "", limit))
        total += count
        if taken.has("q") and total:
            return 0
        if taken.has("c"):
            await put(process, f"{_shown(path) + ':' if with_names else ''}{count}\n")
        if taken.has("l") and count:
            await put(process, f"{_shown(path)}\n")
    return 2 if inputs.status and not total else int(not total)


def _shown(path: str) -> str:
    return "(standard input)" if path == "-" else path


def _below(process: Process, paths: list[str]) -> list[str]:
    found: list[str] = []
    for path in paths:
        node = access.get(process, path)
        if isinstance(node, Directory):
            found.extend(
                f"{path.rstrip('/')}/{below}"
                for below, each in process.container.tree.walk(node)
                if isinstance(each, File)
            )
        else:
            found.append(path)
    return found


async def _grep_file(process: Process, taken: Options, work: tuple[list[re.Pattern[str]], OpenFile, str, int]) -> int:
    """Print the lines of one file that match and return their number."""
    patterns, file, prefix, limit = work
    count = number = 0
    async for raw in Lines(process, file):
        number += 1
        line = raw.decode(errors="surrogateescape").removesuffix("\n")
        found = [match for match in (pattern.search(line) for pattern in patterns) if match]
        if bool(found) == taken.has("v"):
            continue
        count += 1
        if taken.has("q"):
            return count
        if not taken.has("c", "l"):
            place = f"{number}:" if taken.has("n") else ""
            if taken.has("o"):
                for match in filter(lambda match: match[0], patterns[0].finditer(line)):
                    await put(process, f"{prefix}{place}{match[0]}\n")
            else:
                await put(process, f"{prefix}{place}{line}\n")
        if count == limit or taken.has("l"):
            return count
    return count


async def xargs(process: Process, name: str, arguments: list[str]) -> int:
    """Run a command with words from standard input as its arguments."""
    words, settings = _xargs_options(arguments)
    text = (await access.read_all(process.fds[0])).decode(errors="surrogateescape") if 0 in process.fds else ""
    if "I" in settings:
        given = [[line.strip()] for line in text.split("\n") if line.strip()]
    else:
        items = [each for each in text.split("\0") if each] if "0" in settings else shlex.split(text)
        size = max(1, whole_number(settings.get("n", settings.get("L", str(_MAX_ARGUMENTS)))))
        given = [items[place : place + size] for place in range(0, len(items), size)]
        if not given and "r" not in settings:
            given = [[]]
    status = 0
    for each in given:
        argv = [word.replace(settings["I"], each[0]) for word in words] if "I" in settings else [*words, *each]
        code = await _run_one(process, name, tuple(argv))
        if code == NOT_FOUND:
            return NOT_FOUND
        status = 123 if code else status
    return status


def _xargs_options(arguments: list[str]) -> tuple[list[str], dict[str, str]]:
    words, settings = list(arguments), dict[str, str]()
    while words and words[0].startswith("-") and len(words[0]) > 1:
        word = words.pop(0)
        letter = word[1]
        if letter in "InLPs":
            settings[letter] = word[2:] or (words.pop(0) if words else "")
        else:
            settings.update(dict.fromkeys(word[1:], ""))
    return words or ["echo"], settings


async def _run_one(process: Process, name: str, argv: tuple[str, ...]) -> int:
    child = process.child(argv, process.env)
    try:
        main = resolve_child(child, argv)
    except ProgramMissing as missing:
        await complain(process, name, f"{argv[0]}: {missing}")
        return missing.status
    return await child.run(main)


async def base64(process: Process, name: str, arguments: list[str]) -> int:
    """Encode, or decode with -d."""
    taken = options(arguments, "d", "w", {"decode": "d", "wrap": "w"})
    inputs = Inputs(process, name, taken.rest)
    data = await inputs.text()
    if taken.has("d"):
        try:
            await process.write(1, encoding.b64decode(data, validate=False))
        except ValueError:
            raise AppletError("truncated input") from None
        return inputs.status
    text = encoding.b64encode(data).decode()
    width = int(taken.values.get("w", str(_WRAP)))
    lines = [text[place : place + width] for place in range(0, len(text), width)] if width else [text]
    await put(process, "\n".join(lines) + ("\n" if width and text else ""))
    return inputs.status


async def checksum(process: Process, name: str, arguments: list[str]) -> int:
    """Print digests of files; the algorithm is in the word's name: md5sum, sha1sum, sha256sum, sha512sum."""
    inputs = Inputs(process, name, options(arguments, "bt").rest)
    async for path, file in inputs.files():
        digest = hashlib.new(name.removesuffix("sum"), await access.read_all(file), usedforsecurity=False)
        await put(process, f"{digest.hexdigest()}  {path}\n")
    return inputs.status
