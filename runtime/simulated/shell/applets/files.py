"""Words that make and remove files: touch, rm, rmdir, mkdir, mkfifo, mknod, mktemp."""

from __future__ import annotations

import errno
import posixpath
from typing import TYPE_CHECKING

from runtime.simulated import access
from runtime.simulated.shell.applets.base import AppletError, UsageError, complain, options, put
from runtime.simulated.shell.applets.dates import parse_date
from runtime.simulated.shell.applets.modes import new_mode
from runtime.simulated.streams import Pipe
from runtime.simulated.tree import Directory, Fifo, File, os_error

if TYPE_CHECKING:
    from runtime.simulated.process import Process
    from runtime.simulated.tree import Entry

TEMPORARY = "/tmp"  # noqa: S108 - a path of the simulation


async def touch(process: Process, name: str, arguments: list[str]) -> int:
    """Make empty files, or set their times: to now, to -d or -t, or to those of another file (-r)."""
    taken = options(arguments, "camh", "drt")
    if not taken.rest:
        raise UsageError("[-cham] [-d DATE] [-t DATE] [-r FILE] FILE...")
    at = process.container.tree.now()
    text = taken.values.get("d") or taken.values.get("t")
    if text is not None:
        at = parse_date(text, process.container.machine.now()).timestamp()
    elif "r" in taken.values:
        at = access.need(process, taken.values["r"]).mtime
    status = 0
    for path in taken.rest:
        try:
            if access.get(process, path) is None:
                if taken.has("c"):
                    continue
                (await access.open_file(process, path, "a")).release()
            access.need(process, path).mtime = at
        except OSError as error:
            await complain(process, name, f"{path}: {error.strerror}")
            status = 1
    return status


async def rm(process: Process, name: str, arguments: list[str]) -> int:
    """Remove files, and directories with -r."""
    taken = options(arguments, "rRfiv")
    if not taken.rest and not taken.has("f"):
        raise UsageError("[-irf] FILE...")
    status = 0
    for path in taken.rest:
        try:
            await _remove(process, path, is_recursive=taken.has("r", "R"), is_told=taken.has("v"))
        except OSError as error:
            if error.errno == errno.ENOENT and taken.has("f"):
                continue
            await complain(process, name, f"can't remove '{path}': {error.strerror}")
            status = 1
        except AppletError as error:
            await complain(process, name, str(error))
            status = 1
    return status


async def _remove(process: Process, path: str, *, is_recursive: bool, is_told: bool) -> None:
    node = access.need(process, path.rstrip("/") or "/", follow=False)
    if isinstance(node, Directory):
        if posixpath.basename(path.rstrip("/")) in {".", ".."}:
            raise AppletError("can't remove '.' or '..'")
        if not is_recursive:
            raise AppletError(f"'{path}' is a directory")
        for child in sorted(node.children):
            await _remove(process, f"{path.rstrip('/')}/{child}", is_recursive=True, is_told=is_told)
    access.remove(process, path)
    if is_told:
        await put(process, f"removed {'directory: ' if isinstance(node, Directory) else ''}'{path}'\n")


async def rmdir(process: Process, name: str, arguments: list[str]) -> int:
    """Remove empty directories, with -p those above them too."""
    taken = options(arguments, "p", "", {"ignore-fail-on-non-empty": "i", "parents": "p"})
    if not taken.rest:
        raise UsageError("[-p] DIRECTORY...")
    status = 0
    for path in taken.rest:
        steps = [path.rstrip("/") or "/"]
        while taken.has("p") and posixpath.dirname(steps[-1]) not in {"", "/", "."}:
            steps.append(posixpath.dirname(steps[-1]))
        for step in steps:
            try:
                _check_removable(access.get(process, step, follow=False), step)
                access.remove(process, step)
            except OSError as error:
                if not (error.errno == errno.ENOTEMPTY and taken.has("i")):
                    await complain(process, name, f"'{step}': {error.strerror}")
                    status = 1
                break
    return status


