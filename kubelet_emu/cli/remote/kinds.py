"""Kinds that `get` shows: the words for them, their columns, and a row of each. Pure.

Source: kubernetes v1.36 pkg/printers/internalversion printJob and the others; kubectl's short names.
"""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, cast

from attrs import frozen

from kubelet_emu.cli.remote import event_cells, pod_cells
from kubelet_emu.cli.remote.pod_cells import age_of, part, parts
from kubelet_emu.control.desk import EVENT
from kubelet_emu.printers.durations import human_duration

if TYPE_CHECKING:
    from collections.abc import Callable

    from kubelet_emu.cli.remote.views import Object

    Cells = Callable[..., tuple[str, ...]]


@frozen(kw_only=True)
class Kind:
    """One kind: its name in the API, the words that mean it, and how it is shown."""

    name: str
    resource: str
    words: frozenset[str]
    headers: tuple[str, ...] = ("NAME", "AGE")
    wide_headers: tuple[str, ...] = ("NAME", "AGE")

    @property
    def singular(self) -> str:
        """Return the word before the name of one, as in `pod/web`."""
        group = self.resource.partition(".")[2]
        return f"{self.name.lower()}.{group}" if group else self.name.lower()

    def header(self, *, is_wide: bool) -> tuple[str, ...]:
        """Return the head of the table."""
        return self.wide_headers if is_wide else self.headers

    def cells(self, obj: Object, now: datetime, *, is_wide: bool) -> tuple[str, ...]:
        """Return the cells of one object."""
        match self.name:
            case "Pod":
                return pod_cells.cells_of(obj, now, is_wide=is_wide)
            case "Event":
                return event_cells.cells_of(obj, now, is_wide=is_wide)
            case "Job":
                return _job_cells(obj, now, is_wide=is_wide)
            case _:
                metadata = part(obj, "metadata")
                return (str(metadata.get("name", "")), age_of(metadata.get("creationTimestamp"), now))


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
    Kind(name="CronJob", resource="cronjobs.batch", words=frozenset({"cj", "cronjob", "cronjobs"})),
    Kind(name="Deployment", resource="deployments.apps", words=frozenset({"deploy", "deployment", "deployments"})),
    Kind(name="ReplicaSet", resource="replicasets.apps", words=frozenset({"rs", "replicaset", "replicasets"})),
    Kind(name="StatefulSet", resource="statefulsets.apps", words=frozenset({"sts", "statefulset", "statefulsets"})),
    Kind(name="DaemonSet", resource="daemonsets.apps", words=frozenset({"ds", "daemonset", "daemonsets"})),
    Kind(name="Service", resource="services", words=frozenset({"svc", "service", "services"})),
    Kind(name="ConfigMap", resource="configmaps", words=frozenset({"cm", "configmap", "configmaps"})),
    Kind(name="Secret", resource="secrets", words=frozenset({"secret", "secrets"})),
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
    containers = parts(part(part(spec, "template"), "spec"), "containers")
    labels = part(part(spec, "selector"), "matchLabels")
    return (
        *cells,
        ",".join(str(each["name"]) for each in containers),
        ",".join(str(each["image"]) for each in containers),
        ",".join(f"{key}={value}" for key, value in sorted(labels.items())) or pod_cells.NONE,
    )


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
