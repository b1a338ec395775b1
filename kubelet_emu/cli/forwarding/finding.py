"""Finding a pod of a run that another process has: by what its runtime holds.

A pod is known by its sandbox: its labels are the pod's. Whose pod it is, is told by labels and names that controllers
give: their objects are in the memory of the run.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from attrs import field, frozen

from kubelet_emu.api import labels
from kubelet_emu.cli.forwarding.targets import (
    POD,
    SERVICE,
    NotRunningError,
    Port,
    TargetError,
    ports_of_pod,
    ports_of_service,
)
from runtime.api import ContainerState, PodSandboxState

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from datetime import datetime

    from kubelet_emu.api.v1 import ContainerPort
    from kubelet_emu.api.v1_services import Service
    from kubelet_emu.cli.forwarding.targets import PortWords, Target
    from runtime.api import ContainerSummary, PodSandboxStatus, RuntimeService, SandboxID

_JOB_LABELS = ("batch.kubernetes.io/job-name", "job-name")
_SUFFIX = "-[bcdfghjklmnpqrstvwxz2456789]{5}"


@frozen(kw_only=True)
class FoundPod:
    """A pod that a runtime holds. It runs while its sandbox does, once one of its containers has begun."""

    instance: str
    sandbox_id: SandboxID
    name: str
    namespace: str
    created_at: datetime
    is_running: bool
    labels: Mapping[str, str] = field(factory=dict)
    ports: tuple[ContainerPort, ...] = ()

    def belongs_to(self, target: Target) -> bool:
        """Tell whether a workload made it, as far as names and labels tell."""
        match target.kind:
            case "jobs.batch":
                return any(self.labels.get(label) == target.name for label in _JOB_LABELS)
            case "statefulsets.apps":
                return bool(re.fullmatch(re.escape(target.name) + r"-\d+", self.name))
            case "deployments.apps":
                made = f"{target.name}-{self.labels.get('pod-template-hash', '')}"
            case _:
                made = target.name
        return bool(re.fullmatch(re.escape(made) + _SUFFIX, self.name))


@frozen(kw_only=True)
class Chosen:
    """The pod to forward to, and the ports."""

    pod: FoundPod
    ports: tuple[Port, ...]


async def pods_of(runtime: RuntimeService, instance: str) -> tuple[FoundPod, ...]:
    """Return the pods that a runtime holds, each by its newest sandbox; CRIError."""
    containers = await runtime.list_containers()
    found: dict[tuple[str, str], FoundPod] = {}
    for sandbox in await runtime.list_pod_sandboxes():
        pod = _found(sandbox, [each for each in containers if each.sandbox_id == sandbox.id], instance)
        found.setdefault((pod.namespace, pod.name), pod)
    return tuple(found.values())


def _found(sandbox: PodSandboxStatus, containers: Iterable[ContainerSummary], instance: str) -> FoundPod:
    known = tuple(containers)
    has_begun = any(each.state in {ContainerState.RUNNING, ContainerState.EXITED} for each in known)
    ports = [port for each in known for port in labels.parse_container_annotations(each.annotations).ports]
    return FoundPod(
        instance=instance,
        sandbox_id=sandbox.id,
        name=sandbox.metadata.name,
        namespace=sandbox.metadata.namespace,
        created_at=sandbox.created_at,
        is_running=has_begun and sandbox.state is PodSandboxState.READY,
        labels=sandbox.labels,
        ports=tuple(ports),
    )


def choose(
    target: Target, words: tuple[PortWords, ...], namespace: str, pods: Iterable[FoundPod], services: Iterable[Service]
) -> Chosen:
    """Return the pod that is meant; TargetError when there is none or several runs have it, NotRunningError.

    Of several pods of a workload it is one that runs, the oldest.
    """
    known = tuple(pods)
    here = [each for each in known if each.namespace == namespace]
    if target.kind == SERVICE:
        return _by_service(target, words, [each for each in services if each.metadata.namespace == namespace], here)
    meant = [each for each in known if _is_meant(each, target)]
    if meant and not any(each.namespace == namespace for each in meant):
        raise TargetError(f"{_not_found(target, '')}; there is one with -n {meant[0].namespace}")
    pod = _the_one(target, [each for each in meant if each.namespace == namespace], here)
    return Chosen(pod=pod, ports=ports_of_pod(words, pod.name, pod.ports))


def _is_meant(pod: FoundPod, target: Target) -> bool:
    return pod.name == target.name if target.kind == POD else pod.belongs_to(target)


def _by_service(target: Target, words: tuple[PortWords, ...], services: list[Service], here: list[FoundPod]) -> Chosen:
    service = next((each for each in services if each.metadata.name == target.name), None)
    if service is None:
        known = ", ".join(sorted({each.metadata.name or "" for each in services}))
        raise TargetError(_not_found(target, known))
    selector = service.spec.selector
    if not selector:
        raise TargetError(f"invalid service {target.name!r}: Service is defined without a selector")
    found = [each for each in here if all(each.labels.get(key) == value for key, value in selector.items())]
    if not found:
        raise NotRunningError(f"no pod of Service {target.name} is there")
    pod = _the_one(target, found, here)
    return Chosen(pod=pod, ports=ports_of_service(words, service, pod.name, pod.ports))


def _the_one(target: Target, found: list[FoundPod], here: list[FoundPod]) -> FoundPod:
    if not found:
        raise TargetError(_not_found(target, ", ".join(sorted({each.name for each in here}))))
    running = sorted((each for each in found if each.is_running), key=lambda each: each.created_at)
    if not running:
        raise NotRunningError(f"unable to forward port because pod {found[0].name} is not running")
    if len({each.instance for each in running}) > 1:
        runs = ", ".join(sorted({each.instance for each in running}))
        raise TargetError(f"several runs have {target.kind} {target.name!r}: name one of them with --run ({runs})")
    return running[0]


def _not_found(target: Target, known: str) -> str:
    text = f"{target.kind} {target.name!r} not found".replace("'", '"')
    return f"{text}; there are: {known}" if known else text
