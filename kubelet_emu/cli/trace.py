"""`kubelet-emu trace`: logs of any origin as the trace that scenarios are checked against."""

from __future__ import annotations

import sys

import click

from kubelet_emu.cli.log_options import log_parameters


@click.command("trace")
@log_parameters
def command(**given: object) -> None:
    """Write the trace of one run's logs to stdout, one JSON object a line, in order of time.

    LOG is a file, a folder or - for stdin: a lifecycle log, a trace, output of kubectl (events, watches, logs) or of
    stern, or a container's log as its runtime keeps it. docs/LOGS.md says how to get each from a cluster.

    Exit status: 2 when nothing of a log can be read, 1 when some of its lines can't (each is named), else 0.
    """
    from kubelet_emu.cli.log_options import read_given, tell_faults
    from kubelet_emu.journal.trace import to_line

    log = read_given(given)
    for record in log.trace.records:
        sys.stdout.write(to_line(record))
    tell_faults(log)
    if log.faults:
        sys.exit(1 if log.trace.records or log.entries else 2)
