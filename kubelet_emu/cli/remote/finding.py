"""Which run is meant: the only one that lives, or the one named; else the only one that has left records."""

from __future__ import annotations

from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import click
from attrs import frozen

from kubelet_emu.cli.failures import InputError
from kubelet_emu.cli.going_on import RUN_FILE
from kubelet_emu.cli.remote.views import LiveView
from kubelet_emu.control.client import LOST, ControlClient, connect
from kubelet_emu.control.errors import ControlError, Reason
from kubelet_emu.control.places import RECORDS, RunFacts, folders
from runtime.docker.state_folder import KEPT_FILE

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterable
    from pathlib import Path

    from kubelet_emu.cli.remote.target import Target
    from kubelet_emu.cli.remote.views import View


@frozen
class _Place:
    """A state folder with its connection, if somebody listens there."""

    folder: Path
    facts: RunFacts
    client: ControlClient | None

    async def dial(self) -> ControlClient:
        """Connect once more; ControlError when the run has ended."""
        try:
            return await connect(self.folder)
        except FileNotFoundError as error:
            raise ControlError(Reason.ENDED, "the run has ended") from error
        except OSError as error:
            raise ControlError(Reason.LOST, LOST) from error

    @property
    def was_killed(self) -> bool:
        """Tell whether the run's process is gone before it could clean up, and what its pods are is not known."""
        is_kept = (self.folder / KEPT_FILE).exists()
        return not is_kept or (self.folder / RUN_FILE).exists()


@asynccontextmanager
async def open_run(target: Target) -> AsyncIterator[LiveView]:
    """Give the run that is meant, which must live; InputError, ControlError."""
    async with _chosen(target) as place:
        if place.client is None:
            raise _nobody_there(place, target)
        yield LiveView(place.client, place.facts, place.dial)


@asynccontextmanager
async def open_view(target: Target) -> AsyncIterator[View]:
    """Give the run that is meant, alive or by its records; InputError, ControlError."""
    async with _chosen(target) as place:
        if place.client is not None:
            yield LiveView(place.client, place.facts, place.dial)
            return
        from kubelet_emu.cli.remote.kept import read_kept

        how = "was killed" if place.was_killed else "has ended"
        click.echo(f"run {place.facts.id} {how}: this is what its records tell", err=True)
        yield read_kept(place.folder, place.facts)


@asynccontextmanager
async def _chosen(target: Target) -> AsyncIterator[_Place]:
    places = [await _look(folder) for folder in _named(target)]
    try:
        yield _choose(target, places)
    finally:
        for place in places:
            if place.client is not None:
                await place.client.aclose()


def _nobody_there(place: _Place, target: Target) -> InputError:
    """Return the error for a run that no process is any more, with what can be done about it."""
    if not place.was_killed:
        return InputError(f"run {place.facts.id} has ended: nothing of it runs any more")
    error = InputError(f"run {place.facts.id} was killed: what it started may still run")
    again = " ".join(["kubelet-emu run", *place.facts.manifests])
    error.add_note(f"to go on with it: {again}; to remove it: kubelet-emu prune --root-dir {target.root}")
    return error


def folder_of(target: Target, places: Iterable[Path]) -> Path:
    """Return the only folder of a run that is named by the beginning of its id; InputError."""
    found = [each for each in places if each.name.startswith(target.run_id or "")]
    if len(found) == 1:
        return found[0]
    if found:
        raise InputError(f"--run {target.run_id}: several runs begin so: {', '.join(each.name for each in found)}")
    raise InputError(f"--run {target.run_id}: no run of this id keeps its state in {target.root}")


def _named(target: Target) -> tuple[Path, ...]:
    try:
        found = folders(target.root)
    except OSError as error:
        raise InputError(f"{target.root}: its runs can't be read: {error.strerror}") from error
    return found if target.run_id is None else (folder_of(target, found),)


async def _look(folder: Path) -> _Place:
    """Return a folder with its connection; a socket at which nobody listens is that of a dead run. InputError."""
    facts = RunFacts.read(folder)
    try:
        return _Place(folder, facts, await connect(folder))
    except (ConnectionRefusedError, FileNotFoundError):
        return _Place(folder, facts, None)
    except OSError as error:
        raise InputError(f"{folder}: its run can't be reached: {error.strerror or error}") from error


def _choose(target: Target, places: list[_Place]) -> _Place:
    live = [place for place in places if place.client is not None]
    kept = [place for place in places if place.client is None and (place.folder / RECORDS).exists()]
    found = live or kept
    if len(found) == 1:
        return found[0]
    if not found:
        text = f"no run keeps its state in {target.root}: start one, or say --root-dir as it did"
        raise InputError(text)
    error = InputError(f"{'several runs live' if live else 'several runs have ended'}: say which with --run ID")
    for place in found:
        error.add_note(f"  {place.facts.id}  {' '.join(place.facts.manifests)}  since {place.facts.started_at}")
    raise error
