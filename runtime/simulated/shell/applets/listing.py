"""ls, find, du, df."""

from __future__ import annotations

import math
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from attrs import define

from runtime.simulated import access
from runtime.simulated.shell import patterns
from runtime.simulated.shell.applets.base import AppletError, complain, options, put
from runtime.simulated.shell.applets.files import kind_letter, mode_text
from runtime.simulated.tree import Directory, File, Symlink, plain, size_of

if TYPE_CHECKING:
    from runtime.simulated.process import Process
    from runtime.simulated.shell.applets.base import Options
    from runtime.simulated.tree import Entry


async def ls(process: Process, name: str, arguments: list[str]) -> int:
    """List files and directories, in the order of their names or, with -t, newest first."""
    taken = options(arguments, "1aAlhdRtrFSinpgoLkcsx", "I", {"color": "F", "full-time": "l"})
    status = 0
    files: list[tuple[str, Entry]] = []
    directories: list[tuple[str, Directory]] = []
    for path in taken.rest or ["."]:
        node = access.get(process, path, follow=not taken.has("l", "d"))
        if node is None:
            await complain(process, name, f"{path}: No such file or directory")
            status = 1
        elif isinstance(node, Directory) and not taken.has("d"):
            directories.append((path, node))
        else:
            files.append((path, node))
    await _print(process, _sorted(files, taken), taken)
    has_titles = len(directories) + len(files) > 1 or taken.has("R")
    for place, (path, directory) in enumerate(directories):
        if has_titles:
            await put(process, f"{chr(10) if place or files else ''}{path}:\n")
        if not access.may(process, directory, access.READ):
            await complain(process, name, f"can't open '{path}': Permission denied")
            status = 1
            continue
        await _list_directory(process, path, directory, taken)
    return status


async def _list_directory(process: Process, path: str, directory: Directory, taken: Options) -> None:
    entries = _entries(directory, taken)
    if taken.has("l"):
        await put(
            process,
            f"total {sum(math.ceil(size_of(node) / 4096) * 4 for _, node in entries if isinstance(node, File))}\n",
        )
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
    for name, node in entries:
        mark = _mark(node, taken)
        await put(process, (_long(name, node) if taken.has("l") else name) + mark + "\n")


def _mark(node: Entry, taken: Options) -> str:
    """Return what -F and -p put behind a name."""
    if isinstance(node, Directory):
        return "/" if taken.has("F", "p") else ""
    return "*" if taken.has("F") and isinstance(node, File) and node.mode & 0o111 else ""


def _long(name: str, node: Entry) -> str:
    owner = "root" if node.uid == 0 else str(node.uid)
    group = "root" if node.gid == 0 else str(node.gid)
    at = datetime.fromtimestamp(node.mtime, UTC).strftime("%b %e %H:%M")
    arrow = f" -> {node.target}" if isinstance(node, Symlink) else ""
    return f"{mode_text(node)}    1 {owner:8} {group:8} {size_of(node):9} {at} {name}{arrow}"


async def find(process: Process, name: str, arguments: list[str]) -> int:
    """Walk trees and print what fits: -name, -type, -maxdepth, -mindepth, -delete, -not, -print0, -path."""
    roots: list[str] = []
    words = list(arguments)
    while words and not words[0].startswith(("-", "!", "(")):
        roots.append(words.pop(0))
    search = _Search.read(words)
    status = 0
    for root in roots or ["."]:
        node = access.get(process, root, follow=False)
        if node is None:
            await complain(process, name, f"{root}: No such file or directory")
            status = 1
            continue
        await search.visit(process, root, node, 0)
    return status


@define
class _Search:
    tests: list[tuple[str, str, bool]]
    deepest: float = math.inf
    shallowest: int = 0
    deletes: bool = False
    end: str = "\n"

    @classmethod
    def read(cls, words: list[str]) -> _Search:
        search = cls([])
        is_negated = False
        while words:
            word = words.pop(0)
            if word in {"!", "-not"}:
                is_negated = True
                continue
            if word in {"-name", "-type", "-path", "-iname"}:
                search.tests.append((word, words.pop(0), is_negated))
            elif word == "-maxdepth":
                search.deepest = int(words.pop(0))
            elif word == "-mindepth":
                search.shallowest = int(words.pop(0))
            elif word == "-delete":
                search.deletes = True
            elif word == "-print0":
                search.end = "\0"
            elif word not in {"-print", "-a", "-depth", "-xdev"}:
                raise AppletError(f"unrecognized: {word}")
            is_negated = False
        return search

    async def visit(self, process: Process, path: str, node: Entry, depth: int) -> None:
        process.step()
        fits = depth >= self.shallowest and all(self.passes(test, path, node) for test in self.tests)
        if fits and not self.deletes:
            await put(process, path + self.end)
        if isinstance(node, Directory) and depth < self.deepest:
            for name in sorted(node.children):
                child = plain(node.children[name])
                if child is not None:
                    await self.visit(process, f"{path.rstrip('/')}/{name}", child, depth + 1)
        if fits and self.deletes and path not in {".", "/"}:
            access.remove(process, path)

    def passes(self, test: tuple[str, str, bool], path: str, node: Entry) -> bool:
        kind, value, is_negated = test
        name = path.rstrip("/").rsplit("/", 1)[-1]
        match kind:
            case "-name":
                result = patterns.matches(value, name)
            case "-iname":
                result = patterns.matches(value.lower(), name.lower())
            case "-path":
                result = patterns.matches(value, path)
            case _:
                result = {"-": "f"}.get(kind_letter(node), kind_letter(node)) == value
        return result != is_negated


def total_bytes(process: Process, node: Entry) -> int:
    """Return the bytes of a file, or of all files below a directory."""
    if isinstance(node, Directory):
        return sum(len(each.data) for _, each in process.container.tree.walk(node) if isinstance(each, File))
    return len(node.data) if isinstance(node, File) else 0


async def du(process: Process, name: str, arguments: list[str]) -> int:
    """Print sizes in kibibytes: of each argument as a whole."""
    taken = options(arguments, "askhmxcb", "d")
    status = 0
    for path in taken.rest or ["."]:
        node = access.get(process, path)
        if node is None:
            await complain(process, name, f"{path}: No such file or directory")
            status = 1
            continue
        size = total_bytes(process, node)
        await put(
            process, f"{size if taken.has('b') else math.ceil(size / (1 << 20 if taken.has('m') else 1024))}\t{path}\n"
        )
    return status


async def df(process: Process, name: str, arguments: list[str]) -> int:
    """Print the root and the mounted volumes."""
    await put(process, "Filesystem           1K-blocks      Used Available Use% Mounted on\n")
    for path in ["/", *(mount.container_path for mount in process.container.config.mounts)]:
        await put(process, f"{'overlay' if path == '/' else 'volume':20} {10485760:9} {0:9} {10485760:9}   0% {path}\n")
    return 0
