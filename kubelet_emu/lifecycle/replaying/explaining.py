"""Why a decision is what it is: the facts about the containers that it is about."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubelet_emu.lifecycle.replaying.wording import list_of, started_names
from kubelet_emu.rules.observed import ProbeResult

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from kubelet_emu.api.v1 import Container
    from kubelet_emu.rules.observed import ObservedPod, SyncInput
    from runtime.api import ContainerStatus


def because(sync: SyncInput, recorded: Mapping[str, object], today: Mapping[str, object]) -> tuple[str, ...]:
    """Return a line for the pod and for each container that the two decisions are about."""
    names = dict.fromkeys((*_names(sync, recorded), *_names(sync, today)))
    return (_of_pod(sync), *(_of_container(sync, name) for name in names))


def _names(sync: SyncInput, decision: Mapping[str, object]) -> Iterator[str]:
    """Yield the containers that a decision starts, kills, or shows in a status."""
    yield from started_names(sync.pod, decision)
    for key in ("kill", "reset"):
        for each in list_of(decision.get(key)):
            if isinstance(each, dict):
                yield str(each.get("name"))
    status = decision.get("status")
    if isinstance(status, dict):
        yield from (name for name in status if name != "phase")


def _of_pod(sync: SyncInput) -> str:
    observed = sync.observed
    sandbox = "no sandbox" if not observed.sandboxes else f"sandbox {observed.sandboxes[0].state.value.lower()}"
    deleting = ", being deleted" if sync.pod.metadata.deletion_timestamp is not None else ""
    return f"pod: restartPolicy {sync.pod.spec.restart_policy}, {sandbox}{deleting}"


def _of_container(sync: SyncInput, name: str) -> str:
    spec = sync.pod.spec
    container = next((c for c in (*spec.init_containers, *spec.containers) if c.name == name), None)
    facts = [_state(sync.observed, name)]
    policy = _policy(container)
    if policy:
        facts.append(policy)
    status = sync.observed.find(name)
    if status is not None:
        facts += _probes(sync, status)
    failure = sync.start_failures.get(name)
    if failure is not None:
        facts.append(f"last start failed: {failure.reason}")
    return f"{name}: {', '.join(facts)}"


def _state(observed: ObservedPod, name: str) -> str:
    status = observed.find(name)
    if status is None:
        return "not there"
    instances = len(observed.instances(name))
    code = f" {status.exit_code}" if status.exit_code is not None else ""
    return f"{status.state.value.lower()}{code}" + (f" (newest of {instances})" if instances > 1 else "")


def _policy(container: Container | None) -> str:
    return f"restartPolicy {container.restart_policy}" if container and container.restart_policy else ""


def _probes(sync: SyncInput, status: ContainerStatus) -> list[str]:
    kinds = (
        ("startup", sync.probes.startup),
        ("readiness", sync.probes.readiness),
        ("liveness", sync.probes.liveness),
    )
    found = ((kind, results.get(status.id, ProbeResult.UNKNOWN)) for kind, results in kinds)
    return [f"{kind} probe {result.value}" for kind, result in found if result is not ProbeResult.UNKNOWN]
