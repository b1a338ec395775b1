"""Words that read text as lines: cat, head, tail, wc, tee, nl, rev, tac, paste, fold."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from runtime.simulated import access
from runtime.simulated.access import CHUNK_BYTES
from runtime.simulated.memory import room_of, use_memory
from runtime.simulated.shell.applets.base import AppletError, Inputs, complain, options, put, tell, whole_number
from runtime.simulated.shell.escapes import unescape
from runtime.simulated.tree import File

if TYPE_CHECKING:
    from runtime.simulated.process import Process
    from runtime.simulated.shell.applets.base import Options
    from runtime.simulated.streams import OpenFile

_SUFFIXES = {"": 1, "b": 512, "k": 1024, "K": 1024, "m": 1 << 20, "M": 1 << 20}


async def cat(process: Process, name: str, arguments: list[str]) -> int:
    """Print files one after the other: -n with numbers, -b with numbers of what isn't empty, -v, -t, -e visibly."""
    taken = options(arguments, "nbvteAu")
    inputs = Inputs(process, name, taken.rest)
    if not taken.flags - {"u"}:
        async for _, file in inputs.files():
            while part := await file.read(CHUNK_BYTES):
                process.step()
                await process.write(1, part)
        return inputs.status
    number = 0
    async for _, line in inputs.lines():
        is_numbered = (taken.has("b") and line != b"\n") or (taken.has("n") and not taken.has("b"))
        number += is_numbered
        prefix = f"{number:6}\t".encode() if is_numbered else b""
        await process.write(1, prefix + (_visible(line, taken) if taken.has("v", "t", "e", "A") else line))
    return inputs.status


def _visible(line: bytes, taken: Options) -> bytes:
    """Return a line with control characters as ^X and M-x, and with -e a $ at its end."""
    shown = b""
    for code in line.removesuffix(b"\n"):
        low = code & 127
        high = b"M-" if code > 127 else b""
        if low == 9 and not high and not taken.has("t", "A"):
            shown += b"\t"
        else:
            shown += high + (b"^" + bytes([low ^ 64]) if low < 32 or low == 127 else bytes([low]))
    end = b"$" if taken.has("e", "A") else b""
    return shown + (end + b"\n" if line.endswith(b"\n") else b"")


def _count(text: str) -> int:
    match = re.fullmatch(r"[-+]?(\d+)([bkKmM]?)", text)
    if match is None:
        raise AppletError(f"invalid number '{text}'")
    return int(match[1]) * _SUFFIXES[match[2]]


def _line_options(arguments: list[str], flags: str, valued: str = "") -> Options:
    """Read the options of head and tail, whose -5 means -n 5."""
    words: list[str] = []
    for word in arguments:
        is_value = bool(words) and words[-1] in {"-n", "-c"}
        words += ["-n", word[1:]] if re.fullmatch(r"-\d+", word) and not is_value else [word]
    return options(words, flags, "nc" + valued, {"lines": "n", "bytes": "c", "follow": "f"})


async def head(process: Process, name: str, arguments: list[str]) -> int:
    """Print the first lines or bytes; with a count below 0 all but the last."""
    taken = _line_options(arguments, "qv")
    inputs = Inputs(process, name, taken.rest)
    number = 0
    async for path, file in inputs.files():
        await _title(process, taken, path, number)
        number += 1
        await _head(process, file, taken)
    return inputs.status


async def _title(process: Process, taken: Options, path: str, number: int) -> None:
    """Print the line that head and tail put before each of several files."""
    if (len(taken.rest) > 1 or taken.has("v")) and not taken.has("q"):
        shown = "standard input" if path == "-" else path
        await put(process, f"{chr(10) if number else ''}==> {shown} <==\n")


