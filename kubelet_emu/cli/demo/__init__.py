"""`kubelet-emu demo`: a Job with a native sidecar, with its manifest and its image in the package."""

from __future__ import annotations

import sys
from contextlib import asynccontextmanager
from importlib.resources import as_file, files
from pathlib import Path
from typing import TYPE_CHECKING

import click

from kubelet_emu.cli.parameters import run_parameters, to_options

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from kubelet_emu.cli.emulator import ClusterEmulator
    from kubelet_emu.cli.execution import Running
    from runtime.docker import DockerRuntime

IMAGE = "kubelet-emu.local/busybox:1"
SHELLS = ("/bin/busybox", "/usr/bin/busybox", "/bin/busybox.static")


@click.command("demo")
@click.option("--show", is_flag=True, help="Print the manifest and run nothing.")
@run_parameters
def command(show: bool, **given: object) -> None:  # noqa: FBT001 - click's way
    """Run a Job whose pod has a native sidecar, on the Docker engine that answers.

    The manifest is part of this program and its image is made here: no checkout and no registry is needed.
    """
    manifest = files(__package__) / "job.yaml"
    if show:
        click.echo(manifest.read_text(), nl=False)
        return
    from kubelet_emu.cli.execution import Streams, execute

    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]
    with as_file(manifest) as path:
        sys.exit(execute(to_options((str(path),), given), Streams(), _open))


@asynccontextmanager
async def _open(running: Running) -> AsyncIterator[ClusterEmulator]:
    from kubelet_emu.cli.emulator import open_emulator

    async with open_emulator(running, _image) as emulator:
        yield emulator


@asynccontextmanager
async def _image(runtime: DockerRuntime) -> AsyncIterator[None]:
    """Have the demo's image in the engine while the demo runs."""
    from kubelet_emu.cli.demo.image import archive_of, find_shell

    if await runtime.image_status(IMAGE) is not None:
        yield
        return
    shell = find_shell(tuple(Path(path) for path in SHELLS))
    archive = archive_of(shell.read_bytes(), IMAGE)
    await runtime.bridge.write(lambda client: list(client.load_image(archive)))
    try:
        yield
    finally:
        await runtime.remove_image(IMAGE)
