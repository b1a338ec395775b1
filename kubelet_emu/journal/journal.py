"""The one door for lifecycle facts: `Journal.emit`.

A record passes one structlog pipeline (time, number, secrets out) and reaches every renderer: the log file, the
console, the trace, the summary. So what people see is a projection of what can be replayed. `emit` never awaits, so
no cancellation can tear a record.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Protocol, cast

import attrs
import structlog

from kubelet_emu.journal.encode import Entry, ref_of, to_line
from kubelet_emu.journal.records import DeletedRecord, HeaderRecord, LogRecord, ManifestRecord
from kubelet_emu.journal.redact import Redactor
from kubelet_emu.journal.secret_values import SecretValues

if TYPE_CHECKING:
    from collections.abc import Callable, MutableMapping
    from datetime import datetime

    from kubelet_emu.journal.outlet import Writable
    from kubelet_emu.journal.records import Record

MOST_GONE = 1024
"""Of so many objects that are gone the last number is known: what ends with one is told soon after its deletion."""


class Sink(Protocol):
    """A renderer: takes each entry once, in order, and must not fail or wait."""

    def __call__(self, entry: Entry, /) -> None:
        """Take one entry."""


class _Logger(Protocol):
    def info(self, event: str, *, record: Record) -> None: ...


@attrs.frozen
class _Fanout:
    """The end of the pipeline: hands an entry to every sink."""

    sinks: tuple[Sink, ...]

    def info(self, entry: Entry) -> None:
        for sink in self.sinks:
            sink(entry)


@attrs.define(eq=False)
class Journal:
    """Stamps, cleans and numbers records and hands them to the sinks.

    `now` is read for a record that has no time of its own.
    """

    now: Callable[[], datetime]
    sinks: tuple[Sink, ...] = ()
    redactor: Redactor = attrs.field(factory=Redactor)
    secrets: SecretValues = attrs.field(factory=SecretValues)
    _numbers: dict[str, int] = attrs.field(factory=dict, init=False)
    _gone: deque[str] = attrs.field(factory=deque, init=False)
    _log: _Logger = attrs.field(init=False)

    def __attrs_post_init__(self) -> None:
        """Build the pipeline."""
        pipeline = structlog.wrap_logger(
            _Fanout(self.sinks),
            processors=[self._redact, self._stamp],
            wrapper_class=structlog.BoundLogger,
            context_class=dict,
        )
        self._log = cast("_Logger", pipeline.bind())

    def emit(self, record: Record) -> None:
        """Record a fact, once."""
        self._log.info(record.kind, record=record)

    def _redact(self, _logger: object, _method: str, event: MutableMapping[str, object]) -> MutableMapping[str, object]:
        record: Record = event["record"]  # type: ignore[assignment]  # an event has nothing else
        if isinstance(record, ManifestRecord):
            shown = self.redactor.redact(record.manifest)
            self.secrets.learn(record.manifest, shown)
            event["record"] = attrs.evolve(record, manifest=shown)
        else:
            event["record"] = self.secrets.clean(record)
        return event

    def _stamp(
        self, _logger: object, _method: str, event: MutableMapping[str, object]
    ) -> tuple[tuple[Entry], dict[str, object]]:
        """Give a record its time and its number."""
        record: Record = event["record"]  # type: ignore[assignment]  # an event has nothing else
        ref = ref_of(record)
        uid = "" if ref is None else ref.uid
        n = self._numbers[uid] = self._numbers.get(uid, 0) + 1
        if isinstance(record, DeletedRecord):
            self._forget_later(uid)
        return (Entry(n=n, record=record, at=record.at or self.now()),), {}

    def _forget_later(self, uid: str) -> None:
        """Drop what is kept of an object that is gone: its texts now, its number when nothing more is told of it."""
        self.secrets.forget(uid)
        self._gone.append(uid)
        if len(self._gone) > MOST_GONE:
            self._numbers.pop(self._gone.popleft(), None)


@attrs.define(eq=False)
class LogWriter:
    """A sink that writes the lifecycle log as JSON lines, one `write` each; times count from `epoch`.

    What containers print goes through `scrub`: a log is what people hand on.
    """

    out: Writable
    epoch: datetime
    scrub: Callable[[str], str] = str

    def __call__(self, entry: Entry) -> None:
        """Write one line; a header says what times count from."""
        if isinstance(entry.record, HeaderRecord) and entry.record.epoch is not None:
            self.epoch = entry.record.epoch
        if isinstance(entry.record, LogRecord):
            entry = attrs.evolve(
                entry, record=attrs.evolve(entry.record, line=self.scrub(entry.record.line)), at=entry.at
            )
        self.out.write(to_line(entry, self.epoch))
