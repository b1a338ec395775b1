"""When a pod finished, as the delay counts it."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from attrs import evolve
from job_inputs import LONG_AGO, NOW, a_container, a_pod
from table_rows import TableError

from kubelet_emu.api.v1 import Container
from kubelet_emu.api.v1_status import ContainerStatus, PodCondition
from kubelet_emu.jobs.rules.backoff import get_finished_time

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from table_rows import Fields


GRACES = ("dgps", "DGPS", "deletionGracePeriodSeconds", "grace")


def check(row: Fields, shared: Mapping[str, Any]) -> None:
    given = row.part("in")
    inits = _containers("init", given.take("inits", []))
    pod = a_pod(
        "pod",
        "Failed",
        mains=_containers("main", given.take("mains", [])),
        inits=(*(sidecars := _containers("sidecar", given.take("sidecars", []))), *inits),
        conditions=_ready(given.take("Ready", None)),
    )
    created, deleted = given.take("created", None), given.take("deletionTimestamp", None)
    metadata = evolve(
        pod.metadata,
        creation_timestamp=LONG_AGO if created is None else _time(created),
        deletion_timestamp=None if deleted is None else _time(deleted),
        deletion_grace_period_seconds=next((given.take(key) for key in GRACES if key in given), None),
    )
    init_containers = (
        *(Container(name=status.name, restart_policy="Always") for status in sidecars),
        *(Container(name=status.name) for status in inits),
    )
    pod = evolve(pod, metadata=metadata, spec=evolve(pod.spec, init_containers=init_containers))
    finished = (get_finished_time(pod) - NOW).total_seconds()
    row.part("out").check({"finish": f"{finished:g}s"})


def _containers(kind: str, ends: Iterable[str]) -> list[ContainerStatus]:
    return [
        a_container(f"{kind}-{n}", None) if end == "running" else a_container(f"{kind}-{n}", 0, _time(end))
        for n, end in enumerate(ends)
    ]


def _ready(text: str | None) -> list[PodCondition]:
    if text is None:
        return []
    status, since, at = text.partition(" since ")
    if status not in ("True", "False"):
        raise TableError(f"unknown Ready {text!r}")
    return [PodCondition(type="Ready", status=status, last_transition_time=_time(at) if since else None)]


def _time(text: str) -> datetime:
    if not text.endswith("s"):
        raise TableError(f"unknown time {text!r}")
    return NOW + timedelta(seconds=float(text[:-1]))
