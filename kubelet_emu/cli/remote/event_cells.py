"""What `get events` shows of an Event. Pure, over the API's JSON form.

Source: kubernetes v1.36 pkg/printers/internalversion printEvent.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubelet_emu.cli.remote.pod_cells import age_of, part

if TYPE_CHECKING:
    from datetime import datetime

    from kubelet_emu.cli.remote.views import Object

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
    last = age_of(event.get("lastTimestamp") or first, now)
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
        str(event.get("count") or 1),
        str(part(event, "metadata").get("name", "")),
    )


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
