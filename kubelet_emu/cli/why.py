"""`kubelet-emu why`: what a pod of a log or of a run waits for, and who ended its containers."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, NoReturn

import click

from kubelet_emu.cli.log_options import optional_log_parameters, read_given, stop_without, tell_faults
from kubelet_emu.cli.remote.parameters import remote_parameters
from kubelet_emu.cli.remote.words import pod_name

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from kubelet_emu.cli.remote.reasons import Explained
    from kubelet_emu.lifecycle.history import PodHistory


@click.command("why")
@optional_log_parameters
@click.option("--pod", metavar="NAME", help="Only this pod of a LOG.")
@click.option("-o", "--output", type=click.Choice(["text", "json"]), default="text", help="How to report.")
@remote_parameters
def command(*, pod: str | None, output: str, logs: tuple[Path, ...], **given: object) -> None:
    """Say why a pod doesn't start, get ready or end, since when, what shows it, and what to change.

    POD is one of a run in another terminal, or that has left its state; without any word all pods of that run. LOG is
    of any kind that `verify` reads. Exit status: 0, or 1 when a pod won't go on by itself or isn't there, 2 when
    something can't be read.
    """
    if logs and any(str(each) == "-" or each.exists() for each in logs):
        _of_logs(pod, output, {**given, "logs": logs})
    names = [*map(pod_name, map(str, logs)), *([] if pod is None else [pod])]
    _of_run(tuple(names), output, given)


def _of_logs(pod: str | None, output: str, given: Mapping[str, object]) -> NoReturn:
    """Report on the pods of logs."""
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


def _of_run(names: tuple[str, ...], output: str, given: Mapping[str, object]) -> NoReturn:
    """Report on pods of the run that is meant."""
    import trio

    from kubelet_emu.cli.remote.asking_why import ask
    from kubelet_emu.cli.remote.target import target_of
    from kubelet_emu.journal.text import harmless

    found, is_whole = trio.run(ask, target_of(given), names)
    if output == "json":
        click.echo(_as_json([each.pod for each in found]))
    elif found:
        click.echo("\n\n".join("\n".join(map(harmless, _of_pod(each))) for each in found))
    sys.exit(1 if not is_whole or any(each.answer.is_stuck for each in found) else 0)


def _of_pod(explained: Explained) -> Iterator[str]:
    """Yield the answer, what shows it, and what mends it."""
    yield from _lines(explained.pod, explained.seen, explained.fix)


def _lines(pod: PodHistory, seen: tuple[str, ...] = (), hints: tuple[str, ...] = ()) -> Iterator[str]:
    from kubelet_emu.lifecycle.explaining import endings_of, explain

    answer = explain(pod)
    ago = "" if answer.since is None else f" (since {answer.since:.1f} s, for {pod.ended_at - answer.since:.1f} s)"
    yield f"{pod.name}: {answer.text}{ago}"
    yield from (f"  seen: {line}" for line in seen)
    yield from (f"  fix: {fix}" for fix in answer.fix or hints)
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
