"""The records of one pod, sorted by kind, and what its status and its events tell over time."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from attrs import define, field

from kubelet_emu.config.durations import parse_duration
from kubelet_emu.lifecycle.history import (
    ConditionChange,
    Deletion,
    EventSeen,
    PhaseChange,
    Pull,
    StateChange,
)
from kubelet_emu.lifecycle.raw_records import (
    EVENT_SLACK_SECONDS,
    STATUS_SLACK_SECONDS,
    Interval,
    containers_of,
    interval,
    latest,
    mapping_of,
    number_of,
    time_of,
)
from kubelet_emu.rules.events import SPAM_BURST

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from kubelet_emu.lifecycle.raw_records import RawRecord

_PULLED = re.compile(r'Successfully pulled image "(?P<image>[^"]*)" in (?P<length>[0-9a-zµ.]+)')
_PULLING = re.compile(r'Pulling image "(?P<image>[^"]*)"')


@define(eq=False)
class PodRecords:
    """The records of one pod in order of time; `has_hooks` where all hooks would be among them, as in our own log."""

    pod: str
    has_hooks: bool = False
    kinds: dict[str, list[RawRecord]] = field(factory=dict)

    @classmethod
    def of(cls, pod: str, records: Iterable[RawRecord], *, has_hooks: bool = False) -> PodRecords:
        """Return a pod's records by kind."""
        found = cls(pod, has_hooks)
        for record in records:
            found.kinds.setdefault(str(record.get("kind")), []).append(record)
        return found

    def of_kind(self, kind: str, container: str | None = None) -> Iterator[RawRecord]:
        """Yield the records of a kind, of one container or of all."""
        for record in self.kinds.get(kind, ()):
            if container is None or record.get("container") == container:
                yield record

    def statuses_of(self, container: str) -> Iterator[tuple[float, Mapping[str, object]]]:
        """Yield the statuses of a container, each with the time when it had surely been seen."""
        for record in self.of_kind("status"):
            status = containers_of(record).get(container)
            if status is not None:
                yield latest(record), status

    @property
    def first_at(self) -> float | None:
        """Return when the pod first shows."""
        return min((time_of(records[0]) for records in self.kinds.values()), default=None)


def at_of(record: RawRecord, label: str) -> Interval:
    """Return when a record's fact happened, as exactly as the clock that wrote it tells."""
    return interval(time_of(record), latest(record), label)


def moments_of(records: PodRecords, container: str, what: str, run: int) -> Iterator[RawRecord]:
    """Yield what a container's own lines say of a run, by the words that the reader was told."""
    for record in records.of_kind("moment", container):
        if record.get("what") == what and number_of(record.get("run") or run) == run:
            yield record


def since_last(at: float, before: float | None) -> tuple[float, float]:
    """Return the bounds of a change seen at a time, when the status before still showed the old value."""
    low = at - STATUS_SLACK_SECONDS
    return (low if before is None else max(low, min(before, at)), at)


def change_bounds(record: RawRecord, before: float | None) -> tuple[float, float]:
    """Return the bounds of a change that a record shows, when one of time `before` still showed the old value."""
    high = latest(record)
    low = min(high - STATUS_SLACK_SECONDS, time_of(record))
    return (low if before is None else max(low, min(before, high)), high)


def phases_of(records: PodRecords) -> Iterator[PhaseChange]:
    """Yield the phases in order, each when it came or got another reason."""
    old, before = None, None
    for record in records.of_kind("status"):
        now = (str(record.get("phase") or ""), str(record.get("reason") or ""))
        if now != old and now[0]:
            at = interval(*change_bounds(record, before), f"phase {now[0]}")
            yield PhaseChange(at=at, phase=now[0], reason=now[1], message=str(record.get("message") or ""))
        old, before = now, time_of(record)


