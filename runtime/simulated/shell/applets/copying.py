"""dd, truncate and fallocate."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from runtime.simulated import access
from runtime.simulated.shell.applets.base import AppletError, complain, options
from runtime.simulated.shell.applets.text import MEMORY_SPEED_BYTES
from runtime.simulated.streams import ZeroFile
from runtime.simulated.tree import File

if TYPE_CHECKING:
    from runtime.simulated.process import Process
    from runtime.simulated.streams import OpenFile

_UNITS = {
    "": 1, "c": 1, "w": 2, "b": 512, "k": 1024, "K": 1024, "kB": 1000, "M": 1 << 20, "MB": 10**6,
    "G": 1 << 30, "GB": 10**9,
}  # fmt: skip
_DEFAULT_BLOCK = 512


def size(text: str) -> int:
    """Return a size like 60M in bytes; AppletError."""
    match = re.fullmatch(r"(\d+)([a-zA-Z]*)", text)
    if match is None or match[2] not in _UNITS:
        raise AppletError(f"invalid number '{text}'")
    return int(match[1]) * _UNITS[match[2]]


async def dd(process: Process, name: str, arguments: list[str]) -> int:
    """Copy blocks. A block is held in memory; without end it runs on until it is killed."""
    settings = dict(word.split("=", 1) for word in arguments if "=" in word)
    block = size(settings.get("bs") or settings.get("ibs") or str(_DEFAULT_BLOCK))
    count = size(settings["count"]) if "count" in settings else None
    await process.container.use_memory(process, block)
    source = await access.open_file(process, settings["if"], "r") if "if" in settings else process.fds[0]
    keeps = "notrunc" in settings.get("conv", "") or "seek" in settings
    target = (
        await access.open_file(process, settings["of"], "rw" if keeps else "w") if "of" in settings else process.fds[1]
    )
    if "skip" in settings:
        await source.read(size(settings["skip"]) * block)
    if "seek" in settings and hasattr(target, "position"):
        target.position = size(settings["seek"]) * block
    try:
        whole, part = await _copy(process, source, target, block, count)
    except OSError as error:
        await complain(process, name, f"error writing '{settings.get('of', 'standard output')}': {error.strerror}")
        return 1
    if settings.get("status") != "none":
        await process.write(2, f"{whole}+{part} records in\n{whole}+{part} records out\n".encode())
    return 0


async def _copy(process: Process, source: OpenFile, target: OpenFile, block: int, count: int | None) -> tuple[int, int]:
    """Copy and return how many blocks were whole, and how many not."""
    whole = part = 0
    while count is None or whole + part < count:
        data = await _block(source, block)
        if not data:
            break
        if count is None and isinstance(source, ZeroFile):
            await process.sleep(max(block, 1 << 20) / MEMORY_SPEED_BYTES)
        await target.write(data)
        if len(data) == block:
            whole += 1
        else:
            part += 1
    return whole, part


async def _block(source: OpenFile, block: int) -> bytes:
    if isinstance(source, ZeroFile):
        return bytes(block)
    data = b""
    while len(data) < block:
        more = await source.read(block - len(data))
        if not more:
            break
        data += more
    return data


async def truncate(process: Process, name: str, arguments: list[str]) -> int:
    """Set the size of files."""
    taken = options(arguments, "c", "s")
    wanted = size(taken.values.get("s", "0"))
    for path in taken.rest:
        (await access.open_file(process, path, "a")).release()
        node = access.get(process, path)
        if isinstance(node, File):
            node.resize(wanted)
    return 0


async def fallocate(process: Process, name: str, arguments: list[str]) -> int:
    """Make a file of a size."""
    taken = options(arguments, "", "lo")
    return await truncate(process, name, ["-s", taken.values.get("l", "0"), *taken.rest])
