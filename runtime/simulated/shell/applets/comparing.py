"""Words that compare files: cmp, diff, comm."""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING

from runtime.simulated import access
from runtime.simulated.shell.applets.base import AppletError, UsageError, complain, open_input, options, put

if TYPE_CHECKING:
    from runtime.simulated.process import Process

_TROUBLE = 2


async def _both(process: Process, name: str, paths: list[str]) -> tuple[bytes, bytes] | None:
    """Return two files' content, None after a complaint."""
    found = []
    for path in paths[:2]:
        file = await open_input(process, name, path)
        if file is None:
            return None
        found.append(await access.read_all(file))
    return found[0], found[1]


async def cmp(process: Process, name: str, arguments: list[str]) -> int:
    """Say where two files differ first: 1 when they do."""
    taken = options(arguments, "sl")
    if not taken.rest:
        raise UsageError("[-ls] FILE1 [FILE2]")
    paths = [*taken.rest, "-"][:2]
    both = await _both(process, name, paths)
    if both is None:
        return _TROUBLE
    left, right = both
    if left == right:
        return 0
    place = next((at for at, pair in enumerate(zip(left, right, strict=False)) if pair[0] != pair[1]), None)
    if taken.has("s"):
        return 1
    if place is None:
        await complain(process, name, f"EOF on {paths[0] if len(left) < len(right) else paths[1]}")
    else:
        line = left.count(b"\n", 0, place) + 1
        await put(process, f"{paths[0]} {paths[1]} differ: char {place + 1}, line {line}\n")
    return 1


async def diff(process: Process, name: str, arguments: list[str]) -> int:
    """Show what differs between two files, as busybox does in the unified form; 1 when something does."""
    taken = options(arguments, "abBdiNqrTtsuw", "ULS")
    if len(taken.rest) != 2:
        raise UsageError("[-abBdiNqrTstw] [-L LABEL] [-S FILE] [-U LINES] FILE1 FILE2", _TROUBLE)
    for path in taken.rest:
        if path != "-" and access.get(process, path) is None and not taken.has("N"):
            raise AppletError(f"can't stat '{path}': No such file or directory", _TROUBLE)
    both = await _both(process, name, taken.rest)
    if both is None:
        return _TROUBLE
    if both[0] == both[1]:
        if taken.has("s"):
            await put(process, f"Files {taken.rest[0]} and {taken.rest[1]} are identical\n")
        return 0
    if taken.has("q"):
        await put(process, f"Files {taken.rest[0]} and {taken.rest[1]} differ\n")
        return 1
    left, right = (data.decode(errors="surrogateescape").splitlines(keepends=True) for data in both)
    context = int(taken.values.get("U", "3"))
    for line in difflib.unified_diff(left, right, taken.rest[0], taken.rest[1], n=context):
        await put(process, line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n")
    return 1


async def comm(process: Process, name: str, arguments: list[str]) -> int:
    """Show lines of two sorted files in three columns: only in the first, only in the second, in both."""
    taken = options(arguments, "123")
    if len(taken.rest) != 2:
        raise UsageError("[-123] FILE1 FILE2")
    both = await _both(process, name, taken.rest)
    if both is None:
        return 1
    columns: list[list[str]] = [data.decode(errors="surrogateescape").splitlines() for data in both]
    left, right = columns
    while left or right:
        column = 3 if left and right and left[0] == right[0] else 1 if left and (not right or left[0] < right[0]) else 2
        line = left.pop(0) if column != 2 else right.pop(0)
        if column == 3:
            right.pop(0)
        indent = sum(not taken.has(str(before)) for before in range(1, column))
        if not taken.has(str(column)):
            await put(process, "\t" * indent + line + "\n")
    return 0
