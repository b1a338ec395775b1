"""What of a manifest has no effect here: told once for each object, never silently dropped."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from kubelet_emu.api.quantity import quantity_value
from kubelet_emu.api.schema import fields_of
from kubelet_emu.manifests.field_reasons import (
    CLAIMED,
    IGNORED,
    LEAST_MEMORY,
    NODE_NAME,
    OVERHEAD,
    OWNERS,
    PROJECTED,
    SCHEDULING,
    UNMOUNTABLE,
)
from kubelet_emu.manifests.mounts_not_emulated import mounts_not_emulated
from kubelet_emu.manifests.network_not_emulated import network_not_emulated
from kubelet_emu.manifests.security_not_emulated import annotations_not_emulated, has_no_profile, security_not_emulated

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from kubelet_emu.api.batch_v1 import CronJob, Job
    from kubelet_emu.api.v1 import Pod, PodSpec, PodTemplateSpec
    from kubelet_emu.api.v1_scheduling import Toleration
    from kubelet_emu.manifests.loading import Loaded
    from kubelet_emu.manifests.problems import Problem

_TEMPLATED = ("Job", "Deployment", "ReplicaSet", "StatefulSet", "DaemonSet")
_SCHEDULING = """affinity tolerations topologySpreadConstraints schedulerName schedulingGates
    schedulingGroup priorityClassName priority preemptionPolicy"""
_NODE_IN_NEED = ("node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable")
_NODES_OWN = frozenset({"kubernetes.io/hostname", "kubernetes.io/os", "kubernetes.io/arch"})
_EMULATED_VOLUMES = frozenset({"configMap", "downwardAPI", "emptyDir", "hostPath", "projected", "secret"})
_CLAIMS = ("persistentVolumeClaim", "ephemeral")
_AS_WITHOUT = (("hostUsers", True),)  # says what holds anyway
_LEAST_MEMORY_BYTES = 6 << 20
_DEVICES = ("cpu", "memory", "ephemeral-storage")


def not_emulated(loaded: Loaded, has_seccomp_profile: Callable[[str], bool] = has_no_profile) -> tuple[Problem, ...]:
    """Return warnings for fields that are read but have no effect."""
    obj = loaded.object
    pod: Pod | PodTemplateSpec
    if obj.kind == "Pod":
        pod, path = cast("Pod", obj), "spec"
    elif obj.kind == "CronJob":
        pod, path = cast("CronJob", obj).spec.job_template.spec.template, "spec.jobTemplate.spec.template.spec"
    elif obj.kind in _TEMPLATED:
        pod, path = cast("Job", obj).spec.template, "spec.template.spec"
    else:
        return ()
    spec, above = pod.spec, path.removesuffix("spec")
    annotated = ((f"{above}metadata.annotations[{key}]", text) for key, text in annotations_not_emulated(pod.metadata))
    found = (
        (f"{path}.{where}", text)
        for where, text in (
            *_scheduling(spec, loaded, path),
            *_affinity(spec),
            *_ignored(spec),
            *_counted(spec),
            *_volumes(spec),
            *_devices(spec),
            *_small_memory(spec),
            *mounts_not_emulated(spec),
            *network_not_emulated(spec),
            *security_not_emulated(spec, has_seccomp_profile),
        )
    )
    told = (*_owners(loaded), *found, *annotated)
    return tuple(loaded.problem(where, "Not emulated", text, severity="warning") for where, text in told)


def _owners(loaded: Loaded) -> Iterator[tuple[str, str]]:
    is_from_server = loaded.positions.has("metadata.uid")  # what it filled in is dropped with the rest
    if loaded.object.metadata.owner_references and not is_from_server:
        yield "metadata.ownerReferences", f"ownerReferences: {OWNERS}"


def _scheduling(spec: PodSpec, loaded: Loaded, path: str) -> Iterator[tuple[str, str]]:
    if spec.node_name and not loaded.positions.has("metadata.uid"):  # what a server filled in is dropped with the rest
        yield "nodeName", f"nodeName {spec.node_name!r} is not used: {NODE_NAME}"
    if selected := [item for item in spec.node_selector.items() if item[0] not in _NODES_OWN]:
        labels = " ".join(f"--node-label {key}={value}" for key, value in selected)
        yield "nodeSelector", f"the node has the labels that options give it: the pod waits without {labels}"
    usual = frozenset(_usual(spec))
    given = [
        name
        for name in _SCHEDULING.split()
        if _is_set(spec, name) and name not in usual and loaded.positions.has(f"{path}.{name}")
    ]
    if given:
        yield given[0], f"scheduling fields are not used: {', '.join(given)}"


def _affinity(spec: PodSpec) -> Iterator[tuple[str, str]]:
    """Yield what is not used of an affinity that is used in part."""
    affinity = spec.affinity
    if affinity is None or affinity.node_affinity is None or not _has_required_affinity(spec):
        return
    for key, reason in SCHEDULING.items():
        owner, name = key.split(".")
        path, part = (
            ("affinity", affinity) if owner == "Affinity" else ("affinity.nodeAffinity", affinity.node_affinity)
        )
        if owner != "PodSpec" and _is_set(part, name):
            yield f"{path}.{name}", f"{name} is not used: {reason}"


def _usual(spec: PodSpec) -> Iterator[str]:
    """Yield the scheduling fields that have an effect, or say no more than a server fills in by itself."""
    if spec.affinity is not None and (_has_required_affinity(spec) or spec.affinity == type(spec.affinity)()):
        yield "affinity"
    if all(_is_of_server(each) for each in spec.tolerations):
        yield "tolerations"
    if spec.scheduler_name == "default-scheduler":
        yield "schedulerName"
    if spec.preemption_policy == "PreemptLowerPriority":
        yield "preemptionPolicy"
    if (spec.priority_class_name or "system-").startswith("system-"):
        yield from ("priorityClassName", "priority")


def _is_of_server(toleration: Toleration) -> bool:
    """Tell whether a toleration is one that DefaultTolerationSeconds admission adds."""
    return toleration.key in _NODE_IN_NEED and toleration.effect == "NoExecute"


def _has_required_affinity(spec: PodSpec) -> bool:
    """Tell whether the kubelet's own admission looks at the affinity."""
    node = spec.affinity.node_affinity if spec.affinity is not None else None
    return node is not None and node.required_during_scheduling_ignored_during_execution is not None


