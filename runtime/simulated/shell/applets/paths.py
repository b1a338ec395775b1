"""Words about paths: basename, dirname, readlink, realpath."""

from __future__ import annotations

import posixpath
from typing import TYPE_CHECKING

from runtime.simulated import access
from runtime.simulated.shell.applets.base import AppletError, complain, options, put
from runtime.simulated.tree import Symlink

if TYPE_CHECKING:
    from runtime.simulated.process import Process


async def basename(process: Process, name: str, arguments: list[str]) -> int:
    """Print the last part of a path."""
    if not arguments:
        raise AppletError("missing operand")
    text = posixpath.basename(arguments[0].rstrip("/")) or "/"
    suffix = arguments[1] if len(arguments) > 1 else ""
    await put(process, (text.removesuffix(suffix) if text != suffix else text) + "\n")
    return 0


async def dirname(process: Process, name: str, arguments: list[str]) -> int:
    """Print a path without its last part."""
    if not arguments:
        raise AppletError("missing operand")
    stripped = arguments[0].rstrip("/")
    await put(
        process, (posixpath.dirname(stripped).rstrip("/") or ("/" if arguments[0].startswith("/") else ".")) + "\n"
    )
    return 0


async def readlink(process: Process, name: str, arguments: list[str]) -> int:
    """Print where a symbolic link leads; with -f the whole path."""
    taken = options(arguments, "fenmv")
    for path in taken.rest:
        if taken.has("f", "e", "m"):
            await put(process, access.find(process, path).path + ("" if taken.has("n") else "\n"))
            continue
        node = access.get(process, path, follow=False)
        if not isinstance(node, Symlink):
            return 1
        await put(process, node.target + ("" if taken.has("n") else "\n"))
    return 0


async def realpath(process: Process, name: str, arguments: list[str]) -> int:
    """Print whole paths."""
    status = 0
    for path in arguments:
        try:
            await put(process, f"{access.find(process, path).path}\n")
        except OSError as error:
            await complain(process, name, f"{path}: {error.strerror}")
            status = 1
    return status
