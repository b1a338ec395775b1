"""A Pod or Job as the API shows it (JSON), as the fields of status and job records, and the times that it tells."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, cast

from kubelet_emu.lifecycle.reading.times import WallTime, parse_wall_time

if TYPE_CHECKING:
    from kubelet_emu.lifecycle.raw_records import RawRecord

JSONMapping = Mapping[str, object]

_LISTS = {"initContainerStatuses": "init", "containerStatuses": "regular", "ephemeralContainerStatuses": "ephemeral"}


def mapping_at(obj: JSONMapping, *keys: str) -> JSONMapping:
    """Return a nested mapping, empty where there is none."""
    value: object = obj
    for key in keys:
        value = value.get(key) if isinstance(value, Mapping) else None
    return value if isinstance(value, Mapping) else {}


def list_at(obj: JSONMapping, key: str) -> list[JSONMapping]:
    """Return a list of mappings, empty where there is none."""
    value = obj.get(key)
    return [each for each in value if isinstance(each, Mapping)] if isinstance(value, list) else []


def container_statuses(pod: JSONMapping) -> Iterator[JSONMapping]:
    """Yield the statuses of all containers."""
    status = mapping_at(pod, "status")
    for key in _LISTS:
        yield from list_at(status, key)


def status_record(pod: JSONMapping) -> RawRecord:
    """Return the fields of a status record."""
    status, metadata = mapping_at(pod, "status"), mapping_at(pod, "metadata")
    conditions = list_at(status, "conditions")
    record: RawRecord = {
        "kind": "status",
        "pod": str(metadata.get("name")),
        "phase": status.get("phase"),
        "conditions": {str(c.get("type")): c.get("status") for c in conditions},
        "conditionReasons": {str(c.get("type")): c["reason"] for c in conditions if c.get("reason")},
        "conditionMessages": {str(c.get("type")): c["message"] for c in conditions if c.get("message")},
        "containers": {
            str(c.get("name")): {**_container(c), "type": kind}
            for key, kind in _LISTS.items()
            for c in list_at(status, key)
        },
        "generation": metadata.get("generation"),
        "deletionTimestamp": bool(metadata.get("deletionTimestamp")) or None,
        "deletionGracePeriodSeconds": metadata.get("deletionGracePeriodSeconds"),
    }
    record |= {key: status.get(key) for key in ("reason", "message", "qosClass", "podIP", "observedGeneration")}
    return {key: value for key, value in record.items() if value is not None}


def _container(status: JSONMapping) -> RawRecord:
    record: RawRecord = {
        "state": state_word(mapping_at(status, "state")) or "waiting:",
        "ready": bool(status.get("ready")),
        "started": bool(status.get("started")),
        "restartCount": status.get("restartCount") or 0,
        "image": status.get("image") or "",
    }
    if last := state_word(mapping_at(status, "lastState")):
        record["lastState"] = last
    state = mapping_at(status, "state")
    if message := mapping_at(state, "terminated").get("message") or mapping_at(state, "waiting").get("message"):
        record["message"] = message
    return record


def state_word(state: JSONMapping) -> str:
    """Return a container state as `running`, `waiting:REASON` or `terminated:REASON:CODE`; empty when it has none."""
    if "running" in state:
        return "running"
    if "terminated" in state:
        ended = mapping_at(state, "terminated")
        return f"terminated:{ended.get('reason') or ''}:{ended.get('exitCode', 0)}"
    return f"waiting:{mapping_at(state, 'waiting').get('reason') or ''}" if "waiting" in state else ""


def job_record(job: JSONMapping) -> RawRecord:
    """Return the fields of a job record."""
    status = mapping_at(job, "status")
    conditions = list_at(status, "conditions")
    record: RawRecord = {"kind": "job", "job": str(mapping_at(job, "metadata").get("name"))}
    record |= {key: status[key] for key in ("completedIndexes", "failedIndexes") if status.get(key) is not None}
    record |= {key: status.get(key) or 0 for key in ("active", "succeeded", "failed", "ready", "terminating")}
    return record | {
        "conditions": {str(c.get("type")): c.get("status") for c in conditions},
        "conditionReasons": {str(c.get("type")): c["reason"] for c in conditions if c.get("reason")},
    }


def run_records(pod: JSONMapping) -> Iterator[tuple[WallTime, RawRecord]]:
    """Yield the starts and exits that the container statuses tell, by the runtime's clock cut to seconds.

    A state that the kubelet made up has no times and tells no run. restartCount counts the container made last, which
    is in the last state while the next one waits.
    """
    for status in container_statuses(pod):
        count = int(cast("int", status.get("restartCount") or 0))
        yield from _run_of(status, mapping_at(status, "state"), count + 1)
        is_waiting = bool(mapping_at(status, "state", "waiting"))
        if last := count + is_waiting:
            yield from _run_of(status, mapping_at(status, "lastState"), last)


def _run_of(status: JSONMapping, state: JSONMapping, run: int) -> Iterator[tuple[WallTime, RawRecord]]:
    whose: RawRecord = {"kind": "run", "container": str(status.get("name")), "run": run}
    ended = mapping_at(state, "terminated")
    started = time_at(mapping_at(state, "running") or ended, "startedAt")
    if started is not None:
        yield started, {**whose, "what": "start"}
    finished = time_at(ended, "finishedAt")
    if started is not None and finished is not None:
        reason = {"reason": ended["reason"]} if ended.get("reason") else {}
        yield max(started, finished), {**whose, "what": "exit", "code": ended.get("exitCode", 0), **reason}


def time_at(obj: JSONMapping, key: str) -> WallTime | None:
    """Return a time of an object; None where there is none, or one from before containers."""
    value = obj.get(key)
    if not isinstance(value, str) or value < "1971":
        return None
    return parse_wall_time(value)


def newest_time(obj: JSONMapping) -> WallTime | None:
    """Return the newest moment that a Pod or Job tells of its past; it was written then or later."""
    metadata, status = mapping_at(obj, "metadata"), mapping_at(obj, "status")
    times = [time_at(metadata, "creationTimestamp"), time_at(status, "startTime"), time_at(status, "completionTime")]
    times += [time_at(each, "time") for each in list_at(metadata, "managedFields")]
    times += [time_at(each, "lastTransitionTime") for each in list_at(status, "conditions")]
    times += [at for at, _record in run_records(obj)]
    times.append(deletion_time(obj))
    return max((at for at in times if at is not None), default=None)


def deletion_time(obj: JSONMapping) -> WallTime | None:
    """Return when a deletion was asked for: its timestamp is that moment plus the grace.

    Source: kubernetes v1.36 rest.BeforeDelete.
    """
    metadata = mapping_at(obj, "metadata")
    at = time_at(metadata, "deletionTimestamp")
    if at is None:
        return None
    grace = int(cast("int", metadata.get("deletionGracePeriodSeconds") or 0))
    return WallTime(at.nanoseconds - grace * 1_000_000_000, at.step_seconds)
