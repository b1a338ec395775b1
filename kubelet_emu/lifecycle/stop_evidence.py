"""What a log shows of the stop of one run: events, calls, signals, hooks, and what the container itself said."""

from __future__ import annotations

import math
import signal
from typing import TYPE_CHECKING

from attrs import evolve, frozen

from kubelet_emu.lifecycle.history import StopCall
from kubelet_emu.lifecycle.hook_facts import HookQuestion, handler_of, hook_of
from kubelet_emu.lifecycle.pod_records import at_of, moments_of
from kubelet_emu.lifecycle.raw_records import EVENT_SLACK_SECONDS, Interval, interval, number_of, time_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kubelet_emu.lifecycle.history import ContainerHistory, EventSeen, HookHistory, PodHistory, RunHistory
    from kubelet_emu.lifecycle.pod_records import PodRecords
    from kubelet_emu.lifecycle.raw_records import RawRecord

KILL_SIGNALS = frozenset({"killed", "SIGKILL", "KILL"})
KILLED_CODE = 128 + signal.SIGKILL
TERM_WORD = "Terminated"
LINE_SLACK_SECONDS = 2.0
# A call and the death of its container are told by two clocks.
_CALL_SLACK_SECONDS = 0.05


@frozen(kw_only=True)
class StopEvidence:
    """What shows the stop of one run.

    `message` is the Killing event's; `is_signal_told` where the log has the signals that the runtime sent.
    """

    killing: Interval | None = None
    message: str = ""
    pre_stop: HookHistory | None = None
    calls: tuple[StopCall, ...] = ()
    term: Interval | None = None
    kill: Interval | None = None
    is_signal_told: bool = False

    def is_of_dead(self, run: RunHistory) -> bool:
        """Tell whether the runtime was told to stop a run that had ended by itself, so that it sent no signal."""
        hook = self.pre_stop.began if self.pre_stop is not None else None
        is_silent = self.is_signal_told and not (self.killing or hook or self.term or self.kill)
        ended = run.exited
        return is_silent and ended is not None and bool(self.calls) and all(c.at.low >= ended.high for c in self.calls)

    def bounds(self) -> tuple[float, float]:
        """Return between which times the stop must have begun."""
        hook = self.pre_stop.began if self.pre_stop is not None else None
        told = [at for at in (self.killing, hook, self.term, self.kill) if at is not None]
        told += [call.at for call in self.calls if self.killing is None or call.at.high >= self.killing.low][:1]
        high = min(at.high for at in told)
        low = high if self.killing is None else self.killing.low
        if self.killing is None:
            low = -math.inf if self.is_signal_told else high - LINE_SLACK_SECONDS
        return low, high


def evidence_of(pod: PodHistory, records: PodRecords) -> Iterator[tuple[RunHistory, StopEvidence]]:
    """Yield the runs that were stopped, each with what shows it."""
    has_signals = any(True for _ in records.of_kind("cri"))
    for container in pod.containers:
        events = [e for e in pod.events if e.reason == "Killing" and e.container == container.name]
        for run in container.runs:
            killing = _last_of(events, run)
            if killing is not None:
                events = events[events.index(killing) + 1 :]
            began = killing.at if killing is not None else None
            found = StopEvidence(
                killing=began,
                message=killing.message if killing is not None else "",
                calls=tuple(_calls(records, run)),
                term=_term(records, run, began) if has_signals else _said_term(records, container, run),
                kill=_kill(records, run, has_signals=has_signals),
                is_signal_told=has_signals,
            )
            found = _with_hook(found, records, container, run)
            if found.is_of_dead(run):
                continue
            if found.killing or found.calls or found.term or found.kill or (found.pre_stop and found.pre_stop.began):
                yield run, found


def _last_of(events: Sequence[EventSeen], run: RunHistory) -> EventSeen | None:
    """Return the Killing event of a run: the last one, for a stop that failed is begun anew."""
    own = [event for event in events if _is_of(event.at, run)]
    sure = [event for event in own if run.exited is None or event.at.high <= run.exited.high]
    return sure[-1] if sure else own[0] if own else None


def _is_of(event: Interval, run: RunHistory) -> bool:
    if run.started is None or event.high < run.started.low:
        return False
    return run.exited is None or event.low <= run.exited.high + EVENT_SLACK_SECONDS


def _of_run(records: PodRecords, run: RunHistory, what: str) -> Iterator[RawRecord]:
    """Yield the runtime's records of a run; a call on one that was over already stops nothing."""
    first = -math.inf if run.started is None else run.started.low - _CALL_SLACK_SECONDS
    last = math.inf if run.exited is None else run.exited.high + _CALL_SLACK_SECONDS
    for record in records.of_kind("cri", run.container):
        if record.get("what") == what and first <= time_of(record) <= last and _is_numbered(record, run):
            yield record


def _is_numbered(record: RawRecord, run: RunHistory) -> bool:
    return number_of(record.get("run") or run.n) == run.n


def _calls(records: PodRecords, run: RunHistory) -> Iterator[StopCall]:
    for record in _of_run(records, run, "StopContainer"):
        given = record.get("timeout")
        yield StopCall(at=at_of(record, f"{run.name} stop call"), timeout=None if given is None else float(str(given)))


def _signals(records: PodRecords, run: RunHistory, *, is_kill: bool) -> Sequence[RawRecord]:
    return [r for r in _of_run(records, run, "signal") if (r.get("signal") in KILL_SIGNALS) == is_kill]


def _term(records: PodRecords, run: RunHistory, killing: Interval | None) -> Interval | None:
    """Return the stop signal that the runtime sent: of the last attempt, where an earlier one failed."""
    signals = (at_of(record, f"{run.name} TERM") for record in _signals(records, run, is_kill=False))
    return next((at for at in signals if killing is None or at.high >= killing.low), None)


def _said_term(records: PodRecords, container: ContainerHistory, run: RunHistory) -> Interval | None:
    """Return the stop signal by what the container says of it."""
    label = f"{run.name} TERM"
    if _says_it_anyway(container):
        return None
    for record in moments_of(records, run.container, "sigterm", run.n):
        return at_of(record, label)
    for record in records.of_kind("log", run.container):
        if number_of(record.get("run") or 1) == run.n and TERM_WORD in str(record.get("line") or ""):
            return at_of(record, label)
    return None


def _says_it_anyway(container: ContainerHistory) -> bool:
    """Tell whether a container writes the word of a stop without a trap, so that the word tells nothing."""
    spec = container.spec
    text = " ".join((*spec.command, *spec.args)) if spec is not None else ""
    return TERM_WORD in text and "trap" not in text


def _kill(records: PodRecords, run: RunHistory, *, has_signals: bool) -> Interval | None:
    label = f"{run.name} KILL"
    if has_signals:
        return next((at_of(record, label) for record in _signals(records, run, is_kill=True)), None)
    if run.code == KILLED_CODE and run.reason in {None, "Error"} and run.exited is not None:
        return interval(run.exited.low, run.exited.high, label)
    return None


def _with_hook(found: StopEvidence, records: PodRecords, container: ContainerHistory, run: RunHistory) -> StopEvidence:
    """Return the evidence with the preStop hook, looked for from the beginning of the stop to the end of the run."""
    first = found.killing.low if found.killing is not None else -math.inf
    question = HookQuestion(
        container=run.container,
        run=run.n,
        hook="preStop",
        handler=handler_of(container.spec, "preStop"),
        first=max(first, run.started.low if run.started is not None else 0.0),
        last=math.inf if run.exited is None else run.exited.high,
    )
    return evolve(found, pre_stop=hook_of(records, question))
