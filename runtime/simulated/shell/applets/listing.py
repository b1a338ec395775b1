"""ls, du, df."""

from __future__ import annotations

import math
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from runtime.simulated import access
from runtime.simulated.shell.applets.base import complain, options, put, whole_number
from runtime.simulated.shell.applets.modes import kind_letter, mode_text
from runtime.simulated.tree import Directory, File, Symlink, plain, size_of

if TYPE_CHECKING:
    from runtime.simulated.process import Process
    from runtime.simulated.shell.applets.base import Options
    from runtime.simulated.tree import Entry

_FLAGS = "1aAlhdRtrFSinpgLkcsxCHXvuQe"
_BLOCK = 4096
_STEP = 1024
_DISK = 10485760
"""Kibibytes of every simulated disk."""
_SOON, _HALF_A_YEAR = 15 * 60, 365 * 86400 / 2
"""Times further off are shown with their year instead of the hour."""


async def ls(process: Process, name: str, arguments: list[str]) -> int:
    """List files and directories, in the order of their names or, with -t, newest first."""
    taken = options(arguments, _FLAGS, "Iw", {"color": "1", "full-time": "l", "group-directories-first": "g"})
    status = 0
    files: list[tuple[str, Entry]] = []
    directories: list[tuple[str, Entry]] = []
    for path in taken.rest or ["."]:
        node = access.get(process, path, follow=not taken.has("l", "d", "F") or path.endswith("/") or taken.has("L"))
        if node is None:
            await complain(process, name, f"{path}: No such file or directory")
            status = 1
        elif isinstance(node, Directory) and not taken.has("d"):
            directories.append((path, node))
        else:
            files.append((path, node))
    await _print(process, _sorted(files, taken), taken)
    has_titles = len(taken.rest) > 1 or taken.has("R")
    for place, (path, directory) in enumerate(_sorted(directories, taken)):
        if has_titles:
            await put(process, f"{chr(10) if place or files else ''}{path}:\n")
        if not isinstance(directory, Directory) or not access.may(process, directory, access.READ):
            await complain(process, name, f"can't open '{path}': Permission denied")
            status = 1
            continue
        await _list_directory(process, path, directory, taken)
    return status


async def _list_directory(process: Process, path: str, directory: Directory, taken: Options) -> None:
    entries = _entries(directory, taken)
    if _is_long(taken) or taken.has("s"):
        await put(process, f"total {sum(_blocks(node) for _, node in entries)}\n")
    await _print(process, _sorted(entries, taken), taken)
    if taken.has("R"):
        for name, node in _sorted(entries, taken):
            if isinstance(node, Directory) and name not in {".", ".."}:
                await put(process, f"\n{path.rstrip('/')}/{name}:\n")
                await _list_directory(process, f"{path.rstrip('/')}/{name}", node, taken)


def _entries(directory: Directory, taken: Options) -> list[tuple[str, Entry]]:
    found: list[tuple[str, Entry]] = []
    if taken.has("a"):
        found += [(".", directory), ("..", directory)]
    for name in sorted(directory.children):
        node = plain(directory.children[name])
        if node is not None and (taken.has("a", "A") or not name.startswith(".")):
            found.append((name, node))
    return found


def _sorted(entries: list[tuple[str, Entry]], taken: Options) -> list[tuple[str, Entry]]:
    ordered = sorted(entries, key=lambda entry: entry[0])
    if taken.has("t"):
        ordered.sort(key=lambda entry: -entry[1].mtime)
    if taken.has("S"):
        ordered.sort(key=lambda entry: -size_of(entry[1]))
    return ordered[::-1] if taken.has("r") else ordered


async def _print(process: Process, entries: list[tuple[str, Entry]], taken: Options) -> None:
    now = process.container.tree.now()
    for name, node in entries:
        shown = f'"{name}"' if taken.has("Q") else name
        front = ("      1 " if taken.has("i") else "") + (f"{_blocks(node):6} " if taken.has("s") else "")
        await put(
            process, front + (_long(shown, node, taken, now) if _is_long(taken) else shown) + _mark(node, taken) + "\n"
        )


def _is_long(taken: Options) -> bool:
    return taken.has("l", "n", "g", "e")


def _mark(node: Entry, taken: Options) -> str:
    """Return what -F and -p put behind a name."""
    if isinstance(node, Directory):
        return "/" if taken.has("F", "p") else ""
    if not taken.has("F"):
        return ""
    if isinstance(node, File):
        return "*" if node.mode & 0o111 else ""
    return {"l": "@", "p": "|"}.get(kind_letter(node), "")


