"""Kinds that `get` shows: the words for them, their columns, and a row of each. Pure.

Source: kubernetes v1.36 pkg/printers/internalversion printJob and the others; kubectl's short names.
"""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, cast

from attrs import evolve, frozen

from kubelet_emu.cli.remote import event_cells, other_cells, pod_cells
from kubelet_emu.cli.remote.pod_cells import age_of, part, parts
from kubelet_emu.control.desk import EVENT
from kubelet_emu.printers.durations import human_duration

if TYPE_CHECKING:
    from collections.abc import Callable

    from kubelet_emu.cli.remote.views import Object

    Cells = Callable[..., tuple[str, ...]]


@frozen(kw_only=True)
class Kind:
    """One kind: its name in the API, the words that mean it, and how it is shown; events also in order of time."""

    name: str
    resource: str
    words: frozenset[str]
    headers: tuple[str, ...]
    wide_headers: tuple[str, ...]
    is_timeline: bool = False

    @property
    def singular(self) -> str:
        """Return the word before the name of one, as in `pod/web`."""
        group = self.resource.partition(".")[2]
        return f"{self.name.lower()}.{group}" if group else self.name.lower()

    @property
    def is_workload(self) -> bool:
        """Tell whether it is one whose pods are counted."""
        return self.resource.endswith(".apps")

    def header(self, *, is_wide: bool) -> tuple[str, ...]:
        """Return the head of the table."""
        return self.wide_headers if is_wide else self.headers

    def cells(self, obj: Object, now: datetime, *, is_wide: bool) -> tuple[str, ...]:
        """Return the cells of one object."""
        match self.name:
            case "Pod":
                return pod_cells.cells_of(obj, now, is_wide=is_wide)
            case "Event" if self.is_timeline:
                return event_cells.timeline_cells(obj, now)
            case "Event":
                return event_cells.cells_of(obj, now, is_wide=is_wide)
            case "Job":
                return _job_cells(obj, now, is_wide=is_wide)
            case _:
                return other_cells.cells_of(obj, now, is_wide=is_wide)


def _other(name: str, resource: str, *words: str) -> Kind:
    headers = other_cells.HEADERS[name]
    wide = (*headers, *other_cells.WIDE_HEADERS.get(name, ()))
    return Kind(name=name, resource=resource, words=frozenset(words), headers=headers, wide_headers=wide)


_JOB = ("NAME", "STATUS", "COMPLETIONS", "DURATION", "AGE")
POD = Kind(
    name="Pod",
    resource="pods",
    words=frozenset({"po", "pod", "pods"}),
    headers=pod_cells.HEADERS,
    wide_headers=(*pod_cells.HEADERS, *pod_cells.WIDE_HEADERS),
)
EVENTS = Kind(
    name=EVENT,
    resource="events",
    words=frozenset({"ev", "event", "events"}),
    headers=event_cells.HEADERS,
    wide_headers=event_cells.WIDE_HEADERS,
)
TIMELINE = evolve(EVENTS, is_timeline=True, words=frozenset(), wide_headers=event_cells.HEADERS)
KINDS = (
    POD,
    EVENTS,
    Kind(
        name="Job",
        resource="jobs.batch",
        words=frozenset({"job", "jobs"}),
        headers=_JOB,
        wide_headers=(*_JOB, "CONTAINERS", "IMAGES", "SELECTOR"),
    ),
    _other("CronJob", "cronjobs.batch", "cj", "cronjob", "cronjobs"),
    _other("Deployment", "deployments.apps", "deploy", "deployment", "deployments"),
    _other("ReplicaSet", "replicasets.apps", "rs", "replicaset", "replicasets"),
    _other("StatefulSet", "statefulsets.apps", "sts", "statefulset", "statefulsets"),
    _other("DaemonSet", "daemonsets.apps", "ds", "daemonset", "daemonsets"),
    _other("Service", "services", "svc", "service", "services"),
    _other("ConfigMap", "configmaps", "cm", "configmap", "configmaps"),
    _other("Secret", "secrets", "secret", "secrets"),
)


def kind_of(word: str) -> Kind | None:
    """Return the kind that a word means, None for a word that means none."""
    return next((kind for kind in KINDS if word.lower() in kind.words), None)


def _job_cells(job: Object, now: datetime, *, is_wide: bool) -> tuple[str, ...]:
    metadata, spec, status = part(job, "metadata"), part(job, "spec"), part(job, "status")
    cells = (
        str(metadata.get("name", "")),
        _job_status(job),
        _completions(spec, status),
        _duration(status, now),
        age_of(metadata.get("creationTimestamp"), now),
    )
    if not is_wide:
        return cells
    selector = other_cells.labels_text(part(part(spec, "selector"), "matchLabels"))
    return (*cells, *other_cells.template_cells(part(spec, "template")), selector)


def _job_status(job: Object) -> str:
    true = {c["type"] for c in parts(part(job, "status"), "conditions") if c["status"] == "True"}
    for condition in ("Complete", "Failed"):
        if condition in true:
            return condition
    if part(job, "metadata").get("deletionTimestamp"):
        return "Terminating"
    return next((each for each in ("Suspended", "FailureTarget", "SuccessCriteriaMet") if each in true), "Running")


def _completions(spec: Object, status: Object) -> str:
    succeeded = status.get("succeeded") or 0
    if spec.get("completions") is not None:
        return f"{succeeded}/{spec['completions']}"
    parallelism = cast("int", spec.get("parallelism") or 0)
    return f"{succeeded}/1 of {parallelism}" if parallelism > 1 else f"{succeeded}/1"


def _duration(status: Object, now: datetime) -> str:
    start, end = status.get("startTime"), status.get("completionTime")
    if not start:
        return ""
    until = datetime.fromisoformat(str(end)) if end else now
    return human_duration((until - datetime.fromisoformat(str(start))).total_seconds())
