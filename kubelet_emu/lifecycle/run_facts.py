"""What is known of a run besides its start and its end: its startup, its readiness, its postStart hook."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from attrs import evolve

from kubelet_emu.api.reasons import RESTARTING_ALL_CONTAINERS
from kubelet_emu.lifecycle.history import RunHistory
from kubelet_emu.lifecycle.hook_facts import HookQuestion, handler_of, hook_of
from kubelet_emu.lifecycle.pod_records import moments_of
from kubelet_emu.lifecycle.raw_records import STATUS_SLACK_SECONDS, Interval, interval, latest, number_of, time_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from kubelet_emu.lifecycle.history import HookHistory
    from kubelet_emu.lifecycle.pod_records import PodRecords
    from kubelet_emu.lifecycle.runs import Run
    from kubelet_emu.lifecycle.specs import Part

# A status that still says "not started" was written a little before it was seen.
_WRITE_SECONDS = 0.2
_RUNNING = "running"


def runs_of_part(part: Part, records: PodRecords, runs: Mapping[int, Run]) -> Iterator[RunHistory]:
    """Yield the runs of a container in their order."""
    for n in sorted(runs):
        run = runs[n]
        history = _placed(RunHistory(container=part.name, n=n, code=run.code, reason=run.reason), run, records)
        startup_ok, still_starting = _startup(records, history)
        yield evolve(
            history,
            startup_ok=startup_ok,
            not_started_seen=still_starting,
            ready=tuple(_readiness(records, history)),
            post_start=_post_start(part, records, history),
        )


def _placed(history: RunHistory, run: Run, records: PodRecords) -> RunHistory:
    """Return the run with its start and its end, as sure as they are, labelled as people name them."""
    started, is_start_told = _start(history, run, records)
    exited, is_exit_told = _exit(history, run, records)
    is_made_up = run.reason == RESTARTING_ALL_CONTAINERS and not _is_recorded(records, history, run)
    code = None if is_made_up else run.code
    shown = "" if code is None else f"({code})"
    return evolve(
        history,
        code=code,
        started=None if started is None else interval(started.low, started.high, f"{history.name} started"),
        exited=None if exited is None else interval(exited.low, exited.high, f"{history.name} exited{shown}"),
        is_start_told=is_start_told,
        is_exit_told=is_exit_told,
    )


def _start(history: RunHistory, run: Run, records: PodRecords) -> tuple[Interval | None, bool]:
    if run.started is None:
        return None, True
    told = [time_of(r) for r in records.of_kind("run", history.container) if r.get("what") == "start"]
    told += [time_of(r) for r in moments_of(records, history.container, "started", run.n)]
    if run.started.low in told:
        return run.started, True
    lines = records.of_kind("log", history.container)
    return run.started, not any(number_of(line.get("run") or 1) == run.n for line in lines)


def _exit(history: RunHistory, run: Run, records: PodRecords) -> tuple[Interval | None, bool]:
    """Return when a run ended; what only a status tells may have happened at any time since the status before."""
    if run.exited is None or _is_recorded(records, history, run):
        return run.exited, True
    said = list(moments_of(records, history.container, "exited", run.n))
    if said and said[0].get("assumed"):
        return evolve(run.exited, high=run.exited.low), False
    if said or run.exited.low == run.exited.high:
        return run.exited, True
    low = run.started.low if run.started is not None else 0.0
    before = [at for at, _ in records.statuses_of(history.container) if at < run.exited.high]
    last_lines = [time_of(r) for r in records.of_kind("log", history.container) if r.get("run") == run.n]
    low = max([low, *before[-1:], *last_lines[-1:]])
    return interval(min(low, run.exited.low), run.exited.high, run.exited.label), True


def _is_recorded(records: PodRecords, history: RunHistory, run: Run) -> bool:
    """Tell whether the end of a run is a record of its own; one that isn't exact must have its number."""
    if run.exited is None:
        return False
    ends = [r for r in records.of_kind("run", history.container) if r.get("what") == "exit"]
    return any(
        latest(end) == run.exited.high and (not end.get("resolution") or number_of(end.get("run")) == run.n)
        for end in ends
    )


def _post_start(part: Part, records: PodRecords, run: RunHistory) -> HookHistory | None:
    question = HookQuestion(
        container=part.name,
        run=run.n,
        hook="postStart",
        handler=handler_of(part.spec, "postStart"),
        first=0.0 if run.started is None else run.started.low - _WRITE_SECONDS,
        last=math.inf if run.exited is None else run.exited.high,
    )
    return hook_of(records, question)


def _statuses(records: PodRecords, run: RunHistory) -> Iterator[tuple[float, Mapping[str, object]]]:
    for at, status in records.statuses_of(run.container):
        if number_of(status.get("restartCount")) == run.n - 1 and str(status.get("state")) == _RUNNING:
            yield at, status


def _startup(records: PodRecords, run: RunHistory) -> tuple[Interval | None, tuple[float, ...]]:
    """Return when `started` became true, and the times at which a status said that it wasn't yet."""
    label = f"{run.name} startup probe ok"
    probe = next((r for r in records.of_kind("probe", run.container) if _is_startup_success(r, run)), None)
    still: list[float] = []
    for at, status in _statuses(records, run):
        if status.get("started"):
            last = still[-1] - _WRITE_SECONDS if still else at - STATUS_SLACK_SECONDS
            seen = interval(max(last, at - STATUS_SLACK_SECONDS), at, label)
            return (seen if probe is None else interval(time_of(probe), time_of(probe), label)), tuple(still)
        still.append(at)
    return None if probe is None else interval(time_of(probe), time_of(probe), label), tuple(still)


def _is_startup_success(record: Mapping[str, object], run: RunHistory) -> bool:
    is_startup = record.get("probe") == "startup" and record.get("outcome") == "success"
    return is_startup and number_of(record.get("run") or 1) == run.n


def _readiness(records: PodRecords, run: RunHistory) -> Iterator[tuple[Interval, bool]]:
    is_ready, before = False, None
    for at, status in _statuses(records, run):
        now = bool(status.get("ready"))
        if now != is_ready:
            low = (
                at - STATUS_SLACK_SECONDS if before is None else max(before - _WRITE_SECONDS, at - STATUS_SLACK_SECONDS)
            )
            yield interval(low, at, f"{run.name} {'ready' if now else 'unready'}"), now
        is_ready, before = now, at
