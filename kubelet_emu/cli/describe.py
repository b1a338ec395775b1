"""`kubelet-emu describe`: all of a pod or a Job of a run on a page, as kubectl shows it."""

from __future__ import annotations

import sys

import click

from kubelet_emu.cli.remote.completion import complete_described
from kubelet_emu.cli.remote.flags import KubectlCommand
from kubelet_emu.cli.remote.parameters import remote_parameters
from kubelet_emu.cli.remote.target import target_of
from kubelet_emu.cli.remote.words import write_out


@click.command("describe", cls=KubectlCommand)
@click.argument("words", nargs=-1, required=True, metavar="[pod|job] NAME", shell_complete=complete_described)
@click.option("--show-events/--no-show-events", default=True, help="With the events about it, or without.")
@remote_parameters
def command(words: tuple[str, ...], *, show_events: bool, **given: object) -> None:
    """Describe a pod of a run, or a Job: `NAME`, `pod/NAME`, `job NAME`.

    Exit status: 0, 1 when it isn't there, 2 when no run is found.
    """
    import trio

    from kubelet_emu.cli.remote.describing import describe, read_words

    kind, name = read_words(words)
    write_out(trio.run(describe, target_of(given), kind, name, show_events))
    sys.exit(0)
