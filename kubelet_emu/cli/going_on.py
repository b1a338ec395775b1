"""Going on with a run whose process was killed: what it leaves in its state folder, and who may take it up.

A run goes on with another one of the same manifests, content included, and the same node, if that one's process is
proven dead and was not told to stop. Everything else that a dead run left is removed, as ever.
"""

from __future__ import annotations

import hashlib
import json
import time
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import attrs
from attrs import define, field, frozen

from kubelet_emu.apiserver.keeping import Kept, KeptStateError, read_kept
from kubelet_emu.control.places import RECORDS, RUN, SOCKET
from kubelet_emu.journal.records import EndRecord, LogRecord, RequestRecord

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from kubelet_emu.cli.options import RunOptions
    from kubelet_emu.embedding.instances import Instance
    from kubelet_emu.journal.encode import Entry

VERSION = 1
RUN_FILE = "going-on.json"
MARK_SECONDS = 1.0
_OBJECTS = "objects"
_LOGS_READ = "logs-read"


@frozen(kw_only=True)
class RunFile:
    """What a run is known by: absolute paths of its manifests, a digest of their content, its node; its seed."""

    manifests: tuple[str, ...]
    node_name: str
    digest: str
    seed: int
    starts: int = 1

    @classmethod
    def read(cls, path: Path) -> RunFile:
        """Read one; OSError, ValueError for one that is damaged, or of another version of this program."""
        try:
            content = json.loads(path.read_text(encoding="utf-8"))
        except RecursionError as error:
            raise ValueError(f"{path}: nested too deeply") from error
        match content:
            case {
                "version": int(version),
                "manifests": [*manifests],
                "node_name": str(node_name),
                "digest": str(digest),
                "seed": int(seed),
                "starts": int(starts),
            } if version == VERSION:
                paths = tuple(map(str, manifests))
                return cls(manifests=paths, node_name=node_name, digest=digest, seed=seed, starts=starts)
        raise ValueError(f"{path}: not written by this version")

    def write(self, path: Path) -> None:
        """Put it in place, whole or not at all; OSError."""
        from runtime.docker.whole_files import write_whole

        write_whole(path, json.dumps({"version": VERSION, **attrs.asdict(self)}))


@frozen(kw_only=True)
class DeadRun:
    """A run whose process was killed: its folder, what it is known by, its objects, up to when its logs were read."""

    folder: Path
    file: RunFile
    kept: Kept = field(factory=Kept)
    logs_since: datetime | None = None

    @property
    def id(self) -> str:
        """Return the run's id."""
        return self.folder.name


def find_dead_run(options: RunOptions, root: Path) -> DeadRun | None:
    """Return the run to go on with, the newest if there are more; it isn't taken up yet, its digest not compared."""
    if options.is_simulated or options.replace or "-" in options.manifests:
        return None
    wanted = (_absolute(options.manifests), options.node_name)
    for folder, file in _run_files(root):
        is_of_seed = options.seed in {None, file.seed}
        if (file.manifests, file.node_name) == wanted and is_of_seed and _is_dead(folder):
            return DeadRun(folder=folder, file=file)
    return None


def _is_dead(folder: Path) -> bool:
    from runtime.docker.owner import Owner
    from runtime.docker.state_folder import is_dead

    return is_dead(folder, Owner.current())


def take_up(dead: DeadRun, warn: Callable[[str], None]) -> DeadRun | None:
    """Become the owner of a dead run, so that nobody else goes on with it or removes it, and read what it kept.

    None when another process was quicker, or when nothing is left to go on with: no pod or workload was created yet, or
    all have been deleted. What can't be read is told. OSError.
    """
    from kubelet_emu.manifests.workloads import STORED
    from runtime.docker.owner import Owner
    from runtime.docker.state_folder import read_owner, take_over, write_owner

    before = read_owner(dead.folder)
    if before is None or not take_over(dead.folder, Owner.current()):
        return None
    try:
        kept = read_kept(dead.folder / _OBJECTS)
    except KeptStateError as error:
        warn(f"the run {dead.id} can't be gone on with, and is removed: {error}")
        kept = Kept()
    if any(obj.kind not in STORED for obj in kept.objects):
        return attrs.evolve(dead, kept=kept, logs_since=_logs_since(dead.folder))
    (dead.folder / RUN_FILE).unlink(missing_ok=True)
    write_owner(dead.folder, before)
    return None


