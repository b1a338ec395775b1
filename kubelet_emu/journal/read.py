"""Reads a lifecycle log back.

A log whose writer was killed ends in a torn line: that is no fault. Any other line that can't be read is named and
left out; the rest is still returned.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from attrs import define, field, frozen

from kubelet_emu.journal.encode import SCHEMA, decode_entry

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from kubelet_emu.journal.encode import Entry

OLDEST_YEAR, NEWEST_YEAR = 1971, 9000
_START_OF_TIME = datetime(1970, 1, 1, tzinfo=UTC)


@frozen(kw_only=True)
class LogProblem:
    """One line that can't be read; lines count from 1."""

    line: int
    text: str


@frozen(kw_only=True)
class ReadLog:
    """What a log held, and in which line each entry was; `is_torn` when its last line was cut off."""

    entries: tuple[Entry, ...]
    lines: tuple[int, ...] = ()
    problems: tuple[LogProblem, ...] = ()
    is_torn: bool = False


@define
class LogReader:
    """Reads a log line by line."""

    entries: list[Entry] = field(factory=list)
    lines: list[int] = field(factory=list)
    problems: list[LogProblem] = field(factory=list)
    epoch: datetime = _START_OF_TIME
    _last: int = field(default=0, init=False)
    _is_complete: bool = field(default=True, init=False)

    def read(self, line: int, text: bytes) -> None:
        """Take a line with its end; one that is blank says nothing."""
        if not text.strip():
            return
        self._last, self._is_complete = line, text.endswith(b"\n")
        try:
            self.entries.append(self._decode(text))
            self.lines.append(line)
        except (ValueError, OverflowError, RecursionError) as error:
            self.problems.append(LogProblem(line=line, text=_explain(error)))

    def result(self) -> ReadLog:
        """Return what was read; a last line without its end that can't be read is torn, not wrong."""
        problems = self.problems
        is_torn = not self._is_complete and bool(problems) and problems[-1].line == self._last
        kept = problems[:-1] if is_torn else problems
        return ReadLog(entries=tuple(self.entries), lines=tuple(self.lines), problems=tuple(kept), is_torn=is_torn)

    def _decode(self, text: bytes) -> Entry:
        data = json.loads(text)
        if not isinstance(data, Mapping):
            raise ValueError(f"expected a JSON object, got {type(data).__name__}")  # noqa: TRY004 - bad input, not a bug
        if data.get("kind") == "header":
            self._start(data)
        return decode_entry(data, self.epoch)

    def _start(self, header: Mapping[str, object]) -> None:
        schema = header.get("schema", 1)
        if not isinstance(schema, int) or schema > SCHEMA:
            raise ValueError(f"written with schema {schema!r}, this version reads up to {SCHEMA}")
        if "epoch" in header:
            epoch = datetime.fromisoformat(str(header["epoch"]))
            if not OLDEST_YEAR <= epoch.year <= NEWEST_YEAR:
                raise ValueError(f"epoch {header['epoch']!r} is in no year from {OLDEST_YEAR} to {NEWEST_YEAR}")
            self.epoch = epoch


def _explain(error: ValueError | OverflowError | RecursionError) -> str:
    if isinstance(error, OverflowError):
        return f"a time beyond all calendars: {error}"
    if isinstance(error, RecursionError):
        return "nested too deeply"
    if isinstance(error, json.JSONDecodeError):
        return f"no JSON: {error.msg} at column {error.colno}"
    return "no UTF-8 text" if isinstance(error, UnicodeDecodeError) else str(error)


def read_lines(lines: Iterable[bytes]) -> ReadLog:
    """Return the entries of a log's lines in their order."""
    reader = LogReader()
    for number, text in enumerate(lines, start=1):
        reader.read(number, text)
    return reader.result()


def read_log(path: Path) -> ReadLog:
    """Return the entries of a log file; OSError when it can't be opened."""
    with path.open("rb") as file:
        return read_lines(file)
