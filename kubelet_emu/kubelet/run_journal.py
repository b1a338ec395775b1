"""Starts and ends of runs by the runtime's own clock, each recorded once.

It outlives a kubelet: a new one that finds old containers has nothing to tell of them again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from attrs import define, field

from kubelet_emu.journal.records import RunRecord

if TYPE_CHECKING:
    from collections.abc import Callable

    from kubelet_emu.journal.records import ObjectRef, Record
    from runtime.api import ContainerID, ContainerStatus


@define(eq=False)
class RunJournal:
    """Emits RunRecords."""

    emit: Callable[[Record], None]
    _recorded: set[tuple[ContainerID, str]] = field(factory=set, init=False)

    def record(self, ref: ObjectRef, container: ContainerStatus) -> None:
        """Record what is new of a run; a process that could not be started has none."""
        if container.started_at is None or container.reason == "StartError":
            return
        for what, at in (("start", container.started_at), ("exit", container.finished_at)):
            if at is None or (container.id, what) in self._recorded:
                continue
            self._recorded.add((container.id, what))
            self.emit(
                RunRecord(
                    at=at,
                    ref=ref,
                    container=container.metadata.name,
                    run=container.metadata.attempt + 1,
                    what=what,
                    code=container.exit_code if what == "exit" else None,
                    reason=container.reason if what == "exit" else "",
                )
            )

    def forget(self, container_id: ContainerID) -> None:
        """Drop a container that is gone."""
        self._recorded -= {(container_id, "start"), (container_id, "exit")}
