"""`kubelet-emu logs`: what a container of a run wrote."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, cast

import click

from kubelet_emu.cli.remote.completion import complete_containers, complete_resources
from kubelet_emu.cli.remote.flags import KubectlCommand
from kubelet_emu.cli.remote.parameters import SELECTOR_HELP, Duration, remote_parameters
from kubelet_emu.cli.remote.target import target_of
from kubelet_emu.cli.remote.words import Refusal, write_out

if TYPE_CHECKING:
    from kubelet_emu.cli.remote.log_targets import Resource

LINES_OF_SELECTED = 10
EXPECTED = """expected 'logs [-f] [-p] (POD | TYPE/NAME) [-c CONTAINER]'.
POD or TYPE/NAME is a required argument for the logs command
See 'kubelet-emu logs -h' for help and examples"""


@click.command("logs", cls=KubectlCommand)
@click.argument("pod", metavar="POD|TYPE/NAME", required=False, shell_complete=complete_resources)
@click.argument("inline", metavar="[CONTAINER]", required=False, shell_complete=complete_containers)
@click.option("-c", "--container", help="The container; default: the first one.", shell_complete=complete_containers)
@click.option("-l", "--selector", metavar="SELECTOR", help=f"All pods with these labels: {SELECTOR_HELP}.")
@click.option("--all-pods", is_flag=True, help="All pods of TYPE/NAME; sets --prefix.")
@click.option("--all-containers", is_flag=True, help="All containers, init containers first.")
@click.option("-f", "--follow", is_flag=True, help="Go on as lines come, until the container ends.")
@click.option("-p", "--previous", is_flag=True, help="The run before the last restart.")
@click.option("--since", type=Duration(), metavar="DURATION", help="Only lines newer than 5s, 2m or 3h.")
@click.option("--since-time", metavar="TIME", help="Only lines after an RFC 3339 time.")
@click.option("--tail", type=int, metavar="N", help="Only the last N lines; default: all (-1), with -l 10.")
@click.option("--timestamps", is_flag=True, help="A time before each line.")
@click.option("--prefix", is_flag=True, help="Pod and container before each line.")
@click.option("--ignore-errors", is_flag=True, help="Go on with the next container after an error.")
@click.option(
    "--limit-bytes", type=click.IntRange(min=0), default=0, metavar="N", help="No more than N bytes of a log."
)
@click.option(
    "--max-log-requests", type=click.IntRange(min=1), default=5, show_default=True, help="How many logs -f follows."
)
@remote_parameters
def command(**given: object) -> None:
    """Show what a container wrote, as kubectl does: of a POD, or of a pod of TYPE/NAME such as job/NAME.

    Of a run that has ended and has left its state (--keep, or a crash), its records tell. Exit status: 0, 1 when
    there is no such pod or container or its log can't be had, 2 when no run is found.
    """
    import trio

    from kubelet_emu.cli.remote.log_reading import LogsRequest, show_logs
    from kubelet_emu.cli.remote.log_targets import LogsError
    from kubelet_emu.cli.remote.selectors import read_selector

    word, selector = cast("str | None", given["pod"]), cast("str | None", given["selector"]) or None
    container, inline = cast("str | None", given["container"]), cast("str | None", given["inline"])
    request = LogsRequest(
        resource=_resource(word, selector),
        labels=read_selector(selector),
        all_pods=bool(given["all_pods"]),
        container=_container(container, inline, is_all=bool(given["all_containers"])),
        all_containers=bool(given["all_containers"]),
        follow=bool(given["follow"]),
        previous=bool(given["previous"]),
        since_seconds=_since(cast("float | None", given["since"]), given["since_time"]),
        since_time=cast("str | None", given["since_time"]),
        tail=_tail(cast("int | None", given["tail"]), has_selector=selector is not None),
        timestamps=bool(given["timestamps"]),
        prefix=bool(given["prefix"] or given["all_pods"]),
        ignore_errors=bool(given["ignore_errors"]),
        limit_bytes=cast("int", given["limit_bytes"]),
        most_at_once=cast("int", given["max_log_requests"]),
    )
    try:
        is_whole = trio.run(show_logs, target_of(given), request, write_out)
    except LogsError as error:
        raise Refusal(str(error)) from error
    if not is_whole:
        sys.exit(1)


def _resource(word: str | None, selector: str | None) -> Resource | None:
    """Return whose logs are meant by name; None for those with labels."""
    from kubelet_emu.cli.remote.log_targets import LogsError, Resource

    if word is not None and selector is not None:
        raise Refusal("only a selector (-l) or a POD name is allowed")
    if selector is not None:
        return None
    if word is None:
        raise Refusal(EXPECTED)
    try:
        return Resource.parse(word)
    except LogsError as error:
        raise Refusal(str(error)) from error


def _container(container: str | None, inline: str | None, *, is_all: bool) -> str | None:
    if container and inline:
        raise Refusal("only one of -c or an inline [CONTAINER] arg is allowed")
    name = container or inline
    if is_all and name:
        raise Refusal(f"--all-containers=true should not be specified with container name {name}")
    return name


def _since(seconds: float | None, time: object) -> int | None:
    """Return whole seconds; 0 is not set, as for kubectl."""
    if seconds is None:
        return None
    if time is not None:
        raise Refusal("at most one of sinceTime or sinceSeconds may be specified")
    if seconds < 0:
        raise Refusal("--since must be greater than 0")
    return max(1, round(seconds)) if seconds else None


def _tail(lines: int | None, *, has_selector: bool) -> int | None:
    if lines is None:
        return LINES_OF_SELECTED if has_selector else None
    if lines < -1:
        raise Refusal("--tail must be greater than or equal to -1")
    return None if lines == -1 else lines
