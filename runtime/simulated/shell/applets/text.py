"""Words that read text: cat, head, tail, wc, sort, uniq, cut, tr, tee and their like."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from runtime.simulated import access
from runtime.simulated.access import CHUNK_BYTES
from runtime.simulated.shell.applets.base import AppletError, Inputs, Lines, complain, options, put
from runtime.simulated.tree import File

if TYPE_CHECKING:
    from runtime.simulated.process import Process
    from runtime.simulated.shell.applets.base import Options
    from runtime.simulated.streams import OpenFile

_SUFFIXES = {"": 1, "b": 512, "k": 1024, "K": 1024, "m": 1 << 20, "M": 1 << 20}


async def cat(process: Process, name: str, arguments: list[str]) -> int:
    """Print files one after the other."""
    taken = options(arguments, "nbvteAETu")
    inputs = Inputs(process, name, taken.rest)
    if taken.has("n", "b"):
        number = 0
        async for _, line in inputs.lines():
            number += 1
            await process.write(1, f"{number:6}\t".encode() + line)
        return inputs.status
    async for _, file in inputs.files():
        while part := await file.read(CHUNK_BYTES):
            process.step()
            await process.write(1, part)
    return inputs.status


def _count(text: str) -> int:
    match = re.fullmatch(r"[-+]?(\d+)([bkKmM]?)", text)
    if match is None:
        raise AppletError(f"invalid number '{text}'")
    return int(match[1]) * _SUFFIXES[match[2]]


def _line_options(arguments: list[str], flags: str) -> Options:
    """Read the options of head and tail, whose -5 means -n 5."""
    words: list[str] = []
    for word in arguments:
        is_value = bool(words) and words[-1] in {"-n", "-c"}
        words += ["-n", word[1:]] if re.fullmatch(r"-\d+", word) and not is_value else [word]
    return options(words, flags, "nc", {"lines": "n", "bytes": "c", "follow": "f"})


async def head(process: Process, name: str, arguments: list[str]) -> int:
    """Print the first lines or bytes."""
    taken = _line_options(arguments, "qv")
    text = taken.values.get("c") or taken.values.get("n") or "10"
    count = _count(text)
    inputs = Inputs(process, name, taken.rest)
    number = 0
    async for path, file in inputs.files():
        if (len(taken.rest) > 1 or taken.has("v")) and not taken.has("q"):
            await put(process, f"{chr(10) if number else ''}==> {path} <==\n")
        number += 1
        if "c" in taken.values:
            left = count
            while left > 0 and (part := await file.read(left)):
                left -= len(part)
                await process.write(1, part)
            continue
        if text.startswith("-"):
            lines = [line async for line in Lines(process, file)]
            await process.write(1, b"".join(lines[: max(0, len(lines) - count)]))
            continue
        left = count
        while left > 0 and (line := await _read_line(file)):
            left -= 1
            await process.write(1, line)
    return inputs.status


async def _read_line(file: OpenFile) -> bytes:
    """Read one line and not a byte more, as head does on a file that others read on."""
    line = b""
    while char := await file.read(1):
        line += char
        if char == b"\n":
            break
    return line


async def tail(process: Process, name: str, arguments: list[str]) -> int:
    """Print the last lines or bytes; with -f or -F go on with what is written later."""
    words = [
        "-n" + word if re.fullmatch(r"\+\d+", word) and place == 0 else word for place, word in enumerate(arguments)
    ]
    taken = _line_options(words, "fFqv")
    inputs = Inputs(process, name, taken.rest)
    if taken.has("F") and taken.rest:
        await _wait_until_there(process, taken.rest[0])
    number = 0
    async for path, file in inputs.files():
        if len(taken.rest) > 1 and not taken.has("q"):
            await put(process, f"{chr(10) if number else ''}==> {path} <==\n")
        number += 1
        await process.write(1, _last(await _read_with_memory(process, file), taken))
        if taken.has("f", "F") and path == inputs.paths[-1]:
            await _follow(process, path, file)
    if taken.has("f", "F") and not inputs.paths:
        return inputs.status
    return inputs.status


def _last(data: bytes, taken: Options) -> bytes:
    text = taken.values.get("c") or taken.values.get("n") or "10"
    count = _count(text)
    if "c" in taken.values:
        return data[count - 1 :] if text.startswith("+") else data[-count:] if count else b""
    lines = data.splitlines(keepends=True)
    if text.startswith("+"):
        return b"".join(lines[max(0, count - 1) :])
    return b"".join(lines[-count:]) if count else b""


async def _read_with_memory(process: Process, file: OpenFile) -> bytes:
    """Read to the end, keeping all of it: what never ends eats the memory."""
    data = bytearray()
    while part := await file.read(CHUNK_BYTES):
        data += part
        if len(data) > MEMORY_STEP_BYTES:
            await eat_memory(process)
    return bytes(data)


MEMORY_STEP_BYTES = 1 << 26
MEMORY_SPEED_BYTES = 1 << 29
"""How fast a process that reads without end fills memory, in bytes a second."""


async def eat_memory(process: Process) -> None:
    """Use memory up to the limit and over it, in the time that this takes."""
    limit = process.container.memory_limit
    await process.sleep(limit / MEMORY_SPEED_BYTES)
    await process.container.use_memory(process, limit + 1)


async def _wait_until_there(process: Process, path: str) -> None:
    while access.get(process, path) is None:
        await process.sleep(1)


async def _follow(process: Process, path: str, file: OpenFile) -> None:
    node = access.get(process, path)
    while True:
        if isinstance(node, File):
            await node.wait_changed()
        else:
            await process.sleep(1)
        while part := await file.read(CHUNK_BYTES):
            await process.write(1, part)


async def wc(process: Process, name: str, arguments: list[str]) -> int:
    """Count lines, words and bytes."""
    taken = options(arguments, "lwcmL")
    kinds = [kind for kind in "lwcmL" if taken.has(kind)] or ["l", "w", "c"]
    inputs = Inputs(process, name, taken.rest)
    totals = dict.fromkeys(kinds, 0)
    rows: list[tuple[dict[str, int], str]] = []
    async for path, file in inputs.files():
        data = await access.read_all(file)
        counts = {
            "l": data.count(b"\n"),
            "w": len(data.split()),
            "c": len(data),
            "m": len(data.decode(errors="replace")),
            "L": max(map(len, data.split(b"\n"))),
        }
        row = {kind: counts[kind] for kind in kinds}
        totals = {kind: totals[kind] + row[kind] for kind in kinds}
        rows.append((row, path if taken.rest else ""))
    if len(rows) > 1:
        rows.append((totals, "total"))
    for row, path in rows:
        cells = [str(count) for count in row.values()]
        if len(cells) > 1 or len(taken.rest) > 1:
            cells = [f"{cell:>9}" for cell in cells]
        await put(process, " ".join([*cells, path]).rstrip() + "\n" if path else " ".join(cells) + "\n")
    return inputs.status


async def uniq(process: Process, name: str, arguments: list[str]) -> int:
    """Leave out lines equal to the one before."""
    taken = options(arguments, "cdui", "fsw")
    inputs = Inputs(process, name, taken.rest[:1])
    if len(taken.rest) > 1:
        process.replace(1, await access.open_file(process, taken.rest[1], "w"))
    groups: list[tuple[bytes, int]] = []
    async for _, line in inputs.lines():
        text = line.rstrip(b"\n")
        if groups and (groups[-1][0].lower() == text.lower() if taken.has("i") else groups[-1][0] == text):
            groups[-1] = (groups[-1][0], groups[-1][1] + 1)
        else:
            groups.append((text, 1))
    for text, count in groups:
        if (taken.has("d") and count == 1) or (taken.has("u") and count > 1):
            continue
        await process.write(1, (f"{count:7} ".encode() if taken.has("c") else b"") + text + b"\n")
    return inputs.status


def _ranges(text: str) -> list[tuple[int, float]]:
    ranges: list[tuple[int, float]] = []
    for part in text.split(","):
        first, dash, last = part.partition("-")
        if not (first or last) or (first and not first.isdecimal()) or (last and not last.isdecimal()):
            raise AppletError(f"bad list: {text}")
        ranges.append((int(first or 1), float(last) if last else float("inf") if dash else int(first)))
    return ranges


def _is_in(number: int, ranges: list[tuple[int, float]]) -> bool:
    return any(first <= number <= last for first, last in ranges)


async def cut(process: Process, name: str, arguments: list[str]) -> int:
    """Print fields, characters or bytes of each line."""
    taken = options(arguments, "sn", "fcbd")
    kind = next((kind for kind in "fcb" if kind in taken.values), None)
    if kind is None:
        raise AppletError("expected a list of bytes, characters, or fields")
    ranges = _ranges(taken.values[kind])
    delimiter = taken.values.get("d", "\t")
    inputs = Inputs(process, name, taken.rest)
    async for _, line in inputs.lines():
        text = line.decode(errors="surrogateescape").rstrip("\n")
        if kind != "f":
            result = "".join(char for place, char in enumerate(text, start=1) if _is_in(place, ranges))
        elif delimiter not in text:
            if taken.has("s"):
                continue
            result = text
        else:
            parts = text.split(delimiter)
            result = delimiter.join(part for place, part in enumerate(parts, start=1) if _is_in(place, ranges))
        await put(process, result + "\n")
    return inputs.status


_TR_CLASSES = {
    "alpha": "A-Za-z", "digit": "0-9", "alnum": "0-9A-Za-z", "upper": "A-Z", "lower": "a-z", "space": "\t\n\v\f\r ",
    "blank": "\t ", "punct": "!-/:-@[-`{-~",
}  # fmt: skip


def _tr_set(text: str) -> list[str]:
    text = re.sub(r"\[:(\w+):\]", lambda match: _TR_CLASSES.get(match[1], ""), text)
    characters: list[tuple[str, bool]] = []
    for match in re.finditer(r"\\([0-7]{1,3})|\\(.)|(.)", text, re.DOTALL):
        if match[1]:
            characters.append((chr(int(match[1], 8)), True))
        elif match[2]:
            characters.append(
                (
                    {"n": "\n", "t": "\t", "r": "\r", "a": "\a", "b": "\b", "f": "\f", "v": "\v"}.get(
                        match[2], match[2]
                    ),
                    True,
                )
            )
        else:
            characters.append((match[3], False))
    result: list[str] = []
    at = 0
    while at < len(characters):
        if at + 2 < len(characters) and characters[at + 1] == ("-", False):
            first, last = ord(characters[at][0]), ord(characters[at + 2][0])
            result.extend(chr(code) for code in range(first, last + 1))
            at += 3
        else:
            result.append(characters[at][0])
            at += 1
    return result


async def tr(process: Process, name: str, arguments: list[str]) -> int:
    """Replace, delete or squeeze characters."""
    taken = options(arguments, "dscC")
    if not taken.rest:
        raise AppletError("usage: tr [-cds] STRING1 [STRING2]")
    first = _tr_set(taken.rest[0])
    second = _tr_set(taken.rest[1]) if len(taken.rest) > 1 else []
    wanted = set(first)
    if taken.has("c", "C"):
        table = {}
    else:
        table = {char: (second[min(place, len(second) - 1)] if second else char) for place, char in enumerate(first)}
    squeezed = set(second or first) if taken.has("s") else set()
    last = ""
    while part := await process.fds[0].read(CHUNK_BYTES) if 0 in process.fds else b"":
        process.step()
        output: list[str] = []
        for char in part.decode("latin-1"):
            is_in = (char in wanted) != taken.has("c", "C")
            if is_in and taken.has("d"):
                continue
            new = (table.get(char) or (second[-1] if second else char)) if is_in and not taken.has("d") else char
            if new == last and new in squeezed:
                continue
            output.append(new)
            last = new
        await process.write(1, "".join(output).encode("latin-1"))
    return 0


async def tee(process: Process, name: str, arguments: list[str]) -> int:
    """Copy standard input to standard output and to files."""
    taken = options(arguments, "ai")
    files, status = [], 0
    for path in taken.rest:
        try:
            files.append(await access.open_file(process, path, "a" if taken.has("a") else "w"))
        except OSError as error:
            await complain(process, name, f"{path}: {error.strerror}")
            status = 1
    while part := await process.fds[0].read(CHUNK_BYTES) if 0 in process.fds else b"":
        await process.write(1, part)
        for file in files:
            await file.write(part)
    for file in files:
        file.release()
    return status


async def rev(process: Process, name: str, arguments: list[str]) -> int:
    """Turn each line round."""
    inputs = Inputs(process, name, arguments)
    async for _, line in inputs.lines():
        await put(process, line.decode(errors="surrogateescape").rstrip("\n")[::-1] + "\n")
    return inputs.status


async def tac(process: Process, name: str, arguments: list[str]) -> int:
    """Print the lines in the opposite order."""
    inputs = Inputs(process, name, arguments)
    lines = [line async for _, line in inputs.lines()]
    await process.write(1, b"".join(reversed(lines)))
    return inputs.status


async def nl(process: Process, name: str, arguments: list[str]) -> int:
    """Print lines with numbers, empty ones without."""
    inputs = Inputs(process, name, options(arguments, "p", "bnswvi").rest)
    number = 0
    async for _, line in inputs.lines():
        number += line != b"\n"
        await process.write(1, (f"{number:6}\t".encode() if line != b"\n" else b"       ") + line)
    return inputs.status
