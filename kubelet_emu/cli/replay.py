"""`kubelet-emu replay`: a log's decisions, taken again by today's rules."""

from __future__ import annotations

import json
import sys
from typing import NoReturn

import click

from kubelet_emu.cli.log_options import log_parameters


@click.command("replay")
@log_parameters
@click.option("-o", "--output", type=click.Choice(["text", "json"]), default="text", help="json: one object.")
def command(output: str, **given: object) -> None:
    """Take the decisions of a lifecycle log (run --log FILE) again, by today's rules and without running anything.

    For each sync whose decision would be another one: both, and what was given. A log that once went wrong can be kept
    beside the tests: replay tells when a change of the rules changes what they decide.

    Exit status: 0 when all are as recorded, 1 when some are not, 2 when the log can't be replayed.
    """
    from datetime import UTC, datetime

    from kubelet_emu.cli.log_options import read_given, tell_faults
    from kubelet_emu.lifecycle.replaying import replay
    from kubelet_emu.lifecycle.replaying.report import as_json, as_text

    log = read_given(given)
    tell_faults(log)
    try:
        found = replay(log.entries)
    except ValueError as error:
        _stop(str(error))
    if not found.syncs:
        why = found.skipped[0].why if found.skipped else "only lifecycle logs (run --log FILE) tell what syncs decided"
        _stop(f"nothing to replay: {why}")
    epoch = log.epoch or datetime.fromtimestamp(0, UTC)
    click.echo(as_text(found, epoch) if output == "text" else json.dumps(as_json(found, epoch), indent=2))
    sys.exit(1 if found.differences else 0)


def _stop(text: str) -> NoReturn:
    click.echo(f"error: {text}", err=True)
    sys.exit(2)
