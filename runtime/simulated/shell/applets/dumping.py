"""Words that show bytes: od, hexdump, xxd."""

from __future__ import annotations

from typing import TYPE_CHECKING

from runtime.simulated.shell.applets.base import AppletError, Inputs, options, put, whole_number

if TYPE_CHECKING:
    from collections.abc import Callable

    from runtime.simulated.process import Process

    Row = Callable[[bytes], str]
    """Shows up to 16 bytes."""

_WIDTH = 16
_NAMES = {0: r"\0", 7: r"\a", 8: r"\b", 9: r"\t", 10: r"\n", 11: r"\v", 12: r"\f", 13: r"\r"}


def _numbers(form: str, size: int, *, is_signed: bool = False) -> Row:
    def row(data: bytes) -> str:
        padded = data + bytes(-len(data) % size)
        chunks = (padded[at : at + size] for at in range(0, len(padded), size))
        return "".join(" " + form.format(int.from_bytes(chunk, "little", signed=is_signed)) for chunk in chunks)

    return row


def _characters(data: bytes) -> str:
    return "".join(" " + _character(code).rjust(3) for code in data)


def _character(code: int) -> str:
    return _NAMES.get(code) or (chr(code) if 32 <= code < 127 else f"{code:03o}")


_OCTAL_DIGITS = {1: 3, 2: 6, 4: 11, 8: 22}
_UNSIGNED_DIGITS = {1: 3, 2: 5, 4: 10, 8: 20}
_SIGNED_DIGITS = {1: 4, 2: 6, 4: 11, 8: 20}


def _row_of(kind: str) -> Row:
    """Return how `od -t` shows bytes: a letter and a size; AppletError."""
    letter, size = kind[:1], int(kind[1:] or "4") if kind[1:].isdecimal() or not kind[1:] else 0
    if letter == "c":
        return _characters
    if size not in _OCTAL_DIGITS or letter not in "xoud":
        raise AppletError(f"invalid type string '{kind}'")
    match letter:
        case "x":
            return _numbers(f"{{:0{size * 2}x}}", size)
        case "o":
            return _numbers(f"{{:0{_OCTAL_DIGITS[size]}o}}", size)
        case "u":
            return _numbers(f"{{:{_UNSIGNED_DIGITS[size]}}}", size)
    return _numbers(f"{{:{_SIGNED_DIGITS[size]}}}", size, is_signed=True)


async def od(process: Process, name: str, arguments: list[str]) -> int:
    """Show bytes: `od [-An] [-t type] [-N count] [-bcdox] [files]`."""
    taken = options(arguments, "bcdoxv", "AtNj")
    short = {"b": "o1", "c": "c", "d": "u2", "o": "o2", "x": "x2"}
    kinds = [short[flag] for flag in "bcdox" if taken.has(flag)] + taken.lists.get("t", [])
    rows = [_row_of(kind) for kind in kinds or ["o2"]]
    inputs = Inputs(process, name, taken.rest)
    data = (await inputs.text())[whole_number(taken.values.get("j", "0")) :]
    if "N" in taken.values:
        data = data[: whole_number(taken.values["N"])]
    base = {"n": None, "d": "{:07d}", "x": "{:06x}"}.get(taken.values.get("A", "o"), "{:07o}")
    for at in range(0, len(data), _WIDTH):
        for place, row in enumerate(rows):
            offset = "" if base is None else base.format(at) if not place else " " * 7
            await put(process, f"{offset}{row(data[at : at + _WIDTH])}\n")
    if base is not None:
        await put(process, f"{base.format(len(data))}\n")
    return inputs.status


def _text(data: bytes) -> str:
    return "".join(chr(code) if 32 <= code < 127 else "." for code in data)


async def hexdump(process: Process, name: str, arguments: list[str]) -> int:
    """Show bytes in hexadecimal, with -C as text too."""
    taken = options(arguments, "bcCdoxv", "efns")
    inputs = Inputs(process, name, taken.rest)
    data = await inputs.text()
    if "n" in taken.values:
        data = data[: whole_number(taken.values["n"])]
    words = _numbers("{:04x}", 2)
    for at in range(0, len(data), _WIDTH):
        row = data[at : at + _WIDTH]
        if taken.has("C"):
            halves = row[:8].hex(" "), row[8:].hex(" ")
            await put(process, f"{at:08x}  {halves[0]:<23}  {halves[1]:<23}  |{_text(row)}|\n")
        else:
            await put(process, f"{at:07x}{words(row)}\n")
    if data:
        await put(process, f"{len(data):08x}\n" if taken.has("C") else f"{len(data):07x}\n")
    return inputs.status


async def xxd(process: Process, name: str, arguments: list[str]) -> int:
    """Show bytes in hexadecimal and as text, with -p in hexadecimal alone, with -r -p back again."""
    taken = options(arguments, "pr", "lcgs")
    inputs = Inputs(process, name, taken.rest)
    data = await inputs.text()
    if taken.has("r"):
        await process.write(1, bytes.fromhex("".join(data.decode().split())))
        return inputs.status
    data = data[: whole_number(taken.values["l"])] if "l" in taken.values else data
    width = whole_number(taken.values.get("c", "30" if taken.has("p") else "16"))
    for at in range(0, len(data), width):
        row = data[at : at + width]
        if taken.has("p"):
            await put(process, row.hex() + "\n")
        else:
            pairs = " ".join(row[place : place + 2].hex() for place in range(0, len(row), 2))
            await put(process, f"{at:08x}: {pairs:<{width * 5 // 2 - 1}}  {_text(row)}\n")
    return inputs.status
