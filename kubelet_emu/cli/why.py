"""`kubelet-emu why`: what a pod waits for, and who ended its containers."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING

import click

from kubelet_emu.cli.log_options import log_parameters, read_given, stop_without, tell_faults

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kubelet_emu.lifecycle.history import PodHistory


@click.command("why")
@log_parameters
@click.option("--pod", metavar="NAME", help="Only this pod.")
@click.option("-o", "--output", type=click.Choice(["text", "json"]), default="text", help="How to report.")
def command(*, pod: str | None, output: str, **given: object) -> None:
    """Say of each pod of a LOG why it doesn't start, get ready or end, since when, and who ended its containers.

    LOG is of any kind that `verify` reads. Exit status: 0, or 1 when a pod won't go on by itself, 2 when something
    can't be read.
    """
    from kubelet_emu.journal.text import harmless
    from kubelet_emu.lifecycle.explaining import explain
    from kubelet_emu.lifecycle.recounting import recount

    log = read_given(given)
    tell_faults(log)
    pods = [each for each in recount(log).pods if pod in {None, each.name}]
    if not pods:
        stop_without(pod, [each.name for each in recount(log).pods])
    if output == "json":
        click.echo(_as_json(pods))
    else:
        click.echo("\n\n".join("\n".join(map(harmless, _lines(each))) for each in pods))
    sys.exit(1 if any(explain(each).is_stuck for each in pods) else 0)


def _lines(pod: PodHistory) -> Iterator[str]:
    from kubelet_emu.lifecycle.explaining import endings_of, explain

    answer = explain(pod)
    ago = "" if answer.since is None else f" (since {answer.since:.1f} s, for {pod.ended_at - answer.since:.1f} s)"
    yield f"{pod.name}: {answer.text}{ago}"
    for fix in answer.fix:
        yield f"  fix: {fix}"
    for run, ending in endings_of(pod):
        yield f"  {run} {ending}"


def _as_json(pods: Sequence[PodHistory]) -> str:
    from kubelet_emu.lifecycle.explaining import endings_of, explain

    rows = []
    for pod in pods:
        answer = explain(pod)
        rows.append(
            {
                "pod": pod.name,
                "text": answer.text,
                "since": answer.since,
                "until": pod.ended_at,
                "isStuck": answer.is_stuck,
                "fix": list(answer.fix),
                "endings": dict(endings_of(pod)),
            }
        )
    return json.dumps(rows, indent=2)
