"""Our trace beside recordings of a real node: the same moments, in an order that the recordings leave open.

A node leaves open, and nothing else is forgiven:

- what two recordings of it don't agree on (`unordered`, `only_in_one_run`, or the recordings themselves);
- the order in which concurrent kills begin and end, where neither waits for the other;
- whether a state is seen that lasts less than a relist (a second), unless both sides saw another one in its place;
- how often a repeated event repeats, and whether a probe finds a container that dies just then;
- what happens in the last seconds before a recording is stopped by time, or after what ends it. There we may be ahead:
  begin once more what was begun before, for a node's own delays are left out here.

Values only.
"""

from __future__ import annotations

import difflib
import math
import re
from typing import TYPE_CHECKING

from attrs import define, frozen

from kubelet_emu.lifecycle.raw_records import time_of
from kubelet_emu.lifecycle.trace import MissingError, Trace
from kubelet_emu.scenarios.moments import find_moment
from kubelet_emu.scenarios.sequences import Entry, Thread, ThreadKey, canonical, sequences

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from kubelet_emu.lifecycle.raw_records import RawRecord
    from kubelet_emu.scenarios.scenario_file import Scenario

SHORT_SECONDS = 1.0
"""A kubelet looks at the runtime once a second: what lasts less may go unseen."""
TAIL_SECONDS = 2.0
"""A relist and a sync may lie on either side of the moment at which a recording is stopped."""
TOGETHER_SECONDS = 0.5
_REPEATED = frozenset({"BackOff", "Unhealthy", "Failed", "Pulling", "Pulled"})
"""One for each sync, probe or attempt; of a start that succeeds Created and Started must be there."""
_CONCURRENT = frozenset({"signal", "exited", "Killing"})
_NUMBER = re.compile(r"(?<=#)\d+|(?<=restarts=)\d+| \(\d+\)$")
_PROBE_OF_A_DYING_CONTAINER = " probe errored"


@frozen(kw_only=True)
class Difference:
    """Entries that one side lacks, or two that are the other way round."""

    where: str
    missing: tuple[str, ...] = ()
    extra: tuple[str, ...] = ()
    swapped: tuple[tuple[str, str], ...] = ()

    def lines(self) -> tuple[str, ...]:
        """Return the difference as a diff: - only on the real node, + only here, ~ in another order here."""
        return (
            self.where,
            *(f"  - {text}" for text in self.missing),
            *(f"  + {text}" for text in self.extra),
            *(f"  ~ {later}  before  {earlier}" for earlier, later in self.swapped),
        )


@frozen(kw_only=True)
class Comparison:
    """How many of the recorded `moments` are here in the same order, and what differs."""

    moments: int = 0
    differences: tuple[Difference, ...] = ()

    @property
    def same(self) -> int:
        """Return how many recorded moments are neither missing nor in another order."""
        return self.moments - len(
            {(d.where, text) for d in self.differences for text in (*d.missing, *(pair[1] for pair in d.swapped))}
        )


@define
class _Side:
    """One trace, from when on it may lack what another one has, and whether time alone has stopped it."""

    threads: Mapping[ThreadKey, tuple[Entry, ...]]
    open_from: float
    is_stopped: bool

    @classmethod
    def of(cls, records: Sequence[RawRecord], scenario: Scenario) -> _Side:
        return cls(sequences(records), _open_from(records, scenario), not scenario.end.condition)

    def entries(self, key: ThreadKey) -> tuple[Entry, ...]:
        return self.threads.get(key, ())

    def ends_with(self, entry: Entry) -> bool:
        """Tell whether an entry is so late that another run might have been stopped before it."""
        return entry.at > self.open_from


def _open_from(records: Sequence[RawRecord], scenario: Scenario) -> float:
    """Return when a trace may stop: some time before it is stopped, or after what ends it."""
    end, linger = scenario.end, scenario.linger_seconds
    if end.seconds is not None:
        return end.seconds + linger - TAIL_SECONDS
    if end.after is None:
        return _over_at(records, end.condition)
    try:
        return find_moment(Trace.of(records), end.after).high + end.plus + linger - TAIL_SECONDS
    except MissingError:
        return scenario.timeout_seconds - TAIL_SECONDS


