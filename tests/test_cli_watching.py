"""`run --watch`: what counts as a save, and what a run does with one; in virtual time, and once as a process."""

from __future__ import annotations

import io
import os
import signal
import subprocess
import sys
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import pytest
import trio
from attrs import define, field
from click.testing import CliRunner
from trio.testing import MockClock

from kubelet_emu.cli.execution import clock_of
from kubelet_emu.cli.main import main
from kubelet_emu.cli.options import RunOptions
from kubelet_emu.cli.outputs import Streams
from kubelet_emu.cli.simulation import open_simulated
from kubelet_emu.cli.watching.rerunning import Rerunning
from kubelet_emu.cli.watching.saves import Saves, unwatchable, watched
from kubelet_emu.journal.records import EndRecord, NoteRecord, RequestRecord, StatusRecord, StopRecord
from runtime.api import RuntimeUnavailableError

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterator

    from kubelet_emu.cli.run_plan import Running
    from kubelet_emu.cli.session import Emulator
    from kubelet_emu.journal.encode import Entry
    from kubelet_emu.journal.records import Record

    Seen = TypeVar("Seen", bound=Record)

SERVER = """\
apiVersion: v1
kind: Pod
metadata: {name: web}
spec:
  terminationGracePeriodSeconds: 7
  containers:
  - {name: main, image: "nginx:1"}
"""
SHORT = """\
apiVersion: v1
kind: Pod
metadata: {name: web}
spec:
  restartPolicy: Never
  containers:
  - {name: main, image: "busybox:1", command: [sh, -c, "echo one"]}
"""


@pytest.fixture
def manifest(tmp_path: Path) -> Path:
    """Write a manifest."""
    path = tmp_path / "pod.yaml"
    path.write_text(SHORT)
    return path


def rename(path: Path, text: str) -> None:
    """Save as most editors do."""
    beside = path.with_name(f".{path.name}.swp")
    beside.write_text(text)
    beside.rename(path)


def remove_first(path: Path, text: str) -> None:
    path.unlink()
    path.write_text(text)


def in_place(path: Path, text: str) -> None:
    path.write_text(text)


def same_stamp(path: Path, text: str) -> None:
    """Save so quickly after the last look that no stamp of the file tells it."""
    before = path.stat()
    path.write_text(text.ljust(before.st_size)[: before.st_size])
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


def touch(path: Path, _text: str) -> None:
    path.touch()


def rewrite(path: Path, _text: str) -> None:
    rename(path, path.read_text())


SAVED: list[tuple[str, Callable[[Path, str], None], bool]] = [
    ("in place", in_place, True),
    ("by renaming", rename, True),
    ("by removing first", remove_first, True),
    ("within a tick of the file system's clock", same_stamp, True),
    ("the time alone", touch, False),
    ("with what it held", rewrite, False),
]


@pytest.mark.parametrize(("why", "save", "counts"), SAVED, ids=[row[0] for row in SAVED])
async def test_a_save_is_other_content(
    why: str, save: Callable[[Path, str], None], counts: object, manifest: Path, autojump_clock: MockClock
) -> None:
    saves = Saves(RunOptions(manifests=(str(manifest),)))
    saves.take()
    save(manifest, "kind: Other\n")
    found: tuple[str, ...] = ()
    with trio.move_on_after(60):
        found = await saves.next()
    assert found == ((str(manifest),) if counts else ()), why
    assert trio.current_time() == (1.0 if counts else 60.0), "two looks, half a second apart"


async def test_a_save_is_known_once(manifest: Path, autojump_clock: MockClock) -> None:
    saves = Saves(RunOptions(manifests=(str(manifest),)))
    saves.take()
    for text in ("kind: A\n", "kind: B\n"):
        in_place(manifest, text)
        assert await saves.next() == (str(manifest),)
    with trio.move_on_after(60) as scope:
        await saves.next()
    assert scope.cancelled_caught


async def test_what_is_still_being_written_is_waited_for(manifest: Path, autojump_clock: MockClock) -> None:
    saves = Saves(RunOptions(manifests=(str(manifest),)))
    saves.take()

    async def write() -> None:
        for number in range(10):
            in_place(manifest, SHORT + "#\n" * number)
            await trio.sleep(0.4)

    async with trio.open_nursery() as nursery:
        nursery.start_soon(write)
        await saves.next()
    assert trio.current_time() == 4.5, "the last write was at 3.6 s, the two looks after it at 4 and 4.5"


async def test_a_folder_counts_with_the_files_that_come_and_go(tmp_path: Path, autojump_clock: MockClock) -> None:
    (tmp_path / "a.yaml").write_text(SHORT)
    saves = Saves(RunOptions(manifests=(str(tmp_path),)))
    saves.take()
    (tmp_path / "notes.txt").write_text("no manifest")
    (tmp_path / "b.yaml").write_text(SHORT)
    assert await saves.next() == (str(tmp_path / "b.yaml"),)
    (tmp_path / "a.yaml").unlink()
    assert await saves.next() == (str(tmp_path / "a.yaml"),)


