"""The Events of a run as an API server would have them: folded from the records, kept for an hour.

A sink of the journal. Source: kube-apiserver --event-ttl, client-go v1.36 makeEvent and the event broadcasters of the
two APIs: the scheduler's events are of the newer one and have no counts.
"""

from __future__ import annotations

from collections import deque
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from attrs import define, evolve, field, frozen

from kubelet_emu.api.codec import format_time
from kubelet_emu.journal.records import EventRecord
from kubelet_emu.rules.events import COMBINED_PREFIX

if TYPE_CHECKING:
    from collections.abc import Callable

    from kubelet_emu.journal.encode import Entry

MOST_EVENTS = 8192
KEPT_FOR = timedelta(hours=1)
SCHEDULER = "default-scheduler"
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_API_VERSIONS = {
    "Job": "batch/v1",
    "CronJob": "batch/v1",
    "Deployment": "apps/v1",
    "ReplicaSet": "apps/v1",
    "StatefulSet": "apps/v1",
    "DaemonSet": "apps/v1",
}
_Key = tuple[str, ...]


@frozen(kw_only=True)
class KeptEvent:
    """One Event: what was said first, how often, and when last."""

    record: EventRecord
    name: str
    count: int
    first_at: datetime
    last_at: datetime

    def to_json(self, host: str) -> dict[str, object]:
        """Return it as the API has it."""
        record, ref = self.record, self.record.ref
        involved: dict[str, object] = {
            "apiVersion": _API_VERSIONS.get(ref.kind, "v1"),
            "kind": ref.kind,
            "name": ref.name,
            "namespace": ref.namespace,
            "uid": ref.uid,
        }
        if record.field_path:
            involved["fieldPath"] = record.field_path
        found: dict[str, object] = {
            "apiVersion": "v1",
            "kind": "Event",
            "metadata": {
                "creationTimestamp": format_time(self.first_at),
                "name": self.name,
                "namespace": ref.namespace,
            },
            "involvedObject": involved,
            "type": record.type,
            "reason": record.reason,
            "message": record.message,
            "reportingComponent": record.source,
        }
        if record.source == SCHEDULER:
            instance = f"{SCHEDULER}-{host}"
            new = {"action": "Binding", "eventTime": _micro(self.first_at), "firstTimestamp": None}
            return {**found, **new, "lastTimestamp": None, "reportingInstance": instance, "source": {}}
        old_source: dict[str, object] = {"component": record.source}
        if record.source == "kubelet":
            old_source["host"] = host
        return {
            **found,
            "count": self.count,
            "eventTime": None,
            "firstTimestamp": format_time(self.first_at),
            "lastTimestamp": format_time(self.last_at),
            "reportingInstance": host if record.source == "kubelet" else "",
            "source": old_source,
        }


def _micro(moment: datetime) -> str:
    """Write a time as the API's MicroTime."""
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


@define(eq=False)
class EventLog:
    """Keeps what events there are; `MOST_EVENTS` of them, those of the last hour."""

    _events: dict[_Key, KeptEvent] = field(factory=dict, init=False)
    _listeners: list[Callable[[KeptEvent], None]] = field(factory=list, init=False)
    _serial: int = field(default=0, init=False)

    def __call__(self, entry: Entry) -> None:
        """Take an entry; what is no event is none of its business."""
        record = entry.record
        if not isinstance(record, EventRecord):
            return
        ref = record.ref
        said = COMBINED_PREFIX if record.message.startswith(COMBINED_PREFIX) else record.message
        key = (ref.uid, record.source, record.type, record.reason, record.field_path, said)
        old = self._events.pop(key, None)
        if old is None or record.count <= old.count:
            self._serial += 1
            name = _name(ref.name, entry.at, self._serial)
            old = KeptEvent(record=record, name=name, count=0, first_at=entry.at, last_at=entry.at)
        event = self._events[key] = evolve(old, record=record, count=record.count, last_at=entry.at)
        self._forget(entry.at)
        for listener in tuple(self._listeners):
            listener(event)

    def _forget(self, now: datetime) -> None:
        """Drop the oldest ones: they stand in the order in which they were last seen."""
        old: deque[_Key] = deque()
        for key, event in self._events.items():
            if len(self._events) - len(old) <= MOST_EVENTS and now - event.last_at <= KEPT_FOR:
                break
            old.append(key)
        for key in old:
            del self._events[key]

    def of(self, namespace: str | None = None) -> tuple[KeptEvent, ...]:
        """Return the events of a namespace, or all, as a server lists them: by name within the namespace."""
        found = [each for each in self._events.values() if namespace in {None, each.record.ref.namespace}]
        return tuple(sorted(found, key=lambda each: (each.record.ref.namespace, each.name)))

    def subscribe(self, listener: Callable[[KeptEvent], None]) -> Callable[[], None]:
        """Have `listener` called with each event that comes or changes; the returned function ends that."""
        self._listeners.append(listener)
        return lambda: self._listeners.remove(listener)


def _name(name: str, at: datetime, serial: int) -> str:
    """Name an event after its object and the time in nanoseconds; events of one instant have names of their own."""
    microseconds = (at - _EPOCH) // timedelta(microseconds=1)
    return f"{name}.{microseconds * 1000 + serial % 1000:x}"
