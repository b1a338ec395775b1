"""A run that has ended, by the records in its state folder: pods as they were last, events, logs.

What the runtime would be asked of a run that lives is told by records here; env values are the records' digests.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, cast

import trio
from attrs import define, evolve, field

from kubelet_emu.api.codec import DecodeError, decode_mapping
from kubelet_emu.api.v1 import Pod
from kubelet_emu.control.desk import EVENT, to_json
from kubelet_emu.control.errors import ControlError, Reason
from kubelet_emu.control.event_log import EventLog
from kubelet_emu.control.logs import time_text
from kubelet_emu.control.places import RECORDS
from kubelet_emu.journal.read import read_log
from kubelet_emu.journal.records import EventRecord, LogRecord, ManifestRecord, RunRecord, StatusRecord

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Mapping
    from pathlib import Path

    from kubelet_emu.cli.remote.views import Object
    from kubelet_emu.control.places import RunFacts
    from kubelet_emu.journal.encode import Entry
    from kubelet_emu.journal.records import ObjectRef

_BOUND = "Successfully assigned "


@define(eq=False)
class KeptView:
    """What the records of a run tell."""

    facts: RunFacts
    _pods: dict[str, Pod] = field(factory=dict, init=False)
    _others: dict[str, Object] = field(factory=dict, init=False)
    _events: EventLog = field(factory=EventLog, init=False)
    _logs: list[LogRecord] = field(factory=list, init=False)
    _runs: dict[tuple[str, str], int] = field(factory=dict, init=False)
    _node: str = field(default="", init=False)
    _last: datetime = field(factory=lambda: datetime(1970, 1, 1, tzinfo=UTC), init=False)

    def take(self, entry: Entry) -> None:
        """Take the next record."""
        self._last = max(self._last, entry.at)
        self._events(entry)
        match record := entry.record:
            case ManifestRecord():
                self._take_object(record.ref, record.manifest)
            case StatusRecord():
                self._take_status(record, entry.at)
            case EventRecord() if record.message.startswith(_BOUND):
                self._bind(record)
            case LogRecord():
                self._logs.append(record)
            case RunRecord(what="start"):
                key = (record.ref.uid, record.container)
                self._runs[key] = max(record.run, self._runs.get(key, 0))
            case _:
                pass

    def _take_object(self, ref: ObjectRef, manifest: Mapping[str, object]) -> None:
        if ref.kind != "Pod":
            self._others[ref.uid] = {"kind": ref.kind, **manifest}
            return
        try:
            pod = decode_mapping(Pod, manifest, ignore_unknown=True)
        except DecodeError:
            return
        old = self._pods.get(ref.uid)
        self._pods[ref.uid] = pod if old is None else evolve(pod, status=old.status)

    def _take_status(self, record: StatusRecord, at: datetime) -> None:
        pod = self._pods.get(record.ref.uid)
        if pod is None:
            return
        metadata = pod.metadata
        if record.deleting and metadata.deletion_timestamp is None:
            grace = record.deletion_grace_period_seconds or 0
            deleted = at.replace(microsecond=0) + timedelta(seconds=grace)
            metadata = evolve(metadata, deletion_timestamp=deleted, deletion_grace_period_seconds=grace)
        self._pods[record.ref.uid] = evolve(pod, status=record.status, metadata=metadata)

    def _bind(self, record: EventRecord) -> None:
        pod = self._pods.get(record.ref.uid)
        self._node = record.message.rpartition(" ")[2]
        if pod is not None:
            self._pods[record.ref.uid] = evolve(pod, spec=evolve(pod.spec, node_name=self._node))

    async def now(self) -> datetime:
        """Return the time of the last record."""
        await trio.lowlevel.checkpoint()
        return self._last

    async def list(self, kind: str, namespace: str | None, name: str | None = None) -> list[Object]:
        """Return the objects of a kind, those that were deleted, too, as they were last."""
        await trio.lowlevel.checkpoint()
        found: list[Object]
        if kind == "Pod":
            found = [to_json(pod) for pod in self._pods.values()]
        elif kind == EVENT:
            found = [event.to_json(self._node) for event in self._events.of()]
        else:
            found = [each for each in self._others.values() if each["kind"] == kind]
        return [each for each in found if _is_meant(each, namespace, name)]

    async def logs(
        self, namespace: str, pod: str, container: str, query: Mapping[str, object]
    ) -> AsyncGenerator[Object]:
        """Yield the lines of a container's last run, or of the one before; ControlError (BadRequest)."""
        await trio.lowlevel.checkpoint()
        uid = next(
            (u for u, p in self._pods.items() if (p.metadata.namespace, p.metadata.name) == (namespace, pod)), ""
        )
        run = self._runs.get((uid, container), 0) - bool(query.get("previous"))
        if run < 1:
            raise ControlError(Reason.BAD_REQUEST, _no_run(container, pod, is_previous=bool(query.get("previous"))))
        lines = [each for each in self._logs if (each.ref.uid, each.container, each.run) == (uid, container, run)]
        for line in _chosen(lines, query, self._last):
            at = line.at or self._last
            yield {"line": line.line, "at": time_text(at), "stream": line.stream}


def _is_meant(obj: Object, namespace: str | None, name: str | None) -> bool:
    metadata = cast("Object", obj["metadata"])
    return namespace in {None, metadata.get("namespace")} and name in {None, metadata.get("name")}


def _no_run(container: str, pod: str, *, is_previous: bool) -> str:
    if is_previous:
        return f'previous terminated container "{container}" in pod "{pod}" not found'
    return f'container "{container}" in pod "{pod}" is not available'


def _chosen(lines: list[LogRecord], query: Mapping[str, object], now: datetime) -> list[LogRecord]:
    """Return the lines that a query asks for: by time first, then the last ones."""
    since = query.get("sinceSeconds")
    begin = None if since is None else now - timedelta(seconds=cast("int", since))
    if query.get("sinceTime") is not None:
        begin = datetime.fromisoformat(str(query["sinceTime"]))
    found = [each for each in lines if begin is None or each.at is None or each.at >= begin]
    tail = cast("int | None", query.get("tail"))
    return found if tail is None else found[max(0, len(found) - tail) :]


def read_kept(folder: Path, facts: RunFacts) -> KeptView:
    """Return what the records in a state folder tell; a torn last line is left out."""
    view = KeptView(facts)
    for entry in read_log(folder / RECORDS).entries:
        view.take(entry)
    return view
