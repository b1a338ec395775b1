"""Words about files and directories."""

from __future__ import annotations

import errno
import posixpath
import re
from typing import TYPE_CHECKING

from runtime.simulated import access
from runtime.simulated.shell.applets.base import AppletError, complain, options, put
from runtime.simulated.shell.applets.system import parse_date
from runtime.simulated.streams import Pipe
from runtime.simulated.tree import Directory, Fifo, File, Special, Symlink, os_error, size_of

if TYPE_CHECKING:
    from runtime.simulated.process import Process
    from runtime.simulated.tree import Entry

TEMPORARY = "/tmp"  # noqa: S108 - a path of the simulation
_MODE_STEP = re.compile(r"([ugoa]*)([-+=])([rwxXst]*)")
_WHO = {"u": 0o700, "g": 0o070, "o": 0o007, "a": 0o777}
_BITS = {"r": 0o444, "w": 0o222, "x": 0o111}


async def touch(process: Process, name: str, arguments: list[str]) -> int:
    """Make empty files, or set their times to now."""
    taken = options(arguments, "cam", "drt")
    status = 0
    at = parse_date(taken.values["d"], process.container.machine.now()).timestamp() if "d" in taken.values else None
    for path in taken.rest:
        if access.get(process, path) is None and taken.has("c"):
            continue
        try:
            if access.get(process, path) is None:
                (await access.open_file(process, path, "a")).release()
            access.need(process, path).mtime = process.container.tree.now() if at is None else at
        except OSError as error:
            await complain(process, name, f"{path}: {error.strerror}")
            status = 1
    return status


async def rm(process: Process, name: str, arguments: list[str]) -> int:
    """Remove files, and directories with -r."""
    taken = options(arguments, "rRfiv")
    if not taken.rest and not taken.has("f"):
        raise AppletError("missing operand")
    status = 0
    for path in taken.rest:
        try:
            await _remove(process, path, is_recursive=taken.has("r", "R"))
        except OSError as error:
            if error.errno == errno.ENOENT and taken.has("f"):
                continue
            await complain(process, name, f"can't remove '{path}': {error.strerror}")
            status = 1
        except AppletError as error:
            await complain(process, name, str(error))
            status = 1
    return status


async def _remove(process: Process, path: str, *, is_recursive: bool) -> None:
    node = access.need(process, path.rstrip("/") or "/", follow=False)
    if isinstance(node, Directory):
        if not is_recursive:
            raise AppletError(f"'{path}' is a directory")
        for child in sorted(node.children):
            await _remove(process, f"{path.rstrip('/')}/{child}", is_recursive=True)
    access.remove(process, path)


async def rmdir(process: Process, name: str, arguments: list[str]) -> int:
    """Remove empty directories."""
    status = 0
    for path in options(arguments, "p").rest:
        node = access.get(process, path, follow=False)
        try:
            _check_removable(node, path)
            access.remove(process, path)
        except OSError as error:
            await complain(process, name, f"'{path}': {error.strerror}")
            status = 1
    return status


def _check_removable(node: Entry | None, path: str) -> None:
    if isinstance(node, Directory) and node.children:
        raise os_error(errno.ENOTEMPTY, path)
    if node is not None and not isinstance(node, Directory):
        raise os_error(errno.ENOTDIR, path)


async def mkdir(process: Process, name: str, arguments: list[str]) -> int:
    """Make directories, with -p all above them too."""
    taken = options(arguments, "pv", "m")
    mode = int(taken.values["m"], 8) if "m" in taken.values else 0o777 & ~process.umask
    status = 0
    for path in taken.rest:
        try:
            _make_directory(process, path, mode, with_parents=taken.has("p"))
        except OSError as error:
            await complain(process, name, f"can't create directory '{path}': {error.strerror}")
            status = 1
    return status


def _make_directory(process: Process, path: str, mode: int, *, with_parents: bool) -> None:
    steps = [path.rstrip("/") or "/"]
    while with_parents and posixpath.dirname(steps[0]) not in {"", "/"}:
        steps.insert(0, posixpath.dirname(steps[0]))
    for step in steps:
        found = access.get(process, step)
        if isinstance(found, Directory) and with_parents:
            continue
        access.create(process, step, Directory(mode=mode))


async def mkfifo(process: Process, name: str, arguments: list[str]) -> int:
    """Make named pipes."""
    taken = options(arguments, "", "m")
    if not taken.rest:
        raise AppletError("missing operand")
    status = 0
    for path in taken.rest:
        try:
            access.create(process, path, Fifo(Pipe()))
        except OSError as error:
            await complain(process, name, f"{path}: {error.strerror}")
            status = 1
    return status


