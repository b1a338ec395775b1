"""What a trace has in place of a moment that isn't in it: the hint behind a failed check."""

from __future__ import annotations

from typing import TYPE_CHECKING

from attrs import evolve

from kubelet_emu.lifecycle.raw_records import mapping_of, time_of
from kubelet_emu.lifecycle.trace import MissingError
from kubelet_emu.scenarios.moments import occurrences
from kubelet_emu.scenarios.words import enumerated, history, told, when

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from kubelet_emu.lifecycle.raw_records import RawRecord
    from kubelet_emu.lifecycle.trace import Trace
    from kubelet_emu.scenarios.expectations import MomentExpression


def instead(trace: Trace, moment: MomentExpression) -> str:
    """Return what happened instead of a moment, a line each; empty when there is nothing to say."""
    try:
        return "\n".join(line for line in _lines(trace, moment) if line)
    except MissingError as missing:
        return str(missing)


def _lines(trace: Trace, moment: MomentExpression) -> Iterator[str]:
    subject = moment.subject
    if found := occurrences(trace, moment):
        yield f"it happened {enumerated(when(one.low, one.high) for one in found)}"
        return
    match subject.name:
        case "step":
            yield f"steps done: {sum(1 for _ in trace.of_kind('step'))}"
        case "job":
            yield from _of_job(trace, moment)
        case "pod":
            yield from _of_pod(trace, moment)
        case _:
            yield from _of_container(trace, moment)


def _of_container(trace: Trace, moment: MomentExpression) -> Iterator[str]:
    subject = moment.subject
    pods = trace.pods_of(subject.pod)
    names = dict.fromkeys(name for pod in pods for name in trace.container_names(pod))
    if subject.name != "*" and subject.name not in names:
        yield f"there is no container {subject.name!r}; there are {', '.join(names) or 'none'}"
        return
    match moment.verb:
        case "event":
            yield _events(_of(trace, "event", moment))
        case "line":
            yield _log(_of(trace, "log", moment))
        case "sigterm" | "sigkill":
            yield _signals(_of(trace, "cri", moment))
        case verb:
            yield from _runs(trace, moment)
            if verb not in {"started", "exited"}:
                yield from _statuses(trace, moment)


def _of(trace: Trace, kind: str, moment: MomentExpression) -> Iterator[RawRecord]:
    name = moment.subject.name
    for pod in trace.pods_of(moment.subject.pod):
        for record in trace.of_kind(kind, pod):
            if name in {"*", record.get("container")}:
                yield record


def _runs(trace: Trace, moment: MomentExpression) -> Iterator[str]:
    """Tell every start and end of the container: what is looked for may be another run or another code."""
    every = evolve(moment, subject=evolve(moment.subject, n=None), argument=None, occurrence="1")
    found = [*occurrences(trace, evolve(every, verb="started")), *occurrences(trace, evolve(every, verb="exited"))]
    if found:
        yield enumerated(told(one) for one in sorted(found, key=lambda one: one.high))
    else:
        yield f"{moment.subject.name} never started"
        yield from _statuses(trace, moment)


def _statuses(trace: Trace, moment: MomentExpression) -> Iterator[str]:
    for pod in trace.pods_of(moment.subject.pod):
        for name in trace.container_names(pod) if moment.subject.name == "*" else (moment.subject.name,):
            statuses = list(trace.container_statuses(name, pod))
            states = history((at, status.get("state")) for at, status in statuses)
            ready = history((at, bool(status.get("ready"))) for at, status in statuses)
            if moment.verb in {"ready", "unready"} and ready:
                yield f"ready of {name}: {ready}"
            elif states:
                yield f"states of {name}: {states}"


def _events(records: Iterable[RawRecord]) -> str:
    seen = dict.fromkeys(f"{record['reason']} {when(time_of(record), time_of(record))}" for record in records)
    return f"events: {enumerated(seen)}" if seen else "it has no events"


def _log(records: Iterable[RawRecord]) -> str:
    lines = [f'"{record["line"]}" {when(time_of(record), time_of(record))}' for record in records]
    return f"lines: {enumerated(lines)}" if lines else "it wrote no line"


def _signals(records: Iterable[RawRecord]) -> str:
    sent = [f"{r['signal']} {when(time_of(r), time_of(r))}" for r in records if r.get("what") == "signal"]
    return f"signals sent: {enumerated(sent)}" if sent else "no signal was sent to it"


def _of_pod(trace: Trace, moment: MomentExpression) -> Iterator[str]:
    for pod in trace.pods_of(moment.subject.pod):
        records = list(trace.of_kind("status", pod))
        match moment.verb:
            case "event":
                yield _events(trace.of_kind("event", pod))
            case "phase" | "reason":
                yield f"{moment.verb}: {history((time_of(r), r.get(moment.verb)) for r in records)}"
            case "condition" | "ready" | "unready":
                kind = (moment.argument or "Ready").partition("=")[0]
                values = ((time_of(r), mapping_of(r, "conditions").get(kind)) for r in records)
                yield f"condition {kind}: {history(values)}"
            case _:
                yield f"phase: {history((time_of(r), r.get('phase')) for r in records)}"


def _of_job(trace: Trace, moment: MomentExpression) -> Iterator[str]:
    records = [record for record in trace.of_kind("job") if not record.get("deleted")]
    if not records:
        yield "there is no Job"
    elif moment.verb == "event":
        yield _events(trace.of_kind("event"))
    elif moment.verb == "condition":
        kind = (moment.argument or "").partition("=")[0]
        yield f"condition {kind}: {history((time_of(r), mapping_of(r, 'conditions').get(kind)) for r in records)}"
    elif moment.verb != "deleted":
        yield f"{moment.verb}: {history((time_of(r), r.get(moment.verb)) for r in records)}"
