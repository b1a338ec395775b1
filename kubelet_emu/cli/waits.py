"""What each pod of a run waits for at the moment: for an init container, a probe, an image, another ordinal. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from attrs import frozen

from kubelet_emu.api import reasons, reasons_creation
from kubelet_emu.api.reasons_images import NO_IMAGE_REASONS
from kubelet_emu.journal.facts import ContainerKind

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from kubelet_emu.api.v1_status import PodCondition
    from kubelet_emu.journal.facts import ContainerFacts, PodFacts, RunFacts, WorkloadFacts
    from kubelet_emu.journal.fold import Facts

MOST_NAMES = 3
_GATES = (ContainerKind.INIT, ContainerKind.SIDECAR)


@frozen
class Wait:
    """Who waits, and for what: `web-x`, `for init container wait-for-db`."""

    who: str
    what: str


def waits_of(facts: Facts) -> tuple[Wait, ...]:
    """Return what waits in a run, pods in the order of their creation, then workloads that hold pods back."""
    pods = (Wait(pod.ref.name, what) for pod in facts.pods.values() if (what := _of_pod(pod)))
    workloads = facts.workloads.values()
    sets = (Wait(f"statefulset/{each.ref.name}", what) for each in workloads if (what := _of_set(each, facts)))
    return (*pods, *sets)


def told(waits: Iterable[Wait]) -> str:
    """Return one line for all: those that wait for the same together, at most three of them by name."""
    groups: dict[str, list[str]] = {}
    for wait in waits:
        groups.setdefault(wait.what, []).append(wait.who)
    return "; ".join(f"{_names(who)} {what}" for what, who in groups.items())


def _names(names: list[str]) -> str:
    if len(names) > MOST_NAMES:
        names = [*names[: MOST_NAMES - 1], f"{len(names) - MOST_NAMES + 1} more"]
    return " and ".join([*([", ".join(names[:-1])] if names[:-1] else []), names[-1]])


def _of_pod(pod: PodFacts) -> str:
    """Return what a pod waits for, empty when it runs, has ended, or is being stopped."""
    if pod.status is None or pod.is_terminal:
        return ""
    if pod.stop_requested_at is not None:
        pulling = (each.name for each in pod.containers.values() if each.is_pulling)
        return next((f"for the pull of {name}'s image before it stops, as on a node" for name in pulling), "")
    if pod.is_ready or pod.has_lost_sandbox:
        return ""
    return gate_of(pod) or next(_of_mains(pod), "")


def gate_of(pod: PodFacts) -> str:
    """Return what keeps a pod's main containers from being started, empty when nothing does."""
    if pod.status is not None and any(map(_is_unscheduled, pod.status.conditions)):
        return "for a node"
    gates = (_of_gate(each) for each in pod.containers.values() if each.kind in _GATES)
    return next((what for what in gates if what), "")


def _is_unscheduled(condition: PodCondition) -> bool:
    return condition.type == reasons.POD_SCHEDULED and condition.status == "False"


def _of_gate(container: ContainerFacts) -> str:
    """Return what the containers behind an init container or a sidecar wait for."""
    run, name = container.last_run, container.name
    if run is None:
        return _of_start(container)
    if run.exited_at is not None:
        return "" if run.code == 0 and container.kind is ContainerKind.INIT else _again(container, run)
    if container.kind is ContainerKind.INIT:
        return f"for init container {name}"
    return _of_probe(container, run)


def _of_start(container: ContainerFacts) -> str:
    """Return why a container has not started yet; how it is made takes a moment, which is nothing to wait for."""
    if container.is_pulling:
        return f"for {container.name}'s image to be pulled"
    if container.waiting_reason in NO_IMAGE_REASONS:
        return f"for the image of {container.name}"
    if container.waiting_reason == reasons_creation.CREATE_CONTAINER_CONFIG_ERROR:
        return f"for what {container.name} is made of ({container.waiting_message})"
    return f"for {container.name} to start"


def _of_probe(container: ContainerFacts, run: RunFacts) -> str:
    if container.has_startup_probe and run.startup_ok_at is None:
        return f"for the startup probe of {container.name}"
    if container.has_post_start and run.post_start_seconds is None:
        return f"for postStart of {container.name}"
    return ""


def _again(container: ContainerFacts, run: RunFacts) -> str:
    return f"for {container.name} to run again after exit {run.code}"


def _of_mains(pod: PodFacts) -> Iterator[str]:
    mains = [(container, container.last_run) for container in pod.of_kind(ContainerKind.MAIN)]
    for container, run in mains:
        if run is None:
            yield _of_start(container)
        elif run.exited_at is not None and run.code != 0:
            yield _again(container, run)
        elif run.exited_at is None and not container.is_ready:
            yield _of_probe(container, run) or f"for {container.name} to be ready"
    if all(run is not None and run.exited_at is not None for _, run in mains):
        yield from (f"for sidecar {each.name} to end" for each in pod.of_kind(ContainerKind.SIDECAR) if _runs(each))


def _runs(container: ContainerFacts) -> bool:
    run = container.last_run
    return run is not None and run.exited_at is None


def _of_set(workload: WorkloadFacts, facts: Facts) -> str:
    """Return which ordinal a StatefulSet waits for before it makes the next one (OrderedReady)."""
    if workload.ref.kind != "StatefulSet":
        return ""
    alive = [pod for pod in facts.pods.values() if pod.owner == workload.ref.uid and not pod.is_terminal]
    missing = workload.replicas - len(alive)
    behind = [pod.ref.name for pod in alive if not pod.is_ready]
    return f"for {behind[0]} before it makes {missing} more" if behind and missing > 0 else ""