def _run_files(root: Path) -> Iterator[tuple[Path, RunFile]]:
    """Yield the folders of runs that were not told to stop, newest first."""
    found = []
    for path in (root / "instances").glob(f"*/{RUN_FILE}"):
        with suppress(OSError, ValueError):
            found.append((path.stat().st_mtime_ns, path.parent, RunFile.read(path)))
    for _, folder, file in sorted(found, key=lambda each: each[0], reverse=True):
        yield folder, file


def _logs_since(folder: Path) -> datetime | None:
    """Return a time after which no line of a log was told of; the last second may come twice, but none is lost.

    None where that isn't known: nothing was read, or the machine's clock was set back since, and new lines are older.
    """
    try:
        at = (folder / _LOGS_READ).stat().st_mtime
    except OSError:
        return None
    if at > time.time():  # noqa: TID251 - a file's time is the machine's
        return None
    return datetime.fromtimestamp(at, UTC) - timedelta(seconds=MARK_SECONDS)


def _absolute(manifests: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(str(Path(path).absolute()) for path in manifests)


def digest_of(sources: Mapping[str, str]) -> str:
    """Return a digest of what was read."""
    digest = hashlib.sha256()
    for text in sources.values():
        digest.update(f"{len(text)}:{text}".encode())
    return digest.hexdigest()


def how_to_remove(root: Path) -> str:
    """Return what a user is told who may not want to go on with a run."""
    return f"to remove what is left: kubelet-emu prune --root-dir {root}"


def objects_folder(instance: Instance) -> Path:
    """Return where a run's API objects are kept."""
    return instance.path / _OBJECTS


@define(eq=False)
class RunFolder:
    """Writes what another process needs to go on with this run; see `Session` for when it is told to stop."""

    instance: Instance
    _next_mark: float = field(default=0.0, init=False)

    def begin(self, options: RunOptions, digest: str, seed: int, starts: int) -> None:
        """Write down whose folder it is and what this run is known by; OSError. One of stdin can't be found again."""
        from runtime.docker.owner import Owner
        from runtime.docker.state_folder import write_owner

        write_owner(self.instance.path, Owner.current())
        paths = _absolute(options.manifests)
        file = RunFile(manifests=paths, node_name=options.node_name, digest=digest, seed=seed, starts=starts)
        if "-" not in options.manifests:
            file.write(self.instance.path / RUN_FILE)
        self._make_room(starts)

    def _make_room(self, starts: int) -> None:
        """Put aside what the process before wrote for second terminals; its records stay beside the new ones."""
        folder = self.instance.path
        for name in (SOCKET, RUN):
            (folder / name).unlink(missing_ok=True)
        with suppress(FileNotFoundError):
            (folder / RECORDS).rename(folder / f"{RECORDS}.{starts - 1}")

    def is_cleaned(self) -> bool:
        """Tell whether the runtime has removed its part; it may have failed before it came to what is gone on with."""
        from runtime.docker.state_folder import OWNER_FILE

        return not (self.instance.path / OWNER_FILE).exists()

    def end(self) -> None:
        """Let nobody go on with this run: it was told to stop, or has ended."""
        with suppress(OSError):
            (self.instance.path / RUN_FILE).unlink(missing_ok=True)

    def __call__(self, entry: Entry) -> None:
        """Note that logs were read up to now, once a second at most, and that the run as a whole is to stop."""
        record = entry.record
        if isinstance(record, EndRecord) or (isinstance(record, RequestRecord) and record.ref is None):
            self.end()
        if isinstance(record, LogRecord):
            self._mark()

    def _mark(self) -> None:
        now = time.perf_counter()
        if now >= self._next_mark:
            self._next_mark = now + MARK_SECONDS
            with suppress(OSError):
                (self.instance.path / _LOGS_READ).touch(mode=0o600)
