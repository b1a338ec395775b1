"""`kubelet-emu trace`: a lifecycle log as the trace that scenarios are checked against."""

from __future__ import annotations

import sys
from pathlib import Path

import click


@click.command("trace")
@click.argument("log", type=click.Path(exists=True, dir_okay=False, path_type=Path), metavar="LOG")
def command(log: Path) -> None:
    """Write the trace of a lifecycle log to stdout, one JSON object a line.

    Exit status: 2 when nothing of the log can be read, 1 when some of its lines can't (each is named), else 0.
    """
    from kubelet_emu.journal.read import read_log
    from kubelet_emu.journal.trace import project, to_line

    found = read_log(log)
    for record in project(found.entries):
        sys.stdout.write(to_line(record))
    for problem in found.problems:
        click.echo(f"{log}:{problem.line}: {problem.text}", err=True)
    if found.is_torn:
        click.echo(f"{log}: the last line was cut off", err=True)
    if found.problems:
        sys.exit(1 if found.entries else 2)