def _long(name: str, node: Entry, taken: Options, now: float) -> str:
    owner = f"{account(node.uid, taken):8} " if not taken.has("g") else ""
    links = (
        2 + sum(isinstance(plain(child), Directory) for child in node.children.values())
        if isinstance(node, Directory)
        else 1
    )
    size = f"{human(size_of(node), 1):>7}" if taken.has("h") else f"{size_of(node):9}"
    is_near = -_SOON < now - node.mtime < _HALF_A_YEAR
    at = datetime.fromtimestamp(node.mtime, UTC).strftime("%b %e %H:%M" if is_near else "%b %e  %Y")
    arrow = f" -> {node.target}" if isinstance(node, Symlink) else ""
    return f"{mode_text(node)} {links:4} {owner}{account(node.gid, taken):8} {size} {at} {name}{arrow}"


def account(number: int, taken: Options) -> str:
    """Return the name of the user or group 0, else the number."""
    return "root" if number == 0 and not taken.has("n") else str(number)


def _blocks(node: Entry) -> int:
    """Return the kibibytes that a file takes on a disk of 4 KiB blocks."""
    return math.ceil(size_of(node) / _BLOCK) * 4 if isinstance(node, File | Directory) else 0


def human(size: int, unit: int) -> str:
    """Return a size like 575.1K, `size` in units of that many bytes."""
    value = float(size * unit)
    for letter in ("", *"KMGT"):
        if value < _STEP:
            return f"{value:.0f}" if not letter else f"{value:.1f}{letter}"
        value /= _STEP
    return f"{value:.1f}P"


async def du(process: Process, name: str, arguments: list[str]) -> int:
    """Print what trees take on the disk, in kibibytes: every directory, with -a every file, with -s the sum alone."""
    taken = options(arguments, "askhmxcbLHl", "d")
    deepest = 0 if taken.has("s") else whole_number(taken.values.get("d", "1000000"))
    status = total = 0
    for path in taken.rest or ["."]:
        node = access.get(process, path, follow=False)
        if node is None:
            await complain(process, name, f"{path}: No such file or directory")
            status = 1
            continue
        total += await _usage(process, path, node, taken, deepest)
    if taken.has("c"):
        await put(process, f"{_kibibytes(total, taken)}\ttotal\n")
    return status


async def _usage(process: Process, path: str, node: Entry, taken: Options, deepest: int, depth: int = 0) -> int:
    total = size_of(node) if taken.has("b") else _blocks(node)
    if isinstance(node, Directory):
        for name in sorted(node.children):
            child = plain(node.children[name])
            if child is not None:
                total += await _usage(process, f"{path.rstrip('/')}/{name}", child, taken, deepest, depth + 1)
    if depth == 0 or (depth <= deepest and (isinstance(node, Directory) or taken.has("a"))):
        await put(process, f"{_kibibytes(total, taken)}\t{path}\n")
    return total


def _kibibytes(total: int, taken: Options) -> str:
    if taken.has("h") and not taken.has("b"):
        return human(total, 1024)
    return str(math.ceil(total / 1024)) if taken.has("m") else str(total)


def _kilobytes(node: Entry | None) -> int:
    """Return how large a file system is: a volume in memory has its limit, all others the disk's size."""
    limit = node.budget.limit_bytes if isinstance(node, Directory) and node.budget is not None else None
    return _DISK if limit is None else limit // 1024


async def df(process: Process, name: str, arguments: list[str]) -> int:
    """Print the root and the mounted volumes, or those that hold some paths."""
    taken = options(arguments, "khmPaTi", "tB")
    mounts = sorted({"/", *(mount.container_path for mount in process.container.config.mounts)})
    status = 0
    shown = mounts
    if taken.rest:
        shown = []
        for path in taken.rest:
            if access.get(process, path) is None:
                await complain(process, name, f"{path}: can't find mount point")
                status = 1
                continue
            whole = access.find(process, path).path
            shown.append(max((each for each in mounts if f"{whole}/".startswith(f"{each.rstrip('/')}/")), key=len))
    unit = (
        "Size"
        if taken.has("h")
        else "1M-blocks"
        if taken.has("m")
        else "1024-blocks"
        if taken.has("P")
        else "1K-blocks"
    )
    use = "Capacity" if taken.has("P") else "Use%"
    await put(process, f"Filesystem           {unit:>9}      Used Available {use} Mounted on\n")
    for path in shown:
        kilobytes = _kilobytes(access.get(process, path))
        size = human(kilobytes, 1024) if taken.has("h") else str(kilobytes // (1024 if taken.has("m") else 1))
        await put(process, f"{'overlay' if path == '/' else 'volume':20} {size:>9} {0:9} {size:>9}   0% {path}\n")
    return status
