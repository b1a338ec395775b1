"""`kubelet-emu get`: objects of a run, as kubectl shows them."""

from __future__ import annotations

import sys

import click

from kubelet_emu.cli.remote.completion import complete_kinds_and_names
from kubelet_emu.cli.remote.flags import KubectlCommand
from kubelet_emu.cli.remote.get_parameters import get_parameters
from kubelet_emu.cli.remote.target import target_of
from kubelet_emu.cli.remote.words import write_out


@click.command("get", cls=KubectlCommand)
@click.argument("kind", metavar="KIND[,KIND...][/NAME]", shell_complete=complete_kinds_and_names)
@click.argument("names", nargs=-1, metavar="[NAME]...", shell_complete=complete_kinds_and_names)
@get_parameters
@click.option("--for", "about", metavar="[KIND/]NAME", help="Only events about this object.")
@click.option("--types", metavar="LIST", help="Only events of these types: Normal,Warning.")
def command(kind: str, names: tuple[str, ...], **given: object) -> None:
    """Show objects of a run: pods, events, jobs, and the other kinds that a run has.

    Exit status: 0, 1 when an object isn't there, 2 when no run is found.
    """
    import trio

    from kubelet_emu.cli.remote.requests import read_kinds, requests_of
    from kubelet_emu.cli.remote.showing import show

    requests = requests_of(read_kinds((kind, *names)), given)
    sys.exit(0 if trio.run(show, target_of(given), requests, write_out) else 1)
