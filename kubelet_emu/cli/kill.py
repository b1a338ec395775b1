"""`kubelet-emu kill`: a signal to a container of a run, from outside."""

from __future__ import annotations

import click

from kubelet_emu.cli.remote.completion import complete_containers, complete_resources
from kubelet_emu.cli.remote.flags import KubectlCommand
from kubelet_emu.cli.remote.parameters import remote_parameters
from kubelet_emu.cli.remote.target import target_of
from kubelet_emu.cli.remote.words import pod_name


@click.command("kill", cls=KubectlCommand)
@click.argument("pod", metavar="POD", shell_complete=complete_resources)
@click.option("-c", "--container", help="The container; default: the first one.", shell_complete=complete_containers)
@click.option("-s", "--signal", default="SIGKILL", show_default=True, metavar="SIGNAL", help="TERM, SIGUSR1, ...")
@remote_parameters
def command(pod: str, container: str | None, signal: str, **given: object) -> None:
    """Send a signal to the first process of a container, as an out-of-memory killer or an operator would.

    The kubelet sees what becomes of it and does as it does: a container that ends is restarted by its policy. Exit
    status: 0, 1 when the container doesn't run, 2 when no run is found.
    """
    import trio

    from kubelet_emu.cli.remote.acting import kill

    click.echo(trio.run(kill, target_of(given), pod_name(pod), container, signal))
