"""`why` of a run: the run that is meant, its records, and the pods that are asked about."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from kubelet_emu.cli.failures import InputError, explain
from kubelet_emu.cli.remote.finding import open_view
from kubelet_emu.cli.remote.reasons import explain_run
from kubelet_emu.cli.remote.views import LiveView
from kubelet_emu.control.errors import ControlError, Reason

if TYPE_CHECKING:
    from kubelet_emu.cli.remote.reasons import Explained
    from kubelet_emu.cli.remote.target import Target


async def ask(target: Target, names: tuple[str, ...]) -> tuple[tuple[Explained, ...], bool]:
    """Return the answers for pods, all of them without names; and whether each name is one's. InputError.

    A pod that is gone from the run has an answer, too: its records are still there.
    """
    async with open_view(target) as view:
        now = await view.now() if isinstance(view, LiveView) else None
        folder = target.root / "instances" / view.facts.id
    try:
        found = explain_run(folder, now)
    except OSError as error:
        raise InputError(f"{folder}: its records can't be read: {error.strerror}") from error
    wanted = {name: {name, f"{target.namespace}/{name}"} for name in names}
    chosen = tuple(each for each in found if not names or any(each.pod.name in words for words in wanted.values()))
    have = {each.pod.name for each in chosen}
    missing = [name for name, words in wanted.items() if not words & have]
    for name in missing:
        click.echo(explain(ControlError(Reason.NOT_FOUND, f'pods "{name}" not found')).text, err=True)
    return chosen, not missing
