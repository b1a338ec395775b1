"""What a file is, by its first lines; its name plays no part."""

from __future__ import annotations

import json

from kubelet_emu.lifecycle.log import SourceFormat
from kubelet_emu.lifecycle.reading.api_objects import is_api_object, is_event
from kubelet_emu.lifecycle.reading.runtime_logs import is_cri_line, is_docker_line
from kubelet_emu.lifecycle.reading.text_lines import is_prefixed_line, is_stern_json

_LOOKED_AT = 50

FORMATS = """\
a lifecycle log      {"t":0.0,"n":1,"kind":"header","schema":1,...}         (run --log FILE)
a trace              {"t": 0.1, "kind": "event", "reason": "Pulled", ...}   (run --trace FILE)
events               kubectl get events -o json
objects, a watch     kubectl get pod -w -o json --output-watch-events
container lines      POD CONTAINER 2026-01-01T00:00:00.5Z LINE            (stern -t; kubectl logs --prefix --timestamps)
a CRI container log  2026-01-01T00:00:00.500000000Z stdout F LINE           (/var/log/pods/...)
a Docker log         {"log":"LINE\\n","stream":"stdout","time":"2026-..."}   (json-file)"""


def recognise(head: bytes) -> SourceFormat | None:
    """Return the format of a file that begins with `head`; None when it is none of them."""
    lines = [line for line in head.splitlines() if line.strip()][:_LOOKED_AT]
    for line in lines:
        found = _of_json(line, head) if line.lstrip().startswith(b"{") else _of_text(line)
        if found is not None:
            return found
    return None


def _of_text(line: bytes) -> SourceFormat | None:
    if is_cri_line(line):
        return SourceFormat.CRI_LOG
    return SourceFormat.PREFIXED_LINES if is_prefixed_line(line) else None


def _of_json(line: bytes, head: bytes) -> SourceFormat | None:
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        return _of_printed_json(head) if line.startswith(b"{") else None
    if not isinstance(value, dict):
        return None
    if "t" in value and "kind" in value:
        return SourceFormat.LIFECYCLE_LOG if "n" in value and value["kind"] != "step" else SourceFormat.TRACE
    if is_docker_line(value):
        return SourceFormat.DOCKER_LOG
    if is_stern_json(value):
        return SourceFormat.PREFIXED_LINES
    if is_api_object(value):
        return SourceFormat.EVENTS if is_event(value) else SourceFormat.WATCH
    return None


def _of_printed_json(head: bytes) -> SourceFormat | None:
    """Recognise an object that is printed over many lines, or cut, by the words in it."""
    text = head.decode("utf-8", "replace")
    if '"apiVersion"' not in text:
        return None
    try:
        value, _ = json.JSONDecoder().raw_decode(text[text.index("{") :])
    except (ValueError, RecursionError):
        is_of_events = '"involvedObject"' in text or '"regarding"' in text or '"kind": "Event"' in text
        return SourceFormat.EVENTS if is_of_events else SourceFormat.WATCH
    if not isinstance(value, dict) or not is_api_object(value):
        return None
    return SourceFormat.EVENTS if is_event(value) else SourceFormat.WATCH
