"""Words about parts of lines: uniq, cut, tr."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from runtime.simulated import access
from runtime.simulated.access import CHUNK_BYTES
from runtime.simulated.shell.applets.base import AppletError, Inputs, UsageError, options, put, whole_number

if TYPE_CHECKING:
    from runtime.simulated.process import Process
    from runtime.simulated.shell.applets.base import Options


async def uniq(process: Process, name: str, arguments: list[str]) -> int:
    """Leave out lines equal to the one before; -f and -s skip fields and characters, -w compares only so many."""
    taken = options(arguments, "cduiz", "fsw")
    inputs = Inputs(process, name, taken.rest[:1])
    groups: list[tuple[bytes, int]] = []
    async for _, line in inputs.lines():
        text = line.rstrip(b"\n")
        if groups and _compared(groups[-1][0], taken) == _compared(text, taken):
            groups[-1] = (groups[-1][0], groups[-1][1] + 1)
        else:
            groups.append((text, 1))
    if inputs.status:
        return inputs.status
    if len(taken.rest) > 1:
        process.replace(1, await access.open_file(process, taken.rest[1], "w"))
    for text, count in groups:
        if (taken.has("d") and count == 1) or (taken.has("u") and count > 1):
            continue
        await process.write(1, (f"{count:7} ".encode() if taken.has("c") else b"") + text + b"\n")
    return 0


def _compared(text: bytes, taken: Options) -> bytes:
    """Return the part of a line that uniq compares."""
    for _ in range(whole_number(taken.values.get("f", "0"))):
        text = re.sub(rb"^\s*\S*", b"", text)
    text = text[whole_number(taken.values.get("s", "0")) :]
    if "w" in taken.values:
        text = text[: whole_number(taken.values["w"])]
    return text.lower() if taken.has("i") else text


def _ranges(text: str) -> list[tuple[int, float]]:
    """Return the ranges of a list like 1,3-5,7-; AppletError."""
    ranges: list[tuple[int, float]] = []
    for part in text.split(","):
        first, dash, last = part.partition("-")
        for number in (first, last):
            if number and not number.isdecimal():
                raise AppletError(f"invalid number '{number}'")
        if not (first or last):
            raise AppletError(f"invalid range {part}" if part else "missing list of fields")
        ranges.append((int(first or 1), float(last) if last else float("inf") if dash else int(first)))
        if ranges[-1][1] < ranges[-1][0]:
            raise AppletError(f"{last}<{first}")
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
        raise UsageError("[-cds] STRING1 [STRING2]")
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