def test_all_that_a_run_is_made_of_is_watched(tmp_path: Path) -> None:
    for name in ("pod.yaml", "pod.simulate.yaml", "other.yaml", "config.yaml"):
        (tmp_path / name).write_text("{}")
    given = {"manifests": (str(tmp_path / "pod.yaml"), str(tmp_path / "gone")), "config": tmp_path / "config.yaml"}
    names = [Path(each).name for each in watched(RunOptions(**given))]  # type: ignore[arg-type]
    assert names == ["pod.yaml", "gone", "config.yaml"]
    simulated = RunOptions(runtime="simulated", **given)  # type: ignore[arg-type]
    assert [Path(each).name for each in watched(simulated)] == [*names, "pod.simulate.yaml"]


def test_what_can_be_read_only_once_is_not_watched(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    assert unwatchable(RunOptions(manifests=("pod.yaml", str(tmp_path)))) == ""
    assert unwatchable(RunOptions(manifests=("pod.yaml", "-"))) == "-"
    assert unwatchable(RunOptions(manifests=(str(pipe),))) == str(pipe)
    result = CliRunner().invoke(main, ["run", "--watch", "--runtime", "simulated", "-"])
    assert result.exit_code == 2
    assert "--watch: - can't be read again: name files or folders" in result.output


class Answering(io.StringIO):
    """A stderr that does the next of its acts each time somebody is told to wait for a save."""

    def __init__(self, *acts: Callable[[], object]) -> None:
        """Keep the acts."""
        super().__init__()
        self.acts = iter(acts)

    def write(self, text: str, /) -> int:
        if text.startswith("waiting for a save of "):
            next(self.acts)()
        return super().write(text)


def interrupt() -> None:
    signal.raise_signal(signal.SIGINT)


@define(eq=False)
class Watched:
    """A `run --watch` in virtual time; `on_record` sees what happens, and `acts` come when a save is waited for.

    With `in_real_time` saves count while a run goes on, as in real time.
    """

    manifest: Path
    acts: tuple[Callable[[], object], ...]
    on_record: Callable[[Record], None] = field(default=lambda _record: None)
    in_real_time: bool = False
    open_emulator: Callable[[Running], object] = open_simulated
    entries: list[Entry] = field(factory=list)
    err: str = ""

    def run(self) -> int:
        err = Answering(*self.acts)
        options = RunOptions(
            manifests=(str(self.manifest),), runtime="simulated", watch=True, speed=1.0 if self.in_real_time else None
        )
        status = Rerunning(
            options=options,
            streams=Streams(out=io.StringIO(), err=err, listeners=(self,)),
            open_emulator=self.open_emulator,  # type: ignore[arg-type]
            clock=self._clock,
            waiting_clock=MockClock(autojump_threshold=0),
        ).run()
        self.err = err.getvalue()
        return status

    def _clock(self, options: RunOptions) -> trio.abc.Clock | None:
        return MockClock(autojump_threshold=0) if self.in_real_time else clock_of(options)

    def __call__(self, entry: Entry) -> None:
        self.entries.append(entry)
        self.on_record(entry.record)

    def all(self, kind: type[Seen]) -> list[Seen]:
        return [entry.record for entry in self.entries if isinstance(entry.record, kind)]

    def ends(self) -> list[str]:
        return [record.why for record in self.all(EndRecord)]

    def asked(self) -> list[object]:
        return [record.details["because"] for record in self.all(RequestRecord)]


def test_a_run_that_has_ended_waits_for_the_next_save(manifest: Path) -> None:
    runs = Watched(manifest, (lambda: rename(manifest, SHORT.replace("echo one", "exit 3")), interrupt))
    assert runs.run() == 1, "that of the last run"
    assert runs.ends() == ["everything has ended"] * 2
    told = runs.err.splitlines()
    assert told.count(f"waiting for a save of {manifest} (Ctrl-C ends)") == 2
    assert [line for line in told if line.startswith("web  ")] == ["web  Succeeded", "web  Failed"]


def test_what_cant_be_run_says_so_and_waits(manifest: Path) -> None:
    manifest.write_text(SHORT.replace("image:", "imag:"))
    nothing_to_run = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n"
    texts = ("kind: [\n", nothing_to_run, SHORT)
    saves = [lambda text=text: rename(manifest, text) for text in texts]
    runs = Watched(manifest, (*saves[:2], manifest.unlink, saves[2], interrupt))
    assert runs.run() == 0
    wanted = ["Unknown field", "pod.yaml:2:1: error", "nothing to run", "Unreadable", "waiting", "web  Succeeded"]
    told = iter(runs.err.splitlines())
    assert [word for word in wanted if any(word in line for line in told)] == wanted
    assert len(runs.ends()) == 1


def test_ctrl_c_before_the_first_run_is_the_status_of_a_bad_manifest(manifest: Path) -> None:
    manifest.write_text(SHORT.replace("image:", "imag:"))
    assert Watched(manifest, (interrupt,)).run() == 2


def test_without_an_engine_nothing_is_waited_for(manifest: Path) -> None:
    @asynccontextmanager
    async def open_nothing(_running: Running) -> AsyncIterator[Emulator]:
        raise RuntimeUnavailableError("connection refused")
        yield

    runs = Watched(manifest, (), open_emulator=open_nothing)
    assert runs.run() == 3
    assert runs.err.startswith("error: no container engine: connection refused\n")


def once(does: Callable[[], object], when: Callable[[Record], bool]) -> Callable[[Record], None]:
    """Do something at the first record of a kind."""
    left = [does]

    def see(record: Record) -> None:
        if left and when(record):
            left.pop()()

    return see


def is_running(record: Record) -> bool:
    return isinstance(record, StatusRecord) and record.status.phase == "Running"


def test_a_save_ends_the_run_with_its_grace_and_begins_the_next(manifest: Path) -> None:
    manifest.write_text(SERVER)
    save = once(lambda: rename(manifest, SHORT), is_running)
    runs = Watched(manifest, (interrupt,), save, in_real_time=True)
    assert runs.run() == 0
    assert runs.ends() == ["a manifest was saved", "everything has ended"]
    assert runs.asked() == [f"{manifest} was saved"]
    assert [stop.timeout for stop in runs.all(StopRecord) if stop.what == "StopContainer"][:1] == [7.0], "own grace"
    assert runs.err.index("web  Succeeded    stop") < runs.err.rindex("web is Running"), "one after the other"


def test_a_save_that_cant_be_run_leaves_what_runs(manifest: Path) -> None:
    manifest.write_text(SERVER)
    save = once(lambda: rename(manifest, SERVER.replace("image:", "imag:")), is_running)
    runs = Watched(manifest, (interrupt,), save, in_real_time=True)
    assert runs.run() == 0
    assert "Unknown field" in runs.err
    assert f"{manifest} can't be run: what runs goes on\n" in runs.err
    assert runs.asked() == ["--until 3600"]


def test_ctrl_c_while_a_run_makes_room_is_the_end_of_all(manifest: Path) -> None:
    manifest.write_text(SERVER)
    save = once(lambda: rename(manifest, SHORT), is_running)
    press = once(interrupt, lambda record: isinstance(record, RequestRecord))

    def see(record: Record) -> None:
        save(record)
        press(record)

    runs = Watched(manifest, (), see, in_real_time=True)
    assert runs.run() == 0
    assert runs.ends() == ["a stop was asked for"]
    assert "SIGINT: this run is the last\n" in runs.err


def test_ctrl_c_twice_while_a_run_makes_room_takes_the_grace_away(manifest: Path) -> None:
    deaf = SERVER.replace("nginx:1", "busybox:1").replace(
        ':1"}', ':1", command: [sh, -c, "trap : TERM; while :; do sleep 1; done"]}'
    )
    manifest.write_text(deaf)
    save = once(lambda: rename(manifest, SHORT), is_running)
    presses = [once(interrupt, is_of) for is_of in (is_a_stop, is_a_note)]

    def see(record: Record) -> None:
        for each in (save, *presses):
            each(record)

    runs = Watched(manifest, (), see, in_real_time=True)
    assert runs.run() == 130
    assert runs.ends() == ["interrupted twice"]


def is_a_stop(record: Record) -> bool:
    return isinstance(record, StopRecord)


def is_a_note(record: Record) -> bool:
    return isinstance(record, NoteRecord) and record.text.endswith("this run is the last")


@contextmanager
def a_program(*words: str) -> Iterator[subprocess.Popen[str]]:
    command = [sys.executable, "-m", "kubelet_emu", "run", "--watch", *words]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as process:
        try:
            yield process
        finally:
            process.kill()


def until(process: subprocess.Popen[str], text: str) -> str:
    """Read what a program tells up to a line with a text; an end of its stderr before that fails."""
    assert process.stderr is not None
    seen = ""
    for line in process.stderr:
        seen += line
        if text in line:
            return seen
    raise AssertionError(seen)


def test_the_program_runs_again_when_its_manifest_is_saved(manifest: Path) -> None:
    with a_program("--runtime", "simulated", str(manifest)) as process:
        until(process, "waiting for a save of")
        rename(manifest, SHORT.replace("name: web", "name: other"))
        assert "other  Succeeded" in until(process, "waiting for a save of")
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=60) == 0
