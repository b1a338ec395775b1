"""`kubelet-emu run`: parse and hand over."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from kubelet_emu.cli.parameters import refuse_simulated_options, run_parameters, to_options
from kubelet_emu.cli.remote.completion import complete_files

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractAsyncContextManager

    from kubelet_emu.cli.emulator import ClusterEmulator
    from kubelet_emu.cli.options import RunOptions
    from kubelet_emu.cli.run_plan import Running


@click.command("run")
@click.argument("manifests", nargs=-1, required=True, metavar="MANIFEST...", shell_complete=complete_files)
@click.option("--watch", is_flag=True, help="Run again when a manifest was saved, until Ctrl-C.")
@run_parameters
def command(manifests: tuple[str, ...], **given: object) -> None:
    """Run manifests (files, folders, - for stdin) until their pods end, or until Ctrl-C.

    Container logs go to stdout as POD CONTAINER TIME LINE, what happens to stderr, and a summary at the end. Ctrl-C
    deletes all pods gracefully, a second one with grace 0, a third leaves at once.

    With --watch, each save of a manifest ends the run as Ctrl-C would and begins the next one; a manifest that can't be
    run is told of and changes nothing. The exit status is that of the last run.

    Exit status, first match: 2 bad manifest or option, or nothing to run; 3 no engine; 124 --timeout; 130 a second
    Ctrl-C; 1 something of --fail-on happened, or stdout or a file could not be written; after a stop that was
    asked for, 0 if each pod had been Ready or has Succeeded, no init container failed and no Job was stopped before its
    end, which only --delete-when may do, else 1; otherwise 0 only if everything succeeded.
    """
    options = to_options(manifests, given)
    if options.is_simulated:
        from kubelet_emu.cli.simulation import collect_less_often, open_simulated

        collect_less_often()
        sys.exit(_execute(options, open_simulated))
    refuse_simulated_options(click.get_current_context())
    from kubelet_emu.cli.emulator import open_emulator

    sys.exit(_execute(options, open_emulator))


def _execute(
    options: RunOptions, open_emulator: Callable[[Running], AbstractAsyncContextManager[ClusterEmulator]]
) -> int:
    """Run once, or again and again; return the exit status."""
    from kubelet_emu.cli.outputs import Streams

    if not options.watch:
        from kubelet_emu.cli.execution import execute

        return execute(options, Streams(), open_emulator)
    from kubelet_emu.cli.watching.rerunning import Rerunning
    from kubelet_emu.cli.watching.saves import unwatchable

    if name := unwatchable(options):
        raise click.UsageError(f"--watch: {name} can't be read again: name files or folders")
    return Rerunning(options=options, streams=Streams(), open_emulator=open_emulator).run()
