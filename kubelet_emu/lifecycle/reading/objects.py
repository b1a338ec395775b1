"""API objects of a log: decoded from JSON, or taken from manifests that stand beside it.

A real cluster's objects have fields that this program doesn't know; those are left out.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, cast

from attrs import evolve

from kubelet_emu.api.codec import DecodeError, decode_mapping
from kubelet_emu.api.kinds import api_type
from kubelet_emu.manifests.defaults import set_defaults
from kubelet_emu.manifests.kinds import READ_KINDS

if TYPE_CHECKING:
    from collections.abc import Iterable

    from kubelet_emu.api.apps_v1 import Deployment
    from kubelet_emu.api.batch_v1 import CronJob, Job
    from kubelet_emu.api.v1 import Pod, PodTemplateSpec
    from kubelet_emu.apiserver.objects import APIObject

Objects = Mapping[tuple[str, str], "APIObject"]

_RANDOM = r"[bcdfghjklmnpqrstvwxz2456789]{5}"
_HASH = r"[bcdfghjklmnpqrstvwxz2456789]{1,10}"
_POD_NAMES = {
    "Job": rf"{{}}-(?:\d+-)?{_RANDOM}",
    "CronJob": rf"{{}}-\d+-(?:\d+-)?{_RANDOM}",
    "Deployment": rf"{{}}-{_HASH}-{_RANDOM}",
    "ReplicaSet": rf"{{}}-{_RANDOM}",
    "DaemonSet": rf"{{}}-{_RANDOM}",
    "StatefulSet": r"{}-\d+",
}


def decode_object(obj: Mapping[str, object]) -> APIObject | None:
    """Return an object of a kind that is read, None for another kind or one that can't be decoded."""
    kind = obj.get("kind")
    if not isinstance(kind, str) or kind not in READ_KINDS:
        return None
    try:
        return cast("APIObject", decode_mapping(api_type(kind), obj, ignore_unknown=True))
    except DecodeError:
        return None


def objects_of(manifests: Iterable[APIObject]) -> dict[tuple[str, str], APIObject]:
    """Return manifests by kind and name, with the API server's defaults."""
    result: dict[tuple[str, str], APIObject] = {}
    for obj in manifests:
        name = obj.metadata.name or obj.metadata.generate_name or ""
        result[obj.kind, name] = set_defaults(obj)
    return result


def with_pods(objects: Objects, pods: Iterable[str], containers: Mapping[str, frozenset[str]]) -> Objects:
    """Add, for each pod that no object describes, the one that a workload of the manifests makes.

    A pod belongs to a workload by its name as controllers make it; else the only manifest with pods is taken when it
    has all containers that the log shows of the pod.
    Source: kubernetes v1.36 names of pods of Jobs, ReplicaSets, StatefulSets and DaemonSets.
    """
    result = dict(objects)
    for pod in pods:
        if ("Pod", pod) not in result:
            found = _by_name(objects, pod) or _only_one(objects, containers.get(pod, frozenset()))
            if found is not None:
                result["Pod", pod] = _named(found, pod)
    return result


def _by_name(objects: Objects, pod: str) -> APIObject | None:
    for (kind, name), obj in objects.items():
        pattern = _POD_NAMES.get(kind)
        if pattern is not None and re.fullmatch(pattern.format(re.escape(name)), pod):
            return obj
        if kind == "Pod" and obj.metadata.generate_name and pod.startswith(obj.metadata.generate_name):
            return obj
    return None


def _only_one(objects: Objects, containers: frozenset[str]) -> APIObject | None:
    having = [obj for (kind, _), obj in objects.items() if kind == "Pod" or kind in _POD_NAMES]
    if len(having) != 1:
        return None
    spec = _template(having[0]).spec
    names = {c.name for c in (*spec.init_containers, *spec.containers)}
    names |= {c.name for c in spec.ephemeral_containers}
    return having[0] if containers and containers <= names else None


def _named(obj: APIObject, pod: str) -> APIObject:
    template = _template(obj)
    metadata = evolve(template.metadata, name=pod, namespace=obj.metadata.namespace)
    return cast("APIObject", api_type("Pod")(metadata=metadata, spec=template.spec))


def _template(obj: APIObject) -> PodTemplateSpec | Pod:
    match obj.kind:
        case "Pod":
            return cast("Pod", obj)
        case "CronJob":
            return cast("CronJob", obj).spec.job_template.spec.template
        case "Job":
            return cast("Job", obj).spec.template
        case _:
            return cast("Deployment", obj).spec.template
