"""`kubelet-emu replay`: a log's decisions, taken again by today's rules."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, NoReturn

import click

from kubelet_emu.cli.log_options import log_parameters
from kubelet_emu.cli.parameter_types import NON_NEGATIVE

if TYPE_CHECKING:
    from kubelet_emu.lifecycle.log import LifecycleLog


@click.command("replay")
@log_parameters
@click.option("--rerun", is_flag=True, help="Run it again, simulated, with containers that behave as recorded.")
@click.option(
    "--tolerance",
    type=NON_NEGATIVE,
    default=2.0,
    show_default=True,
    metavar="S",
    help="With --rerun: how far apart the same moment may be.",
)
@click.option("-o", "--output", type=click.Choice(["text", "json"]), default="text", help="json: one object.")
def command(*, rerun: bool, tolerance: float, output: str, **given: object) -> None:
    """Take the decisions of a lifecycle log (run --log FILE) again, by today's rules and without running anything.

    For each sync whose decision would be another one: both, and what was given. A log that once went wrong can be kept
    beside the tests: replay tells when a change of the rules changes what they decide.

    With --rerun the pods live once more in virtual time and starts and exits are compared.

    Exit status: 0 when all are as recorded, 1 when some are not, 2 when the log can't be replayed.
    """
    from datetime import UTC, datetime

    from kubelet_emu.cli.log_options import read_given, tell_faults
    from kubelet_emu.lifecycle.replaying import replay
    from kubelet_emu.lifecycle.replaying.report import as_json, as_text

    log = read_given(given)
    tell_faults(log)
    if rerun:
        sys.exit(_run_again(log, tolerance, output))
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


def _run_again(log: LifecycleLog, tolerance: float, output: str) -> int:
    """Run a log again, tell how it went, and return the exit status."""
    from attrs import asdict

    from kubelet_emu.embedding.rerun import RerunError, rerun

    try:
        found = rerun(log, tolerance)
    except RerunError as error:
        _stop(str(error))
    if output == "json":
        differences = [asdict(difference) for difference in found.differences]
        click.echo(json.dumps({"compared": found.compared, "differences": differences}, indent=2))
    else:
        for difference in found.differences:
            click.echo(str(difference))
        same = found.compared - len(found.differences)
        click.echo(f"{same} of {found.compared} starts and exits at the same time, within {tolerance:g} s")
    return 1 if found.differences else 0


def _stop(text: str) -> NoReturn:
    click.echo(f"error: {text}", err=True)
    sys.exit(2)
