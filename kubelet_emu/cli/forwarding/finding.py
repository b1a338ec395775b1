"""The pod that `port-forward` is about: named itself, one of a Service, or one of a workload.

Source: kubectl v1.36 attachablePodForObject (GetFirstPod, the most active one), RunPortForward.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, TypeVar

import trio
from attrs import frozen

from kubelet_emu.api.codec import decode_mapping
from kubelet_emu.api.v1 import Pod
from kubelet_emu.api.v1_services import Service
from kubelet_emu.cli.forwarding.targets import NotRunningError, TargetError, ports_of_pod, ports_of_service
from kubelet_emu.rules.service_names import is_selected

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from kubelet_emu.api.v1 import ContainerPort
    from kubelet_emu.cli.forwarding.targets import Port, PortWords, Resource

T = TypeVar("T")
LOOK_AGAIN_SECONDS = 0.5


class Objects(Protocol):
    """What has the objects of a run, in the API's JSON form."""

    async def list(self, kind: str, namespace: str | None, name: str | None = None) -> list[Mapping[str, object]]:
        """Return the objects of a kind."""


@frozen(kw_only=True)
class Wanted:
    """What was asked for; `timeout` is how long to wait for a pod of a Service or workload to run, in seconds."""

    resource: Resource
    ports: tuple[PortWords, ...]
    namespace: str = "default"
    timeout: float = 0.0


@frozen(kw_only=True)
class Chosen:
    """The pod to forward to, and the ports."""

    pod: Pod
    ports: tuple[Port, ...]


async def find(objects: Objects, wanted: Wanted) -> Chosen:
    """Return the pod that is meant; TargetError when there is none, NotRunningError when it doesn't run in time."""
    deadline = trio.current_time() + (0 if wanted.resource.kind == "Pod" else wanted.timeout)
    while True:
        try:
            return await _look(objects, wanted)
        except NotRunningError:
            if trio.current_time() >= deadline:
                raise
        await trio.sleep(LOOK_AGAIN_SECONDS)


async def _look(objects: Objects, wanted: Wanted) -> Chosen:
    resource, namespace = wanted.resource, wanted.namespace
    pods = _decoded(Pod, await objects.list("Pod", namespace))
    if resource.kind == "Pod":
        named = [pod for pod in pods if pod.metadata.name == resource.name]
        if not named:
            raise TargetError(await _not_found(objects, wanted))
        pod = _running(named)
        return Chosen(pod=pod, ports=ports_of_pod(wanted.ports, pod.metadata.name or "", _ports(pod)))
    found = await objects.list(resource.kind, namespace, resource.name)
    if not found:
        raise TargetError(await _not_found(objects, wanted))
    if resource.kind == "Service":
        (service,) = _decoded(Service, found)
        if not service.spec.selector:
            raise TargetError(f"invalid service {resource.name!r}: Service is defined without a selector")
        pod = _first([pod for pod in pods if is_selected(pod, service)], resource)
        return Chosen(pod=pod, ports=ports_of_service(wanted.ports, service, pod.metadata.name or "", _ports(pod)))
    owners = {_uid(found[0])}
    if resource.kind == "Deployment":
        owners |= {_uid(each) for each in await objects.list("ReplicaSet", namespace) if _owners(each) & owners}
    pod = _first([pod for pod in pods if any(ref.uid in owners for ref in pod.metadata.owner_references)], resource)
    return Chosen(pod=pod, ports=ports_of_pod(wanted.ports, pod.metadata.name or "", _ports(pod)))


def _decoded(kind: type[T], objects: Iterable[Mapping[str, object]]) -> list[T]:
    return [decode_mapping(kind, each, ignore_unknown=True) for each in objects]


def _metadata(obj: Mapping[str, object]) -> Mapping[str, object]:
    metadata = obj["metadata"]
    assert isinstance(metadata, dict), "the API's JSON form"  # noqa: S101 - for the type checker
    return metadata


def _uid(obj: Mapping[str, object]) -> str:
    return str(_metadata(obj).get("uid", ""))


def _owners(obj: Mapping[str, object]) -> set[str]:
    references = _metadata(obj).get("ownerReferences", [])
    return {str(each["uid"]) for each in references} if isinstance(references, list) else set()


def _first(pods: list[Pod], resource: Resource) -> Pod:
    """Return the most active pod of some: one that runs, is ready, is old; NotRunningError."""
    if not pods:
        raise NotRunningError(f"no pod of {resource.kind} {resource.name} is there")
    return _running(sorted(pods, key=activity_rank))


def activity_rank(pod: Pod) -> tuple[bool, bool, bool, str]:
    """Return what comes first when sorted (kubernetes v1.36 podutils.ActivePods, reversed)."""
    is_ready = any(each.type == "Ready" and each.status == "True" for each in pod.status.conditions)
    created = pod.metadata.creation_timestamp
    is_deleted = pod.metadata.deletion_timestamp is not None
    return (pod.status.phase != "Running", is_deleted, not is_ready, created.isoformat() if created else "")


def _running(pods: list[Pod]) -> Pod:
    if pods[0].status.phase != "Running":
        text = f"unable to forward port because pod is not running. Current status={pods[0].status.phase}"
        raise NotRunningError(text)
    return pods[0]


def _ports(pod: Pod) -> tuple[ContainerPort, ...]:
    """Return the ports that the pod's containers name; those of init containers count for sidecars."""
    return tuple(port for each in (*pod.spec.containers, *pod.spec.init_containers) for port in each.ports)


async def _not_found(objects: Objects, wanted: Wanted) -> str:
    """Return what a server says of an object that isn't there, and where there is one, or what else there is."""
    text = f"{wanted.resource.as_not_found} not found"
    everywhere = [_metadata(each) for each in await objects.list(wanted.resource.kind, None)]
    elsewhere = [each for each in everywhere if each["name"] == wanted.resource.name]
    if elsewhere:
        return f"{text}; there is one with -n {elsewhere[0]['namespace']}"
    names = sorted(str(each["name"]) for each in everywhere if each["namespace"] == wanted.namespace)
    return f"{text}; there are: {', '.join(names)}" if names else text
