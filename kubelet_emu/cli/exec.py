"""`kubelet-emu exec`: a command in a container of a run."""

from __future__ import annotations

import sys

import click

from kubelet_emu.cli.remote.completion import complete_containers, complete_resources
from kubelet_emu.cli.remote.flags import KubectlCommand
from kubelet_emu.cli.remote.parameters import pod_running_timeout, remote_parameters
from kubelet_emu.cli.remote.target import target_of
from kubelet_emu.cli.remote.words import Refusal


@click.command("exec", cls=KubectlCommand)
@click.argument("pod", metavar="POD|TYPE/NAME", shell_complete=complete_resources)
@click.argument("words", metavar="-- COMMAND [ARGS...]", nargs=-1, type=click.UNPROCESSED)
@click.option("-c", "--container", help="The container; default: the first one.", shell_complete=complete_containers)
@click.option("-i", "--stdin", is_flag=True, help="Pass stdin to the container.")
@click.option("-t", "--tty", is_flag=True, help="Stdin is a terminal.")
@click.option("-q", "--quiet", is_flag=True, help="Only print what the command prints.")
@pod_running_timeout
@remote_parameters
def command(pod: str, words: tuple[str, ...], container: str | None, **given: object) -> None:
    """Run a command in a container of a POD, as kubectl does: `exec -it POD -- sh`.

    TYPE is svc, deploy, rs, sts, ds or job: its most active pod is taken. With -it the terminal is raw, and the command
    has one of the same size. Exit status: the command's, 1 when it can't be started or the run is killed meanwhile, 2
    when no run is found.
    """
    import trio

    from kubelet_emu.cli.remote.attachable import Wanted
    from kubelet_emu.cli.remote.executing import ExecRequest, execute

    if not words:
        raise Refusal("you must specify at least one command for the container")
    wanted = Wanted.of(pod, container, given)
    request = ExecRequest(wanted=wanted, command=words, has_stdin=bool(given["stdin"]), wants_tty=bool(given["tty"]))
    status = trio.run(execute, target_of(given), request)
    if status and not wanted.is_quiet:
        click.echo(f"command terminated with exit code {status}", err=True)
    sys.exit(status)
