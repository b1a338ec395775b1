"""A recorded run once more, in virtual time: the same objects, containers that behave as recorded, the same deletions.

What a container did is told to the simulation (`kubelet_emu.simulation.retelling`); what the kubelet did is not: it
decides anew, and both courses are compared run by run.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import trio
from attrs import evolve, field, frozen

from kubelet_emu.api.batch_v1 import Job, JobStatus
from kubelet_emu.api.v1 import Pod
from kubelet_emu.api.v1_status import PodStatus
from kubelet_emu.embedding.node import open_node
from kubelet_emu.embedding.options import NodeOptions
from kubelet_emu.journal.records import HeaderRecord, StatusRecord
from kubelet_emu.kubelet.virtual_clock import VirtualClock
from kubelet_emu.lifecycle.recounting import recount
from kubelet_emu.simulation.reading import read_bytes
from kubelet_emu.simulation.recording import RunRecording
from kubelet_emu.simulation.retelling import retell
from kubelet_emu.simulation.writing import to_text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kubelet_emu.api.v1 import ConfigMap, Secret
    from kubelet_emu.api.v1_services import Service
    from kubelet_emu.apiserver.objects import APIObject
    from kubelet_emu.lifecycle.history import ContainerHistory, PodHistory, RunHistory
    from kubelet_emu.lifecycle.log import LifecycleLog
    from kubelet_emu.simulation.values import Simulation

TOLERANCE_SECONDS = 2.0


class RerunError(Exception):
    """A log can't be run again; the text says why."""


@frozen(kw_only=True)
class Difference:
    """Where the second course is another one. Times are seconds since the pod's creation; None is never."""

    pod: str
    what: str
    recorded: float | None
    rerun: float | None

    def __str__(self) -> str:
        """Return it as a sentence."""
        if self.rerun is None:
            return f"{self.pod}: {self.what} at {self.recorded:.2f} s, not in the rerun"
        if self.recorded is None:
            return f"{self.pod}: {self.what} only in the rerun, at {self.rerun:.2f} s"
        return f"{self.pod}: {self.what} at {self.recorded:.2f} s, in the rerun at {self.rerun:.2f} s"


@frozen(kw_only=True)
class Rerun:
    """The second course of a log, and its differences from the first beyond the tolerance."""

    log: LifecycleLog
    compared: int
    differences: tuple[Difference, ...]


@frozen(kw_only=True)
class _Deletion:
    pod: int
    at: float
    grace: int | None


@frozen(kw_only=True)
class _Course:
    """What is done again."""

    options: NodeOptions
    objects: tuple[APIObject, ...]
    deletions: tuple[_Deletion, ...] = field(default=())
    seconds: float = 0.0


def rerun(log: LifecycleLog, tolerance_seconds: float = TOLERANCE_SECONDS) -> Rerun:
    """Run a lifecycle log again and compare; RerunError for a log that isn't one of this program's own."""
    headers = [entry.record for entry in log.entries if isinstance(entry.record, HeaderRecord)]
    if not headers:
        raise RerunError("only lifecycle logs of kubelet-emu (run --log FILE) can be run again")
    course = _course(log, headers[0])
    if not course.objects:
        raise RerunError("the log has no object that could be run")
    second = trio.run(_run, course, clock=VirtualClock())
    pairs = zip(recount(log).pods, recount(second).pods, strict=False)
    compared, found = 0, []
    for first, again in pairs:
        for what, recorded, now in _moments(first, again):
            compared += 1
            if recorded is None or now is None or abs(recorded - now) > tolerance_seconds:
                found.append(Difference(pod=first.name, what=what, recorded=recorded, rerun=now))
    return Rerun(log=second, compared=compared, differences=tuple(found))


def simulation_of(log: LifecycleLog) -> Simulation:
    """Return what the containers of a lifecycle log did, for a simulated node."""
    recording = RunRecording()
    for entry in log.entries:
        recording(entry)
    text = to_text(retell(recording), "what the containers did")
    return read_bytes("<recording>", text.encode()).value


