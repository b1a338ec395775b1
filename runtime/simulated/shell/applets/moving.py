"""cp, mv, ln."""

from __future__ import annotations

import posixpath
from typing import TYPE_CHECKING

from runtime.simulated import access
from runtime.simulated.shell.applets.base import UsageError, complain, options, put
from runtime.simulated.tree import Directory, File, Symlink, plain

if TYPE_CHECKING:
    from runtime.simulated.process import Process
    from runtime.simulated.shell.applets.base import Options
    from runtime.simulated.tree import Entry


def _sources_and_target(taken: Options, usage: str) -> tuple[list[str], str]:
    """Return what is copied or moved, and where to; UsageError."""
    if "t" in taken.values and taken.rest:
        return taken.rest, taken.values["t"]
    if len(taken.rest) < 2:
        raise UsageError(usage)
    return taken.rest[:-1], taken.rest[-1]


def _destination(process: Process, source: str, target: str, *, into: bool) -> str:
    """Return the path that a source gets, below the target when that is a directory."""
    if not into:
        return target
    last = posixpath.basename(source.rstrip("/"))
    return f"{target.rstrip('/')}/{last}" if last not in {"..", ""} else target


def _goes_into(process: Process, sources: list[str], target: str, taken: Options) -> bool:
    if taken.has("T"):
        return False
    return len(sources) > 1 or isinstance(access.get(process, target), Directory)


async def cp(process: Process, name: str, arguments: list[str]) -> int:
    """Copy files, and directories with -r or -a."""
    taken = options(arguments, "arRpdfiLPHvTunsl", "t")
    sources, target = _sources_and_target(taken, "[-arPLHpfinlsTu] SOURCE... DEST")
    into = _goes_into(process, sources, target, taken)
    status = 0
    for source in sources:
        node = access.get(process, source, follow=not taken.has("a", "d", "P", "R", "r") or source.endswith("/"))
        if taken.has("s"):
            path = _destination(process, source, target, into=into)
            problem = _copy_as_link(process, source, path)
        elif node is None:
            problem = f"can't stat '{source}': No such file or directory"
        elif isinstance(node, Directory) and not taken.has("a", "r", "R"):
            problem = f"omitting directory '{source}'"
        else:
            path = _destination(process, source, target, into=into)
            problem = await _copy(process, source, node, path, taken)
        if problem:
            await complain(process, name, problem)
            status = 1
    return status


async def _copy(process: Process, source: str, node: Entry, target: str, taken: Options) -> str:
    """Copy one file or tree and return what went wrong, "" for nothing."""
    present = access.get(process, target)
    if present is node and node is not None:
        return f"'{source}' and '{target}' are the same file"
    if taken.has("n") and present is not None:
        return ""
    try:
        if isinstance(node, Directory):
            return await _copy_directory(process, source, node, target, taken)
        await _copy_file(process, source, node, target, taken)
    except OSError as error:
        return f"can't create '{target}': {error.strerror}"
    if taken.has("v"):
        await put(process, f"'{source}' -> '{target}'\n")
    return ""


def _copy_as_link(process: Process, source: str, target: str) -> str:
    try:
        access.create(process, target, Symlink(source))
    except OSError as error:
        return f"can't create symlink '{target}' to '{source}': {error.strerror}"
    return ""


async def _copy_directory(process: Process, source: str, node: Directory, target: str, taken: Options) -> str:
    present = access.get(process, target)
    if present is not None and not isinstance(present, Directory):
        return f"target '{target}' is not a directory"
    children = sorted(node.children)
    if present is None:
        access.create(process, target, Directory(mode=node.mode))
    problem = ""
    for name in children:
        child = plain(node.children[name])
        if child is not None:
            problem = (
                await _copy(process, f"{source.rstrip('/')}/{name}", child, f"{target.rstrip('/')}/{name}", taken)
                or problem
            )
    return problem


