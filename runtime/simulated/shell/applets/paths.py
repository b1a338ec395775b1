"""Words about paths: basename, dirname, readlink, realpath."""

from __future__ import annotations

import errno
import posixpath
from typing import TYPE_CHECKING

from runtime.simulated import access
from runtime.simulated.shell.applets.base import UsageError, complain, options, put
from runtime.simulated.tree import Symlink, os_error

if TYPE_CHECKING:
    from runtime.simulated.process import Process
    from runtime.simulated.shell.applets.base import Options


async def basename(process: Process, name: str, arguments: list[str]) -> int:
    """Print the last part of a path, without a suffix if one is given."""
    taken = _leading(arguments, "a", "s")
    paths, suffix = taken.rest, taken.values.get("s", "")
    if not taken.has("a", "s") and len(paths) == 2:
        suffix = paths.pop()
    if not paths or (len(paths) > 1 and not taken.has("a", "s")):
        raise UsageError("FILE [SUFFIX] | -a FILE... | -s SUFFIX FILE...")
    for path in paths:
        text = posixpath.basename(path.rstrip("/")) or path[:1]
        await put(process, (text.removesuffix(suffix) if text != suffix else text) + "\n")
    return 0


def _leading(arguments: list[str], flags: str, valued: str = "") -> Options:
    """Read options that stand in front alone."""
    end = next(
        (place for place, word in enumerate(arguments) if not word.startswith("-") or word == "-"), len(arguments)
    )
    return options(arguments[:end] + ["--"] * ("--" not in arguments[:end]) + arguments[end:], flags, valued)


async def dirname(process: Process, name: str, arguments: list[str]) -> int:
    """Print a path without its last part."""
    paths = _leading(arguments, "").rest
    if len(paths) != 1:
        raise UsageError("FILENAME")
    stripped = paths[0].rstrip("/")
    found = posixpath.dirname(stripped).rstrip("/") or ("/" if paths[0].startswith("/") else ".")
    await put(process, found + "\n")
    return 0


async def readlink(process: Process, name: str, arguments: list[str]) -> int:
    """Print where a symbolic link leads; with -f the whole path."""
    taken = options(arguments, "fenmvsq")
    if not taken.rest:
        raise UsageError("[-fnv] FILE")
    end = "" if taken.has("n") else "\n"
    for path in taken.rest:
        if taken.has("f", "e", "m"):
            try:
                found = access.find(process, path)
            except OSError:
                return 1
            if found.node is None:
                return 1
            await put(process, found.path + end)
            continue
        node = access.get(process, path, follow=False)
        if not isinstance(node, Symlink):
            return 1
        await put(process, node.target + end)
    return 0


async def realpath(process: Process, name: str, arguments: list[str]) -> int:
    """Print whole paths."""
    if not arguments:
        raise UsageError("FILE...")
    status = 0
    for path in options(arguments, "").rest:
        try:
            found = access.find(process, path)
            if found.node is None:
                raise os_error(errno.ENOENT, path)
            await put(process, f"{found.path}\n")
        except OSError as error:
            await complain(process, name, f"{path}: {error.strerror}")
            status = 1
    return status