async def _head(process: Process, file: OpenFile, taken: Options) -> None:
    text = taken.values.get("c") or taken.values.get("n") or "10"
    count = _count(text)
    if text.startswith("-"):
        data = await access.read_all(file)
        lines = data.splitlines(keepends=True)
        kept = (
            data[: max(0, len(data) - count)] if "c" in taken.values else b"".join(lines[: max(0, len(lines) - count)])
        )
        await process.write(1, kept)
        return
    while count > 0 and (part := await (file.read(count) if "c" in taken.values else _read_line(file))):
        count -= len(part) if "c" in taken.values else 1
        await process.write(1, part)


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
    taken = _line_options(words, "fFqv", "s")
    inputs = Inputs(process, name, taken.rest)
    if taken.has("F") and taken.rest:
        await _wait_until_there(process, taken.rest[0])
    number = 0
    async for path, file in inputs.files():
        await _title(process, taken, path, number)
        number += 1
        await process.write(1, _last(await _read_with_memory(process, file), taken))
        if taken.has("f", "F") and path == inputs.paths[-1]:
            await _follow(process, path, file)
    if inputs.status and not number:
        await tell(process, f"{name}: no files")
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
    """Use memory up to the limit and over it, in the time that this takes, until the kernel kills this process."""
    while True:
        room = room_of(process.container)
        await process.sleep(max(0, room - process.memory_bytes) / MEMORY_SPEED_BYTES)
        await use_memory(process, room + 1)


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
    if len(taken.rest) > 1:
        rows.append((totals, "total"))
    for row, path in rows:
        cells = [str(count) for count in row.values()]
        if len(cells) > 1 or len(taken.rest) > 1:
            cells = [f"{cell:>9}" for cell in cells]
        await put(process, " ".join([*cells, path]).rstrip() + "\n" if path else " ".join(cells) + "\n")
    return inputs.status


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
        end = "\n" if line.endswith(b"\n") else ""
        await put(process, line.decode(errors="surrogateescape").removesuffix("\n")[::-1] + end)
    return inputs.status


async def tac(process: Process, name: str, arguments: list[str]) -> int:
    """Print the lines in the opposite order."""
    inputs = Inputs(process, name, arguments)
    lines = [line async for _, line in inputs.lines()]
    await process.write(1, b"".join(reversed(lines)))
    return inputs.status


async def nl(process: Process, name: str, arguments: list[str]) -> int:
    """Print lines with numbers, empty ones without unless -b a asks for them."""
    taken = options(arguments, "p", "bnswvi")
    inputs = Inputs(process, name, taken.rest)
    number = 0
    async for _, line in inputs.lines():
        is_numbered = line != b"\n" or taken.values.get("b") == "a"
        number += is_numbered
        await process.write(1, (f"{number:6}\t".encode() if is_numbered else b"       ") + line)
    return inputs.status


async def paste(process: Process, name: str, arguments: list[str]) -> int:
    """Join lines of several files, or with -s those of each file."""
    taken = options(arguments, "s", "d")
    delimiters = unescape(taken.values.get("d", "\t"))[0] or "\0"
    inputs = Inputs(process, name, taken.rest)
    columns = [
        (await access.read_all(file)).decode(errors="surrogateescape").splitlines() async for _, file in inputs.files()
    ]
    for row in columns if taken.has("s") else _across(columns):
        joined = "".join(
            cell + (delimiters[place % len(delimiters)] if place < len(row) - 1 else "\n")
            for place, cell in enumerate(row)
        )
        await put(process, joined.replace("\0", ""))
    return inputs.status


def _across(columns: list[list[str]]) -> list[list[str]]:
    """Return the rows of columns; one that is over has no part in a row, as in busybox."""
    rows = range(max(map(len, columns), default=0))
    return [[column[row] for column in columns if row < len(column)] for row in rows]


async def fold(process: Process, name: str, arguments: list[str]) -> int:
    """Break lines that are too long, with -s behind a blank."""
    taken = options(arguments, "bs", "w")
    width = whole_number(taken.values.get("w", "80"))
    inputs = Inputs(process, name, taken.rest)
    async for _, raw in inputs.lines():
        line = raw.decode(errors="surrogateescape")
        while len(line.removesuffix("\n")) > width:
            cut = line.rfind(" ", 0, width) + 1 if taken.has("s") else 0
            await put(process, line[: cut or width] + "\n")
            line = line[cut or width :]
        await put(process, line)
    return inputs.status
