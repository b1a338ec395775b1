"""What a user sees while pods run: container logs on one stream, changes on the other.

Logs are `POD CONTAINER TIME LINE` with the local offset. Changes are one short line each, led by the seconds since the
first object was created. Foreign text is made harmless.
"""

from __future__ import annotations

from itertools import cycle
from typing import TYPE_CHECKING, TextIO, assert_never

from attrs import define, field, frozen

from kubelet_emu.journal.changes import Changes, Weight
from kubelet_emu.journal.records import LogRecord, ManifestRecord
from kubelet_emu.journal.short_names import ShortNames
from kubelet_emu.journal.text import harmless

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from datetime import datetime

    from kubelet_emu.journal.encode import Entry
    from kubelet_emu.journal.outlet import Writable

_RESET = "\x1b[0m"
_DIM, _YELLOW, _RED = "\x1b[2m", "\x1b[33m", "\x1b[31m"
_CONTAINER_COLOURS = tuple(f"\x1b[{code}m" for code in (36, 32, 35, 34, 33, 96, 92, 95, 94, 93))


def wants_colour(stream: TextIO, environ: Mapping[str, str]) -> bool:
    """Tell whether to colour a stream: a terminal, and neither NO_COLOR nor TERM=dumb."""
    return not environ.get("NO_COLOR") and is_terminal(stream, environ)


def is_terminal(stream: TextIO, environ: Mapping[str, str]) -> bool:
    """Tell whether a stream is a terminal that knows more than lines."""
    return environ.get("TERM") != "dumb" and stream.isatty()


def local_time(at: datetime) -> str:
    """Return a time as RFC 3339 with nine digits of seconds and the local offset, Z where that is nought."""
    local = at.astimezone()
    offset = local.strftime("%z")
    zone = "Z" if offset == "+0000" else f"{offset[:3]}:{offset[3:5]}"
    return f"{local:%Y-%m-%dT%H:%M:%S.%f}000{zone}"


@frozen
class Stream:
    """One output stream; `has_colour` as the terminal wants it."""

    file: Writable
    has_colour: bool = False


@define(eq=False)
class Console:
    """A sink for a terminal or a pipe. `logs` is None when something else owns stdout."""

    logs: Stream | None
    changes: Stream
    _changes: Changes = field(factory=Changes, init=False)
    _names: ShortNames = field(factory=ShortNames, init=False)
    _origin: datetime | None = field(default=None, init=False)
    _colours: dict[tuple[str, str], str] = field(factory=dict, init=False)
    _palette: Iterator[str] = field(factory=lambda: cycle(_CONTAINER_COLOURS), init=False)

    def __call__(self, entry: Entry) -> None:
        """Show an entry, if it is worth a line."""
        if self._origin is None and isinstance(entry.record, ManifestRecord):
            self._origin = entry.at
        if isinstance(entry.record, LogRecord):
            self._show_log(entry.record, entry.at)
            return
        for change in self._changes.feed(entry.record):
            self._show_change(self._offset(entry.at) + harmless(change.text, 500), change.weight)

    def _offset(self, at: datetime) -> str:
        seconds = 0.0 if self._origin is None else (at - self._origin).total_seconds()
        return f"+{max(0.0, seconds):.1f}s "

    def _show_log(self, record: LogRecord, at: datetime) -> None:
        if self.logs is None:
            return
        ref = record.ref
        who = f"{self._names.label(ref.kind, ref.namespace, ref.name)} {record.container}"
        if self.logs.has_colour:
            who = f"{self._colour(record)}{who}{_RESET}"
        self.logs.file.write(f"{who} {local_time(at)} {harmless(record.line)}\n")

    def _colour(self, record: LogRecord) -> str:
        key = (record.ref.uid, record.container)
        if key not in self._colours:
            self._colours[key] = next(self._palette)
        return self._colours[key]

    def _show_change(self, text: str, weight: Weight) -> None:
        if self.changes.has_colour:
            text = _paint(text, weight)
        self.changes.file.write(f"{text}\n")


def _paint(text: str, weight: Weight) -> str:
    match weight:
        case Weight.QUIET:
            return f"{_DIM}{text}{_RESET}"
        case Weight.PLAIN:
            return text
        case Weight.WARNING:
            return f"{_YELLOW}{text}{_RESET}"
        case Weight.ERROR:
            return f"{_RED}{text}{_RESET}"
    assert_never(weight)