def _over_at(records: Sequence[RawRecord], condition: str) -> float:
    """Return when the last pod was terminal, or was gone."""
    over: dict[str, float] = {}
    for record in Trace.of(records).records:
        is_over = record.get("kind") == "deleted" or (
            condition == "pod terminal" and record.get("phase") in {"Succeeded", "Failed"}
        )
        if is_over and record.get("pod"):
            over.setdefault(str(record["pod"]), time_of(record))
    return max(over.values(), default=math.inf)


@frozen
class _Freedom:
    """What the scenario says of its recordings."""

    unordered: frozenset[frozenset[str]] = frozenset()
    optional: frozenset[str] = frozenset()

    @classmethod
    def of(cls, scenario: Scenario) -> _Freedom:
        pairs = frozenset(frozenset(map(canonical, pair)) for pair in scenario.unordered)
        return cls(pairs, frozenset(canonical(text.partition(": ")[2]) for text in scenario.only_in_one_run))


def compare(
    ours: Sequence[RawRecord],
    recordings: Sequence[Sequence[RawRecord]],
    scenario: Scenario,
) -> Comparison:
    """Return how a trace differs from one or two recordings of the same scenario."""
    mine, others = _Side.of(ours, scenario), [_Side.of(records, scenario) for records in recordings]
    freedom = _Freedom.of(scenario)
    keys = sorted({key for side in (mine, *others) for key in side.threads})
    moments = sum(len(others[0].entries(key)) for key in keys)
    found = [_compare_thread(key, mine, others, freedom) for key in keys]
    return Comparison(moments=moments, differences=tuple(each for each in found if each is not None))


def _compare_thread(key: ThreadKey, mine: _Side, others: Sequence[_Side], freedom: _Freedom) -> Difference | None:
    if key.thread in {Thread.POD, Thread.STATES}:
        candidates = [_align(key, mine, other, freedom) for other in others]
        return min(candidates, key=lambda each: len(each.lines()) if each else 0)
    return _order(key, mine, others, freedom)


# -- states: chains of which a short link may be missing


def _align(key: ThreadKey, mine: _Side, other: _Side, freedom: _Freedom) -> Difference | None:
    """Compare two chains of states, gap by gap between the states that both have."""
    theirs, here = other.entries(key), mine.entries(key)
    matcher = difflib.SequenceMatcher(None, [e.text for e in theirs], [e.text for e in here], autojunk=False)
    missing: list[str] = []
    extra: list[str] = []
    for tag, i1, i2, j1, j2 in matcher.get_opcodes():
        if tag != "equal":
            is_replaced = tag == "replace"
            missing += _unmatched(theirs, range(i1, i2), other, freedom, is_replaced=is_replaced)
            found = _unmatched(here, range(j1, j2), mine, freedom, is_replaced=is_replaced)
            extra += _not_ahead(found, theirs, mine) if j2 == len(here) and not missing else found
    return _difference(key, missing, extra, [])


def _not_ahead(names: Sequence[str], theirs: Sequence[Entry], mine: _Side) -> list[str]:
    """Return those of our last entries that are no repetition of what the other side has, runs and counts aside."""
    if not mine.is_stopped:
        return list(names)
    known = {_NUMBER.sub("", entry.name) for entry in theirs}
    return [name for name in names if _NUMBER.sub("", name) not in known]


def _unmatched(chain: Sequence[Entry], gap: range, side: _Side, freedom: _Freedom, *, is_replaced: bool) -> list[str]:
    """Return the states of a gap that the other side should have; to be back after a short one is none."""
    found = []
    before = chain[gap.start - 1].text if gap.start else ""
    for i in gap:
        entry = chain[i]
        until = chain[i + 1].at if i + 1 < len(chain) else math.inf
        if until - entry.at < SHORT_SECONDS and not is_replaced:
            continue
        if not (side.ends_with(entry) or entry.name in freedom.optional or entry.text == before):
            found.append(entry.name)
        before = entry.text
    return found


