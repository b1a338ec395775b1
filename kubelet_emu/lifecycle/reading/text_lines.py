"""Container lines with the names before them: stern, `kubectl logs --prefix --timestamps`, and what `run` prints.

`POD CONTAINER TIME LINE`, `[pod/POD/CONTAINER] TIME LINE`, `NAMESPACE POD CONTAINER TIME LINE`, with or without stern's
arrow between the parts, and `TIME LINE` for a file that is named otherwise. stern's JSON lines are read too.
"""

from __future__ import annotations

import json
import re
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from kubelet_emu.lifecycle.reading.times import TIME, WallTime, time_of_match

if TYPE_CHECKING:
    from kubelet_emu.lifecycle.raw_records import RawRecord
    from kubelet_emu.lifecycle.reading.found import Found
    from kubelet_emu.lifecycle.reading.naming import ContainerName
    from kubelet_emu.lifecycle.reading.streams import Line

_ARROW = "\u203a"
_COLOUR = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]")
_LINE = re.compile(rf"(?P<who>\[[^\]\s]+\] |(?:[^\s\[]{{1,600}} ){{1,4}}|){TIME}(?: (?P<line>.*))?$", re.DOTALL)
_AFTER_TIME = re.compile(
    rf"(?P<who>(?:\[[^\]\s]+\]|[^\s{_ARROW}|]+ [^\s{_ARROW}|]+)) [{_ARROW}|] (?P<line>.*)$", re.DOTALL
)
_NOTICE = re.compile(rf"[+-] \S+ {_ARROW} \S+\s*$")


class _Parts(NamedTuple):
    who: tuple[str, str]
    at: WallTime
    line: str


def is_prefixed_line(data: bytes) -> bool:
    """Tell whether a line is one of these; a notice of stern's is none."""
    return _split(_COLOUR.sub("", data.decode("utf-8", "replace"))) is not None


def is_stern_json(value: dict[str, object]) -> bool:
    """Tell whether a JSON object is a line of `stern -o json`."""
    return {"message", "podName", "containerName"} <= value.keys()


def read_prefixed_line(found: Found, line: Line, name: ContainerName) -> None:
    """Add the record of a line; `name` says whose lines without a prefix are."""
    text = line.data.decode("utf-8", "backslashreplace")
    if "\x1b" in text:
        text = _COLOUR.sub("", text)
    parts = _split_json(text) if text.startswith("{") else _split(text)
    if parts is None and (not text.strip() or _NOTICE.match(text)):
        return
    if parts is None:
        found.fault(line.number, f"no POD CONTAINER TIME LINE: {_shown(text)}")
        return
    pod, container = parts.who if parts.who[1] else (name.pod, name.container)
    record: RawRecord = {"kind": "log", "pod": pod, "container": container, "line": parts.line}
    if not pod:
        del record["pod"]
    if name.run and not parts.who[1]:
        record["run"] = name.run
    found.add(parts.at, record)


def _split(text: str) -> _Parts | None:
    found = _LINE.match(text)
    if found is None:
        return None
    who, line = found["who"], found["line"] or ""
    if not who and (after := _AFTER_TIME.match(line)):
        who, line = after["who"], after["line"]
    names = _names(who)
    if names is None:
        return None
    at = _time_of(found)
    return None if at is None else _Parts(names, at, line.removeprefix(f"{_ARROW} ") if names[1] else line)


@lru_cache(maxsize=1024)
def _names(who: str) -> tuple[str, str] | None:
    """Return pod and container of a prefix, empty when there is none, None when it is something else."""
    words = [word for word in who.split() if word not in {_ARROW, "|"}]
    if not words:
        return "", ""
    if len(words) == 1:
        parts = words[0].strip("[]").removeprefix("pod/").split("/")
        return (parts[0], parts[1]) if len(parts) == 2 and all(parts) else None
    if len(words) > 3 or any(word.startswith("[") for word in words):
        return None
    return words[-2], words[-1]


def _split_json(text: str) -> _Parts | None:
    try:
        value = json.loads(text)
    except ValueError:
        return None
    if not isinstance(value, dict) or not is_stern_json(value):
        return None
    inner = _LINE.match(str(value["message"]).rstrip("\n"))
    if inner is None or inner["who"]:
        return None
    at = _time_of(inner)
    names = (str(value["podName"]), str(value["containerName"]))
    return None if at is None else _Parts(names, at, inner["line"] or "")


def _time_of(found: re.Match[str]) -> WallTime | None:
    try:
        return time_of_match(found)
    except ValueError:
        return None


def _shown(text: str) -> str:
    return repr(text if len(text) <= 80 else text[:80] + "…")
