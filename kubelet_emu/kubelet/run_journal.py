"""Starts and ends of runs by the runtime's own clock, each recorded once.

It outlives a kubelet: a new one that finds old containers has nothing to tell of them again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from attrs import define, evolve, field, frozen

from kubelet_emu.journal.records import RunRecord

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from datetime import datetime
    from typing import Literal

    from kubelet_emu.journal.records import ObjectRef, Record
    from runtime.api import ContainerID, ContainerStatus


@frozen
class _Told:
    """What was told of a run: whose it is, when it started, whether it ended."""

    uid: str
    started_at: datetime
    has_ended: bool = False


@define(eq=False)
class RunJournal:
    """Emits RunRecords.

    An engine may note a start only after the end of a short life: a run's end is never told to be before its start.
    `on_forget` is called with each container that is gone.
    """

    emit: Callable[[Record], None]
    on_forget: Callable[[ContainerID], None] = lambda _: None
    _told: dict[ContainerID, _Told] = field(factory=dict, init=False)

    def record(self, ref: ObjectRef, container: ContainerStatus) -> None:
        """Record what is new of a run; a process that could not be started has none."""
        if container.started_at is None or container.reason == "StartError":
            return
        told = self._told.get(container.id)
        if told is None:
            told = self._told[container.id] = _Told(ref.uid, container.started_at)
            self._emit("start", container.started_at, ref, container)
        if container.finished_at is not None and not told.has_ended:
            self._told[container.id] = evolve(told, has_ended=True)
            self._emit("exit", max(container.finished_at, told.started_at), ref, container)

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
        self._told.pop(container_id, None)
        self.on_forget(container_id)

    def pods(self) -> Iterable[str]:
        """Return the uids of the pods that something is kept of."""
        return dict.fromkeys(told.uid for told in self._told.values())

    def forget_pod(self, uid: str) -> None:
        """Drop what is kept of a pod that is gone: its containers may have gone without any look at them."""
        for container_id in [each for each, told in self._told.items() if told.uid == uid]:
            self.forget(container_id)
