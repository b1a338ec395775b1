"""The state folder: ROOT/instances/ID of each run, readable by its user alone."""

from __future__ import annotations

import os
import shutil
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from attrs import frozen

if TYPE_CHECKING:
    from collections.abc import Mapping

SYSTEM_ROOT = Path("/var/lib/kubelet-emu")


def default_root(environ: Mapping[str, str], uid: int) -> Path:
    """Return where state is kept: a system folder for root, else the user's XDG state folder."""
    if uid == 0:
        return SYSTEM_ROOT
    state = environ.get("XDG_STATE_HOME", "")
    base = Path(state) if state.startswith("/") else Path(environ.get("HOME", "~")).expanduser() / ".local/state"
    return base / "kubelet-emu"


def new_instance_id() -> str:
    """Return the id of a new run: eight hex digits."""
    return os.urandom(4).hex()


@frozen(kw_only=True)
class Instance:
    """The folder of one run."""

    root: Path
    id: str

    @property
    def path(self) -> Path:
        """Return the folder."""
        return self.root / "instances" / self.id

    def create(self) -> None:
        """Make the folder, mode 0700; OSError."""
        self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        self.path.mkdir(mode=0o700)

    def remove(self) -> None:
        """Remove the folder with its content; what can't be removed stays.

        Whose it is goes last: if this process is killed meanwhile, the next sweep knows that it is nobody's.
        """
        from runtime.docker.state_folder import OWNER_FILE  # noqa: PLC0415 - few programs remove a folder

        with suppress(OSError):
            for each in [each for each in self.path.iterdir() if each.name != OWNER_FILE]:
                if each.is_dir() and not each.is_symlink():
                    shutil.rmtree(each, ignore_errors=True)
                else:
                    each.unlink(missing_ok=True)
        shutil.rmtree(self.path, ignore_errors=True)