async def cp(process: Process, name: str, arguments: list[str]) -> int:
    """Copy files, and directories with -r or -a."""
    taken = options(arguments, "arRpdfiLPvTu")
    sources, target = _sources_and_target(taken.rest)
    _check_target(process, sources, target)
    status = 0
    for source in sources:
        node = access.get(process, source, follow=not taken.has("a", "d", "P"))
        if isinstance(node, Directory) and not taken.has("a", "r", "R"):
            await complain(process, name, f"omitting directory '{source}'")
            status = 1
            continue
        try:
            if node is None:
                access.need(process, source)
            else:
                await _copy(process, node, _destination(process, source, target, is_exact=taken.has("T")))
        except OSError as error:
            await complain(process, name, f"can't stat '{source}': {error.strerror}")
            status = 1
    return status


def _sources_and_target(rest: list[str]) -> tuple[list[str], str]:
    if len(rest) < 2:
        raise AppletError("missing file operand")
    return rest[:-1], rest[-1]


def _check_target(process: Process, sources: list[str], target: str) -> None:
    if len(sources) > 1 and not isinstance(access.get(process, target), Directory):
        raise AppletError(f"'{target}': Not a directory")


def _destination(process: Process, source: str, target: str, *, is_exact: bool = False) -> str:
    if not is_exact and isinstance(access.get(process, target), Directory):
        last = posixpath.basename(source.rstrip("/"))
        return target if last in {".", ""} else f"{target.rstrip('/')}/{last}"
    return target


async def _copy(process: Process, node: Entry, target: str) -> None:
    if isinstance(node, Directory):
        if not isinstance(access.get(process, target), Directory):
            access.create(process, target, Directory(mode=node.mode))
        for child in sorted(node.children):
            inner = process.container.tree.walk(node)
            found = next((each for path, each in inner if path == child), None)
            if found is not None:
                await _copy(process, found, f"{target.rstrip('/')}/{child}")
    elif isinstance(node, Symlink):
        access.create(process, target, Symlink(node.target))
    elif isinstance(node, File):
        file = await access.open_file(process, target, "w")
        await file.write(bytes(node.data))
        file.release()
        copied = access.get(process, target)
        if copied is not None:
            copied.mode = node.mode


async def mv(process: Process, name: str, arguments: list[str]) -> int:
    """Move files, also out of one volume into another."""
    taken = options(arguments, "fintTv")
    sources, target = _sources_and_target(taken.rest)
    _check_target(process, sources, target)
    status = 0
    for source in sources:
        try:
            node = access.need(process, source, follow=False)
            path = _destination(process, source, target)
            if access.get(process, path, follow=False) is not None:
                access.remove(process, path)
            access.remove(process, source)
            owner = node.uid, node.gid
            access.create(process, path, node)
            node.uid, node.gid = owner
        except OSError as error:
            await complain(process, name, f"can't rename '{source}': {error.strerror}")
            status = 1
    return status


async def ln(process: Process, name: str, arguments: list[str]) -> int:
    """Make links, symbolic ones with -s."""
    taken = options(arguments, "sfnT")
    sources, target = (taken.rest, ".") if len(taken.rest) == 1 else _sources_and_target(taken.rest)
    for source in sources:
        path = target if taken.has("n", "T") else _destination(process, source, target)
        if taken.has("f") and access.get(process, path, follow=False) is not None:
            access.remove(process, path)
        try:
            node = Symlink(source) if taken.has("s") else access.need(process, source)
            access.create(process, path, node)
        except OSError as error:
            await complain(process, name, f"{path}: {error.strerror}")
            return 1
    return 0


def new_mode(old: int, text: str, *, is_directory: bool) -> int:
    """Return a mode changed as `chmod` says: octal, or steps like u+x; AppletError."""
    if re.fullmatch(r"[0-7]+", text):
        return int(text, 8)
    mode = old
    for step in text.split(","):
        match = _MODE_STEP.fullmatch(step)
        if match is None:
            raise AppletError(f"invalid mode '{text}'")
        who = sum({_WHO[each] for each in match[1] or "a"}) if "a" not in match[1] else 0o777
        bits = 0
        for letter in match[3]:
            wants_x = letter == "X" and (is_directory or old & 0o111)
            bits |= 0o111 if wants_x else _BITS.get(letter, 0)
        bits &= who
        mode = mode | bits if match[2] == "+" else mode & ~bits if match[2] == "-" else (mode & ~who) | bits
    return mode


