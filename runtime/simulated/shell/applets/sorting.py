"""sort."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from attrs import frozen

from runtime.simulated import access
from runtime.simulated.shell.applets.base import AppletError, Inputs, options, put

if TYPE_CHECKING:
    from runtime.simulated.process import Process
    from runtime.simulated.shell.applets.base import Options

_KEY = re.compile(r"([1-9]\d*)(?:\.\d+)?([a-zA-Z]*)(?:,(\d+)(?:\.\d+)?([a-zA-Z]*))?")


@frozen
class _Order:
    """How lines are compared: the whole line or some fields, as numbers or text, backwards or not."""

    first: int
    last: int
    separator: str | None
    is_number: bool
    folds_case: bool
    is_reversed: bool

    @classmethod
    def of(cls, taken: Options) -> _Order:
        """Return the order that options ask for; AppletError."""
        first = last = 0
        flags = "".join(flag for flag in "nrfg" if taken.has(flag))
        if "k" in taken.values:
            match = _KEY.fullmatch(taken.values["k"])
            if match is None:
                raise AppletError("bad field specification", 2)
            first, last = int(match[1]), int(match[3] or 0)
            flags += match[2] + (match[4] or "")
        return cls(first, last, taken.values.get("t"), bool({"n", "g"} & set(flags)), "f" in flags, "r" in flags)

    def key(self, line: str) -> tuple[float, str]:
        """Return what is compared of a line."""
        text = line
        if self.first:
            parts = line.split(self.separator)
            text = (self.separator or " ").join(parts[self.first - 1 : self.last or len(parts)])
        if self.is_number:
            match = re.match(r"\s*(-?\d*\.?\d+)", text)
            return (float(match[1]) if match else 0.0, "")
        return (0.0, text.upper() if self.folds_case else text)


async def sort(process: Process, name: str, arguments: list[str]) -> int:
    """Sort lines."""
    taken = options(arguments, "nrufbgcszhMVdi", "kto")
    order = _Order.of(taken)
    inputs = Inputs(process, name, taken.rest)
    lines = [line.decode(errors="surrogateescape").rstrip("\n") async for _, line in inputs.lines()]
    if inputs.status:
        return 2
    if taken.has("c"):
        return int(lines != sorted(lines, key=order.key, reverse=order.is_reversed))
    if not taken.has("s"):
        lines.sort(reverse=taken.has("r"))
    lines.sort(key=order.key, reverse=order.is_reversed)
    if taken.has("u"):
        lines = list({order.key(line): line for line in reversed(lines)}.values())[::-1]
    text = "".join(f"{line}\n" for line in lines)
    if "o" in taken.values:
        file = await access.open_file(process, taken.values["o"], "w")
        await file.write(text.encode(errors="surrogateescape"))
        file.release()
    else:
        await put(process, text)
    return 0
