"""Redirections: opened from left to right, on the descriptors of one process, and taken back afterwards."""

from __future__ import annotations

import errno
from typing import TYPE_CHECKING

from runtime.simulated.access import get, open_file
from runtime.simulated.shell.expand import expand_text
from runtime.simulated.shell.faults import ShellFault
from runtime.simulated.streams import Text
from runtime.simulated.tree import File

if TYPE_CHECKING:
    from runtime.simulated.process import Process
    from runtime.simulated.shell.interpreter import Shell
    from runtime.simulated.shell.nodes import Redirect
    from runtime.simulated.streams import OpenFile

    Saved = list[tuple[int, OpenFile | None]]

_MODES = {">": "w", ">|": "w", ">>": "a", "<": "r", "<>": "rw", "&>": "w", "&>>": "a", ">&": "w"}


class RedirectFault(Exception):  # noqa: N818 - control flow or an outcome, not an error of ours
    """A redirection failed; the text is the shell's."""


async def redirect(shell: Shell, process: Process, redirects: tuple[Redirect, ...]) -> Saved:
    """Apply redirections to a process and return what its descriptors were; RedirectFault leaves them unchanged."""
    saved: Saved = []
    try:
        for each in redirects:
            await _apply(shell, process, each, saved)
    except BaseException:
        restore(process, saved)
        raise
    return saved


def restore(process: Process, saved: Saved) -> None:
    """Put descriptors back as they were."""
    for fd, file in reversed(saved):
        _drop(process, fd)
        if file is not None:
            process.fds[fd] = file


def keep(saved: Saved) -> None:
    """Let redirections stay (`exec`): what they replaced is closed."""
    for _, file in saved:
        if file is not None:
            file.release()


async def _apply(shell: Shell, process: Process, each: Redirect, saved: Saved) -> None:
    text = await expand_text(shell, each.target)
    if each.op == "<<":
        _install(process, each.fd, Text(text.encode()), saved)
    elif each.op == "<&" or (each.op == ">&" and (text == "-" or text.isdecimal())):
        _duplicate(process, each.fd, text, saved)
    else:
        file = await _open(shell, process, each.op, text)
        _install(process, each.fd, file, saved)
        if each.op in {"&>", "&>>", ">&"}:
            file.retain()
            _install(process, 2, file, saved)


async def _open(shell: Shell, process: Process, op: str, path: str) -> OpenFile:
    if op == ">" and shell.has_option("C") and isinstance(get(process, path), File):
        raise RedirectFault(f"can't create {path}: File exists")
    try:
        return await open_file(process, path, _MODES[op])
    except OSError as error:
        verb = "open" if op in {"<", "<>"} else "create"
        raise RedirectFault(f"can't {verb} {path}: {_reason(error, is_creating=verb == 'create')}") from error


def _reason(error: OSError, *, is_creating: bool) -> str:
    if error.errno in {errno.ENOENT, errno.ENOTDIR}:
        return "nonexistent directory" if is_creating else "no such file"
    return error.strerror or str(error)


def _duplicate(process: Process, fd: int, text: str, saved: Saved) -> None:
    if text == "-":
        saved.append((fd, process.fds.pop(fd, None)))
        return
    if not text.isdecimal():
        raise ShellFault("syntax error: bad fd number")
    file = process.fds.get(int(text))
    if file is None:
        raise RedirectFault(f"{text}: Bad file descriptor")
    file.retain()
    _install(process, fd, file, saved)


def _install(process: Process, fd: int, file: OpenFile, saved: Saved) -> None:
    saved.append((fd, process.fds.get(fd)))
    process.fds[fd] = file


def _drop(process: Process, fd: int) -> None:
    file = process.fds.pop(fd, None)
    if file is not None:
        file.release()
