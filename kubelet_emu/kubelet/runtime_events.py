"""What the runtime reports by itself: it wakes the relist, and its signals are put into the journal."""

from __future__ import annotations

from typing import TYPE_CHECKING

import trio
from attrs import define

from kubelet_emu.journal.records import ObjectRef, StopRecord
from kubelet_emu.rules.pod_updates import orphan_pod
from runtime.api import RuntimeEventType

if TYPE_CHECKING:
    from collections.abc import Callable

    from kubelet_emu.api.v1 import Pod
    from kubelet_emu.journal.records import Record
    from kubelet_emu.kubelet.pleg import PLEG
    from runtime.api import Runtime, RuntimeEvent


@define(eq=False, kw_only=True)
class RuntimeEvents:
    """Follows the events of a runtime; `relists` says that each has its pod looked at at once."""

    runtime: Runtime
    pleg: PLEG
    emit: Callable[[Record], None]
    relists: bool
    pod: Callable[[str], Pod | None]

    async def follow(self, *, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
        """Follow until cancelled; `started` is called once events can't be missed any more."""
        async with self.runtime.events() as events:
            task_status.started()
            async for event in events:
                self._on_event(event)

    def _on_event(self, event: RuntimeEvent) -> None:
        if event.type is RuntimeEventType.CONTAINER_SIGNALLED:
            self._record_signal(event)
            return
        if not self.relists:
            return
        for uid in [event.pod_uid] if event.pod_uid else [observed.uid for observed in self.pleg.known()]:
            self.pleg.request(uid)

    def _record_signal(self, event: RuntimeEvent) -> None:
        pod = self.pod(event.pod_uid) or orphan_pod(self.pleg.get(event.pod_uid))
        self.emit(
            StopRecord(
                at=event.at,
                ref=ObjectRef.of(pod.metadata),
                what="signal",
                container=event.container_name,
                run=event.attempt + 1,
                signal=event.signal,
                own=event.own,
            )
        )
