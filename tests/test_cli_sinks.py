"""Entries in the order of their times, though some facts are told late."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from kubelet_emu.cli.sinks import InOrder
from kubelet_emu.journal.encode import Entry
from kubelet_emu.journal.records import EndRecord, NoteRecord

START = datetime(2026, 1, 1, tzinfo=UTC)


def note(seconds: float, text: str) -> Entry:
    return Entry(n=1, record=NoteRecord(at=START + timedelta(seconds=seconds), text=text))


def text_of(entry: Entry) -> str:
    return entry.record.text if isinstance(entry.record, NoteRecord) else "end"


def test_a_fact_that_is_told_late_stands_where_it_happened() -> None:
    told: list[str] = []
    sink = InOrder(lambda entry: told.append(text_of(entry)))
    for entry in (note(0, "a"), note(0.8, "c"), note(0.5, "b"), note(3, "d")):
        sink(entry)
    assert told == ["a", "b", "c"]
    sink(Entry(n=1, record=EndRecord(at=START + timedelta(seconds=3), why="finished")))
    sink(note(4, "clean-up"))
    assert told == ["a", "b", "c", "d", "end", "clean-up"]


def test_what_is_held_is_told_when_a_run_breaks_off() -> None:
    told: list[str] = []
    sink = InOrder(lambda entry: told.append(text_of(entry)))
    sink(note(0, "a"))
    sink.flush()
    assert told == ["a"]
