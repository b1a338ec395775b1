"""`kubelet-emu ps`: the pods of a run, as `kubectl get pods` shows them."""

from __future__ import annotations

import sys

import click

from kubelet_emu.cli.remote.completion import complete_resources
from kubelet_emu.cli.remote.flags import KubectlCommand
from kubelet_emu.cli.remote.get_parameters import get_parameters
from kubelet_emu.cli.remote.target import target_of
from kubelet_emu.cli.remote.words import pod_name, write_out


@click.command("ps", cls=KubectlCommand)
@click.argument("pods", nargs=-1, metavar="[POD]...", shell_complete=complete_resources)
@get_parameters
@click.option("--plain", is_flag=True, help="With -w: a line for each change, also on a terminal.")
def command(pods: tuple[str, ...], plain: bool, **given: object) -> None:  # noqa: FBT001 - click's way
    """Show the pods of a run; `get pods` is the same.

    With -w on a terminal, all containers in a live view: states, probes, what comes next and when. Of a run that has
    ended and has left its state (--keep, or a crash), its records tell. Exit status: 0, 1 when a pod isn't there, 2
    when no run is found.
    """
    import trio

    from kubelet_emu.cli.remote.kinds import POD
    from kubelet_emu.cli.remote.requests import requests_of
    from kubelet_emu.cli.remote.showing import show

    (request,) = requests_of([(POD, tuple(map(pod_name, pods)))], given)
    if request.watches and not plain:
        from kubelet_emu.cli.remote.live_watching import is_for_view, watch

        if is_for_view(request, sys.stdout):
            sys.exit(0 if trio.run(watch, target_of(given), request) else 1)
    sys.exit(0 if trio.run(show, target_of(given), (request,), write_out) else 1)
