"""`kubelet-emu attach`: the terminal of a container that runs."""

from __future__ import annotations

import click

from kubelet_emu.cli.remote.completion import complete_containers, complete_resources
from kubelet_emu.cli.remote.detaching import DEFAULT_KEYS
from kubelet_emu.cli.remote.flags import KubectlCommand
from kubelet_emu.cli.remote.parameters import pod_running_timeout, remote_parameters
from kubelet_emu.cli.remote.target import target_of
from kubelet_emu.cli.remote.words import Refusal


@click.command("attach", cls=KubectlCommand)
@click.argument("pod", metavar="POD|TYPE/NAME", shell_complete=complete_resources)
@click.option("-c", "--container", help="The container; default: the first one.", shell_complete=complete_containers)
@click.option("-i", "--stdin", is_flag=True, help="Pass stdin to the container.")
@click.option("-t", "--tty", is_flag=True, help="Stdin is a terminal.")
@click.option("-q", "--quiet", is_flag=True, help="Only print what the container prints.")
@click.option(
    "--detach-keys",
    default=DEFAULT_KEYS,
    show_default=True,
    metavar="KEYS",
    help="The keys that leave a terminal's session, and the container running.",
)
@pod_running_timeout
@remote_parameters
def command(pod: str, container: str | None, detach_keys: str, **given: object) -> None:
    """Join the streams of a container's first process: `attach -it POD` where it has `stdin` and `tty`.

    Its output is shown from now on; `logs` has what was before. TYPE is svc, deploy, rs, sts, ds or job: its most
    active pod is taken. Without -i nothing is sent. The end of the input closes that of a container with `stdinOnce`
    and no `tty`; it ends the session with any other one, and the container doesn't notice. Exit status: 0, 1 when the
    container doesn't run, 2 when no run is found.
    """
    import trio

    from kubelet_emu.cli.remote.attachable import Wanted
    from kubelet_emu.cli.remote.attaching import AttachRequest, attach
    from kubelet_emu.cli.remote.detaching import DetachKeys

    try:
        keys = DetachKeys.parse(detach_keys)
    except ValueError as error:
        raise Refusal(str(error)) from error
    wanted = Wanted.of(pod, container, given)
    request = AttachRequest(
        wanted=wanted, detach_keys=keys, has_stdin=bool(given["stdin"]), wants_tty=bool(given["tty"])
    )
    trio.run(attach, target_of(given), request)
