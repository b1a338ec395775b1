"""base64, and sums of files."""

from __future__ import annotations

import base64 as encoding
import hashlib
import re
from typing import TYPE_CHECKING

from runtime.simulated import access
from runtime.simulated.shell.applets.base import AppletError, Inputs, complain, open_input, options, put

if TYPE_CHECKING:
    from runtime.simulated.process import Process

_WRAP = 76


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


_ROW = re.compile(r"([0-9a-f]+) [ *](.*)")


async def checksum(process: Process, name: str, arguments: list[str]) -> int:
    """Print digests of files, or check those of a list with -c; the word's name says which: md5sum and so on."""
    taken = options(arguments, "btcsw")
    if taken.has("c"):
        return await _check(process, name, taken.rest or ["-"], is_silent=taken.has("s"))
    inputs = Inputs(process, name, taken.rest)
    async for path, file in inputs.files():
        try:
            digest = _digest(name, await access.read_all(file))
        except IsADirectoryError as error:
            await complain(process, name, f"can't read '{path}': {error.strerror}")
            inputs.status = 1
            continue
        await put(process, f"{digest}  {path}\n")
    return inputs.status


def _digest(name: str, data: bytes) -> str:
    return hashlib.new(name.removesuffix("sum"), data, usedforsecurity=False).hexdigest()


async def _check(process: Process, name: str, lists: list[str], *, is_silent: bool) -> int:
    """Compare files with the digests of lists: 1 when one differs or is missing."""
    rows = [row for path in lists if (file := await open_input(process, name, path)) is not None
            for row in (await access.read_all(file)).decode(errors="surrogateescape").splitlines()]  # fmt: skip
    failed = 0
    for row in rows:
        match = _ROW.fullmatch(row)
        file = await open_input(process, name, match[2]) if match else None
        is_right = match is not None and file is not None and _digest(name, await access.read_all(file)) == match[1]
        failed += not is_right
        if match and not is_silent:
            await put(process, f"{match[2]}: {'OK' if is_right else 'FAILED'}\n")
    if failed and not is_silent:
        await complain(process, name, f"WARNING: {failed} of {len(rows)} computed checksums did NOT match")
    return int(bool(failed))
