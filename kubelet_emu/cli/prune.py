"""`kubelet-emu prune`: what dead or kept runs have left in the engine and in the state folder."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from kubelet_emu.cli.exit_status import FAILED

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

CLEAN_UP_SECONDS = 10.0


@click.command("prune")
@click.option(
    "--root-dir", type=click.Path(path_type=Path, file_okay=False), metavar="DIR", help="Where state is kept."
)
def command(root_dir: Path | None) -> None:
    """Remove containers, networks, volumes and folders of runs whose process is gone, kept ones included.

    A run that still lives on this machine is left alone, and so is one of another state folder: it is named, with the
    command that removes it. Exit status: 3 when no engine answers, 1 when something can't be removed, else 0.
    """
    import trio

    from kubelet_emu.embedding.instances import default_root

    root = root_dir or default_root(os.environ, os.getuid())
    removed, elsewhere, troubles = trio.run(_sweep, root)
    for name in removed:
        click.echo(f"removed what run {name} had left")
    for name, other in elsewhere.items():
        click.echo(f"left alone what run {name} had left: kubelet-emu prune --root-dir {other} removes it", err=True)
    for trouble in troubles:
        click.echo(f"error: {trouble}", err=True)
    if troubles:
        sys.exit(FAILED)
    if not (removed or elsewhere):
        click.echo("nothing is left behind", err=True)


async def _sweep(root: Path) -> tuple[tuple[str, ...], Mapping[str, Path], Sequence[str]]:
    """Remove what this state folder knows of; return the runs, those of other state folders with their roots, troubles.

    Nothing is written for it: where the disk is full, this makes room.
    """
    import trio

    from kubelet_emu.embedding.instances import new_instance_id
    from runtime.docker import DockerRuntime

    async with DockerRuntime(new_instance_id(), root=root, claims=False) as runtime:
        try:
            removed = await runtime.sweep_dead_owners(include_kept=True)
            elsewhere = await runtime.cleaner.dead_elsewhere()
            await runtime.remove_own_pause_image()
        finally:
            with trio.CancelScope(shield=True, deadline=trio.current_time() + CLEAN_UP_SECONDS):
                await runtime.remove_all()
        return removed, elsewhere, runtime.cleaner.troubles
