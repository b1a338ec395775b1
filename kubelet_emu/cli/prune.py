"""`kubelet-emu prune`: what dead or kept runs have left in the engine and in the state folder."""

from __future__ import annotations

import os
from pathlib import Path

import click

CLEAN_UP_SECONDS = 10.0


@click.command("prune")
@click.option(
    "--root-dir", type=click.Path(path_type=Path, file_okay=False), metavar="DIR", help="Where state is kept."
)
def command(root_dir: Path | None) -> None:
    """Remove containers, networks, volumes and folders of runs whose process is gone, kept ones included.

    A run that still lives on this machine is left alone. Exit status: 3 when no engine answers, else 0.
    """
    import trio

    from kubelet_emu.embedding.instances import default_root

    root = root_dir or default_root(os.environ, os.getuid())
    removed = trio.run(_sweep, root)
    for name in removed:
        click.echo(f"removed what run {name} had left")
    if not removed:
        click.echo("nothing is left behind", err=True)


async def _sweep(root: Path) -> tuple[str, ...]:
    import trio

    from kubelet_emu.embedding.instances import new_instance_id
    from runtime.docker import DockerRuntime

    async with DockerRuntime(new_instance_id(), root=root) as runtime:
        try:
            removed = await runtime.sweep_dead_owners(include_kept=True)
            await runtime.remove_own_pause_image()
        finally:
            with trio.CancelScope(shield=True, deadline=trio.current_time() + CLEAN_UP_SECONDS):
                await runtime.remove_all()
        return removed
