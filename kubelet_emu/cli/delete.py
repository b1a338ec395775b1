"""`kubelet-emu delete`: delete pods of a run, as kubectl does."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from kubelet_emu.cli.remote.completion import complete_resources
from kubelet_emu.cli.remote.flags import KubectlCommand
from kubelet_emu.cli.remote.parameters import SELECTOR_HELP, Duration, remote_parameters
from kubelet_emu.cli.remote.target import target_of
from kubelet_emu.cli.remote.words import Refusal, is_pod_word, pod_name

if TYPE_CHECKING:
    from collections.abc import Sequence


@click.command("delete", cls=KubectlCommand)
@click.argument("words", metavar="[pod] POD...", nargs=-1, shell_complete=complete_resources)
@click.option("-l", "--selector", metavar="SELECTOR", help=f"All pods with these labels: {SELECTOR_HELP}.")
@click.option("--all", "is_all", is_flag=True, help="All pods of the namespace.")
@click.option("--grace-period", type=int, default=-1, metavar="N", help="Seconds to end; default: the pod's own.")
@click.option("--now", is_flag=True, help="The same as --grace-period 1.")
@click.option("--force", is_flag=True, help="Remove the pod at once, and let its containers end behind it.")
@click.option("--wait/--no-wait", default=True, show_default=True, help="Wait until the pods are gone.")
@click.option("--timeout", type=Duration(), default=0.0, metavar="DURATION", help="How long to wait; 0 is for ever.")
@click.option("--ignore-not-found", is_flag=True, help="A pod that isn't there is no error.")
@remote_parameters
def command(  # noqa: PLR0913 - one for each option
    words: tuple[str, ...],
    *,
    selector: str | None,
    is_all: bool,
    grace_period: int,
    now: bool,
    force: bool,
    wait: bool,
    timeout: float,
    ignore_not_found: bool,
    **given: object,
) -> None:
    """Delete pods of a run and wait until they are gone.

    A grace period of 0 needs --force, and is 1 without it. Exit status: 0, 1 when a pod isn't there or didn't go in
    time, 2 when no run is found.
    """
    import trio

    from kubelet_emu.cli.remote.acting import Deletion, delete_pods
    from kubelet_emu.cli.remote.selectors import read_selector

    deletion = Deletion(
        names=_names(words, is_chosen=is_all or selector is not None),
        labels=None if selector is None and not is_all else read_selector(selector),
        grace=_grace(grace_period, now=now, force=force),
        is_forced=force,
        waits=wait,
        timeout=timeout or None,
        ignores_missing=ignore_not_found,
    )
    sys.exit(0 if trio.run(delete_pods, target_of(given), deletion) else 1)


def _names(words: Sequence[str], *, is_chosen: bool) -> tuple[str, ...]:
    """Return the names, none where pods are chosen by labels; Refusal."""
    rest = words[1:] if words and is_pod_word(words[0]) else words
    if rest and is_chosen:
        raise Refusal("name cannot be provided when a selector is specified, nor with --all")
    if not rest and not is_chosen:
        raise Refusal("resource(s) were provided, but no name was specified")
    return tuple(dict.fromkeys(map(pod_name, rest)))


def _grace(grace_period: int, *, now: bool, force: bool) -> int | None:
    """Return the grace that is sent (kubectl v1.36 DeleteOptions.Complete and Validate)."""
    from kubelet_emu.apiserver.deletion import kubectl_grace_period_seconds

    if now and grace_period != -1:
        raise Refusal("--now and --grace-period cannot be specified together")
    if force and grace_period > 0:
        raise Refusal("--force and --grace-period greater than 0 cannot be specified together")
    return kubectl_grace_period_seconds(None if grace_period < 0 else grace_period, now=now, force=force)
