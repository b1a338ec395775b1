"""Which spec a pod of a log was made from, and what each of its containers is by it."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from attrs import frozen

from kubelet_emu.api.v1 import Pod
from kubelet_emu.journal.facts import ContainerKind
from kubelet_emu.rules.restart_policy import is_restartable_init_container

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

    from kubelet_emu.api.batch_v1 import CronJob, Job
    from kubelet_emu.api.v1 import Container, EphemeralContainer, PodTemplateSpec
    from kubelet_emu.apiserver.objects import APIObject

    Objects = Mapping[tuple[str, str], APIObject]

MIRROR_ANNOTATION = "kubernetes.io/config.mirror"
_OF_STATUS = {"regular": ContainerKind.MAIN, "ephemeral": ContainerKind.EPHEMERAL}


@frozen(kw_only=True)
class Identity:
    """What a pod was made from: its spec if that is known, its owner's name, whether it is a static pod."""

    spec: Pod | None = None
    owner: str = ""
    is_mirror: bool = False


@frozen(kw_only=True)
class Part:
    """What a spec says of one container."""

    name: str
    kind: ContainerKind
    index: int
    spec: Container | EphemeralContainer | None = None


def identify(pod: str, containers: Collection[str], objects: Objects) -> Identity:
    """Return what a pod was made from.

    By its own name, else by the name of an owner that its name begins with; where a single object was given and names
    all of the pod's containers, it is that one. `containers` are those that the log shows.
    """
    exact = objects.get(("Pod", pod))
    if exact is not None:
        found = cast("Pod", exact)
        owner = _owner(found) or _owner_by_name(pod, objects)
        return Identity(spec=found, owner=owner, is_mirror=_is_mirror(pod, found, objects))
    made = sorted(_templates(objects), key=lambda each: len(each[0]))
    for name, template, is_static in reversed(made):
        if name and pod.startswith(f"{name.removesuffix('-')}-") and _names_all(template, containers):
            return Identity(spec=template, owner="" if is_static else name, is_mirror=is_static)
    if len(made) == 1 and _names_all(made[0][1], containers):
        return Identity(spec=made[0][1], owner="" if made[0][2] else made[0][0])
    return Identity()


def parts_of(spec: Pod | None) -> Iterator[Part]:
    """Yield the containers of a spec in their order: init containers and sidecars, mains, ephemeral ones."""
    if spec is None:
        return
    for index, container in enumerate(spec.spec.init_containers):
        kind = ContainerKind.SIDECAR if is_restartable_init_container(container) else ContainerKind.INIT
        yield Part(name=container.name, kind=kind, index=index, spec=container)
    for index, container in enumerate(spec.spec.containers):
        yield Part(name=container.name, kind=ContainerKind.MAIN, index=index, spec=container)
    for index, debug in enumerate(spec.spec.ephemeral_containers):
        yield Part(name=debug.name, kind=ContainerKind.EPHEMERAL, index=index, spec=debug)


def unnamed_part(name: str, type_: str, index: int, *, has_spec: bool) -> Part:
    """Return a container that no spec names; `type_` is which list of a status it stands in, empty if unknown.

    Beside a spec it can only have been added later: it is an ephemeral one.
    """
    kind = _OF_STATUS.get(type_, ContainerKind.EPHEMERAL if has_spec else ContainerKind.UNKNOWN)
    return Part(name=name, kind=kind, index=index)


def _templates(objects: Objects) -> Iterator[tuple[str, Pod, bool]]:
    """Yield the name, the pod and whether it may be a static pod of each object that pods are made from."""
    for (kind, name), obj in objects.items():
        match kind:
            case "Pod":
                yield name, cast("Pod", obj), not (obj.metadata.generate_name or "")
            case "Job" | "Deployment" | "ReplicaSet" | "StatefulSet" | "DaemonSet":
                yield name, _pod(cast("Job", obj).spec.template), False
            case "CronJob":
                yield name, _pod(cast("CronJob", obj).spec.job_template.spec.template), False


def _pod(template: PodTemplateSpec) -> Pod:
    return Pod(metadata=template.metadata, spec=template.spec)


def _is_mirror(name: str, pod: Pod, objects: Objects) -> bool:
    """Tell whether a pod is a static pod's mirror: NAME-NODE, where NAME is what the manifest says."""
    if MIRROR_ANNOTATION in pod.metadata.annotations:
        return True
    others = (other for (kind, _), other in objects.items() if kind == "Pod" and other is not pod)
    return any(
        name.startswith(f"{other.metadata.name}-") and cast("Pod", other).spec == pod.spec
        for other in others
        if other.metadata.name
    )


def _owner_by_name(pod: str, objects: Objects) -> str:
    unlike = {"Pod", "ConfigMap", "Secret", "Service"}
    names = (name for kind, name in objects if kind not in unlike and pod.startswith(f"{name}-"))
    return max(names, key=len, default="")


def _owner(pod: Pod) -> str:
    return next((owner.name for owner in pod.metadata.owner_references if owner.controller), "")


def _names_all(pod: Pod, containers: Collection[str]) -> bool:
    named = {part.name for part in parts_of(pod) if part.kind is not ContainerKind.EPHEMERAL}
    return set(containers) <= named or (bool(named) and named <= set(containers))
