"""Rows of services, configuration, CronJobs and the workloads of apps/v1. Pure.

Source: kubernetes v1.36 pkg/printers/internalversion printService, printDeployment and the others.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from kubelet_emu.cli.remote.pod_cells import NONE, age_of, part, parts

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime

    from kubelet_emu.cli.remote.views import Object

UNSET = "<unset>"
OF_TEMPLATE = ("CONTAINERS", "IMAGES", "SELECTOR")
HEADERS: dict[str, tuple[str, ...]] = {
    "CronJob": ("NAME", "SCHEDULE", "TIMEZONE", "SUSPEND", "ACTIVE", "LAST SCHEDULE", "AGE"),
    "Deployment": ("NAME", "READY", "UP-TO-DATE", "AVAILABLE", "AGE"),
    "ReplicaSet": ("NAME", "DESIRED", "CURRENT", "READY", "AGE"),
    "StatefulSet": ("NAME", "READY", "AGE"),
    "DaemonSet": ("NAME", "DESIRED", "CURRENT", "READY", "UP-TO-DATE", "AVAILABLE", "NODE SELECTOR", "AGE"),
    "Service": ("NAME", "TYPE", "CLUSTER-IP", "EXTERNAL-IP", "PORT(S)", "AGE"),
    "ConfigMap": ("NAME", "DATA", "AGE"),
    "Secret": ("NAME", "TYPE", "DATA", "AGE"),
}
WIDE_HEADERS: dict[str, tuple[str, ...]] = {
    "CronJob": OF_TEMPLATE,
    "Deployment": OF_TEMPLATE,
    "ReplicaSet": OF_TEMPLATE,
    "StatefulSet": OF_TEMPLATE[:2],
    "DaemonSet": OF_TEMPLATE,
    "Service": OF_TEMPLATE[2:],
}


def cells_of(obj: Object, now: datetime, *, is_wide: bool) -> tuple[str, ...]:
    """Return the cells of an object's row."""
    kind = str(obj.get("kind", ""))
    name, age = str(part(obj, "metadata").get("name", "")), age_of(part(obj, "metadata").get("creationTimestamp"), now)
    cells = (name, *_own(kind, obj, now), age)
    return (*cells, *_of_template(kind, obj)) if is_wide and kind in WIDE_HEADERS else cells


def template_cells(template: Object) -> tuple[str, str]:
    """Return the names and the images of a template's containers."""
    containers = parts(part(template, "spec"), "containers")
    return ",".join(str(each["name"]) for each in containers), ",".join(str(each["image"]) for each in containers)


def labels_text(labels: Object) -> str:
    """Return labels as a selector has them, `<none>` for none."""
    return ",".join(f"{key}={value}" for key, value in sorted(labels.items())) or NONE


def _own(kind: str, obj: Object, now: datetime) -> tuple[str, ...]:
    spec, status = part(obj, "spec"), part(obj, "status")
    match kind:
        case "CronJob":
            last = status.get("lastScheduleTime")
            return (
                str(spec.get("schedule", "")),
                str(spec.get("timeZone") or NONE),
                UNSET if spec.get("suspend") is None else str(bool(spec["suspend"])),
                str(len(parts(status, "active"))),
                age_of(last, now) if last else NONE,
            )
        case "Deployment":
            ready = f"{_count(status, 'readyReplicas')}/{_count(spec, 'replicas')}"
            return (ready, *_counts(status, "updatedReplicas", "availableReplicas"))
        case "ReplicaSet":
            return (_count(spec, "replicas"), *_counts(status, "replicas", "readyReplicas"))
        case "StatefulSet":
            return (f"{_count(status, 'readyReplicas')}/{_count(spec, 'replicas')}",)
        case "DaemonSet":
            names = ("desiredNumberScheduled", "currentNumberScheduled", "numberReady", "updatedNumberScheduled")
            selector = part(part(part(spec, "template"), "spec"), "nodeSelector")
            return (*_counts(status, *names, "numberAvailable"), labels_text(selector))
        case "Service":
            addresses = cast("list[str]", spec.get("clusterIPs") or [spec.get("clusterIP") or NONE])
            return (str(spec.get("type") or "ClusterIP"), addresses[0], _external(spec), _ports(spec))
        case "ConfigMap":
            return (str(len(part(obj, "data")) + len(part(obj, "binaryData"))),)
        case "Secret":
            return (str(obj.get("type") or "Opaque"), str(len(part(obj, "data"))))
        case _:
            return ()


