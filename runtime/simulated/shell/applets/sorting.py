"""sort."""

from __future__ import annotations

import functools
import re
from typing import TYPE_CHECKING

from attrs import frozen

from runtime.simulated import access
from runtime.simulated.shell.applets.base import AppletError, Inputs, options, put

if TYPE_CHECKING:
    from runtime.simulated.process import Process
    from runtime.simulated.shell.applets.base import Options

_KEY = re.compile(r"(\d+)(?:\.(\d+))?([a-zA-Z]*)(?:,(\d+)(?:\.(\d+))?([a-zA-Z]*))?")
_NUMBER = re.compile(r"\s*([-+]?(?:\d+\.?\d*|\.\d+))")
_MONTHS = ("", "JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC")
_ORDERING = frozenset("ngMVrdfib")
_FAULT = 2


@frozen
class _Key:
    """Fields from `first` (character `first_char`) to `last` (0 is the end), and how they are compared."""

    first: int
    first_char: int
    last: int
    last_char: int
    flags: frozenset[str]
    separator: str | None

    def text(self, line: str) -> str:
        """Return what is compared of a line."""
        start, end = _skip(line, self.first - 1, self.separator), len(line)
        if self.last:
            end = _skip(line, self.last - 1, self.separator)
            end = _field_end(line, end, self.separator) if not self.last_char else min(len(line), end + self.last_char)
        if "b" in self.flags:
            start += len(line[start:]) - len(line[start:].lstrip())
        if self.first_char:
            start += self.first_char - 1
        text = line[start:end]
        if "d" in self.flags:
            text = "".join(char for char in text if char.isspace() or char.isalnum())
        return text.upper() if "f" in self.flags else text

    def compare(self, left: str, right: str) -> int:
        """Return how two lines stand by this key: below, at or above 0."""
        first, second = self.value(left), self.value(right)
        result = (first > second) - (first < second)
        return -result if "r" in self.flags else result

    def value(self, line: str) -> tuple[float, tuple[tuple[int, str], ...], str]:
        """Return what stands for a line in comparisons."""
        text = self.text(line)
        if self.flags & {"n", "g"}:
            match = _NUMBER.match(text)
            return (float(match[1]) if match else 0.0, (), "")
        if "M" in self.flags:
            name = text.strip()[:3].upper()
            return (float(_MONTHS.index(name)) if name in _MONTHS else 0.0, (), "")
        if "V" in self.flags:
            pieces = re.findall(r"\d+|\D+", text)
            return (0.0, tuple((int(piece), "") if piece.isdecimal() else (-1, piece) for piece in pieces), "")
        return (0.0, (), text)


def _skip(line: str, count: int, separator: str | None) -> int:
    """Return where the field behind `count` others begins; without a separator its blanks belong to it."""
    at = 0
    for _ in range(count):
        at = _field_end(line, at, separator)
        if separator is not None and at < len(line):
            at += 1
    return at


def _field_end(line: str, at: int, separator: str | None) -> int:
    if separator is not None:
        found = line.find(separator, at)
        return len(line) if found < 0 else found
    match = re.compile(r"\s*\S*").match(line, at)
    return match.end() if match else at


@frozen
class _Order:
    """All keys of a command line; the whole line decides when they are equal, unless it is stable."""

    keys: tuple[_Key, ...]
    flags: frozenset[str]
    is_stable: bool

    @classmethod
    def of(cls, taken: Options) -> _Order:
        """Return the order that options ask for; AppletError."""
        flags = frozenset(taken.flags & _ORDERING)
        keys = [_key(text, flags, taken.values.get("t")) for text in taken.lists.get("k", [])]
        return cls(tuple(keys or [_Key(1, 0, 0, 0, flags, None)]), flags, taken.has("s", "u"))

    def compare(self, left: str, right: str) -> int:
        """Return how two lines stand."""
        for key in self.keys:
            result = key.compare(left, right)
            if result:
                return result
        if self.is_stable:
            return 0
        result = (left > right) - (left < right)
        return -result if "r" in self.flags else result


def _key(text: str, flags: frozenset[str], separator: str | None) -> _Key:
    match = _KEY.fullmatch(text)
    if match is None or match[1] == "0":
        raise AppletError("bad field specification", _FAULT)
    own = frozenset((match[3] or "") + (match[6] or "")) & _ORDERING
    numbers = [int(match[place] or 0) for place in (1, 2, 4, 5)]
    return _Key(numbers[0], numbers[1], numbers[2], numbers[3], own or flags, separator)


async def sort(process: Process, name: str, arguments: list[str]) -> int:
    """Sort lines."""
    try:
        taken = options(arguments, "nrufbgcszMVdim", "kto")
    except AppletError as error:
        raise AppletError(str(error), _FAULT) from error
    order = _Order.of(taken)
    end = "\0" if taken.has("z") else "\n"
    inputs = Inputs(process, name, taken.rest)
    data = (await inputs.text()).decode(errors="surrogateescape")
    if inputs.status:
        return _FAULT
    lines = data.removesuffix(end).split(end) if data else []
    if taken.has("c"):
        return await _check(process, order, lines, is_strict=taken.has("u"))
    lines.sort(key=functools.cmp_to_key(order.compare))
    if taken.has("u"):
        lines = [line for place, line in enumerate(lines) if not place or order.compare(lines[place - 1], line)]
    text = "".join(f"{line}{end}" for line in lines)
    if "o" in taken.values:
        file = await access.open_file(process, taken.values["o"], "w")
        await file.write(text.encode(errors="surrogateescape"))
        file.release()
    else:
        await put(process, text)
    return 0


async def _check(process: Process, order: _Order, lines: list[str], *, is_strict: bool) -> int:
    for place in range(1, len(lines)):
        if order.compare(lines[place - 1], lines[place]) >= int(not is_strict):
            await process.write(2, f"Check line {place}\n".encode())
            return 1
    return 0
