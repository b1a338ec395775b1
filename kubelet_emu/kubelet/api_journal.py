"""What the API shows of pods, as records: each status that changed, a deletion, the end of the object.

Source: what `kubectl get pods --watch` prints.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from attrs import define, field

from kubelet_emu.api.codec import encode
from kubelet_emu.api.v1 import Pod
from kubelet_emu.apiserver.watches import WatchEventType
from kubelet_emu.journal.records import DeletedRecord, ManifestRecord, ObjectRef, StatusRecord

if TYPE_CHECKING:
    from collections.abc import Callable

    from kubelet_emu.apiserver.objects import APIObject
    from kubelet_emu.apiserver.watches import WatchEvent
    from kubelet_emu.journal.records import Record


@define(eq=False)
class APIJournal:
    """Turns watch events into records; `APIServer.subscribe` calls it."""

    emit: Callable[[Record], None]
    source_of: Callable[[APIObject], str]
    _last: dict[str, StatusRecord] = field(factory=dict, init=False)

    def __call__(self, event: WatchEvent) -> None:
        """Record one change."""
        obj = event.object
        if event.type is WatchEventType.ADDED:
            self.emit(
                ManifestRecord(
                    ref=ObjectRef.of(obj.metadata, obj.kind), manifest=encode(obj), source=self.source_of(obj)
                )
            )
        if isinstance(obj, Pod):
            self._record_status(obj)
        if event.type is WatchEventType.DELETED:
            self._last.pop(obj.metadata.uid or "", None)
            self.emit(DeletedRecord(ref=ObjectRef.of(obj.metadata, obj.kind)))

    def _record_status(self, pod: Pod) -> None:
        record = StatusRecord(
            ref=ObjectRef.of(pod.metadata),
            status=pod.status,
            deleting=pod.metadata.deletion_timestamp is not None,
            deletion_grace_period_seconds=pod.metadata.deletion_grace_period_seconds,
            generation=pod.metadata.generation or 1,
        )
        uid = pod.metadata.uid or ""
        if self._last.get(uid) != record:
            self._last[uid] = record
            self.emit(record)
