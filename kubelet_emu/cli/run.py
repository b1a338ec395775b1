"""`kubelet-emu run`: parse and hand over."""

from __future__ import annotations

import sys

import click

from kubelet_emu.cli.parameters import refuse_simulated_options, run_parameters, to_options


@click.command("run")
@click.argument("manifests", nargs=-1, required=True, metavar="MANIFEST...")
@run_parameters
def command(manifests: tuple[str, ...], **given: object) -> None:
    """Run manifests (files, folders, - for stdin) until their pods end, or until Ctrl-C.

    Container logs go to stdout as POD CONTAINER TIME LINE, what happens to stderr, and a summary at the end. Ctrl-C
    deletes all pods gracefully, a second one with grace 0, a third leaves at once.

    Exit status, first match: 2 bad manifest or option, or nothing to run; 3 no engine; 124 --timeout; 130 a second
    Ctrl-C; 1 something of --fail-on happened, or stdout or a file could not be written; after a stop that was
    asked for, 0 if each pod had been Ready or has Succeeded, no init container failed and no Job was stopped before its
    end, which only --delete-when may do, else 1; otherwise 0 only if everything succeeded.
    """
    from kubelet_emu.cli.execution import execute
    from kubelet_emu.cli.outputs import Streams

    options = to_options(manifests, given)
    if not options.is_simulated:
        refuse_simulated_options(click.get_current_context())
    if options.is_simulated:
        from kubelet_emu.cli.simulation import collect_less_often, open_simulated

        collect_less_often()
        sys.exit(execute(options, Streams(), open_simulated))
    from kubelet_emu.cli.emulator import open_emulator

    sys.exit(execute(options, Streams(), open_emulator))
