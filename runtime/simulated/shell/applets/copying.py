"""dd, truncate and fallocate."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from runtime.simulated import access
from runtime.simulated.memory import use_memory
from runtime.simulated.shell.applets.base import AppletError, UsageError, complain, options, tell
from runtime.simulated.shell.applets.text import MEMORY_SPEED_BYTES
from runtime.simulated.streams import ZeroFile
from runtime.simulated.tree import File, RegularFile

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


_NAMES = frozenset({"bs", "ibs", "obs", "count", "skip", "seek", "if", "of", "conv", "status", "iflag", "oflag"})
_CONVERSIONS = frozenset({"notrunc", "sync", "noerror", "fsync", "swab"})


def _settings(arguments: list[str]) -> dict[str, str]:
    settings: dict[str, str] = {}
    for word in arguments:
        key, has_value, value = word.partition("=")
        if not has_value or key not in _NAMES:
            raise UsageError("[if=FILE] [of=FILE] [bs=N] [count=N] [skip=N] [seek=N] [conv=notrunc|noerror|sync|fsync]")
        if key == "conv" and not set(value.split(",")) <= _CONVERSIONS:
            raise AppletError(f"invalid argument '{value}' to 'conv'")
        settings[key] = value
    return settings


async def _open(process: Process, path: str, mode: str) -> OpenFile:
    try:
        return await access.open_file(process, path, mode)
    except OSError as error:
        raise AppletError(f"can't open '{path}': {error.strerror}") from error


async def dd(process: Process, name: str, arguments: list[str]) -> int:
    """Copy blocks. A block is held in memory; without end it runs on until it is killed."""
    settings = _settings(arguments)
    block = size(settings.get("bs") or settings.get("ibs") or str(_DEFAULT_BLOCK))
    count = size(settings["count"]) if "count" in settings else None
    seek = size(settings.get("seek", "0")) * block
    await use_memory(process, block)
    source = await _open(process, settings["if"], "r") if "if" in settings else process.fds[0]
    target = await _open(process, settings["of"], "rw") if "of" in settings else process.fds[1]
    if isinstance(target, RegularFile) and "of" in settings:
        if "notrunc" not in settings.get("conv", ""):
            target.node.resize(seek)
        target.position = seek
    if "skip" in settings:
        await _block(source, size(settings["skip"]) * block)
    try:
        whole, part = await _copy(process, source, target, block, count)
    except BrokenPipeError:
        raise
    except OSError as error:
        text = "error writing" if not isinstance(error, IsADirectoryError) else "error reading"
        await complain(process, name, f"{text} '{settings.get('of', 'standard output')}': {error.strerror}")
        return 1
    if settings.get("status") != "none":
        await tell(process, f"{whole}+{part} records in\n{whole}+{part} records out")
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
    if "s" not in taken.values or not taken.rest:
        raise UsageError("[-c] -s SIZE FILE...")
    wanted = size(taken.values["s"])
    for path in taken.rest:
        if access.get(process, path) is None and taken.has("c"):
            continue
        (await access.open_file(process, path, "a")).release()
        node = access.get(process, path)
        if isinstance(node, File):
            node.resize(wanted)
    return 0


async def fallocate(process: Process, name: str, arguments: list[str]) -> int:
    """Make a file of a size."""
    taken = options(arguments, "", "lo")
    if "l" not in taken.values or len(taken.rest) != 1:
        raise UsageError("[-o OFS] -l LEN FILE")
    return await truncate(process, name, ["-s", taken.values["l"], *taken.rest])
