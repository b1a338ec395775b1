"""Events: correlated, put into the journal, and kept for whoever asks.

Owns one correlator state for each object.
Differs: the kubelet's cache of 4096 entries is shared by all its objects, here each object has its own; only a node
with thousands of different events could tell.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from attrs import define, field

from kubelet_emu.journal.records import EventRecord, ObjectRef
from kubelet_emu.rules.events import CorrelatorState, Emission, Event, correlate

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from kubelet_emu.api.v1 import Pod
    from kubelet_emu.journal.records import Record
    from kubelet_emu.kubelet.timebase import Timebase

KUBELET = "kubelet"


@define
class _ObjectEvents:
    kind: str
    correlator: CorrelatorState = field(factory=CorrelatorState)
    emitted: dict[str, Emission] = field(factory=dict)


@define(eq=False)
class Recorder:
    """Records events of pods and other objects (client-go v1.36 EventRecorder)."""

    emit: Callable[[Record], None]
    timebase: Timebase
    host: str = ""
    _objects: dict[str, _ObjectEvents] = field(factory=dict, init=False)

    def event(  # noqa: PLR0913 - the words of an event
        self,
        pod: Pod,
        container: str | None,
        type: str,  # noqa: A002 - the field's name
        reason: str,
        message: str,
        *,
        container_id: str = "",
        source: str = KUBELET,
    ) -> None:
        """Record an event of a pod, or of one of its containers by name.

        `container_id` is replaced by the container's name in the message. Source: kubelet v1.36 recordContainerEvent.
        """
        ref = ObjectRef.of(pod.metadata)
        if container is None:
            self.record(ref, type, reason, message, source=source)
            return
        if container_id:
            message = message.replace(container_id, container)
        self.record(
            ref, type, reason, message, container=container, field_path=field_path(pod, container), source=source
        )

    def record(  # noqa: PLR0913 - the words of an event
        self,
        ref: ObjectRef,
        type: str,  # noqa: A002 - the field's name
        reason: str,
        message: str,
        *,
        container: str | None = None,
        field_path: str = "",
        source: str = KUBELET,
    ) -> None:
        """Record an event of any object; one that the correlator drops leaves no trace."""
        events = self._objects.get(ref.uid)
        if events is None:
            events = self._objects[ref.uid] = _ObjectEvents(ref.kind)
        event = Event(
            namespace=ref.namespace,
            name=ref.name,
            uid=ref.uid,
            kind=ref.kind,
            field_path=field_path,
            type=type,
            reason=reason,
            message=message,
            component=source,
            host=self.host if source == KUBELET else "",
        )
        events.correlator, emission = correlate(events.correlator, event, self.timebase.now())
        if emission is None:
            return
        events.emitted[emission.event_name] = emission
        self.emit(
            EventRecord(
                ref=ref,
                type=type,
                reason=reason,
                message=emission.event.message,
                container=container,
                field_path=field_path,
                count=emission.count,
                source=source,
            )
        )

    def events_of(self, uid: str) -> tuple[Emission, ...]:
        """Return an object's events as they stand, in the order of their first occurrence."""
        events = self._objects.get(uid)
        return tuple(events.emitted.values()) if events is not None else ()

    def pods(self) -> Iterable[str]:
        """Return the uids of the pods that something is kept of."""
        return [uid for uid, events in self._objects.items() if events.kind == "Pod"]

    def forget(self, uid: str) -> None:
        """Drop what is kept of an object that is gone."""
        self._objects.pop(uid, None)


def field_path(pod: Pod, container: str) -> str:
    """Return which part of the pod a container's event is about (kubelet v1.36 fieldPath); empty for an unknown one."""
    for name, containers in (
        ("containers", pod.spec.containers),
        ("initContainers", pod.spec.init_containers),
        ("ephemeralContainers", pod.spec.ephemeral_containers),
    ):
        if any(entry.name == container for entry in containers):
            return f"spec.{name}{{{container}}}"
    return ""
