"""Who owns a run's state folder, and who may have it when that process is dead.

Two may want it: a run that goes on with the dead one, and a sweep that removes what it left. Each asks here, and under
the folder's lock only the first of them gets it.
"""

from __future__ import annotations

import fcntl
import json
import os
import stat
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

import attrs

from runtime.docker.owner import Owner
from runtime.docker.whole_files import write_whole

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

OWNER_FILE = "runtime-owner.json"
KEPT_FILE = "runtime-kept.json"
"""Where it lies the run's objects are wanted beyond its process's life."""
GIVEN_UP_FILE = "given-up"
"""Where it lies somebody has begun to remove the run, and nobody goes on with it."""


def read_owner(folder: Path) -> Owner | None:
    """Return who claimed a folder last, None when nobody wrote that down or it can't be read.

    What a later version wrote beside is not looked at.
    """
    try:
        return _parse_owner((folder / OWNER_FILE).read_bytes())
    except OSError:
        return None


def is_nobodys(folder: Path) -> bool:
    """Tell whether a folder that can be read says of no owner: nobody wrote it down, or the file is damaged."""
    try:
        return _parse_owner((folder / OWNER_FILE).read_bytes()) is None
    except OSError as error:
        return isinstance(error, FileNotFoundError)


def _parse_owner(written: bytes) -> Owner | None:
    try:
        found = json.loads(written)
    except (ValueError, RecursionError):
        return None
    match found:
        case {"host": str(host), "boot": str(boot), "pid": int(pid), "pid_start": str(pid_start)}:
            return Owner(host=host, boot=boot, pid=pid, pid_start=pid_start)
    return None


def write_owner(folder: Path, owner: Owner) -> None:
    """Write down who owns a folder, whole or not at all; OSError."""
    write_whole(folder / OWNER_FILE, json.dumps(attrs.asdict(owner)))


def is_dead(folder: Path, here: Owner) -> bool:
    """Tell whether a folder's owner is proven dead, as seen from the process `here`."""
    owner = read_owner(folder)
    return owner is not None and owner.is_proven_dead(here)


def may_be_there(folder: Path) -> bool:
    """Tell whether a folder is there, as far as this user can tell: what can't be looked at may be."""
    try:
        return stat.S_ISDIR(folder.stat().st_mode)
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError:
        return True


def take_over(folder: Path, here: Owner) -> bool:
    """Make `here` the owner of a dead run's folder to go on with it; False when somebody else was quicker. OSError."""
    with _locked(folder):
        if not is_dead(folder, here) or (folder / GIVEN_UP_FILE).exists():
            return False
        write_owner(folder, here)
        return True


def give_up(folder: Path, here: Owner) -> bool:
    """Let nobody go on with the run of a folder; False when somebody does so already. OSError."""
    with _locked(folder):
        owner = read_owner(folder)
        if owner is not None and not owner.is_proven_dead(here):
            return False
        (folder / GIVEN_UP_FILE).touch(mode=0o600)
        return True


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """Let no other process in meanwhile; a file system without locks lets it in."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        with suppress(OSError):
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)
