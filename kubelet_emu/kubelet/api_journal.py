"""What the API shows of pods, as records: each status that changed, a deletion, the end of the object.

Source: what `kubectl get pods --watch` prints.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from attrs import define, evolve, field

from kubelet_emu.api.batch_v1 import Job, JobSpec
from kubelet_emu.api.codec import encode
from kubelet_emu.api.v1 import ConfigMap, Pod, PodSpec, Secret
from kubelet_emu.apiserver.watches import WatchEventType
from kubelet_emu.journal.records import DeletedRecord, ManifestRecord, ObjectRef, StatusRecord

if TYPE_CHECKING:
    from collections.abc import Callable

    from kubelet_emu.api.meta import OwnerReference
    from kubelet_emu.apiserver.objects import APIObject
    from kubelet_emu.apiserver.watches import WatchEvent
    from kubelet_emu.journal.records import Record


@define(eq=False)
class APIJournal:
    """Turns watch events into records; `APIServer.subscribe` calls it."""

    emit: Callable[[Record], None]
    source_of: Callable[[APIObject], str]
    _last: dict[str, StatusRecord] = field(factory=dict, init=False)
    _specs: dict[str, PodSpec | JobSpec] = field(factory=dict, init=False)
    _owners: dict[str, tuple[OwnerReference, ...]] = field(factory=dict, init=False)

    def __call__(self, event: WatchEvent) -> None:
        """Record one change."""
        obj = event.object
        is_gone = event.type is WatchEventType.DELETED
        if event.type is WatchEventType.ADDED or (not is_gone and self._has_new_spec(obj)):
            self._record_manifest(obj, is_new=event.type is WatchEventType.ADDED)
        if isinstance(obj, Pod):
            self._record_status(obj)
        if is_gone:
            self._last.pop(obj.metadata.uid or "", None)
            self._specs.pop(obj.metadata.uid or "", None)
            self._owners.pop(obj.metadata.uid or "", None)
            self.emit(DeletedRecord(ref=ObjectRef.of(obj.metadata, obj.kind)))

    def _has_new_spec(self, obj: APIObject) -> bool:
        """Tell whether what a Pod or Job is to be was changed, or who owns it; being bound to a node is no change.

        Of a ConfigMap or Secret whatever is in it.
        """
        uid = obj.metadata.uid or ""
        if isinstance(obj, ConfigMap | Secret):
            return True
        if uid not in self._specs or not isinstance(obj, Pod | Job):
            return False
        owners = obj.metadata.owner_references
        has_new_owner, self._owners[uid] = self._owners[uid] != owners, owners
        if self._specs[uid] is obj.spec:
            return has_new_owner
        old, self._specs[uid] = self._specs[uid], obj.spec
        return has_new_owner or _without_node(old) != _without_node(obj.spec)

    def _record_manifest(self, obj: APIObject, *, is_new: bool) -> None:
        """Record an object; of one that is known already its status is left out, for that has its own records."""
        if isinstance(obj, Pod | Job):
            self._specs[obj.metadata.uid or ""] = obj.spec
            self._owners[obj.metadata.uid or ""] = obj.metadata.owner_references
        manifest = encode(obj)
        if not is_new:
            manifest.pop("status", None)
        ref = ObjectRef.of(obj.metadata, obj.kind)
        self.emit(ManifestRecord(ref=ref, manifest=manifest, source=self.source_of(obj) if is_new else ""))

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


def _without_node(spec: PodSpec | JobSpec) -> PodSpec | JobSpec:
    return evolve(spec, node_name=None) if isinstance(spec, PodSpec) else spec