def _check_removable(node: Entry | None, path: str) -> None:
    if isinstance(node, Directory) and node.children:
        raise os_error(errno.ENOTEMPTY, path)
    if node is not None and not isinstance(node, Directory):
        raise os_error(errno.ENOTDIR, path)


async def mkdir(process: Process, name: str, arguments: list[str]) -> int:
    """Make directories, with -p all above them too."""
    taken = options(arguments, "pv", "m", {"mode": "m", "parents": "p"})
    if not taken.rest:
        raise UsageError("[-m MODE] [-p] DIRECTORY...")
    mode = 0o777 & ~process.umask
    if "m" in taken.values:
        mode = new_mode(0o777, taken.values["m"], is_directory=True)
    status = 0
    for path in taken.rest:
        step = path
        try:
            for step in _steps(path, with_parents=taken.has("p")):
                present = access.get(process, step)
                if taken.has("p") and isinstance(present, Directory):
                    continue
                if present is not None and step != path:
                    raise os_error(errno.ENOTDIR, f"{step}/")
                access.create(process, step.rstrip("/") or "/", Directory(mode=mode))
                if taken.has("v"):
                    await put(process, f"created directory: '{step}'\n")
        except OSError as error:
            shown = error.filename or step
            await complain(process, name, f"can't create directory '{shown}': {error.strerror}")
            status = 1
    return status


def _steps(path: str, *, with_parents: bool) -> list[str]:
    """Return the directories to make, from the top."""
    steps = [path]
    while with_parents and posixpath.dirname(steps[0].rstrip("/")) not in {"", "/"}:
        steps.insert(0, posixpath.dirname(steps[0].rstrip("/")))
    return steps


async def mkfifo(process: Process, name: str, arguments: list[str]) -> int:
    """Make named pipes."""
    taken = options(arguments, "", "m")
    if not taken.rest:
        raise UsageError("[-m MODE] NAME")
    mode = 0o666 & ~process.umask
    if "m" in taken.values:
        mode = new_mode(0o666, taken.values["m"], is_directory=False)
    status = 0
    for path in taken.rest:
        try:
            access.create(process, path, Fifo(Pipe(), mode=mode))
        except OSError as error:
            await complain(process, name, f"{path}: {error.strerror}")
            status = 1
    return status


async def mknod(process: Process, name: str, arguments: list[str]) -> int:
    """Make a named pipe (`mknod NAME p`); devices can't be made."""
    taken = options(arguments, "", "m")
    if taken.rest[1:2] == ["p"] and len(taken.rest) == 2:
        mode = ["-m", taken.values["m"]] if "m" in taken.values else []
        return await mkfifo(process, name, [*mode, taken.rest[0]])
    if len(taken.rest) == 4 and taken.rest[1] in {"b", "c", "u"}:
        raise AppletError(f"{taken.rest[0]}: Operation not permitted")
    raise UsageError("[-m MODE] NAME TYPE [MAJOR MINOR]")


async def mktemp(process: Process, name: str, arguments: list[str]) -> int:
    """Make a new file, or a directory with -d, and print its path; its random letters follow from those that exist."""
    taken = options(arguments, "dqut", "p")
    template = taken.rest[0] if taken.rest else "tmp.XXXXXX"
    if not taken.rest or taken.has("t", "p"):
        folder = taken.values.get("p") or process.env.get("TMPDIR") or TEMPORARY
        template = posixpath.join(folder, template)
    stem = template.removesuffix("XXXXXX")
    if stem == template:
        raise AppletError("(null): Invalid argument")
    number = 0
    while access.get(process, path := stem + _letters(number).rjust(6, "a")) is not None:
        number += 1
    if not taken.has("u"):
        try:
            access.create(process, path, Directory(mode=0o700) if taken.has("d") else File(mode=0o600))
        except OSError as error:
            raise AppletError(f"(null): {error.strerror}") from error
    await put(process, f"{path}\n")
    return 0


def _letters(number: int) -> str:
    text = ""
    while number or not text:
        number, rest = divmod(number, 26)
        text = chr(ord("a") + rest) + text
    return text
