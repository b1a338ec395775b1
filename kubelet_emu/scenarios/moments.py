"""Where the moments of an expectation are in a trace."""

from __future__ import annotations

from typing import TYPE_CHECKING

from attrs import evolve

from kubelet_emu.lifecycle.raw_records import (
    EVENT_SLACK_SECONDS,
    STATUS_SLACK_SECONDS,
    Interval,
    interval,
    mapping_of,
    number_of,
    time_of,
)
from kubelet_emu.lifecycle.trace import MissingError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from kubelet_emu.lifecycle.raw_records import RawRecord
    from kubelet_emu.lifecycle.runs import Run
    from kubelet_emu.lifecycle.trace import Trace
    from kubelet_emu.scenarios.expectations import MomentExpression

_KILL_SIGNALS = frozenset({"killed", "SIGKILL", "KILL"})


class NoSuchMomentError(MissingError):
    """A moment is not in the trace, or not so often."""

    def __init__(self, moment: MomentExpression, count: int) -> None:
        """Say which moment, and how often it is there."""
        how_often = "once" if count == 1 else f"{count} times"
        super().__init__(f"{moment.source} happened only {how_often}" if count else f"{moment.source} did not happen")
        self.moment = moment


def find_moment(trace: Trace, moment: MomentExpression) -> Interval:
    """Return the occurrence that is meant; MissingError."""
    found, wanted = occurrences(trace, moment), moment.occurrence
    if moment.subject.name == "pod" and moment.subject.n:
        wanted = moment.subject.n
    if not found or (wanted != "last" and int(wanted) > len(found)):
        raise NoSuchMomentError(moment, len(found))
    return found[-1] if wanted == "last" else found[int(wanted) - 1]


def occurrences(trace: Trace, moment: MomentExpression) -> list[Interval]:
    """Return every occurrence of a moment in order of time."""
    subject = moment.subject
    match subject.name:
        case "step":
            found = list(_of_step(trace, moment))
        case "job":
            found = list(_of_job(trace, moment))
        case "pod":
            found = [one for pod in trace.pods_of(subject.pod) for one in _of_pod(trace, pod, moment)]
        case name:
            found = [
                one
                for pod in trace.pods_of(subject.pod)
                for container in (trace.container_names(pod) if name == "*" else (name,))
                for one in _of_container(trace, pod, container, moment)
            ]
    if subject.name in {"step", "job"}:
        return found
    return sorted(found, key=lambda one: (one.high, one.low))


def _of_step(trace: Trace, moment: MomentExpression) -> list[Interval]:
    n = moment.subject.n
    found = [
        interval(time_of(record), time_of(record), f"step#{record.get('n')}")
        for record in trace.of_kind("step")
        if n in {None, "last", str(record.get("n"))}
    ]
    return found[-1:] if n == "last" else found


def _of_events(trace: Trace, pod: str, container: str | None, moment: MomentExpression) -> list[Interval]:
    return [
        interval(time_of(record) - EVENT_SLACK_SECONDS, time_of(record), moment.source)
        for record in trace.of_kind("event", pod)
        if record.get("reason") == moment.argument
        and container in {None, record.get("container")}
        and (moment.text is None or moment.text in str(record.get("message") or ""))
    ]


def _seen(record: RawRecord, label: str) -> Interval:
    return interval(time_of(record) - STATUS_SLACK_SECONDS, time_of(record), label)


def _of_job(trace: Trace, moment: MomentExpression) -> Iterator[Interval]:
    if moment.verb == "event":
        yield from _of_events(trace, "*", None, moment)
        return
    if moment.verb == "deleted":
        yield from (_seen(record, moment.source) for record in trace.of_kind("job") if record.get("deleted"))
        return
    old: object = _NOTHING
    for record in trace.of_kind("job"):
        if record.get("deleted"):
            continue
        now, is_hit = _job_value(record, moment)
        if is_hit and now != old:
            yield _seen(record, moment.source)
        old = now


def _job_value(record: RawRecord, moment: MomentExpression) -> tuple[object, bool]:
    if moment.verb == "condition":
        kind, _, wanted = (moment.argument or "").partition("=")
        now = mapping_of(record, "conditions").get(kind)
        return now, now == (wanted or "True")
    if moment.argument is None:
        raise MissingError(f"{moment.verb} of a job needs a number, as in {moment.verb}(1)")
    count = number_of(record.get(moment.verb))
    return count, count == int(moment.argument)


_NOTHING = object()


def _of_pod(trace: Trace, pod: str, moment: MomentExpression) -> Iterable[Interval]:
    match moment.verb:
        case "event":
            return _of_events(trace, pod, None, moment)
        case "created":
            return _created(trace, pod, moment.source)
        case "deleted":
            return [_seen(record, moment.source) for record in trace.of_kind("deleted", pod)]
        case "terminating" if told := list(trace.of_kind("terminating", pod)):
            return [_seen(told[0], moment.source)]
        case _:
            return _pod_changes(trace, pod, moment)


def _created(trace: Trace, pod: str, label: str) -> list[Interval]:
    name = trace.pod_named(pod)
    if not trace.pods or name is None:
        return [interval(0.0, 0.0, label)]
    return [_seen(record, label) for record in trace.records if record.get("pod") == name][:1]


