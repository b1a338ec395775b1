"""Options of `get` and `ps`."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

import click

from kubelet_emu.cli.remote.completion import complete_outputs
from kubelet_emu.cli.remote.parameters import SELECTOR_HELP, remote_parameters

if TYPE_CHECKING:
    from collections.abc import Callable

    Decorated = TypeVar("Decorated", bound=Callable[..., object])

GET_PARAMETERS: tuple[click.Option, ...] = (
    click.Option(["-w", "--watch"], is_flag=True, help="Go on with a line for each change."),
    click.Option(
        ["-o", "--output"],
        metavar="FORM",
        shell_complete=complete_outputs,
        help="wide, json, yaml, name, jsonpath=TEMPLATE, custom-columns=HEADER:PATH,...; -file=FILE for the last two.",
    ),
    click.Option(["-A", "--all-namespaces", "everywhere"], is_flag=True, help="Those of all namespaces."),
    click.Option(["-l", "--selector"], metavar="SELECTOR", help=f"Only those with these labels: {SELECTOR_HELP}."),
    click.Option(
        ["--field-selector"], metavar="FIELD=VALUE,...", help="Only those with these fields, as status.phase!=Running."
    ),
    click.Option(["--sort-by"], metavar="PATH", help="In the order of a field, as .metadata.creationTimestamp."),
    click.Option(
        ["-L", "--label-columns"], multiple=True, metavar="LABEL,...", help="A column for each of these labels."
    ),
    click.Option(["--show-labels"], is_flag=True, help="Labels as the last column."),
    click.Option(["--show-kind"], is_flag=True, help="The kind before each name."),
    click.Option(["--no-headers"], is_flag=True, help="No head above the table."),
    click.Option(["--ignore-not-found"], is_flag=True, help="What isn't there is no error."),
)


def get_parameters(command: Decorated) -> Decorated:
    """Give a command function the options, and those of every command of a second terminal."""
    for parameter in reversed(GET_PARAMETERS):
        command.__dict__.setdefault("__click_params__", []).append(parameter)
    return remote_parameters(command)