async def _copy_file(process: Process, source: str, node: Entry, target: str, taken: Options) -> None:
    if isinstance(node, Symlink):
        if access.get(process, target, follow=False) is not None:
            access.remove(process, target)
        access.create(process, target, Symlink(node.target))
        return
    data = await access.read_path(process, source)
    is_new = access.get(process, target) is None
    file = await access.open_file(process, target, "w")
    await file.write(data)
    file.release()
    copied = access.get(process, target)
    if copied is not None and isinstance(node, File):
        if taken.has("p", "a"):
            copied.mode, copied.mtime, copied.uid, copied.gid = node.mode, node.mtime, node.uid, node.gid
        elif is_new:
            copied.mode = node.mode & ~process.umask


async def mv(process: Process, name: str, arguments: list[str]) -> int:
    """Move files, also out of one volume into another."""
    taken = options(arguments, "finTv", "t")
    sources, target = _sources_and_target(taken, "[-finT] SOURCE... DEST")
    into = _goes_into(process, sources, target, taken)
    status = 0
    for source in sources:
        path = _destination(process, source, target, into=into)
        try:
            problem = _move(process, source, path, keeps=taken.has("n"))
        except OSError as error:
            problem = f"can't rename '{source}': {error.strerror}"
        if problem:
            await complain(process, name, problem)
            status = 1
        elif taken.has("v"):
            await put(process, f"'{source}' -> '{path}'\n")
    return status


def _move(process: Process, source: str, path: str, *, keeps: bool) -> str:
    """Move one file; return what is wrong with it, "" for nothing. OSError."""
    node = access.need(process, source, follow=False)
    present = access.get(process, path, follow=False)
    if present is node or (keeps and present is not None):
        return ""
    if isinstance(present, Directory) and not isinstance(node, Directory):
        return f"can't rename '{source}': Is a directory"
    access.check_parent(process, path)
    if present is not None:
        access.remove(process, path)
    access.remove(process, source)
    owner = node.uid, node.gid
    times = node.mtime
    access.create(process, path, node)
    node.uid, node.gid = owner
    node.mtime = times
    return ""


async def ln(process: Process, name: str, arguments: list[str]) -> int:
    """Make links, symbolic ones with -s."""
    taken = options(arguments, "sfnTbv", "S")
    if not taken.rest:
        raise UsageError("[-sfnbtv] [-S SUF] TARGET... LINK|DIR")
    sources, target = (taken.rest, ".") if len(taken.rest) == 1 else (taken.rest[:-1], taken.rest[-1])
    status = 0
    for source in sources:
        is_directory = isinstance(access.get(process, target, follow=not taken.has("n")), Directory)
        path = _destination(process, source, target, into=is_directory and not taken.has("T"))
        if not taken.has("s") and access.get(process, source) is None:
            await complain(process, name, f"{source}: No such file or directory")
            status = 1
            continue
        try:
            if taken.has("f") and access.get(process, path, follow=False) is not None:
                access.remove(process, path)
            access.create(process, path, Symlink(source)) if taken.has("s") else _link(process, source, path)
        except OSError as error:
            await complain(process, name, f"{path}: {error.strerror}")
            status = 1
    return status


def _link(process: Process, source: str, path: str) -> None:
    node = access.need(process, source)
    before = node.uid, node.gid, node.mtime
    access.create(process, path, node)
    node.uid, node.gid, node.mtime = before


async def link(process: Process, name: str, arguments: list[str]) -> int:
    """Make a hard link (`link`), or take a name away (`unlink`)."""
    wanted = 1 if name == "unlink" else 2
    if len(arguments) != wanted:
        raise UsageError("FILE" if wanted == 1 else "FILE LINK")
    try:
        if wanted == 1:
            access.remove(process, arguments[0])
        else:
            _link(process, arguments[0], arguments[1])
    except OSError as error:
        text = (
            f"can't remove file '{arguments[0]}'"
            if wanted == 1
            else f"can't create link '{arguments[1]}' to '{arguments[0]}'"
        )
        await complain(process, name, f"{text}: {error.strerror}")
        return 1
    return 0
