"""What `get events` shows of an Event. Pure, over the API's JSON form.

Source: kubernetes v1.36 pkg/printers/internalversion printEvent.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from kubelet_emu.cli.remote.pod_cells import age_of, part
from kubelet_emu.printers.events import interval

if TYPE_CHECKING:
    from kubelet_emu.cli.remote.views import Object

_EARLIEST = datetime.min.replace(tzinfo=UTC)
HEADERS = ("LAST SEEN", "TYPE", "REASON", "OBJECT", "MESSAGE")
WIDE_HEADERS = (
    "LAST SEEN",
    "TYPE",
    "REASON",
    "OBJECT",
    "SUBOBJECT",
    "SOURCE",
    "MESSAGE",
    "FIRST SEEN",
    "COUNT",
    "NAME",
)


def cells_of(event: Object, now: datetime, *, is_wide: bool = False) -> tuple[str, ...]:
    """Return the cells of an event's row."""
    involved = part(event, "involvedObject")
    first = event.get("firstTimestamp") or event.get("eventTime")
    series = part(event, "series")
    last = age_of(series.get("lastObservedTime") or event.get("lastTimestamp") or first, now)
    about = f"{str(involved.get('kind', '')).lower()}/{involved.get('name', '')}"
    kind, reason, message = str(event["type"]), str(event["reason"]), str(event["message"]).strip()
    if not is_wide:
        return (last, kind, reason, about, message)
    return (
        last,
        kind,
        reason,
        about,
        str(involved.get("fieldPath", "")),
        _source(event),
        message,
        age_of(first, now),
        str(series.get("count") or event.get("count") or 1),
        str(part(event, "metadata").get("name", "")),
    )


def timeline_cells(event: Object, now: datetime) -> tuple[str, ...]:
    """Return the cells of an event's row in `events` (kubectl v1.36 pkg/cmd/events)."""
    involved = part(event, "involvedObject")
    about = f"{involved.get('kind', '')}/{involved.get('name', '')}"
    return (interval(event, now), str(event["type"]), str(event["reason"]), about, str(event["message"]).strip())


def seen_at(event: Object) -> datetime:
    """Return the time at which an event was last seen, by which `events` sorts."""
    series = part(event, "series")
    stamp = series.get("lastObservedTime") or event.get("lastTimestamp") or event.get("eventTime")
    return datetime.fromisoformat(str(stamp)) if stamp else _EARLIEST


def _source(event: Object) -> str:
    source = part(event, "source")
    words = (source.get("component"), source.get("host"))
    if not any(words):
        words = (event.get("reportingComponent"), event.get("reportingInstance"))
    return ", ".join(str(word) for word in words if word)


def is_about(event: Object, kind: str, name: str) -> bool:
    """Tell whether an event is about an object; the kind in any case."""
    involved = part(event, "involvedObject")
    return str(involved.get("kind", "")).lower() == kind.lower() and involved.get("name") == name
