"""When the files of a run were saved: looked at twice a second, by their content.

Editors write in many ways (in place, by renaming, by removing first), so no one event of a file system means "saved".
What counts is content that is not what it was, and that has been the same at two looks in a row.
"""

from __future__ import annotations

import stat
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

import trio
from attrs import define, field, frozen

from kubelet_emu.manifests.loading import files_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from kubelet_emu.cli.options import RunOptions

LOOK_SECONDS = 0.5


@frozen
class _Content:
    """What a file holds; `is_settled` once a later look has found the file with the same stamp."""

    stamp: tuple[int, ...]
    digest: bytes
    is_settled: bool = False


@define(eq=False)
class Saves:
    """The files of a run. `interval` is the time between two looks, by Trio's clock."""

    options: RunOptions
    interval: float = LOOK_SECONDS
    _contents: dict[str, _Content] = field(factory=dict, init=False)
    _taken: Mapping[str, bytes] = field(factory=dict, init=False)

    def take(self) -> None:
        """Take what the files hold now as known; call it before they are read."""
        self._taken = self._look()

    async def next(self) -> tuple[str, ...]:
        """Wait for a save and return the names of the files that it changed; they are known then.

        Cancellation loses nothing: the save is found again.
        """
        before = self._taken
        while True:
            await trio.sleep(self.interval)
            found = self._look()
            if found == before and found != self._taken:
                changed = sorted(name for name, _ in found.items() ^ self._taken.items())
                self._taken = found
                return tuple(dict.fromkeys(changed))
            before = found

    def _look(self) -> Mapping[str, bytes]:
        """Return the digest of each file that is there."""
        self._contents = {path: content for path in watched(self.options) if (content := self._content(path))}
        return {path: content.digest for path, content in self._contents.items()}

    def _content(self, path: str) -> _Content | None:
        """Return what a file holds, None for one that can't be read.

        A file is read again until its stamp has stayed: two saves may come within one tick of the file system's clock.
        """
        known = self._contents.get(path)
        try:
            found = Path(path).stat()
            stamp = (found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns)
            if not stat.S_ISREG(found.st_mode):
                return None
            if known is not None and known.stamp == stamp and known.is_settled:
                return known
            digest = sha256(Path(path).read_bytes()).digest()
        except (OSError, ValueError):
            return None
        return _Content(stamp, digest, is_settled=known is not None and known.stamp == stamp)


def watched(options: RunOptions) -> tuple[str, ...]:
    """Return the files that a run is made of: manifests, what containers do in a simulated run, configuration."""
    manifests = [file for path in options.manifests for file in _files(path)]
    others = [] if options.config is None else [str(options.config)]
    if options.is_simulated:
        from kubelet_emu.simulation.reading import files_beside

        others += map(str, options.simulate or files_beside(manifests))
    return tuple(dict.fromkeys((*manifests, *others)))


def _files(path: str) -> Iterable[str]:
    """Return the manifests of a file or a folder, none while it isn't there."""
    try:
        return files_of(path)
    except (OSError, ValueError):
        return ()


def unwatchable(options: RunOptions) -> str:
    """Return the first manifest that can be read only once, such as standard input; empty when there is none."""
    return next((path for path in options.manifests if path == "-" or _is_stream(Path(path))), "")


def _is_stream(path: Path) -> bool:
    return path.exists() and not (path.is_file() or path.is_dir())
