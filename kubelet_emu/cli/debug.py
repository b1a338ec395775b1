"""`kubelet-emu debug`: an ephemeral container in a pod of a run."""

from __future__ import annotations

from typing import cast

import click

from kubelet_emu.cli.remote.completion import complete_containers, complete_pods
from kubelet_emu.cli.remote.flags import KubectlCommand
from kubelet_emu.cli.remote.parameters import remote_parameters
from kubelet_emu.cli.remote.target import target_of
from kubelet_emu.cli.remote.words import pod_name


@click.command("debug", cls=KubectlCommand)
@click.argument("pod", metavar="POD", shell_complete=complete_pods)
@click.argument("words", metavar="[-- COMMAND [ARGS...]]", nargs=-1, type=click.UNPROCESSED)
@click.option("--image", default="", help="The image of the new container.")
@click.option("-c", "--container", help="The name of the new container; default: debugger-XXXXX.")
@click.option("--target", help="The container whose processes it sees.", shell_complete=complete_containers)
@click.option("--image-pull-policy", type=click.Choice(["Always", "IfNotPresent", "Never"]), help="When to pull.")
@click.option("--arguments-only", is_flag=True, help="What stands after -- is the container's args, not its command.")
@click.option("--attach", is_flag=True, help="Wait until it runs, then attach; with -i it is done in any case.")
@click.option("-i", "--stdin", is_flag=True, help="Give it a standard input, and attach.")
@click.option("-t", "--tty", is_flag=True, help="Give it a terminal.")
@click.option("-q", "--quiet", is_flag=True, help="Only print what the container prints.")
@remote_parameters
def command(pod: str, words: tuple[str, ...], image: str, container: str | None, **given: object) -> None:
    """Add an ephemeral container to a POD that runs: `debug -it POD --image=busybox --target=app`.

    It is never restarted, and stays in the pod until that ends. Exit status: 0, 1 when there is no such pod or the
    container is refused, 2 when no run is found.
    """
    import trio

    from kubelet_emu.cli.remote.debugging import DebugRequest, debug

    request = DebugRequest(
        pod=pod_name(pod),
        image=image,
        container=container,
        target=cast("str | None", given["target"]),
        pull_policy=cast("str | None", given["image_pull_policy"]),
        command=words,
        are_arguments=bool(given["arguments_only"]),
        has_stdin=bool(given["stdin"]),
        wants_tty=bool(given["tty"]),
        is_quiet=bool(given["quiet"]),
        attaches=bool(given["attach"] or given["stdin"]),
    )
    trio.run(debug, target_of(given), request)