def _pod_changes(trace: Trace, pod: str, moment: MomentExpression) -> Iterator[Interval]:
    """Return where a value of the pod's status became what is wanted."""
    old: object = _NOTHING
    was_ready = False
    for record in trace.of_kind("status", pod):
        now, is_hit = _pod_value(record, moment)
        if is_hit and now != old and (moment.verb != "unready" or was_ready):
            yield _seen(record, moment.source)
        was_ready = was_ready or now == "True"
        old = now


def _pod_value(record: RawRecord, moment: MomentExpression) -> tuple[object, bool]:
    match moment.verb:
        case "phase" | "reason":
            now: object = record.get(moment.verb)
            return now, now == moment.argument
        case "terminating":
            return bool(record.get("deletionTimestamp")), bool(record.get("deletionTimestamp"))
        case "ready" | "unready":
            kind, wanted = "Ready", "True" if moment.verb == "ready" else "False"
        case _:
            kind, _, wanted = (moment.argument or "").partition("=")
    now = mapping_of(record, "conditions").get(kind)
    return now, now == (wanted or "True")


def _of_container(trace: Trace, pod: str, name: str, moment: MomentExpression) -> list[Interval]:
    match moment.verb:
        case "event":
            return _of_events(trace, pod, name, moment)
        case "line":
            lines = _of_run(list(_named(trace, "log", pod, name)), moment.subject.n)
            return [
                interval(time_of(record), time_of(record), moment.source)
                for record in lines
                if (moment.argument or "") in str(record["line"])
            ]
        case "sigterm" | "sigkill":
            return _signals(trace, pod, name, moment)
        case "started" | "exited":
            return _run_ends(trace, pod, name, moment)
        case _:
            return _container_changes(trace, pod, name, moment)


def _named(trace: Trace, kind: str, pod: str, name: str) -> Iterator[RawRecord]:
    return (record for record in trace.of_kind(kind, pod) if record.get("container") == name)


def _of_run(records: list[RawRecord], n: str | None) -> list[RawRecord]:
    """Return the records of one run; "last" is the highest number there is."""
    if n is None:
        return records
    numbers = [number_of(record.get("run", 1)) for record in records]
    wanted = max(numbers, default=0) if n == "last" else int(n)
    return [record for record, number in zip(records, numbers, strict=True) if number == wanted]


def _signals(trace: Trace, pod: str, name: str, moment: MomentExpression) -> list[Interval]:
    """Return the signals that the runtime sent; without its records what a container says of them."""
    records = list(_named(trace, "cri", pod, name))
    if not records:
        verb, argument = ("line", "Terminated") if moment.verb == "sigterm" else ("exited", "137")
        return _of_container(trace, pod, name, evolve(moment, verb=verb, argument=argument))
    sent = [
        record
        for record in records
        if record.get("what") == "signal" and (record.get("signal") in _KILL_SIGNALS) == (moment.verb == "sigkill")
    ]
    return [interval(time_of(record), time_of(record), moment.source) for record in _of_run(sent, moment.subject.n)]


def _run_ends(trace: Trace, pod: str, name: str, moment: MomentExpression) -> list[Interval]:
    runs, n = trace.runs(name, pod), moment.subject.n
    wanted = max(runs, default=0) if n == "last" else int(n or 0)
    found = []
    for run in runs.values():
        if n is not None and run.n != wanted:
            continue
        if moment.verb == "started" and run.started is not None:
            found.append(run.started)
        elif moment.verb == "exited" and run.exited is not None and _has_code(run, moment.argument):
            code = f"({run.code})" if run.code is not None else ""
            found.append(evolve(run.exited, label=run.exited.label + code))
    return found


def _has_code(run: Run, wanted: str | None) -> bool:
    if wanted is None:
        return True
    if run.code is None:
        return False
    return run.code != int(wanted[1:]) if wanted.startswith("!") else run.code == int(wanted)


def _container_changes(trace: Trace, pod: str, name: str, moment: MomentExpression) -> list[Interval]:
    """Return where a value of the container's status became what is wanted."""
    n = moment.subject.n
    old: object = _NOTHING
    was_ready = False
    found = []
    for at, status in trace.container_statuses(name, pod):
        run = number_of(status.get("restartCount")) + 1
        ready = bool(status.get("ready"))
        state, last_state = str(status.get("state") or ""), str(status.get("lastState") or "")
        now: tuple[object, int]
        match moment.verb:
            case "ready":
                now, is_hit = (ready, run), ready
            case "unready":
                now, is_hit = (ready, run), was_ready and not ready
                was_ready = ready or (was_ready and not is_hit)
            case "startup-probe-ok":
                now, is_hit = (bool(status.get("started")), run), bool(status.get("started"))
            case "waiting":
                now, is_hit = (state, run), state == f"waiting:{moment.argument}"
            case _:
                shown = state if state.startswith("terminated") else last_state
                now, is_hit = (shown, run), shown.startswith(f"terminated:{moment.argument}:")
        if is_hit and now != old and n in {None, "last", str(run)}:
            found.append(interval(at - STATUS_SLACK_SECONDS, at, moment.source))
        old = now
    return found[-1:] if n == "last" else found
