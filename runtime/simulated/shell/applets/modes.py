"""Modes and owners: chmod, chown, stat, and how a mode is written."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from runtime.api.capabilities import has_capability
from runtime.simulated import access
from runtime.simulated.shell.applets.base import AppletError, UsageError, complain, options, put
from runtime.simulated.tree import Directory, Fifo, File, Special, Symlink, size_of

if TYPE_CHECKING:
    from runtime.simulated.process import Process
    from runtime.simulated.tree import Entry


_MODE_STEP = re.compile(r"([ugoa]*)((?:[-+=](?:[ugo]|[rwxXst]*))+)")
_MODE_CHANGE = re.compile(r"([-+=])([ugo](?![rwxXst])|[rwxXst]*)")
_WHO = {"u": 0o4700, "g": 0o2070, "o": 0o1007}
_BITS = {"r": 0o444, "w": 0o222, "x": 0o111, "s": 0o6000, "t": 0o1000}
_SHIFTS = {"u": 6, "g": 3, "o": 0}
_ALL = 0o7777


def new_mode(old: int, text: str, *, is_directory: bool, umask: int = 0) -> int:
    """Return a mode changed as `chmod` says: octal, or steps like u+x; AppletError. A step for nobody heeds `umask`."""
    if re.fullmatch(r"[0-7]{1,4}", text):
        return int(text, 8)
    mode = old
    for step in text.split(","):
        match = _MODE_STEP.fullmatch(step)
        if match is None:
            raise AppletError(f"invalid mode '{text}'")
        who = _ALL if not match[1] or "a" in match[1] else 0
        for letter in set(match[1]) - {"a"}:
            who |= _WHO[letter]
        kept = who & ~umask if not match[1] else who
        for change in _MODE_CHANGE.finditer(match[2]):
            bits = _wanted_bits(mode, change[2], is_directory=is_directory) & kept
            match change[1]:
                case "=":
                    mode = (mode & ~who) | bits
                case "+":
                    mode |= bits
                case _:
                    mode &= ~bits
    return mode


def _wanted_bits(mode: int, letters: str, *, is_directory: bool) -> int:
    """Return the bits that letters of a step name, for all kinds of users."""
    if letters in _SHIFTS:
        return (mode >> _SHIFTS[letters] & 7) * 0o111
    bits = 0
    for letter in letters:
        if letter != "X":
            bits |= _BITS[letter]
        elif is_directory or mode & 0o111:
            bits |= 0o111
    return bits


async def chmod(process: Process, name: str, arguments: list[str]) -> int:
    """Change modes."""
    words = [word for word in arguments if word not in {"-R", "-v", "-f", "-c", "--"}]
    if len(words) < 2:
        raise UsageError("[-Rcvf] MODE[,MODE]... FILE...")
    new_mode(0, words[0], is_directory=False)
    status = 0
    for path in words[1:]:
        node = access.get(process, path)
        if node is None or process.container.ids.uid not in {0, node.uid}:
            reason = "No such file or directory" if node is None else "Operation not permitted"
            await complain(process, name, f"{path}: {reason}")
            status = 1
            continue
        for each in _with_all_below(process, node, is_recursive="-R" in arguments):
            each.mode = new_mode(each.mode, words[0], is_directory=isinstance(each, Directory), umask=process.umask)
    return status


def _with_all_below(process: Process, node: Entry, *, is_recursive: bool) -> list[Entry]:
    if not is_recursive or not isinstance(node, Directory):
        return [node]
    return [node, *(each for _, each in process.container.tree.walk(node))]


async def chown(process: Process, name: str, arguments: list[str]) -> int:
    """Change owners (`chown USER[:GROUP]`) or groups (`chgrp GROUP`); only root may."""
    taken = options(arguments, "RhLHPcvf")
    if len(taken.rest) < 2:
        raise UsageError("[-RhLHPcvf]... " + ("GROUP" if name == "chgrp" else "USER[:[GRP]]") + " FILE...")
    user, _, group = ("", "", taken.rest[0]) if name == "chgrp" else taken.rest[0].replace(".", ":").partition(":")
    uid = account_number(process, "user", user) if user else None
    gid = account_number(process, "group", group) if group else None
    status = 0
    for path in taken.rest[1:]:
        node = access.get(process, path)
        if node is None or process.container.ids.uid or not has_capability(process.container.config.security, "CHOWN"):
            reason = "No such file or directory" if node is None else "Operation not permitted"
            await complain(process, name, f"{path}: {reason}")
            status = 1
            continue
        for each in _with_all_below(process, node, is_recursive=taken.has("R")):
            each.uid = each.uid if uid is None else uid
            each.gid = each.gid if gid is None else gid
    return status


def account_number(process: Process, kind: str, name: str) -> int:
    """Return the number of a user or a group, by its name in /etc/passwd or /etc/group; AppletError."""
    if name.isdecimal():
        return int(name)
    node = access.get(process, "/etc/passwd" if kind == "user" else "/etc/group")
    for row in bytes(getattr(node, "data", b"")).decode(errors="replace").splitlines():
        parts = row.split(":")
        if parts[0] == name and len(parts) > 2:
            return int(parts[2])
    raise AppletError(f"unknown {kind} {name}")


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
    letters = [letter if node.mode >> (8 - place) & 1 else "-" for place, letter in enumerate("rwxrwxrwx")]
    for place, bit, letter in ((2, 0o4000, "s"), (5, 0o2000, "s"), (8, 0o1000, "t")):
        if node.mode & bit:
            letters[place] = letter if letters[place] == "x" else letter.upper()
    return kind_letter(node) + "".join(letters)


async def stat(process: Process, name: str, arguments: list[str]) -> int:
    """Print what is known of a file, by a format with -c."""
    taken = options(arguments, "Lftz", "c")
    if not taken.rest:
        raise UsageError("[-ltf] [-c FMT] FILE...")
    form = taken.values.get("c", _TERSE if taken.has("t") else _FULL)
    status = 0
    for path in taken.rest:
        node = access.get(process, path, follow=taken.has("L"))
        if node is None:
            await complain(process, name, f"can't stat '{path}': No such file or directory")
            status = 1
        else:
            await put(process, _stat_format(form, path, node) + "\n")
    return status


_TERSE = "%n %s %b %f %u %g %D %i %h %t %T %X %Y %Z %o"
_FULL = (
    "  File: %N\n  Size: %s\tBlocks: %b\tIO Block: %o\t%F\nDevice: 1h/1d\tInode: %i\tLinks: %h\n"
    "Access: (%a/%A)  Uid: (%5u/%8U)   Gid: (%5g/%8G)\nAccess: %x\nModify: %y\nChange: %z"
)
_KINDS = {"d": "directory", "l": "symbolic link", "p": "fifo", "c": "character special file", "-": "regular file"}


def _stat_format(form: str, path: str, node: Entry) -> str:
    kind = "regular empty file" if isinstance(node, File) and not node.data else _KINDS[kind_letter(node)]
    at = f"{datetime.fromtimestamp(node.mtime, UTC):%Y-%m-%d %H:%M:%S.%f}000 +0000"
    size = size_of(node)
    values = {
        "n": path, "N": f"'{path}' -> '{node.target}'" if isinstance(node, Symlink) else path, "s": str(size),
        "a": f"{node.mode & 0o7777:o}", "A": mode_text(node), "u": str(node.uid), "g": str(node.gid),
        "U": "root" if node.uid == 0 else "UNKNOWN", "G": "root" if node.gid == 0 else "UNKNOWN", "F": kind,
        "b": str(-(-size // 4096) * 8), "B": "512", "h": "1", "i": "1", "o": "4096", "f": f"{node.mode:x}", "D": "1",
        "d": "1", "t": "0", "T": "0", "%": "%",
        **dict.fromkeys("xyz", at), **dict.fromkeys("XYZ", str(int(node.mtime))),
    }  # fmt: skip
    return re.sub(r"%(\d*)(.)", lambda match: values.get(match[2], match[0]).rjust(int(match[1] or 0)), form)
