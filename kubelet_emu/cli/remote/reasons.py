"""Why a pod of a run is where it is: one answer from the run's records, what shows it, and the change that mends it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from attrs import evolve, frozen

from kubelet_emu.cli.hints import hints_of
from kubelet_emu.control.places import RECORDS
from kubelet_emu.journal.fold import Facts
from kubelet_emu.journal.read import read_log
from kubelet_emu.journal.records import EventRecord, ManifestRecord
from kubelet_emu.lifecycle.explaining import explain
from kubelet_emu.lifecycle.reading.logs import log_of_entries
from kubelet_emu.lifecycle.recounting import recount

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from datetime import datetime
    from pathlib import Path

    from kubelet_emu.journal.encode import Entry
    from kubelet_emu.lifecycle.explaining.answer import Answer
    from kubelet_emu.lifecycle.history import PodHistory

_SAYS = "; the kubelet says:"
_MOST_EVENTS = 2


@frozen(kw_only=True)
class Explained:
    """One pod with its answer. `seen` are the records that show it, `fix` what to change."""

    pod: PodHistory
    answer: Answer
    seen: tuple[str, ...]
    fix: tuple[str, ...]


def explain_run(folder: Path, now: datetime | None) -> tuple[Explained, ...]:
    """Return the answer for each pod of a run, as of `now` where it lives, else as of its last record; OSError."""
    return explain_entries(read_log(folder / RECORDS).entries, now)


def explain_entries(entries: tuple[Entry, ...], now: datetime | None) -> tuple[Explained, ...]:
    """Return the answer for each pod that records tell of."""
    log = log_of_entries(entries, file=RECORDS)
    hints = _hints(entries)
    pods = recount(log).pods
    if now is not None and log.epoch is not None:
        seconds = (now - log.epoch).total_seconds()
        pods = tuple(evolve(pod, ended_at=max(seconds, pod.ended_at)) for pod in pods)
    return tuple(_explained(pod, hints.get(pod.name, ())) for pod in pods)


def _explained(pod: PodHistory, hints: tuple[str, ...]) -> Explained:
    answer = explain(pod)
    return Explained(pod=pod, answer=answer, seen=tuple(_seen(pod, answer)), fix=answer.fix or hints)


def _hints(entries: Iterable[Entry]) -> dict[str, tuple[str, ...]]:
    """Return what the hints of a run know that mends each pod, by the name that the run gives it."""
    facts, warnings, names = Facts(), dict[str, dict[tuple[str, str], str]](), dict[str, str]()
    for entry in entries:
        facts.feed(entry)
        match entry.record:
            case EventRecord(type="Warning") as record:
                warnings.setdefault(record.ref.uid, {})[record.reason, record.container or ""] = record.message
            case ManifestRecord(ref=ref) if ref.kind == "Pod":
                names[ref.uid] = ref.name
    found = {}
    for uid, pod in facts.pods.items():
        hints = hints_of(pod, warnings.get(uid, {}), is_of_job=pod.owner in facts.jobs)
        found[names.get(uid, pod.ref.name)] = tuple(hint.text.partition(_SAYS)[0] for hint in hints)
    return found


def _seen(pod: PodHistory, answer: Answer) -> Iterator[str]:
    """Yield the last records that bear on a pod that doesn't go on: warnings, and conditions that don't hold."""
    if pod.gone or pod.phase in {"Succeeded", "Failed"}:
        return
    begin = answer.since if answer.since is not None and not answer.is_stuck else 0.0
    warnings = {
        (event.reason, event.container, event.message): event
        for event in pod.events
        if event.type == "Warning" and event.at.high >= begin
    }
    for event in list(warnings.values())[-_MOST_EVENTS:]:
        times = "" if event.count == 1 else f" (x{event.count})"
        about = f" {event.container}" if event.container else ""
        yield f"+{event.at.high:.1f}s event {event.reason}{times}{about}: {event.message.strip()}"
    last = {condition.type: condition for condition in pod.conditions}
    failing = {each.message: each for each in reversed(last.values()) if each.status == "False" and each.message}
    for condition in failing.values():
        yield f"+{condition.at.high:.1f}s {condition.type} is False: {condition.message}"
