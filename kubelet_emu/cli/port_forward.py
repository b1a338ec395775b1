"""`kubelet-emu port-forward`: ports of this machine lead into a pod of a run in another terminal."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import click

from kubelet_emu.cli.parameters import NON_NEGATIVE

if TYPE_CHECKING:
    from kubelet_emu.cli.forwarding.targets import PortWords, Target


@click.command("port-forward")
@click.argument("target", metavar="POD|TYPE/NAME")
@click.argument("ports", nargs=-1, required=True, metavar="[LOCAL:]REMOTE...")
@click.option("-n", "--namespace", default="default", show_default=True, help="The pod's namespace.")
@click.option(
    "--address",
    "addresses",
    multiple=True,
    metavar="ADDRESS,...",
    help="Where to listen: IP addresses, or localhost (the default), which is 127.0.0.1 and ::1.",
)
@click.option(
    "--pod-running-timeout",
    "timeout",
    type=NON_NEGATIVE,
    default=60.0,
    metavar="SECONDS",
    show_default="1m",
    help="How long to wait for a pod of a workload or a Service to run.",
)
@click.option("--run", "run_id", metavar="ID", help="The run that has the pod, where several do.")
@click.option(
    "--root-dir", type=click.Path(path_type=Path, file_okay=False), metavar="DIR", help="Where the run keeps its state."
)
def command(  # noqa: PLR0913, PLR0917 - one for each option
    target: str,
    ports: tuple[str, ...],
    namespace: str,
    addresses: tuple[str, ...],
    timeout: float,
    run_id: str | None,
    root_dir: Path | None,
) -> None:
    """Forward ports of this machine to a pod of a run, until Ctrl-C or until the pod ends.

    TYPE is pod, svc, deploy, rs, sts, ds or job: one of its pods that runs is taken. A REMOTE port may be a name; LOCAL
    is the same number unless it is given, and `:REMOTE` listens on any free port. Connections arrive from inside the
    pod, at its loopback. Exit status: 0 after Ctrl-C, 1 when the pod isn't there, doesn't run or has ended, or when no
    port could be opened, 3 when no engine answers.
    """
    import trio

    from kubelet_emu.cli.forwarding.forward import Request, forward
    from kubelet_emu.embedding.instances import default_root

    request = Request(
        target=_read_target(target),
        ports=tuple(map(_read_port, ports)),
        namespace=namespace,
        addresses=_addresses(addresses),
        timeout=timeout,
        root=root_dir or default_root(os.environ, os.getuid()),
        run_id=run_id,
    )
    trio.run(forward, request)


def _read_target(text: str) -> Target:
    from kubelet_emu.cli.forwarding.targets import Target

    try:
        return Target.parse(text)
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
