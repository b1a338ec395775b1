"""Whether expectations hold in a trace, and which moments or values decided it.

An order or a gap holds when some point of the intervals satisfies it: what a trace can't tell apart is not held
against it.
"""

from __future__ import annotations

import math
import operator
import re
from contextlib import suppress
from typing import TYPE_CHECKING

from attrs import frozen

from kubelet_emu.lifecycle.raw_records import time_of
from kubelet_emu.lifecycle.trace import MissingError
from kubelet_emu.scenarios.expectations import (
    Existence,
    Gap,
    Ordering,
    Overlap,
    Phases,
    Scope,
    States,
    ValueCheck,
    parse_expectation,
)
from kubelet_emu.scenarios.moments import NoSuchMomentError, find_moment, occurrences
from kubelet_emu.scenarios.near import instead
from kubelet_emu.scenarios.values import value_of
from kubelet_emu.scenarios.words import apart, history, in_order, shown, told, when

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from kubelet_emu.lifecycle.raw_records import Interval, RawRecord
    from kubelet_emu.lifecycle.runs import Run
    from kubelet_emu.lifecycle.trace import Trace
    from kubelet_emu.scenarios.expectations import Comparison, Expectation, Subject, ValueExpression

_ORDERS: dict[str, Callable[[float, float], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
_SHOWN_OCCURRENCES = 4
_SHOWN_LINES = 5
_SEEN_IN_STATUSES = frozenset({"phase", "podreason", "condition", "state", "ready", "started", "restarts"})


@frozen
class Verdict:
    """Whether an expectation holds, and why."""

    expectation: str
    holds: bool
    because: str


def check_all(trace: Trace, expectations: Iterable[str]) -> tuple[Verdict, ...]:
    """Return the verdict on each expectation; ExpectationError when one can't be read."""
    return tuple(check(trace, text) for text in expectations)


def check(trace: Trace, text: str) -> Verdict:
    """Return the verdict on one expectation; a moment that isn't there is a failure that says so."""
    expectation = parse_expectation(text)
    try:
        holds, because = evaluate(trace, expectation)
    except NoSuchMomentError as missing:
        holds, because = False, "\n".join(filter(None, (str(missing), instead(trace, missing.moment))))
    except MissingError as missing:
        holds, because = False, str(missing)
    return Verdict(text, holds, because)


def evaluate(trace: Trace, expectation: Expectation) -> tuple[bool, str]:
    """Return whether an expectation holds and what decided it; MissingError."""
    match expectation:
        case Ordering():
            return _ordering(trace, expectation)
        case Existence():
            return _existence(trace, expectation)
        case Gap():
            return _gap(trace, expectation)
        case Overlap():
            return _overlap(trace, expectation)
        case Phases():
            return _phases(trace, expectation)
        case States():
            return _states(trace, expectation)
        case ValueCheck():
            return _value_check(trace, expectation)


def _ordering(trace: Trace, ordering: Ordering) -> tuple[bool, str]:
    found = [find_moment(trace, moment) for moment in ordering.moments]
    holds = all(
        _ORDERS[sign](before.low, after.high)
        for before, sign, after in zip(found, ordering.operators, found[1:], strict=False)
    )
    return holds, in_order(found, ordering.operators)


def _existence(trace: Trace, existence: Existence) -> tuple[bool, str]:
    found, side = occurrences(trace, existence.moment), ""
    if existence.bound is not None:
        bound = find_moment(trace, existence.bound)
        side = f"{existence.side} {told(bound)}"
        found = [one for one in found if (one.low > bound.high if existence.side == "after" else one.high < bound.low)]
    if found:
        lines = [*map(told, found[:_SHOWN_OCCURRENCES]), side]
    else:
        lines = [f"{existence.moment.source} did not happen {side}".rstrip()]
        lines += [instead(trace, existence.moment)] if existence.must_occur else []
    return bool(found) == existence.must_occur, "\n".join(filter(None, lines))


def _gap(trace: Trace, gap: Gap) -> tuple[bool, str]:
    first, second = find_moment(trace, gap.first), find_moment(trace, gap.second)
    low, high = second.low - first.high, second.high - first.low
    return _holds_between(gap.comparison, low, high), apart(first, second)


def _holds_between(comparison: Comparison, low: float, high: float) -> bool:
    """Tell whether a number that lies between `low` and `high` can satisfy a comparison."""
    if comparison.operator == "in":
        return low <= comparison.high and high >= comparison.low
    wanted = comparison.literal
    if isinstance(wanted, str | None):
        raise MissingError(f"a length is compared with {wanted!r}")
    match comparison.operator:
        case "==":
            return low <= wanted <= high
        case "!=":
            return not low == wanted == high
        case "<" | "<=":
            return _ORDERS[comparison.operator](low, wanted)
        case ">" | ">=":
            return _ORDERS[comparison.operator](high, wanted)
        case _:
            raise MissingError(f"a length can't be compared by {comparison.operator!r}")


def _overlap(trace: Trace, overlap: Overlap) -> tuple[bool, str]:
    first, second = _runs(trace, overlap.first), _runs(trace, overlap.second)
    for one in first:
        for other in second:
            if _begins_before_end(one, other) and _begins_before_end(other, one):
                return True, f"{_span(overlap.first, one)}\n{_span(overlap.second, other)}"
    spans = [_span(overlap.first, run) for run in first] + [_span(overlap.second, run) for run in second]
    return False, "\n".join(spans) or "neither ran"


def _runs(trace: Trace, subject: Subject) -> list[Run]:
    return [
        run
        for pod in trace.pods_of(subject.pod)
        for run in trace.runs(subject.name, pod).values()
        if subject.n in {None, str(run.n)} and run.started is not None
    ]


def _begins_before_end(one: Run, other: Run) -> bool:
    end = other.exited.high if other.exited is not None else math.inf
    return one.started is not None and one.started.low < end


def _span(subject: Subject, run: Run) -> str:
    started = f"from {run.started.high:.2f} s" if run.started else "from an unknown time"
    ended = f" to {run.exited.high:.2f} s" if run.exited else " to the end"
    return f"{subject.name}#{run.n} ran {started}{ended}"


def _phases(trace: Trace, phases: Phases) -> tuple[bool, str]:
    told_at = [(time_of(r), str(r["phase"])) for r in trace.of_kind("status") if r.get("phase")]
    seen = _without_repeats(phase for _, phase in told_at)
    return tuple(seen) == phases.phases, f"phases: {history(told_at) or 'none'}"


def _states(trace: Trace, states: States) -> tuple[bool, str]:
    statuses = list(trace.container_statuses(states.subject.name, states.subject.pod))
    seen = _without_repeats(str(status.get("state")) for _, status in statuses)
    wanted = list(states.states)
    for state in seen:
        if wanted and state == wanted[0]:
            wanted.pop(0)
    told_at = f"states: {history((at, status.get('state')) for at, status in statuses) or 'none'}"
    if not wanted:
        return True, told_at
    before = f" after {states.states[-len(wanted) - 1]}" if len(wanted) < len(states.states) else ""
    return False, f"{wanted[0]} did not come{before}\n{told_at}"


def _without_repeats(words: Iterable[str]) -> list[str]:
    seen: list[str] = []
    for word in words:
        if seen[-1:] != [word]:
            seen.append(word)
    return seen


def _value_check(trace: Trace, check: ValueCheck) -> tuple[bool, str]:
    value, source = check.value, check.value.source
    if check.scope is Scope.END:
        found = value_of(trace, value)
        holds = compare(check.comparison, found)
        return holds, f"{source} is {shown(found)}" if holds else _told_value(trace, value, found)
    records = list(trace.of_kind("status", value.pod))
    if check.scope is Scope.AT:
        moment = find_moment(trace, check.moments[0])
        until = [record for record in records if time_of(record) <= moment.high + 1e-9]
        if not until:
            raise MissingError(f"no status before {told(moment)}")
        found = value_of(trace, value, until[-1])
        return compare(check.comparison, found), f"{told(moment)}: {source} was {shown(found)}"
    if check.scope is Scope.DURING:
        first, last = (find_moment(trace, moment) for moment in check.moments)
        records = _between(records, first, last)
    return _in_records(trace, check, records)


def _told_value(trace: Trace, value: ValueExpression, found: object) -> str:
    """Tell a value at the end, and how it came to it where statuses show it change; of a log its last lines."""
    if value.function == "log":
        lines = str(found).splitlines()
        count = "1 line" if len(lines) == 1 else f"{len(lines)} lines"
        return "\n".join([f"{value.source} has {count}", *(f"| {line}" for line in lines[-_SHOWN_LINES:])])
    now = f"{value.source} is {shown(found)}"
    if value.function not in _SEEN_IN_STATUSES:
        return now
    changes = []
    for record in trace.of_kind("status", value.pod):
        with suppress(MissingError):
            changes.append((time_of(record), value_of(trace, value, record)))
    return f"{now}\n{value.source}: {history(changes)}" if len({shown(each) for _, each in changes}) > 1 else now


def _between(records: Sequence[RawRecord], first: Interval, last: Interval) -> list[RawRecord]:
    before = [record for record in records if time_of(record) <= first.high][-1:]
    within = [record for record in records if first.high < time_of(record) < last.low]
    if not before and not within:
        raise MissingError("no status record in the interval")
    return before + within


def _in_records(trace: Trace, check: ValueCheck, records: Sequence[RawRecord]) -> tuple[bool, str]:
    """Compare a value in every record that has it; EVER wants one to satisfy, the others all."""
    found: list[tuple[float, object]] = []
    for record in records:
        try:
            found.append((time_of(record), value_of(trace, check.value, record)))
        except MissingError:
            if check.scope is Scope.DURING:
                raise
    verdicts = [compare(check.comparison, value) for _, value in found]
    wanted = check.scope is Scope.EVER
    decisive = next((one for one, holds in zip(found, verdicts, strict=True) if holds == wanted), None)
    source = check.value.source
    if decisive is not None:
        at, value = decisive
        return wanted, f"{source} was {shown(value)} {when(at, at)}\n{source}: {history(found)}"
    return bool(found) and not wanted, f"{source}: {history(found)}" if found else f"no status has {source}"


def compare(comparison: Comparison, value: object) -> bool:
    """Tell whether a value satisfies a comparison; MissingError when the two can't be compared."""
    wanted, sign = comparison.literal, comparison.operator
    text = "" if value is None else str(value)
    match sign:
        case "in":
            return isinstance(value, int | float) and comparison.low <= value <= comparison.high
        case "contains":
            return str(wanted) in text
        case "lacks":
            return str(wanted) not in text
        case "matches":
            return re.search(str(wanted), text, re.MULTILINE) is not None
        case "==" | "!=":
            return _is_same(value, wanted) == (sign == "==")
    if isinstance(value, int | float) and isinstance(wanted, int | float):
        return _ORDERS[sign](value, wanted)
    raise MissingError(f"cannot compare {value!r} {sign} {wanted!r}")


def _is_same(value: object, wanted: object) -> bool:
    if isinstance(value, bool) or isinstance(wanted, bool) or value is None or wanted is None:
        return str(value).lower() == str(wanted).lower()
    if isinstance(value, int | float) and isinstance(wanted, int | float):
        return value == wanted
    return str(value) == str(wanted)
