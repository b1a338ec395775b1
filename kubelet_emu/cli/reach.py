"""How a second terminal reaches a run: what of it lies in the state folder, from the run's beginning to its end."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from attrs import define, field

from kubelet_emu.control.event_log import EventLog
from kubelet_emu.control.keeping import RecordKeeper
from kubelet_emu.control.places import RunFacts
from kubelet_emu.control.server import open_socket
from kubelet_emu.control.serving import Control

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime
    from pathlib import Path
    from socket import socket

    from kubelet_emu.cli.run_plan import Plan
    from kubelet_emu.control.serving import Clean, Pulls
    from kubelet_emu.journal.journal import Sink


@define(eq=False)
class Reach:
    """The sinks that second terminals ask, and the control socket over them."""

    plan: Plan
    epoch: datetime
    pulls: Pulls = tuple
    clean: Clean = dict
    events: EventLog = field(factory=EventLog, init=False)
    _keeper: RecordKeeper = field(init=False)
    _control: Control | None = field(default=None, init=False)

    def __attrs_post_init__(self) -> None:
        """Make the keeper of records."""
        self._keeper = RecordKeeper(self.epoch)

    @property
    def sinks(self) -> tuple[Sink, ...]:
        """Return the sinks of the journal."""
        return (self._keeper, self.events)

    def open(self) -> Control:
        """Write into the state folder who this run is and keep its records there; return its control. OSError.

        The socket is there first: a run with records that nobody can reach would pass for one that has ended.
        """
        import kubelet_emu

        folder = self.plan.instance.path
        place = _socket_of(folder)
        facts = RunFacts(
            id=self.plan.instance.id,
            pid=os.getpid(),
            started_at=self.epoch.isoformat(timespec="seconds").replace("+00:00", "Z"),
            manifests=self.plan.options.manifests,
            version=kubelet_emu.__version__,
        )
        self._control = Control(
            folder=folder, place=place, facts=facts, events=self.events, pulls=self.pulls, clean=self.clean
        )
        try:
            facts.write(folder)
            self._keeper.open(folder)
        except OSError:
            self._control.close()
            raise
        return self._control

    def close(self, say: Callable[[str], None]) -> None:
        """Close the socket and the records; say it when they are not whole."""
        if self._control is not None:
            self._control.close()
        if why := self._keeper.close():
            say(f"warning: the records in {self.plan.instance.path} are not whole: {why}")


def _socket_of(folder: Path) -> socket | OSError:
    """Return the socket of a state folder, or why there can be none."""
    try:
        return open_socket(folder)
    except OSError as error:
        return error
