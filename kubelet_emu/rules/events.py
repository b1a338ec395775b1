"""Which events reach the API, and as what: correlation as a client does it before it sends.

Three steps, in this order: many similar events become one "(combined from similar events)"; an event seen before raises
the count of the one that is there; what is too much is dropped, though it was counted. The state is a value: the caller
keeps one for each object, since every key names the object. Source: client-go v1.36 tools/record EventCorrelator.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, TypeVar

from attrs import evolve, field, frozen

if TYPE_CHECKING:
    from collections.abc import Hashable, Mapping

MAX_CACHE_ENTRIES = 4096
MAX_SIMILAR_MESSAGES = 10
MAX_SIMILAR_INTERVAL = timedelta(seconds=600)
SPAM_BURST = 25
SPAM_REFILL_SECONDS = 300.0
COMBINED_PREFIX = "(combined from similar events): "

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
Key = tuple[str, ...]
_K = TypeVar("_K", bound="Hashable")
_V = TypeVar("_V")


@frozen(kw_only=True)
class Event:
    """What somebody reports about an object; `component` and `host` are its source."""

    namespace: str
    name: str
    uid: str
    kind: str = "Pod"
    api_version: str = "v1"
    field_path: str = ""
    type: str
    reason: str
    message: str
    component: str = "kubelet"
    host: str = ""

    @property
    def object_key(self) -> tuple[str, ...]:
        """Source and object: the part that all keys share."""
        return (self.component, self.host, self.kind, self.namespace, self.name, self.uid, self.api_version)


@frozen(kw_only=True)
class Emission:
    """A v1 Event as it goes out: `created` is False for a repeat that only raises the count."""

    event: Event
    event_name: str
    count: int
    first_timestamp: datetime
    last_timestamp: datetime
    created: bool


@frozen
class _Similar:
    messages: frozenset[str]
    last_seen_at: datetime


@frozen
class _Observation:
    event_name: str
    count: int
    first_timestamp: datetime


@frozen
class _Bucket:
    tokens: float
    at: datetime


@frozen(kw_only=True)
class CorrelatorState:
    """What a correlator remembers; lost when the kubelet restarts."""

    similar: Mapping[Key, _Similar] = field(factory=dict)
    observed: Mapping[Key, _Observation] = field(factory=dict)
    buckets: Mapping[Key, _Bucket] = field(factory=dict)
    created: int = 0


def correlate(state: CorrelatorState, event: Event, now: datetime) -> tuple[CorrelatorState, Emission | None]:
    """Return the new state and what goes out for an event, None when it is dropped.

    Source: client-go v1.36 EventCorrelator.EventCorrelate.
    """
    source = (*event.object_key, event.type)
    similar, event, key = _aggregate(state.similar, source, event, now)
    last = state.observed.get(key)
    observation = _observe(last, event, state.created, now)
    buckets, allowed = _admit(state.buckets, source, now)
    state = CorrelatorState(
        similar=similar,
        observed=_put(state.observed, key, observation),
        buckets=buckets,
        created=state.created + (1 if last is None else 0),
    )
    if not allowed:
        return state, None
    return state, Emission(
        event=event,
        event_name=observation.event_name,
        count=observation.count,
        first_timestamp=observation.first_timestamp,
        last_timestamp=now,
        created=last is None,
    )


def _aggregate(
    similar: Mapping[Key, _Similar], source: Key, event: Event, now: datetime
) -> tuple[Mapping[Key, _Similar], Event, Key]:
    """Replace the event when it is one of many that differ in their message only.

    Differs: of the ten messages the one just seen is forgotten again, where client-go forgets any of them.
    Source: client-go v1.36 EventAggregator.EventAggregate.
    """
    group = (*source, event.reason)
    record = similar.get(group)
    if record is None or now - record.last_seen_at > MAX_SIMILAR_INTERVAL:
        record = _Similar(frozenset(), now)
    messages = record.messages | {event.message}
    too_many = len(messages) >= MAX_SIMILAR_MESSAGES
    kept = messages - {event.message} if too_many else messages
    similar = _put(similar, group, _Similar(kept, now))
    if not too_many:
        return similar, event, (*group, event.field_path, event.message)
    return similar, evolve(event, message=COMBINED_PREFIX + event.message), group


def _observe(last: _Observation | None, event: Event, created: int, now: datetime) -> _Observation:
    """Count the event. Source: client-go v1.36 eventLogger.eventObserve."""
    if last is None:
        return _Observation(_event_name(event, created, now), 1, now)
    return _Observation(last.event_name, last.count + 1, last.first_timestamp)


def _admit(buckets: Mapping[Key, _Bucket], source: Key, now: datetime) -> tuple[Mapping[Key, _Bucket], bool]:
    """Take a token from the bucket of this source, object and type, if there is one.

    Source: client-go v1.36 EventSourceObjectSpamFilter.
    """
    bucket, tokens = buckets.get(source), float(SPAM_BURST)
    if bucket is not None:
        tokens = min(tokens, bucket.tokens + (now - bucket.at).total_seconds() / SPAM_REFILL_SECONDS)
    if tokens < 1.0:
        return buckets, False
    return _put(buckets, source, _Bucket(tokens - 1.0, now)), True


def _event_name(event: Event, serial: int, now: datetime) -> str:
    """Name an event after its object and the time in nanoseconds.

    The clock gives microseconds; the rest counts, so that events of one instant have names of their own.
    Source: client-go v1.36 makeEvent.
    """
    microseconds = (now - _EPOCH) // timedelta(microseconds=1)
    return f"{event.name}.{microseconds * 1000 + serial % 1000:x}"


def _put(entries: Mapping[_K, _V], key: _K, value: _V) -> dict[_K, _V]:
    """Return the entries with one set anew as the youngest, and the oldest left out when there are too many."""
    updated = dict(entries)
    updated.pop(key, None)
    updated[key] = value
    if len(updated) > MAX_CACHE_ENTRIES:
        del updated[next(iter(updated))]
    return updated
