"""What a run puts into its state folder for a second terminal: its socket, its records, and who it is.

ROOT/instances/ID/ is its user's alone (0700); the three files are 0600, and go with the folder.
"""

from __future__ import annotations

import json
import os
from contextlib import contextmanager
from typing import TYPE_CHECKING

from attrs import frozen

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

SOCKET = "control.sock"
RECORDS = "records.jsonl"
RUN = "run.json"
MOST_PATH_BYTES = 100


@contextmanager
def short_path(folder: Path) -> Iterator[str]:
    """Give a path to the socket of a folder that is short enough for the kernel (unix(7)); OSError.

    One that is too long is reached by the number of its open folder, which Linux has.
    """
    path = str(folder / SOCKET)
    if len(os.fsencode(path)) <= MOST_PATH_BYTES:
        yield path
        return
    number = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        yield f"/proc/self/fd/{number}/{SOCKET}"
    finally:
        os.close(number)


@frozen(kw_only=True)
class RunFacts:
    """Who a run is: its id, its process, what it runs, and since when (RFC 3339)."""

    id: str
    pid: int
    started_at: str
    manifests: tuple[str, ...] = ()
    version: str = ""

    def to_json(self) -> dict[str, object]:
        """Return it as the greeting and `run.json` have it."""
        return {
            "run": self.id,
            "pid": self.pid,
            "startedAt": self.started_at,
            "manifests": list(self.manifests),
            "program": self.version,
        }

    def write(self, folder: Path) -> None:
        """Write it into a state folder, mode 0600; OSError."""
        descriptor = os.open(folder / RUN, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            json.dump(self.to_json(), file)

    @classmethod
    def read(cls, folder: Path) -> RunFacts:
        """Return what a state folder says; where it says nothing, the folder's name and no process."""
        try:
            found = json.loads((folder / RUN).read_text(encoding="utf-8"))
            return cls(
                id=str(found["run"]),
                pid=int(found["pid"]),
                started_at=str(found["startedAt"]),
                manifests=tuple(map(str, found["manifests"])),
                version=str(found.get("program", "")),
            )
        except (OSError, ValueError, KeyError, TypeError):
            return cls(id=folder.name, pid=0, started_at="")


def folders(root: Path) -> tuple[Path, ...]:
    """Return the state folders of runs below a root, by name; OSError for one that can't be read, as another user's."""
    try:
        return tuple(sorted(each for each in (root / "instances").iterdir() if each.is_dir()))
    except FileNotFoundError:
        return ()
