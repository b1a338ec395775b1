"""Small makers of pods, of what the runtime shows of them, and of what one sync knows."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from attrs import evolve

from kubelet_emu.api import labels
from kubelet_emu.api.meta import ObjectMeta
from kubelet_emu.api.v1 import Container, EphemeralContainer, Pod, PodSpec, ResourceRequirements
from kubelet_emu.api.v1_handlers import ExecAction, Probe
from kubelet_emu.api.v1_status import PodStatus
from kubelet_emu.config.features import FeatureGates
from kubelet_emu.rules.observed import ObservedPod, ProbeResults, SyncInput
from runtime.api import (
    ContainerID,
    ContainerMetadata,
    ContainerState,
    ContainerStatus,
    PodSandboxMetadata,
    PodSandboxState,
    PodSandboxStatus,
    SandboxID,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

NOW = datetime(2026, 1, 1, 12, 0, 0, tzinfo=UTC)
A_PROBE = Probe(exec=ExecAction(command=("true",)))


def later(seconds: float) -> datetime:
    return NOW + timedelta(seconds=seconds)


def a_container(name: str, **spec: Any) -> Container:  # noqa: ANN401
    return Container(name=name, image="image:1", **spec)


def a_sidecar(name: str, **spec: Any) -> Container:  # noqa: ANN401
    return a_container(name, restart_policy="Always", **spec)


def requesting(requests: dict[str, Any] | None = None, limits: dict[str, Any] | None = None) -> ResourceRequirements:
    return ResourceRequirements(requests=requests or {}, limits=limits or {})


def a_pod(
    *containers: Container,
    init: Sequence[Container] = (),
    ephemeral: Sequence[str] = (),
    metadata: dict[str, Any] | None = None,
    status: PodStatus | None = None,
    **spec: Any,  # noqa: ANN401
) -> Pod:
    return Pod(
        metadata=ObjectMeta(**({"name": "p", "namespace": "ns", "uid": "uid", "generation": 1} | (metadata or {}))),
        spec=PodSpec(
            containers=containers,
            init_containers=tuple(init),
            ephemeral_containers=tuple(EphemeralContainer(name=name, image="image:1") for name in ephemeral),
            **({"restart_policy": "Always"} | spec),
        ),
        status=status or PodStatus(),
    )


def deleting(pod: Pod) -> Pod:
    return evolve(pod, metadata=evolve(pod.metadata, deletion_timestamp=NOW))


def a_sandbox(attempt: int = 0, *, ready: bool = True, ip: str = "10.0.0.1", **facts: Any) -> PodSandboxStatus:  # noqa: ANN401
    return PodSandboxStatus(
        id=SandboxID(f"sandbox-{attempt}"),
        metadata=PodSandboxMetadata(name="p", namespace="ns", uid="uid", attempt=attempt),
        state=PodSandboxState.READY if ready else PodSandboxState.NOT_READY,
        created_at=NOW,
        ip=ip,
        **facts,
    )


def an_instance(name: str, state: ContainerState = ContainerState.RUNNING, **facts: Any) -> ContainerStatus:  # noqa: ANN401
    attempt = facts.pop("attempt", 0)
    known: dict[str, Any] = {
        "id": ContainerID(f"{name}-{attempt}"),
        "sandbox_id": SandboxID("sandbox-0"),
        "metadata": ContainerMetadata(name=name, attempt=attempt),
        "created_at": later(attempt),
        "started_at": later(attempt),
        "exit_code": 0 if state is ContainerState.EXITED else None,
        "finished_at": later(attempt) if state is ContainerState.EXITED else None,
        "image_name": "image:1",
        "annotations": {labels.CONTAINER_HASH_ANNOTATION: f"{labels.hash_container(a_container(name)):x}"},
    }
    return ContainerStatus(state=state, **(known | facts))


def exited(name: str, code: int, **facts: Any) -> ContainerStatus:  # noqa: ANN401
    reason = "Completed" if code == 0 else "Error"
    return an_instance(name, ContainerState.EXITED, **({"exit_code": code, "reason": reason} | facts))


def seen(
    *instances: ContainerStatus,
    sandboxes: Sequence[PodSandboxStatus] | None = None,
    **facts: Any,  # noqa: ANN401
) -> ObservedPod:
    newest_first = sorted(instances, key=lambda instance: instance.created_at, reverse=True)
    found = (a_sandbox(),) if sandboxes is None else tuple(sandboxes)
    return ObservedPod(uid="uid", name="p", namespace="ns", sandboxes=found, containers=tuple(newest_first), **facts)


def gates(**overrides: bool) -> FeatureGates:
    return FeatureGates(overrides=overrides)


def a_sync(pod: Pod, observed: ObservedPod | None = None, **facts: Any) -> SyncInput:  # noqa: ANN401
    known: dict[str, Any] = {
        "probes": ProbeResults(),
        "previous_status": PodStatus(),
        "start_failures": {},
        "now": NOW,
        "features": FeatureGates(),
    }
    return SyncInput(pod=pod, observed=observed if observed is not None else seen(), **(known | facts))
