"""Measure kubelet-emu on this machine's Docker engine and print ratios.

Each number is compared to bare calls (of the engine, or of Python) that were made in the same run, by turns, because
only such ratios mean something on another machine. Takes under five minutes and removes what it made. Nothing else
should run meanwhile. `--quick` takes small sizes, once: to see that it works, not to compare.
"""

from __future__ import annotations

import argparse
import os
import signal
import sys
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import docker
import startup
from bare import BarePods, remove_all
from emulated import EmulatedPods, MeasurementError
from marks import Measured, Row, format_table, rows_of
from shapes import FULL, IMAGE, QUICK, Shape

from kubelet_emu.cli.busybox_image import archive_of, find_shell

if TYPE_CHECKING:
    from collections.abc import Iterator

BUDGET_SECONDS = 240.0
NO_ENGINE = 3


def main() -> int:
    """Measure and print; the exit status is 0 when all was measured."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="small sizes, once each")
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    client = docker.APIClient(version="auto")
    try:
        client.ping()
    except docker.errors.DockerException as error:
        say(f"no Docker engine answers: {error}")
        return NO_ENGINE
    with tempfile.TemporaryDirectory(prefix="kubelet-emu-bench-") as folder, _image(client), _owner(client) as owner:
        rows, is_complete = _measure(Path(folder), owner, quick=options.quick)
    print(format_table(rows), end="")
    return 0 if is_complete else 1


def say(text: str) -> None:
    """Print a line of progress."""
    print(text, file=sys.stderr, flush=True)


@contextmanager
def _image(client: Any) -> Iterator[None]:  # noqa: ANN401 - the SDK's client
    """Have the image in the engine; one that was there stays."""
    if client.images(name=IMAGE):
        yield
        return
    shell = find_shell()
    list(client.load_image(archive_of(shell.read_bytes(), IMAGE)))
    try:
        yield
    finally:
        client.remove_image(IMAGE)


@contextmanager
def _owner(client: Any) -> Iterator[str]:  # noqa: ANN401 - the SDK's client
    """Give a label value of this process; at the end remove what carries it."""
    owner = f"{os.getpid()}-{time.time_ns()}"
    try:
        yield owner
    finally:
        remove_all(client, owner)


def _measure(folder: Path, owner: str, *, quick: bool) -> tuple[list[Row], bool]:
    """Return all rows, and whether everything was measured."""
    deadline = time.perf_counter() + BUDGET_SECONDS
    say("start-up")
    rows, is_complete = list(startup.measure(folder, 2 if quick else 10)), True
    for shape in QUICK if quick else FULL:
        try:
            ours, theirs = _by_turns(shape, folder, owner, deadline)
        except MeasurementError as error:
            say(str(error))
            ours, theirs = [], []
        is_complete = is_complete and bool(ours)
        rows += rows_of(shape.name, shape.pods, ours, theirs)
    return rows, is_complete


def _by_turns(shape: Shape, folder: Path, owner: str, deadline: float) -> tuple[list[Measured], list[Measured]]:
    """Measure a shape as often as it wants, while there is time."""
    ours: list[Measured] = []
    theirs: list[Measured] = []
    for turn in range(1, shape.repeats + 1):
        if time.perf_counter() > deadline:
            say(f"{shape.name}: no time left for turn {turn} of {shape.repeats}")
            break
        say(f"{shape.name}: turn {turn} of {shape.repeats}")
        ours.append(EmulatedPods(shape=shape, folder=folder).measure())
        theirs.append(BarePods(shape, owner).measure())
    return ours, theirs


if __name__ == "__main__":
    sys.exit(main())