async def chmod(process: Process, name: str, arguments: list[str]) -> int:
    """Change modes."""
    words = [word for word in arguments if word not in {"-R", "-v", "-f", "-c"}]
    if len(words) < 2:
        raise AppletError("missing operand")
    status = 0
    for path in words[1:]:
        node = access.get(process, path)
        if node is None:
            await complain(process, name, f"{path}: No such file or directory")
            status = 1
            continue
        if process.container.uid not in {0, node.uid}:
            await complain(process, name, f"{path}: Operation not permitted")
            status = 1
            continue
        for each in _with_all_below(process, node, is_recursive="-R" in arguments):
            each.mode = new_mode(each.mode, words[0], is_directory=isinstance(each, Directory))
    return status


def _with_all_below(process: Process, node: Entry, *, is_recursive: bool) -> list[Entry]:
    if not is_recursive or not isinstance(node, Directory):
        return [node]
    return [node, *(each for _, each in process.container.tree.walk(node))]


async def chown(process: Process, name: str, arguments: list[str]) -> int:
    """Change owners; only root may."""
    words = [word for word in arguments if not word.startswith("-")]
    if len(words) < 2:
        raise AppletError("missing operand")
    user, _, group = words[0].replace(".", ":").partition(":")
    status = 0
    for path in words[1:]:
        node = access.get(process, path)
        problem = (
            "No such file or directory" if node is None else "Operation not permitted" if process.container.uid else ""
        )
        if node is None or problem:
            await complain(process, name, f"{path}: {problem}")
            status = 1
            continue
        for each in _with_all_below(
            process, node, is_recursive=any("R" in word for word in arguments if word[0] == "-")
        ):
            each.uid = int(user) if user.isdecimal() else each.uid
            each.gid = int(group) if group.isdecimal() else each.gid
    return status


async def mktemp(process: Process, name: str, arguments: list[str]) -> int:
    """Make a new file, or a directory with -d, and print its path."""
    taken = options(arguments, "dqut", "p")
    folder = taken.values.get("p", TEMPORARY)
    template = taken.rest[0] if taken.rest else posixpath.join(folder, "tmp.XXXXXX")
    stem = template.rstrip("X")
    number = 0
    while access.get(process, path := stem + _letters(number).rjust(len(template) - len(stem), "a")) is not None:
        number += 1
    access.create(process, path, Directory(mode=0o700) if taken.has("d") else File(mode=0o600))
    await put(process, f"{path}\n")
    return 0


def _letters(number: int) -> str:
    text = ""
    while number or not text:
        number, rest = divmod(number, 26)
        text = chr(ord("a") + rest) + text
    return text


def kind_letter(node: Entry) -> str:
    """Return the first letter of `ls -l`."""
    match node:
        case Directory():
            return "d"
        case Symlink():
            return "l"
        case Fifo():
            return "p"
        case Special():
            return "c"
        case File():
            return "-"


def mode_text(node: Entry) -> str:
    """Return a mode as `ls -l` shows it."""
    letters = "".join(letter if node.mode >> (8 - place) & 1 else "-" for place, letter in enumerate("rwxrwxrwx"))
    return kind_letter(node) + (letters[:-1] + ("t" if letters[-1] == "x" else "T") if node.mode & 0o1000 else letters)


async def stat(process: Process, name: str, arguments: list[str]) -> int:
    """Print what is known of a file, by a format with -c."""
    taken = options(arguments, "Lftz", "c")
    status = 0
    for path in taken.rest:
        node = access.get(process, path, follow=taken.has("L"))
        if node is None:
            await complain(process, name, f"can't stat '{path}': No such file or directory")
            status = 1
            continue
        await put(
            process, _stat_format(taken.values.get("c", "  File: %n\n  Size: %s\nAccess: (%a/%A)"), path, node) + "\n"
        )
    return status


def _stat_format(form: str, path: str, node: Entry) -> str:
    kinds = {"d": "directory", "l": "symbolic link", "p": "fifo", "c": "character special file", "-": "regular file"}
    values = {
        "n": path, "s": str(size_of(node)), "a": f"{node.mode & 0o7777:o}", "A": mode_text(node), "u": str(node.uid),
        "g": str(node.gid), "U": "root" if node.uid == 0 else "UNKNOWN", "G": "root" if node.gid == 0 else "UNKNOWN",
        "Y": str(int(node.mtime)), "F": kinds[kind_letter(node)], "%": "%",
    }  # fmt: skip
    return re.sub(r"%(.)", lambda match: values.get(match[1], match[0]), form)
