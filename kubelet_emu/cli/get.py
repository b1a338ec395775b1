"""`kubelet-emu get`: objects of a run, as kubectl shows them."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from kubelet_emu.cli.remote.completion import complete_kinds_and_names
from kubelet_emu.cli.remote.flags import KubectlCommand
from kubelet_emu.cli.remote.get_parameters import get_parameters
from kubelet_emu.cli.remote.target import target_of
from kubelet_emu.cli.remote.words import Refusal, write_out

if TYPE_CHECKING:
    from kubelet_emu.cli.remote.kinds import Kind


@click.command("get", cls=KubectlCommand)
@click.argument("kind", metavar="KIND[/NAME]", shell_complete=complete_kinds_and_names)
@click.argument("names", nargs=-1, metavar="[NAME]...", shell_complete=complete_kinds_and_names)
@get_parameters
@click.option("--for", "about", metavar="[KIND/]NAME", help="Only events about this object.")
@click.option("--types", metavar="LIST", help="Only events of these types: Normal,Warning.")
def command(kind: str, names: tuple[str, ...], **given: object) -> None:
    """Show objects of a run: pods, events, jobs, and the other kinds that a run has.

    Exit status: 0, 1 when an object isn't there, 2 when no run is found.
    """
    import trio

    from kubelet_emu.cli.remote.showing import request_of, show

    found, named = _read(kind, names)
    sys.exit(0 if trio.run(show, target_of(given), request_of(found, named, given), write_out) else 1)


def _read(word: str, names: tuple[str, ...]) -> tuple[Kind, tuple[str, ...]]:
    """Return the kind and the names of `KIND NAME...` or `KIND/NAME...`; Refusal."""
    from kubelet_emu.cli.remote.kinds import kind_of

    words = [each.partition("/") for each in (word, *names)]
    found = kind_of(words[0][0])
    if found is None:
        raise Refusal(f'the server doesn\'t have a resource type "{words[0][0]}"')
    if not words[0][1]:
        return found, names
    if any(kind_of(kind) is not found or not name for kind, _, name in words):
        raise Refusal("one kind at a time: KIND NAME..., or KIND/NAME with one KIND")
    return found, tuple(name for _, _, name in words)
