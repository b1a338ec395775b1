"""What `kubectl get -o json` prints: Pods, Jobs and Events, alone, in lists, or as the events of a watch.

A watch has no times of its own: an object was written at the newest moment that it tells, or later. A status that tells
no new moment lies between that and the next one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, NamedTuple

from attrs import define, field

from kubelet_emu.lifecycle.reading.events import EventReader
from kubelet_emu.lifecycle.reading.objects import decode_object
from kubelet_emu.lifecycle.reading.pod_json import (
    deletion_time,
    job_record,
    list_at,
    mapping_at,
    newest_time,
    run_records,
    status_record,
    time_at,
)

if TYPE_CHECKING:
    from kubelet_emu.lifecycle.raw_records import RawRecord
    from kubelet_emu.lifecycle.reading.found import Found
    from kubelet_emu.lifecycle.reading.pod_json import JSONMapping
    from kubelet_emu.lifecycle.reading.times import WallTime

_WATCH_TYPES = frozenset({"ADDED", "MODIFIED", "DELETED", "BOOKMARK", "ERROR"})
_READ = frozenset({"Pod", "Job", "Event"})


def is_api_object(value: Mapping[str, object]) -> bool:
    """Tell whether a JSON object is one of the API's, or a watch event with one."""
    obj = _unwrapped(value)[1]
    kind = str(obj.get("kind") or "")
    return "apiVersion" in obj and (kind in _READ or kind.endswith("List"))


def is_event(value: Mapping[str, object]) -> bool:
    """Tell whether a JSON object is an Event, a list of them, or a watch event with one."""
    obj = _unwrapped(value)[1]
    items = list_at(obj, "items")
    return obj.get("kind") in {"Event", "EventList"} or bool(items and items[0].get("kind") == "Event")


def _unwrapped(value: JSONMapping) -> tuple[str, JSONMapping]:
    """Return the type of a watch event and its object; an object alone was modified."""
    if value.get("type") in _WATCH_TYPES and isinstance(value.get("object"), Mapping):
        return str(value["type"]), mapping_at(value, "object")
    return "MODIFIED", value


@define(eq=False)
class _Known:
    """What was read of one object so far."""

    at: WallTime | None = None
    last: RawRecord | None = None
    late: list[RawRecord] = field(factory=list)
    deletion: tuple[object, object] | None = None
    runs: set[tuple[object, ...]] = field(factory=set)


class _Version(NamedTuple):
    """One version of an object: when it was written at the earliest, and whether it tells no moment of its own."""

    known: _Known
    at: WallTime
    is_new: bool
    is_late: bool


@define(eq=False)
class APIObjectReader:
    """Turns objects into records. Each is known by kind and uid."""

    found: Found
    _events: EventReader = field(init=False)
    _known: dict[tuple[str, str], _Known] = field(factory=dict, init=False)

    def __attrs_post_init__(self) -> None:
        """Make the reader of the events among them."""
        self._events = EventReader(self.found)

    def read(self, line: int, value: JSONMapping) -> None:
        """Add the records of one JSON object, a list's items one by one."""
        kind, obj = _unwrapped(value)
        if kind in {"BOOKMARK", "ERROR"}:
            if kind == "ERROR":
                self.found.fault(line, f"the watch ended with an error: {obj.get('message') or obj.get('reason')}")
            return
        for each in _flattened(obj):
            self._read_one(line, kind, each)

    def _read_one(self, line: int, watch_type: str, obj: JSONMapping) -> None:
        try:
            match obj.get("kind"):
                case "Event":
                    if watch_type != "DELETED":
                        self._events.read(line, obj)
                case "Pod":
                    self._read_pod(watch_type, obj)
                case "Job":
                    self._read_job(watch_type, obj)
                case kind:
                    self.found.fault(line, f"a {kind or 'thing without a kind'} is no Pod, Job or Event")
                    return
        except (ValueError, TypeError) as error:
            self.found.fault(line, f"a {obj.get('kind')} that can't be read: {error}")

    def _read_pod(self, watch_type: str, pod: JSONMapping) -> None:
        version = self._version_of(pod)
        known, at = version.known, version.at
        whose: RawRecord = {"pod": self._name_of("Pod", pod)}
        if version.is_new:
            created = time_at(mapping_at(pod, "metadata"), "creationTimestamp") or at
            self.found.add(created, {"kind": "object", "what": "created", **whose})
        self._keep(pod)
        for when, record in run_records(pod):
            key = (record["container"], record["run"], record["what"])
            if key not in known.runs:
                known.runs.add(key)
                self.found.add(when, {**record, **whose})
        self._read_deletion(known, at, pod, whose)
        self._add_state(version, {**status_record(pod), **whose})
        if watch_type == "DELETED":
            self.found.add(at, {"kind": "object", "what": "deleted", **whose})

    def _read_deletion(self, known: _Known, at: WallTime, pod: JSONMapping, whose: RawRecord) -> None:
        metadata = mapping_at(pod, "metadata")
        asked = deletion_time(pod)
        grace = metadata.get("deletionGracePeriodSeconds")
        deletion = (metadata.get("deletionTimestamp"), grace)
        if asked is None or known.deletion == deletion:
            return
        # the timestamp of a second, shorter request is counted from the first one: only its order is known
        when = asked if known.deletion is None else at
        known.deletion = deletion
        self.found.add(when, {"kind": "object", "what": "deletionTimestamp", "gracePeriodSeconds": grace, **whose})

    def _read_job(self, watch_type: str, job: JSONMapping) -> None:
        version = self._version_of(job)
        self._keep(job)
        whose: RawRecord = {"job": self._name_of("Job", job)}
        self._add_state(version, {**job_record(job), **whose})
        if watch_type == "DELETED":
            self.found.add(version.at, {"kind": "object", "what": "deleted", **whose})

    def _name_of(self, kind: str, obj: JSONMapping) -> str:
        metadata = mapping_at(obj, "metadata")
        return self.found.names.label(kind, str(metadata.get("namespace") or ""), str(metadata.get("name")))

    def _version_of(self, obj: JSONMapping) -> _Version:
        metadata = mapping_at(obj, "metadata")
        key = (str(obj.get("kind")), str(metadata.get("uid") or metadata.get("name")))
        is_new = key not in self._known
        known = self._known.setdefault(key, _Known())
        told = newest_time(obj)
        if told is None:
            raise ValueError("it tells no time")
        before = known.at
        if before is not None and told <= before:
            return _Version(known, before, is_new, is_late=True)
        if before is not None:
            for record in known.late:
                record["resolution"] = (told.nanoseconds - before.nanoseconds) / 1e9 + told.step_seconds
        known.late.clear()
        known.at = told
        return _Version(known, told, is_new, is_late=False)

    def _add_state(self, version: _Version, record: RawRecord) -> None:
        """Add a status or job record unless it repeats the one before."""
        known = version.known
        if known.last == record:
            return
        known.last = record
        added = self.found.add(version.at, record)
        if version.is_late:
            known.late.append(added)

    def _keep(self, obj: JSONMapping) -> None:
        decoded = decode_object(obj)
        if decoded is not None:
            self.found.objects[decoded.kind, self._name_of(decoded.kind, obj)] = decoded


def _flattened(obj: JSONMapping) -> Iterator[JSONMapping]:
    """Yield the items of a list, or the object; the items of a typed list don't repeat their kind."""
    kind = str(obj.get("kind") or "")
    if not kind.endswith("List"):
        yield obj
        return
    for item in list_at(obj, "items"):
        yield {"kind": kind.removesuffix("List"), **item}
