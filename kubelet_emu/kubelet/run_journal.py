"""Starts and ends of runs by the runtime's own clock, each recorded once.

It outlives a kubelet: a new one that finds old containers has nothing to tell of them again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from attrs import define, field

from kubelet_emu.journal.records import RunRecord

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime
    from typing import Literal

    from kubelet_emu.journal.records import ObjectRef, Record
    from runtime.api import ContainerID, ContainerStatus


@define(eq=False)
class RunJournal:
    """Emits RunRecords.

    An engine may note a start only after the end of a short life: a run's end is never told to be before its start.
    `on_forget` is called with each container that is gone.
    """

    emit: Callable[[Record], None]
    on_forget: Callable[[ContainerID], None] = lambda _: None
    _started: dict[ContainerID, datetime] = field(factory=dict, init=False)
    _ended: set[ContainerID] = field(factory=set, init=False)

    def record(self, ref: ObjectRef, container: ContainerStatus) -> None:
        """Record what is new of a run; a process that could not be started has none."""
        if container.started_at is None or container.reason == "StartError":
            return
        if container.id not in self._started:
            self._started[container.id] = container.started_at
            self._emit("start", container.started_at, ref, container)
        if container.finished_at is not None and container.id not in self._ended:
            self._ended.add(container.id)
            self._emit("exit", max(container.finished_at, self._started[container.id]), ref, container)

    def _emit(self, what: Literal["start", "exit"], at: datetime, ref: ObjectRef, container: ContainerStatus) -> None:
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
        self._started.pop(container_id, None)
        self._ended.discard(container_id)
        self.on_forget(container_id)
