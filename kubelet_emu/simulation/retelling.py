"""From a recorded run to the content of its simulate.yaml, as plain values. Pure.

Times are counted from a run's start. A change of an answer lies between the last time that it was seen as it was and
the first time that it was seen changed: the middle is taken.
"""

from __future__ import annotations

import re
import shlex
from datetime import timedelta
from typing import TYPE_CHECKING

from kubelet_emu.api.quantity import quantity_value
from kubelet_emu.simulation.recording import list_of, mapping_of
from kubelet_emu.simulation.values import Health

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from datetime import datetime

    from kubelet_emu.journal.records import EffectRecord, LogRecord, ProbeRecord
    from kubelet_emu.simulation.recording import RunRecording, SeenContainer, SeenImage, SeenRun

Plain = dict[str, object]

_STATUS = re.compile(r"statuscode: (\d+)")
_HEALTH = re.compile(r'responded with "([A-Z_]+)"')
_REFUSED = re.compile(r"connect: |failed to connect service")
_TIMED_OUT = re.compile(r"deadline exceeded|timed out|timeout")
_FINISHED = ("success", "warning")
_MIB = 1 << 20
TOLD_LATE_SECONDS = 0.1


def retell(recording: RunRecording) -> Plain:
    """Return the document of a recording."""
    containers: Plain = {}
    grouped = _grouped(recording.containers.values())
    names = [name for _, name in grouped]
    for (workload, name), pods in grouped.items():
        key = name if names.count(name) == 1 else f"{workload}/{name}"
        if (entry := _container(pods)) is not None:
            containers[key] = entry
    images = {name: entry for name, image in recording.images.items() if (entry := _image(image))}
    has_armour = any(
        uid in recording.armoured and any(run.started_at is not None for run in container.runs.values())
        for (uid, _), container in recording.containers.items()
    )
    node = {"appArmor": True} if has_armour else {}
    sections = (("containers", containers), ("images", images), ("node", node))
    return {section: content for section, content in sections if content}


def _grouped(containers: Iterable[SeenContainer]) -> Mapping[tuple[str, str], list[SeenContainer]]:
    """Return containers by workload and name, those of a workload's pods together."""
    grouped: dict[tuple[str, str], list[SeenContainer]] = {}
    for container in containers:
        grouped.setdefault((container.workload, container.name), []).append(container)
    return grouped


def _container(pods: list[SeenContainer]) -> Plain | None:
    """Return the entry of a container: one course if all its runs were alike, else all of them."""
    runs = [(container, run) for container in pods for run in container.runs.values()]
    seen = [(container, run) for container, run in runs if run.started_at is not None or run.start_error is not None]
    if pods[0].workload != pods[0].pod:
        seen.sort(key=lambda pair: (pair[1].started_at is None, pair[1].started_at))
    else:
        seen.sort(key=lambda pair: pair[1].number)
    courses = [course_of(container, run) for container, run in seen]
    while len(courses) > 1 and courses[-1] == courses[-2]:
        courses.pop()
    if not courses:
        return None
    return courses[0] if len(courses) == 1 else {"runs": courses}


def course_of(container: SeenContainer, run: SeenRun) -> Plain:
    """Return what one run did."""
    if run.started_at is None:
        return {"startError": run.start_error or ""}
    start = run.started_at
    before = [(at, record) for at, record in run.lines if not _is_reaction(at, run)]
    course: Plain = {"lines": [_line(at, record, start) for at, record in before]}
    course |= _end(container, run, start)
    course |= _answers(container, run, start)
    return course


def _line(at: datetime, record: LogRecord, since: datetime) -> object:
    seconds = _seconds(at, since)
    if record.stream == "stderr":
        return {"at": seconds, "text": record.line, "stream": "stderr"}
    return [seconds, record.line]


def _seconds(at: datetime, since: datetime) -> float:
    return max(0.0, round((at - since).total_seconds(), 3))


def _end(container: SeenContainer, run: SeenRun, start: datetime) -> Plain:
    """Return how a run ended: by itself, by its memory, or on a signal."""
    endless: Plain = {"seconds": "never"} if container.is_ending else {}
    if run.asked_at is not None:
        return {**endless, "onTerm": _reaction(run, run.asked_at)}
    if run.killed_at is not None or run.exited_at is None:
        return endless
    seconds = _seconds(run.exited_at, start)
    limit = _memory_limit(container)
    if run.reason == "OOMKilled" and limit:
        return {**endless, "memory": [[seconds, limit + _MIB]]}
    return {"seconds": seconds, "exit": run.code}


def _reaction(run: SeenRun, asked_at: datetime) -> object:
    lines = [_line(at, record, asked_at) for at, record in run.lines if _is_reaction(at, run)]
    if run.killed_at is not None or run.exited_at is None:
        return {"exit": "never", "lines": lines} if lines else "ignore"
    reaction: Plain = {"exit": run.code, "after": _seconds(run.exited_at, asked_at)}
    return {**reaction, "lines": lines} if lines else reaction


def _is_reaction(at: datetime, run: SeenRun) -> bool:
    """Tell whether a line came after the signal: an engine tells of a signal a moment after it has sent it."""
    return run.asked_at is not None and (run.asked_at - at).total_seconds() < TOLD_LATE_SECONDS


def _memory_limit(container: SeenContainer) -> int:
    limits = mapping_of(mapping_of(container.manifest.get("resources")).get("limits"))
    return quantity_value(str(limits["memory"])) if "memory" in limits else 0


# -- answers to probes and hooks

Seen = list[tuple[float, object]]