# -- happenings: a partial order


def _order(key: ThreadKey, mine: _Side, others: Sequence[_Side], freedom: _Freedom) -> Difference | None:
    """Compare what happened, and the order of each two that every recording agrees on."""
    here = {entry.name: n for n, entry in enumerate(mine.entries(key))}
    there = [{entry.name: n for n, entry in enumerate(other.entries(key))} for other in others]
    common = [entry for entry in others[0].entries(key) if all(entry.name in names for names in there)]
    known = {name for names in there for name in names}
    missing = [e.name for e in common if e.name not in here and _must_be(e, others[0], freedom)]
    extra = [e.name for e in mine.entries(key) if e.name not in known and _must_be(e, mine, freedom)]
    if not missing:
        last = max((here[e.name] for e in common if e.name in here and not _is_repetition(e)), default=-1)
        late = _not_ahead([name for name in extra if here[name] > last], others[0].entries(key), mine)
        extra = [name for name in extra if here[name] < last] + late
    said = _unlike_messages(mine.entries(key), [other.entries(key) for other in others])
    missing += [theirs for theirs, _ in said]
    extra += [ours for _, ours in said]
    swapped = [
        (a.name, b.name)
        for i, a in enumerate(common)
        for b in common[i + 1 :]
        if here.get(a.name, -1) > here.get(b.name, len(here))
        and all(names[a.name] < names[b.name] for names in there)
        and not _is_open(a, b, freedom)
        and not _are_concurrent(a, b, others[0].entries(key), mine.entries(key))
    ]
    return _difference(key, missing, extra, swapped)


def _unlike_messages(ours: Sequence[Entry], recordings: Sequence[Sequence[Entry]]) -> list[tuple[str, str]]:
    """Return the messages of events that both sides have, where no recording says what we say."""
    said = [{entry.name: entry.message for entry in entries} for entries in recordings]
    found = []
    for entry in ours:
        known = [messages[entry.name] for messages in said if entry.name in messages]
        if known and entry.message not in known:
            found.append((f"{entry.name}: {known[0]}", f"{entry.name}: {entry.message}"))
    return found


def _must_be(entry: Entry, side: _Side, freedom: _Freedom) -> bool:
    is_chance = _is_repetition(entry) or (entry.kind == "Unhealthy" and _PROBE_OF_A_DYING_CONTAINER in entry.text)
    return not (is_chance or side.ends_with(entry) or entry.name in freedom.optional)


def _is_open(one: Entry, other: Entry, freedom: _Freedom) -> bool:
    """Tell whether a node leaves the order of two entries open: by its recordings, or as one of them repeats."""
    if frozenset({one.name, other.name}) in freedom.unordered:
        return True
    return _is_repetition(one) or _is_repetition(other)


def _is_repetition(entry: Entry) -> bool:
    return entry.occurrence > 1 and entry.kind in _REPEATED


def _are_concurrent(one: Entry, other: Entry, theirs: Sequence[Entry], ours: Sequence[Entry]) -> bool:
    """Tell whether two containers were killed at once: at the same time on both sides, and nothing of theirs between.

    A sidecar's TERM after the exit of what it serves has that exit between (KEP-753), and so its order counts.
    """
    if one.kind != other.kind or one.kind not in _CONCURRENT or one.container == other.container:
        return False
    involved = {one.container, other.container}
    start, end = theirs.index(one), theirs.index(other)
    if any(entry.container in involved for entry in theirs[start + 1 : end]):
        return False
    at = {entry.name: entry.at for entry in ours}
    return max(abs(one.at - other.at), abs(at[one.name] - at[other.name])) < TOGETHER_SECONDS


def _difference(
    key: ThreadKey, missing: list[str], extra: list[str], swapped: list[tuple[str, str]]
) -> Difference | None:
    if not (missing or extra or swapped):
        return None
    return Difference(where=str(key), missing=tuple(missing), extra=tuple(extra), swapped=tuple(swapped))
