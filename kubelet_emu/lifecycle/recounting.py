"""Tells a log as histories: trace records and manifests in, `history.LogHistory` out."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from kubelet_emu.api.reasons import ALL_CONTAINERS_RESTARTING, SANDBOX_CHANGED
from kubelet_emu.lifecycle.history import (
    ContainerHistory,
    EventSeen,
    JobCounts,
    JobHistory,
    LogHistory,
    PodHistory,
)
from kubelet_emu.lifecycle.pod_records import (
    PodRecords,
    are_held_back,
    at_of,
    conditions_of,
    deletions_of,
    events_of,
    phases_of,
    pulls_of,
    spec_changes_of,
    states_of,
)
from kubelet_emu.lifecycle.raw_records import (
    STATUS_SLACK_SECONDS,
    containers_of,
    interval,
    mapping_of,
    number_of,
    time_of,
)
from kubelet_emu.lifecycle.run_facts import runs_of_part
from kubelet_emu.lifecycle.specs import Part, identify, parts_of, unnamed_part
from kubelet_emu.lifecycle.stops import with_stops
from kubelet_emu.lifecycle.trace import Trace

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from kubelet_emu.api.batch_v1 import Job
    from kubelet_emu.apiserver.objects import APIObject
    from kubelet_emu.lifecycle.log import LifecycleLog
    from kubelet_emu.lifecycle.raw_records import RawRecord

    Objects = Mapping[tuple[str, str], APIObject]

_LONE_POD = "*"


def recount(log: LifecycleLog) -> LogHistory:
    """Return the histories of all pods and Jobs of a log."""
    trace = log.trace
    extra = tuple(_own_records(log))
    records = sorted((*trace.records, *extra), key=time_of)
    pods = trace.pods or ((_LONE_POD,) if any(map(_is_of_pod, records)) else ())
    each = _by_pod(records, pods)
    histories = tuple(_pod(Trace(each[pod], (pod,), trace.is_exact), log) for pod in pods)
    kinds = {str(record.get("kind")) for record in records}
    return LogHistory(
        pods=histories,
        jobs=tuple(_jobs(trace, log.objects, histories)),
        resolution_seconds=log.resolution_seconds,
        kubernetes=log.kubernetes,
        has_events="event" in kinds,
        has_signals="cri" in kinds,
    )


def _by_pod(records: list[RawRecord], pods: tuple[str, ...]) -> dict[str, list[RawRecord]]:
    """Return the records of each pod in order of time; what names no object belongs to every one."""
    found: dict[str, list[RawRecord]] = {pod: [] for pod in pods}
    for record in records:
        if (name := record.get("pod")) is not None:
            found.get(str(name), []).append(record)
        elif not record.get("job"):
            for own in found.values():
                own.append(record)
    return found


def _is_of_pod(record: RawRecord) -> bool:
    return record.get("kind") in {"status", "log", "run", "event"} and not record.get("job")


def _own_records(log: LifecycleLog) -> Iterator[RawRecord]:
    """Yield what only our own log has: hooks and probes."""
    if log.epoch is None:
        return
    from kubelet_emu.journal.records import EffectRecord, ProbeRecord  # noqa: PLC0415 - other logs don't need them

    for entry in log.entries:
        record, t = entry.record, (entry.at - log.epoch).total_seconds()
        if isinstance(record, EffectRecord):
            whose = {"pod": record.ref.name, "container": record.container, "run": record.run}
            yield {"t": t, "kind": "effect", "call": record.call, "what": record.what, **whose}
        elif isinstance(record, ProbeRecord):
            whose = {"pod": record.ref.name, "container": record.container, "run": record.run}
            yield {"t": t, "kind": "probe", "probe": record.probe, "outcome": record.outcome, **whose}


def _pod(trace: Trace, log: LifecycleLog) -> PodHistory:
    """Return the history of a pod from a trace that has nothing else."""
    name = trace.pods[0]
    records = PodRecords.of(name, trace.records, has_hooks=bool(log.entries))
    seen = trace.container_names(name)
    identity = identify(name, seen, log.objects)
    parts = list(parts_of(identity.spec))
    named, types = {part.name for part in parts}, _types(records)
    rest = [container for container in seen if container not in named and container != "POD"]
    has_spec = identity.spec is not None
    parts += [unnamed_part(c, types.get(c, ""), i, has_spec=has_spec) for i, c in enumerate(rest)]
    events = tuple(events_of(records))
    first = records.first_at
    history = PodHistory(
        name="" if name == _LONE_POD else name,
        spec=identity.spec,
        owner=identity.owner,
        is_mirror=identity.is_mirror,
        containers=tuple(_container(part, records, trace) for part in parts),
        created=None if first is None else interval(first - STATUS_SLACK_SECONDS, first, "created"),
        deletions=tuple(deletions_of(records)),
        gone=tuple(at_of(record, "deleted") for record in records.of_kind("deleted")),
        phases=tuple(phases_of(records)),
        conditions=tuple(conditions_of(records.of_kind("status"))),
        events=events,
        pulls=tuple(pulls_of(events)),
        sandbox_stops=tuple(
            at_of(r, "sandbox stopped") for r in records.of_kind("cri") if r.get("what") == "StopPodSandbox"
        ),
        kubelet_restarts=tuple(_kubelet_restarts(records)),
        rebuilds=tuple(sorted(_rebuilds(records, events))),
        remade=tuple(_remade(records)),
        spec_changes=tuple(spec_changes_of(records)),
        is_seen_from_start=_is_seen_from_start(records),
        is_exact=trace.is_exact,
        ended_at=time_of(log.trace.records[-1]) if log.trace.records else 0.0,
    )
    return with_stops(history, records)


def _types(records: PodRecords) -> dict[str, str]:
    return {
        name: str(status["type"])
        for record in records.of_kind("status")
        for name, status in containers_of(record).items()
        if status.get("type")
    }


def _kubelet_restarts(records: PodRecords) -> Iterator[float]:
    for record in records.of_kind("step"):
        done = record.get("do")
        if (isinstance(done, dict) and "kubelet" in done) or str(record.get("what") or "").startswith("kubelet"):
            yield time_of(record)


def _container(part: Part, records: PodRecords, trace: Trace) -> ContainerHistory:
    return ContainerHistory(
        name=part.name,
        kind=part.kind,
        index=part.index,
        spec=part.spec,
        runs=tuple(runs_of_part(part, records, trace.runs(part.name, records.pod))),
        states=tuple(states_of(records, part.name)),
    )


def _rebuilds(records: PodRecords, events: tuple[EventSeen, ...]) -> Iterator[float]:
    """Yield when all containers were about to be made anew: what is told of that comes before any of them starts.

    Where the event of another sandbox may have been held back, the end of the old one tells of it.
    """
    yield from (time_of(r) for r in records.of_kind("event") if r.get("reason") == SANDBOX_CHANGED)
    stops = (time_of(r) for r in records.of_kind("cri") if r.get("what") == "StopPodSandbox")
    yield from (at for at in stops if are_held_back(events, at))
    was_restarting = False
    for record in records.of_kind("status"):
        is_restarting = mapping_of(record, "conditions").get(ALL_CONTAINERS_RESTARTING) == "True"
        if is_restarting and not was_restarting:
            yield time_of(record)
        was_restarting = is_restarting


def _remade(records: PodRecords) -> Iterator[float]:
    """Yield when a pod was there again after it had been gone."""
    signs = [r for r in records.of_kind("object") if r.get("what") == "created"]
    signs += [r for r in records.of_kind("status") if not r.get("deletionTimestamp")]
    for gone in records.of_kind("deleted"):
        later = [time_of(sign) for sign in signs if time_of(sign) > time_of(gone)]
        if later:
            yield min(later)


def _is_seen_from_start(records: PodRecords) -> bool:
    """Tell whether the log has the pod from its creation on: as an object made then, or without containers."""
    if any(record.get("what") == "created" for record in records.of_kind("object")):
        return True
    first = next(records.of_kind("status"), None)
    return first is not None and first.get("phase") == "Pending" and not containers_of(first)


def _jobs(trace: Trace, objects: Objects, pods: tuple[PodHistory, ...]) -> Iterator[JobHistory]:
    """Yield the Jobs that were given or whose status the log has."""
    told: dict[str, list[RawRecord]] = {name: [] for kind, name in objects if kind == "Job"}
    for record in trace.of_kind("job"):
        told.setdefault(str(record.get("job") or ""), []).append(record)
    for name, records in told.items():
        spec = objects.get(("Job", name))
        statuses = [record for record in records if not record.get("deleted")]
        yield JobHistory(
            name=name,
            spec=cast("Job | None", spec),
            counts=tuple(_counts(record) for record in statuses),
            conditions=tuple(conditions_of(statuses)),
            pods=tuple(pod.name for pod in pods if pod.owner == name),
        )


def _counts(record: RawRecord) -> JobCounts:
    names = ("active", "succeeded", "failed", "ready", "terminating")
    numbers = {name: number_of(record.get(name)) for name in names}
    at = interval(time_of(record) - STATUS_SLACK_SECONDS, time_of(record), "job status")
    return JobCounts(at=at, **numbers)
