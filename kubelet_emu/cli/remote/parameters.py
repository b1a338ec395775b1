"""Options that every command of a second terminal takes."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import click

from kubelet_emu.cli.remote.completion import complete_namespaces, complete_runs

if TYPE_CHECKING:
    from collections.abc import Callable

    Decorated = TypeVar("Decorated", bound=Callable[..., object])

SELECTOR_HELP = "k=v, k!=v, 'k in (a,b)', 'k notin (a)', k, '!k', with commas"

REMOTE_PARAMETERS: tuple[click.Option, ...] = (
    click.Option(
        ["-n", "--namespace"],
        default="default",
        show_default=True,
        help="The pods' namespace.",
        shell_complete=complete_namespaces,
    ),
    click.Option(
        ["--run", "run_id"],
        metavar="ID",
        help="The run, where there are several; its first digits do.",
        shell_complete=complete_runs,
    ),
    click.Option(
        ["--root-dir"],
        type=click.Path(path_type=Path, file_okay=False),
        metavar="DIR",
        help="Where the run keeps its state.",
    ),
)


def remote_parameters(command: Decorated) -> Decorated:
    """Give a command function the options; it takes them as keywords and hands them to `target_of`."""
    for parameter in reversed(REMOTE_PARAMETERS):
        command.__dict__.setdefault("__click_params__", []).append(parameter)
    return command


class Duration(click.ParamType):  # type: ignore[type-arg]  # older clicks take no argument
    """A Go duration such as 5s, 2m or 3h."""

    name = "duration"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Read it, in seconds."""
        from kubelet_emu.config.durations import parse_duration

        if isinstance(value, int | float):
            return float(value)
        try:
            return parse_duration(str(value))
        except ValueError as error:
            return self.fail(str(error), param, ctx)


def pod_running_timeout(command: Decorated) -> Decorated:
    """Give a command function `--pod-running-timeout`."""
    option = click.option(
        "--pod-running-timeout",
        type=Duration(),
        default=60.0,
        metavar="DURATION",
        show_default="1m",
        help="How long to wait for a pod of a workload or a Service.",
    )
    return option(command)
