"""`kubelet-emu timeline`: what became of the pods of a log, drawn."""

from __future__ import annotations

import os
import shutil
import sys
from typing import TYPE_CHECKING

import click

from kubelet_emu.cli.log_options import log_parameters, read_given, stop_without, tell_faults

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from kubelet_emu.journal.encode import Entry
    from kubelet_emu.lifecycle.drawing import Timeline

LEAST_WIDTH = 40
PIXELS = 1000


@click.command("timeline")
@log_parameters
@click.option("--pod", metavar="NAME", help="Only this pod.")
@click.option(
    "--width",
    type=click.IntRange(min=LEAST_WIDTH),
    metavar="N",
    help="Columns of the terminal, or pixels of a picture; default: the terminal's, or 1000.",
)
@click.option(
    "-o", "--output", type=click.Choice(["term", "svg", "html", "json"]), default="term", help="What is drawn."
)
def command(*, pod: str | None, width: int | None, output: str, **given: object) -> None:
    """Draw the pods of a LOG: one row a container, with runs, back-offs, pulls, hooks, signals, readiness.

    LOG is of any kind that `verify` reads. Exit status: 0, 2 when something can't be read.
    """
    from kubelet_emu.lifecycle.drawing import timeline_of
    from kubelet_emu.lifecycle.recounting import recount

    log = read_given(given)
    tell_faults(log)
    pods = recount(log).pods
    chosen = [timeline_of(each) for each in pods if pod in {None, each.name}]
    if not chosen:
        stop_without(pod, [each.name for each in pods])
    click.echo(_drawn(chosen, output, width), nl=False)


def picture_of(entries: Iterable[Entry], suffix: str) -> str:
    """Return a run of our own as a picture: `.svg`, or a page for any other suffix."""
    from kubelet_emu.lifecycle.drawing import timeline_of
    from kubelet_emu.lifecycle.drawing.pages import as_html, as_svg
    from kubelet_emu.lifecycle.reading.logs import log_of_entries
    from kubelet_emu.lifecycle.recounting import recount

    timelines = [timeline_of(pod) for pod in recount(log_of_entries(entries, file="run")).pods]
    return as_svg(timelines, PIXELS) if suffix == ".svg" else as_html(timelines, PIXELS)


def _drawn(timelines: Sequence[Timeline], output: str, width: int | None) -> str:
    match output:
        case "json":
            from kubelet_emu.lifecycle.drawing.machine import as_json

            return as_json(timelines) + "\n"
        case "svg" | "html":
            from kubelet_emu.lifecycle.drawing.pages import as_html, as_svg

            pixels = width or PIXELS
            return as_svg(timelines, pixels) if output == "svg" else as_html(timelines, pixels)
        case _:
            return _for_terminal(timelines, width)


def _for_terminal(timelines: Sequence[Timeline], width: int | None) -> str:
    from kubelet_emu.journal.console import wants_colour
    from kubelet_emu.lifecycle.drawing.term import format_timeline, plain

    columns = width or max(LEAST_WIDTH, shutil.get_terminal_size((100, 24)).columns)
    paint = (lambda text, colour: click.style(text, fg=colour)) if wants_colour(sys.stdout, os.environ) else plain
    return "\n".join(format_timeline(timeline, columns, paint) for timeline in timelines)
