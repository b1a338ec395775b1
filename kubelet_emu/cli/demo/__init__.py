"""`kubelet-emu demo`: a Job with a native sidecar, with its manifest and its image in the package."""

from __future__ import annotations

import json
import sys
from contextlib import asynccontextmanager
from importlib.resources import as_file, files
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import TYPE_CHECKING

import click
from attrs import evolve

from kubelet_emu.cli.parameters import run_parameters, to_options

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from kubelet_emu.cli.emulator import ClusterEmulator
    from kubelet_emu.cli.options import RunOptions
    from kubelet_emu.cli.run_plan import Running
    from runtime.docker import DockerRuntime

IMAGE = "kubelet-emu.local/busybox:1"


@click.command("demo")
@click.option("--show", is_flag=True, help="Print the manifest and run nothing.")
@run_parameters
def command(show: bool, **given: object) -> None:  # noqa: FBT001 - click's way
    """Run a Job whose pod has a native sidecar: in virtual time, then on the Docker engine that answers.

    The manifest is part of this program and its image is made here: no checkout and no registry is needed. Exit
    status: as of `run`.
    """
    manifest = files(__package__) / "job.yaml"
    if show:
        click.echo(manifest.read_text(), nl=False)
        return
    from kubelet_emu.cli.execution import execute
    from kubelet_emu.cli.exit_status import NO_ENGINE
    from kubelet_emu.cli.outputs import Streams

    with as_file(manifest) as path:
        options = to_options((str(path),), given)
        status = _simulate(options)
        if status == 0 and not options.is_simulated:
            click.echo("\nThe same on Docker:\n", err=True)
            status = execute(options, Streams(), _open)
    sys.exit(0 if status == NO_ENGINE else status)


def _simulate(options: RunOptions) -> int:
    """Run the demo in virtual time, say how long that took, and return the exit status."""
    from kubelet_emu.cli.execution import execute
    from kubelet_emu.cli.outputs import Streams
    from kubelet_emu.cli.simulation import open_simulated

    with TemporaryDirectory() as folder:
        trace = Path(folder) / "trace.jsonl"
        if options.is_simulated:
            trace = options.trace or trace
        else:  # the run on Docker writes what was asked for
            options = evolve(options, runtime="simulated", log=None, timeline=None)
        began_at = perf_counter()
        status = execute(evolve(options, trace=trace), Streams(), open_simulated)
        took = perf_counter() - began_at
        if not trace.exists():
            return status
        lived = max((json.loads(line)["t"] for line in trace.read_text().splitlines()), default=0.0)
    click.echo(f"Simulated: {lived:.0f} s of pod life in {took:.2f} s.", err=True)
    return status


@asynccontextmanager
async def _open(running: Running) -> AsyncIterator[ClusterEmulator]:
    from kubelet_emu.cli.emulator import open_emulator

    async with open_emulator(running, _image) as emulator:
        yield emulator


@asynccontextmanager
async def _image(runtime: DockerRuntime) -> AsyncIterator[None]:
    """Have the demo's image in the engine while the demo runs."""
    from kubelet_emu.cli.busybox_image import archive_of, find_shell

    if await runtime.image_status(IMAGE) is not None:
        yield
        return
    await runtime.publisher.load(archive_of(find_shell().read_bytes(), IMAGE))
    try:
        yield
    finally:
        await runtime.remove_image(IMAGE)
