"""What a trace tells, as lines for people: runs, signals, phases, conditions, warnings, each with its time."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubelet_emu.lifecycle.raw_records import containers_of, mapping_of, time_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kubelet_emu.lifecycle.raw_records import RawRecord
    from kubelet_emu.lifecycle.trace import Trace

MOST_LINES = 60
_SHOWN_CONDITIONS = ("Initialized", "Ready")


def story_of(trace: Trace) -> str:
    """Return the moments of a trace, a line each; of a long one the beginning and the end."""
    lines = [f"{at:8.2f}  {text}" for at, text in _moments(trace)]
    if len(lines) > MOST_LINES:
        half = MOST_LINES // 2
        lines[half:-half] = [f"          ... {len(lines) - MOST_LINES} more ..."]
    return "\n".join(lines)


def _moments(trace: Trace) -> Iterator[tuple[float, str]]:
    seen: dict[str, str] = {}
    for record in trace.records:
        for text in _of_record(record, seen):
            yield time_of(record), text


def _of_record(record: RawRecord, seen: dict[str, str]) -> Iterator[str]:
    container = str(record.get("container") or "")
    match record.get("kind"):
        case "run" if record["what"] == "start":
            yield f"{container}#{record['run']} started"
        case "run":
            yield f"{container}#{record['run']} exited({record.get('code')})"
        case "cri" if record.get("what") == "signal":
            yield f"{container}#{record.get('run', 1)} got {record.get('signal')}"
        case "event" if record.get("type") == "Warning":
            yield f"{container or 'pod'} event({record['reason']}) {record['message']}"
        case "status":
            yield from _changes(record, seen)
        case "job":
            yield from _job_changes(record, seen)
        case "step":
            yield f"step {record.get('n')} {record.get('what', '')}".rstrip()
        case "deleted":
            yield "pod deleted"


def _changes(record: RawRecord, seen: dict[str, str]) -> Iterator[str]:
    pod = str(record.get("pod", ""))
    now = {"pod phase": str(record.get("phase"))}
    if record.get("deletionTimestamp"):
        now["pod terminating"] = ""
    conditions = mapping_of(record, "conditions")
    now |= {f"pod condition {type_}": str(conditions[type_]) for type_ in _SHOWN_CONDITIONS if type_ in conditions}
    for name, status in containers_of(record).items():
        now[f"{name} ready"] = str(bool(status.get("ready")))
        state = str(status.get("state"))
        now[f"{name} state"] = state if state.startswith("waiting") else ""
    for key, value in now.items():
        if seen.get(pod + key) != value:
            is_news = value != "False" and (value or key == "pod terminating" or False)
            was_known = pod + key in seen
            seen[pod + key] = value
            if is_news or (value == "False" and was_known):
                yield _told(key, value)


def _told(key: str, value: str) -> str:
    subject, _, what = key.partition(" ")
    match what:
        case "phase":
            return f"pod phase({value})"
        case "terminating":
            return key
        case "ready":
            return f"{subject} {'ready' if value == 'True' else 'unready'}"
        case "state":
            return f"{subject} {value.replace('waiting:', 'waiting(', 1)})"
        case _:
            return f"pod condition({what.removeprefix('condition ')}={value})"


def _job_changes(record: RawRecord, seen: dict[str, str]) -> Iterator[str]:
    for type_, status in mapping_of(record, "conditions").items():
        key = f"job {type_}"
        if seen.get(key) != status:
            seen[key] = str(status)
            yield f"job condition({type_}={status})"
