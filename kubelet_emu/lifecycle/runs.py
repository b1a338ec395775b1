"""The runs of one container, from all that a trace tells of them.

The runtime's own records are exact and, where there are any, alone say what ran. Else a start is what a `moment` record
says of it, the first log line or the first status that shows it, and an exit is what a `moment` record says, or lies
between the run's last log line and the status that shows it. A time with a `resolution` is an interval, which the log
lines of the run make narrower.
"""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, Protocol

from attrs import define, field

from kubelet_emu.lifecycle.raw_records import (
    CANNOT_RUN,
    EXIT_SLACK_SECONDS,
    STATUS_SLACK_SECONDS,
    interval,
    latest,
    number_of,
    time_of,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from kubelet_emu.lifecycle.raw_records import Interval, RawRecord

_NUMBER = re.compile(r"-?\d+$")
_SAID = {"started": "start", "exited": "exit"}
Bounds = tuple[float, float]


@define
class Run:
    """One run of a container, put together from all that tells of it."""

    n: int
    started: Interval | None = None
    exited: Interval | None = None
    code: int | None = None
    reason: str | None = None


class Records(Protocol):
    """The records that tell of runs; see `kubelet_emu.lifecycle.trace.Trace`."""

    @property
    def is_exact(self) -> bool:
        """Tell whether the runtime itself told of runs."""

    def of_kind(self, kind: str, pod: str = "*") -> Iterator[RawRecord]:
        """Return the records of a kind, of one pod or of all."""

    def container_statuses(self, name: str, pod: str) -> Iterator[tuple[float, Mapping[str, object]]]:
        """Return the statuses of a container, each with the time when it had surely been seen."""


@define(eq=False)
class _Evidence:
    """What was found of the runs of one container."""

    runs: dict[int, Run] = field(factory=dict)
    exact: dict[tuple[int, str], Bounds] = field(factory=dict)
    said: dict[tuple[int, str], Bounds] = field(factory=dict)
    first_line: dict[int, RawRecord] = field(factory=dict)
    last_line: dict[int, RawRecord] = field(factory=dict)
    start_seen: dict[int, float] = field(factory=dict)
    exit_seen: dict[int, float] = field(factory=dict)

    def run(self, n: int) -> Run:
        return self.runs.setdefault(n, Run(n))

    def ended(self, n: int, at: float, state: str | None = None) -> None:
        """Note that a status shows run `n` as over; its state tells code and reason."""
        if n < 1:
            return
        run = self.run(n)
        self.exit_seen.setdefault(n, at)
        if not state or not state.startswith("terminated:"):
            return
        _, reason, code = [*state.split(":"), "", ""][:3]
        if run.code is None and _NUMBER.match(code):
            run.code = int(code)
        if run.reason is None and run.code == int(code or 0):
            run.reason = reason


def runs_of(trace: Records, name: str, pod: str) -> Mapping[int, Run]:
    """Return the runs of a container of one pod by number, in order."""
    found = _Evidence()
    _read_runs(found, trace, name, pod)
    _read_moments(found, trace, name, pod)
    _read_log(found, trace, name, pod)
    for at, status in trace.container_statuses(name, pod):
        _read_status(found, at, status)
    _read_events(found, trace, name, pod)
    if trace.is_exact:
        _keep_what_ran(found)
    for n, run in found.runs.items():
        _place(found, n, run, f"{name}#{n}")
    return {n: found.runs[n] for n in sorted(found.runs)}


def _read_runs(found: _Evidence, trace: Records, name: str, pod: str) -> None:
    """Read the runtime's records; two starts under one number are two runs."""
    newest, numbers = 0, dict[int, int]()
    for record in trace.of_kind("run", pod):
        if record.get("container") != name:
            continue
        given = number_of(record["run"])
        if record["what"] == "start":
            numbers[given] = newest + 1 if given in {*numbers, *numbers.values()} else given
            newest = max(newest, numbers[given])
        n = numbers.get(given, given)
        run = found.run(n)
        found.exact.setdefault((n, str(record["what"])), (time_of(record), latest(record)))
        if record["what"] == "exit":
            code = record.get("code")
            run.code = None if code is None else number_of(code)
            run.reason = str(record["reason"]) if record.get("reason") else None


def _read_moments(found: _Evidence, trace: Records, name: str, pod: str) -> None:
    """Read what an app's own lines say of starts and exits."""
    for record in trace.of_kind("moment", pod):
        what = _SAID.get(str(record.get("what")))
        if what is not None and record.get("container") == name:
            n = number_of(record.get("run", 1))
            found.run(n)
            found.said.setdefault((n, what), (time_of(record), latest(record)))


def _read_log(found: _Evidence, trace: Records, name: str, pod: str) -> None:
    for record in trace.of_kind("log", pod):
        if record.get("container") == name:
            n = number_of(record.get("run", 1))
            found.run(n)
            found.first_line.setdefault(n, record)
            found.last_line[n] = record


def _read_status(found: _Evidence, at: float, status: Mapping[str, object]) -> None:
    state, count = str(status.get("state") or ""), number_of(status.get("restartCount"))
    last_state = str(status["lastState"]) if status.get("lastState") else None
    if state.startswith("waiting"):
        if last_state or state == "waiting:CrashLoopBackOff":
            found.ended(count + 1, at, last_state)
        for n in range(1, count + 1):
            found.ended(n, at)
        return
    if state.startswith("running"):
        found.run(count + 1)
        found.start_seen.setdefault(count + 1, at)
    elif state.startswith("terminated"):
        if state.split(":")[1] not in {*CANNOT_RUN, "ContainerStatusUnknown"}:
            found.start_seen.setdefault(count + 1, at)
        found.ended(count + 1, at, state)
    else:
        return
    for n in range(1, count + 1):
        found.ended(n, at, last_state if n == count else None)


def _read_events(found: _Evidence, trace: Records, name: str, pod: str) -> None:
    started = [r for r in trace.of_kind("event", pod) if r.get("container") == name and r.get("reason") == "Started"]
    for nth, record in enumerate(started, 1):
        n = max(nth, number_of(record.get("count") or 1))
        if n in found.runs or n not in found.start_seen:
            found.start_seen[n] = min(found.start_seen.get(n, math.inf), latest(record))
            found.run(n)


def _keep_what_ran(found: _Evidence) -> None:
    """Drop what only a status claims; a process that could not be started has an end all the same."""
    ran = {n for n, _ in (*found.exact, *found.said)} | set(found.first_line)
    found.start_seen = {n: at for n, at in found.start_seen.items() if n in ran}
    found.exit_seen = {n: at for n, at in found.exit_seen.items() if n in ran or found.runs[n].reason in CANNOT_RUN}
    found.runs = {n: run for n, run in found.runs.items() if n in ran or n in found.exit_seen}


def _place(found: _Evidence, n: int, run: Run, label: str) -> None:
    """Say when a run began and ended, as exactly as the trace allows."""
    began, ended = _start_bounds(found, n), _end_bounds(found, n)
    if began is not None:
        run.started = interval(*began, f"{label} started")
    if ended is not None:
        run.exited = interval(*ended, f"{label} exited")


def _start_bounds(found: _Evidence, n: int) -> Bounds | None:
    first = found.first_line.get(n)
    told = found.exact.get((n, "start")) or found.said.get((n, "start"))
    if told is not None:
        low, high = told
        return (low, max(low, min(high, latest(first)))) if first is not None else told
    if first is not None:
        return time_of(first), latest(first)
    seen = found.start_seen.get(n)
    return None if seen is None else (seen - STATUS_SLACK_SECONDS, seen)


def _end_bounds(found: _Evidence, n: int) -> Bounds | None:
    last = found.last_line.get(n)
    told = found.exact.get((n, "exit")) or found.said.get((n, "exit"))
    if told is not None:
        low, high = told
        return (min(high, max(low, time_of(last))), high) if last is not None else told
    return _exit_bounds(found, n) if n in found.exit_seen else None


def _exit_bounds(found: _Evidence, n: int) -> tuple[float, float]:
    high, last = found.exit_seen[n], found.last_line.get(n)
    if n + 1 in found.first_line:
        high = min(high, time_of(found.first_line[n + 1]))
    if last is None:
        return high - EXIT_SLACK_SECONDS, high
    if "Exiting" in str(last["line"]):
        return time_of(last), time_of(last)
    return max(high - EXIT_SLACK_SECONDS, min(time_of(last), high)), high
