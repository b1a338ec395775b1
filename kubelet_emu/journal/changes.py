"""Which records are worth a line on the terminal, and the words for it.

Says each thing once: a start that the runtime reported isn't said again by the event Started.
"""

from __future__ import annotations

import enum
from typing import TYPE_CHECKING

from attrs import define, field, frozen

from kubelet_emu.api import reasons
from kubelet_emu.journal.records import (
    DeletedRecord,
    EventRecord,
    JobRecord,
    NoteRecord,
    RequestRecord,
    RunRecord,
    StatusRecord,
    StopRecord,
)
from kubelet_emu.journal.short_names import ShortNames

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kubelet_emu.api.v1_status import ContainerStatus
    from kubelet_emu.journal.records import ObjectRef, Record

_SAID_BY_OTHERS = frozenset({reasons.CREATED, reasons.STARTED, reasons.SCHEDULED, "Completed", "SuccessfulCreate"})
_SANDBOX = "POD"


class Weight(enum.Enum):
    """How loud a line is."""

    QUIET = "quiet"
    PLAIN = "plain"
    WARNING = "warning"
    ERROR = "error"


@frozen
class Change:
    """One line."""

    text: str
    weight: Weight = Weight.PLAIN


@define
class Changes:
    """Turns records into lines; remembers what was said last of each object."""

    _phase: dict[str, str] = field(factory=dict, init=False)
    _ready: dict[str, bool] = field(factory=dict, init=False)
    _waiting: dict[tuple[str, str], str] = field(factory=dict, init=False)
    _conditions: dict[tuple[str, str], str] = field(factory=dict, init=False)
    _names: ShortNames = field(factory=ShortNames, init=False)

    def feed(self, record: Record) -> Iterator[Change]:
        """Yield the lines of a record."""
        record = self._names.told(record)
        match record:
            case RunRecord() if record.container != _SANDBOX:
                yield _run_change(record)
            case StopRecord(what="signal") if record.container != _SANDBOX:
                yield _signal_change(record)
            case EventRecord() if record.type == reasons.WARNING or not _is_said_by_others(record):
                yield _event_change(record)
            case StatusRecord():
                yield from self._status_changes(record)
            case JobRecord():
                yield from self._job_changes(record)
            case RequestRecord():
                yield _request_change(record)
            case DeletedRecord():
                yield Change(f"{_whose(record.ref)} deleted", Weight.QUIET)
            case NoteRecord():
                weight = {"warning": Weight.WARNING, "error": Weight.ERROR}.get(record.level, Weight.QUIET)
                yield Change(record.text if record.ref is None else f"{_whose(record.ref)} {record.text}", weight)

    def _status_changes(self, record: StatusRecord) -> Iterator[Change]:
        status, uid, whose = record.status, record.ref.uid, _whose(record.ref)
        if status.phase and self._phase.get(uid, "Pending") != status.phase:
            reason = f" ({status.reason})" if status.reason else ""
            yield Change(f"{whose} is {status.phase}{reason}", _phase_weight(status.phase))
        self._phase[uid] = status.phase or ""
        is_ready = any(c.type == "Ready" and c.status == "True" for c in status.conditions)
        if self._ready.get(uid, False) != is_ready and status.phase == "Running":
            yield Change(f"{whose} is {'ready' if is_ready else 'not ready'}")
        self._ready[uid] = is_ready
        for container in (*status.init_container_statuses, *status.container_statuses):
            yield from self._waiting_changes(record.ref, container)

    def _waiting_changes(self, ref: ObjectRef, container: ContainerStatus) -> Iterator[Change]:
        waiting = container.state.waiting
        reason = "" if waiting is None else waiting.reason or ""
        before = self._waiting.get((ref.uid, container.name), "")
        self._waiting[ref.uid, container.name] = reason
        if reason and reason != before and reason not in {"PodInitializing", "ContainerCreating"}:
            yield Change(f"{_whose(ref)}/{container.name} waits: {reason}", Weight.WARNING)

    def _job_changes(self, record: JobRecord) -> Iterator[Change]:
        if record.status is None:
            return
        for condition in record.status.conditions:
            said = self._conditions.setdefault((record.ref.uid, condition.type), "False")
            self._conditions[record.ref.uid, condition.type] = condition.status
            if condition.status != said:
                is_not = "" if condition.status == "True" else "no longer "
                reason = f" ({condition.reason})" if condition.reason else ""
                weight = Weight.ERROR if condition.type == "Failed" else Weight.PLAIN
                yield Change(f"{_whose(record.ref)} is {is_not}{condition.type}{reason}", weight)


def _is_said_by_others(record: EventRecord) -> bool:
    """Tell whether another line says it, or nothing happened: the image was there."""
    return record.reason in _SAID_BY_OTHERS or (record.reason == "Pulled" and "already present" in record.message)


def _whose(ref: ObjectRef) -> str:
    return ref.name if ref.kind == "Pod" else f"{ref.kind.lower()}/{ref.name}"


def _phase_weight(phase: str) -> Weight:
    return Weight.ERROR if phase == "Failed" else Weight.PLAIN


def _run_change(record: RunRecord) -> Change:
    who = f"{_whose(record.ref)}/{record.container}"
    if record.what == "start":
        return Change(f"{who} started" + (f" (run {record.run})" if record.run > 1 else ""))
    reason = f" ({record.reason})" if record.reason else ""
    weight = Weight.PLAIN if record.code == 0 else Weight.ERROR
    return Change(f"{who} exited {record.code}{reason}", weight)


def _signal_change(record: StopRecord) -> Change:
    who = f"{_whose(record.ref)}/{record.container}"
    if not record.own:
        return Change(f"{who} got {record.signal} from outside", Weight.WARNING)
    weight = Weight.WARNING if record.signal == "SIGKILL" else Weight.QUIET
    return Change(f"{who} {record.signal} sent", weight)


def _event_change(record: EventRecord) -> Change:
    who = _whose(record.ref) + (f"/{record.container}" if record.container else "")
    times = f" (x{record.count})" if record.count > 1 else ""
    weight = Weight.WARNING if record.type == reasons.WARNING else Weight.QUIET
    return Change(f"{who} {record.reason}: {record.message}{times}", weight)


def _request_change(record: RequestRecord) -> Change:
    details = ", ".join(f"{key} {value}" for key, value in record.details.items())
    text = f"{record.what} ({details})" if details else record.what
    return Change(text if record.ref is None else f"{_whose(record.ref)} {text} requested", Weight.QUIET)
