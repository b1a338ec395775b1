"""`kubelet-emu describe`: all of a pod or a Job of a run on a page, as kubectl shows it."""

from __future__ import annotations

import sys

import click

from kubelet_emu.cli.remote.completion import complete_described
from kubelet_emu.cli.remote.flags import KubectlCommand
from kubelet_emu.cli.remote.parameters import SELECTOR_HELP, remote_parameters
from kubelet_emu.cli.remote.target import target_of
from kubelet_emu.cli.remote.words import write_out


@click.command("describe", cls=KubectlCommand)
@click.argument("words", nargs=-1, metavar="NAME | KIND [NAME]... | KIND/NAME...", shell_complete=complete_described)
@click.option("-l", "--selector", metavar="SELECTOR", help=f"All with these labels: {SELECTOR_HELP}.")
@click.option("-A", "--all-namespaces", "everywhere", is_flag=True, help="Those of all namespaces.")
@click.option("--show-events/--no-show-events", default=True, help="With the events about it, or without.")
@remote_parameters
def command(words: tuple[str, ...], **given: object) -> None:
    """Describe pods of a run, or Jobs: `web`, `pods`, `pod web db`, `job/demo`; all pods without words.

    A name that no object has stands for all whose names begin so. Exit status: 0, 1 when one isn't there, 2 when no
    run is found.
    """
    import trio

    from kubelet_emu.cli.remote.describing import describe, request_of

    sys.exit(0 if trio.run(describe, target_of(given), request_of(words, given), write_out) else 1)