def _answers(container: SeenContainer, run: SeenRun, start: datetime) -> Plain:
    """Return what was answered, by field, key and time."""
    seen: dict[tuple[str, str], Seen] = {}
    for at, record in run.probes:
        if _is_end(at, run):
            continue
        action = mapping_of(container.manifest.get(f"{record.probe}Probe"))
        asked_at = at - timedelta(seconds=record.seconds)
        for field, key, answer in _probe_answers(container, action, record):
            seen.setdefault((field, key), []).append((_seconds(asked_at, start), answer))
    answers: dict[str, Plain] = {}
    for (field, key), values in seen.items():
        if (changes := _changes(sorted(values, key=lambda each: each[0]))) is not None:
            answers.setdefault(field, {})[key] = changes
    for hook, (at, effect) in run.hooks.items():
        handler = mapping_of(mapping_of(container.manifest.get("lifecycle")).get(hook))
        found = _hook_answer(handler, effect, was_cut=effect.what == "failed" and _has_outlasted_grace(at, run))
        if found is not None:
            answers.setdefault(found[0], {})[found[1]] = found[2]
    return dict(answers)


def _probe_answers(
    container: SeenContainer, probe: Mapping[str, object], record: ProbeRecord
) -> Iterable[tuple[str, str, object]]:
    """Yield field, key and answer of one attempt; nothing where it could not be made."""
    outcome, message, takes = record.outcome, record.message, _slowness(record)
    if outcome == "errored":
        return
    succeeded, refused = outcome in _FINISHED, bool(_REFUSED.search(message))
    http, grpc, tcp = (mapping_of(probe.get(name)) for name in ("httpGet", "grpc", "tcpSocket"))
    if argv := mapping_of(probe.get("exec")).get("command"):
        yield "commands", _command(argv), _exec_result(message, takes, succeeded=succeeded)
    if tcp:
        yield "ports", _port(container, tcp), "open" if succeeded else "closed"
    for action in filter(None, (http, grpc)):
        yield "ports", _port(container, action), "open" if succeeded or not refused else "closed"
    if http and (succeeded or not refused):
        yield "http", str(http.get("path") or "/").partition("?")[0], _status(message, takes, succeeded=succeeded)
    if grpc and (succeeded or not refused):
        yield "grpc", str(grpc.get("service") or ""), "SERVING" if succeeded else _health(message)


def _slowness(record: ProbeRecord) -> Mapping[str, float]:
    """Return how long an answer took, in steps of half a second; nothing of one that came at once."""
    takes = round(record.seconds * 2) / 2
    return {"takes": takes} if takes else {}


def _exec_result(message: str, takes: Mapping[str, float], *, succeeded: bool) -> object:
    if not succeeded and message.startswith("command timed out"):
        return {"takes": "never"}
    code = 0 if succeeded else 1
    told = {"output": message} if message and not succeeded else {}
    return {"exit": code, **told, **takes} if told or takes else code


def _status(message: str, takes: Mapping[str, float], *, succeeded: bool) -> object:
    found = _STATUS.search(message)
    if not succeeded and found is None and _TIMED_OUT.search(message):
        return {"takes": "never"}
    status = 200 if succeeded else int(found[1]) if found else 500
    return {"status": status, **takes} if takes else status


def _health(message: str) -> str:
    if "code = NotFound" in message:
        return Health.SERVICE_UNKNOWN.value
    found = _HEALTH.search(message)
    return found[1] if found and found[1] in Health.__members__ else Health.NOT_SERVING.value


def _command(argv: object) -> str:
    return shlex.join(str(word) for word in list_of(argv))


def _port(container: SeenContainer, action: Mapping[str, object]) -> str:
    """Return the number of an action's port, which may be a name."""
    wanted = str(action.get("port"))
    for item in list_of(container.manifest.get("ports")):
        port = mapping_of(item)
        if port.get("name") == wanted:
            return str(port.get("containerPort"))
    return wanted


def _changes(seen: Seen) -> object:
    """Return answers over time: a single one where it never changed."""
    changes: list[list[object]] = []
    last = 0.0
    for at, answer in seen:
        if not changes:
            changes.append([0, answer])
        elif changes[-1][1] != answer:
            changes.append([round((last + at) / 2, 3), answer])
        last = at
    return changes[0][1] if len(changes) == 1 else changes


def _is_end(at: datetime, run: SeenRun) -> bool:
    """Tell whether something happened because the run was over."""
    return run.exited_at is not None and (run.exited_at - at).total_seconds() < TOLD_LATE_SECONDS


def _has_outlasted_grace(at: datetime, run: SeenRun) -> bool:
    """Tell whether a hook went on until the container died: the signal doesn't wait for one longer than the grace."""
    return run.asked_at is not None and at > run.asked_at


def _hook_answer(
    handler: Mapping[str, object], effect: EffectRecord, *, was_cut: bool
) -> tuple[str, str, object] | None:
    """Return field, key and answer of a hook; None for a sleep, and for a request that nobody answered."""
    what = effect.what
    takes = "never" if was_cut or effect.seconds is None else round(effect.seconds, 2)
    if argv := mapping_of(handler.get("exec")).get("command"):
        return "commands", _command(argv), {"exit": 1 if what == "failed" else 0, "takes": takes}
    http = mapping_of(handler.get("httpGet"))
    if http and what != "failed":
        return "http", str(http.get("path") or "/"), {"status": 200, "takes": takes}
    return None


def _image(image: SeenImage) -> Plain:
    entry: Plain = {}
    if image.was_present:
        entry["present"] = True
    if image.size:
        entry["size"] = image.size
    if image.size and image.seconds:
        entry["speed"] = round(image.size / image.seconds)
    if any(pull != "ok" for pull in image.pulls):
        entry["pulls"] = image.pulls
    if image.user is not None:
        entry["user"] = image.user
    return entry