def conditions_of(records: Iterable[RawRecord]) -> Iterator[ConditionChange]:
    """Yield the conditions of a pod or a Job when they changed."""
    old: dict[str, tuple[str, str, str]] = {}
    before = None
    for record in records:
        reasons, messages = mapping_of(record, "conditionReasons"), mapping_of(record, "conditionMessages")
        for name, status in mapping_of(record, "conditions").items():
            now = (str(status), str(reasons.get(name) or ""), str(messages.get(name) or ""))
            if old.get(name) != now:
                at = interval(*change_bounds(record, before), f"condition {name}={status}")
                yield ConditionChange(at=at, type=name, status=now[0], reason=now[1], message=now[2])
            old[name] = now
        before = time_of(record)


def spec_changes_of(records: PodRecords) -> Iterator[Interval]:
    """Yield when the pod's generation rose while it wasn't being deleted, which makes it rise, too."""
    old, before = 0, None
    for record in records.of_kind("status"):
        now = number_of(record.get("generation") or record.get("observedGeneration") or old)
        if old and now > old and not record.get("deletionTimestamp"):
            yield interval(*change_bounds(record, before), f"generation {now}")
        old, before = max(now, old), time_of(record)


def states_of(records: PodRecords, container: str) -> Iterator[StateChange]:
    """Yield the states of a container's status when they changed."""
    old, before = None, None
    for at, status in records.statuses_of(container):
        state, message, image = (str(status.get(key) or "") for key in ("state", "message", "image"))
        now = (state, message, image, number_of(status.get("restartCount")))
        if now != old:
            seen = interval(*since_last(at, before), f"{container} {state}")
            yield StateChange(at=seen, state=state, restart_count=now[3], message=message, image=image)
        old, before = now, at


def events_of(records: PodRecords) -> Iterator[EventSeen]:
    """Yield the events of a pod; our own log has them when they are sent, others a little later."""
    slack = 0.0 if records.has_hooks else EVENT_SLACK_SECONDS
    for record in records.of_kind("event"):
        reason, high = str(record.get("reason") or ""), latest(record)
        yield EventSeen(
            at=interval(min(high - slack, time_of(record)), high, f"event {reason}"),
            type=str(record.get("type") or ""),
            reason=reason,
            message=str(record.get("message") or ""),
            container=str(record.get("container") or ""),
            count=number_of(record.get("count") or 1),
        )


def are_held_back(events: Iterable[EventSeen], at: float) -> bool:
    """Tell whether the kubelet may have held back Normal events of a pod by a time, for it had sent so many.

    Source: client-go EventSourceObjectSpamFilter.
    """
    return sum(event.type != "Warning" and event.at.low <= at for event in events) >= SPAM_BURST


def deletions_of(records: PodRecords) -> Iterator[Deletion]:
    """Yield the deletions of a pod, each with the grace that its object then had."""
    old: tuple[float | None] | None = None
    before = None
    for record in sorted((*records.of_kind("terminating"), *records.of_kind("status")), key=time_of):
        if record.get("kind") == "status" and not record.get("deletionTimestamp"):
            before = time_of(record)
            continue
        given = record.get("gracePeriodSeconds", record.get("deletionGracePeriodSeconds"))
        grace = None if given is None else float(number_of(given))
        if old is None or (grace is not None and (grace,) != old):
            at = interval(*change_bounds(record, before if old is None else None), "terminating")
            yield Deletion(at=at, grace=grace)
            old = (grace,)


def pulls_of(events: Iterable[EventSeen]) -> Iterator[Pull]:
    """Yield the image pulls; how long one took is read from the kubelet's own words."""
    asked: dict[str, tuple[str, Interval]] = {}
    for event in events:
        if (found := _PULLING.match(event.message)) and event.reason == "Pulling":
            asked[event.container] = (found["image"], event.at)
        elif event.container in asked and event.reason in {"Pulled", "Failed"}:
            image, began = asked.pop(event.container)
            told = _PULLED.match(event.message)
            yield Pull(
                container=event.container,
                image=image,
                asked=began,
                ended=event.at,
                seconds=_seconds(told["length"]) if told else None,
                has_failed=event.reason == "Failed",
            )
    for container, (image, began) in asked.items():
        yield Pull(container=container, image=image, asked=began)


def _seconds(length: str) -> float | None:
    try:
        return parse_duration(length)
    except ValueError:
        return None
