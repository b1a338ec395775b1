"""Our trace beside recordings of a real node: the same moments, in an order that the recordings leave open.

A node leaves open: what two recordings of it don't agree on (`unordered`, `only_in_one_run`); in which order the kills
of one moment are begun; whether a state that lasts less than a second is seen; how often a repeated event repeats; and
what happens in the last seconds before a recording stops. Values only.
"""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING

from attrs import define, frozen

from kubelet_emu.scenarios.sequences import Entry, Thread, ThreadKey, canonical, sequences

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from kubelet_emu.lifecycle.trace import RawRecord
    from kubelet_emu.scenarios.scenario_file import Scenario

SHORT_SECONDS = 1.0
TAIL_SECONDS = 2.0
TOGETHER_SECONDS = 0.5
_REPEATED = frozenset({"BackOff", "Unhealthy", "DeadlineExceeded", "FailedMount", "Failed", "Pulling", "FailedSync"})
_BEGUN_TOGETHER = frozenset({"signal", "exited", "Killing"})


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
class _Recorded:
    """One trace with the time at which it stops."""

    threads: Mapping[ThreadKey, tuple[Entry, ...]]
    ends_at: float

    @classmethod
    def of(cls, records: Sequence[RawRecord]) -> _Recorded:
        return cls(sequences(records), max((float(str(record["t"])) for record in records), default=0.0))

    def entries(self, key: ThreadKey) -> tuple[Entry, ...]:
        return self.threads.get(key, ())


@frozen
class _Freedom:
    """What the scenario says of its recordings; `stops_by_time` is an end at a fixed time."""

    unordered: frozenset[frozenset[str]] = frozenset()
    optional: frozenset[str] = frozenset()
    stops_by_time: bool = False

    @classmethod
    def of(cls, scenario: Scenario) -> _Freedom:
        pairs = frozenset(frozenset(map(canonical, pair)) for pair in scenario.unordered)
        optional = frozenset(canonical(text.partition(": ")[2]) for text in scenario.only_in_one_run)
        return cls(pairs, optional, scenario.end.seconds is not None)


def compare(
    ours: Sequence[RawRecord],
    recordings: Sequence[Sequence[RawRecord]],
    scenario: Scenario,
) -> Comparison:
    """Return how a trace differs from one or two recordings of the same scenario."""
    mine, others = _Recorded.of(ours), [_Recorded.of(records) for records in recordings]
    freedom = _Freedom.of(scenario)
    keys = sorted({key for recorded in (mine, *others) for key in recorded.threads})
    moments = sum(len(others[0].entries(key)) for key in keys)
    found = [_compare_thread(key, mine, others, freedom) for key in keys]
    return Comparison(moments=moments, differences=tuple(each for each in found if each is not None))


def _compare_thread(
    key: ThreadKey, mine: _Recorded, others: Sequence[_Recorded], freedom: _Freedom
) -> Difference | None:
    if key.thread in {Thread.POD, Thread.STATES}:
        candidates = [_align(key, mine, other, freedom) for other in others]
        return min(candidates, key=lambda each: len(each.lines()) if each else 0)
    return _order(key, mine, others, freedom)


def _align(key: ThreadKey, mine: _Recorded, other: _Recorded, freedom: _Freedom) -> Difference | None:
    """Compare two chains of states, in which what lasts less than a second may be missing on either side."""
    theirs, here = other.entries(key), mine.entries(key)
    matcher = difflib.SequenceMatcher(None, [e.text for e in theirs], [e.text for e in here], autojunk=False)
    blocks = [block for block in matcher.get_matching_blocks() if block.size]
    in_theirs = {block.a + n for block in blocks for n in range(block.size)}
    in_mine = {block.b + n for block in blocks for n in range(block.size)}
    missing = _unmatched(theirs, in_theirs, other.ends_at, freedom)
    extra = _unmatched(here, in_mine, mine.ends_at, freedom)
    return _difference(key, missing, extra, [])


def _unmatched(chain: Sequence[Entry], matched: set[int], ends_at: float, freedom: _Freedom) -> list[str]:
    """Return the names of the states that only this chain has and that last; one that only goes on is none."""
    last = max(matched, default=-1)
    found = []
    before = ""
    for i, entry in enumerate(chain):
        until = chain[i + 1].at if i + 1 < len(chain) else ends_at
        lasts = until - entry.at >= SHORT_SECONDS and entry.at < ends_at - TAIL_SECONDS
        if i not in matched and (not lasts or entry.name in freedom.optional):
            continue
        if i not in matched and entry.text != before and not (freedom.stops_by_time and i > last):
            found.append(entry.name)
        before = entry.text
    return found


def _order(key: ThreadKey, mine: _Recorded, others: Sequence[_Recorded], freedom: _Freedom) -> Difference | None:
    """Compare what happened, and the order of each two that every recording agrees on."""
    here = {entry.name: n for n, entry in enumerate(mine.entries(key))}
    there = [{entry.name: n for n, entry in enumerate(other.entries(key))} for other in others]
    common = [entry for entry in others[0].entries(key) if all(entry.name in names for names in there)]
    known = {name for names in there for name in names}
    first_end = min(other.ends_at for other in others)
    missing = [e.name for e in common if e.name not in here and _must_be(e, first_end, freedom)]
    extra = [e.name for e in mine.entries(key) if e.name not in known and _must_be(e, mine.ends_at, freedom)]
    if freedom.stops_by_time:
        steady = [e.name for e in mine.entries(key) if e.name in known and _must_be(e, mine.ends_at, freedom)]
        last = max((here[name] for name in steady), default=-1)
        extra = [name for name in extra if here[name] < last]
    swapped = [
        (a.name, b.name)
        for i, a in enumerate(common)
        for b in common[i + 1 :]
        if here.get(a.name, -1) > here.get(b.name, len(here))
        and all(names[a.name] < names[b.name] for names in there)
        and not _is_open(a, b, freedom)
    ]
    return _difference(key, missing, extra, swapped)


def _must_be(entry: Entry, ends_at: float, freedom: _Freedom) -> bool:
    if entry.occurrence > 1 and entry.kind in _REPEATED:
        return False
    return entry.at < ends_at - TAIL_SECONDS and entry.name not in freedom.optional


def _is_open(one: Entry, other: Entry, freedom: _Freedom) -> bool:
    """Tell whether a node leaves the order of two entries open."""
    if frozenset({one.name, other.name}) in freedom.unordered:
        return True
    if {one.kind, other.kind} & _REPEATED and (one.occurrence > 1 or other.occurrence > 1):
        return True
    together = abs(one.at - other.at) < TOGETHER_SECONDS and one.container != other.container
    return together and {one.kind, other.kind} <= _BEGUN_TOGETHER


def _difference(
    key: ThreadKey, missing: list[str], extra: list[str], swapped: list[tuple[str, str]]
) -> Difference | None:
    if not (missing or extra or swapped):
        return None
    return Difference(where=str(key), missing=tuple(missing), extra=tuple(extra), swapped=tuple(swapped))
