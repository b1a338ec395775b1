"""`kubelet-emu port-forward`: ports of this machine lead into a pod of a run in another terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import click

from kubelet_emu.cli.remote.completion import complete_resources
from kubelet_emu.cli.remote.flags import KubectlCommand
from kubelet_emu.cli.remote.parameters import Duration, remote_parameters
from kubelet_emu.cli.remote.target import target_of

if TYPE_CHECKING:
    from kubelet_emu.cli.forwarding.targets import PortWords, Resource


@click.command("port-forward", cls=KubectlCommand)
@click.argument("resource", metavar="POD|TYPE/NAME", shell_complete=complete_resources)
@click.argument("ports", nargs=-1, required=True, metavar="[LOCAL:]REMOTE...")
@click.option(
    "--address",
    "addresses",
    multiple=True,
    metavar="ADDRESS,...",
    help="Where to listen: IP addresses, or localhost (the default), which is 127.0.0.1 and ::1.",
)
@click.option(
    "--pod-running-timeout",
    type=Duration(),
    default=60.0,
    metavar="DURATION",
    show_default="1m",
    help="How long to wait for a pod of a workload or a Service to run.",
)
@remote_parameters
def command(**given: object) -> None:
    """Forward ports of this machine to a pod of a run, until Ctrl-C or until the pod ends.

    TYPE is pod, svc, deploy, rs, sts, ds or job: one of its pods that runs is taken. A REMOTE port may be a name; LOCAL
    is the same number unless it is given, and `:REMOTE` listens on any free port. Connections arrive from inside the
    pod, at its loopback. Exit status: 0 after Ctrl-C, 1 when the pod isn't there, doesn't run or has ended, or when no
    port could be opened, 2 when no run is found, 3 when no engine answers.
    """
    import trio

    from kubelet_emu.cli.forwarding.finding import Wanted
    from kubelet_emu.cli.forwarding.forward import Request, forward

    target = target_of(given)
    wanted = Wanted(
        resource=_read_resource(str(given["resource"])),
        ports=tuple(map(_read_port, cast("tuple[str, ...]", given["ports"]))),
        namespace=target.namespace,
        timeout=cast("float", given["pod_running_timeout"]),
    )
    addresses = _addresses(cast("tuple[str, ...]", given["addresses"]))
    trio.run(forward, Request(target=target, wanted=wanted, addresses=addresses))


def _read_resource(text: str) -> Resource:
    from kubelet_emu.cli.forwarding.targets import Resource

    try:
        return Resource.parse(text)
    except ValueError as error:
        raise click.UsageError(str(error)) from error


def _read_port(text: str) -> PortWords:
    from kubelet_emu.cli.forwarding.targets import PortWords

    try:
        return PortWords.parse(text)
    except ValueError as error:
        raise click.UsageError(str(error)) from error


def _addresses(given: tuple[str, ...]) -> tuple[str, ...]:
    """Return where to listen, each address once."""
    from kubelet_emu.cli.forwarding.carrying import LOCALHOST
    from kubelet_emu.cli.options import read_address

    found: list[str] = []
    for word in (each.strip() for words in given or ("localhost",) for each in words.split(",")):
        try:
            found += LOCALHOST if word == "localhost" else [read_address(word)]
        except ValueError as error:
            raise click.UsageError(f"--address: {error}") from error
    return tuple(dict.fromkeys(found))