def _course(log: LifecycleLog, header: HeaderRecord) -> _Course:
    objects = tuple(_fresh(obj) for obj in log.objects.values() if not _is_owned(obj))
    return _Course(
        options=NodeOptions(
            timing="kubelet" if header.timing == "kubelet" else "fast",
            kubernetes=header.kubernetes.removeprefix("v") or "1.36",
            seed=header.seed,
            simulation=simulation_of(log),
        ),
        objects=objects,
        deletions=tuple(_deletions(log)),
        seconds=max((pod.ended_at for pod in recount(log).pods), default=0.0),
    )


def _is_owned(obj: APIObject) -> bool:
    return any(owner.controller for owner in obj.metadata.owner_references)


def _fresh(obj: APIObject) -> APIObject:
    """Return an object as it was before an API server took it."""
    known = cast("Pod | Job | ConfigMap | Secret | Service", obj)
    metadata = evolve(known.metadata, uid=None, resource_version=None, creation_timestamp=None, deletion_timestamp=None)
    if isinstance(known, Pod):
        return evolve(known, metadata=metadata, status=PodStatus(), spec=evolve(known.spec, node_name=None))
    return (
        evolve(known, metadata=metadata, status=JobStatus())
        if isinstance(known, Job)
        else evolve(known, metadata=metadata)
    )


def _deletions(log: LifecycleLog) -> Iterator[_Deletion]:
    """Yield the first deletion of each pod that nothing but a user deletes, by its place in the log."""
    pods: dict[str, int] = {}
    asked: set[str] = set()
    epoch = log.epoch
    for entry in log.entries:
        record = entry.record
        if not isinstance(record, StatusRecord) or epoch is None:
            continue
        place = pods.setdefault(record.ref.uid, len(pods))
        if record.deleting and record.ref.uid not in asked:
            asked.add(record.ref.uid)
            at = (entry.at - epoch).total_seconds()
            yield _Deletion(pod=place, at=at, grace=record.deletion_grace_period_seconds)


async def _run(course: _Course) -> LifecycleLog:
    async with open_node(course.options) as node:
        for obj in course.objects:
            node.cluster.api.create(obj)
        began = trio.current_time()
        for deletion in course.deletions:
            await trio.sleep_until(began + deletion.at)
            if deletion.pod < len(node.pods):
                await node.pods[deletion.pod].delete(grace_period_seconds=deletion.grace, wait=False)
        await trio.sleep_until(began + course.seconds + TOLERANCE_SECONDS)
        return node.lifecycle_log()


def _moments(first: PodHistory, again: PodHistory) -> Iterator[tuple[str, float | None, float | None]]:
    """Yield each start and exit of either course with both times."""
    origins = [0.0 if pod.created is None else pod.created.high for pod in (first, again)]
    others = {container.name: container for container in again.containers}
    for container in first.containers:
        other = others.get(container.name)
        theirs = () if other is None else other.runs
        for n in range(max(len(container.runs), len(theirs))):
            mine, here = _at(container.runs, n), _at(theirs, n)
            for what in ("started", "exited"):
                pair = (_time(mine, what, origins[0]), _time(here, what, origins[1]))
                if pair != (None, None):
                    yield f"{_name(container, n)} {what}{_code(mine or here, what)}", *pair


def _at(runs: tuple[RunHistory, ...], n: int) -> RunHistory | None:
    return runs[n] if n < len(runs) else None


def _name(container: ContainerHistory, n: int) -> str:
    return container.name if n == 0 else f"{container.name}#{n + 1}"


def _code(run: RunHistory | None, what: str) -> str:
    return "" if run is None or run.code is None or what == "started" else f" {run.code}"


def _time(run: RunHistory | None, what: str, origin: float) -> float | None:
    found = None if run is None else run.started if what == "started" else run.exited
    return None if found is None else found.high - origin
