"""`kubelet-emu events`: what happened in a run, in the order of time, as `kubectl events` shows it."""

from __future__ import annotations

import sys

import click

from kubelet_emu.cli.remote.completion import complete_outputs, complete_resources
from kubelet_emu.cli.remote.flags import KubectlCommand
from kubelet_emu.cli.remote.parameters import remote_parameters
from kubelet_emu.cli.remote.target import target_of
from kubelet_emu.cli.remote.words import write_out


@click.command("events", cls=KubectlCommand)
@click.option(
    "--for", "about", metavar="[KIND/]NAME", help="Only those about this object.", shell_complete=complete_resources
)
@click.option("--types", metavar="LIST", help="Only those of these types: Normal,Warning.")
@click.option("-w", "--watch", is_flag=True, help="Go on with a line for each that comes.")
@click.option("-o", "--output", metavar="FORM", shell_complete=complete_outputs, help="json, yaml, or as for get.")
@click.option("-A", "--all-namespaces", "everywhere", is_flag=True, help="Those of all namespaces.")
@click.option("--no-headers", is_flag=True, help="No head above the table.")
@remote_parameters
def command(**given: object) -> None:
    """Show the events of a run in the order in which they were last seen.

    `get events` shows them as a server lists them, object by object. Exit status: 0, 2 when no run is found.
    """
    import trio

    from kubelet_emu.cli.remote.kinds import TIMELINE
    from kubelet_emu.cli.remote.requests import requests_of
    from kubelet_emu.cli.remote.showing import show

    sys.exit(0 if trio.run(show, target_of(given), requests_of([(TIMELINE, ())], given), write_out) else 1)
