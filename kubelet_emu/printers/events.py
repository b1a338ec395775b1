"""The events at the end of `describe`, from their JSON form.

Source: kubectl v1.36 DescribeEvents.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from kubelet_emu.api.codec import parse_time
from kubelet_emu.printers.durations import age

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from datetime import datetime

    from kubelet_emu.printers.page import Page

    Event = Mapping[str, object]


def describe_events(page: Page, events: Iterable[Event], now: datetime) -> None:
    """Add the table of events, in the order in which they were last seen; those without such a time come first."""
    ordered = sorted(events, key=lambda event: str(event.get("lastTimestamp") or ""))
    if not ordered:
        page.line(0, "Events:\t<none>")
        return
    page.flush()
    page.line(0, "Events:")
    page.line(1, "Type\tReason\tAge\tFrom\tMessage")
    page.line(1, "----\t------\t----\t----\t-------")
    for event in ordered:
        cells = (_text(event, "type"), _text(event, "reason"), interval(event, now), _source(event), _message(event))
        page.line(1, "\t".join(cells))


def interval(event: Event, now: datetime) -> str:
    """Return how long ago an event was, and of one that came again how often and since when."""
    first = _since(event.get("eventTime") or event.get("firstTimestamp"), now)
    series = _part(event, "series")
    if series:
        return f"{_since(series.get('lastObservedTime'), now)} (x{series.get('count', 0)} over {first})"
    count = cast("int", event.get("count") or 0)
    return f"{_since(event.get('lastTimestamp'), now)} (x{count} over {first})" if count > 1 else first


def _since(stamp: object, now: datetime) -> str:
    return age(parse_time(str(stamp)) if stamp else None, now)


def _source(event: Event) -> str:
    return _text(_part(event, "source"), "component") or _text(event, "reportingComponent")


def _message(event: Event) -> str:
    """Return the message, with what part of the object it is about before it."""
    message = _text(event, "message").strip()
    about = _text(_part(event, "involvedObject"), "fieldPath")
    return f"{about}: {message}" if about else message


def _part(event: Event, name: str) -> Event:
    return cast("Event", event.get(name) or {})


def _text(event: Event, name: str) -> str:
    return str(event.get(name) or "")
