"""One script in two shells: the simulated one in virtual time, and busybox itself on this machine."""

from __future__ import annotations

import atexit
import os
import shutil
import signal
import stat
import subprocess
import tempfile
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import trio
import trio.testing
from attrs import field, frozen
from simulated_world import a_world

from runtime.api import Mount
from runtime.simulated.tree import Directory, Fifo, File, Symlink

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from simulated_world import World

    from runtime.simulated.tree import Entry

BUSYBOX_PROGRAM = shutil.which("busybox")
ENVIRONMENT = {"HOME": "/root", "LC_ALL": "C.UTF-8", "PATH": "/bin"}
FOLDER = "/w"
_LIMIT_SECONDS = 20.0
_FOREVER = "sleep 100000000"


@frozen
class Shown:
    """What a script left behind: its output, its exit code and the files in its folder."""

    stdout: str
    stderr: str
    code: int
    files: Mapping[str, str] = field(factory=dict)


@cache
def _words_folder() -> Path:
    """Return a folder with a link to busybox for each of its words, gone at the end of the program."""
    assert BUSYBOX_PROGRAM is not None
    folder = Path(tempfile.mkdtemp(prefix="words"))
    atexit.register(shutil.rmtree, folder)
    subprocess.run([BUSYBOX_PROGRAM, "--install", "-s", str(folder)], check=True)
    return folder


def run_busybox(script: str) -> Shown:
    """Run a script with busybox in a new folder; an AssertionError after 20 s."""
    assert BUSYBOX_PROGRAM is not None
    words = str(_words_folder())
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name).resolve() / "w"
        folder.mkdir()
        process = subprocess.Popen(
            [BUSYBOX_PROGRAM, "sh", "-c", script],
            cwd=folder,
            env={**ENVIRONMENT, "PATH": words},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
        try:
            stdout, stderr = process.communicate(timeout=_LIMIT_SECONDS)
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
                process.communicate()
        code = process.returncode if process.returncode >= 0 else 128 - process.returncode
        files = {name: _plain(text, str(folder), words) for name, text in _files(folder)}
        return Shown(_plain(_text(stdout), str(folder), words), _plain(_text(stderr), str(folder), words), code, files)


@contextmanager
def default_signals() -> Iterator[None]:
    """Undo for a while what whoever runs the tests ignores: no shell can trap a signal ignored when it began.

    For the main thread, around `run_busybox`.
    """
    numbers = (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT, signal.SIGTERM)
    ignored = [each for each in numbers if signal.getsignal(each) is signal.SIG_IGN]
    for each in ignored:
        signal.signal(each, signal.SIG_DFL)
    try:
        yield
    finally:
        for each in ignored:
            signal.signal(each, signal.SIG_IGN)


def _text(data: bytes) -> str:
    return data.decode(errors="backslashreplace")


def _plain(text: str, folder: str, words: str) -> str:
    """Return a text with the paths that the simulated shell has."""
    return text.replace(folder, FOLDER).replace(words, ENVIRONMENT["PATH"])


def _files(folder: Path) -> Iterator[tuple[str, str]]:
    for path in sorted(folder.rglob("*")):
        mode = path.lstat().st_mode
        name = str(path.relative_to(folder))
        if stat.S_ISLNK(mode):
            yield name, f"-> {path.readlink()}"
        elif stat.S_ISDIR(mode):
            yield name, "directory"
        elif stat.S_ISFIFO(mode):
            yield name, "fifo"
        else:
            yield name, f"{stat.S_IMODE(mode):o} {_text(path.read_bytes())}"


def simulate(*scripts: str) -> list[Shown]:
    """Run each script in a container of its own, in virtual time."""

    async def run() -> list[Shown]:
        async with a_world() as world:
            return [await _simulate_one(world, script, number) for number, script in enumerate(scripts)]

    return trio.run(run, clock=trio.testing.MockClock(autojump_threshold=0))


async def _simulate_one(world: World, script: str, number: int) -> Shown:
    mount = Mount(container_path=FOLDER, host_path=f"/{number}")
    container = await world.start(_FOREVER, working_dir=FOLDER, mounts=(mount,))
    settings = tuple(f"{name}={value}" for name, value in ENVIRONMENT.items())
    result = await world.runtime.exec_sync(container, ("env", "-i", *settings, "sh", "-c", script))
    host = world.runtime.machine.host
    files = dict(_simulated_files(host.walk(host.make_directories(f"/{number}"))))
    await world.runtime.remove_container(container)
    return Shown(_text(result.stdout), _text(result.stderr), result.exit_code, files)


def _simulated_files(nodes: Iterable[tuple[str, Entry]]) -> Iterator[tuple[str, str]]:
    for path, node in sorted(nodes, key=lambda each: Path(each[0])):
        match node:
            case Symlink():
                yield path, f"-> {node.target}"
            case Directory():
                yield path, "directory"
            case Fifo():
                yield path, "fifo"
            case File():
                yield path, f"{node.mode:o} {_text(bytes(node.data))}"
