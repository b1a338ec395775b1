"""`kubelet-emu drill`: delete a pod in each phase of its life, and show what its shutdowns are like."""

from __future__ import annotations

import os
import shutil
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, cast

import click

from kubelet_emu.cli.mirror_options import mirror_parameters, mirrors_of
from kubelet_emu.cli.remote.completion import complete_files
from kubelet_emu.cli.safety_options import safety_of, safety_parameters

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

    from kubelet_emu.drill.driving import Drill
    from kubelet_emu.embedding.options import NodeOptions
    from kubelet_emu.images.mirrors import Mirror


@click.command("drill")
@click.argument("manifest", shell_complete=complete_files)
@click.option(
    "--runtime",
    type=click.Choice(["simulated", "docker"]),
    default="simulated",
    show_default=True,
    help="What runs the containers.",
)
@click.option("--kubernetes", default="1.36", show_default=True, metavar="VERSION", help="The kubelet's version.")
@click.option("--seed", type=int, default=1, show_default=True, metavar="N", help="Seed of names and jitter.")
@mirror_parameters
@safety_parameters
@click.option("-k", "wanted", default="", metavar="TEXT", help="Only phases whose name has this text.")
@click.option(
    "-o",
    "--output",
    type=click.Choice(["text", "json", "junit"]),
    default="text",
    help="json, junit: for CI, on stdout.",
)
def command(*, manifest: str, wanted: str, output: str, **given: object) -> None:
    """Delete the pod of MANIFEST in each phase of its life, each time anew.

    In every init container, at every gate, in postStart, when ready, again during preStop, with a sidecar in back-off,
    as a main container exits by itself, and with a kubelet that restarts in the middle. Shows how much of the grace was
    used, who needed SIGKILL, whether the order was kept, which hooks were cut short, and the exit codes.

    Exit status: 0 when every shutdown went well, 1 when one did not, 2 for a bad manifest, 3 without an engine,
    130 interrupted: nothing is left on the engine then.
    """
    drill = _run(manifest, given, wanted)
    if wanted and drill.phases and not drill.shutdowns:
        click.echo(f"error: -k {wanted}: no phase has this in its name; there are {', '.join(drill.phases)}", err=True)
        sys.exit(2)
    click.echo(_formatted(drill, output), nl=False)
    sys.exit(1 if any(shutdown.faults for shutdown in drill.shutdowns) or not drill.shutdowns else 0)


def _run(manifest: str, given: Mapping[str, object], wanted: str) -> Drill:
    """Run the drill; InputError for an option that can't be used, ManifestError, CRIError."""
    from kubelet_emu.cli.failures import InputError
    from kubelet_emu.drill.driving import run_drill
    from kubelet_emu.embedding.options import NodeOptions

    mirrors = mirrors_of(
        cast("tuple[Mirror, ...]", given["registry_mirrors"]),
        cast("Path | None", given["registry_hosts"]),
        lambda text: click.echo(text, err=True),
    )
    make = cast("Callable[..., NodeOptions]", NodeOptions)  # each word was read by click
    words = {name: given[name] for name in ("runtime", "kubernetes", "seed")}
    try:
        options = make(registry_mirrors=mirrors, safety=safety_of(dict(given)), **words)
    except ValueError as error:
        raise InputError(str(error)) from error
    with _progress() as tell:
        return run_drill(manifest, options, lambda name: wanted in name, tell)


@contextmanager
def _progress() -> Iterator[Callable[[str], None]]:
    """Give what shows the phase that is being run, in one line of a terminal; elsewhere it shows nothing."""

    def tell(name: str) -> None:
        if sys.stderr.isatty():
            click.echo(f"\r\x1b[K{name}", err=True, nl=False)

    try:
        yield tell
    finally:
        tell("")


def _formatted(drill: Drill, output: str) -> str:
    from kubelet_emu.drill.machine import as_json, as_junit
    from kubelet_emu.drill.text import format_drill
    from kubelet_emu.journal.console import wants_colour

    if output == "json":
        return as_json(drill) + "\n"
    if output == "junit":
        return as_junit(drill) + "\n"
    paint = _paint if wants_colour(sys.stdout, os.environ) else lambda text, _: text
    return format_drill(drill, shutil.get_terminal_size((120, 24)).columns, paint)


def _paint(text: str, is_good: bool) -> str:  # noqa: FBT001 - told by format_drill
    return click.style(text, fg="green" if is_good else "red")
