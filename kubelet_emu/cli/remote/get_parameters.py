"""Options of `get` and `ps`."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

import click

from kubelet_emu.cli.remote.parameters import remote_parameters

if TYPE_CHECKING:
    from collections.abc import Callable

    Decorated = TypeVar("Decorated", bound=Callable[..., object])

GET_PARAMETERS: tuple[click.Option, ...] = (
    click.Option(["-w", "--watch"], is_flag=True, help="Go on with a line for each change."),
    click.Option(["-o", "--output"], type=click.Choice(["wide", "json", "yaml", "name"]), help="How to show them."),
    click.Option(["-A", "--all-namespaces", "everywhere"], is_flag=True, help="Those of all namespaces."),
    click.Option(["-l", "--selector"], metavar="KEY=VALUE,...", help="Only those with these labels."),
    click.Option(["--show-labels"], is_flag=True, help="Labels as the last column."),
    click.Option(["--no-headers"], is_flag=True, help="No head above the table."),
)


def get_parameters(command: Decorated) -> Decorated:
    """Give a command function the options, and those of every command of a second terminal."""
    for parameter in reversed(GET_PARAMETERS):
        command.__dict__.setdefault("__click_params__", []).append(parameter)
    return remote_parameters(command)