def _counts(status: Object, *names: str) -> tuple[str, ...]:
    return tuple(_count(status, name) for name in names)


def _count(values: Object, name: str) -> str:
    return str(values.get(name) or 0)


def _of_template(kind: str, obj: Object) -> tuple[str, ...]:
    spec = part(obj, "spec")
    selector = part(spec, "selector")
    if kind == "Service":
        return (labels_text(selector),)
    if kind == "CronJob":
        job = part(part(spec, "jobTemplate"), "spec")
        return (*template_cells(part(job, "template")), labels_text(part(part(job, "selector"), "matchLabels")))
    of_containers = template_cells(part(spec, "template"))
    return of_containers if kind == "StatefulSet" else (*of_containers, labels_text(part(selector, "matchLabels")))


def _external(spec: Object) -> str:
    """Return the addresses from outside; nothing here makes a load balancer."""
    if spec.get("type") == "ExternalName":
        return str(spec.get("externalName", ""))
    given = ",".join(cast("list[str]", spec.get("externalIPs") or []))
    return given or ("<pending>" if spec.get("type") == "LoadBalancer" else NONE)


def _ports(spec: Object) -> str:
    return ",".join(_port(each) for each in parts(spec, "ports")) or NONE


def _port(port: Object) -> str:
    node = f":{port['nodePort']}" if port.get("nodePort") else ""
    return f"{port['port']}{node}/{port.get('protocol') or 'TCP'}"


def with_counts(obj: Object, pods: Iterable[Object], owners: Iterable[Object]) -> Object:
    """Return a workload with the counts of its status, taken from its pods: its controller here keeps none.

    `owners` are the ReplicaSets, through which a Deployment has its pods.
    """
    kind, uid = str(obj.get("kind", "")), part(obj, "metadata").get("uid")
    if kind not in {"Deployment", "ReplicaSet", "StatefulSet", "DaemonSet"} or obj.get("status"):
        return obj
    sets = [each for each in owners if _owner(each) == uid]
    uids = {part(each, "metadata").get("uid") for each in sets} | {uid}
    mine = [pod for pod in pods if _owner(pod) in uids and _counts_for(kind, pod)]
    ready = [pod for pod in mine if _is_ready(pod)]
    newest = max(sets, key=_revision, default=None)
    current = uid if newest is None else part(newest, "metadata").get("uid")
    updated = [pod for pod in mine if _owner(pod) == current]
    counts = {
        "replicas": len(mine),
        "readyReplicas": len(ready),
        "availableReplicas": len(ready),
        "updatedReplicas": len(updated),
        "desiredNumberScheduled": len(mine),
        "currentNumberScheduled": len(mine),
        "updatedNumberScheduled": len(updated),
        "numberReady": len(ready),
        "numberAvailable": len(ready),
    }
    return {**obj, "status": counts}


def _owner(obj: Object) -> object:
    owners = parts(part(obj, "metadata"), "ownerReferences")
    return next((each.get("uid") for each in owners if each.get("controller")), None)


def _revision(replica_set: Object) -> int:
    return int(str(part(part(replica_set, "metadata"), "annotations").get("deployment.kubernetes.io/revision") or 0))


def _counts_for(kind: str, pod: Object) -> bool:
    """Tell whether a pod counts: of ReplicaSets only one that isn't being deleted does (FilterActivePods)."""
    is_going = bool(part(pod, "metadata").get("deletionTimestamp")) and kind in {"Deployment", "ReplicaSet"}
    return not is_going and part(pod, "status").get("phase") not in {"Succeeded", "Failed"}


def _is_ready(pod: Object) -> bool:
    conditions = parts(part(pod, "status"), "conditions")
    return any(each["type"] == "Ready" and each["status"] == "True" for each in conditions)
