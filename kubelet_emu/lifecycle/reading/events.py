"""Event objects (v1 and events.k8s.io/v1) to event records.

An event that stands for several occurrences is two records: the first, and the last with its count. Seen again in a
watch, only what is new of it becomes a record.
Source: kubernetes v1.36 core/v1 and events/v1 Event; kubectl get events for which time is the last.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, cast

from attrs import define, field, frozen

from kubelet_emu.lifecycle.reading.times import WallTime, parse_wall_time

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kubelet_emu.lifecycle.reading.found import Found

_CONTAINER = re.compile(r"spec\.(?:containers|initContainers|ephemeralContainers)\{([^}]+)\}")


@frozen(kw_only=True)
class _Event:
    """One Event object in one spelling."""

    uid: str
    kind: str
    namespace: str
    name: str
    container: str | None
    fields: Mapping[str, object]
    first: WallTime
    last: WallTime
    count: int


@define(eq=False)
class EventReader:
    """Turns Event objects into records."""

    found: Found
    _counts: dict[str, int] = field(factory=dict, init=False)

    def read(self, line: int, obj: Mapping[str, object]) -> None:
        """Add the records of an event; one that can't be read is named."""
        try:
            event = _parse(obj)
        except (ValueError, AttributeError, TypeError) as error:
            self.found.fault(line, f"an Event that can't be read: {error}")
            return
        known = self._counts.get(event.uid, 0)
        self._counts[event.uid] = max(known, event.count)
        if not known:
            self._add(event, event.first, 1)
        if event.count > max(known, 1):
            self._add(event, event.last, event.count)

    def _add(self, event: _Event, at: WallTime, count: int) -> None:
        name = self.found.names.label(event.kind, event.namespace, event.name)
        whose = {"pod" if event.kind == "Pod" else event.kind.lower(): name}
        record = {"kind": "event", **whose, **event.fields, "container": event.container, "count": count}
        self.found.add(at, record)


def _parse(obj: Mapping[str, object]) -> _Event:
    """Return an event; ValueError when it has no time or says of nothing."""
    metadata = _mapping(obj, "metadata")
    about = _mapping(obj, "involvedObject") or _mapping(obj, "regarding")
    series = _mapping(obj, "series")
    source = _mapping(obj, "source") or _mapping(obj, "deprecatedSource")
    times = [_time(obj.get(key)) for key in _FIRST]
    first = next((at for at in times if at is not None), None) or _time(metadata.get("creationTimestamp"))
    if first is None or not about.get("name"):
        raise ValueError("it has no time" if first is None else "it doesn't say of which object")
    last = next((at for key in _LAST if (at := _time(_value(obj, series, key))) is not None), first)
    found = _CONTAINER.fullmatch(str(about.get("fieldPath") or ""))
    return _Event(
        uid=str(metadata.get("uid") or metadata.get("name") or f"{about.get('name')}/{obj.get('reason')}/{first}"),
        kind=str(about.get("kind") or "Pod"),
        namespace=str(about.get("namespace") or metadata.get("namespace") or ""),
        name=str(about["name"]),
        container=found[1] if found else None,
        fields={
            "type": obj.get("type") or "Normal",
            "reason": obj.get("reason") or "",
            "message": obj.get("message") or obj.get("note") or "",
            "source": source.get("component") or obj.get("reportingComponent") or obj.get("reportingController") or "",
        },
        first=first,
        last=max(first, last),
        count=int(cast("int", series.get("count") or obj.get("count") or obj.get("deprecatedCount") or 1)),
    )


_FIRST = ("firstTimestamp", "deprecatedFirstTimestamp", "eventTime")
_LAST = ("lastObservedTime", "lastTimestamp", "deprecatedLastTimestamp")


def _value(obj: Mapping[str, object], series: Mapping[str, object], key: str) -> object:
    return series.get(key) if key == "lastObservedTime" else obj.get(key)


def _time(value: object) -> WallTime | None:
    return parse_wall_time(str(value)) if value else None


def _mapping(obj: Mapping[str, object], key: str) -> Mapping[str, object]:
    value = obj.get(key)
    return value if isinstance(value, dict) else {}