def _is_set(spec: object, name: str) -> bool:
    value = getattr(spec, fields_of(type(spec))[name].attribute)
    return value is not None and value not in ((), {})


def _ignored(spec: PodSpec) -> Iterator[tuple[str, str]]:
    for key, reason in IGNORED.items():
        name = key.removeprefix("PodSpec.")
        if _is_set(spec, name) and (name, getattr(spec, fields_of(type(spec))[name].attribute)) not in _AS_WITHOUT:
            yield name, f"{name} is ignored: {reason}"


def _counted(spec: PodSpec) -> Iterator[tuple[str, str]]:
    if spec.overhead:
        yield "overhead", f"overhead {OVERHEAD}"


def _volumes(spec: PodSpec) -> Iterator[tuple[str, str]]:
    for index, volume in enumerate(spec.volumes):
        if volume.empty_dir is not None and (volume.empty_dir.medium or "").startswith("HugePages"):
            text = f"volume {volume.name!r}: there are no huge pages here, so the pod waits for it"
            yield f"volumes[{index}].emptyDir.medium", text
        for number, source in enumerate(volume.projected.sources if volume.projected is not None else ()):
            for key, reason in PROJECTED.items():
                name = key.removeprefix("VolumeProjection.")
                if _is_set(source, name):
                    text = f"volume {volume.name!r}: {name}: {reason}"
                    yield f"volumes[{index}].projected.sources[{number}].{name}", text
        for name, shape in fields_of(type(volume)).items():
            if name != "name" and name not in _EMULATED_VOLUMES and getattr(volume, shape.attribute) is not None:
                fate = CLAIMED if name in _CLAIMS else UNMOUNTABLE
                yield f"volumes[{index}].{name}", f"volume {volume.name!r}: {name}{':' * (name in _CLAIMS)} {fate}"


def _small_memory(spec: PodSpec) -> Iterator[tuple[str, str]]:
    """Yield limits that an engine refuses; those of the pod as a whole are its containers' own (KEP-2837)."""
    containers = (
        *((f"initContainers[{index}].", each.resources) for index, each in enumerate(spec.init_containers)),
        *((f"containers[{index}].", each.resources) for index, each in enumerate(spec.containers)),
    )
    for where, resources in (("", spec.resources), *containers):
        limit = resources.limits.get("memory", "0") if resources is not None else "0"
        is_fraction = limit.endswith("m")  # a warning of the server's has named it
        if 0 < quantity_value(limit) < _LEAST_MEMORY_BYTES and not is_fraction:
            yield f"{where}resources.limits[memory]", f"limits of {limit} work in virtual time alone: {LEAST_MEMORY}"


def _devices(spec: PodSpec) -> Iterator[tuple[str, str]]:
    seen: set[str] = set()
    for field, containers in (("initContainers", spec.init_containers), ("containers", spec.containers)):
        for index, container in enumerate(containers):
            if container.resources is None:
                continue
            for name in (*container.resources.limits, *container.resources.requests):
                if name in _DEVICES or name.startswith("hugepages-") or name in seen:
                    continue
                seen.add(name)
                kind = "limits" if name in container.resources.limits else "requests"
                yield f"{field}[{index}].resources.{kind}[{name}]", f"{name}: no device is passed to the container"
