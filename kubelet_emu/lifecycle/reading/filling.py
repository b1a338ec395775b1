"""What sources tell each other: whose a line is, of which run, and what it means.

Works on the records of all files on one time line. A container line that doesn't tell its run is of the last run that
any source saw begin before it; where none did, a `started` rule counts the runs, else they are all of the first.
"""

from __future__ import annotations

from bisect import bisect_right
from typing import TYPE_CHECKING, cast

from attrs import define, field

from kubelet_emu.lifecycle.raw_records import EXIT_SLACK_SECONDS, containers_of, number_of, time_of
from kubelet_emu.lifecycle.reading.moments import ANY_DEFAULT, MomentKind

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from kubelet_emu.lifecycle.raw_records import RawRecord
    from kubelet_emu.lifecycle.reading.moments import MomentRule, MomentWords

Whose = tuple[str, str]
_PLACE = frozenset({"t", "pod", "container", "run", "resolution"})
_STARTS = frozenset({"start", "started"})


def whose(record: Mapping[str, object]) -> Whose:
    """Return pod and container of a record, the pod empty where no source tells it."""
    return str(record.get("pod") or ""), str(record.get("container") or "")


def fill_pod(lines: Iterable[RawRecord], pods: Iterable[str]) -> None:
    """Give lines without a pod the only pod that there is."""
    known = tuple(pods)
    if len(known) == 1:
        for line in lines:
            line.setdefault("pod", known[0])


def fill_runs(lines: Iterable[RawRecord], others: Iterable[RawRecord], moments: MomentWords) -> None:
    """Give each line, in order of time, the number of its run."""
    starts = _starts_of(others)
    begun: dict[Whose, int] = {}
    patterns: dict[str, tuple[MomentRule, ...]] = {}
    for line in lines:
        who = whose(line)
        if "run" in line:
            continue
        if who in starts:
            times, numbers = starts[who]
            line["run"] = numbers[max(0, bisect_right(times, time_of(line)) - 1)]
            continue
        if who[1] not in patterns:
            rules = moments.rules_for(who[1], with_defaults=False)
            patterns[who[1]] = tuple(rule for rule in rules if rule.what is MomentKind.STARTED)
        if any(rule.pattern.search(str(line["line"])) for rule in patterns[who[1]]):
            begun[who] = begun.get(who, 0) + 1
        line["run"] = begun.get(who) or 1


def _starts_of(records: Iterable[RawRecord]) -> dict[Whose, tuple[list[float], list[int]]]:
    found: dict[Whose, list[tuple[float, int]]] = {}
    for record in records:
        if record.get("kind") in {"run", "runtime"} and record.get("what") in _STARTS:
            found.setdefault(whose(record), []).append((time_of(record), number_of(record.get("run") or 1)))
    return {who: ([t for t, _ in sorted(each)], [n for _, n in sorted(each)]) for who, each in found.items()}


@define(eq=False)
class MomentFinder:
    """Finds what lines say, by the rules that hold for their container."""

    moments: MomentWords
    with_defaults: bool
    _rules: dict[str, tuple[MomentRule, ...]] = field(factory=dict, init=False)

    def find(self, lines: Iterable[RawRecord]) -> list[RawRecord]:
        """Return a moment record for each rule that a line fulfils."""
        return [self._moment(line, rule) for line in lines for rule in self._matching(line)]

    def _matching(self, line: RawRecord) -> list[MomentRule]:
        container = str(line.get("container") or "")
        if container not in self._rules:
            self._rules[container] = self.moments.rules_for(container, with_defaults=self.with_defaults)
        text = str(line.get("line") or "")
        if not self.moments.given and not (self.with_defaults and ANY_DEFAULT.search(text)):
            return []
        return [rule for rule in self._rules[container] if rule.pattern.search(text)]

    def _moment(self, line: RawRecord, rule: MomentRule) -> RawRecord:
        return {**_kept(line), "kind": "moment", "what": rule.what.value}


def assumed_exits(lines: Iterable[RawRecord], others: Iterable[RawRecord]) -> list[RawRecord]:
    """Return an exit just after the last line of each run of which no other source tells how it ended.

    It lies within two seconds after that line, and before the first line of the next run.
    """
    told = _told_of(others)
    first: dict[tuple[Whose, int], float] = {}
    last: dict[tuple[Whose, int], RawRecord] = {}
    for line in lines:
        key = (whose(line), number_of(line["run"]))
        if key[0] not in told:
            first.setdefault(key, time_of(line))
            last[key] = line
    return [_assumed(line, first.get((who, run + 1))) for (who, run), line in last.items()]


def _assumed(line: RawRecord, next_start: float | None) -> RawRecord:
    slack = EXIT_SLACK_SECONDS if next_start is None else min(EXIT_SLACK_SECONDS, next_start - time_of(line))
    said: RawRecord = {"kind": "moment", "what": MomentKind.EXITED.value, "resolution": slack, "assumed": True}
    return {**_kept(line), **said}


def _kept(line: RawRecord) -> RawRecord:
    """Return when and where a line was written."""
    return {key: value for key, value in line.items() if key in _PLACE}


def _told_of(records: Iterable[RawRecord]) -> set[Whose]:
    """Return the containers of which statuses or the runtime tell."""
    found: set[Whose] = set()
    for record in records:
        match record.get("kind"):
            case "run" | "runtime":
                found.add(whose(record))
            case "moment" if record.get("what") == MomentKind.EXITED.value:
                found.add(whose(record))
            case "status":
                found |= {(cast("str", record.get("pod") or ""), name) for name in containers_of(record)}
    return found
